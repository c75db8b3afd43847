"""A reply that is whole: what is written of it, byte for byte."""

from __future__ import annotations

import asyncio
import types
from typing import Any

import pytest

from lakeward_gateway.cycle import Cycle, lines_of
from lakeward_gateway.http import Header


class Wire:
    def __init__(self) -> None:
        self.written = b""
        self.closed = False

    def whole(self, head: bytes, body: bytes) -> None:
        self.written += head + body

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


class Connection:
    """As much of uvicorn's protocol as a cycle takes from it."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.transport = self.wire
        self.flow = types.SimpleNamespace(write_paused=False, drain=self.drain, resume_reading=lambda: None)
        self.drained = asyncio.Event()
        self.logger = self.access_logger = types.SimpleNamespace(error=lambda *_, **__: None)
        self.access_log = False
        self.server_state = types.SimpleNamespace(default_headers=[(b"date", b"today")])
        self.expect_100_continue = False
        self.completed = 0

    async def drain(self) -> None:
        await self.drained.wait()

    def on_response_complete(self) -> None:
        self.completed += 1

    def cycle(self, method: str = "GET", *, keep_alive: bool = True) -> Cycle:
        connection: Any = self
        return Cycle({"method": method}, connection, self.wire, keep_alive=keep_alive)


@pytest.fixture
async def connection() -> Connection:
    return Connection()


BODY = b'{"a":1}'
HEADERS: list[Header] = [(b"etag", b'"x"'), (b"content-length", b"7")]
HEAD = b'HTTP/1.1 200 OK\r\nDate: today\r\nETag: "x"\r\nContent-Length: 7\r\n'


async def test_a_whole_reply_is_written_as_it_is_printed_and_tells_that_it_is_complete(connection: Connection) -> None:
    await connection.cycle().reply(200, HEADERS, BODY)
    assert connection.wire.written == HEAD + b"\r\n" + BODY
    assert (connection.completed, connection.wire.closed) == (1, False)


async def test_lines_that_were_printed_before_stand_in_a_head_as_any_other(connection: Connection) -> None:
    await connection.cycle().reply(200, HEADERS[:1], BODY, lines_of(HEADERS[1:]))
    assert connection.wire.written == HEAD + b"\r\n" + BODY
    await connection.cycle(keep_alive=False).reply(200, HEADERS[:1], BODY, lines_of(HEADERS[1:]))
    assert connection.wire.written == HEAD + b"\r\n" + BODY + HEAD + b"Connection: close\r\n\r\n" + BODY


@pytest.mark.parametrize("value", [b"x\r\nset-cookie: mine", b"x\ny", b"x\ry", b"x\0"])
def test_a_value_that_would_end_its_line_is_not_printed(value: bytes) -> None:
    with pytest.raises(ValueError, match="end its line"):
        lines_of([(b"etag", value)])


async def test_a_head_is_answered_without_the_body_whose_length_it_tells(connection: Connection) -> None:
    await connection.cycle("HEAD").reply(200, HEADERS, BODY)
    assert connection.wire.written == HEAD + b"\r\n"


async def test_a_connection_that_ends_says_so_and_is_closed(connection: Connection) -> None:
    await connection.cycle(keep_alive=False).reply(200, HEADERS, BODY)
    assert connection.wire.written == HEAD + b"Connection: close\r\n\r\n" + BODY
    assert connection.wire.closed


@pytest.mark.parametrize("value", [b"x\r\nset-cookie: mine", b"x\ny", b"x\ry", b"x\0"])
async def test_a_value_that_would_end_its_line_is_not_written(connection: Connection, value: bytes) -> None:
    cycle = connection.cycle()

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send.reply(200, [(b"etag", value)], b"")

    await cycle.run(app)
    assert connection.wire.written.startswith(b"HTTP/1.1 500 ")
    assert value not in connection.wire.written


async def test_an_application_that_fails_or_is_silent_is_a_500(connection: Connection) -> None:
    async def fails(*_: Any) -> None:
        raise ZeroDivisionError

    async def is_silent(*_: Any) -> None:
        pass

    for app in (fails, is_silent):
        await connection.cycle().run(app)
    assert connection.wire.written.count(b"HTTP/1.1 500 ") == 2


async def test_a_reply_waits_for_a_client_that_takes_nothing_and_is_dropped_where_it_went(
    connection: Connection,
) -> None:
    connection.flow.write_paused = True
    cycle = connection.cycle()
    replying = asyncio.create_task(cycle.reply(200, HEADERS, BODY))
    await asyncio.sleep(0)
    assert not connection.wire.written
    cycle.disconnected = True
    connection.drained.set()
    await replying
    assert not connection.wire.written


async def test_a_body_that_came_in_parts_is_received_until_it_is_complete(connection: Connection) -> None:
    cycle = connection.cycle("POST")
    receiving = asyncio.create_task(cycle.receive())
    await asyncio.sleep(0)
    assert not receiving.done()
    cycle.body += b"ab"
    cycle.message_event.set()
    assert await receiving == {"type": "http.request", "body": b"ab", "more_body": True}
    cycle.body += b"c"
    cycle.more_body = False
    cycle.message_event.set()
    assert await cycle.receive() == {"type": "http.request", "body": b"c", "more_body": False}
