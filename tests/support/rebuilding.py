"""`python -m tests.support.rebuilding`: a consumer that rebuilds a warehouse's state from its events, and may die at any step.

`NATS`, `TOPIC` and `WAREHOUSE` say what is read: a durable consumer of JetStream, one message at a time. What it knows is kept in
the file `STATE`, as one, before the message is acknowledged; so an event that comes again is known already.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import nats
import nats.errors
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig
from nats.js.errors import NotFoundError

from lakeward.events import Mirror
from lakeward.events.shapes import Event, page_of
from tests.support.steps import passes

_DURABLE: Final = "rebuilding"
_ACK_SECONDS: Final = 0.5


def event_of(message: Msg) -> Event:
    """The event of a message in a stream's own subject."""
    *_, kind, verb = message.subject.split(".")
    sequence = int((message.headers or {})["Lakeward-Sequence"])
    said = {"position": str(sequence), "sequence": sequence, "snapshot": False, "kind": kind, "verb": verb}
    page = {"events": [{**said, "event": json.loads(message.data)}], "position": str(sequence), "newest": sequence}
    return page_of(page).events[0]


def kept(file: Path) -> Mirror:
    """What was known last."""
    known: Mirror = pickle.loads(file.read_bytes()) if file.exists() else Mirror()
    return known


async def main(environ: Mapping[str, str]) -> None:
    state = Path(environ["STATE"])
    mirror, new = kept(state), state.with_suffix(".new")
    client = await nats.connect(environ["NATS"], reconnect_time_wait=0.05, max_reconnect_attempts=-1)
    jetstream = client.jetstream()
    config = ConsumerConfig(ack_policy=AckPolicy.EXPLICIT, ack_wait=_ACK_SECONDS, max_ack_pending=1)
    subject = f"{environ['TOPIC']}.{environ['WAREHOUSE']}.>"
    reading: Any = None
    while True:
        with suppress(NotFoundError, nats.errors.Error, OSError):  # nobody published yet, or the server is away
            reading = reading or await jetstream.pull_subscribe(subject, durable=_DURABLE, config=config)
            (message,) = await reading.fetch(1, timeout=1)
            passes("an event has come")
            mirror.apply(event_of(message))
            new.write_bytes(pickle.dumps(mirror))
            new.rename(state)
            passes("the state is kept")
            await message.ack_sync(timeout=1)
            passes("the event is acknowledged")
            continue
        await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main(os.environ))
