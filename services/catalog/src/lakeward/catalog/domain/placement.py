"""Where namespaces and tabulars lie below a warehouse, and where they may lie when a caller says so."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward.catalog.domain.model import Namespace, Storage
from lakeward.locations.layout import UUID_MARK, Layout, Named
from lakeward.locations.location import Location, LocationError
from lakeward.servicekit.errors import Reason, Refusal

_parse_location: Final = functools.lru_cache(maxsize=4096)(Location.parse)


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where a new tabular is to lie.

    Attributes:
        custom: something may lie inside already, or come to lie around it: other tabulars are looked for both ways. False where
            the last segment holds the tabular's own fresh UUID.
    """

    location: Location
    custom: bool


@functools.lru_cache(maxsize=1024)
def layout_of(document: bytes) -> Layout:
    """A warehouse's storage layout from its stored JSON."""
    return Layout.parse(json.loads(document) if document else None)


def base_of(storage: Storage) -> Location:
    """Where a warehouse lies."""
    return _parse_location(storage.base_location)


def placed_at(storage: Storage, text: str) -> Location:
    """A location that a caller chose for a namespace or tabular of this warehouse.

    Raises:
        Refusal: MALFORMED_LOCATION; LOCATION_NOT_ALLOWED where it is not strictly inside the warehouse, or by another scheme.
    """
    try:
        location = Location.parse(text)
    except LocationError as error:
        raise Refusal(Reason.REASON_MALFORMED_LOCATION, str(error), location=error.location) from None
    base = base_of(storage)
    if location.scheme not in storage.schemes or not base.strictly_contains(location):
        shown = text[:300]
        raise Refusal(
            Reason.REASON_LOCATION_NOT_ALLOWED,
            f"location {shown!r} is not inside its warehouse; it must lie below {base}/ "
            f"and start with {' or '.join(f'{scheme}://' for scheme in storage.schemes)}",
            location=shown,
        )
    return location


def namespace_place(storage: Storage, path: Sequence[Named]) -> Location:
    """Where a new namespace lies by the warehouse's layout; `path` is it and what it is nested in, outermost first.

    Raises:
        Refusal: LOCATION_NOT_ALLOWED where the names make the location too long.
    """
    try:
        return layout_of(storage.layout).namespace_location(base_of(storage), path)
    except LocationError as error:
        raise _too_long(error) from None


def names_namespaces(storage: Storage) -> bool:
    """Whether a namespace's location depends on what it is nested in."""
    return layout_of(storage.layout).namespace is not None


def tabular_place(storage: Storage, namespace: Namespace, *, name: str, uuid: UUID, asked: str | None) -> Place:
    """Where a new tabular lies.

    Args:
        storage: the warehouse's.
        namespace: the one it is made in.
        name: its name.
        uuid: its fresh public id.
        asked: the location that the caller chose; None: by the warehouse's layout.

    Raises:
        Refusal: MALFORMED_LOCATION, LOCATION_NOT_ALLOWED.
    """
    if asked is not None:
        return Place(placed_at(storage, asked), custom=True)
    layout = layout_of(storage.layout)
    try:
        location = layout.tabular_location(_parse_location(namespace.location), Named(name, uuid))
    except LocationError as error:
        raise _too_long(error) from None
    return Place(location, custom=UUID_MARK not in layout.tabular)


def _too_long(error: LocationError) -> Refusal:
    return Refusal(
        Reason.REASON_LOCATION_NOT_ALLOWED,
        f"the storage layout would place it at {error.location!r}, which can't be: {error.fault}; give a shorter name or a location",
        location=error.location,
    )
