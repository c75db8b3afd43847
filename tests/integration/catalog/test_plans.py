"""Every hot statement finds its rows by an index, whatever Postgres knows of how many there are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final

import asyncpg
import pytest
import pytest_asyncio

from lakeward_catalog.adapters.postgres import tabulars
from lakeward_catalog.domain.model import Tabular
from lakeward_components.postgres import PostgresServer
from lakeward_servicekit.postgres.addresses import address_of
from lakeward_servicekit.postgres.outgrown import count_again
from lakeward_servicekit.postgres.plans import with_generic_plans, with_plans_by_keys
from lakeward_servicekit.postgres.pools import Connection, Pool
from lakeward_servicekit.secrecy import SecretStr
from tests.support.catalog.hot_statements import CREATING, NAMES, creating, fill, furnish, statements
from tests.support.catalog.stores import SCHEMA, PostgresStores, catalog_pool
from tests.support.components import fresh_database

pytestmark = pytest.mark.integration


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def filled(pool: Pool, stores: PostgresStores) -> Tabular:
    """A table among ten thousand, in one of a thousand namespaces, all of which Postgres has counted."""
    tabular = await furnish(stores)
    await fill(stores, tabular)
    async with pool.changing() as connection:
        await connection.execute("analyze")
    return tabular


@pytest_asyncio.fixture(loop_scope="session")
async def connection(pool: Pool) -> AsyncIterator[Connection]:
    """In a transaction that is rolled back, as a session that makes generic plans."""
    async with pool.reading() as lent:
        await lent.execute("begin")
        await lent.execute("set local plan_cache_mode = force_generic_plan")
        yield lent
        await lent.execute("rollback")


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


async def _explained(connection: Connection, statement: str, *arguments: object) -> tuple[set[str], set[str]]:
    """(relations that are read from one end to the other, indexes that are used)."""
    text = await connection.fetchval(f"explain (format json) {statement}", *arguments)
    nodes = list(_nodes(json.loads(text)[0]["Plan"]))
    scanned = {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"}
    return scanned, {node["Index Name"] for node in nodes if "Index Name" in node}


@pytest.mark.parametrize("name", NAMES)
async def test_a_hot_statement_uses_its_indexes_and_reads_no_large_table_through(
    filled: Tabular, connection: Connection, name: str
) -> None:
    statement, arguments, wanted = statements(filled)[name]
    if name == "search":
        await connection.execute(tabulars.ENOUGH, "0.5")
    scanned, used = await _explained(connection, statement, *arguments)
    assert scanned <= {"warehouse", "lease"}, f"{name} reads {scanned} through"  # which has a row a loop
    assert wanted <= used


# Right by themselves; the others, once Postgres has counted again.
_STEADY: Final = (
    "locate",
    "views",
    "body",
    "body of references",
    "commit",
    "commit of several",
    "page",
    "visible page",
    "namespace lock",
    *CREATING,
)
_LOOKED_UP: Final = frozenset({"locate", "views", "namespaces by id", "by id", "by location", "warehouse by name"})
# As `tabulars.ENOUGH` has it, for the session: a transaction is taken back with what it set.
_SEARCHING: Final = "set pg_trgm.word_similarity_threshold = 0.5; set enable_seqscan = off"
_TABLES: Final = "select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'"
_MOST_BLOCKS: Final = 400
_MANY_BLOCKS: Final = {"search": 4000, "a stream's next changes": 4000, "tables to compare": 4000}
_MOST_PASSED_OVER: Final = 150


@dataclass(frozen=True, slots=True)
class _Run:
    """What one run of a statement touched.

    Attributes:
        blocks: of Postgres' own memory, 8 KB each.
        passed_over: rows that were read and did not count.
        plan: as Postgres explains it.
    """

    blocks: int
    passed_over: int
    plan: str


class _Session:
    """A session that tells what its statements touch."""

    def __init__(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        self._connection = connection
        self._told: list[str] = []
        self._prepared: dict[str, asyncpg.prepared_stmt.PreparedStatement[asyncpg.Record]] = {}
        connection.add_log_listener(lambda _, message: self._told.append(message.message))

    async def set(self, settings: str) -> None:
        """Change settings of the session."""
        await self._connection.execute(settings)

    async def run(self, statement: str, arguments: Sequence[object]) -> _Run:
        """Run a statement, which is prepared when it is run first, and take back what it changed."""
        if statement not in self._prepared:
            self._prepared[statement] = await self._connection.prepare(statement)
        self._told.clear()
        transaction = self._connection.transaction()
        await transaction.start()
        await self._prepared[statement].fetch(*arguments)
        await transaction.rollback()
        runs = [_run(text[text.index("{") :]) for text in self._told if '"Plan"' in text]
        return max(runs, key=lambda run: run.blocks)


def _run(text: str) -> _Run:
    plan = json.loads(text)["Plan"]
    removed = sum(
        node.get(f"Rows Removed by {what}", 0) * node["Actual Loops"]
        for node in _nodes(plan)
        for what in ("Filter", "Join Filter", "Index Recheck")
    )
    return _Run(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], int(removed), text)


async def _session(stack: AsyncExitStack, url: SecretStr) -> _Session:
    address = address_of(url.get_secret_value(), name="lakeward plans test", schema=SCHEMA)
    connection = await asyncpg.connect(address.dsn, server_settings=dict(address.server_settings))
    stack.push_async_callback(connection.close)
    await connection.execute(
        "load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on;"
        "set auto_explain.log_buffers = on; set auto_explain.log_timing = off; set auto_explain.log_format = json;"
        "set client_min_messages = log; set plan_cache_mode = force_generic_plan"
    )
    return _Session(connection)


@dataclass(frozen=True, slots=True)
class _Grown:
    """What statements touched that were planned when the catalog was young, now that it is large.

    Attributes:
        before: by name, while Postgres has not counted again.
        after: when it has.
    """

    before: Mapping[str, _Run]
    after: Mapping[str, _Run]


@pytest.fixture(scope="module", params=[False, True], ids=["never counted", "counted when it was young"])
def young(request: pytest.FixtureRequest, postgres_server: PostgresServer) -> Iterator[tuple[str, bool]]:
    """(URL of an empty database, whether Postgres is to count in it while it is young)."""
    with fresh_database(postgres_server) as url:
        yield url, request.param


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def grown(young: tuple[str, bool]) -> AsyncIterator[_Grown]:
    """A catalog that grew from one table to four thousand under sessions that had planned everything."""
    url, counted = young
    async with catalog_pool(url) as pool, AsyncExitStack() as stack:
        stores = PostgresStores(pool)
        for table in await pool.fetch(_TABLES):
            await pool.execute(f'alter table "{table[0]}" set (autovacuum_enabled = off)')
        tabular = await furnish(stores)
        if counted:
            await pool.execute("analyze")
        lookups = await _session(stack, with_generic_plans(SecretStr(url)))
        others = await _session(stack, with_plans_by_keys(SecretStr(url)))
        searching = await _session(stack, with_plans_by_keys(SecretStr(url)))
        await searching.set(_SEARCHING)
        asked = {**statements(tabular), **await creating(tabular)}

        async def all_of_them() -> Mapping[str, _Run]:
            return {
                name: await (searching if name == "search" else lookups if name in _LOOKED_UP else others).run(
                    statement, arguments
                )
                for name, (statement, arguments, _) in asked.items()
            }

        await all_of_them()
        await fill(stores, tabular, tables=4000, namespaces=300, used=8)
        before = await all_of_them()
        assert await count_again(pool)
        assert await count_again(pool) == []
        yield _Grown(before, await all_of_them())


def _assert_little_was_touched(name: str, run: _Run) -> None:
    assert run.passed_over <= _MOST_PASSED_OVER, f"{name} passed over {run.passed_over} rows: {run.plan}"
    assert run.blocks <= _MANY_BLOCKS.get(name, _MOST_BLOCKS), f"{name} touched {run.blocks} blocks: {run.plan}"


@pytest.mark.parametrize("name", _STEADY)
async def test_what_is_asked_most_keeps_to_its_rows_though_it_was_planned_for_an_empty_catalog(
    grown: _Grown, name: str
) -> None:
    _assert_little_was_touched(name, grown.before[name])


@pytest.mark.parametrize("name", [*NAMES, *CREATING])
async def test_every_hot_statement_keeps_to_its_rows_once_its_tables_outgrew_their_count(
    grown: _Grown, name: str
) -> None:
    _assert_little_was_touched(name, grown.after[name])


async def test_plans_that_were_made_too_early_are_the_trouble_that_counting_again_ends(grown: _Grown) -> None:
    worst = max(grown.before.values(), key=lambda run: run.passed_over)
    assert worst.passed_over > 20 * _MOST_PASSED_OVER, "nothing here would have shown that it was ended"
