"""What is kept of events while sinks are away or refuse some, and how far behind they are said to be."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from lakeward_authz.bootstrap import MIGRATIONS
from lakeward_servicekit.events.dead_letters import PostgresDeadLetters
from lakeward_servicekit.events.lag import PostgresLag, SinkLag
from lakeward_servicekit.events.outbox import tell
from lakeward_servicekit.events.postgres_log import DAY, EVENT_SLOTS, HELD_DAYS, READ_BYTES, PostgresEventLog
from lakeward_servicekit.events.relay import DeadLetter, LoggedEvent
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr
from tests.support.catalog.values import NOON, an_event

pytestmark = pytest.mark.integration
SCHEMA = "lakeward_keeping"
_LOGGED = """
insert into event_log (stream, seq, slot, event_id, kind, verb, body, at)
values ($1, $2, $3, gen_random_uuid(), 'k', 'v', $4, now() - interval '1 hour')
"""
_MORE = f"""
with reached as (
    insert into event_stream as known (stream, seq) values ('s', $1)
    on conflict (stream) do update set seq = known.seq + $1 returning seq)
insert into event_log (stream, seq, slot, event_id, kind, verb, body, at)
select 's', reached.seq - $1 + n, (extract(epoch from clock_timestamp())::bigint / 86400) % {EVENT_SLOTS},
       gen_random_uuid(), 'k', 'v', decode(repeat('00', 1000), 'hex'), now()
  from reached cross join generate_series(1, $1) n
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def migrated(postgres_url: str) -> AsyncIterator[Pool]:
    url = SecretStr(postgres_url)
    await migrate(url, package=MIGRATIONS, schema=SCHEMA)
    async with open_pool(url, size=3, name="test", schema=SCHEMA) as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="session")
async def pool(migrated: Pool) -> Pool:
    await migrated.execute("truncate outbox, event_log, event_stream, sink_cursor, dead_letter")
    return migrated


async def _days(pool: Pool, *ages: int, size: int = 1) -> None:
    """One event of the stream "s" a day, the oldest first."""
    today = await pool.fetchval(DAY)
    for sequence, age in enumerate(ages, start=1):
        await pool.execute(_LOGGED, "s", sequence, (today - age) % EVENT_SLOTS, b"x" * size)
    await pool.execute("insert into event_stream (stream, seq) values ('s', $1)", len(ages))


async def _left(log: PostgresEventLog) -> list[int]:
    return [each.sequence for each in await log.read("s", after=0, limit=100)]


async def test_what_a_configured_sink_has_not_taken_is_kept_until_its_day_is_too_old(pool: Pool) -> None:
    await _days(pool, HELD_DAYS + 1, 9, 8, 3)
    log = PostgresEventLog(pool, sinks=("nats",))
    assert await log.forget(days=7) == 1
    assert await _left(log) == [2, 3, 4]
    await log.take("nats", "s", 2)
    assert await log.forget(days=7) == 1
    assert await _left(log) == [3, 4]
    assert await PostgresEventLog(pool).forget(days=7) == 1
    assert await _left(log) == [4]


async def test_a_log_that_is_too_large_loses_its_oldest_days_first(
    pool: Pool, caplog: pytest.LogCaptureFixture
) -> None:
    await _days(pool, 2, 1, 0)
    log = PostgresEventLog(pool, sinks=("nats",), most_bytes=1)
    assert await log.forget(days=7) == 2
    assert await _left(log) == [3]
    told = [each for each in caplog.records if each.getMessage().startswith("a day of events is forgotten")]
    assert [each.__dict__["days_old"] for each in told] == [1, 2]


async def test_a_day_that_is_too_large_by_itself_loses_its_oldest_events_and_grows_no_more(
    pool: Pool, caplog: pytest.LogCaptureFixture
) -> None:
    """A sink is away, and a day writes more than the log may take: the file stays as large as it is."""
    table = f"event_log_{await pool.fetchval(DAY) % EVENT_SLOTS:02d}"

    async def write(events: int) -> int:
        """So many more of the stream "s"; bytes of the day."""
        await pool.execute(_MORE, events)
        size: int = await pool.fetchval("select pg_relation_size($1::text::regclass)", table)
        return size

    await write(800)
    log = PostgresEventLog(pool, sinks=("nats",), most_bytes=1 << 10)
    await log.take("nats", "s", 10)
    full = await write(0)
    assert await log.forget(days=7) == 0
    [left, *_] = await log.read("s", after=0, limit=1)
    assert left.sequence == 100
    [told] = [each for each in caplog.records if "since the log is full" in each.getMessage()]
    assert (told.levelname, told.__dict__["events"], told.__dict__["sinks_behind"]) == ("ERROR", 99, 1)

    await log.forget(days=7)  # what was freed is not filled yet, so nothing more goes
    assert (await log.read("s", after=0, limit=1))[0].sequence == 100
    sizes = []
    for _ in range(8):
        sizes.append(await write(90))
        await log.forget(days=7)
    assert max(sizes) <= 1.3 * full, sizes
    newest = await pool.fetchval("select seq from event_stream where stream = 's'")
    assert [each.sequence for each in await log.read("s", after=newest - 3, limit=9)] == [
        newest - 2,
        newest - 1,
        newest,
    ]


async def test_a_batch_ends_where_it_is_large_enough_and_is_never_empty(pool: Pool) -> None:
    await _days(pool, 0, 0, 0, 0, size=READ_BYTES // 2)
    log = PostgresEventLog(pool)
    assert [each.sequence for each in await log.read("s", after=0, limit=100)] == [1, 2]
    assert [each.sequence for each in await log.read("s", after=2, limit=1)] == [3]


async def test_a_batch_of_small_events_ends_before_a_large_one(pool: Pool) -> None:
    await _days(pool, 0, 0, size=10)
    await pool.execute(_LOGGED, "s", 3, 0, b"x" * READ_BYTES)
    log = PostgresEventLog(pool)
    small = await log.read("s", after=0, limit=100)
    assert [(each.sequence, len(each.event.body)) for each in small] == [(1, 10), (2, 10)]
    [large] = await log.read("s", after=2, limit=100)
    assert (large.sequence, len(large.event.body)) == (3, READ_BYTES)


async def test_what_was_refused_is_kept_whole_listed_and_published_again_or_dropped(pool: Pool) -> None:
    log, letters = PostgresEventLog(pool), PostgresDeadLetters(pool)
    events = [LoggedEvent(n, an_event("s", body=b"body"), NOON) for n in (1, 2, 3)]
    for logged in events[:2]:
        assert await log.set_aside(DeadLetter("nats", logged, "too large", 5), most=2)
    assert not await log.set_aside(DeadLetter("nats", events[2], "too large", 5), most=2)
    assert await log.set_aside(DeadLetter("kafka", events[2], "too large", 5), most=2)
    assert [(each.sequence, each.size, each.reason) for each in await letters.shown(sink="nats", limit=9)] == [
        (1, 4, "too large"),
        (2, 4, "too large"),
    ]
    assert await log.wanted_again("nats") == []
    assert await letters.retry(sink="nats", stream="s", sequence=2) == 1
    assert await log.wanted_again("nats") == [events[1]]
    await log.settle("nats", "s", 2, refused="still too large")
    assert await log.wanted_again("nats") == []
    assert await letters.retry(sink="nats") == 2
    await log.settle("nats", "s", 1)
    [left] = await letters.shown(sink="nats", limit=9)
    assert (left.sequence, left.reason, left.attempts, left.again) == (2, "still too large", 6, True)
    assert await letters.drop(sink="nats") == 1
    assert [each.sink for each in await letters.shown(limit=9)] == ["kafka"]


async def test_how_far_events_are_behind_is_said_for_outbox_and_sinks(pool: Pool) -> None:
    empty = await PostgresLag(pool).read(["nats"])
    assert (empty.unordered, empty.unordered_oldest_seconds) == (0, 0)
    assert empty.sinks == (SinkLag("nats", 0, 0, 0),)
    await _days(pool, 0, 0, 0)
    async with pool.transaction() as connection:
        await tell(connection, an_event("s"), an_event("t"))
    log = PostgresEventLog(pool)
    await log.take("nats", "s", 1)
    await log.set_aside(DeadLetter("nats", LoggedEvent(1, an_event("s"), NOON), "no", 5), most=9)
    lag = await PostgresLag(pool).read(["kafka", "nats"])
    assert lag.unordered == 2
    assert lag.unordered_oldest_seconds > 0
    assert lag.log_bytes > 0
    assert [dataclasses.replace(each, oldest_seconds=0) for each in lag.sinks] == [
        SinkLag("kafka", 3, 0, 0),
        SinkLag("nats", 2, 0, 1),
    ]
    assert all(3500 < each.oldest_seconds < 10_000 for each in lag.sinks)


async def test_a_marked_commit_rings_once_it_is_done_and_one_that_failed_does_not(pool: Pool) -> None:
    rung: list[int] = []

    async def failing() -> None:
        async with pool.transaction() as connection:
            await tell(connection, an_event("s"))
            raise LookupError

    before, pool.marked = pool.marked, lambda: rung.append(1)
    try:
        async with pool.transaction() as connection:
            await tell(connection, an_event("s"))
            assert not rung
        assert rung == [1]
        async with pool.transaction() as connection:
            await connection.execute("select 1")
        with pytest.raises(LookupError):
            await failing()
        assert rung == [1]
    finally:
        pool.marked = before
