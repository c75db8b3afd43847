"""What a change tells the world: one CloudEvent, whole, written in the change's own transaction.

Upstream's attributes are kept under their names for its consumers; the standard ones (`subject`, `time`, and names without
hyphens) stand beside them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import msgspec


@dataclasses.dataclass(frozen=True, slots=True)
class Actor:
    """Who made a change.

    Attributes:
        principal: "<idp>~<subject>"; None for the anonymous caller and for the service itself.
        assumed_role: the role that was acted as.
    """

    principal: str | None
    assumed_role: str | None = None

    def document(self) -> dict[str, str]:
        """Upstream's form."""
        if self.principal is None:
            return {"type": "anonymous"}
        if self.assumed_role is None:
            return {"type": "principal", "principal": self.principal}
        return {"type": "role", "principal": self.principal, "assumed-role": self.assumed_role}

    def attributes(self) -> dict[str, str]:
        """Under names that CloudEvents allows; none for nobody."""
        said = {"principal": self.principal, "role": self.assumed_role}
        return {name: value for name, value in said.items() if value is not None}


@dataclasses.dataclass(frozen=True, slots=True)
class About:
    """What an event says of its change beside the payload; see `cloud_event`."""

    type: str
    subject: str
    at: datetime
    actor: Actor
    trace_id: str
    attributes: Mapping[str, str]


class Event(msgspec.Struct, frozen=True, gc=False):
    """A change, ready to leave.

    Attributes:
        event_id: the CloudEvent's id, which brokers deduplicate by.
        stream: the warehouse's id, "project-<id>", "server", or a service's own; events of one stream are ordered.
        kind: what changed, as "table", "namespace", "warehouse".
        verb: what happened, as "created", "committed", "dropped".
        body: the CloudEvent as JSON.
        about: what the audit keeps of it; None of one that was read back.
    """

    event_id: UUID
    stream: str
    kind: str
    verb: str
    body: bytes
    about: About | None = None


def cloud_event(  # noqa: PLR0913 - every attribute of an event, each by its name
    *,
    event_id: UUID,
    at: datetime,
    source: str,
    stream: str,
    kind: str,
    verb: str,
    upstream_type: str,
    subject: str,
    actor: Actor,
    trace_id: str,
    data: Mapping[str, object],
    request: bytes | None = None,
    attributes: Mapping[str, str] | None = None,
    traceparent: str = "",
    place: tuple[int, int] = (0, 1),
) -> Event:
    """An event about one change.

    Args:
        event_id: a fresh id.
        at: when the change was made.
        source: which installation, as "lakeward://<server id>".
        stream: see `Event`.
        kind: see `Event`.
        verb: see `Event`.
        upstream_type: the `type`, as "updateTable".
        subject: the path of what changed, as "ns.table".
        actor: who made it.
        trace_id: the request's id.
        data: what changed, by name: ids, locations, flags. Never a credential.
        request: JSON of what was asked for, which upstream's consumers find in `data`; it goes in as `request`.
        attributes: upstream's extension attributes, as {"tabular-id": ...}.
        traceparent: where the request is in a trace, as W3C has it; "" where nobody asked for it.
        place: which of the events of one request, from 0, and how many events the request makes.
    """
    index, count = place
    document: dict[str, object] = {
        "specversion": "1.0",
        "id": str(event_id),
        "type": upstream_type,
        "source": source,
        "subject": subject,
        "time": at.isoformat().replace("+00:00", "Z"),
        "datacontenttype": "application/json",
        **(attributes or {}),
        **actor.attributes(),
        **({"traceparent": traceparent} if traceparent else {}),
        "num-events": count,
        "sequence-number": index,
        "trace-id": trace_id,
        "actor": msgspec.json.encode(actor.document()).decode(),
        "data": dict(data) if request is None else {**data, "request": msgspec.Raw(request)},
    }
    about = About(upstream_type, subject, at, actor, trace_id, attributes or {})
    return Event(event_id, stream, kind, verb, msgspec.json.encode(document), about)
