"""Recording how much generic tables hold: which statistics are replaced, and what becomes of tables that can't be read."""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from typing import Any

import pytest

from lakeward_catalog.application.tasks.queues import KINDS
from lakeward_catalog.application.tasks.scheduling import make_due
from lakeward_catalog.application.workers import Progress
from lakeward_catalog.domain.generic.measures import Measures
from lakeward_catalog.domain.model import State
from lakeward_catalog.domain.tasks import Queue
from lakeward_protocol.catalog.v1 import generic_tables_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import House, a_house, tabular
from tests.support.catalog.memory_tasks import MemoryTasks

MEASURED = Queue.GENERIC_STATISTICS


async def measured(house: House, *, turns: int = 100) -> str:
    """Have a worker do what is due, to its end."""
    await make_due(KINDS[MEASURED], house.parts.schedules, house.clock)
    tasks = MemoryTasks(house.catalog)
    for _ in range(turns):
        task = await tasks.claim(MEASURED, now=house.clock.now(), silence=timedelta(minutes=5), attempts=5)
        assert task is not None
        progress = Progress()
        said = await KINDS[MEASURED].make(house.parts)(task, progress)
        if isinstance(said, str):
            await tasks.finish(task, now=house.clock.now(), message=said, progress=progress.done)
            house.clock.advance(timedelta(days=1))
            return said
        await tasks.postpone(task, said, progress=progress.done)
    raise AssertionError("it does not end")


async def statistics(house: House, name: str) -> Any:
    loaded = await house.generic_tables.LoadGenericTable(
        generic_tables_pb2.LoadGenericTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", name))
    )
    text = loaded.table.table.statistics
    return json.loads(text) if text else None


def put(house: House, name: str, path: str, content: bytes) -> None:
    (row,) = [each for each in house.catalog.rows.tabulars.values() if each.ident.name == name]
    house.files.stored[f"{row.location}/{path}"] = content


async def test_what_lies_at_a_table_is_recorded_once_and_again_when_it_has_changed() -> None:
    house = await a_house()
    await house.make_generic("sales", "days", format="CSV")
    put(house, "days", "day=1/a.csv", b"x" * 10)
    put(house, "days", "_SUCCESS", b"")
    put(house, "days", "day=1/.a.crc", b"12")
    assert await measured(house) == "Recorded 1 tables anew, 0 stay as they are"
    first = await statistics(house, "days")
    assert first == {"measured-by": "lakeward", "measured-at": "2026-08-01T12:00:00Z", "files": 1, "bytes": 10}
    before = len(house.events())
    assert await measured(house) == "Recorded 0 tables anew, 1 stay as they are"
    assert await statistics(house, "days") == first
    assert len(house.events()) == before
    put(house, "days", "day=2/b.csv", b"y" * 5)
    await measured(house)
    assert {**first, "files": 2, "bytes": 15, "measured-at": "2026-08-03T12:00:00Z"} == await statistics(house, "days")
    assert house.events()[-1] == "updateGenericTable"
    assert house.event()["data"]["request"]["statistics"]["files"] == 2


@pytest.mark.parametrize("own", [{"rows": 3}, [], "many", {"measured-by": "somebody"}, {"measured-by": 1}])
async def test_statistics_that_somebody_else_recorded_stay(own: object) -> None:
    house = await a_house()
    await house.make_generic("sales", "days", format="csv", statistics=own)
    put(house, "days", "a.csv", b"x")
    await measured(house)
    assert await statistics(house, "days") == own


async def test_a_table_of_another_format_or_without_files_is_left_alone() -> None:
    house = await a_house()
    await house.make_generic("sales", "other", format="vortex")
    await house.make_generic("sales", "empty", format="lance")
    put(house, "other", "a.vortex", b"x")
    assert await measured(house) == "Recorded 0 tables anew, 1 stay as they are"
    assert await statistics(house, "other") is None
    assert await statistics(house, "empty") is None


async def test_a_table_that_can_not_be_read_says_why_once_and_holds_up_no_other() -> None:
    house = await a_house()
    for name in ("bad", "good"):
        await house.make_generic("sales", name, format="parquet" if name == "bad" else "json")
    put(house, "bad", "a.parquet", b"no parquet at all")
    put(house, "good", "a.json", b"{}")
    assert await measured(house) == (
        "Recorded 1 tables anew, 0 stay as they are; 1 can't be read, as their statistics say"
    )
    said = await statistics(house, "bad")
    assert said["error"] == "a.parquet is no Parquet file with a footer that can be read"
    assert (await statistics(house, "good"))["files"] == 1
    assert await measured(house) == "Recorded 0 tables anew, 2 stay as they are"
    assert await statistics(house, "bad") == said


async def test_a_store_that_is_away_changes_no_statistics_and_ends_nothing() -> None:
    house = await a_house()
    for name in ("a", "b"):
        await house.make_generic("sales", name, format="csv")
        put(house, name, "a.csv", b"x")
    house.files.refuses = Refusal(Reason.REASON_STORE_UNAVAILABLE, "the store is away", store="s3")
    assert await measured(house) == "Recorded 0 tables anew, 0 stay as they are; 2 were not reached"
    house.files.refuses = None
    assert await measured(house) == "Recorded 2 tables anew, 0 stay as they are"


async def test_tables_of_all_warehouses_are_measured_page_by_page_and_those_of_other_projects_are_not() -> None:
    house = await a_house()
    for index in range(120):
        await house.make_generic("sales", f"t{index:03}", format="csv")
        put(house, f"t{index:03}", "a.csv", b"x")
    await house.make_warehouse(name="other", base="s3://lake/other")
    assert await measured(house, turns=4) == "Recorded 120 tables anew, 0 stay as they are"
    assert (await statistics(house, "t119"))["files"] == 1


async def test_a_change_that_comes_between_wins() -> None:
    house = await a_house()
    await house.make_generic("sales", "days", format="csv")
    put(house, "days", "a.csv", b"x")
    house.files.during = lambda: house.generic_tables.UpdateGenericTable(
        generic_tables_pb2.UpdateGenericTableRequest(
            warehouse_id=house.warehouse_id, table=tabular("sales", "days"), body=b'{"statistics": {"rows": 7}}'
        )
    )
    assert await measured(house) == "Recorded 0 tables anew, 1 stay as they are"
    assert await statistics(house, "days") == {"rows": 7}


async def test_a_table_that_is_dropped_meanwhile_stays_dropped() -> None:
    house = await a_house()
    await house.make_generic("sales", "days", format="csv")
    put(house, "days", "a.csv", b"x")

    async def drop() -> None:
        rows = house.catalog.rows.tabulars
        for key, row in rows.items():
            if row.ident.name == "days":
                rows[key] = dataclasses.replace(row, state=State.DROPPED)

    house.files.during = drop
    assert await measured(house) == "Recorded 0 tables anew, 1 stay as they are"


def test_a_stranger_s_words_in_an_error_are_printable_and_not_without_end() -> None:
    said = Measures.failed("a\x00\x1b[31m\u202e" + "x" * 10_000).error
    assert said is not None
    assert said.isprintable()
    assert len(said) == 500
