"""Spans: how long a named piece of work took, for a tracing backend.

Only the API of OpenTelemetry is used. Until `configure` is called a span is a shared object that does nothing, and the API is not
even imported; `tracing` calls it, with the SDK, where traces are asked for. What every request passes looks at `recording` first.

Spans stand at edges: a request, a call between services, a statement, a call of something outside, a publication. A request that
came without a trace begins one; work that belongs to no request has no span, but for what it hands on for one. Attributes never
hold what a caller may keep secret: no parameters of statements, no tokens, no addresses of files.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from lakeward_servicekit.errors import Refusal, name_of
from lakeward_servicekit.telemetry.correlation import Correlation, bind, current
from lakeward_servicekit.telemetry.logs import masked

if TYPE_CHECKING:
    from types import TracebackType

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanContext, Tracer, TracerProvider

    Attribute = str | bool | int | float

Kind: TypeAlias = Literal["internal", "server", "client", "producer"]
_tracer: Tracer | None = None
recording = False
"""Whether spans are recorded in this process; a variable, since each request asks a few times."""


class Told:
    """A span that is open, to be told more of; this one, of a process without a backend, heeds nothing."""

    __slots__ = ()

    def set(self, key: str, value: Attribute) -> None:
        """Say what came of it."""

    def fail(self) -> None:
        """Say that it failed by a fault that is not its caller's."""


class _Nothing(Told, AbstractContextManager[Told]):
    """The span of a process without a tracing backend."""

    __slots__ = ()

    def __enter__(self) -> Told:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


_NOTHING: Final = _Nothing()


def configure(provider: TracerProvider) -> None:
    """Record spans from now on; they go to `provider`."""
    global _tracer, recording
    _tracer, recording = provider.get_tracer("lakeward"), True


def stop() -> None:
    """Record no spans any more."""
    global _tracer, recording
    _tracer, recording = None, False


def span(
    name: str, *, kind: Kind = "internal", attributes: Mapping[str, Attribute] | None = None, **more: Attribute
) -> AbstractContextManager[Told]:
    """Time a block under a name.

    Written as `with span("catalog.load_table", format=2):`.

    Log lines and outgoing calls inside have its id. An exception that leaves the block is recorded by its type alone, a
    refusal by its reason.

    Args:
        name: of few words: of a method, a route, a statement's verb; never what a caller sent.
        kind: as OpenTelemetry has it.
        attributes: what is known of it from the start.
        **more: the same, by names that Python allows.
    """
    return _NOTHING if _tracer is None else _Span(_tracer, name, kind, {**(attributes or {}), **more})


def inner(
    name: str, *, kind: Kind = "client", attributes: Mapping[str, Attribute] | None = None
) -> AbstractContextManager[Told]:
    """`span` for what is of interest as a part of something alone: nothing where no span is open, and no trace was given."""
    return span(name, kind=kind, attributes=attributes) if has_parent() else _NOTHING


def has_parent() -> bool:
    """Whether what is begun here belongs to a trace: to a span that is open, or to the trace of who called."""
    if _tracer is None:
        return False
    from opentelemetry import trace  # noqa: PLC0415 - loaded by now

    if trace.get_current_span().get_span_context().is_valid:
        return True
    correlation = current()
    return correlation is not None and correlation.given


def ended(name: str, seconds: float, *, kind: Kind = "client", attributes: Mapping[str, Attribute]) -> None:
    """Record a part that took so long and ended just now, where it belongs to a trace."""
    if _tracer is None or not has_parent():
        return
    now = time.time_ns()
    _started(_tracer, name, kind, attributes, at=now - int(seconds * 1e9)).end(now)


class Askers:
    """The spans of those who ask together, by what they wait for; empty without a backend."""

    __slots__ = ("_spans",)

    def __init__(self) -> None:
        """Nobody asks yet."""
        self._spans: Final[dict[object, SpanContext]] = {}

    def add(self, name: object) -> None:
        """Remember the span that is open here as one that waits under a name; the first of a name counts."""
        from opentelemetry import trace  # noqa: PLC0415 - loaded by now

        found = trace.get_current_span().get_span_context()
        if found.is_valid:
            self._spans.setdefault(name, found)

    def take(self, names: Sequence[object]) -> Sequence[SpanContext]:
        """The spans that wait under these names, which are forgotten."""
        return [found for name in names if (found := self._spans.pop(name, None)) is not None]


def batch(name: str, askers: Sequence[SpanContext]) -> AbstractContextManager[Told]:
    """Time what is done for several at once: a part of the first one's trace, linked to the others'. Nothing for nobody."""
    if _tracer is None or not askers:
        return _NOTHING
    return _Span(_tracer, name, "internal", {"lakeward.askers": len(askers)}, parent=askers[0], links=askers[1:])


class _Open(Told):
    __slots__ = ("_span",)

    def __init__(self, span: Span) -> None:
        self._span: Final = span

    def set(self, key: str, value: Attribute) -> None:
        self._span.set_attribute(key, _shown(key, value))

    def fail(self) -> None:
        from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - loaded by now

        self._span.set_status(Status(StatusCode.ERROR))


class _Span(AbstractContextManager[Told]):
    __slots__ = ("_attributes", "_kind", "_links", "_name", "_parent", "_span", "_stack", "_tracer")

    def __init__(
        self,
        tracer: Tracer,
        name: str,
        kind: Kind,
        attributes: Mapping[str, Attribute],
        *,
        parent: SpanContext | None = None,
        links: Sequence[SpanContext] = (),
    ) -> None:
        self._tracer = tracer
        self._name = name
        self._kind: Kind = kind
        self._attributes = attributes
        self._parent = parent
        self._links = links
        self._stack = ExitStack()
        self._span: Span | None = None

    def __enter__(self) -> Told:
        from opentelemetry import trace  # noqa: PLC0415 - loaded by now

        correlation = current()
        started = _started(
            self._tracer, self._name, self._kind, self._attributes, parent=self._parent, links=self._links
        )
        self._stack.enter_context(
            trace.use_span(started, end_on_exit=True, record_exception=False, set_status_on_exception=False)
        )
        within = started.get_span_context()
        if within.is_valid:
            trace_id, span_id, flags = f"{within.trace_id:032x}", f"{within.span_id:016x}", f"{within.trace_flags:02x}"
            request_id = trace_id if correlation is None else correlation.request_id
            self._stack.enter_context(bind(Correlation(request_id, trace_id, span_id, flags, given=True)))
        self._span = started
        return _Open(started)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and self._span is not None:
            self._span.set_attribute(
                "error.type", name_of(error.reason) if isinstance(error, Refusal) else kind.__name__
            )
        self._stack.__exit__(kind, error, trace)


def _started(
    tracer: Tracer,
    name: str,
    kind: Kind,
    attributes: Mapping[str, Attribute],
    *,
    parent: SpanContext | None = None,
    links: Sequence[SpanContext] = (),
    at: int | None = None,
) -> Span:
    from opentelemetry import trace  # noqa: PLC0415 - loaded by now

    more: dict[str, Any] = {} if at is None else {"start_time": at}
    if links:
        more["links"] = [trace.Link(each) for each in links]
    return tracer.start_span(
        name,
        context=_parent(current()) if parent is None else _under(parent),
        kind=trace.SpanKind[kind.upper()],
        attributes={key: _shown(key, value) for key, value in attributes.items()},
        **more,
    )


def _parent(correlation: Correlation | None) -> Context | None:
    """The caller's span, unless one of ours is open already, or the caller gave none."""
    from opentelemetry import trace  # noqa: PLC0415 - loaded by now

    if correlation is None or not correlation.given or trace.get_current_span().get_span_context().is_valid:
        return None
    return _under(
        trace.SpanContext(
            trace_id=int(correlation.trace_id, 16),
            span_id=int(correlation.span_id, 16),
            is_remote=True,
            trace_flags=trace.TraceFlags(int(correlation.flags, 16)),
        )
    )


def _under(parent: SpanContext) -> Context:
    from opentelemetry import trace  # noqa: PLC0415 - loaded by now

    return trace.set_span_in_context(trace.NonRecordingSpan(parent))


def _shown(key: str, value: Attribute) -> Attribute:
    return value if isinstance(value, bool | int | float) else str(masked(key, value))
