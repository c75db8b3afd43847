"""One trace for one commit: through the gateway, the services, Postgres and the store, to the event that leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from lakeward_components.nats import NatsServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from tests.support.collector import Collector, Seen, collecting
from tests.support.components import fresh_database
from tests.support.http import NOBODY
from tests.support.installations import Composition, Installation, environment, installed
from tests.support.warehouses import Warehouse, bootstrap, make_namespace, make_table, make_warehouse, tables_of, told

pytestmark = pytest.mark.e2e
_TOKEN = f"secret-{secrets.token_hex(8)}"
_VALUE = f"value-{secrets.token_hex(8)}"
_EXPECTED = {
    ("lakeward-gateway", "POST /catalog/v1/{prefix}/namespaces/{namespace}/tables/{table}"),
    ("lakeward-gateway", "lakeward.catalog.v1.TableService/CommitTable"),
    ("lakeward-catalog", "lakeward.catalog.v1.TableService/CommitTable"),
    ("lakeward-catalog", "asked together"),
    ("lakeward-catalog", "postgres select"),
    ("lakeward-catalog", "postgres with"),
    ("lakeward-authz", "lakeward.authz.v1.DecisionService/BatchDecide"),
    ("lakeward-vending", "lakeward.vending.v1.FileService/WriteFile"),
    ("lakeward-vending", "store PUT"),
    ("lakeward-catalog", "publish table.committed"),
}


@dataclass(frozen=True, slots=True)
class Traced:
    """A commit that was made in a trace, and what the collector was sent."""

    collector: Collector
    installation: Installation
    warehouse: Warehouse
    table: str
    trace_id: str
    span_id: str

    @property
    def spans(self) -> Sequence[Seen]:
        return self.collector.of(self.trace_id)

    @property
    def names(self) -> set[tuple[str, str]]:
        return {(span.service, span.name) for span in self.spans}

    @property
    def logged(self) -> Sequence[Mapping[str, Any]]:
        """Its event, as the catalog's log has it."""
        lines = [json.loads(line) for line in self.installation.logs()["catalog"].splitlines() if "updateTable" in line]
        events = [json.loads(line["event"]) if isinstance(line["event"], str) else line["event"] for line in lines]
        return [event for event in events if event["type"] == "updateTable"]

    @property
    def orphans(self) -> Sequence[Seen]:
        """Those whose parent is neither here nor the caller's."""
        spans = self.spans
        known = {span.span_id for span in spans} | {self.span_id}
        return [span for span in spans if span.parent_id not in known]


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
async def traced(
    database: str,
    nats_server: NatsServer,
    s3_server: S3Store,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Traced]:
    with collecting() as collector:
        settings = environment(
            database,
            nats_server,
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_BSP_SCHEDULE_DELAY="100",
            LAKEKEEPER__LOG_CLOUDEVENTS="true",
        )
        async with (
            installed(Composition.FOUR_PROCESSES, tmp_path_factory.mktemp("traced"), settings) as installation,
            httpx.AsyncClient(verify=NOBODY, base_url=installation.url, timeout=30) as http,
        ):
            await bootstrap(http)
            warehouse = await make_warehouse(http, s3_server)
            namespace = await make_namespace(http, warehouse)
            await make_table(http, warehouse, namespace, "orders")
            trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
            body = {"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": _VALUE}}]}
            told(
                await http.post(
                    f"{tables_of(warehouse, namespace)}/orders",
                    json=body,
                    headers={"traceparent": f"00-{trace_id}-{span_id}-01", "authorization": f"Bearer {_TOKEN}"},
                )
            )
            seen = Traced(collector, installation, warehouse, "orders", trace_id, span_id)
            # each process sends its spans at its own pace; what does not come, a test names
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(30):
                    while not (seen.names >= _EXPECTED and not seen.orphans and seen.logged):
                        await asyncio.sleep(0.05)
            yield seen


def test_one_trace_has_the_request_the_calls_the_statements_the_store_and_the_event(traced: Traced) -> None:
    assert _EXPECTED - traced.names == set()


def test_every_span_has_its_place_below_the_callers(traced: Traced) -> None:
    assert traced.orphans == []
    (root,) = (span for span in traced.spans if span.parent_id == traced.span_id)
    assert (root.service, root.attributes["http.response.status_code"]) == ("lakeward-gateway", 200)


def test_the_event_carries_the_trace_and_a_span_of_the_catalogs(traced: Traced) -> None:
    (event,) = traced.logged
    _, trace_id, span_id, flags = event["traceparent"].split("-")
    assert (trace_id, flags) == (traced.trace_id, "01")
    (within,) = (span for span in traced.spans if span.span_id == span_id)
    assert (within.service, within.name) == ("lakeward-catalog", "lakeward.catalog.v1.TableService/CommitTable")


def test_log_lines_of_a_request_have_its_trace(traced: Traced) -> None:
    assert any(traced.trace_id in log for log in traced.installation.logs().values())


def test_nothing_of_what_was_sent_or_signed_is_in_a_trace(traced: Traced, s3_server: S3Store) -> None:
    sent = b"".join(traced.collector.bodies)
    secret = (
        _TOKEN,
        _VALUE,
        s3_server.admin.secret_key,
        s3_server.sts_only.secret_key,
        "X-Amz-Signature",
        traced.warehouse.key_prefix,
    )
    assert [each for each in secret if each.encode() in sent] == []


def test_work_that_nobody_asked_for_sends_no_spans(traced: Traced) -> None:
    served = [span for span in traced.collector.spans if not span.parent_id]
    assert {span.name.split()[0] for span in served} <= {"GET", "POST", "HEAD"}
