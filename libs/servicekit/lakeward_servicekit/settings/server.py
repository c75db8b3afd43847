"""What several services are told of the server as a whole."""

from __future__ import annotations

from typing import Final, Literal

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Service
from lakeward_servicekit.settings.model import Settings, setting

_PROJECTS: Final = (Service.AUTHZ, Service.CATALOG, Service.VENDING)


class ServerSettings(Settings):
    """The server as a whole."""

    enable_default_project: bool = setting(
        "ENABLE_DEFAULT_PROJECT",
        kinds.BOOLEAN,
        "true",
        "Whether a request that names no project means the default one.",
        services=_PROJECTS,
    )
    default_project_id: str = setting(
        "DEFAULT_PROJECT_ID",
        kinds.matching(r"[A-Za-z0-9_-]{1,64}", "a project id of 1 to 64 letters, digits, '-' and '_', such as a UUID"),
        "00000000-0000-0000-0000-000000000000",
        "Id of the default project.",
        services=_PROJECTS,
    )
    maintenance_mode: Literal["off", "read-only"] = setting(
        "MAINTENANCE_MODE",
        kinds.word("off", "read-only", spellings={"readonly": "read-only"}),
        "off",
        "read-only refuses every change and stops the background work.",
    )
