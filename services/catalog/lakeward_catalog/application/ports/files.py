"""Metadata files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lakeward_catalog.domain.model import (
    Incarnation,
    Tabular,
    Warehouse,
)
from lakeward_locations import Location
from lakeward_servicekit.deflated import Deflated


class Files(Protocol):
    """Metadata files, through vending. Every call is within a permit for the tabular's own location."""

    async def read(self, warehouse: Warehouse, location: str, *, within: Location, principal: str) -> bytes:
        """Inflated where the name says gzip. Raises FILE_NOT_FOUND, FILE_UNREADABLE, STORE_UNAVAILABLE, STORE_DENIED."""
        ...

    async def write(
        self, warehouse: Warehouse, tabular: Tabular, location: str, text: Deflated, *, principal: str
    ) -> None:
        """A new file, gzip where the name says so. Raises FILE_EXISTS, STORE_UNAVAILABLE, STORE_DENIED."""

    async def delete(self, warehouse: Warehouse, tabular: Tabular, locations: Sequence[str], *, principal: str) -> None:
        """By name; absent ones count as deleted. Raises STORE_UNAVAILABLE, STORE_DENIED."""

    async def is_empty(self, warehouse: Warehouse, location: Location, *, principal: str) -> bool:
        """Whether nothing lies below. Raises STORE_UNAVAILABLE, STORE_DENIED."""
        ...

    async def purge_page(self, warehouse: Warehouse, incarnation: Incarnation, location: Location) -> tuple[int, bool]:
        """Delete a page; (how many, whether nothing is left). Raises STORE_UNAVAILABLE, STORE_DENIED."""
        ...
