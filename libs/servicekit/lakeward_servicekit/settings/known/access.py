"""Names of authentication that have no effect yet."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Service, Setting, Support

SETTINGS: Final = (
    Setting(
        "INSECURE_ALLOW_UNAUTHENTICATED",
        kinds.BOOLEAN,
        "false",
        "Whether endpoints may be open; here they are while no provider is set, with a warning.",
        support=Support.COMMERCIAL,
        services=frozenset({Service.AUTHZ}),
    ),
)
