"""Who calls, and what is known of a call beside what it asks for."""

from __future__ import annotations

import dataclasses
import enum
import re
from typing import Final
from uuid import UUID

from lakeward_catalog.domain.events import Actor
from lakeward_catalog.domain.model import ProjectId
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.authorization.identity import Identity
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.telemetry import current

MAX_USER_AGENT_BYTES: Final = 256
_PROJECT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")


class Delegation(enum.IntEnum):
    """How a client accepts to reach the object store; the numbers are the contract's."""

    VENDED_CREDENTIALS = context_pb2.DELEGATION_VENDED_CREDENTIALS
    REMOTE_SIGNING = context_pb2.DELEGATION_REMOTE_SIGNING
    CLIENT_MANAGED = context_pb2.DELEGATION_CLIENT_MANAGED


@dataclasses.dataclass(frozen=True, slots=True)
class Caller:
    """One call's caller.

    Attributes:
        principal: whom rights are asked for.
        actor: the same, as events say it.
        request_id: the call's; the trace-id of the events of its change.
        project: the project that the call names; None where it names none.
        base_uri: the outside base of links, without a trailing slash; "" where it is not known, and then links are left out.
        delegation: what the client accepts, in no order; empty: the server chooses.
        idempotency_key: None where the call has none.
        user_agent: at most 256 bytes.
    """

    principal: Principal
    actor: Actor
    request_id: str
    project: ProjectId | None = None
    base_uri: str = ""
    delegation: frozenset[Delegation] = frozenset()
    idempotency_key: UUID | None = None
    user_agent: str = ""


async def authenticate(context: context_pb2.RequestContext, identity: Identity) -> Caller:
    """The caller of a request.

    Raises:
        Refusal: MALFORMED_PROJECT_ID, IDEMPOTENCY_KEY_INVALID, and what `Identity.authenticate` raises.
    """
    key = _idempotency_key(context.idempotency_key)
    project = None if context.project_id == "" else parse_project_id(context.project_id)
    principal = (await identity.authenticate(context)).principal
    return Caller(
        principal=principal,
        actor=Actor(principal.user_id or None, principal.role_id or None),
        request_id=context.request_id or _bound_request_id(),
        project=project,
        base_uri=context.base_uri,
        delegation=frozenset([Delegation(word) for word in context.delegation if word])
        if context.delegation
        else _NONE,
        idempotency_key=key,
        user_agent=context.user_agent.encode()[:MAX_USER_AGENT_BYTES].decode(errors="ignore"),
    )


def parse_project_id(text: str) -> ProjectId:
    """A project id from a caller.

    Raises:
        Refusal: MALFORMED_PROJECT_ID.
    """
    if _PROJECT_ID.match(text) is None:
        shown = text[:128]
        raise Refusal(
            Reason.REASON_MALFORMED_PROJECT_ID,
            f"project id {shown!r} can't be one; it is made of 1 to 128 letters, digits, '-' and '_'",
            project=shown,
        )
    return ProjectId(text)


def is_project_id(text: str) -> bool:
    """Whether `parse_project_id` would take it."""
    return _PROJECT_ID.match(text) is not None


_NONE: Final[frozenset[Delegation]] = frozenset()


def _bound_request_id() -> str:
    """The id that the pipeline made for a call that came without one."""
    correlation = current()
    return "" if correlation is None else correlation.request_id


def _idempotency_key(text: str) -> UUID | None:
    if text == "":
        return None
    try:
        return UUID(text)
    except ValueError:
        shown = text[:100]
        raise Refusal(
            Reason.REASON_IDEMPOTENCY_KEY_INVALID,
            f"idempotency key {shown!r} is not a UUID; send a version 7 one",
            key=shown,
        ) from None
