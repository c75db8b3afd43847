"""Methods on views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lakeward_protocol.catalog.v1 import (
    views_pb2,
)
from tests.support.catalog.expectations.case import NAMESPACE, VIEW, Case
from tests.support.catalog.expectations.grounds import SETS_PROPERTIES, archive
from tests.support.catalog.house import (
    ident,
    tabular,
    view_body,
)

VIEW_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListViews": (
        Case(
            lambda house: views_pb2.ListViewsRequest(warehouse_id=house.warehouse_id, namespace=ident("sales")),
            NAMESPACE,
        ),
    ),
    "CreateView": (
        Case(
            lambda house: views_pb2.CreateViewRequest(
                warehouse_id=house.warehouse_id, namespace=ident("sales"), body=view_body("new")
            ),
            NAMESPACE,
        ),
    ),
    "LoadView": (
        Case(
            lambda house: views_pb2.LoadViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent")),
            VIEW,
        ),
    ),
    "ViewExists": (
        Case(
            lambda house: views_pb2.ViewExistsRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent")),
            VIEW,
        ),
    ),
    "CommitView": (
        Case(
            lambda house: views_pb2.CommitViewRequest(
                warehouse_id=house.warehouse_id, view=tabular("sales", "recent"), body=SETS_PROPERTIES
            ),
            VIEW,
        ),
    ),
    "GetViewProtection": (
        Case(
            lambda house: views_pb2.GetViewProtectionRequest(
                warehouse_id=house.warehouse_id, tabular_id=str(house.tabular("recent").tabular_id)
            ),
            VIEW,
        ),
    ),
    "SetViewProtection": (
        Case(
            lambda house: views_pb2.SetViewProtectionRequest(
                warehouse_id=house.warehouse_id, tabular_id=str(house.tabular("recent").tabular_id), protected=True
            ),
            VIEW,
        ),
    ),
    "DropView": (
        Case(
            lambda house: views_pb2.DropViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent")),
            VIEW,
        ),
    ),
    "RenameView": (
        Case(
            lambda house: views_pb2.RenameViewRequest(
                warehouse_id=house.warehouse_id,
                source=tabular("sales", "recent"),
                destination=tabular("archive", "recent"),
            ),
            {**NAMESPACE, **VIEW},
            target=("archive",),
            prepare=archive,
        ),
    ),
}
