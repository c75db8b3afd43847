"""What is asked of OpenFGA is a part of the request's trace, and tells nothing of whom it is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from lakeward_authz.adapters.openfga.connection import OpenFga, StoreAddress
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.telemetry import incoming, spans

_PARENT = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"


class Client:
    """Of a server that answers, or is away."""

    def __init__(self, failure: OSError | None = None) -> None:
        self._failure = failure

    async def list_stores(self, _options: Any) -> None:
        if self._failure is not None:
            raise self._failure


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans.configure(provider)
    yield exporter
    spans.stop()
    provider.shutdown()


def openfga(failure: OSError | None = None) -> OpenFga:
    client: Any = Client(failure)
    nobody: Any = None
    return OpenFga(client, StoreAddress(url="http://openfga", store="s", prefix="p"), nobody)


async def test_a_question_is_a_span_of_the_request_that_asks(exporter: InMemorySpanExporter) -> None:
    with incoming("r", _PARENT):
        await openfga().ping()
    (span,) = exporter.get_finished_spans()
    assert span.parent is not None
    assert (span.name, span.parent.span_id, dict(span.attributes or {})) == (
        "openfga",
        int("b" * 16, 16),
        {"peer.service": "openfga"},
    )


async def test_a_failure_is_told_by_its_type_alone(exporter: InMemorySpanExporter) -> None:
    with incoming("r", _PARENT), pytest.raises(Refusal):
        await openfga(ConnectionError("user:alice at table:payroll")).ping()
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "ConnectionError"
    assert "alice" not in span.to_json()
