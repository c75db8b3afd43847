"""Locations as columns and parameters, and the advisory locks that guard them.

Advisory locks are numbers of a whole database, so each is the hash of what it guards: two that collide wait for each other
needlessly, and nothing else comes of it.
"""

from __future__ import annotations

import hashlib
from typing import Final
from uuid import UUID

from lakeward.catalog.adapters.postgres.schema import LOCATION_KEY_INDEXED
from lakeward.locations import Location

LOCK_SHARED: Final = "select pg_advisory_xact_lock_shared($1)"
LOCK_EXCLUSIVE: Final = "select pg_advisory_xact_lock($1)"


def digest_of(key: str) -> bytes:
    """What makes a location unique beside the part of its key that is indexed."""
    return hashlib.sha256(key.encode()).digest()[:16]


def at_or_above(location: Location) -> tuple[list[str], list[str]]:
    """The keys of a place and of all that contain it: their indexed parts, and whole."""
    keys = [*location.enclosing_keys(), location.key]
    return [key[:LOCATION_KEY_INDEXED] for key in keys], keys


def at_or_inside(location: Location) -> tuple[str, str, str, str]:
    """Bounds of the keys of a place and all inside it: of the indexed part, both included; of the whole key, half open."""
    low, high = location.key, location.key_end
    return low[:LOCATION_KEY_INDEXED], high[:LOCATION_KEY_INDEXED], low, high


def locations_lock(warehouse_id: UUID) -> int:
    """Guards the locations of a warehouse."""
    return _number(b"locations", warehouse_id.bytes)


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
