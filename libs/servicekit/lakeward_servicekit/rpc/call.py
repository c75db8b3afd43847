"""What a method knows of the call that it answers."""

from __future__ import annotations

import contextvars
import dataclasses
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from lakeward_protocol.common.v1 import options_pb2
from lakeward_protocol.common.v1.context_pb2 import RequestContext

Caller = options_pb2.Caller
CallerValue: TypeAlias = options_pb2.Caller.ValueType

User = TypeVar("User")

# Settles whom a context stands for, or refuses; what it answers is the service's own type, and what its methods are handed.
Settle: TypeAlias = Callable[[RequestContext], Awaitable[User]]

# Settles the user of the call at hand, anew each time that it is asked: what a method is handed whose answers go on and on.
Again: TypeAlias = Callable[[], Awaitable[User]]

# When the call at hand must be answered, on time.monotonic's clock; None: whenever.
_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("lakeward_deadline", default=None)

# What an inner call leaves of an outer deadline, so that the inner timeout is the one that is reported, by name.
KEPT_BACK = 0.02


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """A call, seen from a method that acts for nobody.

    Attributes:
        caller: a service that proved who it is, or CALLER_USER.
    """

    caller: CallerValue


def remaining() -> float | None:
    """Seconds until the call at hand must be answered; None where no deadline was set."""
    deadline = _deadline.get()
    return None if deadline is None else deadline - time.monotonic()


def bind_deadline(seconds: float | None) -> contextvars.Token[float | None]:
    """Set when the call at hand must be answered, never later than was set outside."""
    outer = _deadline.get()
    if seconds is None:
        return _deadline.set(outer)
    mine = time.monotonic() + seconds
    return _deadline.set(mine if outer is None else min(outer, mine))


def unbind_deadline(token: contextvars.Token[float | None]) -> None:
    """Undo `bind_deadline`."""
    _deadline.reset(token)
