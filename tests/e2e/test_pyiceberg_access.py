"""PyIceberg gets at files with what the catalog hands out, and at nothing beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import botocore.session
import pyarrow as pa
import pytest
import requests
from botocore.exceptions import ClientError
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.io.fsspec import FsspecFileIO
from pyiceberg.table import Table
from pyiceberg.utils.concurrent import ExecutorFactory

from tests.support.engines import Reach, pyiceberg_properties
from tests.support.lakeward import Lakeward

NUMBERS = pa.schema([pa.field("n", pa.int64())])


def numbers(*values: int) -> pa.Table:
    return pa.table({"n": list(values)}, schema=NUMBERS)


def values_of(table: Table) -> list[int]:
    return sorted(table.scan().to_arrow()["n"].to_pylist())


@contextmanager
def store_of(table: Table) -> Iterator[Any]:
    """A client of the store with nothing but what came with the table."""
    given = table.io.properties
    client: Any = botocore.session.get_session().create_client(
        "s3",
        endpoint_url=given["s3.endpoint"],
        region_name=given["s3.region"],
        aws_access_key_id=given["s3.access-key-id"],
        aws_secret_access_key=given["s3.secret-access-key"],
        aws_session_token=given["s3.session-token"],
    )
    try:
        yield client
    finally:
        client.close()


def place_of(table: Table) -> tuple[str, str]:
    bucket, _, key = table.location().removeprefix("s3://").partition("/")
    return bucket, key


def test_vended_credentials_write_inside_the_tables_location(catalog: Catalog, new_name: str) -> None:
    table = catalog.create_table(new_name, NUMBERS)
    bucket, key = place_of(table)
    with store_of(table) as store:
        store.put_object(Bucket=bucket, Key=f"{key}/data/x", Body=b"x")
        assert store.get_object(Bucket=bucket, Key=f"{key}/data/x")["Body"].read() == b"x"
        store.delete_object(Bucket=bucket, Key=f"{key}/data/x")


@pytest.mark.parametrize("where", ["{other}/data/x", "{own}x/data/x", "{prefix}/x", "x"])
def test_vended_credentials_reach_nothing_beside_the_tables_location(
    lakeward: Lakeward, catalog: Catalog, new_name: str, where: str
) -> None:
    table = catalog.create_table(new_name, NUMBERS)
    other = catalog.create_table(f"{new_name}_other", NUMBERS)
    bucket, own = place_of(table)
    outside = where.format(own=own, other=place_of(other)[1], prefix=lakeward.key_prefix)
    with store_of(table) as store:
        for attempt in (
            partial(store.put_object, Bucket=bucket, Key=outside, Body=b"x"),
            partial(store.get_object, Bucket=bucket, Key=outside),
            partial(store.list_objects_v2, Bucket=bucket, Prefix=outside),
        ):
            with pytest.raises(ClientError) as refused:
                attempt()
            assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_the_vended_credentials_are_not_the_warehouses_own(lakeward: Lakeward, catalog: Catalog, new_name: str) -> None:
    given = catalog.create_table(new_name, NUMBERS).io.properties
    own = {lakeward.store.admin.access_key, lakeward.store.sts_only.access_key}
    assert given["s3.access-key-id"] not in own
    assert given["s3.session-token"]


@pytest.fixture
def one_reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """PyIceberg with one thread, as docs/engines.md advises with signed requests.

    Its threads share a client of the store with a newer fsspec, and each takes the signer off it for a moment to put its own on;
    what another one sends in that moment goes unsigned.
    """
    monkeypatch.setenv("PYICEBERG_MAX_WORKERS", "1")
    monkeypatch.setattr(ExecutorFactory, "_instance", None)
    yield
    executor = ExecutorFactory._instance
    if executor is not None:
        executor.shutdown()


@pytest.fixture(scope="module")
def signing(signed: Reach, namespace: str) -> Iterator[Catalog]:
    catalog = load_catalog("signed", **pyiceberg_properties(signed))
    catalog.create_namespace_if_not_exists(namespace)
    yield catalog
    catalog.close()


@pytest.mark.usefixtures("one_reader")
def test_a_table_is_written_and_read_with_signed_requests_and_no_credentials(signing: Catalog, new_name: str) -> None:
    table = signing.create_table(new_name, NUMBERS)
    assert isinstance(table.io, FsspecFileIO)
    assert table.io.properties["s3.signer"] == "S3V4RestSigner"
    assert not [key for key in table.io.properties if "secret" in key or "session-token" in key]
    table.append(numbers(1, 2))
    table.append(numbers(3))
    table.delete("n = 2")
    assert values_of(signing.load_table(new_name)) == [1, 3]


def test_nothing_is_signed_for_that_lies_in_no_table(signing: Catalog, new_name: str) -> None:
    table = signing.create_table(new_name, NUMBERS)
    given = table.io.properties

    def sign(method: str, location: str) -> int:
        bucket, _, key = location.removeprefix("s3://").partition("/")
        return requests.post(
            f"{given['s3.signer.uri'].rstrip('/')}/{given['s3.signer.endpoint']}",
            json={
                "method": method,
                "region": given["s3.region"],
                "uri": f"{given['s3.endpoint'].rstrip('/')}/{bucket}/{key}",
                "headers": {"host": [given["s3.endpoint"].partition("://")[2].rstrip("/")]},
            },
            timeout=30,
        ).status_code

    own = table.location()
    for method in ("GET", "PUT", "DELETE"):
        assert sign(method, f"{own}/data/x") == 200
        for outside in (f"{own}x/data/x", f"{own}/../x", f"{own.rpartition('/')[0]}/x", "s3://other-bucket/x"):
            assert sign(method, outside) in {400, 404}, (method, outside)
