"""Who calls, and what is known of a call beside what it asks for."""

from __future__ import annotations

import enum
import re
from typing import Final
from uuid import UUID

import msgspec

from lakeward_catalog.domain.model import ProjectId
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Actor

_PROJECT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")


class Delegation(enum.IntEnum):
    """How a client accepts to reach the object store; the numbers are the contract's."""

    VENDED_CREDENTIALS = 1
    REMOTE_SIGNING = 2
    CLIENT_MANAGED = 3


class Caller(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One call's caller, settled.

    Attributes:
        principal: whom rights are asked for.
        request_id: the call's; the trace-id of the events of its change.
        project: the project that the call names; None where it names none.
        base_uri: the outside base of links, without a trailing slash; "" where it is not known, and then links are left out.
        delegation: what the client accepts, in no order; empty: the server chooses.
        idempotency_key: None where the call has none.
        user_agent: at most 256 bytes.
    """

    principal: Principal
    request_id: str
    project: ProjectId | None = None
    base_uri: str = ""
    delegation: frozenset[Delegation] = frozenset()
    idempotency_key: UUID | None = None
    user_agent: str = ""

    @property
    def who(self) -> str:
        """The principal, as checkers are told: the user's id, with the role that is assumed."""
        principal = self.principal
        return principal.user_id if principal.user_id and not principal.role_id else principal.key

    @property
    def actor(self) -> Actor:
        """The principal, as events say it."""
        return Actor(self.principal.user_id or None, self.principal.role_id or None)


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
