"""A warehouse as a catalog of PyIceberg, under its old name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.compat.errors import translated

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog

    from lakeward.compat.client import Client


def iceberg_catalog(
    client: Client, *, name: str | None = None, warehouse: str | None = None, **properties: object
) -> RestCatalog:
    """See `Client.iceberg_catalog`."""
    from pyiceberg.catalog.rest import RestCatalog  # noqa: PLC0415 - an engine that not everybody has

    named = warehouse or client.warehouse
    with translated():
        settings = client.lake.warehouse(named).settings()
    return RestCatalog(name or named, **{**settings, **properties})
