"""What people give one another, and who may see that.

Whoever lacks a right on an object is refused in the same words whether the object is there or not: none of these use cases
tells what there is.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from lakeward_authz.application.permissions import Grant, GrantStore, RightsReader, TreeStore, subject_of
from lakeward_authz.domain.permissions.lakeward import MANAGED_ACCESS, MODEL, granting
from lakeward_authz.domain.permissions.objects import ANYBODY, ObjectKey, Subject
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal, invalid_field

MOST: Final = 100
_ACTION: Final = "can_"
_READ: Final = "can_read_assignments"
_MANAGE: Final = "can_set_managed_access"


@dataclasses.dataclass(frozen=True, slots=True)
class GrantChange:
    """Grants on one object to give and to take, all or none; 1 to 100 together."""

    object: ObjectKey
    writes: tuple[Grant, ...] = ()
    deletes: tuple[Grant, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class ChangeGrants:
    """Gives and takes. Taking a privilege asks for the same right as giving it."""

    rights: RightsReader
    grants: GrantStore

    async def __call__(self, command: GrantChange, *, caller: Principal) -> None:
        """Make the change; what is given or gone already is passed over.

        Raises:
            Refusal: FORBIDDEN, for the first privilege that is not the caller's to give; INVALID_FIELD for a privilege that the
                object does not have, a grant to nobody, one that is named twice, and as `GrantStore.change`.
        """
        asked = _checked(command)
        held = await _held(self.rights, caller, command.object)
        for right in asked:
            if right not in held:
                raise _forbidden(command.object, right)
        if not await self.grants.change(command.object, writes=command.writes, deletes=command.deletes):
            # it was there when the caller's rights were read
            raise _forbidden(command.object, asked[0])


@dataclasses.dataclass(frozen=True, slots=True)
class ListGrants:
    """Shows what was given on an object."""

    rights: RightsReader
    grants: GrantStore

    async def __call__(self, command: ObjectKey, *, caller: Principal) -> Sequence[Grant]:
        """The grants, by subject and relation.

        Raises:
            Refusal: FORBIDDEN.
        """
        if _READ not in await _held(self.rights, caller, command):
            raise _forbidden(command, _READ)
        return await self.grants.on(command)


@dataclasses.dataclass(frozen=True, slots=True)
class Inspection:
    """A question about what somebody may do.

    Attributes:
        subject: whom it is about; None for the caller.
    """

    object: ObjectKey
    subject: Subject | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class AllowedActions:
    """Says what may be done to an object, by the caller or by another."""

    rights: RightsReader

    async def __call__(self, command: Inspection, *, caller: Principal) -> frozenset[str]:
        """Words of the actions, as "read_data"; none for an object that is not there.

        Raises:
            Refusal: FORBIDDEN, about another on an object whose grants the caller may not read.
        """
        own = subject_of(caller)
        asked = own if command.subject is None else command.subject
        if asked != own and _READ not in await _held(self.rights, caller, command.object):
            raise _forbidden(command.object, _READ)
        found = await _held_by(self.rights, asked, command.object)
        return frozenset(relation.removeprefix(_ACTION) for relation in found if relation.startswith(_ACTION))


@dataclasses.dataclass(frozen=True, slots=True)
class ManagedAccess:
    """Whether owners inside a warehouse or namespace are kept from granting."""

    object: ObjectKey
    managed: bool


@dataclasses.dataclass(frozen=True, slots=True)
class SetManagedAccess:
    """Begins or ends managed access."""

    rights: RightsReader
    tree: TreeStore

    async def __call__(self, command: ManagedAccess, *, caller: Principal) -> None:
        """Set it.

        Raises:
            Refusal: FORBIDDEN; INVALID_FIELD for an object that is no warehouse or namespace.
        """
        key = command.object
        if key.type not in MODEL.types or MANAGED_ACCESS not in MODEL.types[key.type].bits:
            raise invalid_field("object.kind", key.type, "a warehouse or a namespace")
        if _MANAGE not in await _held(self.rights, caller, key):
            raise _forbidden(key, _MANAGE)
        if not await self.tree.manage(key, managed=command.managed):
            raise _forbidden(key, _MANAGE)


def _checked(command: GrantChange) -> Sequence[str]:
    """The rights that a change asks for."""
    every = [*command.writes, *command.deletes]
    if not 1 <= len(every) <= MOST:
        raise invalid_field("grants", f"{len(every)} entries", f"1 to {MOST}")
    (twice, times) = Counter(every).most_common(1)[0]
    if times > 1:
        raise invalid_field("grants", f"{twice.relation} for {twice.subject}", "named once, to be given or to be taken")
    asked: dict[str, None] = {}
    for grant in every:
        right = granting(command.object.type, grant.relation)
        if right is None:
            raise invalid_field("grants.privilege", grant.relation, f"one of {_privileges(command.object.type)}")
        if grant.subject == ANYBODY:
            raise invalid_field("grants.subject", grant.subject, "a user or a role")
        asked[right] = None
    return [*asked]


def _privileges(type_name: str) -> str:
    found = MODEL.types.get(type_name)
    return ", ".join(found.given) if found is not None and found.given else f"none, as a {type_name} has none"


async def _held(rights: RightsReader, caller: Principal, key: ObjectKey) -> Collection[str]:
    return await _held_by(rights, subject_of(caller), key)


async def _held_by(rights: RightsReader, subject: Subject, key: ObjectKey) -> frozenset[str]:
    held = (await rights.of(subject, [key])).held[0]
    return frozenset() if held is None else MODEL.types[key.type].names(held)


def _forbidden(key: ObjectKey, relation: str) -> Refusal:
    word = relation.removeprefix(_ACTION)
    return Refusal(
        Reason.REASON_FORBIDDEN,
        f"this {key.type.replace('_', ' ')} is not there, or you may not {word.replace('_', ' ')} on it; ask who manages its"
        " grants",
        kind=key.type,
        action=word,
    )
