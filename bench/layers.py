"""Where a load's time goes: `python -m bench layers`; needs py-spy.

The process that serves is sampled while wrk loads a table from it. A sample counts for the innermost of its frames whose layer
is known. The layer's share of the samples, times the CPU time that a request costs, is the layer's microseconds.
"""

from __future__ import annotations

import asyncio
import collections
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bench.figures import Better, Figure
from bench.freshness import counter, writing
from bench.generators import MissingToolError
from bench.loads import CLIENT_MANAGED, NAMESPACE, WRITTEN, legs, load, prepare
from bench.meter import metered
from bench.plan import Plan
from bench.stack import Lakeward
from bench.warehouse import make_warehouse

BENCH: Final = "layers"
_RATE: Final = 400
_IDLE: Final = re.compile(r"_worker \(concurrent/futures")  # a thread that waits for work

# By the files of frames; of two that fit one frame, the first.
_LAYERS: Final[Sequence[tuple[str, re.Pattern[str]]]] = tuple(
    (layer, re.compile(files))
    for layer, files in (
        ("HTTP: read, parse, write", r"uvicorn/|gateway/(server|protocol)\.py"),
        ("gateway: reply, encoding", r"gateway/(encoding|dialects/iceberg/replies)"),
        ("gateway: question to the catalog", r"gateway/(dialects|query|percent|peers|coalescing)"),
        ("gateway: router, context, limits", r"gateway/|servicekit/telemetry"),
        ("who may: decide", r"authorization/(wire|remote\.|authorizer|objects|actions)|authz/"),
        ("who calls: authenticate", r"authorization/|catalog/(application/caller|transport/callers)\."),
        ("locate: one read for many", r"postgres/(coalescing|tabulars|rows|containers|pools)|asyncpg/"),
        ("body: the stored document", r"catalog/application/documents|catalog/domain/bodies|postgres/bod"),
        ("access: vend", r"catalog/adapters/vending|tables/loaded\.py|vending/"),
        ("catalog: use case, tag", r"catalog/(application|domain|adapters)"),
        ("catalog: answer as a message", r"catalog/transport"),
        ("calls between services", r"servicekit/rpc|grpc/"),
    )
)
_REST: Final = "event loop, sockets, the rest"


async def run(served: Lakeward, plan: Plan) -> Sequence[Figure]:
    """Microseconds of each layer, for each kind of load, in each process that takes part.

    Raises:
        MissingToolError: there is no py-spy.
    """
    if (spy := shutil.which("py-spy")) is None:
        raise MissingToolError("py-spy is not installed; `pip install py-spy`")
    warehouse = await make_warehouse(served)
    tag, _ = await prepare(served, warehouse)
    figures: list[Figure] = []
    seconds = plan.seconds * 2
    with counter(served.stack.home / "acknowledged-layers") as told:
        async with writing(served.url, warehouse.table(NAMESPACE, WRITTEN), told, headers=CLIENT_MANAGED):
            for leg in legs(tag):
                with metered({name: (pid,) for name, pid in served.processes.items()}) as usage:
                    plain = await load(served, warehouse, leg, told, seconds=seconds)
                for process, pid in served.processes.items():
                    cost = usage.cpu[process] / plain.requests * 1e6
                    if cost < 1:
                        continue
                    file = served.stack.home / "samples"
                    sampled, _ = await asyncio.gather(
                        _sampled(spy, pid, file, seconds=seconds),
                        load(served, warehouse, leg, told, seconds=seconds + 1),
                    )
                    where = f"{leg.name}, {process} of {served.composition}"
                    figures += _figures(where, cost, sampled)
    return figures


async def _sampled(spy: str, pid: int, file: Path, *, seconds: float) -> Mapping[str, int]:
    """Samples by layer."""
    process = await asyncio.create_subprocess_exec(
        *(spy, "record", "--pid", str(pid), "--duration", str(round(seconds)), "--rate", str(_RATE)),
        *("--format", "raw", "--output", str(file)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    await process.wait()
    return by_layer(await asyncio.to_thread(file.read_text, encoding="utf-8"))


def by_layer(samples: str) -> Mapping[str, int]:
    """Count samples by layer.

    Args:
        samples: lines of frames from the outermost to the innermost, joined by ";", and a count.
    """
    found: collections.Counter[str] = collections.Counter()
    for line in samples.splitlines():
        stack, _, count = line.rpartition(" ")
        if not _IDLE.search(stack):
            found[_layer(stack.split(";"))] += int(count)
    return found


def _layer(frames: Sequence[str]) -> str:
    for frame in reversed(frames):
        for layer, files in _LAYERS:
            if files.search(frame):
                return layer
    return _REST


def _figures(where: str, cost: float, sampled: Mapping[str, int]) -> Sequence[Figure]:
    every = sum(sampled.values()) or 1
    layers = [
        Figure(BENCH, layer, cost * count / every, "µs", Better.LOWER, detail=f"{count / every:.0%}")
        for layer in (*(name for name, _ in _LAYERS), _REST)
        if (count := sampled.get(layer))
    ]
    return [Figure(BENCH, f"{where}: CPU of a request", cost, "µs", Better.LOWER, detail=f"{every} samples"), *layers]
