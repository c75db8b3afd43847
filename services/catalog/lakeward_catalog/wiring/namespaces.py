"""Namespaces."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.namespaces.creating import create_namespace
from lakeward_catalog.application.namespaces.dropping import drop_namespace
from lakeward_catalog.application.namespaces.properties import update_properties
from lakeward_catalog.application.namespaces.reading import get_namespace, list_namespaces
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.namespaces import NamespaceUseCases


def namespace_use_cases(parts: Parts) -> NamespaceUseCases:
    """Namespaces."""
    return NamespaceUseCases(
        list=partial(
            list_namespaces,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            namespaces=parts.namespaces,
            rules=parts.rules,
        ),
        create=partial(
            create_namespace,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            namespaces=parts.namespaces,
            changes=parts.changes,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
            ids=parts.ids,
            rules=parts.rules,
        ),
        get=partial(get_namespace, authorizer=parts.authorizer, namespaces=parts.namespaces),
        update_properties=partial(
            update_properties,
            authorizer=parts.authorizer,
            namespaces=parts.namespaces,
            changes=parts.changes,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
        ),
        drop=partial(
            drop_namespace,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            namespaces=parts.namespaces,
            documents=parts.documents,
            changes=parts.changes,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
            rules=parts.rules,
        ),
    )
