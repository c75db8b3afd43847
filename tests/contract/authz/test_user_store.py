"""What every store of users promises."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta

import pytest

from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.users import PostgresUsers
from lakeward_authz.application.users import Administrator, User, UserStore
from lakeward_authz.bootstrap import MIGRATIONS
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr
from tests.support.users import FakeUsers

_TABLES = """
select tablename from pg_tables
 where schemaname = 'lakeward_authz' and tablename not in ('alembic_version', 'schema_version', 'outbox')
"""
NOW = datetime(2026, 8, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
ANN = User(UserId("oidc~ann ~é"), Profile("Ann", "ann@x", UserKind.HUMAN), "config-call-creation", NOW)
NAMELESS = dataclasses.replace(ANN, profile=Profile(None, None, UserKind.APPLICATION))


_GRANTS = "select substr(subject, 6) as user_id, relation from grants where kind = 'server' order by subject, relation"


@dataclasses.dataclass
class Kept:
    store: UserStore
    pool: Pool | None
    from_migrations: int = 0

    async def rights(self) -> list[tuple[str, str]]:
        """Users with what they were given on the server."""
        if self.pool is None:
            assert isinstance(self.store, FakeUsers)
            return [*self.store.granted]
        return [(row["user_id"], row["relation"]) for row in await self.pool.fetch(_GRANTS)]

    async def rows(self) -> int:
        """Of all tables together, beside those of the migrations."""
        if self.pool is None:
            assert isinstance(self.store, FakeUsers)
            return len(self.store.rows)
        tables = await self.pool.fetch(_TABLES)
        return (
            sum([await self.pool.fetchval(f'select count(*) from "{table}"') for (table,) in tables])
            - self.from_migrations
        )


@pytest.fixture(params=["fake", pytest.param("postgres", marks=pytest.mark.integration)])
def database(request: pytest.FixtureRequest) -> str | None:
    if request.param == "fake":
        return None
    make: Callable[[], str] = request.getfixturevalue("make_database")
    return make()


@pytest.fixture
async def kept(database: str | None) -> AsyncIterator[Kept]:
    if database is None:
        yield Kept(FakeUsers(), None)
        return
    url = SecretStr(database)
    await migrate(url, package=MIGRATIONS, schema="lakeward_authz")
    async with open_pool(url, size=8, name="test", schema="lakeward_authz") as pool:
        fresh = Kept(PostgresUsers(pool, Outbox()), pool)
        yield dataclasses.replace(fresh, from_migrations=await fresh.rows())


async def test_a_user_comes_back_as_it_was_added(kept: Kept) -> None:
    assert await kept.store.find(ANN.user_id) is None
    assert await kept.store.add(ANN)
    assert await kept.store.find(ANN.user_id) == ANN
    assert await kept.rows() == 1


async def test_of_adds_at_once_one_wins(kept: Kept) -> None:
    added = await asyncio.gather(*(kept.store.add(ANN) for _ in range(8)))
    assert sorted(added) == [False] * 7 + [True]
    assert await kept.rows() == 1


async def test_an_add_changes_nothing_that_is_there(kept: Kept) -> None:
    await kept.store.add(ANN)
    other = dataclasses.replace(ANN, profile=Profile("Else", None, UserKind.APPLICATION))
    assert not await kept.store.add(other)
    assert await kept.store.find(ANN.user_id) == ANN


async def test_only_a_nameless_row_is_completed(kept: Kept) -> None:
    assert not await kept.store.complete(ANN)
    await kept.store.add(NAMELESS)
    assert await kept.store.complete(dataclasses.replace(ANN, created_at=LATER))
    other = dataclasses.replace(ANN, profile=Profile("Else", None, UserKind.HUMAN))
    assert not await kept.store.complete(other)
    assert await kept.store.find(ANN.user_id) == dataclasses.replace(ANN, updated_at=LATER)
    assert await kept.rows() == 1


@pytest.mark.parametrize(
    ("first", "rights"),
    [
        (Administrator(ANN.user_id, True), [(ANN.user_id, "operator")]),
        (Administrator(ANN.user_id, False), [(ANN.user_id, "admin")]),
        (Administrator(None, True), []),
    ],
    ids=["operator", "administrator", "nobody"],
)
async def test_the_first_administrator_is_answered_to_everyone_and_alone_has_a_right(
    kept: Kept, first: Administrator, rights: list[tuple[str, str]]
) -> None:
    assert await kept.store.appoint_first(first, at=NOW) == first
    assert await kept.rights() == rights
    assert await kept.store.appoint_first(Administrator(UserId("oidc~bob"), False), at=NOW) == first
    assert await kept.rights() == rights


async def test_of_first_administrators_at_once_all_hear_of_the_same(kept: Kept) -> None:
    candidates = [Administrator(UserId(f"oidc~{number}"), False) for number in range(8)]
    heard = await asyncio.gather(*(kept.store.appoint_first(candidate, at=NOW) for candidate in candidates))
    (first,) = set(heard)
    assert await kept.rights() == [(first.user_id, "admin")]
