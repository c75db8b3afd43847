"""Namespaces."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.namespaces.creating import create_namespace
from lakeward_catalog.application.namespaces.dropping import drop_namespace
from lakeward_catalog.application.namespaces.properties import update_properties
from lakeward_catalog.application.namespaces.reading import get_namespace, list_namespaces
from lakeward_catalog.roles import Roles
from lakeward_catalog.transport.namespaces import NamespaceUseCases


def namespace_use_cases(roles: Roles) -> NamespaceUseCases:
    """Namespaces."""
    return NamespaceUseCases(
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
            documents=roles.documents,
            changes=roles.changes,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
            rules=roles.rules,
        ),
    )
