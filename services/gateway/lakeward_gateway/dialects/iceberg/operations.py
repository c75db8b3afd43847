"""Everything that the Iceberg API serves."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward_gateway.dialects.iceberg import config, namespaces, prefixless, signing, table_operations, views
from lakeward_gateway.operation import Operation
from lakeward_gateway.peers import Stubs


def iceberg_operations(stubs: Stubs, *, prefix_template: str, beside: Sequence[Operation] = ()) -> Sequence[Operation]:
    """The operations.

    Args:
        stubs: answer them.
        prefix_template: what clients are told to use as prefix: text around "{warehouse_id}".
        beside: operations of another dialect on the same warehouses, which clients are told of too.
    """
    advertised = (
        *namespaces.operations(stubs.namespaces),
        *table_operations.operations(stubs.tables, load=stubs.load_table),
        *views.operations(stubs.views),
    )
    return (
        *config.operations(stubs.warehouses, prefix_template=prefix_template, others=(*advertised, *beside)),
        *advertised,
        *signing.operations(stubs.signing),
        *prefixless.operations(advertised),
    )
