"""What every store of users promises."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from pydantic import SecretStr

from lakeward.authz.adapters.postgres.users import PostgresUsers
from lakeward.authz.application.users import Administrator, User, UserStore
from lakeward.authz.bootstrap import MIGRATIONS
from lakeward.authz.domain.events import Event
from lakeward.authz.domain.profiles import Profile, UserKind
from lakeward.servicekit.authorization.principals import UserId
from lakeward.servicekit.postgres.migrating import migrate
from lakeward.servicekit.postgres.pools import Pool, open_pool
from tests.support.users import FakeUsers

NOW = datetime(2026, 8, 1, tzinfo=UTC)
ANN = User(UserId("oidc~ann ~é"), Profile("Ann", "ann@x", UserKind.HUMAN), "config-call-creation", deleted=False)
NAMELESS = dataclasses.replace(ANN, profile=Profile(None, None, UserKind.APPLICATION))


@dataclasses.dataclass
class Kept:
    store: UserStore
    pool: Pool | None

    async def events(self) -> list[str]:
        if self.pool is None:
            assert isinstance(self.store, FakeUsers)
            return [event.verb for event in self.store.events]
        rows = await self.pool.fetch(
            "select verb from outbox where stream = 'server' and kind = 'user' order by outbox_id"
        )
        return [row["verb"] for row in rows]


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
        yield Kept(PostgresUsers(pool), pool)


def event(verb: str = "created") -> Event:
    return Event(uuid4(), "server", "user", verb, b"{}")


async def test_a_user_comes_back_as_it_was_added(kept: Kept) -> None:
    assert await kept.store.find(ANN.user_id) is None
    assert await kept.store.add(ANN, at=NOW, event=event())
    assert await kept.store.find(ANN.user_id) == ANN
    assert await kept.events() == ["created"]


async def test_of_adds_at_once_one_wins_and_one_event_is_written(kept: Kept) -> None:
    added = await asyncio.gather(*(kept.store.add(ANN, at=NOW, event=event()) for _ in range(8)))
    assert sorted(added) == [False] * 7 + [True]
    assert await kept.events() == ["created"]


async def test_an_add_changes_nothing_that_is_there(kept: Kept) -> None:
    await kept.store.add(ANN, at=NOW, event=event())
    other = dataclasses.replace(ANN, profile=Profile("Else", None, UserKind.APPLICATION))
    assert not await kept.store.add(other, at=NOW, event=event())
    assert await kept.store.find(ANN.user_id) == ANN


async def test_only_a_nameless_row_is_completed(kept: Kept) -> None:
    assert not await kept.store.complete(ANN, at=NOW, event=event("updated"))
    await kept.store.add(NAMELESS, at=NOW, event=event())
    assert await kept.store.complete(ANN, at=NOW, event=event("updated"))
    other = dataclasses.replace(ANN, profile=Profile("Else", None, UserKind.HUMAN))
    assert not await kept.store.complete(other, at=NOW, event=event("updated"))
    assert await kept.store.find(ANN.user_id) == ANN
    assert await kept.events() == ["created", "updated"]


@pytest.mark.parametrize("first", [Administrator(ANN.user_id, True), Administrator(None, False)])
async def test_the_first_administrator_is_answered_to_everyone(kept: Kept, first: Administrator) -> None:
    assert await kept.store.appoint_first(first, at=NOW) == first
    assert await kept.store.appoint_first(Administrator(UserId("oidc~bob"), False), at=NOW) == first


async def test_of_first_administrators_at_once_all_hear_of_the_same(kept: Kept) -> None:
    candidates = [Administrator(UserId(f"oidc~{number}"), False) for number in range(8)]
    heard = await asyncio.gather(*(kept.store.appoint_first(candidate, at=NOW) for candidate in candidates))
    assert len(set(heard)) == 1
