"""The documented example of a Paimon table, and its mirror image; run by a Python that has pypaimon.

python round_trip.py <url> <warehouse id> <namespace>
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlparse

import boto3
import pyarrow as pa
from pylakekeeper import Client, ConflictError, GenericTableFormat, StaticToken
from pypaimon import CatalogFactory, Schema

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", "c"], "score": [0.5, 0.9, 0.95]})


def main(url: str, warehouse: str, namespace: str) -> None:
    """Write a table to its place in the store, and read it from there."""
    with Client(base_url=url, warehouse=warehouse, auth=StaticToken("dev")) as client:
        for _ in range(2):  # tolerate re-runs
            with contextlib.suppress(ConflictError):
                client.generic_tables.create(namespace, "orders", format=GenericTableFormat.PAIMON)
        table = client.generic_tables.load(namespace, "orders", vended=True)
    options = table.lance_storage_options
    s3 = boto3.client(
        "s3",
        aws_access_key_id=options["aws_access_key_id"],
        aws_secret_access_key=options["aws_secret_access_key"],
        aws_session_token=options.get("aws_session_token"),
        region_name=options.get("aws_region"),
        endpoint_url=options.get("aws_endpoint"),
    )
    parsed = urlparse(table.location)
    bucket, prefix = parsed.netloc, parsed.path.strip("/")
    with tempfile.TemporaryDirectory() as written:
        _write(written)
        folder = Path(written, "default.db", "orders")
        for local in folder.rglob("*"):
            if local.is_file():
                s3.upload_file(str(local), bucket, f"{prefix}/{local.relative_to(folder).as_posix()}")
    with tempfile.TemporaryDirectory() as read:
        for found in s3.list_objects_v2(Bucket=bucket, Prefix=f"{prefix}/")["Contents"]:
            local = Path(read, "default.db", "orders", found["Key"].removeprefix(f"{prefix}/"))
            local.parent.mkdir(parents=True, exist_ok=True)
            s3.download_file(bucket, found["Key"], str(local))
        builder = CatalogFactory.create({"warehouse": read}).get_table("default.orders").new_read_builder()
        rows = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    assert rows.to_pylist() == ROWS.to_pylist(), rows


def _write(folder: str) -> None:
    catalog = CatalogFactory.create({"warehouse": folder})
    catalog.create_database("default", True)
    schema = Schema.from_pyarrow_schema(ROWS.schema, primary_keys=["id"], options={"bucket": "1"})
    catalog.create_table("default.orders", schema, True)
    builder = catalog.get_table("default.orders").new_batch_write_builder()
    writer, commit = builder.new_write(), builder.new_commit()
    writer.write_arrow(ROWS)
    commit.commit(writer.prepare_commit())
    writer.close()
    commit.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
