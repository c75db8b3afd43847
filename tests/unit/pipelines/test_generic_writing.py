"""What a job of Spark does to a table, without Spark: each task is called by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import fs

from lakeward_pipelines.generic import Lake, Place, delta, files
from lakeward_pipelines.generic.files import Selection, Split
from lakeward_pipelines.generic.writing import Job

PLACE = Place(Lake("http://lake.test", "w"), ("n",), "t")
SCHEMA = pa.schema({"id": pa.int64(), "kind": pa.string()})
ROWS = [{"id": 1, "kind": "a"}, {"id": 2, "kind": "a"}, {"id": 3, "kind": None}, {"id": 4, "kind": "b/c =d"}]


@dataclass
class Table:
    """A table in a folder."""

    format: str
    folder: Path
    name: str = "n.t"

    @property
    def uri(self) -> str:
        return str(self.folder)

    @property
    def files(self) -> fs.FileSystem:
        return fs.SubTreeFileSystem(str(self.folder), fs.LocalFileSystem())

    def options(self) -> dict[str, str]:
        return {}


@pytest.fixture
def table(tmp_path: Path) -> Callable[[str], Any]:
    return lambda kind: Table(kind, tmp_path)


def task(job: Job, table: Any, rows: list[dict[str, Any]], number: int = 0) -> list[str]:
    """What a task answers; folders are made, which a store needs not."""
    for row in rows:
        folders = job._folders([row[name] for name in job.partitioned]) if job.format != "delta" else ()
        Path(table.folder, *folders).mkdir(parents=True, exist_ok=True)
    return list(job._write(table, iter([pa.RecordBatch.from_pylist(rows, SCHEMA)]), number))


def written(table: Any, *rows: list[dict[str, Any]], replaces: bool = False, by: tuple[str, ...] = ()) -> None:
    job = Job.begun(PLACE, table, SCHEMA, replaces=replaces, by=by)
    job.commit(table, [path for number, each in enumerate(rows) for path in task(job, table, each, number)])


def read(table: Any, selection: Selection | None = None) -> list[dict[str, Any]]:
    selection = selection or Selection(("id", "kind"))
    found = delta.found(table, None) if table.format == "delta" else files.found(table.files, table.format)
    kind = "parquet" if table.format == "delta" else table.format
    rows = [
        row
        for split in files.splits(found, selection)
        for batch in files.batches(table.files, Split.unpacked(split.packed()), kind, found.schema, selection)
        for row in batch.to_pylist()
    ]
    return sorted(rows, key=lambda row: row["id"])


@pytest.mark.parametrize("kind", ["parquet", "delta", "json"])
@pytest.mark.parametrize("by", [(), ("kind",)])
def test_what_tasks_wrote_is_added_and_replaced(table: Callable[[str], Any], kind: str, by: tuple[str, ...]) -> None:
    place = table(kind)
    written(place, ROWS[:2], ROWS[2:], by=by)
    assert read(place) == ROWS
    written(place, [{"id": 5, "kind": "a"}], by=by)
    assert read(place) == [*ROWS, {"id": 5, "kind": "a"}]
    written(place, ROWS[1:3], replaces=True, by=by)
    assert read(place) == ROWS[1:3]


def test_a_filter_on_the_partition_leaves_files_out(table: Callable[[str], Any]) -> None:
    for kind in ("parquet", "delta"):
        place = table(kind)
        place.folder /= kind
        place.folder.mkdir()
        written(place, ROWS, by=("kind",))
        found = delta.found(place, None) if kind == "delta" else files.found(place.files, kind)
        assert len(files.splits(found, Selection(filter=pc.field("kind") == "b/c =d"))) == 1


def test_a_task_that_is_made_again_writes_nothing_twice(table: Callable[[str], Any]) -> None:
    place = table("parquet")
    job = Job.begun(PLACE, place, SCHEMA, replaces=False, by=("kind",))
    task(job, place, ROWS)  # it was lost on its way, and had seen one partition more
    job.commit(place, task(job, place, ROWS[:3]))
    assert read(place) == ROWS[:3]


def test_what_a_failed_job_wrote_is_removed_and_nothing_else(table: Callable[[str], Any]) -> None:
    place = table("parquet")
    written(place, ROWS[:1])
    job = Job.begun(PLACE, place, SCHEMA, replaces=True, by=())
    task(job, place, ROWS)
    job.abandon(place)
    assert read(place) == ROWS[:1]


def test_a_table_without_rows_keeps_its_columns(table: Callable[[str], Any]) -> None:
    for kind in ("parquet", "csv", "delta"):
        place = table(kind)
        place.folder /= kind
        place.folder.mkdir()
        written(place, ROWS)
        written(place, replaces=True)
        found = delta.found(place, None) if kind == "delta" else files.found(place.files, kind)
        assert (found.schema.names, found.count_rows()) == (["id", "kind"], 0)


@pytest.mark.parametrize(
    "configuration", [{"delta.constraints.positive": "id > 0"}, {"delta.columnMapping.mode": "name"}]
)
def test_a_delta_table_that_asks_more_of_its_writers_is_refused(
    table: Callable[[str], Any], configuration: dict[str, str]
) -> None:
    place = table("delta")
    written(place, ROWS)
    opened = deltalake.DeltaTable(place.uri)
    if "delta.constraints.positive" in configuration:
        opened.alter.add_constraint({"positive": "id > 0"})
    else:
        log = place.folder / "_delta_log" / f"{opened.version() + 1:020d}.json"
        lines = (place.folder / "_delta_log" / f"{0:020d}.json").read_text().splitlines()
        (metadata,) = (json.loads(line) for line in lines if "metaData" in line)
        metadata["metaData"]["configuration"] = configuration
        log.write_text(json.dumps(metadata) + "\n")
    with pytest.raises(NotImplementedError, match=next(iter(configuration))):
        Job.begun(PLACE, place, SCHEMA, replaces=False, by=())


def test_what_names_no_folder_is_no_partition(table: Callable[[str], Any]) -> None:
    for by in (("absent",), ("id", "kind")):
        with pytest.raises(ValueError, match="by"):
            Job.begun(PLACE, table("parquet"), SCHEMA, replaces=False, by=by)
    floats = SCHEMA.append(pa.field("score", pa.float64()))
    with pytest.raises(ValueError, match="score is no column of texts"):
        Job.begun(PLACE, table("parquet"), floats, replaces=False, by=("score",))
    with pytest.raises(ValueError, match="Lance has no partitions"):
        Job.begun(PLACE, replace(table("lance")), SCHEMA, replaces=False, by=("kind",))
