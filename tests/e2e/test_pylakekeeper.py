"""Every example of the documentation of pylakekeeper, unmodified but for names, with the real libraries on the real store.

Each format is written and read with nothing but what a load handed out, and the store refuses the same credentials anything
beside the table's place. All of it is run with pylakekeeper as it is, and with `lakeward.compat` in its place.
"""

from __future__ import annotations

import contextlib
import mimetypes
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import boto3
import deltalake
import fsspec
import lance
import pyarrow as pa
import pyarrow.csv
import pyarrow.fs
import pyarrow.json
import pyarrow.parquet
import pylakekeeper
import pytest
import requests
import vortex as vx
from botocore.exceptions import ClientError

from lakeward import compat
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward

ROWS = pa.table(
    {"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", "c"], "score": pa.array([0.5, 0.9, 0.95], pa.float64())}
)
ICEBERG_TO_DELTA = {
    "s3.access-key-id": "AWS_ACCESS_KEY_ID",
    "s3.secret-access-key": "AWS_SECRET_ACCESS_KEY",
    "s3.session-token": "AWS_SESSION_TOKEN",
    "s3.region": "AWS_REGION",
    "client.region": "AWS_REGION",
    "s3.endpoint": "AWS_ENDPOINT_URL",
}


@pytest.fixture(scope="module", params=[pylakekeeper, compat], ids=["pylakekeeper", "compat"])
def sdk(request: pytest.FixtureRequest) -> Any:
    """Whose names are used."""
    return request.param


@pytest.fixture(scope="module")
def namespace(sdk: Any, lakeward: Lakeward) -> str:
    """Two levels, as in the documentation."""
    top = f"ai_{secrets.token_hex(4)}"
    for parts in ([top], [top, "test"]):
        requests.post(lakeward.namespaces, json={"namespace": parts}, timeout=30).raise_for_status()
    return f"{top}.test"


@pytest.fixture(scope="module")
def client(sdk: Any, lakeward: Lakeward) -> Iterator[Any]:
    with sdk.Client(base_url=lakeward.url, warehouse=lakeward.warehouse_id, auth=sdk.StaticToken("dev")) as made:
        yield made


@pytest.fixture
def one_composition(lakeward: Lakeward) -> None:
    """For what only the libraries make different."""
    if lakeward.composition is not Composition.ONE_PROCESS:
        pytest.skip("what is vended is the same in every composition")


def boto_of(table: Any) -> Any:
    """A client of the store, as the documentation makes one."""
    opts = table.lance_storage_options
    return boto3.client(
        "s3",
        aws_access_key_id=opts["aws_access_key_id"],
        aws_secret_access_key=opts["aws_secret_access_key"],
        aws_session_token=opts.get("aws_session_token"),
        region_name=opts.get("aws_region"),
        endpoint_url=opts.get("aws_endpoint"),
    )


def place_of(table: Any) -> tuple[str, str]:
    parsed = urlparse(table.location)
    return parsed.netloc, parsed.path.strip("/")


def delta_options(t: Any) -> dict[str, str]:
    props = {**{k: v for cred in (t.storage_credentials or []) for k, v in cred.config.items()}, **(t.config or {})}
    opts = {ICEBERG_TO_DELTA[k]: v for k, v in props.items() if k in ICEBERG_TO_DELTA}
    opts.setdefault("AWS_S3_ALLOW_UNSAFE_RENAME", "true")
    if opts.get("AWS_ENDPOINT_URL", "").startswith("http://"):
        opts["AWS_ALLOW_HTTP"] = "true"
    return opts


def lance_round_trip(client: Any, namespace: str, name: str, _: Path) -> pa.Table:
    t = client.generic_tables.load(namespace, name, vended=True)
    lance.write_dataset(ROWS, t.location, storage_options=t.lance_storage_options, mode="overwrite")
    t = client.generic_tables.load(namespace, name, vended=True)
    assert any(each.endswith("/_versions") for each in fsspec.filesystem("s3", **t.fsspec_kwargs).ls(t.location))
    return lance.dataset(t.location, storage_options=t.lance_storage_options).to_table()


def delta_round_trip(client: Any, namespace: str, name: str, _: Path) -> pa.Table:
    t = client.generic_tables.load(namespace, name, vended=True)
    deltalake.write_deltalake(t.location, ROWS, storage_options=delta_options(t), mode="overwrite")
    t = client.generic_tables.load(namespace, name, vended=True)
    return deltalake.DeltaTable(t.location, storage_options=delta_options(t)).to_pyarrow_table()


def vortex_round_trip(client: Any, namespace: str, name: str, tmp: Path) -> pa.Table:
    t = client.generic_tables.load(namespace, name, vended=True)
    s3, (bucket, prefix) = boto_of(t), place_of(t)
    written, read = tmp / "data.vortex", tmp / "read.vortex"
    vx.io.write(vx.array(ROWS), str(written))
    s3.upload_file(str(written), bucket, f"{prefix}/data.vortex")
    s3.download_file(bucket, f"{prefix}/data.vortex", str(read))
    return vx.open(str(read)).scan().read_all().to_arrow_table()


def dataset_round_trip(client: Any, namespace: str, name: str, tmp: Path) -> pa.Table:
    t = client.generic_tables.load(namespace, name, vended=True)
    s3, (bucket, prefix) = boto_of(t), place_of(t)
    images = tmp / "images"
    images.mkdir()
    for row in ROWS.to_pylist():
        (images / f"{row['name']}.png").write_bytes(repr((row["id"], row["score"])).encode())
    for p in images.iterdir():
        s3.put_object(
            Bucket=bucket,
            Key=f"{prefix}/{p.name}",
            Body=p.read_bytes(),
            ContentType=mimetypes.guess_type(p.name)[0] or "application/octet-stream",
        )
    rows = []
    for found in s3.list_objects_v2(Bucket=bucket, Prefix=f"{prefix}/")["Contents"]:
        body = s3.get_object(Bucket=bucket, Key=found["Key"])
        assert body["ContentType"] == "image/png"
        number, score = body["Body"].read().decode().strip("()").split(", ")
        stem = found["Key"].rpartition("/")[2].removesuffix(".png")
        rows.append({"id": int(number), "name": stem, "score": float(score)})
    return pa.Table.from_pylist(rows, ROWS.schema)


def _filesystem(t: Any) -> pyarrow.fs.S3FileSystem:
    opts = t.lance_storage_options
    return pyarrow.fs.S3FileSystem(
        access_key=opts["aws_access_key_id"],
        secret_key=opts["aws_secret_access_key"],
        session_token=opts["aws_session_token"],
        region=opts["aws_region"],
        endpoint_override=opts["aws_endpoint"],
        allow_bucket_creation=False,
    )


def parquet_round_trip(client: Any, namespace: str, name: str, _: Path) -> pa.Table:
    t = client.generic_tables.load(namespace, name, vended=True)
    path, files = f"{'/'.join(place_of(t))}/day=1/part.parquet", _filesystem(t)
    pyarrow.parquet.write_table(ROWS, path, filesystem=files)
    return pyarrow.parquet.ParquetFile(files.open_input_file(path)).read()


def csv_round_trip(client: Any, namespace: str, name: str, _: Path) -> pa.Table:
    t = client.generic_tables.load(namespace, name, vended=True)
    path, files = f"{'/'.join(place_of(t))}/part.csv", _filesystem(t)
    with files.open_output_stream(path) as out:
        pyarrow.csv.write_csv(ROWS, out)
    with files.open_input_stream(path) as source:
        return pyarrow.csv.read_csv(source)


def json_round_trip(client: Any, namespace: str, name: str, _: Path) -> pa.Table:
    t = client.generic_tables.load(namespace, name, vended=True)
    path, files = f"{'/'.join(place_of(t))}/part.json", _filesystem(t)
    lines = "".join(
        f'{{"id": {row["id"]}, "name": "{row["name"]}", "score": {row["score"]}}}\n' for row in ROWS.to_pylist()
    )
    with files.open_output_stream(path) as out:
        out.write(lines.encode())
    with files.open_input_stream(path) as source:
        return pyarrow.json.read_json(source)


RoundTrip = Callable[[Any, str, str, Path], pa.Table]
EXAMPLES: dict[str, RoundTrip] = {
    "lance": lance_round_trip,
    "delta": delta_round_trip,
    "vortex": vortex_round_trip,
    "dataset": dataset_round_trip,
    "parquet": parquet_round_trip,
    "csv": csv_round_trip,
    "json": json_round_trip,
}


@pytest.mark.usefixtures("one_composition")
@pytest.mark.parametrize("table_format", EXAMPLES)
def test_each_format_is_written_and_read_with_what_a_load_hands_out(
    sdk: Any, client: Any, namespace: str, table_format: str, tmp_path: Path
) -> None:
    name = f"{table_format}_table"
    for _ in range(2):  # tolerate re-runs
        with contextlib.suppress(sdk.ConflictError):
            known = table_format.upper() in sdk.GenericTableFormat.__members__
            stated = sdk.GenericTableFormat(table_format) if known else table_format
            client.generic_tables.create(namespace, name, format=stated, properties={"embedding-dim": "768"})
    found = EXAMPLES[table_format](client, namespace, name, tmp_path)
    assert sorted(found.select(ROWS.column_names).to_pylist(), key=lambda row: row["id"]) == ROWS.to_pylist()
    listed = {each.name: each.format for each in client.generic_tables.list(namespace, page_size=1)}
    assert listed[name] == table_format


def test_one_byte_outside_of_the_tables_place_is_refused(client: Any, namespace: str, lakeward: Lakeward) -> None:
    for name in ("inside", "beside"):
        client.generic_tables.create(namespace, name, format="dataset")
    table, other = (client.generic_tables.load(namespace, name, vended=True) for name in ("inside", "beside"))
    s3, (bucket, prefix) = boto_of(table), place_of(table)
    s3.put_object(Bucket=bucket, Key=f"{prefix}/x", Body=b"1")
    boto_of(other).put_object(Bucket=bucket, Key=f"{place_of(other)[1]}/x", Body=b"1")
    outside = (f"{prefix}x", f"{prefix}-x/x", f"{lakeward.key_prefix}/x", f"{place_of(other)[1]}/x", "x")
    for key in outside:
        attempts: tuple[Callable[[], Any], ...] = (
            lambda key=key: s3.put_object(Bucket=bucket, Key=key, Body=b"1"),
            lambda key=key: s3.get_object(Bucket=bucket, Key=key),
            lambda key=key: s3.delete_object(Bucket=bucket, Key=key),
            lambda key=key: s3.list_objects_v2(Bucket=bucket, Prefix=key),
        )
        for attempt in attempts:
            with pytest.raises(ClientError) as refused:
                attempt()
            assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403, key
    assert boto_of(other).get_object(Bucket=bucket, Key=f"{place_of(other)[1]}/x")["Body"].read() == b"1"


@pytest.mark.usefixtures("one_composition")
def test_the_clients_own_calls_answer_as_it_expects(sdk: Any, client: Any, namespace: str, lakeward: Lakeward) -> None:
    made = client.generic_tables.create(
        namespace, "Calls", format=sdk.GenericTableFormat.LANCE, doc="kept", properties={"a": "1"}
    )
    assert (made.table.name, made.table.format, made.table.doc) == ("Calls", "lance", "kept")
    plain = client.generic_tables.load(namespace.split("."), "calls")
    assert plain.location == made.location
    vended = client.generic_tables.load(namespace, "calls", vended=True)
    assert vended.lance_storage_options["aws_session_token"]
    assert vended.lance_storage_options["allow_http"] == "true"
    assert vended.fsspec_kwargs["token"] == vended.lance_storage_options["aws_session_token"]
    assert vended.expires_at is not None
    assert not vended.expires_within(60)
    with pytest.raises(sdk.ConflictError):
        client.generic_tables.create(namespace, "CALLS", format="delta")
    with pytest.raises(sdk.LakekeeperHTTPError) as refused:
        client.generic_tables.create(namespace, "outside", format="lance", base_location="s3://elsewhere/x")
    assert refused.value.status_code == 400
    client.generic_tables.drop(namespace, "calls")
    client.generic_tables.create(namespace, "held", format=sdk.GenericTableFormat.DATASET)
    with pytest.raises(sdk.NotFoundError):
        client.generic_tables.load(namespace, "calls")
    assert client.iceberg_catalog().list_namespaces()
    store = client.generic_tables.load(namespace, "held", vended=True).objects()
    store.put("memories/a.md", b"1")
    assert (store.list("memories/"), store.get("memories/a.md")) == (["memories/a.md"], b"1")
    store.delete("memories/a.md")
    assert store.list() == []
    assert lakeward.warehouse_id


@pytest.mark.usefixtures("one_composition")
def test_the_example_of_the_founding_document_opens_a_lance_table(lakeward: Lakeward, namespace: str) -> None:
    """Its requests to the letter: `location` stands at the top of a load, `storage-options` in the credentials."""
    headers = {"Authorization": "Bearer dev"}
    path = namespace.replace(".", "%1F")
    tables = f"{lakeward.url}/lakekeeper/v1/{lakeward.warehouse_id}/namespaces/{path}/generic-tables"
    body = {
        "name": "image_embeddings",
        "format": "lance",
        "doc": "CLIP embeddings + thumbnails for product catalog",
        "properties": {"embedding-dim": "768"},
    }
    requests.post(tables, json=body, headers=headers, timeout=30).raise_for_status()
    meta = requests.get(f"{tables}/image_embeddings", headers=headers, timeout=30).json()
    creds = requests.get(f"{tables}/image_embeddings/credentials", headers=headers, timeout=30).json()
    rows = pa.table({"caption": ["cat", "dog"], "embedding": [[0.1, 0.2], [0.3, 0.4]], "score": [0.7, 0.9]})
    lance.write_dataset(rows, meta["location"], storage_options=creds["storage-options"])
    ds = lance.dataset(meta["location"], storage_options=creds["storage-options"])
    assert ds.to_table(columns=["caption", "embedding"], filter="score > 0.8").to_pylist() == [
        {"caption": "dog", "embedding": [0.3, 0.4]}
    ]
