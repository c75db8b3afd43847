"""Spans: how long a named piece of work took, for a tracing backend.

Only the API of OpenTelemetry is used. Without an SDK a span is a shared object that does nothing, and the API is not even
imported; whoever runs with an SDK calls `configure` from a main.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.telemetry.correlation import Correlation, bind, current
from lakeward_servicekit.telemetry.logs import masked

if TYPE_CHECKING:
    from types import TracebackType

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

    Attribute = str | bool | int | float

_ASKED_FOR: Final = ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_tracer: Tracer | None = None


class _Nothing(AbstractContextManager[None]):
    """The span of a process without a tracing backend."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


_NOTHING: Final = _Nothing()


def configure(provider: TracerProvider | None = None) -> bool:
    """Record spans from now on, if a backend is asked for; whether it is.

    Args:
        provider: where spans go; None takes the one that an SDK has installed, where the environment asks for one or
            an SDK is loaded.
    """
    global _tracer  # noqa: PLW0603 - one switch a process, set by its main
    if provider is None and "opentelemetry.sdk" not in sys.modules and not any(map(os.environ.get, _ASKED_FOR)):
        _tracer = None
        return False
    from opentelemetry import trace  # noqa: PLC0415 - 5 MB that a process without a backend does not need

    _tracer = trace.get_tracer("lakeward", tracer_provider=provider)
    return True


def span(name: str, **attributes: Attribute) -> AbstractContextManager[None]:
    """Time a block under a name.

    Written as `with span("catalog.load_table", warehouse=name):`.

    Log lines and outgoing calls inside have its id. An exception that leaves the block is recorded by its type alone.
    """
    return _NOTHING if _tracer is None else _Span(_tracer, name, attributes)


class _Span(AbstractContextManager[None]):
    __slots__ = ("_attributes", "_name", "_span", "_stack", "_tracer")

    def __init__(self, tracer: Tracer, name: str, attributes: dict[str, Attribute]) -> None:
        self._tracer = tracer
        self._name = name
        self._attributes = attributes
        self._stack = ExitStack()
        self._span: Span | None = None

    def __enter__(self) -> None:
        from opentelemetry import trace  # noqa: PLC0415 - loaded by now

        correlation = current()
        started = self._tracer.start_span(
            self._name,
            context=_parent(correlation),
            attributes={key: str(masked(key, value)) for key, value in self._attributes.items()},
        )
        self._stack.enter_context(
            trace.use_span(started, end_on_exit=True, record_exception=False, set_status_on_exception=False)
        )
        within = started.get_span_context()
        if within.is_valid:
            ids = {
                "trace_id": f"{within.trace_id:032x}",
                "span_id": f"{within.span_id:016x}",
                "flags": f"{within.trace_flags:02x}",
            }
            inner = (
                Correlation(ids["trace_id"], **ids) if correlation is None else dataclasses.replace(correlation, **ids)
            )
            self._stack.enter_context(bind(inner))

        self._span = started

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and self._span is not None:
            self._span.set_attribute("error.type", kind.__name__)
        self._stack.__exit__(kind, error, trace)


def _parent(correlation: Correlation | None) -> Context | None:
    """The caller's span, unless one of ours is open already."""
    from opentelemetry import trace  # noqa: PLC0415 - loaded by now

    if correlation is None or trace.get_current_span().get_span_context().is_valid:
        return None
    remote = trace.SpanContext(
        trace_id=int(correlation.trace_id, 16),
        span_id=int(correlation.span_id, 16),
        is_remote=True,
        trace_flags=trace.TraceFlags(int(correlation.flags, 16)),
    )
    return trace.set_span_in_context(trace.NonRecordingSpan(remote))
