"""Managing a warehouse over HTTP, with its files in a real store."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.support.http import NOBODY
from tests.support.lakeward import Lakeward
from tests.support.warehouses import make_namespace, make_table, make_warehouse, told, warehouse_document

pytestmark = pytest.mark.integration


@pytest.fixture
async def http(lakeward: Lakeward) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(verify=NOBODY, base_url=lakeward.url, timeout=60) as client:
        yield client


MANAGEMENT = "/management/v1/warehouse"


def _statuses(reply: httpx.Response) -> dict[str, str]:
    return {check["name"]: check["status"] for check in told(reply).json()["checks"]}


async def test_a_storage_that_works_and_one_that_does_not_are_told_apart_without_a_warehouse(
    lakeward: Lakeward, http: httpx.AsyncClient
) -> None:
    name, prefix = f"w{secrets.token_hex(4)}", f"checked-{secrets.token_hex(4)}"
    document: dict[str, Any] = warehouse_document(lakeward.store, name=name, key_prefix=prefix)
    path = "/management/v1/warehouse-creation-validation"
    sound = told(await http.post(path, json=document, timeout=60)).json()
    assert sound["valid"]
    assert {check["status"] for check in sound["checks"]} == {"passed"}
    document["storage-credential"]["secret-access-key"] = "wrong"
    broken = told(await http.post(path, json=document, timeout=60)).json()
    assert not broken["valid"]
    (failed,) = (check for check in broken["checks"] if check["status"] == "failed")
    assert failed["error"]["message"]
    assert "wrong" not in str(broken)
    listed = told(await http.get(MANAGEMENT)).json()["warehouses"]
    assert name not in {each["name"] for each in listed}


async def test_a_warehouse_s_storage_is_checked_as_it_is(lakeward: Lakeward, http: httpx.AsyncClient) -> None:
    warehouse = await make_warehouse(http, lakeward.store)
    reply = await http.post(f"{MANAGEMENT}/{warehouse.id}/storage/validate-access", timeout=60)
    assert set(_statuses(reply).values()) == {"passed"}


async def test_what_was_dropped_comes_back_with_its_data(lakeward: Lakeward, http: httpx.AsyncClient) -> None:
    warehouse = await make_warehouse(http, lakeward.store)
    one = f"{MANAGEMENT}/{warehouse.id}"
    told(
        await http.post(f"{one}/delete-profile", json={"delete-profile": {"type": "soft", "expiration-seconds": 3600}})
    )
    namespace = await make_namespace(http, warehouse)
    made: Any = await make_table(http, warehouse, namespace, "orders")
    path = f"{warehouse.path}/namespaces/{namespace}/tables/orders"
    told(await http.delete(path, params={"purgeRequested": "true"}))
    assert (await http.get(path)).status_code == 404
    (listed,) = told(await http.get(f"{one}/deleted-tabulars")).json()["tabulars"]
    assert (listed["id"], listed["name"], listed["typ"]) == (made["metadata"]["table-uuid"], "orders", "table")
    told(await http.post(f"{one}/deleted-tabulars/undrop", json={"targets": [{"type": "table", "id": listed["id"]}]}))
    loaded = told(await http.get(path)).json()
    assert loaded["metadata-location"] == made["metadata-location"]
    assert told(await http.get(f"{one}/deleted-tabulars")).json()["tabulars"] == []


async def test_a_purge_is_seen_run_at_once_and_found_when_it_is_done(
    lakeward: Lakeward, http: httpx.AsyncClient
) -> None:
    warehouse = await make_warehouse(http, lakeward.store)
    tasks = f"{MANAGEMENT}/{warehouse.id}/task"
    namespace = await make_namespace(http, warehouse)
    made: Any = await make_table(http, warehouse, namespace, "orders")
    told(await http.delete(f"{warehouse.path}/namespaces/{namespace}/tables/orders"))
    (purge,) = told(await http.post(f"{tasks}/list", json={})).json()["tasks"]
    assert (purge["status"], purge["entity-name"]) == ("SCHEDULED", [namespace, "orders"])
    assert purge["entity"] == {"type": "table", "table-id": made["metadata"]["table-uuid"]}
    body = {"action": {"action-type": "run-now"}, "task-ids": [purge["task-id"]]}
    told(await http.post(f"{tasks}/control", json=body))
    async with asyncio.timeout(60):
        while True:
            found = told(await http.get(f"{tasks}/by-id/{purge['task-id']}")).json()
            if found["status"] == "SUCCESS":
                break
            await asyncio.sleep(0.2)
    assert found["message"] == "Purged tabular data"
    assert found["task-data"] == {"tabular_location": made["metadata"]["location"]}
    (attempt,) = found["attempts"]
    assert (attempt["attempt"], attempt["status"], attempt["progress"]) == (1, "SUCCESS", 1.0)
    told(await http.delete(f"{warehouse.path}/namespaces/{namespace}"))
    told(await http.delete(f"{MANAGEMENT}/{warehouse.id}"))


async def test_cancelling_a_soft_deletion_brings_its_table_back(lakeward: Lakeward, http: httpx.AsyncClient) -> None:
    warehouse = await make_warehouse(http, lakeward.store)
    one = f"{MANAGEMENT}/{warehouse.id}"
    told(await http.post(f"{one}/delete-profile", json={"delete-profile": {"type": "soft"}}))
    namespace = await make_namespace(http, warehouse)
    await make_table(http, warehouse, namespace, "orders")
    path = f"{warehouse.path}/namespaces/{namespace}/tables/orders"
    told(await http.delete(path))
    (task,) = told(await http.post(f"{one}/task/list", json={"queue-name": ["soft_deletion"]})).json()["tasks"]
    body = {"action": {"action-type": "cancel"}, "task-ids": [task["task-id"]]}
    told(await http.post(f"{one}/task/control", json=body))
    told(await http.get(path))
    assert told(await http.get(f"{one}/task/by-id/{task['task-id']}")).json()["status"] == "CANCELLED"


async def test_requests_of_a_warehouse_are_counted(lakeward: Lakeward, http: httpx.AsyncClient) -> None:
    warehouse = await make_warehouse(http, lakeward.store)
    for _ in range(3):
        told(await http.get(f"{MANAGEMENT}/{warehouse.id}"))
    document = {"warehouse": {"type": "warehouse-id", "id": warehouse.id}, "status-codes": [200]}
    route, count = "GET /management/v1/warehouse/{warehouse_id}", 0
    async with asyncio.timeout(90):
        while count < 3:
            await asyncio.sleep(0.2)
            found = told(await http.post("/management/v1/endpoint-statistics", json=document)).json()
            calls = [call for hour in found["called-endpoints"] for call in hour]
            count = sum(call["count"] for call in calls if call["http-route"] == route)
    assert {(call["warehouse-id"], call["warehouse-name"]) for call in calls} == {(warehouse.id, warehouse.name)}


async def test_a_warehouse_is_dropped_with_everything_inside_its_files_and_its_secret(
    lakeward: Lakeward, http: httpx.AsyncClient
) -> None:
    warehouse = await make_warehouse(http, lakeward.store)
    await make_namespace(http, warehouse, "sales")
    await make_table(http, warehouse, "sales", "orders")
    path = f"{MANAGEMENT}/{warehouse.id}/cascade-drop"
    planned = told(await http.post(path, json={"dry-run": True})).json()
    assert (planned["task-id"], planned["number-of-namespaces"], planned["number-of-tables"]) == (None, 1, 1)
    queued = (await http.post(path, json={"purge": True})).json()
    task, control = f"/management/v1/project/task/by-id/{queued['task-id']}", "/management/v1/project/task/control"
    while (shown := told(await http.get(task)).json())["status"] != "SUCCESS":
        assert shown["status"] in {"SCHEDULED", "RUNNING"}, shown
        await asyncio.sleep(0.2)
        # it looks for the purge's end every half a minute
        hurried = {"action": {"action-type": "run-now"}, "task-ids": [queued["task-id"]]}
        assert (await http.post(control, json=hurried)).status_code == 204
    assert (await http.get(f"{MANAGEMENT}/{warehouse.id}")).status_code == 404
