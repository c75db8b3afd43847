"""Pools against a real Postgres, behind a line that is cut."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import timedelta
from urllib.parse import urlsplit

import asyncpg
import pytest

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.failures import OutcomeUnknown
from lakeward_servicekit.postgres.pools import Pool, open_connection, open_pool
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.telemetry import Correlation, bind
from tests.support.proxy import Cut, Direction, Line, proxy

pytestmark = pytest.mark.integration

_TABLES = """
drop table if exists counted, slow_to_commit;
create table counted (n integer primary key);
create table slow_to_commit (n integer);
create or replace function wait() returns trigger language plpgsql as 'begin perform pg_sleep(60); return null; end';
create constraint trigger slowly after insert on slow_to_commit
    deferrable initially deferred for each row execute function wait();
"""

_END_OTHERS = """
select pg_terminate_backend(pid, 5000) from pg_stat_activity
 where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
"""


@pytest.fixture
async def line(postgres_url: str) -> AsyncIterator[Line]:
    parts = urlsplit(postgres_url)
    async with proxy(parts.hostname or "", parts.port or 0) as line:
        yield line


@pytest.fixture
async def beside(postgres_url: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """A connection that no line is before."""
    async with open_connection(SecretStr(postgres_url), name="beside") as connection:
        await connection.execute(_TABLES)
        yield connection
        await connection.execute(_END_OTHERS)  # the server has not noticed yet that some lines are cut


@pytest.fixture
async def pool(postgres_url: str, line: Line, beside: object) -> AsyncIterator[Pool]:
    assert beside is not None
    url = SecretStr(line.instead_of(postgres_url))
    async with open_pool(url, size=2, name="through the line", acquire_timeout=timedelta(seconds=2)) as pool:
        yield pool


async def _begun(beside: asyncpg.Connection[asyncpg.Record], statement: str) -> None:
    """Wait until somebody runs what begins with `statement` in this test's database; others run theirs beside it."""
    async with asyncio.timeout(5):
        while not await beside.fetchval(
            "select count(*) from pg_stat_activity where datname = current_database() and state = 'active'"
            " and query ilike $1 and pid <> pg_backend_pid()",
            statement + "%",
        ):
            pass


async def test_a_pool_recovers_by_itself_when_the_database_comes_back(pool: Pool, line: Line) -> None:
    assert await pool.fetchval("select 1") == 1
    await line.refuse()
    for _ in range(3):
        with pytest.raises(Refusal) as refused:
            await pool.fetchval("select 1")
        assert refused.value.reason == Reason.REASON_DATABASE_UNAVAILABLE
        with pytest.raises(Refusal):
            await pool.ping()
    await line.accept()
    await pool.ping()
    assert await pool.fetchval("select 2") == 2


async def test_a_connection_cut_while_idle_is_replaced_unnoticed(pool: Pool, line: Line) -> None:
    await pool.fetchval("select 1")
    line.cut_all()
    async with asyncio.timeout(5):
        while pool.raw.get_size() > 0:
            await asyncio.sleep(0)  # the loop has yet to see the end of the line
    assert await pool.fetchval("select 2") == 2


async def test_a_database_that_falls_silent_is_told_after_the_acquire_timeout(postgres_url: str, line: Line) -> None:
    url = SecretStr(line.instead_of(postgres_url))
    async with open_pool(url, size=1, name="t") as pool:
        line.pause()
        with pytest.raises(Refusal) as refused:
            await Pool(pool.raw, acquire_timeout=timedelta(milliseconds=300)).fetchval("select 1")
        assert refused.value.reason == Reason.REASON_DATABASE_UNAVAILABLE
        line.resume()
        await pool.ping()


async def test_a_read_that_is_cut_in_the_middle_says_that_nothing_was_changed(
    pool: Pool, line: Line, beside: asyncpg.Connection[asyncpg.Record]
) -> None:
    reading = asyncio.create_task(pool.fetchval("select pg_sleep(60)"))
    await _begun(beside, "select pg_sleep(60)")
    line.cut_all()
    with pytest.raises(Refusal) as refused:
        await reading
    assert refused.value.reason == Reason.REASON_DATABASE_UNAVAILABLE


async def test_a_change_that_is_cut_in_the_middle_has_an_unknown_outcome(
    pool: Pool, line: Line, beside: asyncpg.Connection[asyncpg.Record]
) -> None:
    changing = asyncio.create_task(pool.execute("insert into counted select 1 from pg_sleep(60)"))
    await _begun(beside, "insert into counted")
    line.cut_all()
    with pytest.raises(OutcomeUnknown) as unknown:
        await changing
    assert unknown.value.reason == Reason.REASON_COMMIT_STATE_UNKNOWN


async def test_a_change_that_finds_its_connection_closed_was_not_made(pool: Pool, line: Line) -> None:
    async def change() -> None:
        async with pool.changing() as connection:
            line.cut_all()
            async with asyncio.timeout(5):
                while pool.raw.get_size() > 0:
                    await asyncio.sleep(0)
            await connection.execute("insert into counted values (1)")

    with pytest.raises(Refusal) as refused:
        await change()
    assert refused.value.reason == Reason.REASON_DATABASE_UNAVAILABLE


async def test_a_transaction_cut_before_its_commit_changed_nothing(pool: Pool, line: Line) -> None:
    async def change() -> None:
        async with pool.transaction() as connection:
            await connection.execute("insert into counted values (1)")
            line.cut_all()
            await connection.execute("insert into counted values (2)")

    with pytest.raises(Refusal) as refused:
        await change()
    assert refused.value.reason == Reason.REASON_DATABASE_UNAVAILABLE
    assert await pool.fetchval("select count(*) from counted") == 0


async def test_a_transaction_cut_in_its_commit_has_an_unknown_outcome(
    pool: Pool, line: Line, beside: asyncpg.Connection[asyncpg.Record]
) -> None:
    async def change() -> None:
        async with pool.transaction() as connection:
            await connection.execute("insert into slow_to_commit values (1)")

    changing = asyncio.create_task(change())
    await _begun(beside, "commit")
    line.cut_all()
    with pytest.raises(OutcomeUnknown):
        await changing


@pytest.mark.parametrize("direction", list(Direction))
async def test_a_line_cut_at_any_byte_is_survived(pool: Pool, line: Line, direction: Direction) -> None:
    for count in range(0, 1000, 11):
        line.cut_all()
        line.cut_each(Cut(count, direction))
        with contextlib.suppress(Refusal):
            async with pool.transaction() as connection:
                await connection.execute("insert into counted values ($1)", count)
        line.cut_each(None)
        line.cut_all()
        async with asyncio.timeout(5):
            while True:
                with contextlib.suppress(Refusal):
                    await pool.ping()
                    break


async def test_what_raises_in_a_transaction_rolls_it_back(pool: Pool) -> None:
    async def change() -> None:
        async with pool.transaction() as connection:
            await connection.execute("insert into counted values (1)")
            raise LookupError

    with pytest.raises(LookupError):
        await change()
    assert await pool.fetchval("select count(*) from counted") == 0


async def test_a_constraint_passes_as_postgres_names_it(pool: Pool) -> None:
    await pool.execute("insert into counted values (1)")
    with pytest.raises(asyncpg.UniqueViolationError):
        await pool.execute("insert into counted values (1)")


async def test_two_that_serialize_badly_are_told_to_retry(pool: Pool) -> None:
    async def race() -> None:
        async with pool.transaction(isolation="serializable") as connection:
            count = await connection.fetchval("select count(*) from counted")
            await both.wait()
            await connection.execute("insert into counted values ($1)", count + 10 + len(outcomes))
            outcomes.append(None)

    outcomes: list[None] = []
    both = asyncio.Barrier(2)
    results = await asyncio.gather(race(), race(), return_exceptions=True)
    refused = [result for result in results if isinstance(result, Refusal)]
    assert [result.reason for result in refused] == [Reason.REASON_CONCURRENT_CHANGE]


async def test_a_pool_that_stays_busy_says_so(postgres_url: str) -> None:
    async with open_pool(SecretStr(postgres_url), size=1, name="t") as pool, pool.reading():
        with pytest.raises(Refusal) as refused:
            await Pool(pool.raw, acquire_timeout=timedelta(milliseconds=50)).fetchval("select 1")
    assert refused.value.reason == Reason.REASON_OVERLOADED


async def test_a_wrong_password_is_told_without_it(postgres_url: str) -> None:
    parts = urlsplit(postgres_url)
    wrong = parts._replace(netloc=f"nobody:hunter2@{parts.hostname}:{parts.port}").geturl()
    async with open_pool(SecretStr(wrong), size=1, name="t") as pool:
        with pytest.raises(Refusal) as refused:
            await pool.ping()
    assert refused.value.reason == Reason.REASON_DATABASE_UNAVAILABLE
    assert "hunter2" not in str(refused.value)


async def test_a_statement_that_takes_too_long_is_ended_by_the_server(postgres_url: str) -> None:
    async with open_pool(
        SecretStr(postgres_url), size=1, name="t", statement_timeout=timedelta(milliseconds=20)
    ) as pool:
        with pytest.raises(Refusal) as refused:
            await pool.fetchval("select pg_sleep(5)")
    assert refused.value.reason == Reason.REASON_DEADLINE_EXCEEDED


async def test_statements_are_logged_with_their_request_and_without_their_parameters(
    postgres_url: str,
) -> None:
    from lakeward_servicekit.telemetry.logs import JsonFormatter

    formatted: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            formatted.append(JsonFormatter().format(record))

    logger = logging.getLogger("lakeward_servicekit.postgres.statements")
    logger.setLevel(logging.INFO)
    handler = Keep()
    logger.addHandler(handler)
    try:
        async with open_pool(SecretStr(postgres_url), size=1, name="t", log_statements=True) as pool:
            with bind(Correlation("request-7", "a" * 32, "b" * 16)):
                await pool.fetchval("select $1::text", "hunter2")
            await pool.ping()
    finally:
        logger.removeHandler(handler)
    line = next(line for line in formatted if "$1::text" in line)
    assert '"request_id":"request-7"' in line
    assert "hunter2" not in "".join(formatted)


async def test_names_are_looked_up_in_the_services_own_schema(postgres_url: str) -> None:
    async with open_connection(SecretStr(postgres_url), name="t") as connection:
        await connection.execute('create schema if not exists "Mine"; create table if not exists "Mine".own (n int)')
    async with open_pool(SecretStr(postgres_url), size=1, name="a name", schema="Mine") as pool:
        assert await pool.fetchval("select count(*) from own") == 0
        assert await pool.fetchval("show application_name") == "a name"


async def test_a_connection_goes_back_without_a_round_trip(
    pool: Pool, beside: asyncpg.Connection[asyncpg.Record]
) -> None:
    await pool.fetchval("select 'the last one'")
    last = await beside.fetchval("select query from pg_stat_activity where application_name = 'through the line'")
    assert last == "select 'the last one'"


async def test_connections_past_their_age_are_replaced(postgres_url: str) -> None:
    async with (
        open_pool(SecretStr(postgres_url), size=1, name="t", max_lifetime=timedelta(milliseconds=20)) as pool,
        asyncio.timeout(5),
    ):
        first = await pool.fetchval("select pg_backend_pid()")
        while await pool.fetchval("select pg_backend_pid()") == first:
            pass


async def test_a_cancelled_read_leaves_a_pool_that_works(
    pool: Pool, beside: asyncpg.Connection[asyncpg.Record]
) -> None:
    running = asyncio.create_task(pool.fetchval("select pg_sleep(60)"))
    await _begun(beside, "select pg_sleep(60)")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await pool.fetchval("select 1") == 1
