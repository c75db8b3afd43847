"""How a change writes its events: rows of its own transaction, in the order in which it tells of them."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.postgres.pools import Connection, mark_commit

# `order by` makes the identities of several events grow in the order in which they were emitted.
TELL_SOME: Final = """
insert into outbox (event_id, stream, kind, verb, body)
select event.event_id, event.stream, event.kind, event.verb, event.body
  from unnest({0}::uuid[], {1}::text[], {2}::text[], {3}::text[], {4}::bytea[])
       with ordinality as event(event_id, stream, kind, verb, body, place)
 order by event.place
"""
# Most changes have one event: arrays of one cost more to write and to read than all the rest of it.
TELL_ONE: Final = "insert into outbox (event_id, stream, kind, verb, body) values ({0}, {1}, {2}, {3}, {4})"
_PLACES: Final = ("$1", "$2", "$3", "$4", "$5")
_SOME: Final = TELL_SOME.format(*_PLACES)
_ONE: Final = TELL_ONE.format(*_PLACES)


def columns_of(event: Event) -> tuple[object, ...]:
    """A row of the outbox."""
    return event.event_id, event.stream, event.kind, event.verb, event.body


async def tell(connection: Connection, *events: Event) -> None:
    """Write events in the transaction of their change, behind the locks on what they are about; its commit is marked."""
    if events:
        mark_commit()
    if len(events) == 1:
        await connection.execute(_ONE, *columns_of(events[0]))
    elif events:
        await connection.execute(_SOME, *map(list, zip(*map(columns_of, events), strict=True)))
