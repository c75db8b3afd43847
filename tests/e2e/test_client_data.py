"""The client's credentials in the hands of each library, on the real store: what is inside is written and read, what is beside is
refused, and who works for longer than credentials live goes on with fresh ones."""

from __future__ import annotations

import asyncio
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import deltalake
import fsspec
import lance
import polars as pl
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet
import pytest

from lakeward import Access, AsyncClient, Client, Credentials, GenericTable
from lakeward.credentials import S3Keys
from lakeward.management.models import ScheduleTaskRequest
from tests.support.engines import duckdb_with_installed_extensions
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward

# What is vended is the same in every composition.
pytestmark = pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", "c"], "score": [0.5, 0.9, 0.95]})
REFUSED = re.compile("access.?denied|forbidden|permission|403", re.IGNORECASE)
PART_BYTES = 5 * 1024 * 1024  # the least that S3 takes for a part that is not the last


@pytest.fixture(scope="module")
def lake(lakeward: Lakeward) -> Iterator[Client]:
    with Client(lakeward.url) as client:
        yield client


@pytest.fixture(scope="module")
def namespace(lakeward: Lakeward, lake: Client) -> str:
    made = f"client_{secrets.token_hex(4)}"
    lake.warehouse(lakeward.warehouse).create_namespace(made)
    return made


@pytest.fixture
def table(lakeward: Lakeward, lake: Client, namespace: str) -> GenericTable:
    return lake.warehouse(lakeward.warehouse).generic.create(namespace, f"t_{secrets.token_hex(4)}", format="dataset")


def by_lance(access: Access, _: Path) -> pa.Table:
    lance.write_dataset(ROWS, mode="create", **access.lance())
    lance.write_dataset(ROWS, mode="overwrite", **access.lance())
    by_uri = lance.dataset(access.get().uri, storage_options=access.storage_options())
    assert by_uri.version == 2
    return lance.dataset(**access.lance()).to_table()


def by_deltalake(access: Access, _: Path) -> pa.Table:
    told = access.deltalake()
    deltalake.write_deltalake(told["table_uri"], ROWS, storage_options=told["storage_options"])
    return deltalake.DeltaTable(**access.deltalake()).to_pyarrow_table()


def by_polars(access: Access, _: Path) -> pa.Table:
    place = f"{access.get().uri}/rows.parquet"
    pl.DataFrame(ROWS).lazy().sink_parquet(place, **access.polars())
    found: pa.Table = pl.scan_parquet(place, **access.polars()).collect().to_arrow()
    return found


def by_duckdb(access: Access, tmp: Path) -> pa.Table:
    with duckdb_with_installed_extensions(Path(tempfile.mkdtemp(dir=tmp))) as connection:
        access.duckdb(connection)
        connection.register("given", ROWS)
        place = f"{access.get().uri}/rows.parquet"
        connection.execute(f"copy given to '{place}'")
        found: pa.Table = connection.execute(f"select * from '{place}'").to_arrow_table()
        return found


def by_pyarrow(access: Access, _: Path) -> pa.Table:
    files = access.pyarrow()
    pyarrow.parquet.write_to_dataset(ROWS, "rows", partition_cols=["name"], filesystem=files)
    assert len(files.get_file_info(pyarrow.fs.FileSelector("rows", recursive=True))) >= 3
    read = pyarrow.parquet.read_table("rows", filesystem=files)
    return read.set_column(read.schema.get_field_index("name"), "name", read["name"].cast(pa.string()))


def by_fsspec(access: Access, _: Path) -> pa.Table:
    files, place = access.fsspec(), f"{access.get().uri}/rows.parquet"
    with files.open(place, "wb") as out:
        pyarrow.parquet.write_table(ROWS, out)
    assert [found.rpartition("/")[2] for found in files.ls(access.get().uri)] == ["rows.parquet"]
    with fsspec.open(place, "rb", **access.fsspec_options()) as source:
        return pyarrow.parquet.read_table(source)


def by_obstore(access: Access, _: Path) -> pa.Table:
    store = access.obstore()
    out = pa.BufferOutputStream()
    pyarrow.parquet.write_table(ROWS, out)
    store.put("day=1/rows.parquet", out.getvalue().to_pybytes())
    assert [found["path"] for found in store.list().collect()] == ["day=1/rows.parquet"]
    return pyarrow.parquet.read_table(pa.BufferReader(bytes(store.get("day=1/rows.parquet").bytes())))


def by_boto3(access: Access, tmp: Path) -> pa.Table:
    found = access.get()
    pyarrow.parquet.write_table(ROWS, tmp / "rows.parquet")
    s3 = access.boto3()
    s3.upload_file(str(tmp / "rows.parquet"), found.bucket, f"{found.prefix}/rows.parquet")
    s3.download_file(found.bucket, f"{found.prefix}/rows.parquet", str(tmp / "read.parquet"))
    return pyarrow.parquet.read_table(tmp / "read.parquet")


LIBRARIES: dict[str, Callable[[Access, Path], pa.Table]] = {
    "lance": by_lance,
    "deltalake": by_deltalake,
    "polars": by_polars,
    "duckdb": by_duckdb,
    "pyarrow": by_pyarrow,
    "fsspec": by_fsspec,
    "obstore": by_obstore,
    "boto3": by_boto3,
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_each_library_writes_and_reads_with_what_it_is_handed(
    table: GenericTable, library: str, tmp_path: Path
) -> None:
    found = LIBRARIES[library](table.access(), tmp_path)
    assert sorted(found.select(ROWS.column_names).to_pylist(), key=lambda row: row["id"]) == ROWS.to_pylist()


def duckdb_rows(access: Access, tmp: Path) -> object:
    with duckdb_with_installed_extensions(Path(tempfile.mkdtemp(dir=tmp))) as connection:
        access.duckdb(connection)
        return connection.execute(f"select * from '{access.get().uri}/rows.parquet'").fetchall()


def fsspec_bytes(access: Access, _: Path) -> object:
    return access.fsspec().cat_file(f"{access.get().uri}/rows.parquet")


def boto3_bytes(access: Access, _: Path) -> object:
    found = access.get()
    return access.boto3().get_object(Bucket=found.bucket, Key=f"{found.prefix}/rows.parquet")["Body"].read()


READERS: dict[str, Callable[[Access, Path], object]] = {
    "lance": lambda access, _: lance.dataset(**access.lance()).to_table(),
    "deltalake": lambda access, _: deltalake.DeltaTable(**access.deltalake()).to_pyarrow_table(),
    "polars": lambda access, _: pl.scan_parquet(f"{access.get().uri}/rows.parquet", **access.polars()).collect().rows(),
    "duckdb": duckdb_rows,
    "pyarrow": lambda access, _: pyarrow.parquet.read_table("rows.parquet", filesystem=access.pyarrow()),
    "fsspec": fsspec_bytes,
    "obstore": lambda access, _: access.obstore().get("rows.parquet").bytes(),
    "boto3": boto3_bytes,
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_library_reaches_what_lies_beside_the_table(
    table: GenericTable, lake: Client, lakeward: Lakeward, library: str, tmp_path: Path
) -> None:
    tables = lake.warehouse(lakeward.warehouse).generic
    beside = tables.create(table.info.namespace, f"{table.name}_beside", format="dataset").access()
    writer = library if library in {"lance", "deltalake"} else "boto3"
    LIBRARIES[writer](beside, tmp_path)
    assert READERS[library](beside, tmp_path)
    for attempt, place in ((READERS, beside.get().location), (LIBRARIES, f"{table.location}x")):
        moved = Access(partial(replace, table.access().get(), location=place))
        with pytest.raises(Exception, match=REFUSED):
            attempt[library](moved, tmp_path)
    everything = boto3.client(
        "s3",
        endpoint_url=lakeward.store.endpoint,
        region_name=lakeward.store.region,
        aws_access_key_id=lakeward.store.admin.access_key,
        aws_secret_access_key=lakeward.store.admin.secret_key,
    )
    found = table.access().get()
    assert "Contents" not in everything.list_objects_v2(Bucket=found.bucket, Prefix=f"{found.prefix}x")


async def test_the_waiting_twin_reads_what_the_other_wrote(table: GenericTable, lakeward: Lakeward) -> None:
    await asyncio.to_thread(table.access().obstore().put, "x", b"1")
    async with AsyncClient(lakeward.url) as lake:
        tables = lake.warehouse(lakeward.warehouse_id).generic
        loaded = await tables.load(table.info.namespace, table.name)
        store = await loaded.access().obstore()
        found = await store.get_async("x")
        assert bytes(await found.bytes_async()) == b"1"
        assert [each.name async for each in tables.list(table.info.namespace, page_size=1)].count(table.name) == 1


def a_session_of_another_day(lakeward: Lakeward, table: GenericTable) -> Credentials:
    """Credentials that open the table's place and are none of the server's, so that both can be told apart."""
    store = lakeward.store
    sts = boto3.client(
        "sts",
        endpoint_url=store.endpoint,
        region_name=store.region,
        aws_access_key_id=store.sts_only.access_key,
        aws_secret_access_key=store.sts_only.secret_key,
    )
    made = sts.assume_role(RoleArn=store.role_arn, RoleSessionName="another-day")["Credentials"]
    known = table.access().get()
    assert isinstance(known.store, S3Keys)
    keys = replace(
        known.store,
        access_key_id=made["AccessKeyId"],
        secret_access_key=made["SecretAccessKey"],
        session_token=made["SessionToken"],
    )
    return replace(known, store=keys)


def test_an_upload_whose_credentials_end_in_the_middle_finishes(table: GenericTable, lakeward: Lakeward) -> None:
    now = [datetime.now(UTC)]
    ends = replace(a_session_of_another_day(lakeward, table), expires_at=now[0] + timedelta(seconds=90))
    access = Access(lambda: table.access().get(), known=ends, now=lambda: now[0].timestamp())  # noqa: PLW0108 - it is another one later
    s3, found = access.boto3(), access.get()
    sent: list[str] = []

    def note(request: Any, **_: Any) -> None:
        sent.append(request.headers["X-Amz-Security-Token"].decode())

    s3.meta.events.register("before-send.s3", note)
    key = f"{found.prefix}/large"
    upload = s3.create_multipart_upload(Bucket=found.bucket, Key=key)["UploadId"]
    where = {"Bucket": found.bucket, "Key": key, "UploadId": upload}
    first = s3.upload_part(**where, PartNumber=1, Body=b"a" * PART_BYTES)["ETag"]
    now[0] += timedelta(seconds=91)
    second = s3.upload_part(**where, PartNumber=2, Body=b"b")["ETag"]
    parts = [{"PartNumber": 1, "ETag": first}, {"PartNumber": 2, "ETag": second}]
    s3.complete_multipart_upload(**where, MultipartUpload={"Parts": parts})
    assert s3.head_object(Bucket=found.bucket, Key=key)["ContentLength"] == PART_BYTES + 1
    assert isinstance(ends.store, S3Keys)
    assert [token == ends.store.session_token for token in sent] == [True, True, False, False, False]


def lance_that_stays(access: Access) -> Callable[[], object]:
    dataset = lance.write_dataset(ROWS, **access.lance())
    return dataset.to_table


def obstore_that_stays(access: Access) -> Callable[[], object]:
    store = access.obstore()
    return lambda: store.put("x", b"1")


def polars_that_stays(access: Access) -> Callable[[], object]:
    place = f"{access.get().uri}/rows.parquet"
    pl.DataFrame(ROWS).lazy().sink_parquet(place, **access.polars())
    frame = pl.scan_parquet(place, **access.polars())
    return frame.collect


def pyarrow_that_stays(access: Access) -> Callable[[], object]:
    files = access.pyarrow()
    return lambda: pyarrow.parquet.write_table(ROWS, "rows.parquet", filesystem=files)


def fsspec_that_stays(access: Access) -> Callable[[], object]:
    files = access.fsspec()
    files.pipe_file(f"{access.get().uri}/x", b"1")
    return lambda: files.pipe_file(f"{access.get().uri}/y", b"1")


def boto3_that_stays(access: Access) -> Callable[[], object]:
    s3, found = access.boto3(), access.get()
    return lambda: s3.put_object(Bucket=found.bucket, Key=f"{found.prefix}/x", Body=b"1")


@pytest.mark.parametrize(
    ("library", "left"),
    [
        # Some come back once their credentials have ended, others a while before.
        (lance_that_stays, 30),
        (obstore_that_stays, 0),
        (polars_that_stays, 0),
        (pyarrow_that_stays, 0),
        (fsspec_that_stays, 30),
        (boto3_that_stays, 30),
    ],
)
def test_what_a_library_made_comes_back_for_fresh_credentials(
    table: GenericTable, library: Callable[[Access], Callable[[], object]], left: int
) -> None:
    asked = 0

    class Counted(Access):
        def get(self) -> Credentials:
            nonlocal asked
            asked += 1
            return replace(table.access().get(), expires_at=datetime.now(UTC) + timedelta(seconds=left))

    use = library(Counted(table.access().get))
    before = asked
    use()
    assert asked > before


def test_duckdb_attaches_a_warehouse_as_it_is_told_and_reads_files_beside_it(
    lake: Client, lakeward: Lakeward, namespace: str, tmp_path: Path
) -> None:
    warehouse = lake.warehouse(lakeward.warehouse_id)
    with duckdb_with_installed_extensions(tmp_path) as connection:
        connection.execute(warehouse.endpoint().duckdb("sales"))
        connection.execute(f"create table sales.{namespace}.orders as select 7 as n")
        assert connection.execute(f"select n from sales.{namespace}.orders").fetchall() == [(7,)]
        access = warehouse.access(namespace, "orders")
        files = [found["path"] for found in access.obstore().list("data").collect()]
        access.duckdb(connection)
        place = f"{access.get().uri}/{files[0]}"
        assert connection.execute(f"select n from '{place}'").fetchall() == [(7,)]


@pytest.mark.timeout(60)
def test_what_libraries_wrote_is_found_in_the_tables_statistics(
    lakeward: Lakeward, lake: Client, namespace: str
) -> None:
    tables = lake.warehouse(lakeward.warehouse).generic
    made = {each: tables.create(namespace, f"measured_{each}", format=each) for each in ("lance", "delta", "dataset")}
    lance.write_dataset(ROWS, mode="create", **made["lance"].access().lance())
    told = made["delta"].access().deltalake()
    for _ in range(2):
        deltalake.write_deltalake(told["table_uri"], ROWS, mode="append", storage_options=told["storage_options"])
    files = made["dataset"].access().pyarrow()
    pyarrow.parquet.write_to_dataset(ROWS, "a b=ö", partition_cols=["name"], filesystem=files)
    operations = lake.management.operations
    task = operations.schedule_project_task_generic_statistics(ScheduleTaskRequest()).task_id
    while operations.get_project_task_details(task).status not in {"SUCCESS", "FAILED"}:
        time.sleep(0.1)  # what is waited for is looked for; the test's own time ends it
    found = {each: table.reload().info.statistics for each, table in made.items()}
    assert {each: (told["rows"], told["measured-by"]) for each, told in found.items()} == {
        "lance": (3, "lakeward"),
        "delta": (6, "lakeward"),
        "dataset": (3, "lakeward"),
    }
    assert (found["lance"]["version"], found["delta"]["version"], found["dataset"]["files"]) == (1, 1, 3)
    assert all(told["bytes"] > 0 for told in found.values())
