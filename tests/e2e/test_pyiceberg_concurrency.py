"""Processes that write to one table at once, each retrying as PyIceberg does: nothing is lost, nothing is doubled."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping

import pyarrow as pa
from pyiceberg.catalog import Catalog, load_catalog

from tests.support.engines import Reach, pyiceberg_properties

WRITERS = 4
APPENDS = 4
RETRIES: Mapping[str, str] = {
    "commit.retry.num-retries": "60",
    "commit.retry.min-wait-ms": "5",
    "commit.retry.max-wait-ms": "200",
}
# Forked from one that has imported what they need, and done nothing else.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["pyarrow", "pyiceberg.catalog.rest", "pyiceberg.io.pyarrow", "pyiceberg.table"])
ROWS = pa.schema([pa.field("writer", pa.int64()), pa.field("number", pa.int64())])


def append(properties: Mapping[str, str], name: str, writer: int) -> None:
    """What one process does."""
    table = load_catalog(f"writer-{writer}", **properties).load_table(name)
    for number in range(APPENDS):
        table.append(pa.table({"writer": [writer], "number": [number]}, schema=ROWS))


def test_every_append_of_processes_that_write_at_once_is_there_exactly_once(
    catalog: Catalog, vended: Reach, new_name: str
) -> None:
    catalog.create_table(new_name, ROWS, properties=dict(RETRIES))
    writers = [
        _PROCESSES.Process(target=append, args=(pyiceberg_properties(vended), new_name, writer))
        for writer in range(WRITERS)
    ]
    for each in writers:
        each.start()
    for each in writers:
        each.join(timeout=120)
    assert [each.exitcode for each in writers] == [0] * WRITERS

    table = catalog.load_table(new_name)
    found = [(row["writer"], row["number"]) for row in table.scan().to_arrow().to_pylist()]
    assert sorted(found) == [(writer, number) for writer in range(WRITERS) for number in range(APPENDS)]
    snapshots = table.snapshots()
    assert len(snapshots) == WRITERS * APPENDS
    assert [each.parent_snapshot_id for each in snapshots] == [None, *(each.snapshot_id for each in snapshots[:-1])]
    assert [each.sequence_number for each in snapshots] == list(range(1, WRITERS * APPENDS + 1))
    assert [entry.snapshot_id for entry in table.history()] == [each.snapshot_id for each in snapshots]
