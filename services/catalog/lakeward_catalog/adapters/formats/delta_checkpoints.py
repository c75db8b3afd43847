"""Checkpoints of a Delta log: which files a table had at a version, so that the log before it need not be there.

All kinds are read: one file, several parts, and those of the second kind, whose sidecars have the files. Source: Delta's protocol
(PROTOCOL.md).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import unquote

import msgspec

from lakeward_catalog.adapters.formats import columns
from lakeward_catalog.adapters.formats.delta_actions import File, Stats, Vector, decoded
from lakeward_catalog.adapters.formats.reading import TableFiles
from lakeward_catalog.application.ports.measuring import Unreadable

_NAME: Final = re.compile(
    r"_delta_log/(?P<version>[0-9]{20})\.checkpoint"
    r"(\.(?P<part>[0-9]{10})\.(?P<parts>[0-9]{10})|\.(?P<id>[0-9a-fA-F-]{36}))?\.(?P<kind>parquet|json)"
)
_SIDECARS: Final = "_delta_log/_sidecars/"
_JSON: Final = 64 * 1024 * 1024
_PACKED: Final = 128 * 1024 * 1024
_UNPACKED: Final = 256 * 1024 * 1024
_ROWS: Final = 2_000_000
_VECTOR: Final = "add.deletionVector."
_COLUMNS: Final = (
    "add.path",
    "add.size",
    "add.stats",
    "add.stats_parsed.numRecords",
    *(f"{_VECTOR}{name}" for name in ("storageType", "pathOrInlineDv", "offset", "cardinality")),
    "sidecar.path",
)


@dataclass(frozen=True)
class Checkpoint:
    """One that is whole.

    Attributes:
        version: of the table.
        parts: its files, with sizes.
    """

    version: int
    parts: Sequence[tuple[str, int]]

    @classmethod
    def newest(cls, listed: Iterable[tuple[str, int]]) -> Self | None:
        """Of the files of a log, the newest checkpoint of which no part is missing."""
        found: dict[tuple[int, int, str], dict[int, tuple[str, int]]] = {}
        for path, size in listed:
            if name := _NAME.fullmatch(path):
                count = int(name["parts"] or 1)
                key = int(name["version"]), count, name["id"] or ""
                found.setdefault(key, {})[int(name["part"] or 1)] = path, size
        whole = [
            key for key, parts in found.items() if len(parts) == key[1] and set(parts) == set(range(1, key[1] + 1))
        ]
        if not whole:
            return None
        best = max(whole)
        return cls(best[0], [found[best][part] for part in sorted(found[best])])


async def added(files: TableFiles, checkpoint: Checkpoint, sidecars: Mapping[str, int]) -> AsyncIterator[list[File]]:
    """The files that the table had, some at a time.

    Args:
        files: of the table.
        checkpoint: to read.
        sidecars: sizes of what lies in the folder of sidecars, by path.

    Raises:
        Unreadable: it is larger than is read here, can't be read, or has a sidecar that is not there.
        Refusal: those of the store.
    """
    budget = columns.Budget(packed=_PACKED, unpacked=_UNPACKED, rows=_ROWS)
    named: list[str] = []
    for path, size in checkpoint.parts:
        async for some, further in _actions(files, path, size, budget):
            yield some
            named += further
    for name in dict.fromkeys(named):
        path = _SIDECARS + unquote(name).rpartition("/")[2]  # they lie in that folder, however their paths are written
        if path not in sidecars:
            raise Unreadable("a sidecar of its checkpoint is not there")
        async for some, _ in _actions(files, path, sidecars[path], budget):
            yield some


async def _actions(
    files: TableFiles, path: str, size: int, budget: columns.Budget
) -> AsyncIterator[tuple[list[File], list[str]]]:
    if path.endswith(".json"):
        if size > _JSON:
            raise Unreadable(f"{path} has {size} bytes")
        budget.take(packed=size)
        actions = decoded(await files.whole(path, size), path)
        yield (
            [each.add for each in actions if each.add is not None],
            [each.sidecar.path for each in actions if each.sidecar is not None],
        )
        return
    async for rows in columns.columns(files, path, size, _COLUMNS, budget):
        yield _files(rows), [_text(each) for each in rows.get("sidecar.path", ()) if each is not None]


def _files(rows: columns.Rows) -> list[File]:
    if "add.path" not in rows:
        if rows.keys() & set(_COLUMNS[:-1]):
            raise Unreadable("its checkpoint has files without paths")
        return []
    nothing: Sequence[columns.Value] = [None] * len(rows["add.path"])
    told = zip(*(rows.get(name, nothing) for name in _COLUMNS[:-1]), strict=True)
    return [_file(dict(zip(_COLUMNS, each, strict=False))) for each in told if each[0] is not None]


def _file(told: Mapping[str, columns.Value]) -> File:
    vector, stats = None, None
    if told[f"{_VECTOR}storageType"] is not None:
        offset, cardinality = _number(told[f"{_VECTOR}offset"]), _number(told[f"{_VECTOR}cardinality"])
        kind, where = _text(told[f"{_VECTOR}storageType"]), _text(told[f"{_VECTOR}pathOrInlineDv"])
        vector = Vector(kind, where, offset, cardinality or 0)
    if (known := told["add.stats"]) is not None:
        stats = _text(known)
    elif (parsed := told["add.stats_parsed.numRecords"]) is not None:
        stats = msgspec.json.encode(Stats(_number(parsed))).decode()
    return File(_text(told["add.path"]), _number(told["add.size"]), stats, vector)


def _text(value: columns.Value) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


def _number(value: columns.Value) -> int | None:
    return value if isinstance(value, int) else None
