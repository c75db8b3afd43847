"""What every store of leases keeps to: one in memory, and Postgres."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.leases import Lease, LeaseStore, hold, keep_holding
from lakeward_servicekit.postgres.lease_table import define_leases
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.secrecy import SecretStr

if TYPE_CHECKING:
    from lakeward_servicekit.postgres.pools import Pool

_LONG = timedelta(minutes=5)
_NAMES = itertools.count()


class Expiring(Protocol):
    """A store whose time a test can let run out."""

    @property
    def store(self) -> LeaseStore: ...

    async def run_out(self, name: str) -> None: ...


@dataclass
class MemoryLeases:
    """The fake: a clock that stands still until it is moved."""

    now: float = 0.0
    held: dict[str, tuple[Lease, float]] = field(default_factory=dict)

    @property
    def store(self) -> LeaseStore:
        return self

    async def run_out(self, name: str) -> None:
        lease, _ = self.held[name]
        self.held[name] = (lease, self.now)

    async def acquire(self, name: str, *, holder: str, lifetime: timedelta) -> Lease | None:
        lease, until = self.held.get(name, (Lease(name, "", 0), self.now))
        if until > self.now and lease.holder != holder:
            return None
        if until <= self.now:
            lease = Lease(name, holder, lease.fence + 1)
        self.held[name] = (lease, self.now + lifetime.total_seconds())
        return lease

    async def renew(self, lease: Lease, *, lifetime: timedelta) -> bool:
        held, until = self.held[lease.name]
        if held != lease or until <= self.now:
            return False
        self.held[lease.name] = (lease, self.now + lifetime.total_seconds())
        return True

    async def release(self, lease: Lease) -> None:
        if self.held[lease.name][0] == lease:
            self.held[lease.name] = (lease, self.now)


@dataclass
class InPostgres:
    pool: Pool

    @property
    def store(self) -> LeaseStore:
        return PostgresLeases(self.pool)

    async def run_out(self, name: str) -> None:
        await self.pool.execute("update lease set expires_at = clock_timestamp() where name = $1", name)


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.integration)])
def url(request: pytest.FixtureRequest) -> str | None:
    """Where the leases are; None for those in memory."""
    return request.getfixturevalue("postgres_url") if request.param == "postgres" else None


@pytest.fixture
async def leases(url: str | None) -> AsyncIterator[Expiring]:
    if url is None:
        yield MemoryLeases()
        return
    table = CreateTable(define_leases(sa.MetaData()), if_not_exists=True)
    async with open_pool(SecretStr(url), size=4, name="leases") as pool:
        await pool.execute(str(table.compile(dialect=postgresql.dialect())))  # type: ignore[no-untyped-call]
        yield InPostgres(pool)


@pytest.fixture
def name() -> str:
    return f"work-{next(_NAMES)}"


async def test_a_lease_that_is_held_is_nobody_elses(leases: Expiring, name: str) -> None:
    first = await leases.store.acquire(name, holder="a", lifetime=_LONG)
    assert first is not None
    assert await leases.store.acquire(name, holder="b", lifetime=_LONG) is None
    assert await leases.store.acquire(name + "-other", holder="b", lifetime=_LONG) is not None


async def test_the_fence_grows_with_each_holder_and_never_starts_again(leases: Expiring, name: str) -> None:
    fences: list[int] = []
    for holder in ("a", "b", "a", "a"):
        lease = await leases.store.acquire(name, holder=holder, lifetime=_LONG)
        assert lease is not None
        fences.append(lease.fence)
        await leases.store.release(lease)
    assert fences == sorted(set(fences))


async def test_a_holder_that_asks_again_gets_its_own_lease(leases: Expiring, name: str) -> None:
    first = await leases.store.acquire(name, holder="a", lifetime=_LONG)
    assert await leases.store.acquire(name, holder="a", lifetime=_LONG) == first


async def test_a_lease_whose_time_ran_out_is_anybodys_and_can_not_be_renewed(leases: Expiring, name: str) -> None:
    lost = await leases.store.acquire(name, holder="a", lifetime=_LONG)
    assert lost is not None
    await leases.run_out(name)
    assert not await leases.store.renew(lost, lifetime=_LONG)
    taken = await leases.store.acquire(name, holder="b", lifetime=_LONG)
    assert taken is not None
    assert taken.fence > lost.fence
    assert not await leases.store.renew(lost, lifetime=_LONG)
    assert await leases.store.renew(taken, lifetime=_LONG)


async def test_who_lost_a_lease_can_not_release_its_successors(leases: Expiring, name: str) -> None:
    lost = await leases.store.acquire(name, holder="a", lifetime=_LONG)
    assert lost is not None
    await leases.run_out(name)
    assert await leases.store.acquire(name, holder="b", lifetime=_LONG) is not None
    await leases.store.release(lost)
    assert await leases.store.acquire(name, holder="c", lifetime=_LONG) is None


async def test_of_many_that_ask_at_once_exactly_one_gets_it(leases: Expiring, name: str) -> None:
    got = await asyncio.gather(*(leases.store.acquire(name, holder=str(n), lifetime=_LONG) for n in range(8)))
    assert sum(lease is not None for lease in got) == 1


async def test_work_that_ends_releases_its_lease(leases: Expiring, name: str) -> None:
    seen: list[Lease] = []

    async def work(lease: Lease) -> None:
        seen.append(lease)

    assert await hold(leases.store, name, work, holder="a", lifetime=_LONG)
    assert await leases.store.acquire(name, holder="b", lifetime=_LONG) is not None
    assert [lease.name for lease in seen] == [name]


async def test_work_is_not_begun_while_another_has_the_lease(leases: Expiring, name: str) -> None:
    await leases.store.acquire(name, holder="b", lifetime=_LONG)
    assert not await hold(leases.store, name, _never, holder="a", lifetime=_LONG)


async def test_a_lost_lease_cancels_its_work(leases: Expiring, name: str) -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def work(_: Lease) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    holding = asyncio.create_task(hold(leases.store, name, work, holder="a", lifetime=timedelta(milliseconds=300)))
    await begun.wait()
    await leases.run_out(name)
    async with asyncio.timeout(5):
        assert not await holding
    assert cancelled.is_set()


async def test_what_work_raises_is_raised_and_the_lease_let_go(leases: Expiring, name: str) -> None:
    async def work(_: Lease) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        await hold(leases.store, name, work, holder="a", lifetime=_LONG)
    assert await leases.store.acquire(name, holder="b", lifetime=_LONG) is not None


async def test_a_cancelled_holder_stops_its_work_and_lets_go(leases: Expiring, name: str) -> None:
    begun = asyncio.Event()

    async def work(_: Lease) -> None:
        begun.set()
        await asyncio.Event().wait()

    holding = asyncio.create_task(hold(leases.store, name, work, holder="a", lifetime=_LONG))
    await begun.wait()
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding
    assert await leases.store.acquire(name, holder="b", lifetime=_LONG) is not None


@dataclass
class Away:
    """A store that goes away after a lease was acquired; `silent`, it does not even answer."""

    silent: bool
    inner: MemoryLeases = field(default_factory=MemoryLeases)

    async def acquire(self, name: str, *, holder: str, lifetime: timedelta) -> Lease | None:
        return await self.inner.acquire(name, holder=holder, lifetime=lifetime)

    async def renew(self, lease: Lease, *, lifetime: timedelta) -> bool:
        del lease, lifetime
        if self.silent:
            await asyncio.Event().wait()
        raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "away")

    async def release(self, lease: Lease) -> None:
        del lease
        raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "away")


@pytest.mark.parametrize("silent", [False, True])
async def test_work_stops_before_the_lease_runs_out_when_the_store_is_away(silent: bool) -> None:
    lifetime = timedelta(milliseconds=300)
    loop = asyncio.get_running_loop()
    begun, late = loop.time(), 0.0

    def due_at(moment: float) -> None:
        nonlocal late
        late = loop.time() - moment

    beside = loop.call_at(begun + 0.8 * lifetime.total_seconds(), lambda: due_at(beside.when()))
    assert not await hold(Away(silent), "work", _forever, holder="a", lifetime=lifetime)
    # by the loop's clock, and not by that of a machine that did not let it run
    assert loop.time() - begun - late < lifetime.total_seconds()


async def test_work_that_outlasts_its_lifetime_keeps_a_lease_that_is_renewed() -> None:
    async with asyncio.timeout(30):
        while True:
            leases = _Counting()

            async def work(_: Lease, leases: _Counting = leases) -> None:
                await leases.renewed_often.wait()

            # one that a busy machine renews too late is given up, as it should be; without renewals each would be
            if await hold(leases, "work", work, holder="a", lifetime=timedelta(milliseconds=150)):
                break


@dataclass
class _Counting(MemoryLeases):
    renewals: int = 0
    renewed_often: asyncio.Event = field(default_factory=asyncio.Event)

    async def renew(self, lease: Lease, *, lifetime: timedelta) -> bool:
        self.renewals += 1
        if self.renewals > 5:
            self.renewed_often.set()
        return await super().renew(lease, lifetime=lifetime)


async def test_a_background_loop_goes_on_after_its_work_failed() -> None:
    rounds: list[int] = []
    third = asyncio.Event()

    async def work(lease: Lease) -> None:
        rounds.append(lease.fence)
        if len(rounds) == 3:
            third.set()
        raise LookupError if len(rounds) == 1 else Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "away")

    async def pause(_: timedelta) -> None:
        await asyncio.sleep(0)

    loop = asyncio.create_task(keep_holding(MemoryLeases(), "work", work, holder="a", lifetime=_LONG, pause=pause))
    async with asyncio.timeout(5):
        await third.wait()
    loop.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await loop
    assert rounds[:3] == [1, 2, 3]


async def _forever(_: Lease) -> None:
    await asyncio.Event().wait()


async def _never(_: Lease) -> None:
    raise AssertionError("work began without its lease")
