"""Warehouses and their storage."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.config import get_config
from lakeward_catalog.application.warehouses.changing import delete_warehouse, rename_warehouse, set_serving
from lakeward_catalog.application.warehouses.creating import create_warehouse
from lakeward_catalog.application.warehouses.places import Places
from lakeward_catalog.application.warehouses.reading import get_warehouse, list_warehouses
from lakeward_catalog.application.warehouses.storage import update_storage, update_storage_credential
from lakeward_catalog.roles import Roles
from lakeward_catalog.transport.warehouses import WarehouseUseCases


def warehouse_use_cases(roles: Roles) -> WarehouseUseCases:
    """Warehouses and their storage."""
    places = Places(
        judge=roles.storage,
        servers=roles.servers,
        warehouses=roles.warehouses,
        authorizer=roles.authorizer,
        clock=roles.clock,
    )
    return WarehouseUseCases(
        get_config=partial(
            get_config,
            registrar=roles.registrar,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            rules=roles.rules,
        ),
        create=partial(
            create_warehouse,
            authorizer=roles.authorizer,
            servers=roles.servers,
            warehouses=roles.warehouses,
            changes=roles.changes,
            judge=roles.storage,
            places=places,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
            ids=roles.ids,
            rules=roles.rules,
        ),
        list=partial(
            list_warehouses,
            authorizer=roles.authorizer,
            servers=roles.servers,
            warehouses=roles.warehouses,
            rules=roles.rules,
        ),
        get=partial(get_warehouse, authorizer=roles.authorizer, warehouses=roles.warehouses),
        rename=partial(
            rename_warehouse,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            changes=roles.changes,
            announcer=roles.announcer,
            clock=roles.clock,
        ),
        set_serving=partial(
            set_serving,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            changes=roles.changes,
            announcer=roles.announcer,
            clock=roles.clock,
        ),
        delete=partial(
            delete_warehouse,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            changes=roles.changes,
            judge=roles.storage,
            places=places,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
        ),
        update_storage=partial(
            update_storage,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            changes=roles.changes,
            judge=roles.storage,
            places=places,
            announcer=roles.announcer,
            clock=roles.clock,
        ),
        update_storage_credential=partial(
            update_storage_credential,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            changes=roles.changes,
            judge=roles.storage,
            places=places,
            announcer=roles.announcer,
            clock=roles.clock,
        ),
    )
