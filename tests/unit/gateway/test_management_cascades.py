"""Dropping with everything inside, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward_protocol.catalog.v1 import cascades_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import WAREHOUSE, World

ID = "0198e000-0000-7000-8000-000000000003"
ONE = f"/management/v1/warehouse/{WAREHOUSE}"
FOUND: dict[str, Any] = {
    "namespaces": 2,
    "tables": 3,
    "views": 1,
    "generic_tables": 5,
    "restorable": 4,
    "protected": ["a.b"],
}
SHOWN = {
    "number-of-namespaces": 2,
    "number-of-tables": 3,
    "number-of-views": 1,
    "number-of-generic-tables": 5,
    "number-of-deleted-tabulars": 4,
    "protected": ["a.b"],
}


@pytest.mark.parametrize(("path", "namespace"), [("/cascade-drop", ""), (f"/namespace/{ID}/cascade-drop", ID)])
async def test_a_drop_is_queued_and_a_dry_run_only_told(served: World, path: str, namespace: str) -> None:
    served.catalog.answers["DropTree"] = cascades_pb2.DropTreeResponse(task_id=ID, **FOUND)
    response = await served.client.post(ONE + path, json={"force": True, "purge": True})
    assert (response.status_code, response.json()) == (202, {"task-id": ID, **SHOWN})
    asked = served.asked
    assert (asked.warehouse_id, asked.namespace_id, asked.HasField("namespace_id")) == (
        WAREHOUSE,
        namespace,
        bool(namespace),
    )
    assert (asked.force, asked.purge, asked.dry_run) == (True, True, False)
    served.catalog.answers["DropTree"] = cascades_pb2.DropTreeResponse(**FOUND)
    response = await served.client.post(ONE + path, json={"dry-run": True})
    assert (response.status_code, response.json()) == (200, {"task-id": None, **SHOWN})


async def test_nothing_said_is_nothing_forced_and_nothing_purged(served: World) -> None:
    served.catalog.answers["DropTree"] = cascades_pb2.DropTreeResponse(task_id=ID)
    assert (await served.client.post(f"{ONE}/cascade-drop")).status_code == 202
    assert (served.asked.force, served.asked.purge, served.asked.dry_run) == (False, False, False)


@pytest.mark.parametrize("document", [{"dry_run": True}, {"force": "yes"}, []])
async def test_a_drop_of_the_wrong_shape_is_refused_and_drops_nothing(served: World, document: Any) -> None:
    assert (await served.client.post(f"{ONE}/cascade-drop", json=document)).status_code == 400
    assert served.catalog.asked == []


async def test_a_drop_that_is_under_way_is_a_conflict(served: World) -> None:
    served.catalog.answers["DropTree"] = Refusal(Reason.REASON_TASK_ACTIVE, "no", queue="q", task="t")
    response = await served.client.post(f"{ONE}/cascade-drop")
    assert (response.status_code, response.json()["error"]["type"]) == (409, "TaskAlreadyActive")
