"""Projects."""

from __future__ import annotations

from lakeward_catalog.application.access import open_project
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports import Rules, ServerStore
from lakeward_catalog.domain.model import Project
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer


async def get_project(*, caller: Caller, authorizer: Authorizer, servers: ServerStore, rules: Rules) -> Project:
    """The project that the call names, else the default project.

    Raises:
        Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN.
    """
    return await open_project(
        Action.PROJECT_GET_METADATA, caller=caller, rules=rules, authorizer=authorizer, servers=servers
    )
