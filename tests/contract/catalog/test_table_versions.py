"""Versions of generic tables, over the fake and Postgres."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from lakeward_catalog.domain.generic.versions import LAST, TableVersion
from lakeward_catalog.domain.model import Kind, Tabular
from lakeward_servicekit.authorization.principals import ANONYMOUS
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import NOON, a_body, a_tabular


async def _generic(stores: Stores) -> Tabular:
    generic = a_tabular(await stores.with_namespace(), kind=Kind.GENERIC_TABLE, metadata_location=None)
    async with stores.changes.change() as change:
        await change.tabulars.insert(generic, a_body("{}"), owner=ANONYMOUS, listed_as="delta")
    return generic


def _version(number: int, path: str = "") -> TableVersion:
    return TableVersion(number, path or f"_commits/{number}", number * 10, {"crc": "ä"}, NOON + timedelta(seconds=1))


async def _claim(stores: Stores, tabular: Tabular, version: TableVersion) -> bool:
    async with stores.changes.change() as change:
        assert await change.tabulars.lock_incarnation(tabular.warehouse_id, tabular.incarnation) is not None
        latest = await change.versions.latest(tabular)
        if latest is not None and latest.version >= version.version:
            return False
        return await change.versions.insert(tabular, version)


async def test_a_version_is_found_as_it_was_claimed_and_the_latest_is_the_largest(stores: Stores) -> None:
    tabular = await _generic(stores)
    assert await stores.versions.find(tabular, None) is None
    for number in (9, 10, 11):
        assert await _claim(stores, tabular, _version(number))
    bare = TableVersion(LAST, "p", None, {}, NOON)
    assert await _claim(stores, tabular, bare)
    assert await stores.versions.find(tabular, 10) == _version(10)
    assert await stores.versions.find(tabular, None) == bare
    assert await stores.versions.find(tabular, 12) is None
    async with stores.changes.change() as change:
        assert await change.versions.latest(tabular) == bare
        assert await change.versions.find(tabular, 9) == _version(9)
        assert await change.versions.find(tabular, 12) is None


async def test_versions_are_listed_the_latest_first_and_from_before_one(stores: Stores) -> None:
    tabular, other = await _generic(stores), await _generic(stores)
    for number in range(5):
        assert await _claim(stores, tabular, _version(number))
    assert await _claim(stores, other, _version(7))

    async def listed(before: int | None, limit: int) -> list[int]:
        return [each.version for each in await stores.versions.list(tabular, before=before, limit=limit)]

    assert await listed(None, 2) == [4, 3]
    assert await listed(3, 10) == [2, 1, 0]
    assert await listed(0, 10) == []
    assert await listed(LAST, 10) == [4, 3, 2, 1, 0]


async def test_a_version_that_is_there_is_not_stored_over(stores: Stores) -> None:
    tabular = await _generic(stores)
    assert await _claim(stores, tabular, _version(1, "first"))
    async with stores.changes.change() as change:
        assert not await change.versions.insert(tabular, _version(1, "second"))
    assert await stores.versions.find(tabular, 1) == _version(1, "first")


async def test_of_writers_who_want_one_version_at_once_one_gets_it(stores: Stores) -> None:
    tabular = await _generic(stores)
    for number in range(3):
        outcomes = await asyncio.gather(
            *(_claim(stores, tabular, _version(number, f"writer-{writer}")) for writer in range(6))
        )
        assert outcomes.count(True) == 1
        winner = await stores.versions.find(tabular, number)
        assert winner is not None
        assert winner.path == f"writer-{outcomes.index(True)}"


@pytest.mark.parametrize(("before", "left"), [(0, [3, 2, 1]), (2, [3, 2]), (3, [3]), (4, [3]), (LAST, [3])])
async def test_what_is_forgotten_is_never_the_latest(stores: Stores, before: int, left: list[int]) -> None:
    tabular, other = await _generic(stores), await _generic(stores)
    for number in (1, 2, 3):
        for each in (tabular, other):
            assert await _claim(stores, each, _version(number))
    async with stores.changes.change() as change:
        await change.versions.forget(tabular, before=before)
    assert [each.version for each in await stores.versions.list(tabular, before=None, limit=10)] == left
    assert len(await stores.versions.list(other, before=None, limit=10)) == 3


async def test_versions_go_with_their_table(stores: Stores) -> None:
    tabular = await _generic(stores)
    assert await _claim(stores, tabular, _version(0))
    async with stores.changes.change() as change:
        await change.tabulars.delete(tabular)
    assert await stores.versions.list(tabular, before=None, limit=10) == []
