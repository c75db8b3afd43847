"""What a change of authz's tells the world: one CloudEvent, written in the change's own transaction."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

STREAM: Final = "server"
_SOURCE: Final = "lakeward://authz"


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """A change, ready to leave.

    Attributes:
        event_id: the CloudEvent's id, which brokers deduplicate by.
        stream: events of one stream are ordered; all of authz's are in one.
        kind: what changed, as "user".
        verb: what happened, as "created".
        body: the CloudEvent as JSON.
    """

    event_id: UUID
    stream: str
    kind: str
    verb: str
    body: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class Occasion:
    """What an event says of when and why, whatever changed.

    Attributes:
        event_id: fresh.
        at: the time of the change, in UTC.
        trace_id: the id of the request that caused it.
    """

    event_id: UUID
    at: datetime
    trace_id: str


def user_event(occasion: Occasion, *, verb: str, user_id: str, data: Mapping[str, object]) -> Event:
    """An event about a user, made by that user's own call; `data` has no e-mail address and no token."""
    document = {
        "specversion": "1.0",
        "id": str(occasion.event_id),
        "type": f"{verb}User",
        "source": _SOURCE,
        "subject": user_id,
        "time": occasion.at.isoformat().replace("+00:00", "Z"),
        "datacontenttype": "application/json",
        "num-events": 1,
        "sequence-number": 0,
        "trace-id": occasion.trace_id,
        "actor": json.dumps({"type": "principal", "principal": user_id}),
        "data": {"user-id": user_id, **data},
    }
    return Event(occasion.event_id, STREAM, "user", f"{verb}d", json.dumps(document).encode())
