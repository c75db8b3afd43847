"""Spans at the edges: whose part they are, what they hold, and when there are none."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.telemetry import current, incoming, spans, tracing
from lakeward_servicekit.telemetry.tracing import TracingUnavailableError, asked_for, exported

_PARENT = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
_UNSAMPLED = _PARENT[:-1] + "0"


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans.configure(provider)
    yield exporter
    spans.stop()
    provider.shutdown()


def by_name(exporter: InMemorySpanExporter) -> Mapping[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def parent_of(span: ReadableSpan) -> str | None:
    return None if span.parent is None else f"{span.parent.span_id:016x}"


def test_a_part_of_nothing_has_no_span(exporter: InMemorySpanExporter) -> None:
    with spans.inner("store GET"):
        spans.ended("postgres select", 0.1, attributes={})
    with incoming("r", None), spans.inner("store GET"):
        assert not spans.has_parent()
    assert exporter.get_finished_spans() == ()


def test_a_request_without_a_trace_begins_one_that_is_recorded(exporter: InMemorySpanExporter) -> None:
    with incoming("r", None), spans.span("GET /x", kind="server"), spans.inner("store GET"):
        inside = current()
    assert inside is not None
    outer, part = by_name(exporter)["GET /x"], by_name(exporter)["store GET"]
    assert outer.context is not None
    assert (outer.parent, inside.request_id, int(inside.flags, 16) & 1) == (None, "r", 1)
    assert parent_of(part) == f"{outer.context.span_id:016x}"


def test_whoever_says_that_a_trace_is_not_recorded_is_heeded(exporter: InMemorySpanExporter) -> None:
    with incoming("r", _UNSAMPLED), spans.span("GET /x", kind="server"), spans.inner("store GET"):
        inside = current()
    assert inside is not None
    assert (inside.trace_id, inside.flags) == ("a" * 32, "00")
    assert exporter.get_finished_spans() == ()


def test_a_statement_that_ended_took_as_long_as_it_took(exporter: InMemorySpanExporter) -> None:
    with incoming("r", _PARENT), spans.span("outer"):
        spans.ended("postgres select", 0.25, attributes={"db.system.name": "postgresql"})
    part = by_name(exporter)["postgres select"]
    assert part.start_time is not None
    assert part.end_time is not None
    assert part.end_time - part.start_time == 250_000_000
    assert part.attributes == {"db.system.name": "postgresql"}


def test_a_refusal_is_told_by_its_reason_and_never_by_its_words(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(Refusal), spans.span("work"):
        raise Refusal(Reason.REASON_NO_SUCH_TABLE, "there is no table 'payroll'", table="payroll")
    (span,) = exporter.get_finished_spans()
    assert span.attributes == {"error.type": "NO_SUCH_TABLE"}
    assert (list(span.events), span.status.status_code) == ([], StatusCode.UNSET)


def test_numbers_stay_numbers_and_what_names_a_secret_is_masked(exporter: InMemorySpanExporter) -> None:
    with spans.span("work", attributes={"size": 3, "secret_key": "hunter2"}) as told:
        told.set("http.response.status_code", 500)
        told.fail()
    (span,) = exporter.get_finished_spans()
    attributes = span.attributes or {}
    assert (attributes["size"], attributes["http.response.status_code"]) == (3, 500)
    assert "hunter2" not in str(attributes)
    assert span.status.status_code is StatusCode.ERROR


@pytest.mark.parametrize("alike", [True, False])
async def test_what_is_asked_together_is_a_part_of_the_first_ones_trace_and_linked_to_the_others(
    exporter: InMemorySpanExporter, *, alike: bool
) -> None:
    async def ask(items: Sequence[str]) -> Sequence[str]:
        with spans.inner("call"):
            await asyncio.sleep(0)
        return items

    coalescer = Coalescer[str, str](ask, alike=alike)

    async def request(name: str) -> None:
        with incoming(name, None), spans.span(name, kind="server"):
            assert await coalescer(name) == name

    await asyncio.gather(request("a"), request("b"), request("c"))
    found = by_name(exporter)
    together = found["asked together"]
    contexts = {name: found[name].context for name in "abc"}
    assert contexts["a"] is not None
    assert parent_of(together) == f"{contexts['a'].span_id:016x}"
    assert [link.context.span_id for link in together.links] == [
        context.span_id for name in "bc" if (context := contexts[name]) is not None
    ]
    assert together.context is not None
    assert parent_of(found["call"]) == f"{together.context.span_id:016x}"


async def test_what_is_asked_for_by_nobody_in_particular_has_no_span(exporter: InMemorySpanExporter) -> None:
    async def ask(items: Sequence[int]) -> Sequence[int]:
        with spans.inner("call"):
            return items

    assert await Coalescer[int, int](ask)(1) == 1
    assert exporter.get_finished_spans() == ()


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, "OTEL_TRACES_EXPORTER"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, None),
        ({"OTEL_SDK_DISABLED": "True", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, None),
    ],
)
def test_traces_are_sent_where_the_standards_variables_ask_for_them(
    environ: Mapping[str, str], variable: str | None
) -> None:
    assert asked_for(environ) == variable


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL",
        ),
    ],
)
def test_what_can_not_be_sent_is_refused_by_the_variable_that_asks(environ: Mapping[str, str], variable: str) -> None:
    with pytest.raises(TracingUnavailableError) as refused, exported(service="all", version="1", environ=environ):
        pass
    assert refused.value.variable == variable


def test_who_asks_for_traces_without_the_sdk_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
    with (
        pytest.raises(TracingUnavailableError, match=r"lakeward-server\[tracing\]"),
        exported(service="all", version="1", environ=environ),
    ):
        pass


def test_without_being_asked_nothing_is_recorded() -> None:
    with tracing.exported(service="all", version="1", environ={}) as exporting:
        assert not exporting
        assert not spans.recording
