"""Who calls authz for a user, settled from a request's context.

The host settles it before a method runs, and hands the method the caller.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from uuid import UUID

from lakeward_authz.application.caller import Caller
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.acting import act_for

if TYPE_CHECKING:
    from lakeward_authz.application.identifying import Authenticate
    from lakeward_protocol.common.v1.context_pb2 import RequestContext

_PROJECT: Final = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
_SHOWN: Final = 128


async def caller_of(context: RequestContext, *, authenticate: Authenticate, default_project: str | None) -> Caller:
    """The caller of a request.

    Args:
        context: the request's.
        authenticate: says whose tokens are whose, and who holds which role.
        default_project: for requests that name none; None where there is none.

    Raises:
        Refusal: MALFORMED_PROJECT_ID, IDEMPOTENCY_KEY_INVALID, and what `Authenticate` raises.
    """
    key = idempotency_key_of(context.idempotency_key) if context.idempotency_key else None
    project = project_id_of(context.project_id) if context.project_id else default_project
    identified = await authenticate(context.authorization, assumed_role=context.assumed_role)
    act_for(identified.principal)
    return Caller(principal=identified.principal, profile=identified.profile, project=project, idempotency_key=key)


def project_id_of(text: str) -> str:
    """A project's id from a caller.

    Raises:
        Refusal: MALFORMED_PROJECT_ID.
    """
    if _PROJECT.match(text) is None:
        shown = text[:_SHOWN]
        raise Refusal(
            Reason.REASON_MALFORMED_PROJECT_ID,
            f"project id {shown!r} can't be one; it is made of 1 to 128 letters, digits, '-' and '_'",
            project=shown,
        )
    return text


def idempotency_key_of(text: str) -> UUID:
    """An idempotency key from a caller.

    Raises:
        Refusal: IDEMPOTENCY_KEY_INVALID.
    """
    try:
        return UUID(text)
    except ValueError:
        shown = text[:_SHOWN]
        raise Refusal(
            Reason.REASON_IDEMPOTENCY_KEY_INVALID,
            f"idempotency key {shown!r} is not a UUID; send a version 7 one",
            key=shown,
        ) from None
