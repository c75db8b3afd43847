"""What snapshots of vending's streams tell: which credentials there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeward_servicekit.events.postgres_snapshots import chapters
from lakeward_servicekit.events.streams import project_of
from lakeward_vending.application.announcements import STREAM, Known
from lakeward_vending.application.snapshots import SnapshotTeller

if TYPE_CHECKING:
    from asyncpg import Record

    from lakeward_servicekit.events.cloud_events import Event
    from lakeward_servicekit.events.postgres_snapshots import Moment, Told
    from lakeward_servicekit.postgres.pools import Connection
    from lakeward_servicekit.system import SystemIds

# Neither what a secret is nor anything that it could be opened with is looked at.
_CREDENTIALS: Final = """
select secret_id, coalesce(warehouse_id, staged_for), store, key_id, project_id, warehouse_id is not null
  from secret
 where project_id is not distinct from $1 and forgotten_at is null
 order by secret_id
"""


class VendingTold:
    """`Tells` of projects, and of what is kept without one."""

    def __init__(self, ids: SystemIds) -> None:
        """Have events named by `ids`."""
        self._ids: Final = ids

    def __call__(self, connection: Connection, moment: Moment) -> Told:
        """See `Tells`; the stream is one of vending's."""
        project_id = project_of(moment.stream, kind=STREAM)
        teller = SnapshotTeller(self._ids, project_id, moment.at)
        return chapters(
            connection,
            ((_CREDENTIALS, lambda rows: [_credential(teller, row) for row in rows]),),
            project_id,
            first=[teller.begun()],
            last=lambda count: teller.completed(sequence=moment.sequence, entities=count),
        )


def _credential(teller: SnapshotTeller, row: Record) -> Event:
    secret_id, warehouse_id, store, key_id, project_id, kept = row
    known = Known(secret_id, warehouse_id=warehouse_id, store=store, key_id=key_id, project_id=project_id)
    return teller.of_credential(known, kept=kept)
