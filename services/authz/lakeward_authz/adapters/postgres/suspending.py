"""Rights of users whose identity provider says that they are not active: set aside, and given back when they are.

What is set aside is no grant: no decider reads it, and OpenFGA is told that it is gone. It goes with the objects that it is on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.revisions import bump
from lakeward_authz.application.announcements import UserChange
from lakeward_authz.application.permissions import Grant
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject, user_subject
from lakeward_authz.domain.permissions.tuples import grant_tuple
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.postgres.pools import Connection

if TYPE_CHECKING:
    from asyncpg import Record

_USER: Final = "user:"


def hold_users_of(ids: str) -> str:
    """A statement that keeps users as active or suspended as they are, to the transaction's end; `ids` is a query, or an array.

    Whether active or not: a change of that, which moves all of their grants, then finds what is given here, or is found. Who is
    not provisioned is held by the lock on the table, against which whoever comes suspended is written (`KEEP_OUT`).
    """
    return f"select user_id, active from provisioned_users where user_id = any(array({ids})) order by user_id for share"


KEEP_OUT: Final = "lock table provisioned_users in exclusive mode"
"""Before somebody is written who comes suspended, and whom nobody can have held: who holds users is waited for, and waits."""
_HOLD_USERS: Final = hold_users_of("select unnest($1::text[])")
_SET_ASIDE: Final = """
insert into suspended_grants (project_id, warehouse_id, kind, object_id, subject, relation)
select $1, $2, $3, $4, w.subject, w.relation from unnest($5::text[], $6::text[]) as w(subject, relation)
 order by w.subject, w.relation
on conflict do nothing returning subject, relation
"""
_TAKE_ASIDE: Final = """
delete from suspended_grants g using unnest($5::text[], $6::text[]) as d(subject, relation)
 where project_id = $1 and warehouse_id = $2 and kind = $3 and object_id = $4
   and g.subject = d.subject and g.relation = d.relation
returning g.subject, g.relation
"""
_COLUMNS: Final = "project_id, warehouse_id, kind, object_id, subject, relation, granted_at"
SUSPEND: Final = f"""
with gone as (delete from grants where subject = $1 and relation <> '' returning {_COLUMNS})
insert into suspended_grants ({_COLUMNS}) select {_COLUMNS} from gone
on conflict (project_id, warehouse_id, kind, object_id, subject, relation) do update set granted_at = excluded.granted_at
returning project_id, warehouse_id, kind, object_id, relation
"""
_RESTORE: Final = f"""
with back as (delete from suspended_grants where subject = $1 returning {_COLUMNS})
insert into grants ({_COLUMNS}) select {_COLUMNS} from back on conflict do nothing
returning project_id, warehouse_id, kind, object_id, relation
"""


async def hold_users(connection: Connection, *grants: Collection[Grant]) -> frozenset[Subject]:
    """Keep the users of some grants as active or suspended as they are, to the transaction's end; those who are suspended.

    Before any of their grants is touched: whoever changes a user holds it first, and the grants then.
    """
    subjects = {each.subject for some in grants for each in some}
    users = sorted(each.removeprefix(_USER) for each in subjects if each.startswith(_USER))
    if not users:
        return frozenset()
    held = await connection.fetch(_HOLD_USERS, users)
    return frozenset(user_subject(UserId(row["user_id"])) for row in held if not row["active"])


async def set_aside(connection: Connection, key: ObjectKey, grants: Collection[Grant]) -> Sequence[Record]:
    """Keep what is given until its users are active; what was not kept yet is answered."""
    return await connection.fetch(_SET_ASIDE, *_columns(key), *listed(grants)) if grants else ()


async def take_aside(connection: Connection, key: ObjectKey, grants: Collection[Grant]) -> Sequence[Record]:
    """Keep it no more; what was kept is answered."""
    return await connection.fetch(_TAKE_ASIDE, *_columns(key), *listed(grants)) if grants else ()


async def suspend(connection: Connection, outbox: Outbox, user_id: UserId) -> None:
    """Set aside all that a user was given, in a transaction and as its last step."""
    await _swap(connection, outbox, SUSPEND, user_id, counts=False)
    await outbox.tell(connection, outbox.announcer.user_by_id(UserChange.SUSPENDED, user_id))


async def restore(connection: Connection, outbox: Outbox, user_id: UserId) -> None:
    """Give a user what was set aside, in a transaction and as its last step."""
    await _swap(connection, outbox, _RESTORE, user_id, counts=True)
    await outbox.tell(connection, outbox.announcer.user_by_id(UserChange.RESTORED, user_id))


async def _swap(connection: Connection, outbox: Outbox, statement: str, user_id: UserId, *, counts: bool) -> None:
    subject = user_subject(user_id)
    rows = [
        (ObjectKey(kind, project, warehouse, ref), relation)
        for project, warehouse, kind, ref, relation in await connection.fetch(statement, subject)
    ]
    await outbox.put(connection, [(grant_tuple(key, subject, relation), counts) for key, relation in rows])
    await bump(connection, *(key.project_id for key, _ in rows))


def listed(grants: Collection[Grant]) -> tuple[list[str], list[str]]:
    """Subjects and relations, in one order whoever asks, so that of two changes neither waits for the other with rows held."""
    ordered = sorted(grants)
    return [grant.subject for grant in ordered], [grant.relation for grant in ordered]


def _columns(key: ObjectKey) -> tuple[object, ...]:
    return key.project_id, key.warehouse_id, key.type, key.id
