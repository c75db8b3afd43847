"""How clients of generic tables see each reason: as the Iceberg API says it, but for the words that this API has of its own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lakeward_gateway.dialects.iceberg.errors import COMMITTED
from lakeward_gateway.dialects.iceberg.errors import RENDERED as ICEBERG
from lakeward_gateway.errors import Renderer, Rendering, Renderings
from lakeward_servicekit.errors import Reason, ReasonValue

_KEPT: Final = frozenset({"schema", "statistics"})


def _too_large(metadata: Mapping[str, str]) -> Rendering:
    # as upstream has it: 413 is a body's that is too large to be read at all
    return Rendering(400 if metadata["what"] in _KEPT else 413, "PayloadTooLarge")


def _new_name(metadata: Mapping[str, str]) -> Rendering:
    return Rendering(400, "InvalidName" if metadata["name"] else "IdentifierNameEmpty")


def _conflict(metadata: Mapping[str, str]) -> Rendering:
    if metadata["requirement"] == "if-match":
        return Rendering(412, "PreconditionFailed")
    return Rendering(409, "ConcurrentUpdateError")


_OWN: Final[Mapping[ReasonValue, Rendering | Renderer]] = {
    Reason.REASON_CONCURRENT_CHANGE: Rendering(409, "ConcurrentUpdateError"),
    Reason.REASON_INVALID_TABULAR_NAME: Rendering(400, "InvalidName"),
    Reason.REASON_TOO_LARGE: _too_large,
}
RENDERED: Final[Renderings] = MappingProxyType({**ICEBERG, **_OWN})
CREATED: Final[Renderings] = MappingProxyType(
    {**RENDERED, Reason.REASON_TABULAR_EXISTS: Rendering(409, "GenericTableAlreadyExists")}
)
RENAMED: Final[Renderings] = MappingProxyType({**RENDERED, Reason.REASON_INVALID_TABULAR_NAME: _new_name})
UPDATED: Final[Renderings] = MappingProxyType({**COMMITTED, **_OWN, Reason.REASON_COMMIT_CONFLICT: _conflict})
