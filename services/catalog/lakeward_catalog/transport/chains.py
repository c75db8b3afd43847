"""Chains of views through which something is read, from messages."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.transport.probing import looked_for
from lakeward_protocol.catalog.v1 import types_pb2
from lakeward_servicekit.errors import Reason, Refusal


def chain_of(
    referenced_by: Sequence[types_pb2.TabularIdent], caller: Caller, *, limit: int
) -> tuple[TabularIdent, ...]:
    """The views through which something is read; none where the caller's token is no trusted engine's.

    Raises:
        Refusal: REFERENCED_BY_TOO_DEEP, from anybody; NO_SUCH_VIEW, INVALID_NAMESPACE for a name that no view can have.
    """
    depth = len(referenced_by)
    if depth > limit:
        raise Refusal(
            Reason.REASON_REFERENCED_BY_TOO_DEEP,
            f"the chain of views has {depth} members; at most {limit} are taken",
            depth=str(depth),
            limit=str(limit),
        )
    if not caller.principal.engines:
        return ()
    return tuple(looked_for(Kind.VIEW, view) for view in referenced_by)
