"""What a change leaves beside its rows: events, what its key did, and what authz is to be told of the tree.

All of it is gathered and written in one statement just before the commit, when every row that is told of is locked. So two
changes of one row write their events in the order in which they commit.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.growth import Growth, grow
from lakeward_catalog.application.ports.system import Clock
from lakeward_catalog.domain.events import Event
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.idempotency import KeyPlace, Remembered
from lakeward_servicekit.postgres.pools import Connection

# `order by` makes the identities of several events grow in the order in which they were emitted.
TELL: Final = """
insert into outbox (event_id, stream, kind, verb, body)
select event.event_id, event.stream, event.kind, event.verb, event.body
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bytea[])
       with ordinality as event(event_id, stream, kind, verb, body, place)
 order by event.place
"""
GROW_AND_TELL: Final = f"with grown as ({grow(6)}){TELL}"
# Waits for a transaction that is writing the same key. An expired record counts as none.
REMEMBER: Final = """
insert into idempotency as kept (owner, principal, key, fingerprint, outcome, expires_at)
values ($1, $2, $3, $4, $5, $6)
on conflict (owner, principal, key) do update
   set fingerprint = excluded.fingerprint, outcome = excluded.outcome, expires_at = excluded.expires_at
 where kept.expires_at <= $7
returning key
"""
TELL_AND_REMEMBER: Final = """
with told as (
    insert into outbox (event_id, stream, kind, verb, body)
    select event.event_id, event.stream, event.kind, event.verb, event.body
      from unnest($8::uuid[], $9::text[], $10::text[], $11::text[], $12::bytea[])
           with ordinality as event(event_id, stream, kind, verb, body, place)
     order by event.place)
insert into idempotency as kept (owner, principal, key, fingerprint, outcome, expires_at)
values ($1, $2, $3, $4, $5, $6)
on conflict (owner, principal, key) do update
   set fingerprint = excluded.fingerprint, outcome = excluded.outcome, expires_at = excluded.expires_at
 where kept.expires_at <= $7
returning key
"""
GROW_TELL_AND_REMEMBER: Final = TELL_AND_REMEMBER.replace("with told as", f"with grown as ({grow(13)}),\ntold as")


class PostgresLedger:
    """`Ledger` on a connection in a transaction.

    Attributes:
        growth: what the transaction changes of the tree.
    """

    def __init__(self, connection: Connection, *, clock: Clock) -> None:
        """Gather; `flush` writes through `connection`. The clock says when a remembered key has expired."""
        self._connection: Final = connection
        self._clock: Final = clock
        self.growth: Final = Growth()
        self._events: Final[list[Event]] = []
        self._kept: tuple[object, ...] | None = None
        self._key: UUID | None = None

    @property
    def told_something(self) -> bool:
        """Whether events were emitted."""
        return bool(self._events)

    def emit(self, *events: Event) -> None:
        """See `Ledger`."""
        self._events.extend(events)

    def remember(self, place: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        """See `Ledger`."""
        self._key = place.key
        self._kept = (place.owner, place.principal, place.key, remembered.fingerprint, remembered.outcome, until)

    async def flush(self) -> None:
        """Write what was gathered; called once, before the commit.

        Raises:
            Refusal: REQUEST_IN_PROGRESS.
        """
        events, growth = self._events, self.growth
        if not (events or growth) and self._kept is None:
            return
        told = (
            [event.event_id for event in events],
            [event.stream for event in events],
            [event.kind for event in events],
            [event.verb for event in events],
            [event.body for event in events],
        )
        if self._kept is None:
            if growth:
                await self._connection.execute(GROW_AND_TELL, *told, *growth.columns())
            else:
                await self._connection.execute(TELL, *told)
            return
        now = self._clock.now()
        if growth:
            mine = await self._connection.fetchval(GROW_TELL_AND_REMEMBER, *self._kept, now, *told, *growth.columns())
        elif events:
            mine = await self._connection.fetchval(TELL_AND_REMEMBER, *self._kept, now, *told)
        else:
            mine = await self._connection.fetchval(REMEMBER, *self._kept, now)
        if mine is None:
            raise Refusal(
                Reason.REASON_REQUEST_IN_PROGRESS,
                f"another request with idempotency key {self._key} came first; send this one again",
                key=str(self._key),
            )
