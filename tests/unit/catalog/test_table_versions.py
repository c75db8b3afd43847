from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lakeward_protocol.catalog.v1 import generic_table_versions_pb2 as pb
from lakeward_protocol.catalog.v1 import generic_tables_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import House, a_house, refusal_of, tabular
from tests.support.catalog.memory_rows import Fate


async def a_versioned_house() -> House:
    house = await a_house()
    await house.make_generic("sales", "vectors")
    return house


def claim(house: House, version: int, path: str, **members: Any) -> Any:
    return house.versions.ClaimVersion(
        pb.ClaimVersionRequest(
            warehouse_id=house.warehouse_id, table=tabular("sales", "vectors"), version=version, path=path, **members
        )
    )


def get(house: House, version: int | None = None) -> Any:
    return house.versions.GetVersion(
        pb.GetVersionRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "vectors"), version=version)
    )


async def versions(house: House, **members: Any) -> list[int]:
    found = await house.versions.ListVersions(
        pb.ListVersionsRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "vectors"), **members)
    )
    return [each.version for each in found.versions]


async def test_of_two_writers_who_claim_one_version_one_wins_and_the_other_is_told_who_did() -> None:
    house = await a_versioned_house()
    await claim(house, 0, "_commits/0.json")
    outcomes = await asyncio.gather(
        *(claim(house, 1, f"_commits/1.{writer}.json") for writer in "ab"), return_exceptions=True
    )
    (lost,) = (each for each in outcomes if isinstance(each, Refusal))
    (won,) = (each for each in outcomes if not isinstance(each, BaseException))
    assert (lost.reason, lost.metadata) == (
        Reason.REASON_TABLE_VERSION_TAKEN,
        {"table": "sales.vectors", "version": "1", "latest": "1"},
    )
    assert won.version.path in lost.message
    assert (await get(house)).version == won.version


async def test_a_claim_whose_answer_was_lost_is_answered_when_it_is_sent_again() -> None:
    house = await a_versioned_house()
    house.catalog.next_commit = Fate.LOST_AFTER
    assert (await refusal_of(claim(house, 4, "a", size=7))).reason == Reason.REASON_COMMIT_STATE_UNKNOWN
    told = len(house.events())
    again = (await claim(house, 4, "a", size=7)).version
    assert (again.version, again.path, again.size) == (4, "a", 7)
    await claim(house, 5, "b")
    assert (await claim(house, 4, "a")).version == again
    assert len(house.events()) == told + 1
    assert (await refusal_of(claim(house, 4, "other"))).reason == Reason.REASON_TABLE_VERSION_TAKEN


async def test_no_version_is_left_out_and_none_is_claimed_twice_even_if_it_was_forgotten() -> None:
    house = await a_versioned_house()
    for version in (7, 8, 9):
        await claim(house, version, f"{version}")
    for version in (0, 6, 8, 11, 2**63 - 2):
        assert (await refusal_of(claim(house, version, "x"))).reason == Reason.REASON_TABLE_VERSION_TAKEN
    await house.versions.ForgetVersions(
        pb.ForgetVersionsRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "vectors"), before=100)
    )
    assert await versions(house) == [9]
    assert (await refusal_of(claim(house, 8, "x"))).reason == Reason.REASON_TABLE_VERSION_TAKEN
    await claim(house, 10, "10")
    assert await versions(house) == [10, 9]
    assert await versions(house, before=10, limit=0) == [9]


@pytest.mark.parametrize(
    "path",
    ["", "/a", "a/", "a//b", "../a", "a/../b", "a/.", "a\\b", "a\nb", "x" * 1025],
)
async def test_a_path_that_may_lead_out_of_the_tables_place_is_refused(path: str) -> None:
    house = await a_versioned_house()
    before = house.catalog.rows.copy()
    refusal = await refusal_of(claim(house, 0, path))
    assert (refusal.reason, refusal.metadata["field"]) == (Reason.REASON_INVALID_FIELD, "path")
    assert house.catalog.rows == before


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"version": 2**63 - 1}, "version"),
        ({"size": 2**63}, "size"),
        ({"properties": {"a": "x" * 8192}}, "properties"),
        ({"properties": {"a": "\0"}}, "properties"),
    ],
)
async def test_what_can_not_be_stored_is_refused(members: dict[str, Any], field: str) -> None:
    house = await a_versioned_house()
    refusal = await refusal_of(claim(house, **{"version": 0, "path": "a", **members}))
    assert (refusal.reason, refusal.metadata["field"]) == (Reason.REASON_INVALID_FIELD, field)


async def test_a_version_that_is_not_there_is_not_found() -> None:
    house = await a_versioned_house()
    for version in (None, 0, 2**64 - 1):
        refusal = await refusal_of(get(house, version))
        assert refusal.reason == Reason.REASON_NO_SUCH_TABLE_VERSION
    assert await versions(house) == []


async def test_a_claim_is_an_event_of_its_table() -> None:
    house = await a_versioned_house()
    await claim(house, 0, "_commits/0.json")
    event = house.event()
    assert (event["type"], event["data"]["table-version"], event["data"]["path"]) == (
        "updateGenericTable",
        0,
        "_commits/0.json",
    )


async def test_nothing_is_claimed_of_a_table_that_was_dropped() -> None:
    house = await a_versioned_house()
    await claim(house, 0, "a")
    await house.generic_tables.DropGenericTable(
        generic_tables_pb2.DropGenericTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "vectors"))
    )
    assert (await refusal_of(claim(house, 1, "b"))).reason == Reason.REASON_NO_SUCH_GENERIC_TABLE
    assert not house.catalog.rows.versions
