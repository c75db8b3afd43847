"""Questions about what somebody may do, and whether access is managed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import msgspec

from lakeward_authz.application.doors import ACTION, Doors, absent, there
from lakeward_authz.application.grants import Inspection, invalid
from lakeward_authz.application.permissions import Named, TreeStore
from lakeward_authz.domain.permissions.lakeward import MANAGED_ACCESS, MODEL, SIGHT
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import invalid_field

MOST: Final = 1000
_MANAGE: Final = "can_set_managed_access"


@dataclasses.dataclass(frozen=True, slots=True)
class AllowedActions:
    """Says what may be done to an object, by the caller or by another."""

    doors: Doors

    async def __call__(
        self, command: Inspection, *, caller: Principal, absent_is_nothing: bool = False
    ) -> frozenset[str]:
        """Words of the actions, as "read_data".

        Args:
            command: about what, and whom.
            caller: who asks.
            absent_is_nothing: answer nothing about an object that is not there for them.

        Raises:
            Refusal: FORBIDDEN, about another on an object whose grants the caller may not read; NO_SUCH_…, as `Doors`.
        """
        (held,) = await self.doors.holdings([command.object], caller=caller, subject=command.subject)
        if not absent_is_nothing and not there(command.object, held):
            raise absent(command.object)
        return frozenset(relation.removeprefix(ACTION) for relation in held if relation.startswith(ACTION))


class Check(msgspec.Struct, frozen=True, gc=False):
    """A question whether an action may be taken.

    Attributes:
        action: in a word such as "read_data".
        subject: by whom; None for the caller.
    """

    object: Named
    action: str
    subject: Subject | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ActionChecks:
    """Questions, 1 to 1000.

    Attributes:
        absent_is_refused: refuse all where one is about an object that is not there for them.
    """

    checks: Sequence[Check]
    absent_is_refused: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class CheckActions:
    """Says whether actions may be taken: one question of the rows for each principal, however many objects."""

    doors: Doors

    async def __call__(self, command: ActionChecks, *, caller: Principal) -> Sequence[bool]:
        """One answer for each check, in their order; no, where the object is not there.

        Raises:
            Refusal: PERMISSIONS_INVALID for none or too many checks, INVALID_FIELD for an action that the object's type has not;
                FORBIDDEN, about another on an object whose grants the caller may not read; NO_SUCH_ROLE for one that is asked
                about; NO_SUCH_…, where that is wanted.
        """
        checks = command.checks
        if not 1 <= len(checks) <= MOST:
            raise invalid("TooManyChecks" if checks else "NoChecks", f"{len(checks)} checks are asked; ask 1 to {MOST}")
        for place, check in enumerate(checks):
            if f"{ACTION}{check.action}" not in MODEL.types[check.object.type].bits:
                right = f"an action on a {check.object.type.replace('_', ' ')}"
                raise invalid_field(f"checks[{place}].action", check.action, right)
        subjects = [*dict.fromkeys(check.subject for check in checks)]
        allowed = [False] * len(checks)
        for subject in subjects:
            places = [place for place, check in enumerate(checks) if check.subject == subject]
            held = await self.doors.holdings([checks[place].object for place in places], caller=caller, subject=subject)
            for place, relations in zip(places, held, strict=True):
                allowed[place] = f"{ACTION}{checks[place].action}" in relations
                named = checks[place].object
                if command.absent_is_refused and not there(named, relations):
                    raise absent(named)
        return allowed


@dataclasses.dataclass(frozen=True, slots=True)
class Managed:
    """Whether owners inside a warehouse or namespace are kept from granting.

    Attributes:
        here: it is set on the object itself.
        inherited: it is set on the object or on something above.
    """

    here: bool
    inherited: bool


@dataclasses.dataclass(frozen=True, slots=True)
class GetManagedAccess:
    """Shows whether access is managed, to who sees the object."""

    doors: Doors

    async def __call__(self, command: Named, *, caller: Principal) -> Managed:
        """Whether it is.

        Raises:
            Refusal: FORBIDDEN; NO_SUCH_…, as `Doors`; INVALID_FIELD for an object that is no warehouse or namespace.
        """
        _check_container(command)
        held = (await self.doors.open(command, SIGHT, caller=caller, powers=True)).held
        return Managed(MANAGED_ACCESS in held, f"{MANAGED_ACCESS}_inheritance" in held)


@dataclasses.dataclass(frozen=True, slots=True)
class ManagedAccess:
    """Whether owners inside a warehouse or namespace are to be kept from granting."""

    object: Named
    managed: bool


@dataclasses.dataclass(frozen=True, slots=True)
class SetManagedAccess:
    """Begins or ends managed access."""

    doors: Doors
    tree: TreeStore

    async def __call__(self, command: ManagedAccess, *, caller: Principal) -> None:
        """Set it.

        Raises:
            Refusal: FORBIDDEN; NO_SUCH_…, as `Doors`; INVALID_FIELD for an object that is no warehouse or namespace.
        """
        _check_container(command.object)
        key: ObjectKey = (await self.doors.open(command.object, _MANAGE, caller=caller)).key
        if not await self.tree.manage(key, managed=command.managed):
            raise absent(command.object)


def _check_container(named: Named) -> None:
    if MANAGED_ACCESS not in MODEL.types[named.type].bits:
        raise invalid_field("object.kind", named.type, "a warehouse or a namespace")
