"""What an event says, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lakeward.errors import AnswerError


@dataclass(frozen=True)
class Where:
    """Where something is.

    Attributes:
        namespace: its levels; empty for what is in none.
    """

    project_id: str
    warehouse_id: str
    warehouse: str
    namespace: Sequence[str] = ()
    namespace_id: str | None = None


@dataclass(frozen=True)
class Tabular:
    """A table, view or generic table.

    Attributes:
        type: table, view or generic-table.
        id: that clients know; it comes again where a dropped one is registered from its files.
        incarnation: never comes again.
        metadata_location: None while staged, and for generic tables.
        staged: it waits for its first commit, and nobody sees it.
    """

    type: str
    id: str
    incarnation: str
    name: str
    location: str
    metadata_location: str | None = None
    staged: bool = False
    protected: bool = False


@dataclass(frozen=True)
class Namespace:
    """A namespace; `path` is its levels, and the parent of one at the top is None."""

    id: str
    path: Sequence[str]
    parent_id: str | None
    location: str
    properties: Mapping[str, str] = field(default_factory=dict)
    protected: bool = False


@dataclass(frozen=True)
class Event:
    """One change, or one thing that is there.

    Attributes:
        position: where a consumer is that has this event and all before; what it keeps to go on behind it.
        sequence: its number in the stream, from 1 without gaps; of a snapshot that of the last event whose change is in it.
        snapshot: it says what is there, and not what changed.
        kind: what it is about, as "table".
        verb: what happened, as "committed"; "snapshot" for what is there, or what begins so, and "snapshot-completed" behind all
            that is.
        id: the CloudEvent's; what a consumer tells repetitions by.
        type: the CloudEvent's, as "updateTable".
        subject: what it is about, as "ns.table".
        time: when it happened.
        principal: who did it, as "oidc~anna"; None for nobody that is known, and for the server itself.
        role: the role that was acted as.
        data: what happened, as docs/events.md has it.
        cloud_event: the whole of it, as it came.
    """

    position: str
    sequence: int
    snapshot: bool
    kind: str
    verb: str
    id: str
    type: str
    subject: str
    time: datetime
    principal: str | None
    role: str | None
    data: Mapping[str, Any]
    cloud_event: Mapping[str, Any] = field(repr=False)

    @property
    def where(self) -> Where | None:
        """Where it happened; None where it does not say."""
        said = self.data.get("where")
        if not isinstance(said, Mapping):
            return None
        return Where(
            project_id=str(said.get("project-id", "")),
            warehouse_id=str(said.get("warehouse-id", "")),
            warehouse=str(said.get("warehouse", "")),
            namespace=tuple(said.get("namespace") or ()),
            namespace_id=said.get("namespace-id"),
        )

    @property
    def tabular(self) -> Tabular | None:
        """The table, view or generic table as it is now, or was where it is gone; None of other kinds."""
        said = self.data.get("tabular")
        if not isinstance(said, Mapping):
            return None
        return Tabular(
            type=str(said["type"]),
            id=str(said["id"]),
            incarnation=str(said["incarnation"]),
            name=str(said["name"]),
            location=str(said["location"]),
            metadata_location=said.get("metadata-location"),
            staged=bool(said.get("staged")),
            protected=bool(said.get("protected")),
        )

    @property
    def namespace(self) -> Namespace | None:
        """The namespace as it is now, or was where it is gone; None of other kinds."""
        said = self.data.get("namespace")
        if not isinstance(said, Mapping):
            return None
        return Namespace(
            id=str(said["id"]),
            path=tuple(said["path"]),
            parent_id=said.get("parent-id"),
            location=str(said["location"]),
            properties=dict(said.get("properties") or {}),
            protected=bool(said.get("protected")),
        )


@dataclass(frozen=True)
class EventPage:
    """A part of a stream.

    Attributes:
        events: in order.
        position: where the next part begins.
        newest: number of the newest event there is; 0 for none.
    """

    events: Sequence[Event]
    position: str
    newest: int


def page_of(answer: Any) -> EventPage:  # noqa: ANN401 - a JSON document
    """A page as the API answers it.

    Raises:
        AnswerError: it is none.
    """
    try:
        return EventPage([_event_of(each) for each in answer["events"]], answer["position"], int(answer["newest"]))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise AnswerError(f"the answer is no page of events: {error!r}") from error


def _event_of(said: Mapping[str, Any]) -> Event:
    event = said["event"]
    return Event(
        position=said["position"],
        sequence=int(said["sequence"]),
        snapshot=bool(said["snapshot"]),
        kind=said["kind"],
        verb=said["verb"],
        id=event["id"],
        type=event["type"],
        subject=event.get("subject", ""),
        time=datetime.fromisoformat(event["time"].replace("Z", "+00:00")),
        principal=event.get("principal"),
        role=event.get("role"),
        data=event.get("data") or {},
        cloud_event=event,
    )
