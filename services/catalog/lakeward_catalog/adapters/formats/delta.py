"""How much a Delta table holds: its log, from the first version on, says which files there are and how many rows each has.

A log whose first versions were removed begins with a checkpoint, a Parquet file whose columns would have to be decoded. Of such
a table the sum that writers leave with a version (`.crc`) is taken, where there is one: it knows files and bytes, and no rows.
Source: Delta's protocol (PROTOCOL.md).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

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


class _Vector(msgspec.Struct, rename="camel"):
    storage_type: str = ""
    path_or_inline_dv: str = ""
    offset: int | None = None
    cardinality: int = 0


class _File(msgspec.Struct, rename="camel"):
    path: str
    size: int | None = None
    stats: str | None = None
    deletion_vector: _Vector | None = None

    @property
    def key(self) -> tuple[str, str]:
        """A file is there once with each of its deletion vectors."""
        vector = self.deletion_vector
        return self.path, "" if vector is None else f"{vector.storage_type}{vector.path_or_inline_dv}@{vector.offset}"


class _Action(msgspec.Struct):
    add: _File | None = None
    remove: _File | None = None


class _Stats(msgspec.Struct, rename="camel"):
    num_records: int | None = None


class _Sum(msgspec.Struct, rename="camel"):
    table_size_bytes: int
    num_files: int


_action: Final = msgspec.json.Decoder(_Action)
_stats: Final = msgspec.json.Decoder(_Stats)
_sum: Final = msgspec.json.Decoder(_Sum)


async def measure(files: TableFiles) -> Measures | None:
    """Replay the log.

    Raises:
        Unreadable: it is none, is longer than is read here, or begins with a checkpoint and no version's sum is there.
        Refusal: those of the store.
    """
    commits: dict[int, tuple[str, int]] = {}
    sums: dict[int, tuple[str, int]] = {}
    async for path, size in files.listed("_delta_log/", most=_LOG_FILES):
        for names, found in ((_COMMIT, commits), (_SUM, sums)):
            if name := names.fullmatch(path):
                found[int(name[1])] = path, size
    if not commits:
        return None
    latest = max(commits)
    log = [commits[version] for version in range(latest + 1) if version in commits]
    if len(log) == latest + 1 <= _COMMITS and sum(size for _, size in log) <= _BYTES:
        live = await _replayed(files, log)
        return await asyncio.to_thread(_measures, latest, live)
    if latest not in sums:
        raise Unreadable("the log begins with a checkpoint, or is too long to be read, and its last version has no sum")
    return await _from_sum(files, latest, *sums[latest])


async def _from_sum(files: TableFiles, version: int, path: str, size: int) -> Measures:
    if size > _MAX_SUM:
        raise Unreadable(f"{path} has {size} bytes")
    try:
        found = _sum.decode(await files.whole(path, size))
    except msgspec.DecodeError as error:
        raise Unreadable(f"{path} can't be read: {error}") from error
    return Measures(version=version, files=found.num_files, bytes=found.table_size_bytes)


async def _replayed(files: TableFiles, log: Sequence[tuple[str, int]]) -> Mapping[tuple[str, str], _File]:
    live: dict[tuple[str, str], _File] = {}
    for start in range(0, len(log), _AT_ONCE):
        some = log[start : start + _AT_ONCE]
        for (path, _), content in zip(some, await asyncio.gather(*(files.whole(*each) for each in some)), strict=True):
            await asyncio.to_thread(_apply, live, content, path)
            if len(live) > _LIVE_FILES:
                raise Unreadable(f"it has over {_LIVE_FILES} files")
    return live


def _apply(live: dict[tuple[str, str], _File], content: bytes, path: str) -> None:
    try:
        actions = [_action.decode(line) for line in content.splitlines() if line.strip()]
    except msgspec.DecodeError as error:
        raise Unreadable(f"{path} can't be read: {error}") from error
    for action in actions:
        if action.remove is not None:
            live.pop(action.remove.key, None)
    for action in actions:
        if action.add is not None:
            live[action.add.key] = action.add


def _measures(version: int, live: Mapping[tuple[str, str], _File]) -> Measures:
    rows = [_rows(each) for each in live.values()]
    sizes = [each.size for each in live.values()]
    return Measures(
        version=version,
        rows=None if None in rows else sum(each for each in rows if each is not None),
        files=len(live),
        bytes=None if None in sizes else sum(each for each in sizes if each is not None),
    )


def _rows(file: _File) -> int | None:
    try:
        found = None if file.stats is None else _stats.decode(file.stats).num_records
    except msgspec.DecodeError:
        return None
    if found is None:
        return None
    return max(0, found - (0 if file.deletion_vector is None else file.deletion_vector.cardinality))
