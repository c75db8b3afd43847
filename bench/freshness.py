"""A writer that commits to a table all the while, and says which commits are acknowledged.

Readers compare with what it says. `bench/wrk/fresh.lua` does it for every reply of a run; the writer itself does it for
conditional loads: a tag from before a commit must not hold after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import mmap
import struct
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.client import Connection
from bench.warehouse import NO_CONTENT, OK, Table, table_of

PROPERTY: Final = "bench.sequence"
COMMITS_PER_SECOND: Final = 10
_NOT_MODIFIED: Final = 304


class Counter:
    """The number of the last acknowledged commit, in a file that other processes map."""

    def __init__(self, path: Path, mapped: mmap.mmap) -> None:
        self.path: Final = path
        self._mapped: Final = mapped

    def tell(self, number: int) -> None:
        struct.pack_into("<q", self._mapped, 0, number)


@contextlib.contextmanager
def counter(path: Path) -> Iterator[Counter]:
    """A counter in a file of its own."""
    path.write_bytes(bytes(8))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 8) as mapped:
        yield Counter(path, mapped)


@dataclass(slots=True)
class Written:
    """What the writer did and saw.

    Attributes:
        commits: that were acknowledged.
        number: of the last one.
        stale_tags: conditional loads that were told "not modified" after a commit.
    """

    commits: int = 0
    number: int = 0
    stale_tags: int = 0


@contextlib.asynccontextmanager
async def writing(url: str, path: str, told: Counter, *, headers: Mapping[str, str]) -> AsyncIterator[Written]:
    """Commit to a table some times a second until the block ends.

    Args:
        url: of the server.
        path: of the table.
        told: what hears of each commit.
        headers: of its loads.

    Raises:
        Whatever ended the writer early.
    """
    written = Written()
    async with Connection(url) as connection:
        table = await _commit(connection, path, table_of(await connection.get(path)))
        told.tell(table.version)
        ending = asyncio.Event()
        task = asyncio.create_task(
            _write(connection, path, table, told=told, written=written, headers=headers, ending=ending)
        )
        try:
            yield written
        finally:
            ending.set()
            await task


async def _write(
    connection: Connection,
    path: str,
    table: Table,
    *,
    told: Counter,
    written: Written,
    headers: Mapping[str, str],
    ending: asyncio.Event,
) -> None:
    turn = time.monotonic()
    while not ending.is_set():
        tag = (await connection.get(path, headers)).expect(OK).headers["etag"]
        table = await _commit(connection, path, table)
        told.tell(table.version)
        written.commits += 1
        written.number = table.version
        again = (await connection.get(path, {**headers, "if-none-match": tag})).expect(OK, _NOT_MODIFIED)
        written.stale_tags += again.status == _NOT_MODIFIED
        turn = max(turn + 1 / COMMITS_PER_SECOND, time.monotonic())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ending.wait(), max(turn - time.monotonic(), 0.001))


async def _commit(connection: Connection, path: str, table: Table) -> Table:
    """One commit by the only writer, so the number of the one after this table's is known."""
    number = table.version + 1
    committed = table_of(
        await connection.post(
            path,
            {
                "requirements": [{"type": "assert-table-uuid", "uuid": table.metadata.table_uuid}],
                "updates": [{"action": "set-properties", "updates": {PROPERTY: f"{number:012d}"}}],
            },
        )
    )
    if committed.version != number:
        raise RuntimeError(f"commit {number} became {committed.version}; somebody else wrote to {path}")
    return committed


async def drop(connection: Connection, path: str) -> None:
    """Take a table away with its files."""
    (await connection.request("DELETE", f"{path}?purgeRequested=true")).expect(NO_CONTENT)
