"""Locations as columns and parameters, and the advisory locks that guard them.

Advisory locks are numbers of a whole database, so each is the hash of what it guards: two that collide wait for each other
needlessly, and nothing else comes of it.
"""

from __future__ import annotations

import hashlib
from typing import Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.shared import LOCATION_KEY_INDEXED
from lakeward_locations import Location
from lakeward_locations.location import fold

LOCK_SHARED: Final = "select pg_advisory_xact_lock_shared($1)"
LOCK_EXCLUSIVE: Final = "select pg_advisory_xact_lock($1)"


# Whether a place and another that differs by case alone are one in the warehouse $1: unless its store was seen to tell them.
FOLDS: Final = "coalesce((select not tells_case from warehouse where warehouse_id = $1), true)"


def folded_of(location: Location) -> str | None:
    """What `location_folded` holds; see `shared.FOLDED`."""
    return None if location.key.isascii() else location.folded_key


def digest_of(key: str) -> bytes:
    """What makes a location unique beside the part of its key that is indexed."""
    return hashlib.sha256(key.encode()).digest()[:16]


def at_or_above(location: Location) -> tuple[list[str], list[str], list[str]]:
    """The keys of a place and of all that contain it: folded, their indexed parts and whole; and as they are."""
    keys = [*location.enclosing_keys(), location.key]
    folded = [fold(key) for key in keys]
    return [key[:LOCATION_KEY_INDEXED] for key in folded], folded, keys


def at_or_inside(location: Location) -> tuple[str, str, str, str, str, str]:
    """Bounds of the keys of a place and all inside it.

    Folded: of the indexed part, both included, and of the whole key, half open. Then of the key as it is, half open.
    """
    low, high = location.key, location.key_end
    folded_low, folded_high = fold(low), fold(high)
    return folded_low[:LOCATION_KEY_INDEXED], folded_high[:LOCATION_KEY_INDEXED], folded_low, folded_high, low, high


def locations_lock(warehouse_id: UUID) -> int:
    """Guards the locations of a warehouse."""
    return _number(b"locations", warehouse_id.bytes)


def moves_lock(warehouse_id: UUID) -> int:
    """Held by the transaction that moves a namespace of a warehouse, until it ends."""
    return _number(b"moves", warehouse_id.bytes)


def making_lock(incarnation: UUID) -> int:
    """Held by the transaction that makes a tabular, until it ends."""
    return _number(b"making", incarnation.bytes)


def storage_lock(place: str) -> int:
    """Guards which warehouses lie at a place of an object store."""
    return _number(b"storage", place.encode())


def _number(what: bytes, which: bytes) -> int:
    return int.from_bytes(
        hashlib.blake2b(which, digest_size=8, person=b"lkwd-" + what[:11]).digest(), "big", signed=True
    )
