"""How management clients see each reason. The envelope and most words are those of the Iceberg API, as upstream has them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from lakeward_gateway.dialects.iceberg.errors import RENDERED as ICEBERG
from lakeward_gateway.errors import Rendering, Renderings
from lakeward_servicekit.errors import Reason

RENDERED: Final[Renderings] = MappingProxyType(
    {
        **ICEBERG,
        Reason.REASON_UNSUPPORTED: Rendering(501, "NotImplemented"),
        Reason.REASON_CONCURRENT_CHANGE: Rendering(409, "ConcurrentUpdateError"),
        Reason.REASON_PREFIX_MISSING: Rendering(400, "BadRequestException"),
    }
)

# Where a role is named by its id alone, in whatever project it is.
BY_ROLE_ID: Final[Renderings] = MappingProxyType(
    {**RENDERED, Reason.REASON_NO_SUCH_ROLE: Rendering(404, "RoleIdNotFound")}
)
