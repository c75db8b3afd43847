"""What snapshots of authz's streams tell: the statements over what is there, and the events of their rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from lakeward_authz.adapters.postgres.roles import COLUMNS as ROLE
from lakeward_authz.adapters.postgres.roles import role_of
from lakeward_authz.adapters.postgres.users import COLUMNS as USER
from lakeward_authz.adapters.postgres.users import user_of
from lakeward_authz.application.announcements import STREAM, Given
from lakeward_authz.application.snapshots import SnapshotTeller
from lakeward_authz.domain.permissions.objects import SERVER, ObjectKey
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.postgres_snapshots import Moment, Told, chapters
from lakeward_servicekit.events.streams import project_of
from lakeward_servicekit.postgres.pools import Connection
from lakeward_servicekit.system import Ids

if TYPE_CHECKING:
    from asyncpg import Record

# The same argument for all: the project, which is "" for the server.
_USERS: Final = f"""
select u.*, exists (select from provisioned_users p where p.user_id = u.user_id and not p.active)
  from (select {USER} from users where deleted_at is null and $1::text = '') u
 order by u.user_id
"""
_ROLES: Final = f"select {ROLE} from roles r where r.project_id = $1 order by r.role_id"
# What waits for users who are not active was told when it was given, and is not told of again when it counts.
_GRANTS: Final = """
select o.kind, o.project_id, o.warehouse_id, o.object_id, o.public_id, g.subject, g.relation
  from (select project_id, warehouse_id, kind, object_id, subject, relation from grants where project_id = $1
         union
        select project_id, warehouse_id, kind, object_id, subject, relation from suspended_grants where project_id = $1) g
  join objects o using (project_id, warehouse_id, kind, object_id)
 order by o.warehouse_id, o.kind, o.object_id, g.subject, g.relation
"""
_MANAGED: Final = """
select o.kind, o.project_id, o.warehouse_id, o.object_id, o.public_id from objects o
 where o.project_id = $1 and o.managed_access
 order by o.warehouse_id, o.kind, o.object_id
"""


class AuthzTold:
    """`Tells` of projects and of the server; a project that is not there has nothing."""

    def __init__(self, ids: Ids) -> None:
        """Have events named by `ids`."""
        self._ids: Final = ids

    def __call__(self, connection: Connection, moment: Moment) -> Told:
        """See `Tells`; the stream is one of authz's."""
        project_id = project_of(moment.stream, kind=STREAM)
        teller = SnapshotTeller(self._ids, project_id, moment.at)
        return chapters(
            connection,
            (
                (_USERS, lambda rows: [_user(teller, row) for row in rows]),
                (_ROLES, lambda rows: [teller.of_role(role_of(row)) for row in rows]),
                (_GRANTS, lambda rows: _grants(teller, rows)),
                (_MANAGED, lambda rows: [_managed(teller, row) for row in rows]),
            ),
            SERVER.project_id if project_id is None else project_id,
            first=[teller.begun()],
            last=lambda count: teller.completed(sequence=moment.sequence, entities=count),
        )


def _user(teller: SnapshotTeller, row: Record) -> Event:
    *columns, suspended = row
    user = user_of(columns)
    return teller.of_user(user.user_id, user.profile, updated_with=user.updated_with, suspended=suspended)


def _grants(teller: SnapshotTeller, rows: Sequence[Record]) -> list[Event]:
    """Of each object what some rows have; one that more rows are of is told of again."""
    events: list[Event] = []
    for (kind, project_id, warehouse_id, object_id, public_id), its in itertools.groupby(rows, lambda row: row[:5]):
        key = ObjectKey(kind, project_id, warehouse_id, object_id)
        events += teller.of_grants(key, [Given(row[5], row[6]) for row in its], public_id=public_id)
    return events


def _managed(teller: SnapshotTeller, row: Record) -> Event:
    kind, project_id, warehouse_id, object_id, public_id = row
    return teller.of_managed_access(ObjectKey(kind, project_id, warehouse_id, object_id), public_id=public_id)
