"""The installation."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.projects import get_project
from lakeward_catalog.application.server import bootstrap, get_server
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.server import ServerUseCases


def server_use_cases(parts: Parts) -> ServerUseCases:
    """The installation."""
    return ServerUseCases(
        get_server=partial(get_server, servers=parts.servers),
        bootstrap=partial(
            bootstrap,
            registrar=parts.registrar,
            servers=parts.servers,
            changes=parts.changes,
            announcer=parts.announcer,
            clock=parts.clock,
            rules=parts.rules,
        ),
        get_project=partial(get_project, authorizer=parts.authorizer, servers=parts.servers, rules=parts.rules),
    )
