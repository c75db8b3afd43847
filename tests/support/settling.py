"""What stands in for a service's word on who users are, where a test is not about who they are."""

from __future__ import annotations

from lakeward_protocol.common.v1.context_pb2 import RequestContext


async def as_it_came(context: RequestContext) -> RequestContext:
    """The context itself, for whomever it is."""
    return context
