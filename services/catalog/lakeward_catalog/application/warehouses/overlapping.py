"""Whether a warehouse's storage lies over or under another's.

Warehouses of all projects are compared, since files don't know projects: two warehouses at one place could purge each other.
"""

from __future__ import annotations

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change
from lakeward_catalog.application.placing import base_of
from lakeward_catalog.application.refs import warehouse_ref
from lakeward_catalog.domain.model import ProjectId, Storage, Warehouse, WarehouseId
from lakeward_locations.location import Location
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer, Demand, Outcome
from lakeward_servicekit.errors import Reason, Refusal


async def overlapped(
    change: Change, storage: Storage, *, folded: bool, but_not: WarehouseId | None = None
) -> Warehouse | None:
    """A warehouse whose storage overlaps this; nobody can make one until the transaction ends.

    Args:
        change: the transaction.
        storage: what it is about; `place` is one store, so what is known of its case goes for the others there.
        folded: whether places that differ by case alone count as one. Before the storage is proved, that is not known.
        but_not: the warehouse itself.
    """
    await change.warehouses.lock_place(storage.place)
    base = Location.parse(storage.base_location)
    for other in await change.warehouses.at(storage.place):
        if other.warehouse_id != but_not and base_of(other).overlaps(base, folded=folded):
            return other
    return None


async def overlap(
    other: Warehouse, *, project_id: ProjectId, caller: Caller, authorizer: Authorizer, mark: str | None = None
) -> Refusal:
    """The refusal of storage that overlaps another warehouse's; it names only one that the caller sees in its project.

    `mark` is the object in the store that says so, where that is how it is known: a warehouse that moved away while its old store
    was unreachable has left it there, and somebody may know.
    """
    named = "one that you can't see"
    if other.project_id == project_id:
        demand = Demand(warehouse_ref(other), Action.WAREHOUSE_USE)
        if (await authorizer.decide(caller.principal, [demand]))[0] is Outcome.ALLOWED:
            named = other.name
    by = "" if mark is None else f", whose mark is {mark}"
    return Refusal(
        Reason.REASON_STORAGE_OVERLAP,
        f"the storage overlaps that of another warehouse ({named}){by}; choose another bucket or key prefix",
        other=named,
    )
