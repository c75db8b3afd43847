"""Where a change that is under way comes from, and who hears of what became of calls."""

from __future__ import annotations

import contextvars
from typing import Any, Final, Protocol

from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.rpc.methods import MethodRule


class Origin:
    """Where a change that is under way comes from.

    Attributes:
        recorded: a transaction has written it down itself.
    """

    __slots__ = ("client", "recorded", "user_agent")

    def __init__(self, client: str, user_agent: str) -> None:
        """Nothing is written down yet."""
        self.client: Final = client
        self.user_agent: Final = user_agent
        self.recorded = False


_origin: Final[contextvars.ContextVar[Origin | None]] = contextvars.ContextVar("lakeward_origin", default=None)


def bind_origin(origin: Origin) -> contextvars.Token[Origin | None]:
    """Let what is done from here on come from there."""
    return _origin.set(origin)


def unbind_origin(token: contextvars.Token[Origin | None]) -> None:
    """Undo `bind_origin`."""
    _origin.reset(token)


def origin_at_hand() -> Origin | None:
    """Where the change at hand comes from; None outside of any."""
    return _origin.get()


class Audit(Protocol):
    """Hears of calls for users, once they are answered."""

    @property
    def reads(self) -> bool:
        """Whether calls that change nothing count too, where they are allowed."""
        ...

    def done(self, rule: MethodRule, request: Any, user: object, origin: Origin | None) -> None:  # noqa: ANN401 - any message
        """A call was answered; a change that its own transaction has recorded says so by its origin."""

    def refused(self, rule: MethodRule, request: Any, user: object, refusal: Refusal) -> None:  # noqa: ANN401 - any message
        """A call was refused; `user` is None where it was not settled who calls."""

    def failed(self, rule: MethodRule, request: Any, user: object) -> None:  # noqa: ANN401 - any message
        """A call broke, and what it was to change may be changed or not."""
