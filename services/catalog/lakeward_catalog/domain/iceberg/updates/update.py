"""What an update is, and the register of those that a table knows."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import ClassVar, Final, Self, TypeVar, cast

import msgspec

from lakeward_catalog.domain.iceberg.documents import Invalid, JsonObject, convert
from lakeward_catalog.domain.iceberg.draft import Draft
from lakeward_servicekit.errors import Reason, Refusal


class Update(msgspec.Struct, frozen=True, rename="kebab"):
    """One change to a table or a view, as its JSON says it."""

    ACTION: ClassVar[str]

    @classmethod
    def from_wire(cls, value: JsonObject) -> Self:
        """Read it from a request.

        Raises:
            Invalid: a member is missing or has the wrong type.
        """
        return convert(value, cls)


U = TypeVar("U", bound=Update)
ACTIONS: Final[dict[str, type[Update]]] = {}
_APPLY: Final[dict[type[Update], Callable[[Draft, Update], None]]] = {}


def applies(kind: type[U]) -> Callable[[Callable[[Draft, U], None]], Callable[[Draft, U], None]]:
    """Register the function that applies updates of one type; it raises Invalid or Refusal."""

    def register(function: Callable[[Draft, U], None]) -> Callable[[Draft, U], None]:
        ACTIONS[kind.ACTION] = kind
        _APPLY[kind] = cast("Callable[[Draft, Update], None]", function)
        return function

    return register


def apply_update(draft: Draft, update: Update) -> None:
    """Apply one update.

    Raises:
        Invalid, Refusal: as its own function says.
        Refusal: UNKNOWN_UPDATE for an update that is not a table's.
    """
    function = _APPLY.get(type(update))
    if function is None:
        raise unknown_update(update.ACTION, ACTIONS)
    function(draft, update)


def read_update(value: JsonObject) -> Update:
    """Read one update of a table.

    Raises:
        Invalid: malformed.
        Refusal: UNKNOWN_UPDATE.
    """
    action = action_of(value)
    kind = ACTIONS.get(action)
    if kind is None:
        raise unknown_update(action, ACTIONS)
    return kind.from_wire(value)


def action_of(value: JsonObject) -> str:
    """The action of an update.

    Raises:
        Invalid: it has none.
    """
    action = value.get("action")
    if not isinstance(action, str):
        raise Invalid("action", "it is missing; it must be the update's name")
    return action


def unknown_update(action: str, known: Collection[str]) -> Refusal:
    """The refusal of an update that does not exist here."""
    return Refusal(
        Reason.REASON_UNKNOWN_UPDATE,
        f"update {action[:100]!r} is unknown; known are {', '.join(sorted(known))}",
        action=action[:100],
    )
