"""What is given to a user or taken while the user is being suspended, or made active again, follows the user."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.provisioned_users import PostgresProvisionedUsers
from lakeward_authz.adapters.postgres.suspending import restore, suspend
from lakeward_authz.application.permissions import Grant, Made
from lakeward_authz.domain.permissions.objects import SERVER, ObjectKey, user_subject
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.postgres.pools import Connection
from tests.support.authz_stores import Stores
from tests.support.authz_worlds import fill, id_of, small
from tests.support.provisioning import a_person

pytestmark = pytest.mark.integration

PERSON: Final = a_person(900, "person")
GRANT: Final = Grant(user_subject(PERSON.user_id), "select")
_WAITS: Final = """
select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')
"""
_FEED: Final = "insert into openfga_feeds (store_id, wanted_at, complete) values ('store', now(), true)"
_TOLD: Final = "select count(*) from openfga_outbox where tuple_user = $1"
_SWITCH: Final = "update provisioned_users set active = $2 where user_id = $1"


async def held(stores: Stores, subject: str = GRANT.subject) -> tuple[int, int]:
    """(Grants that count, grants that wait), of the person."""
    counting, waiting = [
        await stores.pool.fetchval(f"select count(*) from {table} where subject = $1 and relation <> ''", subject)
        for table in ("grants", "suspended_grants")
    ]
    return counting, waiting


async def until_it_waits(stores: Stores, change: asyncio.Task[object]) -> None:
    async with asyncio.timeout(10):
        while not change.done() and not await stores.pool.fetchval(_WAITS):
            await asyncio.sleep(0.01)
    assert not change.done(), "it went on while the user was being changed"


@pytest.fixture(autouse=True)
async def person(stores: Stores) -> None:
    await PostgresProvisionedUsers(stores.pool, Outbox()).add(PERSON)


async def switch(connection: Connection, *, active: bool) -> None:
    await connection.execute(_SWITCH, PERSON.user_id, active)
    await (restore if active else suspend)(connection, Outbox(), PERSON.user_id)


async def test_what_is_given_while_a_user_is_being_suspended_waits_until_the_user_is_active(stores: Stores) -> None:
    async with stores.pool.transaction() as connection:
        await switch(connection, active=False)
        giving = asyncio.create_task(stores.grants.change(SERVER, writes=[GRANT], deletes=()))
        await until_it_waits(stores, giving)
    await giving
    assert await held(stores) == (0, 1)


async def test_what_is_taken_while_a_user_becomes_active_again_is_gone(stores: Stores) -> None:
    await stores.grants.change(SERVER, writes=[GRANT], deletes=())
    async with stores.pool.transaction() as connection:
        await switch(connection, active=False)
    assert await held(stores) == (0, 1)
    async with stores.pool.transaction() as connection:
        await switch(connection, active=True)
        taking = asyncio.create_task(stores.grants.change(SERVER, writes=(), deletes=[GRANT]))
        await until_it_waits(stores, taking)
    await taking
    assert await held(stores) == (0, 0)


@pytest.mark.parametrize("kind", ["namespace", "table"])
async def test_what_a_user_made_and_is_told_while_being_suspended_is_not_owned_yet(stores: Stores, kind: str) -> None:
    await fill(small(), stores.tree, stores.grants)
    await stores.pool.execute(_FEED)
    made = ObjectKey(kind, "p", id_of("w"), id_of("fresh"))
    async with stores.pool.transaction() as connection:
        await switch(connection, active=False)
        telling = asyncio.create_task(stores.tree.apply("later", [(1, Made(made, id_of("n"), GRANT.subject))]))
        await until_it_waits(stores, telling)
    await telling
    assert await held(stores) == (0, 1)
    assert await stores.pool.fetchval(_TOLD, GRANT.subject) == 0
    async with stores.pool.transaction() as connection:
        await switch(connection, active=True)
    assert await held(stores) == (1, 0)


async def test_of_several_that_make_tables_only_who_is_suspended_waits(stores: Stores) -> None:
    await fill(small(), stores.tree, stores.grants)
    async with stores.pool.transaction() as connection:
        await switch(connection, active=False)
    owners = [GRANT.subject, user_subject(UserId("oidc~another")), None]
    keys = [ObjectKey("table", "p", id_of("w"), id_of(f"fresh {number}")) for number in range(3)]
    made = [Made(key, id_of("n"), owner) for key, owner in zip(keys, owners, strict=True)]
    await stores.tree.apply("later", list(enumerate(made, 1)))
    assert await held(stores) == (0, 1)
    assert await stores.pool.fetchval("select count(*) from grants where subject = $1", owners[1]) == 1


async def test_who_comes_suspended_waits_for_what_is_being_given(stores: Stores) -> None:
    newcomer = a_person(901, "newcomer", active=False)
    given = Grant(user_subject(newcomer.user_id), "select")
    async with stores.pool.transaction() as connection:
        await stores.grants.change_in(connection, SERVER, writes=[given], deletes=())
        coming = asyncio.create_task(PostgresProvisionedUsers(stores.pool, Outbox()).add(newcomer))
        await until_it_waits(stores, coming)
    await coming
    assert await held(stores, given.subject) == (0, 1)
