"""What an update is, and the registers of those that a table and a view know."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Final, Generic, Self, TypeVar, cast

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


D = TypeVar("D")
U = TypeVar("U", bound=Update)


class Updates(Generic[D]):
    """The updates of one kind of metadata, each with the function that applies it to a draft.

    Attributes:
        actions: the types of updates by their actions.
    """

    def __init__(self) -> None:
        """Know none yet."""
        self.actions: Final[dict[str, type[Update]]] = {}
        self._apply: Final[dict[type[Update], Callable[[D, Update], None]]] = {}

    def applies(self, kind: type[U]) -> Callable[[Callable[[D, U], None]], Callable[[D, U], None]]:
        """Register the function that applies updates of one type; it raises Invalid or Refusal."""

        def register(function: Callable[[D, U], None]) -> Callable[[D, U], None]:
            self.actions[kind.ACTION] = kind
            self._apply[kind] = cast("Callable[[D, Update], None]", function)
            return function

        return register

    def read(self, value: JsonObject) -> Update:
        """Read one update.

        Raises:
            Invalid: malformed.
            Refusal: UNKNOWN_UPDATE.
        """
        action = value.get("action")
        if not isinstance(action, str):
            raise Invalid("action", "it is missing; it must be the update's name")
        kind = self.actions.get(action)
        if kind is None:
            raise self._unknown(action)
        return kind.from_wire(value)

    def apply(self, draft: D, updates: Iterable[Update], *, object_name: str) -> None:
        """Apply updates in their order.

        Raises:
            Refusal: INVALID_UPDATE; UNKNOWN_UPDATE for one of another kind; what an update's own function says.
        """
        for index, update in enumerate(updates):
            function = self._apply.get(type(update))
            if function is None:
                raise self._unknown(update.ACTION)
            try:
                function(draft, update)
            except Invalid as finding:
                where = f" ({finding.path})" if finding.path else ""
                raise Refusal(
                    Reason.REASON_INVALID_UPDATE,
                    f"update {index} of {object_name}, {update.ACTION}{where}: {finding.message}",
                    action=update.ACTION,
                ) from None

    def _unknown(self, action: str) -> Refusal:
        return Refusal(
            Reason.REASON_UNKNOWN_UPDATE,
            f"update {action[:100]!r} is unknown; known are {', '.join(sorted(self.actions))}",
            action=action[:100],
        )


TABLE_UPDATES: Final = Updates[Draft]()
applies: Final = TABLE_UPDATES.applies
