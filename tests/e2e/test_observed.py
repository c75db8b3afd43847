"""Metrics of servers that run, in both compositions: what is scraped, and what the dashboard and the alerts count on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from tests.support import promql
from tests.support.http import NOBODY
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward

pytestmark = pytest.mark.e2e
_TABLES = "/catalog/v1/{prefix}/namespaces"


@pytest.fixture(scope="module")
def scraped(lakeward: Lakeward) -> Mapping[str, Mapping[str, Metric]]:
    """The families of each process, after some requests."""
    with httpx.Client(verify=NOBODY, base_url=lakeward.url) as http:
        for status, path in (
            (200, f"/catalog/v1/{lakeward.warehouse_id}/namespaces"),
            (404, f"/catalog/v1/{lakeward.warehouse_id}/namespaces/not-there/tables/t"),
        ):
            assert http.get(path).status_code == status
    return {name: families(port_of(log)) for name, log in lakeward.logs.items()}


def port_of(log: Path) -> int:
    """Where a process serves metrics, as it logged at its last start."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if '"serving metrics"' in line]
    return int(lines[-1]["port"])


def families(port: int) -> Mapping[str, Metric]:
    reply = httpx.get(f"http://127.0.0.1:{port}/metrics")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain")
    return {family.name: family for family in text_string_to_metric_families(reply.text)}


def total(found: Metric, suffix: str = "", **labels: str) -> float:
    return sum(
        sample.value
        for sample in found.samples
        if sample.name == found.name + suffix and labels.items() <= sample.labels.items()
    )


def hosting(scraped: Mapping[str, Mapping[str, Metric]], service: str) -> Mapping[str, Metric]:
    return scraped.get(service) or scraped["lakeward"]


def test_each_process_says_what_it_runs(lakeward: Lakeward, scraped: Mapping[str, Mapping[str, Metric]]) -> None:
    services = {
        sample.labels["service"] for found in scraped.values() for sample in found["lakeward_build_info"].samples
    }
    one = lakeward.composition is Composition.ONE_PROCESS
    assert services == ({"all"} if one else {"authz", "vending", "catalog", "gateway"})


def test_requests_are_counted_by_route_and_status(scraped: Mapping[str, Mapping[str, Metric]]) -> None:
    gateway = hosting(scraped, "gateway")
    listed = {"method": "GET", "endpoint": _TABLES, "status": "200"}
    assert total(gateway["axum_http_requests"], "_total", **listed) >= 1
    assert total(gateway["axum_http_requests_duration_seconds"], "_count", **listed) >= 1
    load = f"{_TABLES}/{{namespace}}/tables/{{table}}"
    assert total(gateway["axum_http_requests"], "_total", endpoint=load, status="404") >= 1


def test_calls_between_services_are_counted_by_method_and_code(scraped: Mapping[str, Mapping[str, Metric]]) -> None:
    calls = hosting(scraped, "catalog")["grpc_server_handled"]
    assert total(calls, "_total", grpc_method="ListNamespaces", grpc_code="OK") >= 1


@pytest.mark.parametrize(
    ("service", "pool"), [("catalog", "write"), ("authz", "authz_decisions"), ("vending", "vending")]
)
def test_pools_say_how_large_they_may_get(scraped: Mapping[str, Mapping[str, Metric]], service: str, pool: str) -> None:
    assert total(hosting(scraped, service)["lakekeeper_catalog_pg_pool_max_connections"], pool=pool) >= 1


def test_decisions_calls_of_stores_queues_and_the_runtime_are_told_of(
    scraped: Mapping[str, Mapping[str, Metric]],
) -> None:
    decided = hosting(scraped, "authz")["lakeward_authz_decisions"]
    assert total(decided, "_total", engine="allowall", outcome="allowed") >= 1
    stores = hosting(scraped, "vending")["lakeward_store_call_seconds"]
    assert total(stores, "_count", call="sts", outcome="ok") >= 1  # a warehouse is validated when it is made
    assert total(stores, "_count", call="store", method="PUT", outcome="ok") >= 1
    tasks = hosting(scraped, "catalog")["lakeward_tasks"]
    assert {sample.labels["queue"] for sample in tasks.samples} >= {"tabular_purge", "soft_deletion", "statistics"}
    for found in scraped.values():
        assert total(found["lakeward_loop_stall_seconds"], "_count") >= 1
        assert total(found["process_cpu_seconds"], "_total") > 0


def test_no_label_holds_what_a_caller_named(lakeward: Lakeward, scraped: Mapping[str, Mapping[str, Metric]]) -> None:
    named = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}|not-there|" + re.escape(lakeward.warehouse))
    for found in scraped.values():
        for family in found.values():
            for sample in family.samples:
                assert not [value for value in sample.labels.values() if named.search(value)], sample


def test_what_the_dashboard_and_the_alerts_ask_for_is_scraped(scraped: Mapping[str, Mapping[str, Metric]]) -> None:
    known = {name for found in scraped.values() for family in found.values() for name in names_of(family)}
    asked = promql.selected()
    assert {each.metric for each in asked} - known == set()


def names_of(family: Metric) -> set[str]:
    """Of its samples, though it has none yet."""
    match family.type:
        case "counter":
            return {f"{family.name}_total"}
        case "histogram":
            return {f"{family.name}_{part}" for part in ("bucket", "sum", "count")}
        case _:
            return {family.name}


def test_what_is_scraped_has_the_labels_that_it_is_asked_by(scraped: Mapping[str, Mapping[str, Metric]]) -> None:
    labels: dict[str, set[str]] = {}
    for found in scraped.values():
        for family in found.values():
            for sample in family.samples:
                labels.setdefault(sample.name, set()).update(sample.labels)
    seen = [each for each in promql.selected() if each.metric in labels]
    assert len(seen) > 20
    assert [each for each in seen if not each.labels <= labels[each.metric] | promql.ADDED] == []
