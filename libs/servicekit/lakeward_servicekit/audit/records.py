"""What is recorded of a request, and of a change."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.rpc.origin import origin_at_hand

MOST_NAMED: Final = 1024
"""Characters of an object's path that are kept."""


class Outcome(enum.StrEnum):
    """What became of it. FAILED: something of ours broke, and whether a change was made may not be known."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    FAILED = "failed"


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One request, or one change that it made.

    Attributes:
        audit_id: UUID of version 7; a change's is its event's, so that the two are found by each other.
        action: type of the change's event, as "dropTable"; of what made none, the method, as "LoadTable".
        kind: of the object, as "table"; "" where that is not known.
        object_id: its public id; "" where none is known.
        object: its path, where it is there for the caller; "" for what may not be.
        principal: "<idp>~<subject>"; "" for nobody, and for the service itself.
        role: that was assumed.
        reason: why it was refused, as "FORBIDDEN"; "" otherwise.
        client: address that it came from, as trusted proxies say; "" where that is not known.
        user_agent: as the client says it; at most 256 bytes.
    """

    audit_id: UUID
    at: datetime
    outcome: Outcome
    action: str
    kind: str = ""
    object_id: str = ""
    object: str = ""
    project_id: str = ""
    warehouse_id: UUID | None = None
    principal: str = ""
    role: str = ""
    reason: str = ""
    request_id: str = ""
    client: str = ""
    user_agent: str = ""


def of_changes(events: Sequence[Event]) -> list[AuditRecord]:
    """What a transaction that tells of these events writes down about itself; its origin is marked as recorded."""
    origin = origin_at_hand()
    client, agent = ("", "") if origin is None else (origin.client, origin.user_agent)
    records = [_of_change(event, client, agent) for event in events if event.about is not None]
    if origin is not None and records:
        origin.recorded = True
    return records


def _of_change(event: Event, client: str, agent: str) -> AuditRecord:
    about = event.about
    assert about is not None, "asked before"
    attributes = about.attributes
    object_id = next((attributes[name] for name in _IDS if name in attributes), "")
    warehouse_id = attributes.get("warehouseid")
    return AuditRecord(
        audit_id=event.event_id,
        at=about.at,
        outcome=Outcome.ALLOWED,
        action=about.type,
        kind=event.kind,
        object_id=object_id,
        object=about.subject[:MOST_NAMED],
        project_id=attributes.get("projectid", ""),
        warehouse_id=UUID(warehouse_id) if warehouse_id else None,
        principal=about.actor.principal or "",
        role=about.actor.assumed_role or "",
        request_id=about.trace_id,
        client=client,
        user_agent=agent,
    )


# The innermost first.
_IDS: Final = (
    "tabularid",
    "namespaceid",
    "roleid",
    "userid",
    "tagdefinitionid",
    "credentialid",
    "warehouseid",
    "projectid",
)
