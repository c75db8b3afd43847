"""A table's metadata as it is stored, with the parts that versions of it share."""

from __future__ import annotations

import pytest

from lakeward.catalog.domain.bodies import inflate, join
from lakeward.catalog.domain.iceberg.history import CHUNK_SIZE
from lakeward.catalog.domain.table_bodies import body_of, shared_ids
from tests.unit.catalog.iceberg.given import a_table, append, commit


@pytest.mark.parametrize("snapshots", [0, 1, CHUNK_SIZE - 1, CHUNK_SIZE, CHUNK_SIZE + 1, 3 * CHUNK_SIZE + 5])
def test_the_parts_of_a_body_are_the_document(snapshots: int) -> None:
    table = a_table(snapshots=snapshots)
    assert inflate(join([part.part for part in body_of(table).everything])) == table.encode()


def test_the_next_body_names_the_full_chunks_of_the_one_before() -> None:
    table = a_table(snapshots=2 * CHUNK_SIZE + 5)
    after = commit(table, *append(table)).metadata
    assert len(shared_ids(table)) == 4, "two chunks of snapshots and two of the log"
    assert shared_ids(after) == shared_ids(table)
    named = {part.chunk_id for part in body_of(after).everything if part.chunk_id is not None}
    assert named == shared_ids(after)
