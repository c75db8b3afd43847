"""What strangers can make Lakeward hold, and how long somebody else waits meanwhile.

Each attack meets a Lakeward that has just started. A client that means well loads a table all the while and commits to it now and
then, from another address; what it waits for longest is told, and a request of its that is refused fails the run.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import psutil

from bench.attacks import ATTACKS, Attack, command
from bench.callers import callers
from bench.client import BadReplyError, Connection
from bench.figures import Better, Figure
from bench.pauses import Pauses
from bench.plan import Plan
from bench.stack import Lakeward, Stack, lakeward
from bench.warehouse import OK, Warehouse, advanced, append, make_namespace, make_table, make_warehouse, table_of
from tests.support.installations import Composition

BENCH: Final = "strangers"
_GOAL_MEGABYTES: Final = 600.0
_FLOOR_MEGABYTES: Final = 900.0
_GOAL_SECONDS: Final = 1.0
_FLOOR_SECONDS: Final = 3.0
_NAMESPACE: Final = "n"
_TABLE: Final = "t"
_PAUSE_SECONDS: Final = 0.02
_COMMIT_EVERY: Final = 10
_SAMPLE_SECONDS: Final = 0.05
_SETTLED_SECONDS: Final = 1.0
# An attack that a client of its own would have to be known for: who has an account may mean no better than a stranger.
_BY_KNOWN: Final = frozenset({"containers", "names"})


@dataclasses.dataclass(slots=True)
class Seen:
    """What was seen while an attack went on.

    Attributes:
        peak: bytes of PSS of our processes together, at most.
        left: the same when it was over.
        slowest: seconds that the client that means well waited at most.
        requests: of that client.
        refused: what it was told, for each of its requests that failed.
        pauses: the longest meanwhile.
    """

    peak: int = 0
    left: int = 0
    slowest: float = 0.0
    requests: int = 0
    refused: list[str] = dataclasses.field(default_factory=list)
    answers: Mapping[str, int] = dataclasses.field(default_factory=dict)
    pauses: Pauses = dataclasses.field(default_factory=Pauses)


def run(parts: Stack, composition: Composition, plan: Plan) -> Iterator[Figure]:
    """Every attack, on a server that knows nobody and on one with an identity provider."""
    with _providers(parts) as providers:
        for provider, environment, token in providers:
            behind = dataclasses.replace(parts, environment={**parts.environment, **environment})
            for name in ATTACKS:
                with lakeward(behind, composition) as served:
                    seen = asyncio.run(_attacked(served, name, token, plan))
                yield from figures_of(f"{name}, {provider}, {composition}", seen)


@contextmanager
def _providers(parts: Stack) -> Iterator[Sequence[tuple[str, Mapping[str, str], str]]]:
    """(What it is called, settings, a token) without a provider and with one. Loopback's addresses are clients, no proxies."""
    common = {"LAKEWARD__TRUSTED_PROXIES": ""}
    with callers(parts, count=1) as known:
        yield (("no provider", common, ""), ("with provider", {**common, **known.settings}, known.tokens[0]))


async def _attacked(served: Lakeward, name: str, token: str, plan: Plan) -> Seen:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    warehouse = await make_warehouse(served, headers=headers)
    seen = Seen()
    async with Connection(served.url, headers=headers) as connection:
        await make_namespace(connection, warehouse, _NAMESPACE)
        await make_table(connection, warehouse, _NAMESPACE, _TABLE)
        over = asyncio.Event()
        served.watch.begin()
        weighing = asyncio.create_task(asyncio.to_thread(_weigh, served, seen, over))
        asking = asyncio.create_task(_ask(connection, warehouse, seen, over))
        try:
            attack = Attack(served.url, warehouse.path, plan.seconds * 2, token if name in _BY_KNOWN else "")
            arguments, environment = command(name, attack)
            attacker = await asyncio.create_subprocess_exec(
                *arguments, env=dict(environment), stdout=asyncio.subprocess.PIPE
            )
            said, _ = await attacker.communicate()
            if attacker.returncode:
                raise BadReplyError(f"the attack ended with status {attacker.returncode}")
            seen.answers = json.loads(said)
            await asyncio.sleep(_SETTLED_SECONDS)
        finally:
            over.set()
            await weighing
            await asking
    seen.pauses = served.watch.read()
    seen.left = _weight(served)
    return seen


async def _ask(connection: Connection, warehouse: Warehouse, seen: Seen, over: asyncio.Event) -> None:
    """Load and commit until it is over."""
    path = warehouse.table(_NAMESPACE, _TABLE)
    table = table_of(await connection.get(path))
    while not over.is_set():
        seen.requests += 1
        began = time.monotonic()
        if seen.requests % _COMMIT_EVERY:
            reply = await connection.get(path)
        else:
            snapshot, commit = append(table)
            reply = await connection.post(path, commit)
            if reply.status == OK:
                table = advanced(table, snapshot)
        seen.slowest = max(seen.slowest, time.monotonic() - began)
        if reply.status != OK:
            seen.refused.append(f"{reply.status} {reply.body[:200].decode(errors='replace')}")
        await asyncio.sleep(_PAUSE_SECONDS)


def _weigh(served: Lakeward, seen: Seen, over: asyncio.Event) -> None:
    while not over.is_set():
        seen.peak = max(seen.peak, _weight(served))
        time.sleep(_SAMPLE_SECONDS)


def _weight(served: Lakeward) -> int:
    return sum(psutil.Process(pid).memory_full_info().pss for pid in served.processes.values())


def figures_of(name: str, seen: Seen) -> Iterator[Figure]:
    """What was seen of one attack, and what it is held to."""
    words = {"0": "nothing"}
    answers = ", ".join(f"{count} x {words.get(status, status)}" for status, count in sorted(seen.answers.items()))
    yield Figure(
        BENCH,
        f"{name}: memory at most",
        seen.peak / 1e6,
        "MB PSS",
        Better.LOWER,
        goal=_GOAL_MEGABYTES,
        floor=_FLOOR_MEGABYTES,
        detail=f"{seen.left / 1e6:.0f} afterwards; strangers were answered {answers}",
    )
    yield Figure(
        BENCH,
        f"{name}: somebody else's slowest request",
        seen.slowest,
        "s",
        Better.LOWER,
        goal=_GOAL_SECONDS,
        floor=_FLOOR_SECONDS,
        detail=f"of {seen.requests}; longest {seen.pauses}",
    )
    yield Figure(
        BENCH,
        f"{name}: somebody else's requests that failed",
        len(seen.refused),
        f"of {seen.requests}",
        Better.LOWER,
        goal=0,
        floor=0,
        detail=seen.refused[0] if seen.refused else "",
    )
