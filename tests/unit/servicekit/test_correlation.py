"""Requests, traces and spans."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace

from lakeward_servicekit.telemetry import Correlation, bind, correlate, current, incoming, outgoing_headers, spans

_PARENT = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"


def test_a_callers_trace_and_request_go_on() -> None:
    with incoming("r-1", _PARENT):
        assert current() == Correlation("r-1", "a" * 32, "b" * 16, "01")
        assert outgoing_headers() == [("x-request-id", "r-1"), ("traceparent", _PARENT)]
    assert current() is None
    assert outgoing_headers() == []


@pytest.mark.parametrize(
    "malformed",
    [None, "", "00-" + "0" * 32 + "-" + "b" * 16 + "-01", _PARENT.upper(), _PARENT[:-1], "ff" + _PARENT[2:], "x" * 300],
)
def test_a_malformed_trace_is_replaced_by_one_of_ours(malformed: str | None) -> None:
    correlation = correlate(None, malformed)
    assert correlate(None, correlation.traceparent).trace_id == correlation.trace_id
    assert correlation.request_id == correlation.trace_id


@given(st.text(), st.text())
def test_whatever_a_caller_sends_ids_can_go_along(request_id: str, traceparent: str) -> None:
    correlation = correlate(request_id, traceparent)
    assert 1 <= len(correlation.request_id) <= 128
    assert correlate("r", correlation.traceparent) == Correlation(
        "r", correlation.trace_id, correlation.span_id, correlation.flags
    )


async def test_each_task_has_the_request_it_was_begun_for() -> None:
    async def seen() -> str | None:
        await asyncio.sleep(0)
        correlation = current()
        return None if correlation is None else correlation.request_id

    async def request(name: str) -> str | None:
        with incoming(name, None):
            return await asyncio.create_task(seen())

    assert list(await asyncio.gather(request("a"), request("b"), seen())) == ["a", "b", None]


def test_the_ids_that_were_made_for_a_request_stay_its_own() -> None:
    with incoming(None, None):
        first = current()
        assert first is not None
        assert current() is first
        with incoming(None, None):
            assert current() != first
        assert current() is first


@dataclass
class _Span(trace.NonRecordingSpan):
    name: str
    parent: Any
    attributes: dict[str, Any]
    ended: bool = False

    def __post_init__(self) -> None:
        trace_id = self.parent.trace_id if self.parent.is_valid else 0xC0FFEE
        super().__init__(
            trace.SpanContext(trace_id, 0xBEE + len(self.name), is_remote=False, trace_flags=trace.TraceFlags(1))
        )

    def set_attribute(self, key: str, value: Any) -> None:
        self.attributes[key] = value

    def end(self, end_time: int | None = None) -> None:
        assert end_time is None
        self.ended = True


@dataclass
class _Backend(trace.TracerProvider, trace.Tracer):
    """An SDK of twenty lines."""

    spans: list[_Span] = field(default_factory=list)

    def get_tracer(self, *_: Any, **__: Any) -> trace.Tracer:
        return self

    def start_span(self, name: str, context: Any = None, *_: Any, attributes: Any = None, **__: Any) -> trace.Span:
        parent = trace.get_current_span(context).get_span_context()
        self.spans.append(_Span(name, parent, dict(attributes)))
        return self.spans[-1]

    def start_as_current_span(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@pytest.fixture
def backend() -> Iterator[_Backend]:
    backend = _Backend()
    spans.configure(backend)
    assert spans.recording
    yield backend
    spans.stop()
    assert not spans.recording


def test_without_a_backend_a_span_is_nothing_and_nothing_changes() -> None:
    with incoming("r", _PARENT):
        correlation = current()
        with spans.span("work", table="t"):
            assert current() is correlation
    assert spans.span("a") is spans.span("b")


def test_a_span_belongs_to_the_callers_trace_and_goes_along_with_calls(backend: _Backend) -> None:
    with incoming("r-1", _PARENT), spans.span("outer"):
        inside = current()
        assert inside is not None
        assert (inside.request_id, inside.trace_id) == ("r-1", "a" * 32)
        assert inside.span_id != "b" * 16
        with spans.span("inner"):
            pass
        assert current() == inside
    outer, inner = backend.spans
    assert outer.parent.span_id == int("b" * 16, 16)
    assert inner.parent.span_id == outer.get_span_context().span_id
    assert _ended(backend.spans) == [True, True]


def test_a_span_outside_of_any_request_begins_a_trace(backend: _Backend) -> None:
    with spans.span("sweep"):
        assert current() is not None
    assert current() is None
    assert not backend.spans[0].parent.is_valid


def test_an_exception_is_told_by_its_type_and_a_secret_not_at_all(backend: _Backend) -> None:
    with pytest.raises(LookupError), spans.span("work", password="hunter2"):
        raise LookupError("hunter2")
    (only,) = backend.spans
    assert only.attributes["error.type"] == "LookupError"
    assert "hunter2" not in repr(only.attributes)
    assert only.ended


def test_binding_ends_with_its_block_even_when_that_raises() -> None:
    with pytest.raises(LookupError), bind(Correlation("r", "a" * 32, "b" * 16)):
        raise LookupError
    assert current() is None


def _ended(made: Sequence[_Span]) -> list[bool]:
    return [each.ended for each in made]
