"""Methods on tabulars of any kind, and on names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lakeward_catalog.domain.model import Kind
from lakeward_protocol.catalog.v1 import (
    names_pb2,
    tabulars_pb2,
    types_pb2,
)
from lakeward_servicekit.authorization.actions import Action
from tests.support.catalog.expectations.case import GENERIC_TABLE, NAMESPACE, TABLE, VIEW, WAREHOUSE, Case
from tests.support.catalog.expectations.grounds import dropped_generic_table, dropped_table
from tests.support.catalog.house import (
    House,
    tabular_ref,
)


def _undrop(house: House, kind: Kind, name: str) -> tabulars_pb2.UndropTabularsRequest:
    return tabulars_pb2.UndropTabularsRequest(
        warehouse_id=house.warehouse_id, tabulars=[tabular_ref(kind, house.tabular(name).tabular_id)]
    )


TABULAR_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListDeletedTabulars": (
        Case(
            lambda house: tabulars_pb2.ListDeletedTabularsRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
        ),
        Case(
            lambda house: tabulars_pb2.ListDeletedTabularsRequest(
                warehouse_id=house.warehouse_id, namespace_id=str(house.namespace("sales").namespace_id)
            ),
            NAMESPACE,
        ),
    ),
    "SearchTabulars": (
        Case(
            lambda house: tabulars_pb2.SearchTabularsRequest(warehouse_id=house.warehouse_id, search="orders"),
            WAREHOUSE,
        ),
    ),
    "UndropTabulars": (
        Case(
            lambda house: _undrop(house, Kind.TABLE, "orders"),
            TABLE,
            needs=frozenset({Action.TABLE_UNDROP}),
            prepare=dropped_table,
        ),
        Case(
            lambda house: _undrop(house, Kind.VIEW, "recent"),
            VIEW,
            needs=frozenset({Action.VIEW_UNDROP}),
            prepare=dropped_table,
        ),
        Case(
            lambda house: _undrop(house, Kind.GENERIC_TABLE, "vectors"),
            GENERIC_TABLE,
            needs=frozenset({Action.GENERIC_TABLE_UNDROP}),
            prepare=dropped_generic_table,
        ),
    ),
}

NAME_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "FindByName": (
        Case(
            lambda house: names_pb2.FindByNameRequest(
                names=[
                    names_pb2.NamedObject(
                        warehouse_id=house.warehouse_id, namespace=types_pb2.NamespaceIdent(parts=["sales"])
                    )
                ]
            ),
            {},
        ),
    ),
}
