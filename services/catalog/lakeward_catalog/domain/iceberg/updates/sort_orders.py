"""Updates of the table's sort orders."""

from __future__ import annotations

from lakeward_catalog.domain.iceberg.documents import Int, Invalid
from lakeward_catalog.domain.iceberg.draft import Draft
from lakeward_catalog.domain.iceberg.numbers import next_id
from lakeward_catalog.domain.iceberg.sorting import UNSORTED_ID, SortOrder, check_order
from lakeward_catalog.domain.iceberg.updates.update import Update, applies


class AddSortOrder(Update, frozen=True):
    """Add a sort order; its own id is not used."""

    ACTION = "add-sort-order"
    sort_order: SortOrder


class SetDefaultSortOrder(Update, frozen=True):
    """Make a sort order the default; -1 is the one added last."""

    ACTION = "set-default-sort-order"
    sort_order_id: Int


@applies(AddSortOrder)
def add_sort_order(draft: Draft, update: AddSortOrder) -> None:
    """An order that sorts as an earlier one is that one; without fields it is 0, unsorted; else it must fit."""
    table = draft.table
    known = next((order for order in table.sort_orders if order.same_order(update.sort_order)), None)
    if known is not None:
        draft.last_order_id = known.order_id
        return
    used = [UNSORTED_ID, *(order.order_id for order in table.sort_orders)]
    order_id = next_id(used, what="sort order id") if update.sort_order.fields else UNSORTED_ID
    order = update.sort_order.rewritten(order_id=order_id)
    check_order(order, table.current_schema)
    draft.last_order_id = order_id
    draft.change(sort_orders=(*table.sort_orders, order))


@applies(SetDefaultSortOrder)
def set_default_sort_order(draft: Draft, update: SetDefaultSortOrder) -> None:
    """It must exist."""
    wanted = draft.resolve(update.sort_order_id, draft.last_order_id, what="sort order")
    if wanted not in [order.order_id for order in draft.table.sort_orders]:
        raise Invalid("sort-order-id", f"sort order {wanted} does not exist")
    if wanted != draft.table.default_sort_order_id:
        draft.change(default_sort_order_id=wanted)
