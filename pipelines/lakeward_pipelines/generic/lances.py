"""Lance: a task reads or writes fragments, the driver commits them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import lance
import pyarrow as pa
from lance.fragment import FragmentMetadata, write_fragments
from pyarrow import fs

from lakeward_pipelines.generic.files import ROWS, Selection
from lakeward_pipelines.generic.place import Reached


def opened(table: Reached, version: int | None) -> lance.LanceDataset:
    """A version of the dataset, or the newest.

    Raises:
        ValueError: there is none.
    """
    return lance.dataset(version=version, **table.lance())


def splits(of: lance.LanceDataset) -> Sequence[bytes]:
    """Its fragments, each for a task; the version is part of it, so that all read the same one."""
    return [json.dumps([of.version, fragment.fragment_id]).encode() for fragment in of.get_fragments()]


def batches(table: Reached, split: bytes, selection: Selection) -> Iterator[pa.RecordBatch]:
    """The rows of a fragment that are wanted."""
    version, number = json.loads(split)
    fragment = opened(table, version).get_fragment(number)
    assert fragment is not None, "a version's fragments do not change"
    yield from fragment.to_batches(
        columns=None if selection.columns is None else list(selection.columns),
        filter=selection.filter,
        batch_size=ROWS,
    )


def exists(table: Reached) -> bool:
    """Whether anything was ever committed there."""
    versions = fs.FileSelector("_versions", recursive=True, allow_not_found=True)
    return bool(table.files.get_file_info(versions))


def write(table: Reached, rows: Iterator[pa.RecordBatch], schema: pa.Schema, *, replaces: bool) -> Sequence[str]:
    """Write fragments that belong to no version yet.

    Returns:
        What `commit` takes.
    """
    reader = pa.RecordBatchReader.from_batches(schema, rows)
    written = write_fragments(
        reader, table.uri, schema=schema, mode="overwrite" if replaces else "append", **table.lance_fragments()
    )
    return [json.dumps(each.to_json()) for each in written]


def commit(
    table: Reached, written: Sequence[str], schema: pa.Schema, *, replaces: bool, read: int | None
) -> lance.LanceDataset:
    """Make what executors wrote a new version.

    Args:
        table: where.
        written: what `write` answered, of all tasks.
        schema: of the rows.
        replaces: whether what was there goes.
        read: the version that the rows were written after; None where there was none.
    """
    fragments = [FragmentMetadata.from_json(each) for each in written]
    operation: Any = (
        lance.LanceOperation.Overwrite(schema, fragments) if replaces else lance.LanceOperation.Append(fragments)
    )
    return lance.LanceDataset.commit(table.uri, operation, read_version=read, **table.lance_fragments())
