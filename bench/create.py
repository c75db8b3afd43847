"""Tables created by eight writers, beside commits by eight writers, in turns; what was created is loaded and listed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from bench.client import Connection
from bench.commit import storm
from bench.figures import Figure, median, percentile
from bench.freshness import StaleReadError, repeating
from bench.meter import Usage
from bench.plan import Plan
from bench.stack import Lakeward
from bench.warehouse import OK, Warehouse, make_namespace, make_table, make_warehouse
from tests.support.installations import Composition

BENCH: Final = "create"
WRITERS: Final = 8
_COMMITS: Final = "commits"
_TURNS: Final = 2  # of a round: a leg differs from the next by a tenth
# Of a writer in a leg, some five seconds. A commit gets dearer with each before it, and from the hundredth on deletes a file
# that falls out of its table's log: legs of seconds would hold creates against others on a slow host than on a fast one.
_EACH: Final = 175
_GOAL: Final = 1.3
_FLOOR: Final = 0.9


@dataclass(slots=True)
class Seen:
    """What the turns gave.

    Attributes:
        creates: a second, of each turn.
        commits: the same.
        took: seconds of each create.
        looks: loads of the table that was acknowledged last, and pages that were compared with what was.
    """

    creates: list[float] = field(default_factory=list)
    commits: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    looks: int = 0

    @property
    def ratios(self) -> Sequence[float]:
        """Creates over commits, of each turn."""
        return [one / other for one, other in zip(self.creates, self.commits, strict=True)]


async def run(served: Lakeward, plan: Plan, *, cores: int) -> Sequence[Figure]:
    """Both, in turns.

    Raises:
        StaleReadError: a table that was acknowledged is not there, or is there twice.
    """
    warehouse = await make_warehouse(served)
    seen = Seen()
    async with Connection(served.url) as connection:
        await make_namespace(connection, warehouse, _COMMITS)
    for turn in range(plan.rounds * _TURNS):
        legs = [_commit, _create]
        for leg in reversed(legs) if turn % 2 else legs:  # each leaves the next one its backlog
            await leg(served, warehouse, turn, seen)
    judged = (_GOAL, _FLOOR) if served.composition is Composition.ONE_PROCESS else (None, None)
    return [
        Figure(
            BENCH,
            f"{WRITERS} writers, {served.composition}",
            median(seen.ratios),
            f"of commits by {WRITERS} writers",
            goal=judged[0],
            floor=judged[1],
            detail=f"{median(seen.creates):,.0f}/s at p50 {percentile(seen.took, 0.5) * 1000:.0f} ms, "
            f"p99 {percentile(seen.took, 0.99) * 1000:.0f} ms; commits {median(seen.commits):,.0f}/s; "
            f"turns {', '.join(f'{ratio:.2f}' for ratio in seen.ratios)}; "
            f"{seen.looks} looks for what was acknowledged; {seen.usages[-1].told(cores=cores)}",
        )
    ]


async def _commit(served: Lakeward, warehouse: Warehouse, turn: int, seen: Seen) -> None:
    names = [f"own-{turn}-{writer}" for writer in range(WRITERS)]
    tallies, took = await storm(served, warehouse, names, names, commits=_EACH, namespace=_COMMITS)
    seen.commits.append(sum(len(tally.acknowledged) for tally in tallies) / took)


async def _create(served: Lakeward, warehouse: Warehouse, turn: int, seen: Seen) -> None:
    namespace = f"creates-{turn}"
    async with Connection(served.url) as connection:
        await make_namespace(connection, warehouse, namespace)
    with served.metered() as usage:
        made, took = await _creates(served, warehouse, namespace, seen)
    seen.usages.append(usage)
    seen.creates.append(len(made) / took)
    async with Connection(served.url) as connection:
        insist_each_once(made, await _listed(connection, warehouse, namespace))
    seen.looks += 1


async def _creates(served: Lakeward, warehouse: Warehouse, namespace: str, seen: Seen) -> tuple[Sequence[str], float]:
    """(The names that were acknowledged, how long it took)."""
    made: list[str] = []
    began = time.monotonic()

    async def writer(number: int) -> None:
        async with Connection(served.url) as connection:
            for count in range(_EACH):
                start = time.monotonic()
                name = f"table_{number}_{count:06d}"
                await make_table(connection, warehouse, namespace, name)
                seen.took.append(time.monotonic() - start)
                made.append(name)

    async with Connection(served.url) as looking:

        async def look() -> None:
            if made:
                newest = made[-1]
                if (await looking.get(warehouse.table(namespace, newest))).status != OK:
                    raise StaleReadError(f"{newest} was created and can't be loaded")
                seen.looks += 1

        async with repeating(look):
            await asyncio.gather(*(writer(number) for number in range(WRITERS)))
            took = time.monotonic() - began
    return made, took


async def _listed(connection: Connection, warehouse: Warehouse, namespace: str) -> Sequence[str]:
    names: list[str] = []
    token = ""
    while True:
        path = f"{warehouse.tables(namespace)}?pageSize=1000&pageToken={quote(token)}"
        page = (await connection.get(path)).expect(OK).json()
        names += [each["name"] for each in page["identifiers"]]
        token = page.get("next-page-token") or ""
        if not token:
            return names


def insist_each_once(acknowledged: Sequence[str], listed: Sequence[str]) -> None:
    """See to it that a namespace lists what was acknowledged, once, and nothing else.

    Raises:
        StaleReadError: it does not.
    """
    lost, doubled = set(acknowledged) - set(listed), len(listed) - len(set(listed))
    foreign = set(listed) - set(acknowledged)
    if lost or doubled or foreign:
        raise StaleReadError(
            f"of {len(acknowledged)} tables {len(lost)} are not listed, {doubled} twice, and {len(foreign)} were not made"
        )
