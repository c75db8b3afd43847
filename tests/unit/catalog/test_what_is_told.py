"""Nothing changes unheard: each method that changes something writes events, and what they say keeps to their contract."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Final

import pytest
from google.protobuf.duration_pb2 import Duration

from lakeward_protocol.catalog.v1 import generic_table_versions_pb2, project_tasks_pb2, tasks_pb2
from lakeward_servicekit.telemetry.correlation import incoming
from tests.support.calling import answer_of
from tests.support.catalog.expectations import EXPECTED
from tests.support.catalog.expectations.case import Case
from tests.support.catalog.house import House, a_house, tabular
from tests.support.catalog.memory import Rows
from tests.support.event_contracts import checked
from tests.unit.catalog.test_denials import RULES

# Methods that change no entity themselves, and why nobody is told of what they do.
SILENT: Final = {
    "RecordCalls": "what gateways counted is no state of an entity",
    "ControlTasks": "queued work is not what it works on; what it does, it tells of itself, and what is restored is told",
    "ControlProjectTasks": "as of warehouses' tasks",
    "ScheduleProjectTask": "as of tasks that are stopped or run",
    "DropTree": "it queues the drop, whose worker tells of each thing that it drops (test_cascades)",
}
# What makes no entity, or follows from one: compared by nobody.
ASIDE: Final = {"keys", "events", "tasks", "queued", "held", "attempts", "hours", "calls", "growth", "bodies"}


async def _second_version(house: House) -> None:
    await house.make_generic("sales", "vectors")
    for version in range(2):
        await house.versions.ClaimVersion(
            generic_table_versions_pb2.ClaimVersionRequest(
                warehouse_id=house.warehouse_id,
                table=tabular("sales", "vectors"),
                version=version,
                path=f"{version}.manifest",
            )
        )


# Of methods whose other cases change nothing.
MORE: Final[Mapping[str, Case]] = {
    "ForgetVersions": Case(
        lambda house: generic_table_versions_pb2.ForgetVersionsRequest(
            warehouse_id=house.warehouse_id, table=tabular("sales", "vectors"), before=1
        ),
        {},
        prepare=_second_version,
    ),
    "SetQueueConfig": Case(
        lambda house: tasks_pb2.SetQueueConfigRequest(
            warehouse_id=house.warehouse_id, queue="tabular_purge", silence=Duration(seconds=60)
        ),
        {},
    ),
    "SetProjectQueueConfig": Case(
        lambda _: project_tasks_pb2.SetProjectQueueConfigRequest(
            queue="task_log_cleanup", config=project_tasks_pb2.ProjectQueueConfig(silence=Duration(seconds=60))
        ),
        {},
    ),
    "SetProjectSchedule": Case(
        lambda _: project_tasks_pb2.SetProjectScheduleRequest(queue="task_log_cleanup", cron="0 3 * * *"), {}
    ),
}
MUTATIONS: Final = {
    path: (*cases, *([MORE[name]] if (name := path.rpartition("/")[2]) in MORE else []))
    for path, cases in EXPECTED.items()
    if RULES[path].mutation and path.rpartition("/")[2] not in SILENT
}
TRACE: Final = f"00-{'a' * 32}-{'b' * 16}-01"


async def _done(path: str, case: Case) -> tuple[House, Rows]:
    """A house in which a method did its work, and what was there before."""
    house = await a_house()
    if case.prepare is not None:
        await case.prepare(house)
    before = house.catalog.rows.copy()
    with incoming("a-request", TRACE):
        case.unwrap(await answer_of(house.host, path, case.request(house)))
    return house, before


def _entities(rows: Rows) -> dict[str, object]:
    return {field.name: getattr(rows, field.name) for field in dataclasses.fields(rows) if field.name not in ASIDE}


def test_what_is_silent_is_a_method_that_changes_something() -> None:
    changing = {path.rpartition("/")[2] for path, rule in RULES.items() if rule.mutation}
    assert {*SILENT, *MORE} <= changing


@pytest.mark.parametrize("path", MUTATIONS, ids=lambda path: path.rpartition("/")[2])
async def test_every_change_is_told_in_its_contract(path: str) -> None:
    told = 0
    for case in MUTATIONS[path]:
        house, before = await _done(path, case)
        events = house.catalog.rows.events[len(before.events) :]
        assert bool(events) == (_entities(house.catalog.rows) != _entities(before))
        for event in events:
            document = checked(event)
            assert (document["traceparent"], document["specversion"]) == (TRACE, "1.0")
            assert json.loads(document["actor"]).get("principal") == document.get("principal")
        told += len(events)
    assert told


async def test_what_changes_nothing_tells_nothing() -> None:
    for path, cases in EXPECTED.items():
        if RULES[path].mutation:
            continue
        for case in cases:
            house, before = await _done(path, case)
            assert len(house.catalog.rows.events) == len(before.events), path
