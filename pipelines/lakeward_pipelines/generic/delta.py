"""Delta: the driver reads and writes the log, executors the Parquet files."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction
from pyarrow import dataset

from lakeward_pipelines.generic.place import Reached

# What a writer has to do more than to add files, for each; we do none of it.
_ASKS_MORE: Final = ("delta.constraints.", "delta.columnMapping.mode", "delta.invariants", "delta.enableRowTracking")
_HARMLESS: Final = frozenset({"appendOnly", "timestampNtz", "deletionVectors", "v2Checkpoint", "vacuumProtocolCheck"})
_LEGACY_WRITER: Final = 2


def found(table: Reached, version: int | None) -> dataset.Dataset:
    """The files of a version, with what the log says of them.

    Raises:
        TableNotFoundError: there is no log.
        DeltaProtocolError: the version needs what Arrow's reader has not, as deletion vectors.
    """
    return DeltaTable(table.uri, version=version, storage_options=table.options()).to_pyarrow_dataset(
        filesystem=table.files
    )


def prepare(table: Reached, schema: pa.Schema, *, partitioned: Sequence[str], replaces: bool) -> pa.Schema:
    """Make the table's log where there is none.

    Args:
        table: where.
        schema: of what will be written.
        partitioned: columns by which a new table is; an existing one keeps its own.
        replaces: whether what is there goes, so its schema may, too.

    Returns:
        What executors have to write: the table's own schema, or the new one.

    Raises:
        NotImplementedError: the table asks more of its writers than files and a commit.
    """
    there = _opened(table)
    if there is None:
        DeltaTable.create(
            table.uri, schema=schema, partition_by=list(partitioned) or None, storage_options=table.options()
        )
        return schema
    _refuse_what_asks_more(table, there)
    return schema if replaces else pa.schema(there.schema().to_arrow())


def partitions(table: Reached) -> Sequence[str]:
    """Columns by which the table is partitioned."""
    return list(DeltaTable(table.uri, storage_options=table.options()).metadata().partition_columns)


def commit(table: Reached, written: Sequence[dict[str, Any]], schema: pa.Schema, *, replaces: bool) -> None:
    """Make what executors wrote the next version, or part of it.

    Args:
        table: where.
        written: path, size, rows and partition of each file.
        schema: of the table.
        replaces: whether what was there goes.
    """
    there = DeltaTable(table.uri, storage_options=table.options())
    now = int(time.time() * 1000)
    added: list[AddAction | RemoveAction] = [
        AddAction(
            path=each["path"],
            size=each["size"],
            partition_values=each["partition"],
            modification_time=now,
            data_change=True,
            stats=json.dumps({"numRecords": each["rows"]}),
        )
        for each in written
    ]
    if added or replaces:
        there.create_write_transaction(
            added,
            "overwrite" if replaces else "append",
            schema,
            partition_by=list(there.metadata().partition_columns) or None,
        )


def _opened(table: Reached) -> DeltaTable | None:
    try:
        return DeltaTable(table.uri, storage_options=table.options())
    except TableNotFoundError:
        return None


def _refuse_what_asks_more(table: Reached, there: DeltaTable) -> None:
    protocol, configuration = there.protocol(), there.metadata().configuration
    asked = sorted(key for key in configuration if key.startswith(_ASKS_MORE))
    if protocol.min_writer_version > _LEGACY_WRITER:
        asked += sorted(set(protocol.writer_features or ["a newer writer"]) - _HARMLESS)
    asked += sorted(field.name for field in there.schema().fields if "delta.invariants" in (field.metadata or {}))
    if asked:
        raise NotImplementedError(f"{table.name} asks of its writers what this one does not do: {', '.join(asked)}")
