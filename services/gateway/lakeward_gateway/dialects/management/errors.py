"""How management clients see each reason. The envelope and most words are those of the Iceberg API, as upstream has them."""

from __future__ import annotations

from collections.abc import Mapping
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
# Where tasks are scheduled, upstream has a queue that is not there as absent.
SCHEDULED: Final[Renderings] = MappingProxyType(
    {**RENDERED, Reason.REASON_NO_SUCH_QUEUE: Rendering(404, "QueueNotFound")}
)


def _query(metadata: Mapping[str, str]) -> Rendering:
    cause = metadata["cause"]
    return Rendering(400, "InvalidGetAccessQuery" if cause == "AmbiguousGrantPrincipal" else cause)


# What somebody may do: about another, only who may read grants may ask.
INSPECTED: Final[Renderings] = MappingProxyType(
    {
        **RENDERED,
        Reason.REASON_FORBIDDEN: Rendering(403, "CannotInspectPermissions"),
        Reason.REASON_PERMISSIONS_INVALID: _query,
    }
)
# A role that is looked for in one project.
IN_PROJECT: Final[Renderings] = MappingProxyType(
    {**RENDERED, Reason.REASON_NO_SUCH_ROLE: Rendering(404, "RoleNotFoundInProject")}
)
APPLIED: Final[Renderings] = MappingProxyType(
    {**RENDERED, Reason.REASON_FORBIDDEN: Rendering(403, "GrantActionForbidden")}
)
