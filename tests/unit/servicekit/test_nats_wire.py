"""Messages that are written past nats-py's own publishing are what it would have sent."""

from __future__ import annotations

import asyncio
import json

import msgspec
import pytest
from nats.aio.client import Client

from lakeward_servicekit.events.nats.connection import ConnectionEndedError, Denials
from lakeward_servicekit.events.nats.messages import messages_of
from lakeward_servicekit.events.nats.wire import put, send
from lakeward_servicekit.events.relay import LoggedEvent
from tests.support.catalog.values import NOON, an_event

_BODY = json.dumps({"specversion": "1.0", "type": "dropTable", "data": {"name": "bücher\r\n"}}).encode()
LOGGED = LoggedEvent(7, msgspec.structs.replace(an_event("w 1", "table", "dropped"), body=_BODY), NOON)


def _client() -> Client:
    client = Client()
    client._status = Client.CONNECTED
    client._max_pending_size = 0
    return client


async def test_what_is_written_is_what_a_publication_sends() -> None:
    ours, theirs = _client(), _client()
    batch = {"Nats-Batch-Id": "b", "Nats-Batch-Sequence": "12"}
    expecting = "Nats-Expected-Last-Subject-Sequence: 4\r\n"
    more = b"".join(f"{name}: {value}\r\n".encode() for name, value in batch.items())
    written: list[bytes] = []
    for message, reply in zip(
        messages_of(LOGGED, topic="lake", room=1 << 20, expecting=expecting),
        ("", "_INBOX.a.b.1.fail.2.0.$FI"),
        strict=True,
    ):
        assert message.size == len(message.head) + 2 + len(message.payload)
        assert message.headers["Nats-Expected-Last-Subject-Sequence"] == "4"
        put(written, message, reply=reply, more=more)
        await theirs.publish(message.subject, message.payload, reply, headers={**message.headers, **batch})
    ours._status = Client.DISCONNECTED  # nothing leaves
    ours._flush_queue = asyncio.Queue()
    await send(ours, written, asyncio.Future())
    assert not written
    assert b"".join(ours._pending) == b"".join(theirs._pending)
    assert ours._pending_data_size == theirs._pending_data_size


async def test_who_sends_learns_that_the_connection_ended() -> None:
    denials, client = Denials(), _client()
    client._status, client._flush_queue = Client.DISCONNECTED, asyncio.Queue()
    with denials.watched("lake.w.table.dropped") as aside:
        await send(client, [], aside)
        denials.ended()
        with pytest.raises(ConnectionEndedError):
            await send(client, [], aside)
    with denials.watched("lake.w.table.dropped") as anew:
        await asyncio.sleep(0)
        assert not anew.done()
