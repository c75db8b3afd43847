"""Who calls vending, settled from a request's context.

The host settles it before a method runs, and hands the method the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward_servicekit.events.acting import act_for
from lakeward_vending.application.caller import Caller
from lakeward_vending.transport import decode

if TYPE_CHECKING:
    from lakeward_protocol.common.v1.context_pb2 import RequestContext
    from lakeward_servicekit.authorization.identity import Identity


async def caller_of(context: RequestContext, *, identity: Identity, default_project: str | None) -> Caller:
    """The caller of a request.

    Args:
        context: the request's.
        identity: knows whose tokens are whose.
        default_project: for requests that name none; None where there is none.

    Raises:
        Refusal: what `decode.project` and `Identity.authenticate` raise.
    """
    project = decode.project(context.project_id) if context.project_id else default_project
    principal = (await identity.authenticate(context)).principal
    act_for(principal)
    return Caller(principal, project)
