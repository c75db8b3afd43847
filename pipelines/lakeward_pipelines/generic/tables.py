"""Reading and writing generic tables with Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.names import levels
from lakeward_pipelines.generic import delta, files, lances, types
from lakeward_pipelines.generic.files import CSV, JSON, PARQUET, Selection, Split
from lakeward_pipelines.generic.place import Lake, Place, Reached
from lakeward_pipelines.generic.tasks import ended
from lakeward_pipelines.generic.writing import DELTA, LANCE, Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS: Final = (DELTA, LANCE, PARQUET, CSV, JSON)
"""That are read and written here."""

Mode = Literal["append", "overwrite"]

_TASKS: Final = 1000  # of one reading, unless somebody says otherwise


class GenericTables:
    """The generic tables of a warehouse, for one Spark session.

        tables = GenericTables(spark, Lake("https://lake.example.com", "sales", ClientCredentials(...)))
        scores = tables.read("ai.features", columns=["id", "score"], filter=pc.field("score") > 0.9)
        tables.write(scores.withColumn("rank", ...), "ai.ranked", mode="overwrite")

    The driver plans and commits. Executors read and write the files, each with credentials that it asks the server for itself
    and that it renews while it works, so a job may take longer than credentials live. They need this package and the format's
    library, and no jar.

    Args:
        spark: the session.
        lake: the warehouse, and who asks for it.

    Attributes:
        spark: the same.
    """

    def __init__(self, spark: SparkSession, lake: Lake) -> None:
        self.spark = spark
        self._lake = lake

    def read(
        self,
        table: str | Sequence[str],
        *,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,  # noqa: A002 - as Arrow and Lance call it
        version: int | None = None,
        tasks: int | None = None,
    ) -> DataFrame:
        """A table as it is now: what is written later is not in it, however often it is evaluated.

        Spark can't hand its own projections and filters on, so what is not wanted is best left out here.

        Args:
            table: "namespace.name", or the levels and the name.
            columns: names; None: all.
            filter: rows that are wanted; files that hold none are not opened.
            version: of Delta or Lance; None: the newest.
            tasks: over how many the reading is spread; one a file or fragment, to a thousand, where nothing is said.

        Raises:
            NotFoundError: there is no such table, or none that the caller may see.
            NoCredentialsError: the caller may not read it.
            FileNotFoundError: nothing was written yet.
            ValueError: it has no such column, or no versions, or a format that is not read here.
            TypeError: Spark has no type for a column.
        """
        place, reached = self._reached(table)
        selection = Selection(columns, filter)
        splits, schema = _plan(reached, selection, version)
        if absent := [name for name in columns or () if name not in schema.names]:
            raise ValueError(f"{reached.name} has no column {', '.join(absent)}; it has {', '.join(schema.names)}")
        wanted = types.portable(schema if columns is None else pa.schema([schema.field(name) for name in columns]))
        task = _Read(place, reached.format, schema, wanted, selection)
        context = self.spark.sparkContext
        rows = context.parallelize([(bytearray(each),) for each in splits], tasks or max(1, min(len(splits), _TASKS)))
        planned = self.spark.createDataFrame(rows, "split binary")
        return planned.mapInArrow(task.run, types.spark_schema(wanted))

    def write(
        self,
        rows: DataFrame,
        table: str | Sequence[str],
        *,
        mode: Mode = "append",
        partition_by: Sequence[str] = (),
        schema: pa.Schema | None = None,
    ) -> None:
        """Write rows to a table that the catalog has.

        Delta and Lance show all of the rows at once, or none. Of plain files each is shown when it is whole; those of a job
        that failed are removed again. The error comes when none of its tasks works any more, or has a note that some do after
        a minute.

        Args:
            rows: whatever Spark can make.
            table: "namespace.name", or the levels and the name.
            mode: "append" adds, "overwrite" replaces all that is there.
            partition_by: columns, for files and for a Delta table that is made by this; what there is keeps its own.
            schema: that a new Lance, Delta or Parquet table is given, for types that Spark has not, as vectors of one length;
                None: Spark's.

        Raises:
            NotFoundError: there is no such table, or none that the caller may see.
            NoCredentialsError: the caller has no access to its files; one who may only read is refused by the store.
            ValueError: the columns are others than the table's.
            NotImplementedError: a Delta table asks more of its writers than this one does.
        """
        place, reached = self._reached(table)
        job = Job.begun(
            place, reached, schema or types.arrow_schema(rows.schema), replaces=mode == "overwrite", by=partition_by
        )
        if set(rows.columns) != set(job.schema.names):
            raise ValueError(
                f"{reached.name} has the columns {', '.join(job.schema.names)}; given are {', '.join(rows.columns)}"
            )
        ordered = rows.select(*job.schema.names)
        if job.partitioned:
            # Then a task has one file open at a time.
            ordered = ordered.sortWithinPartitions(*job.partitioned)
        try:
            # What a task writes after the driver looked would stay.
            with ended(self.spark.sparkContext, job.id):
                written = ordered.mapInArrow(job.run, "written string").collect()
        except BaseException:
            job.abandon(reached)
            raise
        job.commit(reached, [row["written"] for row in written])

    def _reached(self, table: str | Sequence[str]) -> tuple[Place, Reached]:
        *namespace, name = levels(table)
        place = Place(self._lake, tuple(namespace), name)
        reached = place.reached()
        if reached.format not in FORMATS:
            raise ValueError(f"{reached.name} is {reached.format}; read and written here are {', '.join(FORMATS)}")
        return place, reached


def _plan(reached: Reached, selection: Selection, version: int | None) -> tuple[Sequence[bytes], pa.Schema]:
    if reached.format == LANCE:
        opened = lances.opened(reached, version)
        return lances.splits(opened), opened.schema
    if reached.format == DELTA:
        found = delta.found(reached, version)
    elif version is not None:
        raise ValueError(f"{reached.name} is {reached.format}, which has no versions")
    else:
        found = files.found(reached.files, reached.format)
    return [each.packed() for each in files.splits(found, selection)], found.schema


@dataclass(frozen=True)
class _Read:
    """What a task does to read.

    Attributes:
        place: of the table.
        format: of its files.
        schema: of the table.
        wanted: of what Spark gets.
        selection: of what is wanted.
    """

    place: Place
    format: str
    schema: pa.Schema
    wanted: pa.Schema
    selection: Selection

    def run(self, splits: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of the splits, on an executor."""
        reached = self.place.reached()
        for split in (each for batch in splits for each in batch.column(0).to_pylist()):
            if self.format == LANCE:
                found = lances.batches(reached, split, self.selection)
            else:
                kind = PARQUET if self.format == DELTA else self.format
                found = files.batches(reached.files, Split.unpacked(split), kind, self.schema, self.selection)
            yield from map(partial(_portable, schema=self.wanted), found)


def _portable(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        column.storage if isinstance(column, pa.ExtensionArray) else column
        for column in (batch.column(name) for name in schema.names)
    ]
    return pa.RecordBatch.from_arrays(columns, names=schema.names).cast(schema)
