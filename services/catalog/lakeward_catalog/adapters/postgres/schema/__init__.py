"""The tables of the catalog, for Alembic to compare with and for people to read: a module for each noun.

Every key leads with the warehouse, project or stream that owns the row. Names compare by their `..._key` columns, whose
collation "C" orders them by code point, so that a range of keys is a subtree. Each index says in `info["serves"]` which
statements need it; a test explains the hot ones against a filled database.
"""

from __future__ import annotations

from typing import Final

from lakeward_catalog.adapters.postgres.schema import (
    events,
    idempotency,
    namespaces,
    statistics,
    tabulars,
    tags,
    tasks,
    warehouses,
)
from lakeward_catalog.adapters.postgres.schema.declaring import metadata
from lakeward_servicekit.postgres.lease_table import define_leases

__all__ = [
    "EXTERNAL",
    "events",
    "idempotency",
    "lease",
    "metadata",
    "namespaces",
    "statistics",
    "tabulars",
    "tags",
    "tasks",
    "warehouses",
]

lease = define_leases(metadata)

EXTERNAL: Final = (
    ("tabular_body", "everything_own"),
    ("tabular_body", "refs_own"),
    ("body_chunk", "raw"),
)
"""Columns that Postgres stores as they are: they are compressed already."""
