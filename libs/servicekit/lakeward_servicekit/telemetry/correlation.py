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
from typing import Final

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
    """

    request_id: str
    trace_id: str
    span_id: str
    flags: str = "00"

    @property
    def traceparent(self) -> str:
        """What goes along with outgoing calls."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


_current: contextvars.ContextVar[Correlation | None] = contextvars.ContextVar("lakeward_correlation", default=None)


def current() -> Correlation | None:
    """The request that the code at hand works for; None outside of any."""
    return _current.get()


def correlate(request_id: str | None, traceparent: str | None) -> Correlation:
    """A request's correlation from what its caller sent; what is missing or malformed is made."""
    match = _TRACEPARENT.match(traceparent) if traceparent else None
    if match is None:
        trace_id, span_id, flags = f"{_random.getrandbits(128) | 1:032x}", f"{_random.getrandbits(64) | 1:016x}", "00"
    else:
        trace_id, span_id, flags = match.groups()
    return Correlation((request_id or "")[:MAX_REQUEST_ID] or trace_id, trace_id, span_id, flags)


@contextmanager
def bind(correlation: Correlation) -> Iterator[Correlation]:
    """Work for a request until the block ends."""
    token = _current.set(correlation)
    try:
        yield correlation
    finally:
        _current.reset(token)


def incoming(request_id: str | None, traceparent: str | None) -> AbstractContextManager[Correlation]:
    """Bind what a caller sent."""
    return bind(correlate(request_id, traceparent))


def outgoing_headers() -> list[tuple[str, str]]:
    """What goes along with a call to another service."""
    correlation = _current.get()
    if correlation is None:
        return []
    return [("x-request-id", correlation.request_id), ("traceparent", correlation.traceparent)]
