"""Files that Arrow reads, and how tasks share them: Parquet, CSV and JSON by lines, and the Parquet files of Delta."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, dataset, fs, json, parquet

PARQUET: Final = "parquet"
CSV: Final = "csv"
JSON: Final = "json"
ROWS: Final = 1024
"""Of a batch that is handed to Spark: Arrow's own are too large for rows that hold images."""


@dataclass(frozen=True)
class Selection:
    """What is read.

    Attributes:
        columns: names, in order; None: all.
        filter: rows for which it is true; None: all.
    """

    columns: Sequence[str] | None = None
    filter: pc.Expression | None = None


@dataclass(frozen=True)
class Split:
    """What one task reads of a table: a file.

    Attributes:
        path: below the table's place.
        partition: what is known of each row by where the file lies.
    """

    path: str
    partition: pc.Expression

    def packed(self) -> bytes:
        """As it is sent to an executor."""
        return pickle.dumps((self.path, self.partition))

    @classmethod
    def unpacked(cls, sent: bytes) -> Split:
        """What a driver sent."""
        return cls(*pickle.loads(sent))  # noqa: S301 - by our own driver, over Spark's own line


def found(files: fs.FileSystem, of: str) -> dataset.Dataset:
    """The files at a table's place, partitioned as Hive does it.

    Args:
        files: rooted at the place.
        of: a format of these.

    Raises:
        FileNotFoundError: there are none.
    """
    # Only the format's own files: what an engine leaves beside them, as `_SUCCESS`, is none of the table.
    selector = fs.FileSelector("", recursive=True, allow_not_found=True)
    paths = sorted(each.path for each in files.get_file_info(selector) if _is_data(each))
    if not paths:
        raise FileNotFoundError(f"there is no {of} file at the table's place; write one first")
    return dataset.dataset(paths, filesystem=files, format=_format(of), partitioning="hive", partition_base_dir="")


def splits(of: dataset.Dataset, selection: Selection) -> Sequence[Split]:
    """A table's files, without those that hold nothing of what is wanted."""
    return [Split(each.path, each.partition_expression) for each in of.get_fragments(filter=selection.filter)]


def batches(
    files: fs.FileSystem, split: Split, of: str, schema: pa.Schema, selection: Selection
) -> Iterator[pa.RecordBatch]:
    """The rows of a split that are wanted.

    Args:
        files: rooted at the table's place.
        split: which.
        of: its format.
        schema: of the table; what a file lacks of it is null.
        selection: what of it is wanted.
    """
    kind = _format(of)
    fragment = kind.make_fragment(split.path, files, split.partition)
    source = dataset.FileSystemDataset([fragment], schema, kind, files)
    # One file after the other, a few batches ahead: an executor runs as many tasks as it has room for.
    yield from source.to_batches(
        columns=None if selection.columns is None else list(selection.columns),
        filter=selection.filter,
        batch_size=ROWS,
        batch_readahead=4,
        fragment_readahead=1,
    )


def write(
    files: fs.FileSystem, path: str, of: str, schema: pa.Schema, rows: Iterator[pa.RecordBatch]
) -> tuple[int, int]:
    """Write one file, which is there once all of it is: one that an error ends is not.

    Args:
        files: rooted at the table's place.
        path: below it.
        of: format.
        schema: of the rows.
        rows: at least a batch, which may be empty.

    Returns:
        Rows, and bytes.
    """
    # Closing is what makes it be there, so no `with`, which closes after an error too.
    out = files.open_output_stream(path)
    count = 0
    if of == PARQUET:
        with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
            for batch in rows:
                writer.write_batch(batch)
                count += batch.num_rows
    elif of == CSV:
        with csv.CSVWriter(out, schema) as writer:
            for batch in rows:
                writer.write_batch(batch)
                count += batch.num_rows
    else:
        for batch in rows:
            out.write(_lines(batch))
            count += batch.num_rows
    size = out.tell()
    out.close()
    return count, size


def _lines(batch: pa.RecordBatch) -> bytes:
    # Arrow reads JSON and does not write it.
    from json import dumps  # noqa: PLC0415 - Arrow's module of the name is this module's

    return "".join(
        dumps(row, ensure_ascii=False, separators=(",", ":"), default=str) + "\n" for row in batch.to_pylist()
    ).encode()


def _format(of: str) -> dataset.FileFormat:
    if of == PARQUET:
        # Range by range, as they are needed: a file is not held whole.
        return dataset.ParquetFileFormat(
            default_fragment_scan_options=dataset.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
        )
    if of == CSV:
        return dataset.CsvFileFormat()
    return dataset.JsonFileFormat(read_options=json.ReadOptions(block_size=4 << 20))


def _is_data(found: fs.FileInfo) -> bool:
    hidden = any(part.startswith(("_", ".")) for part in found.path.split("/"))
    return found.type == fs.FileType.File and not hidden and bool(found.size)
