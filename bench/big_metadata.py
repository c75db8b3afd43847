"""A table with thousands of snapshots: what its loads take, and what one more append costs.

Every snapshot is made by a commit of its own over HTTP. The cost of an append is CPU time, of the catalog's process and of
Postgres, in four processes: there the PUT of the metadata file, which grows with the table whatever the catalog does, is
vending's and the store's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.client import Connection
from bench.figures import Better, Figure, median, percentile
from bench.loads import CLIENT_MANAGED
from bench.meter import cpu_seconds
from bench.plan import Plan
from bench.stack import Lakeward
from bench.warehouse import (
    OK,
    Table,
    Warehouse,
    advanced,
    append,
    check_log,
    make_namespace,
    make_table,
    make_warehouse,
    table_of,
)

BENCH: Final = "big_metadata"
_NAMESPACE: Final = "history"
_BIG: Final = "big"
_SMALL: Final = "small"
_SMALL_SNAPSHOTS: Final = 10
_TURNS: Final = 3  # a round; many and short, since the database's daemons work whenever they do
_GOALS: Final = {"refs": 20.0, "all": 120.0, "304": 5.0}
_MOST_RATIO: Final = 3.0
_NOT_MODIFIED: Final = 304
# the bench keeps no old metadata files: disk is not what is measured
_PROPERTIES: Final = {"write.metadata.delete-after-commit.enabled": "true"}


class LostCommitError(Exception):
    """A snapshot that was acknowledged is not there, or one is there twice."""


@dataclass(frozen=True, slots=True)
class Built:
    """A warehouse with a big table.

    Attributes:
        seconds: that the commits took.
    """

    warehouse: Warehouse
    snapshots: int
    seconds: float


async def build(served: Lakeward, plan: Plan, *, say: Callable[[str], None]) -> Built:
    """Commit by commit, a table of many snapshots.

    Raises:
        LostCommitError: the log is not that of the commits.
    """
    warehouse = await make_warehouse(served)
    async with Connection(served.url) as connection:
        await make_namespace(connection, warehouse, _NAMESPACE)
        path = warehouse.table(_NAMESPACE, _BIG)
        table = await make_table(connection, warehouse, _NAMESPACE, _BIG, properties=_PROPERTIES)
        began = time.monotonic()
        made: list[int] = []
        for number in range(1, plan.snapshots + 1):
            table = await _append(connection, path, table, made)
            if number % 1000 == 0:
                say(f"{number} snapshots after {time.monotonic() - began:.0f} s")
        seconds = time.monotonic() - began
        lost, doubled = check_log(table_of(await connection.get(path)), made)
    if lost or doubled:
        raise LostCommitError(f"of {len(made)} appends {lost} are lost and {doubled} doubled")
    return Built(warehouse, plan.snapshots, seconds)


async def loads(served: Lakeward, built: Built, plan: Plan) -> Sequence[Figure]:
    """How long loads take at one client that accepts gzip, to the last byte."""
    path = built.warehouse.table(_NAMESPACE, _BIG)
    figures: list[Figure] = []
    async with Connection(served.url, headers=CLIENT_MANAGED) as connection:
        tag = (await connection.get(path)).expect(OK).headers["etag"]
        kinds: Mapping[str, tuple[str, Mapping[str, str], int]] = {
            "refs": (f"{path}?snapshots=refs", {}, OK),
            "all": (f"{path}?snapshots=all", {}, OK),
            "304": (path, {"if-none-match": tag}, _NOT_MODIFIED),
            "all, no gzip": (path, {"accept-encoding": "identity"}, OK),
        }
        for kind, (target, headers, status) in kinds.items():
            took: list[float] = []
            size = 0
            for _ in range(plan.loads):
                began = time.perf_counter()
                reply = await connection.request("GET", target, headers=headers)
                took.append((time.perf_counter() - began) * 1000)
                size = len(reply.expect(status).raw)
            figures.append(
                Figure(
                    BENCH,
                    f"load {kind} at {built.snapshots} snapshots, {served.composition}",
                    percentile(took, 0.5),
                    "ms p50",
                    Better.LOWER,
                    goal=_GOALS.get(kind),
                    detail=f"p99 {percentile(took, 0.99):.1f} ms; {size:,} bytes; one client, {len(took)} loads",
                )
            )
    built_in = f"{built.snapshots} commits in {built.seconds:.0f} s"
    rate = Figure(BENCH, "commits/s while it was built", built.snapshots / built.seconds, "/s", detail=built_in)
    return [*figures, rate]


async def appends(served: Lakeward, built: Built, plan: Plan) -> Sequence[Figure]:
    """What one more append costs at the table's size, over what it costs at ten snapshots; in turns."""
    groups = {
        "catalog": (served.processes.get("catalog", next(iter(served.processes.values()))),),
        "gateway": (served.processes["gateway"],) if "gateway" in served.processes else (),
        "vending": (served.processes["vending"],) if "vending" in served.processes else (),
        **served.stack.groups(),
    }
    warehouse = built.warehouse
    spent: dict[str, dict[str, list[float]]] = {_BIG: {}, _SMALL: {}}
    walls: dict[str, list[float]] = {_BIG: [], _SMALL: []}
    async with Connection(served.url) as connection:
        turns = plan.rounds * _TURNS
        for turn in range(turns):
            # a fresh one each turn, so that it stays small
            small = f"{_SMALL}-{turn}"
            table = await make_table(connection, warehouse, _NAMESPACE, small, properties=_PROPERTIES)
            for _ in range(_SMALL_SNAPSHOTS - 1):
                table = await _append(connection, warehouse.table(_NAMESPACE, small), table, [])
            for kind, name in ((_SMALL, small), (_BIG, _BIG)):
                path = warehouse.table(_NAMESPACE, name)
                table = await _append(connection, path, table_of(await connection.get(path)), [])  # fills caches
                each = max(plan.appends // turns, 1)
                before = {group: cpu_seconds(pids) for group, pids in groups.items()}
                began = time.monotonic()
                for _ in range(each):
                    table = await _append(connection, path, table, [])
                walls[kind].append((time.monotonic() - began) / each * 1000)
                for group, pids in groups.items():
                    used = (cpu_seconds(pids) - before[group]) / each * 1000
                    spent[kind].setdefault(group, []).append(used)
    return [_ratio(served, built, spent, walls)]


def _ratio(
    served: Lakeward, built: Built, spent: Mapping[str, Mapping[str, list[float]]], walls: Mapping[str, list[float]]
) -> Figure:
    def cost(kind: str) -> float:
        return median([sum(pair) for pair in zip(spent[kind]["catalog"], spent[kind]["Postgres"], strict=True)])

    def told(kind: str) -> str:
        each = ", ".join(f"{group} {median(used):.1f}" for group, used in spent[kind].items() if any(used))
        return f"{each} ms CPU, {median(walls[kind]):.0f} ms in all"

    return Figure(
        BENCH,
        f"append at {built.snapshots} snapshots over one at {_SMALL_SNAPSHOTS}, {served.composition}",
        cost(_BIG) / cost(_SMALL),
        "x CPU",
        Better.LOWER,
        goal=_MOST_RATIO,
        floor=_MOST_RATIO,
        detail=f"catalog and Postgres; at {built.snapshots}: {told(_BIG)}; at {_SMALL_SNAPSHOTS}: {told(_SMALL)}",
    )


async def _append(connection: Connection, path: str, table: Table, made: list[int]) -> Table:
    snapshot_id, body = append(table)
    (await connection.post(path, body)).expect(OK)
    made.append(snapshot_id)
    return advanced(table, snapshot_id)
