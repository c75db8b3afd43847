"""Writers that change something all the while, and say which changes are acknowledged.

Readers compare with what it says. `bench/wrk/fresh.lua` does it for every reply of a run; the writer itself does it for
conditional loads: a tag from before a commit must not hold after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import mmap
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.client import Connection
from bench.warehouse import NO_CONTENT, OK, Table, table_of

PROPERTY: Final = "bench.sequence"
CHANGES_PER_SECOND: Final = 10
_NOT_MODIFIED: Final = 304


class StaleReadError(Exception):
    """A reply lacked an acknowledged change, or could not be checked."""


class Counter:
    """The number of the last acknowledged change of each thing, in a file that other processes map."""

    def __init__(self, path: Path, mapped: mmap.mmap) -> None:
        self.path: Final = path
        self._mapped: Final = mapped

    def tell(self, number: int, thing: int = 0) -> None:
        struct.pack_into("<q", self._mapped, 8 * thing, number)

    def tell_of_all(self, number: int) -> None:
        for thing in range(len(self._mapped) // 8):
            self.tell(number, thing)


@contextlib.contextmanager
def counter(path: Path, things: int = 1) -> Iterator[Counter]:
    """A counter of so many things, in a file of its own."""
    path.write_bytes(bytes(8 * things))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 8 * things) as mapped:
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
        table = await commit(connection, path, table_of(await connection.get(path)))
        told.tell(table.version)

        async def write() -> None:
            nonlocal table
            tag = (await connection.get(path, headers)).expect(OK).headers["etag"]
            table = await commit(connection, path, table)
            told.tell(table.version)
            written.commits += 1
            written.number = table.version
            again = (await connection.get(path, {**headers, "if-none-match": tag})).expect(OK, _NOT_MODIFIED)
            written.stale_tags += again.status == _NOT_MODIFIED

        async with repeating(write):
            yield written


@contextlib.asynccontextmanager
async def repeating(step: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Do something some times a second until the block ends.

    Raises:
        Whatever ended it early.
    """
    ending = asyncio.Event()

    async def repeat() -> None:
        turn = time.monotonic()
        while not ending.is_set():
            await step()
            turn = max(turn + 1 / CHANGES_PER_SECOND, time.monotonic())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), max(turn - time.monotonic(), 0.001))

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        ending.set()
        await task


async def commit(connection: Connection, path: str, table: Table) -> Table:
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
