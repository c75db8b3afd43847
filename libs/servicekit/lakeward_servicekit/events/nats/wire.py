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

_END: Final = b"\r\n"
TOGETHER: Final = 32
"""Events that are made and written in one turn of the loop, which takes a millisecond."""


async def write(client: Client, message: Message, aside: asyncio.Future[None], more: bytes = b"") -> None:
    """Put a message behind those that are to leave; it leaves with `send`, or with whatever nats-py sends next.

    Args:
        client: that is connected.
        message: what is sent.
        aside: see `Denials.watched`.
        more: lines of headers beside its own, each with its end.

    Raises:
        ConnectionEndedError: the server is gone, or does not read.
    """
    head, payload = message.head, message.payload
    size = len(head) + len(more) + len(_END)
    command = f"HPUB {message.subject}  {size} {size + len(payload)}\r\n".encode()
    await client._send_command(b"".join((command, head, more, _END, payload, _END)))  # noqa: SLF001 - see above
    if aside.done():
        aside.result()


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
