"""The memory of `lakeward up` at rest."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import psutil

from bench.figures import Better, Figure
from bench.plan import Plan
from bench.stack import command, serves
from lakeward_components import blocking
from lakeward_components.ports import LOOPBACK, take
from tests.support.installations import foreign_removed

BENCH: Final = "memory"
_GOAL: Final = 100.0
_FLOOR: Final = 130.0
_READY_SECONDS: Final = 120.0


def run(home: Path, plan: Plan) -> Sequence[Figure]:
    """PSS of our processes, and of each component, after a while without a request."""
    port = take(given=None, last=None)
    url = f"http://{LOOPBACK}:{port}"
    environment = {
        **{name: value for name, value in foreign_removed(os.environ).items() if not name.startswith("LAKEWARD_UP_")},
        "LAKEWARD_HOME": str(home / "up-home"),
        "LAKEKEEPER__LISTEN_PORT": str(port),
        "LAKEWARD_UP_COMPONENT_SOURCES": "binary",
    }
    with command("up", ["up"], home=home, environment=environment) as process:
        blocking.run(process.until(lambda: serves(url), seconds=_READY_SECONDS))
        asyncio.run(asyncio.sleep(plan.idle))
        ours, components = _weighed(psutil.Process(process.pid))
    detail = ", ".join(f"{name} {size:.0f}" for name, size in components.items())
    return [
        Figure(
            BENCH,
            f"idle for {plan.idle:.0f} s, embedded, one worker",
            ours,
            "MB PSS",
            Better.LOWER,
            goal=_GOAL,
            floor=_FLOOR,
            detail=f"beside it, in MB: {detail}",
        )
    ]


def _weighed(root: psutil.Process) -> tuple[float, dict[str, float]]:
    """(Megabytes of the processes that run our Python, those of the others by name)."""
    ours = 0.0
    components: dict[str, float] = {}
    for process in [root, *root.children(recursive=True)]:
        size = process.memory_full_info().pss / 1e6
        if process.name().startswith(("python", "lakeward")):
            ours += size
        else:
            components[process.name()] = components.get(process.name(), 0.0) + size
    return ours, components
