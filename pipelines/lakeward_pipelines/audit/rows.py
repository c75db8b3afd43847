"""An event as a row of the audit table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lakeward.events import Event

_PAYLOAD: Final = "data"
# What of a CloudEvent has a column; the rest is kept under its name, so that nothing is lost that a newer server says.
_ELSEWHERE: Final = frozenset(
    {
        _PAYLOAD,
        "id",
        "type",
        "subject",
        "time",
        "principal",
        "role",
        "projectid",
        "warehouseid",
        "trace-id",
        "traceparent",
    }
)


@dataclass(frozen=True)
class Column:
    """One of the table's.

    Attributes:
        name: of it.
        type: Spark's, in SQL.
        comment: what it says.
        of: what an event has there.
    """

    name: str
    type: str
    comment: str
    of: Callable[[Event], Any]


def row(event: Event, warehouse_id: str) -> tuple[Any, ...]:
    """What an event says, in the order of `COLUMNS`.

    Args:
        event: of the log.
        warehouse_id: whose log it is.
    """
    return (warehouse_id, *(column.of(event) for column in COLUMNS[1:]))


def _project(event: Event) -> str | None:
    said = event.cloud_event.get("projectid")
    return None if said is None else str(said)


def _warehouse(event: Event) -> str | None:
    return None if event.where is None else event.where.warehouse


def _namespace(event: Event) -> Sequence[str] | None:
    if event.where is not None and event.where.namespace:
        return list(event.where.namespace)
    return None if event.namespace is None else list(event.namespace.path)


def _names(event: Event) -> Sequence[str]:
    """In full, as it is called now; and as it was called before, where that is another name."""
    inside = [] if event.where is None else list(event.where.namespace)
    said = event.data.get("tabular" if event.tabular is not None else event.kind)
    now, before = _called(said, inside), _called(event.data.get("before"), [])
    return [name for name in dict.fromkeys((now, before)) if name]


def _called(said: object, inside: Sequence[str]) -> str | None:
    if not isinstance(said, Mapping):
        return None
    if said.get("path"):
        return ".".join(map(str, said["path"]))
    name = said.get("name")
    return None if name is None else ".".join([*map(str, said.get("namespace") or inside), str(name)])


def _text(name: str) -> Callable[[Event], str | None]:
    def said(event: Event) -> str | None:
        found = event.cloud_event.get(name)
        return None if found is None else str(found)

    return said


def _attributes(event: Event) -> Mapping[str, str]:
    every = event.cloud_event
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in every.items()
        # Upstream's names with hyphens say again what stands beside them without.
        if value is not None and name not in _ELSEWHERE and ("-" not in name or name.replace("-", "") not in every)
    }


def _payload(event: Event) -> str:
    return json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))


COLUMNS: Final[Sequence[Column]] = (
    Column("warehouse_id", "string", "whose log it is", lambda event: event.cloud_event.get("warehouseid")),
    Column("sequence", "bigint", "number in that log, from 1", lambda event: event.sequence),
    Column("id", "string", "of the CloudEvent", lambda event: event.id),
    Column("kind", "string", "what it is about, as table", lambda event: event.kind),
    Column("verb", "string", "what happened, as committed", lambda event: event.verb),
    Column("type", "string", "of the CloudEvent, as updateTable", lambda event: event.type),
    Column("subject", "string", "of the CloudEvent", lambda event: event.subject),
    Column("principal", "string", "who did it; null for the server itself", lambda event: event.principal),
    Column("role", "string", "that was acted as", lambda event: event.role),
    Column("project_id", "string", "of the warehouse", _project),
    Column("warehouse", "string", "its name at the time", _warehouse),
    Column("namespace", "array<string>", "its levels", _namespace),
    Column("names", "array<string>", "in full: now, then before where that differs", _names),
    Column("time", "timestamp", "when it happened", lambda event: event.time),
    Column("trace_id", "string", "id of the request", _text("trace-id")),
    Column("traceparent", "string", "W3C trace context of the request", _text("traceparent")),
    Column("payload", "string", "what happened, as JSON", _payload),
    Column("attributes", "map<string,string>", "what else the CloudEvent says", _attributes),
)
"""In the order in which a table is made; one that is there gets those that it lacks."""
