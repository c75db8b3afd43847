"""The installation."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.projects import get_project
from lakeward_catalog.application.server import bootstrap, get_server
from lakeward_catalog.roles import Roles
from lakeward_catalog.transport.server import ServerUseCases


def server_use_cases(roles: Roles) -> ServerUseCases:
    """The installation."""
    return ServerUseCases(
        get_server=partial(get_server, servers=roles.servers),
        bootstrap=partial(
            bootstrap,
            registrar=roles.registrar,
            servers=roles.servers,
            changes=roles.changes,
            announcer=roles.announcer,
            clock=roles.clock,
            rules=roles.rules,
        ),
        get_project=partial(get_project, authorizer=roles.authorizer, servers=roles.servers, rules=roles.rules),
    )
