"""Where clients fetch fresh credentials: told where there is such a place, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward_catalog.application.ports.access import Vended
from lakeward_protocol.catalog.v1 import generic_tables_pb2, tables_pb2, views_pb2
from tests.support.catalog.house import a_house, context, tabular

PROPERTY = "client.refresh-credentials-endpoint"


async def test_a_table_comes_with_a_link_to_fresh_credentials_and_a_view_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()
    credential = {"s3.session-token": "x"}

    async def vend(*_: Any, **__: Any) -> Vended:
        return Vended(credential, credential, None, sign_remotely=False, refresh_property=PROPERTY)

    monkeypatch.setattr(house.access, "vend", vend)
    common: dict[str, Any] = {"context": context(base_uri="http://lake"), "warehouse_id": house.warehouse_id}
    table = (
        await house.tables.LoadTable(tables_pb2.LoadTableRequest(table=tabular("sales", "orders"), **common))
    ).table
    (entry,) = table.storage_credentials
    assert entry.config[PROPERTY] == (
        f"http://lake/catalog/v1/{house.warehouse_id}/namespaces/sales/tables/orders/credentials"
    )
    view = (await house.views.LoadView(views_pb2.LoadViewRequest(view=tabular("sales", "recent"), **common))).view
    assert PROPERTY not in str(view)


async def test_a_generic_tables_link_leads_to_its_own_route(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    await house.make_generic("sales", "image embeddings")
    credential = {"s3.session-token": "x"}

    async def vend(*_: Any, **__: Any) -> Vended:
        return Vended(credential, credential, None, sign_remotely=False, refresh_property=PROPERTY)

    monkeypatch.setattr(house.access, "vend", vend)
    named: dict[str, Any] = {
        "context": context(base_uri="http://lake"),
        "warehouse_id": house.warehouse_id,
        "table": tabular("sales", "image embeddings"),
    }
    link = (
        f"http://lake/lakekeeper/v1/{house.warehouse_id}/namespaces/sales/generic-tables/image%20embeddings/credentials"
    )
    loaded = (await house.generic_tables.LoadGenericTable(generic_tables_pb2.LoadGenericTableRequest(**named))).table
    assert [entry.config[PROPERTY] for entry in loaded.storage_credentials] == [link]
    alone = await house.generic_tables.LoadGenericTableCredentials(
        generic_tables_pb2.LoadGenericTableCredentialsRequest(**named)
    )
    assert [entry.config[PROPERTY] for entry in alone.storage_credentials] == [link]
