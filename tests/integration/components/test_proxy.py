"""The proxy cuts where it says, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from lakeward_components.postgres import PostgresServer
from tests.support.proxy import TO_CLIENT, TO_SERVER, Cut, Line, proxy

pytestmark = pytest.mark.integration

MESSAGE = bytes(range(256)) * 40


@asynccontextmanager
async def echo() -> AsyncIterator[Line]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1000):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass  # the proxy's resets arrive here
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, proxy("127.0.0.1", server.sockets[0].getsockname()[1]) as line:
        yield line


async def spoken(line: Line, message: bytes = MESSAGE) -> tuple[bytes, bool]:
    """What came back, and whether the connection was reset."""
    reader, writer = await asyncio.open_connection(line.host, line.port)
    answer, reset = b"", False
    try:
        writer.write(message)
        writer.write_eof()
        while data := await reader.read(1 << 16):
            answer += data
    except OSError:
        reset = True
    finally:
        writer.close()
    return answer, reset


async def test_everything_passes_by_default() -> None:
    async with echo() as line:
        assert await spoken(line) == (MESSAGE, False)
        assert line.passed == {TO_SERVER: len(MESSAGE), TO_CLIENT: len(MESSAGE)}


@pytest.mark.parametrize("after", [0, 1, 999, 1000, 5001])
async def test_a_reply_is_cut_at_the_byte(after: int) -> None:
    async with echo() as line:
        line.cut_next(after=after, direction=TO_CLIENT, abruptly=False)
        assert await spoken(line) == (MESSAGE[:after], False)
        assert await spoken(line) == (MESSAGE, False)


@pytest.mark.parametrize("after", [0, 1, 5001])
async def test_a_request_is_cut_at_the_byte_with_a_reset(after: int) -> None:
    async with echo() as line:
        line.cut_next(after=after, direction=TO_SERVER)
        _, reset = await spoken(line)
        assert reset
        assert line.passed[TO_SERVER] == after


async def test_a_cut_may_wait_for_a_later_connection() -> None:
    async with echo() as line:
        line.cut_next(after=3, direction=TO_CLIENT, abruptly=False, skip=1)
        assert [len((await spoken(line))[0]) for _ in range(3)] == [len(MESSAGE), 3, len(MESSAGE)]


async def test_each_connection_is_cut_until_told_otherwise() -> None:
    async with echo() as line:
        line.cut_each(Cut(2, TO_CLIENT, abruptly=False))
        assert [len((await spoken(line))[0]) for _ in range(2)] == [2, 2]
        line.cut_each(None)
        assert len((await spoken(line))[0]) == len(MESSAGE)


async def test_nothing_passes_a_paused_line_and_nothing_is_lost() -> None:
    async with echo() as line:
        line.pause()
        speaking = asyncio.create_task(spoken(line))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(speaking), 0.05)
        assert line.passed[TO_SERVER] == 0
        line.resume()
        assert await speaking == (MESSAGE, False)


async def test_a_refusing_line_comes_back_at_its_old_address() -> None:
    async with echo() as line:
        before = line.port
        await line.refuse()
        with pytest.raises(ConnectionRefusedError):
            await spoken(line)
        await line.accept()
        assert line.port == before
        assert await spoken(line) == (MESSAGE, False)


async def test_postgres_works_behind_a_line_and_its_client_sees_a_cut(postgres_server: PostgresServer) -> None:
    async with proxy(postgres_server.host, postgres_server.port) as line:
        connection = await asyncpg.connect(line.instead_of(postgres_server.url))
        assert await connection.fetchval("select 1") == 1
        line.cut_all()
        with pytest.raises((OSError, asyncpg.PostgresError, asyncpg.InterfaceError)):
            await connection.fetchval("select 1")
        connection.terminate()
