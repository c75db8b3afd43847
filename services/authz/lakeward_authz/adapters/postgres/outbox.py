"""What a change leaves beside its rows: its events, and what OpenFGA is still to be told, in the order of each tuple's changes.

A row is written in the transaction of its change, behind the lock on what it is about, so of two rows about one tuple the
higher position is the later change. Nothing is written where no OpenFGA is fed, which the database says and no process: while
processes are given another decider one after another, those that ask no OpenFGA write for those that do. Who begins to feed
one locks `openfga_feeds` against these reads, so no change is under way then that saw nobody feed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_authz.application.announcements import Announcer
from lakeward_authz.domain.permissions.tuples import FgaTuple
from lakeward_servicekit.audit.postgres import record
from lakeward_servicekit.audit.records import of_changes
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.outbox import tell
from lakeward_servicekit.postgres.pools import Connection
from lakeward_servicekit.system import SystemClock, SystemIds

_PUT: Final = """
insert into openfga_outbox (tuple_user, relation, object, wanted)
select * from unnest($1::text[], $2::text[], $3::text[], $4::boolean[])
 where exists (select from openfga_feeds where wanted_at > now() - interval '1 hour')
"""


class Outbox:
    """Takes changes of tuples, and events."""

    __slots__ = ("_audits", "announcer")

    def __init__(self, announcer: Announcer | None = None, *, audits: bool = False) -> None:
        """Have events made by `announcer`; None: with the machine's clock and fresh ids. Where it `audits`, each is recorded."""
        self._audits: Final = audits
        self.announcer: Final = announcer or Announcer(SystemClock(), SystemIds())

    async def tell(self, connection: Connection, *events: Event) -> None:
        """Write events in the transaction of their change."""
        await tell(connection, *events)
        if self._audits:
            await record(connection, of_changes(events))

    async def put(self, connection: Connection, changes: Sequence[tuple[FgaTuple, bool]]) -> None:
        """Put changes in order: tuples, and whether each is wanted from now on."""
        if not changes:
            return
        await connection.execute(
            _PUT,
            [each.user for each, _ in changes],
            [each.relation for each, _ in changes],
            [each.object for each, _ in changes],
            [wanted for _, wanted in changes],
        )
