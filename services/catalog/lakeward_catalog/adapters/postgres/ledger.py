"""What a change leaves beside its rows: events, what its key did, and what authz is to be told of the tree.

All of it is gathered and written in one statement just before the commit, when every row that is told of is locked. So two
changes of one row write their events in the order in which they commit. That statement sees all that was committed while the
ones before it waited for locks, so it also looks at what only those who hold them can judge.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from contextvars import Context
from datetime import datetime
from typing import Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.growth import Growth, grow, grow_one
from lakeward_catalog.adapters.postgres.places import FOLDS, at_or_above
from lakeward_catalog.adapters.postgres.shared import FOLDED, LOCATION_KEY_INDEXED
from lakeward_catalog.application.placing import location_taken
from lakeward_catalog.domain.model import Incarnation, WarehouseId
from lakeward_locations import Location
from lakeward_servicekit.audit.postgres import COUNT as RECORDED
from lakeward_servicekit.audit.postgres import RECORD_ONE, RECORD_SOME, columns, row_of
from lakeward_servicekit.audit.records import AuditRecord, of_changes
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.outbox import TELL_ONE, TELL_SOME, columns_of
from lakeward_servicekit.idempotency import KeyPlace, Remembered
from lakeward_servicekit.postgres.pools import Connection
from lakeward_servicekit.system import Clock

# Waits for a transaction that is writing the same key. An expired record counts as none.
_REMEMBER: Final = """
insert into idempotency as kept (owner, principal, key, fingerprint, outcome, expires_at)
values ({0}, {1}, {2}, {3}, {4}, {5})
on conflict (owner, principal, key) do update
   set fingerprint = excluded.fingerprint, outcome = excluded.outcome, expires_at = excluded.expires_at
 where kept.expires_at <= {6}
returning key
"""
# What lies at a place or contains it, but for what was just put there. The keys are read from a query, whose length is the same
# guess in every plan: with the array itself a plan for each call looks cheaper, and making it takes five times the look.
_AROUND: Final = f"""
select from tabular t
 where t.warehouse_id = $1 and left({FOLDED}, {LOCATION_KEY_INDEXED}) = any(array(select unnest($2::text[])))
   and {FOLDED} = any($3::text[]) and ({FOLDS} or t.location_key = any($4::text[])) and t.incarnation <> $5
"""
# The same for several places of a warehouse, a row for each key.
_AROUND_SOME: Final = f"""
select from unnest($2::text[], $3::text[], $4::text[], $5::uuid[]) as near(prefix, folded, key, incarnation)
 cross join lateral (
       select from tabular t
        where t.warehouse_id = $1 and left({FOLDED}, {LOCATION_KEY_INDEXED}) = near.prefix
          and {FOLDED} = near.folded and ({FOLDS} or t.location_key = near.key) and t.incarnation <> near.incarnation
       offset 0) found
"""
_EVENT: Final = ("$1", "$2", "$3", "$4", "$5")
TELL: Final = TELL_SOME.format(*_EVENT)
TELL_ALONE: Final = TELL_ONE.format(*_EVENT)


@functools.lru_cache(maxsize=16)
def writing(*, one: bool, looks: int, grows: bool, remembers: bool, audits: bool = False) -> str:
    """The statement that writes what was gathered; its row says whether the key was kept, and whether something lies around.

    Args:
        one: event, and change of the tree where there is one: their parameters are no arrays.
        looks: around so many places, of which two stand for more; the five parameters come first.
        grows: what authz is told, whose eight parameters come behind those of events.
        remembers: a key, whose seven parameters come behind those.
        audits: the change for the audit, whose parameters come last.
    """
    numbers = iter(f"${number}" for number in itertools.count(6 if looks else 1))
    parts = [f"told as ({(TELL_ONE if one else TELL_SOME).format(*itertools.islice(numbers, 5))})"]
    if grows:
        parts.append(f"grown as ({(grow_one if one else grow)(*itertools.islice(numbers, 8))})")
    if remembers:
        parts.append(f"kept as ({_REMEMBER.format(*itertools.islice(numbers, 7))})")
    if audits:
        record = RECORD_ONE if one else RECORD_SOME
        parts.append(f"audited as ({record.format(*itertools.islice(numbers, RECORDED))})")
    kept = "exists (select from kept)" if remembers else "true"
    taken = ("false", f"exists ({_AROUND})", f"exists ({_AROUND_SOME})")[looks]
    return f"with {', '.join(parts)} select {kept}, {taken}"


class PostgresLedger:
    """`Ledger` on a connection in a transaction.

    Attributes:
        growth: what the transaction changes of the tree.
    """

    def __init__(self, connection: Connection, *, clock: Clock, audits: bool = False) -> None:
        """Gather; `flush` writes through `connection`.

        Args:
            connection: in a transaction.
            clock: says when a remembered key has expired.
            audits: each event is written down for the audit too.
        """
        self._audits: Final = audits
        self._connection: Final = connection
        self._clock: Final = clock
        self.growth: Final = Growth()
        self._events: Final[list[Event]] = []
        self._kept: tuple[object, ...] = ()
        self._key: UUID | None = None
        self._around: Final[list[tuple[WarehouseId, Incarnation, Location]]] = []
        self._askers: Final[list[tuple[Context, Event]]] = []

    @property
    def told_something(self) -> bool:
        """Whether events were emitted."""
        return bool(self._events)

    def emit(self, *events: Event) -> None:
        """See `Ledger`."""
        self._events.extend(events)

    def emit_for(self, asker: Context, event: Event) -> None:
        """Tell of one of several changes that share the transaction.

        Args:
            asker: where it is known who asked for that one, which the audit writes down.
            event: of it.
        """
        self._events.append(event)
        self._askers.append((asker, event))

    def remember(self, place: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        """See `Ledger`."""
        self._key = place.key
        self._kept = (place.owner, place.principal, place.key, remembered.fingerprint, remembered.outcome, until)

    def look_around(self, warehouse_id: WarehouseId, incarnation: Incarnation, place: Location) -> None:
        """See, when the rest is written, whether a tabular that was put at a place lies in another's, of any state.

        Whoever asks holds the warehouse's places: what was committed before that is seen then. Of places of one warehouse.
        """
        self._around.append((warehouse_id, incarnation, place))

    async def flush(self) -> None:
        """Write what was gathered; called once, before the commit.

        Raises:
            Refusal: REQUEST_IN_PROGRESS, LOCATION_TAKEN.
        """
        events, growth, remembers = self._events, self.growth, bool(self._kept)
        grown = len(growth)
        if not (events or grown or remembers or self._around):
            return
        one = len(events) == 1 and grown <= 1
        if one:
            told: Sequence[object] = columns_of(events[0])
        else:
            rows = [columns_of(event) for event in events]
            told = [[row[column] for row in rows] for column in range(len(_EVENT))]
        records = self._recorded() if self._audits else []
        if not (grown or remembers or self._around or records):
            await self._connection.execute(TELL_ALONE if one else TELL, *told)
            return
        kept = (*self._kept, self._clock.now()) if remembers else ()
        row = await self._connection.fetchrow(
            writing(
                one=one, looks=min(len(self._around), 2), grows=bool(grown), remembers=remembers, audits=bool(records)
            ),
            *_looked_for(self._around),
            *told,
            *(() if not grown else growth.row() if one else growth.columns()),
            *kept,
            *(() if not records else row_of(records[0]) if one else columns(records)),
        )
        assert row is not None, "the statement has one row"
        mine, taken = row
        if not mine:
            raise Refusal(
                Reason.REASON_REQUEST_IN_PROGRESS,
                f"another request with idempotency key {self._key} came first; send this one again",
                key=str(self._key),
            )
        if taken:
            raise location_taken(self._around[0][2])

    def _recorded(self) -> Sequence[AuditRecord]:
        if not self._askers:
            return of_changes(self._events)
        return [record for asker, event in self._askers for record in asker.run(of_changes, [event])]


def _looked_for(around: Sequence[tuple[WarehouseId, Incarnation, Location]]) -> tuple[object, ...]:
    """What the look takes: of one place the keys, of several each key with whose it is."""
    if not around:
        return ()
    warehouse_id, incarnation, place = around[0]
    if len(around) == 1:
        return (warehouse_id, *at_or_above(place), incarnation)
    rows = [(*key, each) for _, each, where in around for key in zip(*at_or_above(where), strict=True)]
    return (warehouse_id, *map(list, zip(*rows, strict=True)))
