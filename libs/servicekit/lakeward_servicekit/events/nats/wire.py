"""Messages as NATS' protocol has them, written many at a time.

nats-py looks through every header of every message with regular expressions, which costs ten times what the rest of a publication
does. The headers here are made by us, of ids, numbers and subjects, so they are written as they are. nats-py has no public way to
send what is already a command: the two names that begin with an underscore are all that is used of its inside, and a test holds
what they send against what its own `publish` does.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.events.nats.messages import Message

if TYPE_CHECKING:
    from nats.aio.client import Client

TOGETHER: Final = 32
"""Events that are made and written in one turn of the loop, which takes a millisecond."""


async def write(client: Client, message: Message, more: str = "") -> None:
    """Put a message behind those that are to leave; it leaves with `send`, or with whatever nats-py sends next.

    Args:
        client: that is connected.
        message: whose headers have no line's end in them.
        more: lines of headers beside its own, each with its end.
    """
    lines = "".join([f"{name}: {value}\r\n" for name, value in message.headers.items()])
    head = f"NATS/1.0\r\n{lines}{more}\r\n".encode()
    size, payload = len(head), message.payload
    command = f"HPUB {message.subject}  {size} {size + len(payload)}\r\n".encode()
    await client._send_command(b"".join((command, head, payload, b"\r\n")))  # noqa: SLF001 - see above


async def send(client: Client, aside: asyncio.Future[None]) -> None:
    """Let what was written leave, and others have their turn.

    Args:
        client: that is connected.
        aside: see `Denials.watched`.

    Raises:
        ConnectionEndedError: the server is gone, or does not read; and so on, see there.
    """
    await client._flush_pending()  # noqa: SLF001 - see above
    await asyncio.sleep(0)
    if aside.done():
        aside.result()
