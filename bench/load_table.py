"""Loads of a 3 KB table against the same bytes selected from the same Postgres, while a writer commits to the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import asyncpg

from bench.client import Connection
from bench.figures import Figure, median
from bench.freshness import PROPERTY, Counter, counter, writing
from bench.generators import Wrk, run_pgbench, run_wrk
from bench.meter import Usage, metered
from bench.plan import Plan
from bench.stack import Composition, Lakeward, Stack
from bench.warehouse import OK, Warehouse, make_namespace, make_table, make_warehouse

BENCH: Final = "load_table"
BYTES: Final = 3072
CLIENT_MANAGED: Final[Mapping[str, str]] = {"x-iceberg-access-delegation": "client-managed"}
_BOUNDS: Final = {Composition.ONE_PROCESS: (0.20, 0.10), Composition.FOUR_PROCESSES: (0.10, 0.05)}
_NAMESPACE: Final = "loads"
_FILLINGS: Final = 8


class StaleReadError(Exception):
    """A reply lacked an acknowledged commit, or could not be checked."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One kind of load.

    Attributes:
        judged: whether goal and floor are this one's.
        where: see `fresh.lua`.
    """

    name: str
    table: str
    headers: Mapping[str, str]
    where: str
    status: int = OK
    judged: bool = False


@dataclass(slots=True)
class Seen:
    """What the rounds of a leg gave."""

    loads: list[Wrk] = field(default_factory=list)
    selects: list[float] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return median([load.per_second / select for load, select in zip(self.loads, self.selects, strict=True)])


async def run(served: Lakeward, plan: Plan, *, cores: int) -> Sequence[Figure]:
    """All legs, each beside its own pgbench, in turns.

    Raises:
        StaleReadError: a reply was older than it may be, or the check was found blind.
    """
    warehouse = await make_warehouse(served)
    tag, body = await _prepare(served, warehouse)
    script = await _pgbench_table(served.stack, body)
    legs = _legs(tag)
    seen = {leg.name: Seen() for leg in legs}
    path = warehouse.table(_NAMESPACE, "written")
    with counter(served.stack.home / "acknowledged") as told:
        await _see_a_fault(served, warehouse, legs[0], told)
        async with writing(served.url, path, told, headers=CLIENT_MANAGED) as written:
            for _ in range(plan.rounds):
                for leg in legs:
                    seen[leg.name].selects.append(await run_pgbench(served.stack, script=script, seconds=plan.seconds))
                    with metered(served.groups()) as usage:
                        seen[leg.name].loads.append(await _load(served, warehouse, leg, told, plan.seconds))
                    seen[leg.name].usages.append(usage)
    if written.stale_tags:
        raise StaleReadError(f"{written.stale_tags} conditional loads were told that nothing changed after a commit")
    writes = f"{written.commits} commits meanwhile"
    return [
        _figure(served.composition, leg, seen[leg.name], size=len(body), cores=cores, writes=writes) for leg in legs
    ]


def _legs(tag: str) -> Sequence[Leg]:
    return (
        Leg("no delegation", "written", CLIENT_MANAGED, "property", judged=True),
        Leg("no delegation, gzip", "written", {**CLIENT_MANAGED, "accept-encoding": "gzip"}, "location"),
        Leg("vended credentials, gzip", "written", {"accept-encoding": "gzip"}, "location"),
        Leg("304", "still", {**CLIENT_MANAGED, "if-none-match": tag}, "nothing", status=304),
    )


async def _prepare(served: Lakeward, warehouse: Warehouse) -> tuple[str, bytes]:
    """Two tables of 3 KB, one for the writer: (the tag of the other, the body of its load)."""
    async with Connection(served.url, headers={"accept-encoding": "identity"}) as connection:
        await make_namespace(connection, warehouse, _NAMESPACE)
        # one older file in the log, so that a table stays at its size however many commits are made
        properties = {"write.metadata.previous-versions-max": "1", PROPERTY: "0" * 12}
        for name in ("written", "still"):
            await make_table(connection, warehouse, _NAMESPACE, name, properties=properties)
            await _fill(connection, warehouse.table(_NAMESPACE, name))
        reply = (await connection.get(warehouse.table(_NAMESPACE, "still"), CLIENT_MANAGED)).expect(OK)
    return reply.headers["etag"], reply.body


async def _fill(connection: Connection, path: str) -> None:
    """Commits until the reply to a load is 3 KB long."""
    for _ in range(_FILLINGS):
        reply = (await connection.get(path, CLIENT_MANAGED)).expect(OK)
        missing = BYTES - len(reply.body)
        comment = reply.json()["metadata"]["properties"].get("comment", "")
        if missing == 0:
            return
        updates = {"comment": _prose(len(comment) + missing - (0 if comment else len(',"comment":""')))}
        body = {"requirements": [], "updates": [{"action": "set-properties", "updates": updates}]}
        (await connection.post(path, body)).expect(OK)
    raise RuntimeError(f"{path} can't be brought to {BYTES} bytes")


def _prose(length: int) -> str:
    text = "Events of the shop, one row each, kept for thirteen months and then archived by the nightly job. "
    return (text * (length // len(text) + 1))[:length]


async def _pgbench_table(parts: Stack, body: bytes) -> Path:
    """A row with the same bytes, as text: a client of Postgres gets bytea as hexadecimal, twice as long."""
    connection = await asyncpg.connect(parts.database)
    try:
        await connection.execute("create schema if not exists bench")
        await connection.execute("create table if not exists bench.body (id bigint primary key, body text not null)")
        await connection.execute("alter table bench.body alter column body set storage external")
        await connection.execute(
            "insert into bench.body values (1, $1) on conflict (id) do update set body = excluded.body", body.decode()
        )
        await connection.execute("vacuum (analyze, freeze) bench.body")
    finally:
        await connection.close()
    script = parts.home / "select.sql"
    script.write_text("\\set id 1\nselect body from bench.body where id = :id;\n", encoding="ascii")
    return script


async def _load(served: Lakeward, warehouse: Warehouse, leg: Leg, told: Counter, seconds: float) -> Wrk:
    counted = await _wrk(served, warehouse, leg, told, seconds)
    if counted.faults or counted.checked == 0:
        raise StaleReadError(f"{leg.name}: of {counted.requests} replies {counted.faults or 'none was checked'}")
    return counted


async def _wrk(served: Lakeward, warehouse: Warehouse, leg: Leg, told: Counter, seconds: float) -> Wrk:
    return await run_wrk(
        f"{served.url}{warehouse.table(_NAMESPACE, leg.table)}",
        script="fresh.lua",
        arguments=[str(told.path), leg.where, str(leg.status)],
        seconds=seconds,
        headers=leg.headers,
    )


async def _see_a_fault(served: Lakeward, warehouse: Warehouse, leg: Leg, told: Counter) -> None:
    """Tell of a commit that never was: a check that does not notice would notice nothing. Warms up, too."""
    told.tell(10**9)
    counted = await _wrk(served, warehouse, leg, told, 1)
    told.tell(0)
    if counted.stale != counted.checked or counted.checked == 0:
        raise StaleReadError(
            f"the check is blind: {counted.stale} of {counted.checked} impossible replies were noticed"
        )


def _figure(composition: Composition, leg: Leg, seen: Seen, *, size: int, cores: int, writes: str) -> Figure:
    goal, floor = _BOUNDS[composition] if leg.judged else (None, None)
    middle = min(seen.loads, key=lambda load: abs(load.per_second - median([one.per_second for one in seen.loads])))
    shares = seen.usages[seen.loads.index(middle)].shares(cores=cores)
    told = ", ".join(f"{name} {share:.0%}" for name, share in shares.items() if share >= 0.005)
    return Figure(
        BENCH,
        f"{leg.name}, {composition}",
        seen.ratio,
        "of pgbench",
        goal=goal,
        floor=floor,
        detail=(
            f"{middle.per_second:,.0f}/s at p50 {middle.p50 / 1000:.1f} ms, p99 {middle.p99 / 1000:.1f} ms; "
            f"pgbench {median(seen.selects):,.0f}/s; {size} bytes; {writes}; "
            f"{sum(load.checked for load in seen.loads):,} replies checked; CPU: {told}"
        ),
    )
