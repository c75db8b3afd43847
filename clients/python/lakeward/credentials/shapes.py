"""Credentials as each library takes them.

`Credentials` has these methods, and so has a table's `access`, which keeps them fresh. Which libraries come back for fresh ones
by themselves is said with each; what they are handed then calls the server once the old ones are about to end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import azure.storage.blob
    import fsspec
    import google.cloud.storage
    import lancedb.table
    import pyarrow.fs
    from duckdb import DuckDBPyConnection
    from obstore.store import AzureStore, GCSStore, S3Store

    from lakeward.credentials import Credentials


class Shapes(ABC):
    """What libraries take, of the credentials that `get` answers."""

    @abstractmethod
    def get(self) -> Credentials:
        """The credentials of now."""

    def storage_options(self) -> dict[str, str]:
        """What libraries over Rust's object stores take as `storage_options`: Lance, deltalake, Polars, DataFusion, Daft.

        They hold until the credentials end.
        """
        from lakeward.credentials.object_stores import storage_options  # noqa: PLC0415 - no cycle, no cost for others

        return storage_options(self.get())

    def lance(self) -> Mapping[str, Any]:
        """What `lance.dataset` and `lance.write_dataset` take beside the data. Lance comes back for fresh ones.

        lance.write_dataset(rows, mode="overwrite", **table.access().lance())
        """
        from lakeward.credentials.lance import arguments  # noqa: PLC0415 - Lance is an engine that not everybody has

        return arguments(self)

    def lancedb(self) -> lancedb.table.Table:
        """The table in LanceDB. It comes back for fresh credentials."""
        from lakeward.credentials.lance import opened  # noqa: PLC0415 - as above

        return opened(self)

    def deltalake(self) -> Mapping[str, Any]:
        """What `DeltaTable` and `write_deltalake` take first and as `storage_options`, by their names.

        deltalake has no way back for fresh ones: open the table again for work that takes longer than the credentials live.
        """
        from lakeward.credentials.object_stores import storage_options  # noqa: PLC0415

        return {"table_uri": self.get().uri, "storage_options": storage_options(self.get())}

    def polars(self) -> Mapping[str, Any]:
        """What Polars' `scan_…` and `sink_…` take as `storage_options` and `credential_provider`. It comes back for fresh ones.

        polars.scan_parquet(f"{access.get().uri}/*.parquet", **access.polars())
        """
        from lakeward.credentials.object_stores import polars  # noqa: PLC0415

        return polars(self)

    def obstore(self) -> S3Store | AzureStore | GCSStore:
        """A store of obstore that begins at the table's place. It comes back for fresh credentials."""
        from lakeward.credentials.object_stores import obstore  # noqa: PLC0415

        return obstore(self)

    def pyarrow(self) -> pyarrow.fs.FileSystem:
        """A filesystem of pyarrow that begins at the table's place. Each opening has fresh credentials.

        pyarrow.parquet.write_table(rows, "part.parquet", filesystem=table.access().pyarrow())
        """
        from lakeward.credentials.arrow import filesystem  # noqa: PLC0415

        return filesystem(self)

    def fsspec(self) -> fsspec.AbstractFileSystem:
        """A filesystem of s3fs, adlfs or gcsfs, whose paths are URIs. It comes back for fresh credentials."""
        from lakeward.credentials.filesystems import filesystem  # noqa: PLC0415

        return filesystem(self)

    def fsspec_options(self) -> dict[str, Any]:
        """What pandas, Dask and others hand on to s3fs, adlfs or gcsfs as `storage_options`.

        They hold until the credentials end.
        """
        from lakeward.credentials.filesystems import options  # noqa: PLC0415

        return options(self.get())

    def duckdb(self, connection: DuckDBPyConnection, *, name: str | None = None) -> None:
        """Let a connection of DuckDB read and write below the table's place.

        DuckDB keeps what it is told: call this again before a statement, which costs nothing while the credentials are fresh.

        Args:
            connection: that has, or may load, the extension `httpfs` or `azure`.
            name: of the secret; None for one that is made of the location.
        """
        from lakeward.credentials.duckdb import secret  # noqa: PLC0415

        connection.execute(secret(self.get(), name=name))

    def boto3(self) -> Any:  # noqa: ANN401 - a class that boto3 makes when it is asked for
        """A client of S3, as boto3 makes them. It comes back for fresh credentials, in the middle of an upload as well."""
        from lakeward.credentials.sdks import s3_client  # noqa: PLC0415

        return s3_client(self)

    def azure(self) -> azure.storage.blob.ContainerClient:
        """A client of the table's container, of Azure's SDK. It comes back for fresh credentials."""
        from lakeward.credentials.sdks import container_client  # noqa: PLC0415

        return container_client(self)

    def google(self) -> google.cloud.storage.Client:
        """A client of Google's storage, of its SDK. It comes back for fresh credentials."""
        from lakeward.credentials.sdks import storage_client  # noqa: PLC0415

        return storage_client(self)

    def hadoop(self) -> dict[str, str]:
        """Hadoop's settings for the table's bucket; those of Spark are the same behind "spark.hadoop.".

        They hold until the credentials end.
        """
        from lakeward.credentials.hadoop import settings  # noqa: PLC0415

        return settings(self.get())
