"""The roles that permissions need filled: what callers hold, the tree of objects, and what was granted."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, Protocol, TypeAlias
from uuid import UUID

import msgspec

from lakeward_authz.domain.permissions.objects import (
    ANYBODY,
    NIL,
    ObjectKey,
    Subject,
    role_subject,
    user_subject,
)
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.remembering import remembered


@dataclasses.dataclass(frozen=True, slots=True)
class Rights:
    """What a caller holds on the objects it was asked about.

    Attributes:
        held: in their order, the relations of each as the model's bits; None for an object that is not there.
        glimpsed: whether each is shown by something in it that the caller sees.
        revision: the state of the grants that this is of.
    """

    held: Sequence[int | None]
    glimpsed: Sequence[bool]
    revision: int


@dataclasses.dataclass(frozen=True, slots=True)
class Shown:
    """What shows by itself in a scope.

    Attributes:
        containers: namespaces that were granted directly, below which everything shows.
        objects: what was granted directly, or holds something that shows.
        projects: the same of projects, whose ids need not be UUIDs.
    """

    containers: frozenset[UUID] = frozenset()
    objects: frozenset[UUID] = frozenset()
    projects: frozenset[str] = frozenset()


class RightsReader(Protocol):
    """What follows from the rows. Every method raises Refusal DATABASE_UNAVAILABLE."""

    async def bound(self, token_roles: Sequence[str], project_ids: Collection[str] | None) -> Sequence[Subject]:
        """The roles of some projects, or of all, that are bound to what a token calls roles, as "oidc~engineers"."""
        ...

    async def of(self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()) -> Rights:
        """What the subject holds on each object by itself and by all of its roles; one statement, one state of the grants.

        It holds what is held by `also`, too, roles that it has for this question alone.
        """
        ...

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str, *, also: Sequence[Subject] = ()) -> Shown:
        """What of one type shows in the server, a project, warehouse or namespace though the scope does not settle it.

        Of projects, warehouses and namespaces the direct children of the scope; of tabulars those directly in a namespace, or
        all of a warehouse.
        """
        ...


# Who asks, of which objects, and the roles that it has for this question alone.
Asked: TypeAlias = tuple[Subject, Sequence[ObjectKey], Sequence[Subject]]


class RightsTogether(RightsReader, Protocol):
    """A `RightsReader` that reads for several at once, and the state alone."""

    async def revision(self) -> int:
        """The state of the grants as it is now: a number that goes up with whatever may take a right away."""
        ...

    async def of_each(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        """What `of` answers of each, in their order; one statement, so that all are of one state of the grants."""
        ...

    async def of_apart(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        """As `of_each`, but that each is of a state of its own."""
        ...

    def glimpsed(
        self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()
    ) -> Rights | None:
        """What is remembered of objects that show, for as long as `revision` is what it says; None where it is to be read."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Made:
    """An object came to be.

    Attributes:
        parent_id: the namespace that holds it; None at the top level of a warehouse and above.
        owner: who holds it from now on; None for nobody.
        public_id: what people call it by, if that is not the object's id; no two of a type in a warehouse share it.
    """

    object: ObjectKey
    parent_id: UUID | None = None
    owner: Subject | None = None
    public_id: UUID | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Moved:
    """A namespace or tabular, with all that is in it, hangs from another place of its warehouse; None is the top level."""

    object: ObjectKey
    parent_id: UUID | None


@dataclasses.dataclass(frozen=True, slots=True)
class Switched:
    """A warehouse serves from now on, or nothing in it is there for anybody."""

    object: ObjectKey
    active: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Gone:
    """An object, with all that is in it, is no more, and neither is what was granted on it."""

    object: ObjectKey


TreeChange: TypeAlias = Made | Moved | Switched | Gone


class TreeStore(Protocol):
    """The tree of objects."""

    async def apply(self, stream: str, changes: Sequence[tuple[int, TreeChange]]) -> int:
        """Apply a stream's changes in the order of their sequences, all or none, and answer the last sequence that was applied.

        Sequences of a stream begin at 1 and have no gaps. What was applied already is passed over, and nothing is applied behind
        a gap, so a caller repeats what it likes and goes on behind the answer.

        Raises:
            Refusal: INVALID_FIELD for a change that no tree allows, as a child of what is not there; DATABASE_UNAVAILABLE.
        """
        ...

    async def manage(self, key: ObjectKey, *, managed: bool) -> bool:
        """Set or end managed access of a warehouse or namespace; False where it is not there."""
        ...


class Named(msgspec.Struct, frozen=True, gc=False):
    """An object as people name it; as `ObjectKey`, made and looked for by the thousand.

    Attributes:
        type: as the model names it.
        project_id: of a project its id; of what is in one, the project that it must be of; "" for any.
        warehouse_id: of a warehouse its id, and of what is in one; None for the only one of its id, in whatever warehouse.
        id: of a namespace, a role or a tag its id, and of a tabular what people call it by; None for what is not there.
        called: how refusals name it, where that is not by its id.
    """

    type: str
    project_id: str = ""
    warehouse_id: UUID | None = None
    id: UUID | None = None
    called: str = ""


class ObjectNames(Protocol):
    """Which objects there are, by what people call them."""

    async def find(self, named: Sequence[Named]) -> Sequence[ObjectKey | None]:
        """Each object, in their order; None for one that is not there, or that is in an inactive warehouse.

        Raises:
            Refusal: DATABASE_UNAVAILABLE.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Grant:
    """What a user or a role's members were given on an object."""

    subject: Subject
    relation: str


@dataclasses.dataclass(frozen=True, slots=True)
class Given:
    """A grant as it stands.

    Attributes:
        named: what it is on.
        at: when it was given, in UTC.
        place: where it stands in its listing; the next page begins behind it.
    """

    grant: Grant
    named: Named
    at: datetime
    place: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """Which grants a listing wants.

    Attributes:
        subject: whose; None for everybody's.
        relations: which; None for all.
        after: the place of the last entry of the page before; None for the first page.
        size: at most so many; None for all.
    """

    subject: Subject | None = None
    relations: Collection[str] | None = None
    after: Sequence[str] | None = None
    size: int | None = None


ALL: Final = Wanted()


class GrantStore(Protocol):
    """What was granted. Every method raises Refusal DATABASE_UNAVAILABLE."""

    async def on(self, key: ObjectKey, wanted: Wanted = ALL) -> Sequence[Given]:
        """Grants on an object, in the order of their places: (subject, relation)."""
        ...

    async def granted_to(self, subject: Subject, project_id: str, wanted: Wanted) -> Sequence[Given]:
        """What one subject was granted on a project and in it, members of roles left out.

        What is in an inactive warehouse is left out. In the order of their places: (warehouse, type, object, relation), ids as
        text.
        """
        ...

    async def change(
        self, key: ObjectKey, *, writes: Collection[Grant], deletes: Collection[Grant], exact: bool = False
    ) -> bool:
        """Give and take, all or none. False where the object is not there.

        What is given or gone already is passed over, or refused where `exact`.

        Raises:
            Refusal: PERMISSIONS_INVALID for a role that is not there or of another project than the object, except on the server;
                ROLE_MEMBERSHIP_CYCLE for a role that would hold itself; ROLE_NESTED_TOO_DEEP, where a depth is configured;
                GRANT_EXISTS and NO_SUCH_GRANT, where `exact`.
        """
        ...


def subject_of(principal: Principal) -> Subject:
    """As whom a principal's grants are kept. Nothing is ever granted to the anonymous caller, nor to background work."""
    match principal.kind:
        case PrincipalKind.USER:
            return user_subject(principal.user_id)
        case PrincipalKind.ROLE:
            return role_subject(UUID(principal.role_id))
        case _:
            return ANYBODY


async def token_roles_of(
    principal: Principal, rights: RightsReader, project_ids: Collection[str] | None
) -> Sequence[Subject]:
    """Roles that a caller has by its token, of some projects; None: of all. Nothing is read where it names none.

    Raises:
        Refusal: DATABASE_UNAVAILABLE.
    """
    return await rights.bound(principal.token_roles, project_ids) if principal.token_roles else ()


def key_of(ref: ObjectRef) -> ObjectKey:
    """An object as grants name it.

    Raises:
        Refusal: INVALID_FIELD, for a warehouse id that is none.
    """
    return _key(ref.kind.word, ref.project_id, ref.warehouse_id, ref.id)


# The same objects are asked about again and again, and to read two UUIDs takes several times as long.
@remembered(entries=16_384, longest=160)
def _key(type_name: str, project_id: str, warehouse_id: str, own: bytes) -> ObjectKey:
    try:
        within = UUID(warehouse_id) if warehouse_id else NIL
    except ValueError as error:
        raise invalid_field("object.warehouse_id", warehouse_id, "a UUID") from error
    return ObjectKey(type_name, project_id, within, UUID(bytes=own) if own else NIL)
