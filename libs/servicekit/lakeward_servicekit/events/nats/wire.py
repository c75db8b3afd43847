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
"""Events that are made and written in one turn of the loop, which takes half a millisecond."""


def put(written: list[bytes], message: Message, *, reply: str = "", more: bytes = b"") -> None:
    """Put a message behind those that are to leave with the next `send`.

    Args:
        written: what is to leave; grows by the message's parts, which are joined once, and not for each message.
        message: what is sent.
        reply: where an answer goes; "": there is none.
        more: lines of headers beside its own, each with its end.
    """
    head, payload = message.head, message.payload
    size = len(head) + len(more) + len(_END)
    command = f"HPUB {message.subject} {reply} {size} {size + len(payload)}\r\n".encode()
    written += (command, head, more, _END, payload, _END)


async def send(client: Client, written: list[bytes], aside: asyncio.Future[None]) -> None:
    """Let what was put leave, and others have their turn.

    Args:
        client: that is connected.
        written: see `put`; empty behind this.
        aside: see `Denials.watched`.

    Raises:
        ConnectionEndedError: the server is gone, or does not read; and so on, see there.
    """
    together = b"".join(written)
    written.clear()
    await client._send_command(together)  # noqa: SLF001 - see above
    await client._flush_pending()  # noqa: SLF001 - see above
    await asyncio.sleep(0)
    if aside.done():
        aside.result()
