"""How much a Delta table holds: its log says which files there are and how many rows each has.

The log is replayed from its first version on, or from the newest checkpoint where the first ones were removed or are too many.
Where neither can be read here, the sum that writers leave with a version (`.crc`) is taken, where there is one: it knows files
and bytes, and no rows. Source: Delta's protocol (PROTOCOL.md).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from lakeward_catalog.adapters.formats.delta_actions import File, decoded
from lakeward_catalog.adapters.formats.delta_checkpoints import Checkpoint, added
from lakeward_catalog.adapters.formats.reading import TableFiles
from lakeward_catalog.application.ports.measuring import Unreadable
from lakeward_catalog.domain.generic.measures import Measures

_COMMIT: Final = re.compile(r"_delta_log/([0-9]{20})\.json")
_SUM: Final = re.compile(r"_delta_log/([0-9]{20})\.crc")
_LOG_FILES: Final = 20_000
_COMMITS: Final = 5_000
_BYTES: Final = 256 * 1024 * 1024
_AT_ONCE: Final = 8
_LIVE_FILES: Final = 1_000_000
_MAX_SUM: Final = 1024 * 1024


class _Sum(msgspec.Struct, rename="camel"):
    table_size_bytes: int
    num_files: int


_sum: Final = msgspec.json.Decoder(_Sum)


@dataclass
class _Log:
    """The files of one, with their sizes."""

    commits: dict[int, tuple[str, int]] = field(default_factory=dict)
    sums: dict[int, tuple[str, int]] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)

    def since(self, version: int, latest: int) -> Sequence[tuple[str, int]] | None:
        """The commits from a version to the latest one; None where one is missing, or there are more than are read here."""
        found = [self.commits[each] for each in range(version, latest + 1) if each in self.commits]
        if len(found) != latest + 1 - version or len(found) > _COMMITS or sum(size for _, size in found) > _BYTES:
            return None
        return found


async def measure(files: TableFiles) -> Measures | None:
    """Replay the log.

    Raises:
        Unreadable: it is none, or neither it nor a checkpoint can be read here and no sum of the last version is there.
        Refusal: those of the store.
    """
    log = _Log()
    async for path, size in files.listed("_delta_log/", most=_LOG_FILES):
        if name := _COMMIT.fullmatch(path):
            log.commits[int(name[1])] = path, size
        elif name := _SUM.fullmatch(path):
            log.sums[int(name[1])] = path, size
        else:
            log.others[path] = size
    checkpoint = Checkpoint.newest(log.others.items())
    known = [*log.commits, *([checkpoint.version] if checkpoint else [])]
    if not known:
        return None
    latest = max(known)
    try:
        live = await _live(files, log, checkpoint, latest)
    except Unreadable:
        if latest not in log.sums:
            raise
        return await _from_sum(files, latest, *log.sums[latest])
    return live.measures(latest)


async def _live(files: TableFiles, log: _Log, checkpoint: Checkpoint | None, latest: int) -> _Live:
    live = _Live()
    rest = log.since(0, latest)
    if rest is None and checkpoint is not None:
        rest = log.since(checkpoint.version + 1, latest)
        async for some in added(files, checkpoint, log.others):
            await asyncio.to_thread(live.add, some)
    if rest is None:
        raise Unreadable(
            "versions of the log are missing, or are too many to be read, and no checkpoint stands for them"
        )
    await _replay(files, rest, live)
    return live


async def _from_sum(files: TableFiles, version: int, path: str, size: int) -> Measures:
    if size > _MAX_SUM:
        raise Unreadable(f"{path} has {size} bytes")
    try:
        found = _sum.decode(await files.whole(path, size))
    except msgspec.DecodeError as error:
        raise Unreadable(f"{path} can't be read: {error}") from error
    return Measures(version=version, files=found.num_files, bytes=found.table_size_bytes)


class _Live:
    """Sizes and rows of the files that are there."""

    def __init__(self) -> None:
        self._files: Final[dict[tuple[str, str], tuple[int | None, int | None]]] = {}

    def add(self, files: Sequence[File]) -> None:
        """Files of which each may be there already.

        Raises:
            Unreadable: there are too many.
        """
        for each in files:
            self._files[each.key] = each.size, each.rows
        if len(self._files) > _LIVE_FILES:
            raise Unreadable(f"it has over {_LIVE_FILES} files")

    def apply(self, content: bytes, path: str) -> None:
        """What a version changed.

        Raises:
            Unreadable: it is no version of a log, or there are too many files.
        """
        actions = decoded(content, path)
        for action in actions:
            if action.remove is not None:
                self._files.pop(action.remove.key, None)
        self.add([action.add for action in actions if action.add is not None])

    def measures(self, version: int) -> Measures:
        """All of them."""
        sizes, rows = zip(*self._files.values(), strict=True) if self._files else ((), ())
        return Measures(version=version, rows=_all(rows), files=len(self._files), bytes=_all(sizes))


def _all(numbers: Sequence[int | None]) -> int | None:
    known = [each for each in numbers if each is not None]
    return sum(known) if len(known) == len(numbers) else None


async def _replay(files: TableFiles, log: Sequence[tuple[str, int]], live: _Live) -> None:
    for start in range(0, len(log), _AT_ONCE):
        some = log[start : start + _AT_ONCE]
        for (path, _), content in zip(some, await asyncio.gather(*(files.whole(*each) for each in some)), strict=True):
            await asyncio.to_thread(live.apply, content, path)
