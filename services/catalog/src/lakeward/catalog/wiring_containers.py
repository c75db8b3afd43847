"""Use cases of the server, warehouses and namespaces with their roles filled."""

from __future__ import annotations

from functools import partial

from lakeward.catalog.application.config import get_config
from lakeward.catalog.application.namespaces.creating import create_namespace
from lakeward.catalog.application.namespaces.dropping import drop_namespace
from lakeward.catalog.application.namespaces.properties import update_properties
from lakeward.catalog.application.namespaces.reading import get_namespace, list_namespaces
from lakeward.catalog.application.projects import get_project
from lakeward.catalog.application.server import Facts, bootstrap, get_server
from lakeward.catalog.application.warehouses.changing import delete_warehouse, rename_warehouse, set_serving
from lakeward.catalog.application.warehouses.creating import create_warehouse
from lakeward.catalog.application.warehouses.reading import get_warehouse, list_warehouses
from lakeward.catalog.application.warehouses.storage import update_storage, update_storage_credential
from lakeward.catalog.roles import Roles
from lakeward.catalog.transport.namespaces import NamespaceServicer, NamespaceUseCases
from lakeward.catalog.transport.server import ServerServicer, ServerUseCases
from lakeward.catalog.transport.warehouses import WarehouseServicer, WarehouseUseCases


def server_servicer(roles: Roles, facts: Facts) -> ServerServicer:
    """The installation itself."""
    use_cases = ServerUseCases(
        get_server=partial(get_server, servers=roles.servers),
        bootstrap=partial(
            bootstrap,
            identity=roles.identity,
            servers=roles.servers,
            changes=roles.changes,
            announcer=roles.announcer,
            clock=roles.clock,
            rules=roles.rules,
        ),
        get_project=partial(get_project, authorizer=roles.authorizer, servers=roles.servers, rules=roles.rules),
    )
    return ServerServicer(roles.identity, use_cases, facts=facts, default_project=roles.rules.default_project)


def warehouse_servicer(roles: Roles) -> WarehouseServicer:
    """Warehouses and their storage."""
    use_cases = WarehouseUseCases(
        get_config=partial(
            get_config,
            identity=roles.identity,
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
            announcer=roles.announcer,
            clock=roles.clock,
        ),
        update_storage_credential=partial(
            update_storage_credential,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            changes=roles.changes,
            judge=roles.storage,
            announcer=roles.announcer,
            clock=roles.clock,
        ),
    )
    return WarehouseServicer(roles.identity, use_cases)


def namespace_servicer(roles: Roles) -> NamespaceServicer:
    """Namespaces of a warehouse."""
    use_cases = NamespaceUseCases(
        list=partial(
            list_namespaces,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            namespaces=roles.namespaces,
            rules=roles.rules,
        ),
        create=partial(
            create_namespace,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            namespaces=roles.namespaces,
            changes=roles.changes,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
            ids=roles.ids,
            rules=roles.rules,
        ),
        get=partial(get_namespace, authorizer=roles.authorizer, namespaces=roles.namespaces),
        update_properties=partial(
            update_properties,
            authorizer=roles.authorizer,
            namespaces=roles.namespaces,
            changes=roles.changes,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
        ),
        drop=partial(
            drop_namespace,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            namespaces=roles.namespaces,
            changes=roles.changes,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
            rules=roles.rules,
        ),
    )
    return NamespaceServicer(roles.identity, use_cases)
