"""Warehouses and their storage."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.config import get_config
from lakeward_catalog.application.warehouses.changing import delete_warehouse, rename_warehouse, set_serving
from lakeward_catalog.application.warehouses.creating import create_warehouse
from lakeward_catalog.application.warehouses.places import Places
from lakeward_catalog.application.warehouses.reading import get_warehouse, list_warehouses
from lakeward_catalog.application.warehouses.storage import update_storage, update_storage_credential
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.warehouses import WarehouseUseCases


def warehouse_use_cases(parts: Parts) -> WarehouseUseCases:
    """Warehouses and their storage."""
    places = Places(
        judge=parts.storage,
        servers=parts.servers,
        warehouses=parts.warehouses,
        authorizer=parts.authorizer,
        clock=parts.clock,
    )
    return WarehouseUseCases(
        get_config=partial(
            get_config,
            registrar=parts.registrar,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            rules=parts.rules,
        ),
        create=partial(
            create_warehouse,
            authorizer=parts.authorizer,
            servers=parts.servers,
            warehouses=parts.warehouses,
            changes=parts.changes,
            judge=parts.storage,
            places=places,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
            ids=parts.ids,
            rules=parts.rules,
        ),
        list=partial(
            list_warehouses,
            authorizer=parts.authorizer,
            servers=parts.servers,
            warehouses=parts.warehouses,
            rules=parts.rules,
        ),
        get=partial(get_warehouse, authorizer=parts.authorizer, warehouses=parts.warehouses),
        rename=partial(
            rename_warehouse,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            changes=parts.changes,
            announcer=parts.announcer,
            clock=parts.clock,
        ),
        set_serving=partial(
            set_serving,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            changes=parts.changes,
            announcer=parts.announcer,
            clock=parts.clock,
        ),
        delete=partial(
            delete_warehouse,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            changes=parts.changes,
            judge=parts.storage,
            places=places,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
        ),
        update_storage=partial(
            update_storage,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            changes=parts.changes,
            judge=parts.storage,
            places=places,
            announcer=parts.announcer,
            clock=parts.clock,
        ),
        update_storage_credential=partial(
            update_storage_credential,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            changes=parts.changes,
            judge=parts.storage,
            places=places,
            announcer=parts.announcer,
            clock=parts.clock,
        ),
    )
