"""Warehouses from memory: which version, and for how long after a statement showed it."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import pytest

from lakeward_catalog.adapters.postgres.containers import Containers
from lakeward_catalog.domain.model import Warehouse
from tests.support.catalog.values import a_project, a_warehouse

WAREHOUSE = a_warehouse(a_project(), row_version=3)
NEWER = dataclasses.replace(WAREHOUSE, row_version=4, active=False)


class Watch:
    """Seconds."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def watch() -> Watch:
    return Watch()


def containers(watch: Watch, **bounds: int) -> Containers:
    return Containers(cast("Any", None), now=watch, **bounds)


def remembered(kept: Containers, version: int = 3) -> Warehouse | None:
    return kept.remembered(WAREHOUSE.warehouse_id, version)


def test_a_warehouse_is_remembered_for_half_a_minute_after_it_was_read(watch: Watch) -> None:
    kept = containers(watch)
    assert remembered(kept) is None
    kept.keep(WAREHOUSE)
    watch.seconds += 29.9
    assert remembered(kept) is WAREHOUSE
    watch.seconds += 0.1
    assert remembered(kept) is None
    assert kept.warehouse(WAREHOUSE.warehouse_id, 3) is WAREHOUSE  # for a version that was just read, no time counts


@pytest.mark.parametrize("again", ["its version was read", "it was read whole"])
def test_and_as_long_again_when_a_statement_shows_it_again(watch: Watch, again: str) -> None:
    kept = containers(watch)
    kept.keep(WAREHOUSE)
    watch.seconds += 60
    if again == "its version was read":
        kept.warehouse(WAREHOUSE.warehouse_id, 3)
    else:
        kept.keep(dataclasses.replace(WAREHOUSE))
    watch.seconds += 29
    assert remembered(kept) == WAREHOUSE
    remembered(kept)  # being asked for is no sight of it
    watch.seconds += 1
    assert remembered(kept) is None


def test_an_older_version_is_forgotten_when_a_newer_one_is_read_and_never_comes_back(watch: Watch) -> None:
    kept = containers(watch)
    kept.keep(WAREHOUSE)
    kept.keep(NEWER)
    kept.keep(WAREHOUSE)  # a statement that was slow
    assert kept.warehouse(WAREHOUSE.warehouse_id, 3) is None
    assert (remembered(kept), remembered(kept, 4), remembered(kept, 5)) == (None, NEWER, None)


def test_another_warehouse_s_version_says_nothing(watch: Watch) -> None:
    kept = containers(watch)
    kept.keep(WAREHOUSE)
    assert kept.remembered(a_warehouse(a_project()).warehouse_id, 3) is None


def test_no_more_are_kept_than_was_said(watch: Watch) -> None:
    kept = containers(watch, most_warehouses=2)
    made = [a_warehouse(a_project()) for _ in range(5)]
    for each in made:
        kept.keep(each)
    assert sum(kept.remembered(each.warehouse_id, 1) is not None for each in made) == 2
