"""The roles that permissions need filled: what callers hold, the tree of objects, and what was granted."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Protocol, TypeAlias
from uuid import UUID

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
    """

    containers: frozenset[UUID]
    objects: frozenset[UUID]


class RightsReader(Protocol):
    """What follows from the rows. Every method raises Refusal DATABASE_UNAVAILABLE."""

    async def of(self, subject: Subject, objects: Sequence[ObjectKey]) -> Rights:
        """What the subject holds on each object by itself and by all of its roles; one statement, one state of the grants."""
        ...

    async def of_each(self, asked: Sequence[tuple[Subject, Sequence[ObjectKey]]]) -> Sequence[Rights]:
        """What each subject holds on its objects, in their order; one statement, so that all are of one state of the grants."""
        ...

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str) -> Shown:
        """What of one type shows in a project, warehouse or namespace though the scope does not settle it.

        Of warehouses and namespaces the direct children of the scope; of tabulars those directly in a namespace, or all of a
        warehouse.
        """
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
class Gone:
    """An object, with all that is in it, is no more, and neither is what was granted on it."""

    object: ObjectKey


TreeChange: TypeAlias = Made | Moved | Gone


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


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Grant:
    """What a user or a role's members were given on an object."""

    subject: Subject
    relation: str


class GrantStore(Protocol):
    """What was granted. Every method raises Refusal DATABASE_UNAVAILABLE."""

    async def on(self, key: ObjectKey) -> Sequence[Grant]:
        """All grants on an object, by subject and relation."""
        ...

    async def change(self, key: ObjectKey, *, writes: Collection[Grant], deletes: Collection[Grant]) -> bool:
        """Give and take, all or none; what is given or gone already is passed over. False where the object is not there.

        Raises:
            Refusal: INVALID_FIELD for a role that is not there or of another project than the object, except on the server;
                for a role that would hold itself, or be held through more than ten others.
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


def key_of(ref: ObjectRef) -> ObjectKey:
    """An object as grants name it.

    Raises:
        Refusal: INVALID_FIELD, for a warehouse id that is none.
    """
    key = ObjectKey(ref.kind.word, ref.project_id, id=UUID(bytes=ref.id) if ref.id else NIL)
    if not ref.warehouse_id:
        return key
    try:
        warehouse_id = UUID(ref.warehouse_id)
    except ValueError as error:
        raise invalid_field("object.warehouse_id", ref.warehouse_id, "a UUID") from error
    return ObjectKey(key.type, key.project_id, warehouse_id, key.id)
