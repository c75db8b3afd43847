"""Where a tabular lies: chosen from the request or the layout, and held against everything else that is there."""

from __future__ import annotations

import dataclasses
import json
from typing import Final
from uuid import UUID

from lakeward_catalog.application.changes import Change
from lakeward_catalog.domain.model import Incarnation, Namespace, Warehouse, WarehouseId
from lakeward_locations import Layout, Location, LocationError, Named, pattern_mark
from lakeward_locations.layout import UUID_MARK
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.remembering import remembered

# Where vending marks warehouses' places in the stores themselves: purged with a tabular, they would guard nothing.
_RESERVED: Final = frozenset({".lakeward-warehouse", ".lakeward-warehouses"})
_base = remembered(entries=1024, longest=2048)(Location.parse)


@remembered(entries=256, longest=4096)
def _layout(document: bytes) -> Layout:
    return Layout.parse(json.loads(document))


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A location for a new tabular.

    Attributes:
        custom: it may lie over or under others; a place with a fresh UUID in it can only lie under a custom one.
    """

    location: Location
    custom: bool


def parse_location(text: str) -> Location:
    """A location from a caller.

    Raises:
        Refusal: MALFORMED_LOCATION.
    """
    try:
        return Location.parse(text)
    except LocationError as error:
        shown = text[:500]
        raise Refusal(Reason.REASON_MALFORMED_LOCATION, str(error)[:1000], location=shown) from None


def check_inside(warehouse: Warehouse, location: Location) -> None:
    """Whether a location is strictly inside the warehouse, in a scheme that it allows.

    Raises:
        Refusal: LOCATION_NOT_ALLOWED.
    """
    if any(segment.casefold() in _RESERVED for segment in location.segments):
        raise Refusal(
            Reason.REASON_LOCATION_NOT_ALLOWED,
            f"location {location} is where Lakeward marks whose places are; choose another",
            location=str(location),
        )
    base = base_of(warehouse)
    if location.scheme in warehouse.storage.schemes and base.strictly_contains(location):
        return
    schemes = " or ".join(f"{scheme}://" for scheme in warehouse.storage.schemes)
    raise Refusal(
        Reason.REASON_LOCATION_NOT_ALLOWED,
        f"location {location} is not inside this warehouse; it must lie below {base.directory} (by {schemes})",
        location=str(location),
    )


def check_place(warehouse: Warehouse, location: Location) -> None:
    """Whether files of a new tabular or namespace may lie at a location.

    Raises:
        Refusal: LOCATION_NOT_ALLOWED.
    """
    check_inside(warehouse, location)
    mark = pattern_mark(location.path)
    if mark is not None:
        raise Refusal(
            Reason.REASON_LOCATION_NOT_ALLOWED,
            f"location {location} holds {mark!r}, which policies of stores read as a pattern or a variable, so that no credential"
            " can be confined to it; choose one without '*', '?' and '${'",
            location=str(location),
        )


def base_of(warehouse: Warehouse) -> Location:
    """The warehouse's base location."""
    return _base(warehouse.storage.base_location)


def layout_of(warehouse: Warehouse) -> Layout:
    """The warehouse's storage layout."""
    layout: Layout = _layout(warehouse.storage.layout)
    return layout


def choose_place(warehouse: Warehouse, namespace: Namespace, requested: str | None, *, name: str, uuid: UUID) -> Place:
    """Where a new tabular is to lie.

    Args:
        warehouse: which it is in.
        namespace: which it is in; its location is the parent of places that the layout gives.
        requested: a location from the caller.
        name: the tabular's.
        uuid: the tabular's.

    Raises:
        Refusal: MALFORMED_LOCATION, LOCATION_NOT_ALLOWED.
    """
    if requested is not None:
        place = Place(parse_location(requested), custom=True)
    else:
        layout = layout_of(warehouse)
        try:
            location = layout.tabular_location(_base(namespace.location), Named(name, uuid))
        except LocationError as error:
            raise Refusal(
                Reason.REASON_MALFORMED_LOCATION, str(error)[:1000], location=f"{namespace.location}{name}"[:500]
            ) from None
        place = Place(location, custom=UUID_MARK not in layout.tabular)
    check_place(warehouse, place.location)
    return place


async def reserve(
    change: Change, warehouse_id: WarehouseId, place: Place, *, instead_of: Incarnation | None = None
) -> None:
    """Hold a place for the tabular that the transaction inserts.

    Raises:
        Refusal: LOCATION_TAKEN, LOCATION_BEING_PURGED.
    """
    await change.locations.lock(warehouse_id, exclusively=place.custom)
    taken = await change.locations.overlapping(
        warehouse_id, place.location, enclosed_too=place.custom, but_not=instead_of
    )
    if taken is not None:
        raise location_taken(place.location)
    if place.custom and await change.locations.purge_pending(warehouse_id, place.location):
        raise being_purged(place.location)


def location_taken(location: Location) -> Refusal:
    """The refusal of a place that overlaps another tabular's; it does not say whose, since the caller may not see it."""
    return Refusal(
        Reason.REASON_LOCATION_TAKEN,
        f"location {location} is, contains or lies inside another table's or view's; choose another",
        location=str(location),
    )


def being_purged(location: Location) -> Refusal:
    """The refusal of a place whose files wait to be deleted."""
    return Refusal(
        Reason.REASON_LOCATION_BEING_PURGED,
        f"files at {location} wait to be purged; retry when that is done, or choose another location",
        location=str(location),
    )


def not_empty(location: Location) -> Refusal:
    """The refusal of a place where files are."""
    return Refusal(
        Reason.REASON_LOCATION_NOT_EMPTY,
        f"location {location} is not empty; choose another, or register the table that is there",
        location=str(location),
    )
