"""Spark reads and writes generic tables of each format, on credentials that its executors ask for and renew."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import lance
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from lakeward import Client
from lakeward_pipelines.generic import FORMATS, GenericTables, Lake, Place
from lakeward_pipelines.generic.tasks import ended
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward
from tests.support.short_lives import ShortLives, short_lives, signing_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = [(1, "a", 0.5), (2, None, 0.9), (3, "c", 0.95)]
COLUMNS = "id long, name string, score double"
LIFE = 5.0  # seconds, and up to one more
LATE = 1.5  # seconds: less than Spark gives a Python worker whose job it has given up, by tests.e2e.conftest

# What executors are handed is the same in every composition.
pytestmark = pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")


@pytest.fixture(scope="module")
def client(lakeward: Lakeward) -> Iterator[Client]:
    with Client(lakeward.url) as made:
        yield made


@pytest.fixture(scope="module")
def place(client: Client, lakeward: Lakeward) -> str:
    name = f"spark_{secrets.token_hex(4)}"
    client.warehouse(lakeward.warehouse).create_namespace(name)
    return name


@pytest.fixture
def tables(spark_session: SparkSession, lakeward: Lakeward) -> GenericTables:
    return GenericTables(spark_session, Lake(lakeward.url, lakeward.warehouse))


@pytest.fixture
def new(client: Client, lakeward: Lakeward, place: str) -> Callable[[str], str]:
    """Makes a table of a format; answers its name."""

    def make(kind: str) -> str:
        name = f"{kind}_{secrets.token_hex(4)}"
        client.warehouse(lakeward.warehouse).generic.create(place, name, format=kind)
        return f"{place}.{name}"

    return make


@pytest.fixture
def some(spark_session: SparkSession) -> DataFrame:
    return spark_session.createDataFrame(ROWS, COLUMNS)


@pytest.fixture
def dying(lakeward: Lakeward, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShortLives]:
    key = signing_key(lakeward.store, tmp_path_factory.getbasetemp())
    with short_lives(lakeward.url, key, seconds=LIFE) as lives:
        yield lives


@pytest.fixture
def slow(spark_session: SparkSession, lakeward: Lakeward, dying: ShortLives) -> GenericTables:
    """The same, of a Lakeward whose credentials end within seconds."""
    return GenericTables(spark_session, Lake(dying.url, lakeward.warehouse))


def read(frame: DataFrame, *, by: str = "id") -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame.orderBy(by).collect()]


@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_written_is_read_added_to_and_replaced(
    tables: GenericTables, new: Callable[[str], str], some: DataFrame, kind: str
) -> None:
    table = new(kind)
    tables.write(some, table)
    before = tables.read(table)
    # In CSV a text that is not there and an empty one are one.
    rows = [(row[0], row[1] or ("" if kind == "csv" else None), row[2]) for row in ROWS]
    assert read(before.select("id", "name", "score")) == rows
    wanted = tables.read(table, columns=["score", "id"], filter=pc.field("score") > 0.8)
    assert read(wanted) == [(0.9, 2), (0.95, 3)]
    tables.write(some.filter("id = 3").withColumn("id", some.id + 1), table)
    assert [row[0] for row in read(tables.read(table, columns=["id"]))] == [1, 2, 3, 4]
    # What was read before is what was there then.
    assert before.count() == 3
    # Read from what is replaced.
    tables.write(tables.read(table).filter("id > 2"), table, mode="overwrite")
    assert [row[0] for row in read(tables.read(table, columns=["id"]))] == [3, 4]


def test_other_libraries_read_what_spark_wrote_to_delta_by_partitions(
    tables: GenericTables, new: Callable[[str], str], some: DataFrame, client: Client, lakeward: Lakeward
) -> None:
    table = new("delta")
    tables.write(some.repartition(3), table, partition_by=["name"])
    tables.write(some, table)
    namespace, name = table.split(".")
    access = client.warehouse(lakeward.warehouse).generic.load(namespace, name).access()
    found = deltalake.DeltaTable(**access.deltalake())
    assert found.metadata().partition_columns == ["name"]
    theirs = found.to_pyarrow_table(filters=[("name", "=", "a")]).to_pylist()
    assert theirs == [{"id": 1, "name": "a", "score": 0.5}] * 2
    deltalake.write_deltalake(found, found.to_pyarrow_table(), mode="append")
    assert tables.read(table).count() == 12
    assert tables.read(table, version=1).count() == 3
    pruned = tables.read(table, filter=pc.field("name") == "c")
    assert read(pruned) == [(3, "c", 0.95)] * 4


def test_a_lance_table_keeps_vectors_and_bytes(
    tables: GenericTables, new: Callable[[str], str], spark_session: SparkSession, client: Client, lakeward: Lakeward
) -> None:
    table = new("lance")
    rows = spark_session.createDataFrame(
        [(number, [float(number), 1.0], bytes([number])) for number in range(100)],
        "id long, vector array<float>, raw binary",
    )
    schema = pa.schema({"id": pa.int64(), "vector": pa.list_(pa.float32(), 2), "raw": pa.binary()})
    tables.write(rows.repartition(2), table, schema=schema)
    tables.write(rows.filter("id = 7"), table)
    namespace, name = table.split(".")
    dataset = lance.dataset(**client.warehouse(lakeward.warehouse).generic.load(namespace, name).access().lance())
    assert (dataset.schema, len(dataset.get_fragments()), dataset.count_rows()) == (schema, 3, 101)
    nearest = dataset.to_table(nearest={"column": "vector", "q": [41.2, 1.0], "k": 1})
    assert nearest["id"].to_pylist() == [41]
    found = tables.read(table, filter=pc.field("id") == 7)
    assert read(found) == [(7, [7.0, 1.0], bytearray([7]))] * 2
    assert tables.read(table, version=1).count() == 100


def test_a_job_that_fails_leaves_files_as_they_were(
    tables: GenericTables, new: Callable[[str], str], some: DataFrame, spark_session: SparkSession
) -> None:
    table = new("parquet")
    tables.write(some, table)
    fails = spark_session.range(100, numPartitions=2).selectExpr(
        "id", "'x' as name", "if(id > 80, raise_error('no more'), id / 2) as score"
    )
    with pytest.raises(Exception, match="no more"):
        tables.write(fails, table, mode="overwrite")
    assert read(tables.read(table)) == ROWS


def test_a_task_that_works_on_when_its_job_has_failed_leaves_nothing_either(
    tables: GenericTables, slow: GenericTables, new: Callable[[str], str], dying: ShortLives
) -> None:
    """Spark tells of the first that fails, and leaves the other waiting for Lakeward, with all of its rows at hand."""
    table = new("parquet")
    tables.write(tables.spark.range(3, numPartitions=1), table)
    before = read(slow.read(table))  # the driver has credentials from here on
    # By SQL: of two Python workers of a task Spark may hand the first, which it has killed with the task, to the next job.
    fails = tables.spark.range(2, numPartitions=2).selectExpr("if(id > 0, raise_error('no more'), id) as id")
    dying.held = LATE
    with pytest.raises(Exception, match="no more"):
        slow.write(fails, table, mode="overwrite")
    dying.held = 0.0
    after = read(tables.read(table))
    time.sleep(LATE * 2)
    assert read(tables.read(table)) == after == before == [(0,), (1,), (2,)]
    assert not tables.spark.sparkContext.getJobTags()


def test_the_error_tells_of_tasks_that_outlast_the_patience(tables: GenericTables, tmp_path: Path) -> None:
    at_work, let_go = tmp_path / "at work", tmp_path / "let go"

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            fails = batch.column(0)[0].as_py() > 0
            if not fails:
                at_work.touch()
            while not (at_work if fails else let_go).exists():
                time.sleep(0.01)
            if fails:
                raise ValueError("no more")
            yield batch

    planned = tables.spark.range(2, numPartitions=2).mapInArrow(rows, "id long")
    try:
        with (
            pytest.raises(Exception, match="no more") as told,
            ended(tables.spark.sparkContext, "impatient", patience=0.1),
        ):
            planned.collect()
    finally:
        let_go.touch()
    assert told.value.__notes__ == ["tasks of the job impatient that still work after 0.1 s, and may write yet: 1"]


def test_what_can_not_be_is_said_before_anything_is_written(
    tables: GenericTables, new: Callable[[str], str], some: DataFrame
) -> None:
    table = new("delta")
    tables.write(some, table)
    with pytest.raises(ValueError, match="has the columns id, name, score; given are id"):
        tables.write(some.select("id"), table)
    with pytest.raises(ValueError, match="has no column nope"):
        tables.read(table, columns=["nope"])
    with pytest.raises(ValueError, match="is vortex; read and written here are"):
        tables.read(new("vortex"))
    with pytest.raises(FileNotFoundError, match="write one first"):
        tables.read(new("csv"))


def test_an_executor_reaches_no_byte_beside_the_table(
    spark_session: SparkSession, new: Callable[[str], str], lakeward: Lakeward
) -> None:
    inside, beside = (_place(lakeward, new("parquet")) for _ in range(2))
    neighbour = beside.reached().access.get().prefix
    beside.reached().access.boto3().put_object(Bucket=lakeward.store.bucket, Key=f"{neighbour}/x", Body=b"1")

    def attempts(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from botocore.exceptions import ClientError

        list(rows)
        access = inside.reached().access
        s3, found = access.boto3(), access.get()
        statuses = []
        for key in (f"{found.prefix}/x", f"{found.prefix}x", f"{neighbour}/x", "x"):
            for attempt in (s3.put_object, s3.get_object, s3.delete_object):
                body = {"Body": b"1"} if attempt == s3.put_object else {}
                try:
                    told = attempt(Bucket=found.bucket, Key=key, **body)["ResponseMetadata"]["HTTPStatusCode"]
                except ClientError as error:
                    told = error.response["ResponseMetadata"]["HTTPStatusCode"]
                statuses.append(told)
        yield pa.RecordBatch.from_pydict({"status": pa.array(statuses, pa.int32())})

    tried = spark_session.range(1, numPartitions=1).mapInArrow(attempts, "status int").collect()
    assert [row.status for row in tried] == [200, 200, 204] + [403] * 9


@pytest.fixture
def row_by_row(spark_session: SparkSession) -> Iterator[None]:
    """Spark hands each row on as it comes, so that nobody is far ahead of the slowest."""
    spark_session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")
    yield
    spark_session.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def _place(lakeward: Lakeward, table: str, url: str | None = None) -> Place:
    namespace, name = table.split(".")
    return Place(Lake(url or lakeward.url, lakeward.warehouse), (namespace,), name)


def _late(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Takes its first row when the credentials of its begin have ended: it waits for that, since nobody tells of it.

    All at once, and not a while for each row: who reads is then ahead by what is on its way, and by nothing that was taken.
    """
    for number, batch in enumerate(batches):
        if not number:
            time.sleep(LIFE + 2)
        yield pa.RecordBatch.from_pydict({"id": batch.column("id")})


@pytest.mark.usefixtures("row_by_row")
@pytest.mark.parametrize("kind", ["parquet", "lance"])
def test_a_task_that_takes_longer_than_credentials_live_goes_on_with_fresh_ones(
    tables: GenericTables, slow: GenericTables, new: Callable[[str], str], dying: ShortLives, kind: str
) -> None:
    table = new(kind)
    _write_large(tables, table)
    begun = time.monotonic()
    frame = slow.read(table, tasks=1)
    planned = len(dying.handed_out)
    found = frame.mapInArrow(_late, "id long").collect()
    assert sorted(row.id for row in found) == list(range(_LARGE_ROWS))
    assert time.monotonic() - begun > LIFE
    assert len(dying.handed_out) > planned + 1


@pytest.mark.usefixtures("row_by_row")
def test_the_same_task_fails_where_nobody_renews(
    tables: GenericTables, slow: GenericTables, new: Callable[[str], str], dying: ShortLives
) -> None:
    """What the test before this one shows is the renewing: a server that claims a long life is believed, and not asked again."""
    table = new("parquet")
    _write_large(tables, table)
    dying.told = 3600.0
    with pytest.raises(Exception, match=r"PermissionDenied|expired|ExpiredToken|AccessDenied|403"):
        slow.read(table, tasks=1).mapInArrow(_late, "id long").collect()


# What is on its way between two Python workers is in the buffers of two connections: 72 MB where the system lets a receiver
# have 32 and a sender 4. The files beyond that are opened when somebody takes it.
_LARGE_ROWS = 32
_LARGE_VALUE = 4 << 20  # bytes
_LARGE_FILES = 16


def _write_large(tables: GenericTables, table: str) -> None:
    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                value = os.urandom(_LARGE_VALUE)
                yield pa.RecordBatch.from_pydict({"id": pa.array([number], pa.int64()), "value": pa.array([value])})

    frame = tables.spark.range(_LARGE_ROWS, numPartitions=_LARGE_FILES).mapInArrow(rows, "id long, value binary")
    tables.write(frame, table)


@pytest.mark.usefixtures("row_by_row")
@pytest.mark.parametrize("kind", ["delta", "lance"])
def test_writing_goes_on_with_fresh_credentials_too(
    slow: GenericTables, new: Callable[[str], str], spark_session: SparkSession, kind: str
) -> None:
    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                time.sleep(LIFE / 4)
                value = os.urandom(9 << 20)  # more than a part
                yield pa.RecordBatch.from_pydict({"id": pa.array([number], pa.int64()), "value": pa.array([value])})

    table = new(kind)
    slow.write(spark_session.range(6, numPartitions=1).mapInArrow(rows, "id long, value binary"), table)
    assert [row.id for row in slow.read(table, columns=["id"]).orderBy("id").collect()] == list(range(6))


def test_the_store_refuses_what_has_ended(
    new: Callable[[str], str], lakeward: Lakeward, dying: ShortLives, client: Client
) -> None:
    """That lives are short is the store's word, not ours."""
    place = _place(lakeward, new("parquet"), dying.url)
    held = place.reached().access.get()
    s3 = held.boto3()
    s3.put_object(Bucket=held.bucket, Key=f"{held.prefix}/x", Body=b"1")
    assert s3.list_objects_v2(Bucket=held.bucket, Prefix=f"{held.prefix}/")["KeyCount"] == 1
    time.sleep(LIFE + 2)
    with pytest.raises(Exception, match=r"Expired|expired|403|Denied|Invalid"):
        held.obstore().list(prefix=None).collect()
