"""Events: how soon a consumer has them, how fast a backlog of them leaves, and what writing them costs a commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bench.events import backlog, latency, outbox
from bench.figures import Figure
from bench.plan import Plan
from bench.stack import Stack

BENCH: Final = "events"


def run(parts: Stack, plan: Plan, *, cores: int) -> Iterator[Figure]:
    """All of it; each figure as soon as it is known."""
    yield from outbox.run(parts, plan)
    yield from latency.run(parts, plan, cores=cores)
    yield from backlog.run(parts, plan, cores=cores)
