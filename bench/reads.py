"""What many callers read of many tables: loads, pages, namespaces, `/config`; of a Lakeward that asks who calls.

The legs take turns, round by round, so that each is held to what the others reached in the same minute. While a leg runs, what it
reads is changed ten times a second, and each reply is checked for the changes that were acknowledged before it was asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.callers import Callers
from bench.client import Connection
from bench.figures import Better, Figure, median
from bench.freshness import Counter, StaleReadError, commit, counter, repeating
from bench.generators import CONNECTIONS, Wrk, run_pgbench, run_wrk
from bench.loads import BYTES, CLIENT_MANAGED, prose
from bench.meter import Usage
from bench.plan import Plan
from bench.selects import select_of
from bench.stack import Lakeward
from bench.warehouse import NO_CONTENT, OK, Table, Warehouse, make_namespace, make_table, make_warehouse, table_of
from tests.support.installations import Composition

LOAD_MANY: Final = "load_many"
LISTING: Final = "listing"
CONFIG: Final = "config"
BENCHES: Final = (LOAD_MANY, LISTING, CONFIG)
TOKENS: Final = 100
_NAMESPACE: Final = "many"
_NAMESPACES: Final = 10
_CREATORS: Final = 8
_NOT_FOUND: Final = 404
_FRESH: Final = "fresh-{:012d}"
_LOOKED_SECONDS: Final = 2.0
_P99_GOAL: Final = 2.5
_P99_FLOOR: Final = 4.0


@dataclass(frozen=True, slots=True)
class Leg:
    """One kind of reading.

    Attributes:
        bench: whose figure it makes.
        paths: of which each request takes one at random.
        where: a reply tells how fresh it is; see `fresh.lua`.
        change: what is done to it meanwhile, ten times a second.
        goal: of its rate, over that of loads of many tables; of those themselves, over pgbench.
        floor: the same.
        connections: at once.
    """

    bench: str
    name: str
    paths: Sequence[str]
    where: str
    change: Callable[[Connection, Counter], AbstractAsyncContextManager[None]]
    goal: float | None = None
    floor: float | None = None
    connections: int = CONNECTIONS


@dataclass(slots=True)
class Seen:
    """What the rounds of a leg gave.

    Attributes:
        bases: what the rate of each round is held to.
    """

    loads: list[Wrk] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    bases: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The median of rounds, over what each is held to."""
        return median([one.per_second / base for one, base in zip(self.loads, self.bases, strict=True)])

    @property
    def spread(self) -> float:
        """The median of p99 over p50."""
        return median([one.p99 / max(one.p50, 1) for one in self.loads])


@dataclass(frozen=True, slots=True)
class House:
    """What is read."""

    warehouse: Warehouse
    moving: Warehouse
    tables: Sequence[str]
    bodies: Sequence[bytes] = field(repr=False)


async def run(
    served: Lakeward, known: Callers, plan: Plan, benches: Collection[str], *, cores: int
) -> Sequence[Figure]:
    """The figures of these benches.

    Raises:
        StaleReadError: a reply was older than it may be, or the check was found blind.
    """
    house = await furnish(served, known, plan)
    select = await select_of(served.stack, "bodies", house.bodies)
    kinds = legs(house, served.composition, benches)
    seen = [Seen() for _ in kinds]
    tokens = known.written(served.stack.home)
    with counters(served.stack.home / "fresh", kinds) as told:
        for leg, counted in zip(kinds, told, strict=True):
            await see_a_fault(served, leg, counted, tokens)
        for _ in range(plan.rounds):
            selects = 1.0
            if LOAD_MANY in benches:
                selects = await run_pgbench(served.stack, script=select, seconds=plan.seconds)
            loads = 0.0
            for leg, counted, found in zip(kinds, told, seen, strict=True):
                with served.metered() as usage:
                    one = await while_changing(served, known, leg, counted, tokens=tokens, seconds=plan.seconds)
                loads = loads or one.per_second
                found.loads.append(one)
                found.usages.append(usage)
                found.bases.append(selects if leg.bench == LOAD_MANY else loads)
    figures: list[Figure] = []
    for leg, found in zip(kinds, seen, strict=True):
        if leg.bench in benches:
            figures += figures_of(leg, found, served.composition, cores=cores, size=len(house.bodies[0]))
    return figures


def legs(house: House, composition: Composition, benches: Collection[str]) -> Sequence[Leg]:
    """Those that are wanted; loads of many tables first and always, because the others are held to them.

    `/config` is the next, since it is nearest to its floor, and a machine is hardly ever as fast a minute later.
    """
    alone = composition is Composition.ONE_PROCESS
    paths = [house.warehouse.table(_NAMESPACE, name) for name in house.tables]
    listed = house.warehouse.tables(_NAMESPACE)
    tables, renamed = _Tables(paths), _Renamed(house.warehouse)
    legs = [
        Leg(
            LOAD_MANY,
            f"{len(paths):,} tables, {TOKENS} tokens",
            paths,
            "location",
            tables,
            *((0.10, 0.05) if alone else ()),
        )
    ]
    if CONFIG in benches:
        path = f"/catalog/v1/config?warehouse={house.warehouse.name}"
        legs.append(Leg(CONFIG, "of one warehouse", [path], "nothing", _Moved(house.moving), 4.0, 2.5))
    if LOAD_MANY in benches:
        legs += [
            Leg(LOAD_MANY, f"the same, {_of(connections)}", paths, "location", tables, connections=connections)
            for connections in (8, 1)
        ]
    if LISTING in benches:
        legs += [
            Leg(LISTING, "page of 100", [f"{listed}?pageSize=100"], "name", renamed, 0.8, 0.4),
            Leg(LISTING, "page of 1,000", [f"{listed}?pageSize=1000"], "name", renamed, 0.2, 0.07),
            Leg(
                LISTING,
                f"page of {_NAMESPACES + 1} namespaces",
                [f"{house.warehouse.path}/namespaces?pageSize=100"],
                "name",
                _Namespaces(house.warehouse),
                1.5,
                1.0,
            ),
        ]
    return legs


@contextlib.contextmanager
def counters(path: Path, legs: Sequence[Leg]) -> Iterator[Sequence[Counter]]:
    """One for each leg; those that read the same things share one."""
    with contextlib.ExitStack() as ending:
        made: dict[int, Counter] = {}
        for number, leg in enumerate(legs):
            if id(leg.change) not in made:
                own = counter(path.with_suffix(f".{number}"), things=len(leg.paths))
                made[id(leg.change)] = ending.enter_context(own)
        yield [made[id(leg.change)] for leg in legs]


async def furnish(served: Lakeward, known: Callers, plan: Plan) -> House:
    """Make tables of 3 KB in one namespace behind a first one that will be renamed, some namespaces, a warehouse to rename."""
    warehouse = await make_warehouse(served, headers=known.headers)
    moving = await make_warehouse(served, headers=known.headers)
    names = [f"table_{number:05d}" for number in range(plan.many)]
    headers = {**known.headers, **CLIENT_MANAGED, "accept-encoding": "identity"}
    async with Connection(served.url, headers=headers) as connection:
        for namespace in (_NAMESPACE, *(f"other_{number}" for number in range(1, _NAMESPACES))):
            await make_namespace(connection, warehouse, namespace)
        await make_table(connection, warehouse, _NAMESPACE, _FRESH.format(0))
        # one older file in the log, so that a table stays at its size however many commits are made
        properties = {"write.metadata.previous-versions-max": "1"}
        await make_table(connection, warehouse, _NAMESPACE, names[0], properties=properties | {"comment": "."})
        path = warehouse.table(_NAMESPACE, names[0])
        missing = BYTES - len((await connection.get(path)).expect(OK).body)
        (await connection.request("DELETE", f"{path}?purgeRequested=true")).expect(NO_CONTENT)
    properties["comment"] = prose(1 + missing)
    left = iter(names)

    async def creator() -> None:
        async with Connection(served.url, headers=headers) as connection:
            for name in left:
                await make_table(connection, warehouse, _NAMESPACE, name, properties=properties)

    await asyncio.gather(*(creator() for _ in range(_CREATORS)))
    async with Connection(served.url, headers=headers) as connection:
        await make_namespace(connection, warehouse, _FRESH.format(0))
        bodies = [(await connection.get(warehouse.table(_NAMESPACE, name))).expect(OK).body for name in names]
    return House(warehouse, moving, names, bodies)


async def read(served: Lakeward, leg: Leg, told: Counter, tokens: Path, seconds: float) -> Wrk:
    """Let a load generator read for some seconds."""
    paths, text = told.path.with_suffix(f"{told.path.suffix}.paths"), "\n".join(leg.paths) + "\n"
    if not paths.exists() or paths.read_text(encoding="ascii") != text:  # another generator may be reading it
        paths.write_text(text, encoding="ascii")
    return await run_wrk(
        served.url,
        script="fresh.lua",
        arguments=[str(told.path), leg.where, str(OK), str(paths), str(tokens)],
        seconds=seconds,
        headers=CLIENT_MANAGED,
        connections=leg.connections,
    )


async def see_a_fault(served: Lakeward, leg: Leg, told: Counter, tokens: Path) -> None:
    """Tell of changes that never were: a check that does not notice would notice nothing. Warms up, too."""
    told.tell_of_all(10**9)
    counted = await read(served, leg, told, tokens, _LOOKED_SECONDS)
    told.tell_of_all(0)
    if leg.where != "nothing" and (counted.stale != counted.checked or counted.checked == 0):
        raise StaleReadError(
            f"the check is blind: {counted.stale} of {counted.checked} impossible replies of {leg.name} were noticed, {counted}"
        )


async def while_changing(
    served: Lakeward, known: Callers, leg: Leg, told: Counter, *, tokens: Path, seconds: float
) -> Wrk:
    """One leg, on a connection of its own for the changes: a server ends one that nobody uses."""
    async with (
        Connection(served.url, headers={**known.headers, **CLIENT_MANAGED}) as connection,
        leg.change(connection, told),
    ):
        one = await read(served, leg, told, tokens, seconds)
    if one.faults or one.checked == 0:
        raise StaleReadError(f"{leg.name}: of {one.requests} replies {one.faults or 'none was checked'}")
    return one


class _Tables:
    """Commits to one table after the other."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._places = itertools.cycle(enumerate(paths))
        self._known: dict[int, Table] = {}

    @contextlib.asynccontextmanager
    async def __call__(self, connection: Connection, told: Counter) -> AsyncIterator[None]:
        async def step() -> None:
            number, path = next(self._places)
            table = self._known.get(number) or table_of(await connection.get(path))
            self._known[number] = await commit(connection, path, table)
            told.tell(self._known[number].version, number)

        async with repeating(step):
            yield


class _Renamed:
    """Gives the first table of the namespace one name after the other."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._number = 0

    @contextlib.asynccontextmanager
    async def __call__(self, connection: Connection, told: Counter) -> AsyncIterator[None]:
        async def step() -> None:
            source, destination = (
                {"namespace": [_NAMESPACE], "name": _FRESH.format(number)}
                for number in (self._number, self._number + 1)
            )
            body = {"source": source, "destination": destination}
            (await connection.post(f"{self._warehouse.path}/tables/rename", body)).expect(NO_CONTENT)
            self._number += 1
            told.tell(self._number)

        told.tell(self._number)
        async with repeating(step):
            yield


class _Namespaces:
    """Makes a namespace and drops the one before it."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._number = 0

    @contextlib.asynccontextmanager
    async def __call__(self, connection: Connection, told: Counter) -> AsyncIterator[None]:
        async def step() -> None:
            await make_namespace(connection, self._warehouse, _FRESH.format(self._number + 1))
            last = self._warehouse.namespace(_FRESH.format(self._number))
            (await connection.request("DELETE", last)).expect(NO_CONTENT)
            self._number += 1
            told.tell(self._number)

        told.tell(self._number)
        async with repeating(step):
            yield


class _Moved:
    """Renames a warehouse, and sees to it that its old name is gone for `/config` and its new one is there."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._number = 0

    @contextlib.asynccontextmanager
    async def __call__(self, connection: Connection, told: Counter) -> AsyncIterator[None]:
        async def config(name: str) -> int:
            return (await connection.get(f"/catalog/v1/config?warehouse={name}")).expect(OK, _NOT_FOUND).status

        async def step() -> None:
            old, new = (
                f"{self._warehouse.name}-{number}" if number else self._warehouse.name
                for number in (self._number, self._number + 1)
            )
            before = await config(old), await config(new)
            renaming = await connection.post(f"/management/v1/warehouse/{self._warehouse.id}/rename", {"new-name": new})
            renaming.expect(OK)
            self._number += 1
            told.tell(self._number)
            if (before, await config(old), await config(new)) != ((OK, _NOT_FOUND), _NOT_FOUND, OK):
                raise StaleReadError(
                    f"/config knew a warehouse as {old} after it was renamed to {new}, or not as {new}"
                )

        async with repeating(step):
            yield


def _of(connections: int) -> str:
    return f"{connections} connection{'s' if connections > 1 else ''}"


def figures_of(leg: Leg, seen: Seen, composition: Composition, *, cores: int, size: int) -> Sequence[Figure]:
    """What was seen of a leg: its rate and, where many read at once, how far its p99 is from its p50."""
    middle = min(seen.loads, key=lambda each: abs(each.per_second - median([one.per_second for one in seen.loads])))
    usage = seen.usages[seen.loads.index(middle)]
    what = "pgbench" if leg.bench == LOAD_MANY else "load_many"
    rate = Figure(
        leg.bench,
        f"{leg.name}, {composition}",
        seen.ratio,
        f"of {what}",
        goal=leg.goal,
        floor=leg.floor,
        detail=(
            f"{middle.per_second:,.0f}/s at p50 {middle.p50 / 1000:.1f} ms, p99 {middle.p99 / 1000:.1f} ms, "
            f"{_of(leg.connections)}, {usage.cpu['Lakeward'] / middle.requests * 1e6:.0f} µs of our CPU each; "
            f"{what} {median(seen.bases):,.0f}/s; {f'{size} bytes; ' if leg.bench == LOAD_MANY else ''}"
            f"{sum(one.checked for one in seen.loads):,} replies checked; {usage.told(cores=cores)}"
        ),
    )
    if leg.connections != CONNECTIONS:
        return [rate]
    spread = Figure(
        leg.bench,
        f"{leg.name}, {composition}: p99 over p50",
        seen.spread,
        "x",
        Better.LOWER,
        goal=_P99_GOAL,
        floor=_P99_FLOOR,
        detail=f"at {leg.connections} connections; {middle.p99 / 1000:.1f} over {middle.p50 / 1000:.1f} ms",
    )
    return [rate, spread]
