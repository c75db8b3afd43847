"""Whose CPU time it was: the share of each group of processes in a stretch of time."""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import psutil

from bench.pauses import Pauses, Watch


@dataclass(slots=True)
class Usage:
    """CPU time over a stretch; filled in when the stretch ends.

    Attributes:
        seconds: of wall clock.
        cpu: seconds of each group.
        harness: CPU seconds of this process: clients, writers, checkers.
        ended_children: CPU seconds of children of this process that ended meanwhile: wrk, pgbench.
        pauses: the longest of the processes that were watched.
    """

    seconds: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)
    harness: float = 0.0
    ended_children: float = 0.0
    pauses: Pauses = field(default_factory=Pauses)

    def shares(self, *, cores: int) -> Mapping[str, float]:
        """Each group's share of the whole machine, the load generator's among them."""
        whole = self.seconds * cores or 1.0
        every = {**self.cpu, "load generator": self.ended_children, "harness": self.harness}
        return {name: used / whole for name, used in every.items()}

    def told(self, *, cores: int) -> str:
        """Who used the machine, and how long the watched stood still."""
        shares = ", ".join(f"{name} {share:.0%}" for name, share in self.shares(cores=cores).items() if share >= 0.005)
        return f"CPU: {shares}; longest {self.pauses}"


@contextlib.contextmanager
def metered(groups: Mapping[str, Sequence[int]], watch: Watch | None = None) -> Iterator[Usage]:
    """Measure a block.

    Args:
        groups: process ids by group; their children count too.
        watch: of the processes whose pauses are measured.
    """
    usage = Usage()
    before = {name: cpu_seconds(pids) for name, pids in groups.items()}
    if watch is not None:
        watch.begin()
    own, children, began = _own(), _children(), time.monotonic()
    yield usage
    usage.seconds = time.monotonic() - began
    usage.harness = _own() - own
    usage.ended_children = _children() - children
    if watch is not None:
        usage.pauses = watch.read()
    usage.cpu.update({name: cpu_seconds(pids) - before[name] for name, pids in groups.items()})


def cpu_seconds(pids: Sequence[int]) -> float:
    """CPU seconds of processes and of their children, those that have ended included."""
    return sum(_tree(psutil.Process(pid)) for pid in pids)


def _tree(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
        spent = times.user + times.system + times.children_user + times.children_system
        return spent + sum(_tree(child) for child in process.children())
    except psutil.NoSuchProcess:  # it ended meanwhile; its parent's count has it
        return 0.0


def _own() -> float:
    times = os.times()
    return times.user + times.system


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
