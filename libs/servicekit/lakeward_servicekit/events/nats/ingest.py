"""Many messages in order, each kept as it comes, and one answer behind the last: JetStream's fast ingest.

An atomic batch is written twice by a server, aside and then into the stream. Here each message is written once. One that is
missing or refused ends the batch there, so what is kept of it is its beginning, and never has a gap. Which message of which batch
it is stands in the subject for answers: `<inbox>.<batch>.<answer each so many>.fail.<place>.<step>.$FI`.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from uuid import uuid4

import msgspec

from lakeward_servicekit.events.nats.connection import first
from lakeward_servicekit.events.nats.messages import Message
from lakeward_servicekit.events.nats.wire import TOGETHER, put, send

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

# Nothing is waited for within a batch, so a server has no more to say before its end.
_ANSWERED_EACH: Final = 1000
# Steps of a batch; what begins one may not end it, so a single message goes without.
_BEGINS, _GOES_ON, _ENDS = 0, 1, 2
_SENT_TOGETHER: Final = 2 * TOGETHER


class Trouble(msgspec.Struct, frozen=True):
    """Why a server did not take something.

    Attributes:
        err_code: JetStream's own number.
    """

    err_code: int = 0
    description: str = ""


class _Heard(msgspec.Struct, frozen=True):
    """What a server says of a batch: on the way, with a type, or at its end, with none."""

    type: str = ""
    seq: int = 0
    count: int = 0
    error: Trouble | None = None


_HEARD: Final = msgspec.json.Decoder(_Heard)
_NOBODYS: Final = Trouble(description="no stream has the subject of a message")


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """How a batch ended.

    Attributes:
        whole: the stream has all of it.
        sequence: the stream's own number of the last message that it has.
        trouble: why it does not have all, where the server said so.
    """

    whole: bool
    sequence: int
    trouble: Trouble | None


@dataclasses.dataclass(slots=True)
class _Batch:
    ended: asyncio.Future[_Heard]
    trouble: Trouble | None = None


class Ingest:
    """Batches over one connection; any number at a time."""

    def __init__(self, client: Client) -> None:
        """Publish over `client`, which is connected; `listen` comes first."""
        self._client: Final = client
        self._inbox: Final[str] = client.new_inbox()
        self._batches: Final[dict[str, _Batch]] = {}

    async def listen(self) -> None:
        """Hear answers from here on, for as long as the connection lasts."""
        await self._client.subscribe(f"{self._inbox}.>", cb=self._heard)

    async def publish(self, messages: Sequence[Message], aside: asyncio.Future[None], *, patience: float) -> Ended:
        """Publish a batch, and wait until it has ended.

        Args:
            messages: 2 or more, in order; of all batches, less are to be on their way than a server holds for a stream (10,000).
            aside: see `Denials.watched`.
            patience: seconds for the answer, from when all was written.

        Raises:
            TimeoutError: no answer came.
            msgspec.MsgspecError: one that says nothing.
            PublishingDeniedError: see `first`; ConnectionEndedError, too.
        """
        name, last = uuid4().hex, len(messages)
        begin = f"{self._inbox}.{name}.{_ANSWERED_EACH}.fail."
        batch = self._batches[name] = _Batch(asyncio.get_running_loop().create_future())
        try:
            written: list[bytes] = []
            for place, message in enumerate(messages, start=1):
                step = _BEGINS if place == 1 else _ENDS if place == last else _GOES_ON
                put(written, message, reply=f"{begin}{place}.{step}.$FI")
                if place % _SENT_TOGETHER == 0 or place == last:
                    await send(self._client, written, aside)
            said = await first(asyncio.wait_for(asyncio.shield(batch.ended), patience), aside)
        finally:
            del self._batches[name]
            if not batch.ended.cancel():
                batch.ended.exception()  # or it would be told as one that nobody looked at
        trouble = said.error or batch.trouble
        return Ended(trouble is None and said.count == last, said.seq, trouble)

    async def _heard(self, message: Msg) -> None:
        name, _, where = message.subject[len(self._inbox) + 1 :].partition(".")
        batch = self._batches.get(name)
        if batch is None or batch.ended.done():
            return
        if (
            not message.data
        ):  # no stream has the message's subject; what comes next ends the batch, where something does
            batch.trouble = batch.trouble or _NOBODYS
            if where.endswith(f".{_ENDS}.$FI"):
                batch.ended.set_result(_Heard(error=_NOBODYS))
            return
        try:
            heard = _HEARD.decode(message.data)
        except msgspec.MsgspecError as wrong:
            batch.ended.set_exception(wrong)
            return
        if not heard.type:
            batch.ended.set_result(heard)
        elif heard.error is not None:
            batch.trouble = batch.trouble or heard.error
