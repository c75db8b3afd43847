"""Loads through one gateway and one catalog, and through two of each: `python -m bench pods`.

Processes stand for pods: each gateway asks a catalog, and all share authz, vending and the components. Changes go through the
first gateway alone, so a reply of the second pair is checked for what another process was told. What a second pod brings is
bounded by the machine: told beside it is how much of that was in use before.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final

from bench import reads
from bench.callers import Callers
from bench.client import Connection
from bench.figures import Figure, median
from bench.freshness import StaleReadError, counter
from bench.generators import Wrk
from bench.loads import CLIENT_MANAGED
from bench.meter import Usage
from bench.pauses import Watch
from bench.plan import Plan
from bench.stack import Lakeward, Stack
from lakeward_components import blocking
from lakeward_components.ports import LOOPBACK, take
from tests.support.installations import Composition, Installation, Process, planned, running

BENCH: Final = "pods"
_CATALOG: Final = "LAKEWARD__CATALOG__"
_GOAL: Final = 1.5
# Of the machine that one of each uses: with more there are no cores for a second.
_ROOM: Final = 1 / _GOAL
_PORT: Final = "LAKEKEEPER__LISTEN_PORT"


def run(parts: Stack, known: Callers, plan: Plan, *, cores: int) -> Sequence[Figure]:
    """What more gateways and catalogs bring, in turns."""
    with _served(known.behind(parts)) as arrangements:
        return asyncio.run(_measured(arrangements, known, plan, cores))


@contextmanager
def _served(parts: Stack) -> Iterator[Mapping[str, Sequence[Lakeward]]]:
    """Gateways that loads are spread over, by what they are: each as a Lakeward of all processes."""
    home = parts.home / BENCH
    with ExitStack() as ending:
        first = ending.enter_context(running(planned(Composition.FOUR_PROCESSES, home, parts.environment)))
        ports = [int(first.url.rsplit(":", 1)[1])]
        for _ in range(3):
            ports.append(take(given=None, last=None, avoid=ports))
        catalog = f"{LOOPBACK}:{ports[1]}"
        processes = dict(first.processes)
        for name, service, own in (
            ("catalog-2", "catalog", {f"{_CATALOG}LISTEN": catalog}),
            ("gateway-2", "gateway", {_PORT: str(ports[2])}),
            ("gateway-3", "gateway", {_PORT: str(ports[3]), f"{_CATALOG}ADDRESS": catalog}),
        ):
            program = first.processes[service].program
            program = dataclasses.replace(program, environment={**program.environment, **own})
            processes[name] = Process(name, home, program)
            ending.callback(blocking.run, processes[name].kill())
        urls = [f"http://{LOOPBACK}:{port}" for port in ports[2:]]
        for name in processes.keys() - first.processes.keys():
            blocking.run(processes[name].start())
        for name, url in zip(("gateway-2", "gateway-3"), urls, strict=True):
            own_process = {"gateway": processes[name], "catalog": processes["catalog-2"]}
            alone = Installation(first.composition, url=url, addresses={}, keys={}, processes=own_process)
            blocking.run(alone.ready())
        pids = {name: process.pid for name, process in processes.items()}
        one, beside, apart = (Lakeward(url, first.composition, pids, parts, Watch({})) for url in (first.url, *urls))
        yield {
            "one gateway, one catalog": [one],
            "two gateways, one catalog": [one, beside],
            "two gateways, two catalogs": [one, apart],
        }


async def _measured(
    arrangements: Mapping[str, Sequence[Lakeward]], known: Callers, plan: Plan, cores: int
) -> Sequence[Figure]:
    alone, *_ = arrangements
    (first,) = arrangements[alone]
    house = await reads.furnish(first, known, plan)
    (leg,) = reads.legs(house, first.composition, ())
    rates: dict[str, list[float]] = {name: [] for name in arrangements}
    usages: dict[str, list[Usage]] = {name: [] for name in arrangements}
    tokens = known.written(first.stack.home)
    with counter(first.stack.home / f"fresh-{BENCH}", things=len(leg.paths)) as told:
        for served in arrangements["two gateways, two catalogs"]:
            await reads.see_a_fault(served, leg, told, tokens)
        for _ in range(plan.rounds):
            for name, gateways in arrangements.items():
                share = dataclasses.replace(leg, connections=leg.connections // len(gateways))
                async with (
                    Connection(first.url, headers={**known.headers, **CLIENT_MANAGED}) as connection,
                    leg.change(connection, told),
                ):
                    with first.metered() as usage:
                        seen = await asyncio.gather(
                            *(reads.read(each, share, told, tokens, plan.seconds) for each in gateways)
                        )
                rates[name].append(_rate(name, seen))
                usages[name].append(usage)
    used = {name: median([sum(one.shares(cores=cores).values()) for one in usages[name]]) for name in usages}
    return [
        Figure(
            BENCH,
            name,
            median([more / base for more, base in zip(rates[name], rates[alone], strict=True)]),
            f"of {alone}",
            goal=_GOAL if name != alone and used[alone] <= _ROOM else None,
            detail=f"{median(rates[name]):,.0f}/s by {leg.connections} connections in all; {used[name]:.0%} of {cores} cores "
            f"in use, {used[alone]:.0%} by {alone}; {usages[name][-1].told(cores=cores).partition('; longest')[0]}",
        )
        for name in arrangements
    ]


def _rate(name: str, seen: Sequence[Wrk]) -> float:
    """Loads a second of all gateways.

    Raises:
        StaleReadError: a reply was older than it may be.
    """
    for one in seen:
        if one.faults or one.checked == 0:
            raise StaleReadError(f"{name}: of {one.requests} replies {one.faults or 'none was checked'}")
    return sum(one.per_second for one in seen)
