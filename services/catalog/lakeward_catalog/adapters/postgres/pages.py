"""Where a page of a listing starts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

from lakeward_catalog.application.ports.stores import After

Asked: TypeAlias = tuple[Any, ...]

_FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC), UUID(int=0))


def place_of(after: After | None) -> tuple[datetime, UUID]:
    """Where a page starts, behind this place in the order of a listing; before everything for its first page."""
    return _FIRST if after is None else (after.created_at, after.id)
