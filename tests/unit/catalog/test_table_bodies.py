"""A table's metadata as it is stored, with the parts that versions of it share."""

from __future__ import annotations

import functools
import itertools
from uuid import UUID

import pytest

from lakeward_catalog.domain.bodies import BodyPart
from lakeward_catalog.domain.iceberg.history import CHUNK_SIZE
from lakeward_catalog.domain.iceberg.reading import parse_table
from lakeward_catalog.domain.iceberg.table import Selection, TableMetadata
from lakeward_catalog.domain.table_bodies import body_of, shared_ids
from lakeward_servicekit.deflated import inflate, join
from tests.unit.catalog.iceberg.given import a_table, append, commit

COUNTS = [0, 1, CHUNK_SIZE - 1, CHUNK_SIZE, CHUNK_SIZE + 1, 200, 1000]


@functools.cache
def grown(snapshots: int) -> TableMetadata:
    """A table that so many commits appended to."""
    return a_table(snapshots=snapshots)


def tagged(table: TableMetadata, every: int) -> TableMetadata:
    """The table with a tag at each `every`th snapshot."""
    tags = [
        {"action": "set-snapshot-ref", "ref-name": f"t{n}", "type": "tag", "snapshot-id": snapshot.snapshot_id}
        for n, snapshot in enumerate(itertools.islice(table.snapshots, 0, None, every))
    ]
    return commit(table, *tags).metadata if tags else table


def text_of(parts: tuple[BodyPart, ...]) -> bytes:
    return inflate(join([part.part for part in parts]))


def ids_of(parts: tuple[BodyPart, ...]) -> set[UUID | None]:
    return {part.chunk_id for part in parts} - {None}


@pytest.mark.parametrize("every", [None, 1, 3, 100])
@pytest.mark.parametrize("snapshots", COUNTS)
def test_the_parts_of_a_body_are_the_document(snapshots: int, every: int | None) -> None:
    table = grown(snapshots) if every is None else tagged(grown(snapshots), every)
    body = body_of(table)
    assert text_of(body.everything) == table.encode()
    assert text_of(body.references) == table.encode(Selection.REFS)


@pytest.mark.parametrize("snapshots", COUNTS)
def test_a_body_that_was_read_back_has_the_parts_that_it_was_written_with(snapshots: int) -> None:
    table = grown(snapshots)
    again = parse_table(table.encode())
    assert shared_ids(again) == shared_ids(table)
    assert text_of(body_of(again).everything) == table.encode()


def test_the_next_body_names_the_full_chunks_of_the_one_before() -> None:
    table = a_table(snapshots=2 * CHUNK_SIZE + 5)
    after = commit(table, *append(table)).metadata
    assert len(shared_ids(table)) == 4, "two chunks of snapshots and two of the log"
    assert shared_ids(after) == shared_ids(table)
    named = {part.chunk_id for part in body_of(after).everything if part.chunk_id is not None}
    assert named == shared_ids(after)


def test_an_append_to_a_thousand_snapshots_makes_little_that_is_new() -> None:
    table = grown(1000)
    after = commit(table, *append(table)).metadata
    kept = shared_ids(table)
    fresh = [part for part in body_of(after).everything if part.chunk_id not in kept]
    assert len(kept) == 2 * (1000 // CHUNK_SIZE)
    assert sum(part.part.size for part in fresh) < len(table.encode()) / 5
    # the twin: a body that was cut another way shares nothing
    moved = commit(
        table, {"action": "remove-snapshots", "snapshot-ids": [next(iter(table.snapshots)).snapshot_id]}
    ).metadata
    assert not ids_of(body_of(moved).everything[:2]) & kept


def test_appends_after_an_expiry_still_make_the_document() -> None:
    table = grown(200)
    old = [snapshot.snapshot_id for snapshot in itertools.islice(table.snapshots, 90)]
    table = commit(table, {"action": "remove-snapshots", "snapshot-ids": old}).metadata
    for _ in range(2 * CHUNK_SIZE):
        before = table
        table = commit(table, *append(table, before.snapshots.last.snapshot_id + 1)).metadata  # type: ignore[union-attr]
        assert shared_ids(before) <= shared_ids(table)
    assert len(table.snapshots) == 200 - 90 + 2 * CHUNK_SIZE
    assert text_of(body_of(table).everything) == table.encode()
    assert text_of(body_of(table).references) == table.encode(Selection.REFS)


def test_both_forms_of_a_table_whose_every_snapshot_is_referenced_are_one() -> None:
    alone = body_of(grown(1))
    assert alone.references is alone.everything
    assert body_of(grown(2)).references is not body_of(grown(2)).everything
