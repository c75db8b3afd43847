"""Which request the code at hand works for: its id and its place in a trace, carried by the task's context.

Source: W3C Trace Context, `traceparent` of version 00.
"""

from __future__ import annotations

import contextvars
import dataclasses
import random
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Final, Self

_TRACEPARENT: Final = re.compile(r"^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$")
MAX_REQUEST_ID: Final = 128
# Not for secrets: an id names a line in a log. Seeded by the system, once a process.
_random: Final = random.Random()  # noqa: S311


@dataclasses.dataclass(frozen=True, slots=True)
class Correlation:
    """A request and its trace.

    Attributes:
        request_id: as the caller gave it, or ours.
        trace_id: 32 hexadecimal digits.
        span_id: 16 hexadecimal digits; the caller's span, or one of ours.
        flags: two hexadecimal digits; "01" is sampled.
        given: whether the trace was there before us, or a span of ours is; else nobody knows of it but our log.
    """

    request_id: str
    trace_id: str
    span_id: str
    flags: str = "00"
    given: bool = dataclasses.field(default=False, compare=False)

    @property
    def traceparent(self) -> str:
        """What goes along with outgoing calls."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


class _Incoming(AbstractContextManager[object]):
    """What a caller sent, bound. Its correlation is made when it is first asked for, which of most requests it never is."""

    __slots__ = ("_correlation", "_request_id", "_token", "_traceparent")

    def __init__(self, request_id: str | None, traceparent: str | None) -> None:
        self._request_id = request_id
        self._traceparent = traceparent
        self._correlation: Correlation | None = None

    def correlation(self) -> Correlation:
        if self._correlation is None:
            self._correlation = correlate(self._request_id, self._traceparent)
        return self._correlation

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.reset(self._token)


_current: contextvars.ContextVar[Correlation | _Incoming | None] = contextvars.ContextVar(
    "lakeward_correlation", default=None
)


def current() -> Correlation | None:
    """The request that the code at hand works for; None outside of any."""
    bound = _current.get()
    return bound.correlation() if isinstance(bound, _Incoming) else bound


def correlate(request_id: str | None, traceparent: str | None) -> Correlation:
    """A request's correlation from what its caller sent; what is missing or malformed is made."""
    match = _TRACEPARENT.match(traceparent) if traceparent else None
    if match is None:
        trace_id, span_id, flags = f"{_random.getrandbits(128) | 1:032x}", f"{_random.getrandbits(64) | 1:016x}", "00"
    else:
        trace_id, span_id, flags = match.groups()
    named = (request_id or "")[:MAX_REQUEST_ID] or trace_id
    return Correlation(named, trace_id, span_id, flags, given=match is not None)


@contextmanager
def bind(correlation: Correlation) -> Iterator[Correlation]:
    """Work for a request until the block ends."""
    token = _current.set(correlation)
    try:
        yield correlation
    finally:
        _current.reset(token)


def incoming(request_id: str | None, traceparent: str | None) -> AbstractContextManager[object]:
    """Bind what a caller sent."""
    return _Incoming(request_id, traceparent)


def bind_incoming(request_id: str | None, traceparent: str | None) -> contextvars.Token[Correlation | _Incoming | None]:
    """The same where a block of its own costs too much; `unbind_incoming` ends it."""
    return _current.set(_Incoming(request_id, traceparent))


def unbind_incoming(token: contextvars.Token[Correlation | _Incoming | None]) -> None:
    """Undo `bind_incoming`."""
    _current.reset(token)


def outgoing_headers() -> list[tuple[str, str]]:
    """What goes along with a call to another service."""
    correlation = current()
    if correlation is None:
        return []
    return [("x-request-id", correlation.request_id), ("traceparent", correlation.traceparent)]
