"""Who calls the catalog, settled from a request's context.

The host settles it before a method runs, and hands the method the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward_catalog.application.caller import Caller, Delegation, parse_project_id
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.identity import Identity
from lakeward_servicekit.authorization.registrar import Presented
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.telemetry import current

MAX_USER_AGENT_BYTES: Final = 256
_NONE: Final[frozenset[Delegation]] = frozenset()
_ALONE: Final = {int(each): frozenset({each}) for each in Delegation}


async def caller_of(context: RequestContext, *, identity: Identity) -> Caller:
    """The caller of a request.

    Raises:
        Refusal: MALFORMED_PROJECT_ID, IDEMPOTENCY_KEY_INVALID, and what `Identity.authenticate` raises.
    """
    key, project = context.idempotency_key, context.project_id
    idempotency_key = _idempotency_key(key) if key else None
    named = parse_project_id(project) if project else None
    return Caller(
        principal=(await identity.authenticate(context)).principal,
        request_id=context.request_id or _bound_request_id(),
        project=named,
        base_uri=context.base_uri,
        delegation=_delegation(context.delegation),
        idempotency_key=idempotency_key,
        user_agent=_user_agent(context.user_agent),
    )


def presented(context: RequestContext) -> Presented:
    """What a request presents to have its caller recorded."""
    return Presented(context.authorization, context.request_id, context.traceparent)


def _user_agent(text: str) -> str:
    if len(text) <= MAX_USER_AGENT_BYTES and text.isascii():
        return text
    return text.encode()[:MAX_USER_AGENT_BYTES].decode(errors="ignore")


def _delegation(accepted: Sequence[int]) -> frozenset[Delegation]:
    """What the client accepts, which mostly is one: a set of that is there."""
    if not accepted:
        return _NONE
    alone = _ALONE.get(accepted[0]) if len(accepted) == 1 else None
    return alone or frozenset(map(Delegation, filter(None, accepted)))


def _bound_request_id() -> str:
    """The id that the pipeline made for a call that came without one."""
    correlation = current()
    return "" if correlation is None else correlation.request_id


def _idempotency_key(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        shown = text[:100]
        raise Refusal(
            Reason.REASON_IDEMPOTENCY_KEY_INVALID,
            f"idempotency key {shown!r} is not a UUID; send a version 7 one",
            key=shown,
        ) from None
