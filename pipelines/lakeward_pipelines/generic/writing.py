"""One job that writes: what its tasks do on executors, and how the driver ends it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
from pyarrow import fs, types

from lakeward_pipelines.generic import delta, files, lances
from lakeward_pipelines.generic.files import PARQUET
from lakeward_pipelines.generic.place import Place, Reached

DELTA: Final = "delta"
LANCE: Final = "lance"

_NULL: Final = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Job:
    """One writing. It is sent to executors.

    Attributes:
        place: of the table.
        format: of its files.
        schema: of what is written.
        replaces: whether what is there goes.
        partitioned: columns by which files are parted.
        id: in the names of this job's files.
        before: the version that a Lance table was at; None where it had none.
    """

    place: Place
    format: str
    schema: pa.Schema
    replaces: bool
    partitioned: tuple[str, ...]
    id: str
    before: int | None = None

    @classmethod
    def begun(cls, place: Place, reached: Reached, schema: pa.Schema, *, replaces: bool, by: Sequence[str]) -> Job:
        """A job, and the table's log where its format has one and there was none.

        Raises:
            ValueError: it can't be partitioned so.
        """
        partitioned, before = tuple(by), None
        if reached.format == LANCE:
            if partitioned:
                raise ValueError("Lance has no partitions; leave `partition_by` out")
            if lances.exists(reached):
                opened = lances.opened(reached, None)
                before = opened.version
                schema = schema if replaces else opened.schema
            else:
                replaces = True  # there is nothing to append to
        elif reached.format == DELTA:
            schema = delta.prepare(reached, schema, partitioned=partitioned, replaces=replaces)
            partitioned = tuple(delta.partitions(reached))
        for name in partitioned:
            if name not in schema.names or not _names_a_folder(schema.field(name).type):
                raise ValueError(
                    f"{name} is no column of texts, whole numbers, days or truths, by which files are parted"
                )
        if partitioned and len(partitioned) == len(schema.names):
            raise ValueError("a file holds what its folder does not say; partition by fewer columns")
        return cls(place, reached.format, schema, replaces, partitioned, uuid4().hex, before)

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write a task's rows, on an executor; answers what was written."""
        from pyspark import TaskContext  # noqa: PLC0415 - there is one on executors alone

        context = TaskContext.get()
        assert context is not None, "tasks run on executors"
        rows = (batch.cast(self.schema) for batch in batches if batch.num_rows)
        first = next(rows, None)
        if first is None:
            return
        written = self._write(self.place.reached(), chain([first], rows), context.partitionId())
        yield pa.RecordBatch.from_pydict({"written": pa.array(list(written), pa.string())})

    def commit(self, reached: Reached, written: Sequence[str]) -> None:
        """Make it be seen, on the driver."""
        if self.format == LANCE:
            if written or self.replaces:
                lances.commit(reached, written, self.schema, replaces=self.replaces, read=self.before)
            return
        told: list[dict[str, Any]] = [json.loads(each) for each in written]
        if self.format == DELTA:
            delta.commit(reached, told, self.schema, replaces=self.replaces)
            return
        kept = {each["path"] for each in told}
        if not kept and self.replaces and self.format != files.JSON:
            # Of a table without rows its columns stay.
            kept = {name := f"part-00000-00000-{self.id}.{self.format}"}
            files.write(reached.files, name, self.format, self.schema, iter(()))
        # What an attempt of a task left that was made again, and what is replaced.
        for path in _paths(reached):
            if path not in kept and (self.id in path or self.replaces):
                reached.files.delete_file(path)

    def abandon(self, reached: Reached) -> None:
        """Remove what tasks wrote that would be seen, on the driver."""
        if self.format not in {LANCE, DELTA}:
            for path in _paths(reached):
                if self.id in path:
                    reached.files.delete_file(path)

    def _write(self, reached: Reached, rows: Iterator[pa.RecordBatch], task: int) -> Iterator[str]:
        if self.format == LANCE:
            yield from lances.write(reached, rows, self.schema, replaces=self.replaces)
            return
        kind = PARQUET if self.format == DELTA else self.format
        held = pa.schema([field for field in self.schema if field.name not in self.partitioned])
        for number, (key, group) in enumerate(groupby(chain.from_iterable(map(self._runs, rows)), lambda run: run[0])):
            # A task that is made again writes the same names, so nothing is there twice.
            name = f"part-{task:05d}-{number:05d}-{self.id}.{kind}"
            path = name if self.format == DELTA else "/".join([*self._folders(key), name])
            batches = (batch.select(held.names) for _, batch in group)
            count, size = files.write(reached.files, path, kind, held, batches)
            partition = dict(zip(self.partitioned, key, strict=True))
            yield json.dumps({"path": path, "rows": count, "size": size, "partition": partition})

    def _runs(self, batch: pa.RecordBatch) -> Iterator[tuple[tuple[str | None, ...], pa.RecordBatch]]:
        if not self.partitioned:
            yield (), batch
            return
        keys = zip(
            *([_text(value) for value in batch.column(name).to_pylist()] for name in self.partitioned), strict=True
        )
        start = 0
        for key, run in groupby(keys):
            length = sum(1 for _ in run)
            yield key, batch.slice(start, length)
            start += length

    def _folders(self, key: tuple[str | None, ...]) -> Sequence[str]:
        return [
            f"{quote(name, safe='')}={_NULL if value is None else quote(value, safe='')}"
            for name, value in zip(self.partitioned, key, strict=True)
        ]


def _paths(reached: Reached) -> Sequence[str]:
    there = reached.files.get_file_info(fs.FileSelector("", recursive=True, allow_not_found=True))
    return [each.path for each in there if each.type == fs.FileType.File]


def _names_a_folder(of: pa.DataType) -> bool:
    return bool(types.is_string(of) or types.is_integer(of) or types.is_date32(of) or types.is_boolean(of))


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)
