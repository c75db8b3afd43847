"""Taking a location for a tabular, inside the transaction that writes its row."""

from __future__ import annotations

from lakeward.catalog.application.ports import Change
from lakeward.catalog.domain.model import Incarnation, WarehouseId
from lakeward.catalog.domain.placement import Place
from lakeward.servicekit.errors import Reason, Refusal


async def take(change: Change, warehouse_id: WarehouseId, place: Place, *, but_not: Incarnation | None = None) -> None:
    """Make sure that nothing else is at, above or below a place, until the transaction ends.

    Args:
        change: the transaction.
        warehouse_id: whose locations.
        place: the place to take.
        but_not: the tabular that moves there.

    Raises:
        Refusal: LOCATION_TAKEN, LOCATION_BEING_PURGED.
    """
    await change.lock_locations(warehouse_id, exclusively=place.custom)
    other = await change.overlapping(warehouse_id, place.location, enclosed_too=place.custom, but_not=but_not)
    shown = str(place.location)
    if other is not None:
        # The other tabular stays unnamed: the caller may not be able to see it.
        raise Refusal(
            Reason.REASON_LOCATION_TAKEN,
            f"location {shown!r} is equal to, above or below that of another table or view; choose another",
            location=shown,
        )
    if await change.purge_pending(warehouse_id, place.location):
        raise Refusal(
            Reason.REASON_LOCATION_BEING_PURGED,
            f"files at {shown!r} are being removed; retry when that is done, or choose another location",
            location=shown,
        )
