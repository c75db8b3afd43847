"""How long the processes that are measured stood still: in the garbage collector, and in their event loop.

They measure it themselves (`bench/watched.py`) and keep the longest in a mapped file, which is read here after each stretch.
A machine that is shared holds processes up, too; that is not theirs, so what is judged leaves out the time in which a process
waited for a core, and the whole time is told beside it.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.figures import Better, Figure

FOLDER: Final = "BENCH_PAUSES"
"""Environment variable of a watched process: where it keeps its file, which has its process id as name."""
COLLECTION_MILLISECONDS: Final = 10.0
STALL_MILLISECONDS: Final = 20.0
_ASKED: Final = struct.Struct("<q")
_TOLD: Final = struct.Struct("<q6d")


@dataclass(frozen=True, slots=True)
class Pauses:
    """The longest of a stretch, in milliseconds.

    Attributes:
        collection: of the garbage collector.
        stall: between two turns of the event loop.
        collection_wall: the longest collection with the time in which it waited for a core.
        stall_wall: the same of stalls.
        collections: how many there were, of every generation.
        collecting: that all of them took together.
    """

    collection: float = 0.0
    stall: float = 0.0
    collection_wall: float = 0.0
    stall_wall: float = 0.0
    collections: float = 0.0
    collecting: float = 0.0

    def __str__(self) -> str:
        return (
            f"collection {self.collection:.1f} ms, stall {self.stall:.1f} ms "
            f"({self.collection_wall:.0f} and {self.stall_wall:.0f} by the wall's clock)"
        )


def longest(every: Sequence[Pauses]) -> Pauses:
    """Of several stretches or processes, the longest pauses, and all collections."""
    return Pauses(
        collection=max((each.collection for each in every), default=0.0),
        stall=max((each.stall for each in every), default=0.0),
        collection_wall=max((each.collection_wall for each in every), default=0.0),
        stall_wall=max((each.stall_wall for each in every), default=0.0),
        collections=sum(each.collections for each in every),
        collecting=sum(each.collecting for each in every),
    )


class Slate:
    """What one process keeps and another reads: the number of the stretch that is asked for, and what was seen in it."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped: Final = mapped

    @property
    def asked(self) -> int:
        """The stretch that is asked for."""
        number: int = _ASKED.unpack_from(self._mapped, 0)[0]
        return number

    def ask(self, stretch: int) -> None:
        _ASKED.pack_into(self._mapped, 0, stretch)

    def tell(self, stretch: int, seen: Pauses) -> None:
        told = (seen.collection, seen.stall, seen.collection_wall, seen.stall_wall, seen.collections, seen.collecting)
        _TOLD.pack_into(self._mapped, _ASKED.size, stretch, *told)

    def seen(self) -> Pauses:
        """What was seen in the stretch that is asked for; nothing, where nothing was."""
        stretch, *told = _TOLD.unpack_from(self._mapped, _ASKED.size)
        return Pauses(*told) if stretch == self.asked else Pauses()


@contextlib.contextmanager
def slate(path: Path) -> Iterator[Slate]:
    """The slate in a file, made where it is missing."""
    size = _ASKED.size + _TOLD.size
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        file.truncate(size)
        with mmap.mmap(file.fileno(), size) as mapped:
            yield Slate(mapped)


@dataclass(slots=True)
class Watch:
    """The slates of an installation's processes.

    Attributes:
        slates: by the process's name.
        kept: the longest of all stretches that were read, by the process's name.
    """

    slates: Mapping[str, Slate]
    kept: dict[str, Pauses] = field(default_factory=dict)
    _stretch: int = 0

    def begin(self) -> None:
        """A new stretch begins."""
        self._stretch += 1
        for each in self.slates.values():
            each.ask(self._stretch)

    def read(self) -> Pauses:
        """The longest pauses of any process since the stretch began."""
        found = {name: each.seen() for name, each in self.slates.items()}
        for name, seen in found.items():
            self.kept[name] = longest([self.kept.get(name, Pauses()), seen])
        return longest(list(found.values()))

    def figures(self, bench: str, where: str) -> Sequence[Figure]:
        """The longest of all stretches since the last call, judged; none where nothing was watched."""
        kept, self.kept = self.kept, {}
        if not kept:
            return []
        whole = longest(list(kept.values()))
        collector, loop = (
            max(kept, key=lambda name: kept[name].collection),
            max(kept, key=lambda name: kept[name].stall),
        )
        return [
            Figure(
                bench,
                f"longest collection, {where}",
                whole.collection,
                "ms",
                Better.LOWER,
                goal=COLLECTION_MILLISECONDS,
                detail=f"{collector}; {whole.collection_wall:.1f} ms with waiting for a core; "
                f"{whole.collections:.0f} collections took {whole.collecting:.0f} ms",
            ),
            Figure(
                bench,
                f"longest stall of the loop, {where}",
                whole.stall,
                "ms",
                Better.LOWER,
                goal=STALL_MILLISECONDS,
                detail=f"{loop}; {whole.stall_wall:.1f} ms with waiting for a core",
            ),
        ]
