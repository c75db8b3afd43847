"""The sink that publishes to a JetStream stream."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from uuid import uuid4

import msgspec

from lakeward_servicekit.events.nats.connection import (
    ConnectionEndedError,
    Denials,
    NatsAddress,
    PublishingDeniedError,
    close,
    connect,
    failures,
    first,
    too_large,
)
from lakeward_servicekit.events.nats.ingest import Ingest, Trouble
from lakeward_servicekit.events.nats.messages import (
    EXPECTED_SEQUENCE,
    EXPECTED_SUBJECT,
    SEQUENCE,
    Message,
    messages_of,
    stream_subjects,
)
from lakeward_servicekit.events.nats.wire import TOGETHER, put, send
from lakeward_servicekit.events.relay import EventRefusedError, LoggedEvent, SinkUnavailableError

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js import JetStreamContext
    from nats.js.api import StreamConfig

_LOG: Final = logging.getLogger("lakeward_servicekit.events")
# JetStream's own numbers of errors. The first tells "no message" from "no stream": both are a 404.
_NO_MESSAGE: Final = 10037
_WRONG_SEQUENCES: Final = frozenset({10071, 10164})  # with the number that it would be, and without
_CHECKS_STREAM_SINCE: Final = (2, 12)
"""Servers from here on compare the expected sequence over all subjects of a stream; an older one would compare one subject's."""
# Of a batch: its name, the message's place in it, and the last one's mark. A server takes 1000 messages in one.
_BATCH: Final = "Nats-Batch-Id"
_BATCH_PLACE: Final = "Nats-Batch-Sequence"
_BATCH_END: Final = "Nats-Batch-Commit"
_EVENTS_MOST: Final = 500  # of two messages each
_SENT_TOGETHER: Final = 2 * TOGETHER
_BATCH_HEADERS: Final = 128  # bytes of these headers, with room to spare


class _Said(msgspec.Struct):
    """A server's answer."""

    error: Trouble | None = None
    seq: int = 0


_ANSWER: Final = msgspec.json.Decoder(_Said)


@dataclasses.dataclass(frozen=True, slots=True)
class _Stream:
    """A stream that takes our events, as it was when it was last looked at.

    Attributes:
        room: bytes of one message, headers included, that the server and the stream take.
        checks: whether the expected sequence is compared over all subjects of one of ours.
        batches: whether it takes several messages as one: all of them or none, and one answer.
        ingest: takes several, each as it comes, and one answer; None where the stream does not.
    """

    client: Client
    jetstream: JetStreamContext
    name: str
    room: int
    checks: bool
    batches: bool
    ingest: Ingest | None


class NatsSink:
    """`Sink` on JetStream.

    It connects when it first publishes, and again after it was cut off. After any failure it looks for the stream anew, so one
    that was deleted is made again and one whose bounds have changed is heeded. What a deleted stream held is not published
    again: it is in the log, and consumers may have had it.
    """

    def __init__(self, address: NatsAddress) -> None:
        """Publish to `address`; nothing is connected yet.

        nats-py is imported here, while the process starts: at the first event it would hold everything up for 0.15 s.
        """
        importlib.import_module("nats.js")
        self._address: Final = address
        self._tls: Final = address.tls()
        self._denials: Final = Denials()
        self._client: Client | None = None
        self._stream: _Stream | None = None
        self._ingest: Ingest | None = None
        self._had: str | None = None
        self._reaching: Final = asyncio.Lock()
        self._making: Final = asyncio.Lock()
        # By stream: the broker's own number of the last message that it has of it.
        self._last: Final[dict[str, int]] = {}

    @property
    def name(self) -> str:
        """See `Sink`."""
        return "nats"

    async def position(self, stream: str) -> int:
        """See `Sink`."""
        from nats.js.errors import NotFoundError  # noqa: PLC0415 - only who publishes imports nats-py

        broker = await self._reach()
        subjects = stream_subjects(stream, topic=self._address.topic)
        try:
            last = await broker.jetstream.get_last_msg(broker.name, subjects)
        except failures() as failure:
            if isinstance(failure, NotFoundError) and failure.err_code == _NO_MESSAGE:
                self._last[stream] = 0
                return 0
            raise self._failed(failure) from failure
        self._last[stream] = last.seq or 0
        return int((last.headers or {}).get(SEQUENCE, 0))

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        """See `Sink`. Many go together where the stream takes that, as one batch at best; else one by one."""
        taken = 0
        try:
            while taken < len(events):
                several = events[taken : taken + _EVENTS_MOST]
                gone = await self._publish_several(await self._reach(), several)
                taken += gone
                # of what a batch ended with it says little: one by one they say it themselves
                for logged in several[gone:]:
                    await self._publish_one(await self._reach(), logged)
                    taken += 1
        except (SinkUnavailableError, EventRefusedError) as failed:
            self._last.pop(events[0].event.stream, None)
            failed.taken = taken
            if isinstance(failed.__cause__, ConnectionEndedError):
                await self.close()
            raise

    async def close(self) -> None:
        """End the connection."""
        client, self._client = self._client, None
        if client is not None and not client.is_closed:
            await close(client, seconds=self._address.patience)

    async def _publish_several(self, broker: _Stream, events: Sequence[LoggedEvent]) -> int:
        """Publish several as one, where the stream takes that; how many of them, from the first on, it surely has.

        Raises:
            SinkUnavailableError: nobody answered, or another has published meanwhile.
        """
        room = broker.room - _BATCH_HEADERS
        if broker.ingest is None and (not broker.batches or len(events) == 1):
            return 0
        messages = await self._made(broker, events, room=room)
        if len(messages) == 1 or any(message.size > room for message in messages):
            return 0
        if broker.ingest is None:
            return len(events) if await self._publish_atomic(broker, events[0].event.stream, messages) else 0
        return await self._publish_batched(broker.ingest, events, messages)

    async def _publish_batched(self, ingest: Ingest, events: Sequence[LoggedEvent], messages: Sequence[Message]) -> int:
        stream, cause = events[0].event.stream, "a subject is denied"
        try:
            with self._denials.watched(messages[-1].subject) as aside:
                ended = await ingest.publish(messages, aside, patience=self._address.patience)
        except PublishingDeniedError:
            ended = None
        except failures() as failure:
            raise self._failed(failure) from failure
        except msgspec.MsgspecError as failure:
            raise self._failed(failure) from failure
        if ended is not None:
            if ended.whole:
                self._last[stream] = ended.sequence
                return len(events)
            if ended.trouble is not None:
                cause = ended.trouble.description
                if ended.trouble.err_code in _WRONG_SEQUENCES:
                    raise self._failed(SinkUnavailableError(cause))
        _LOG.info("a batch goes one by one", extra={"stream": stream, "cause": cause})
        self._stream = None
        reached = await self.position(stream)
        return sum(logged.sequence <= reached for logged in events)

    async def _publish_atomic(self, broker: _Stream, stream: str, messages: Sequence[Message]) -> bool:
        """Publish several as one; whether they were taken. Of those that were not, none is there.

        Raises:
            SinkUnavailableError: nobody answered.
        """
        name, last = uuid4().hex, messages[-1]
        try:
            with self._denials.watched(last.subject) as aside:
                of_batch = f"{_BATCH}: {name}\r\n{_BATCH_PLACE}: ".encode()
                written: list[bytes] = []
                for place, message in enumerate(messages[:-1], start=1):
                    put(written, message, more=b"%b%d\r\n" % (of_batch, place))
                    if place % _SENT_TOGETHER == 0:
                        await send(broker.client, written, aside)
                await send(broker.client, written, aside)
                headers = {**last.headers, _BATCH: name, _BATCH_PLACE: str(len(messages)), _BATCH_END: "1"}
                asking = broker.client.request(
                    last.subject, last.payload, timeout=self._address.patience, headers=headers
                )
                said = await first(asking, aside)
            answer = _ANSWER.decode(said.data)
        except PublishingDeniedError:
            return False
        except failures() as failure:
            raise self._failed(failure) from failure
        except msgspec.MsgspecError as failure:
            raise self._failed(failure) from failure
        if answer.error is not None:
            if answer.error.err_code in _WRONG_SEQUENCES:
                raise self._failed(SinkUnavailableError(answer.error.description))
            _LOG.info("a batch goes one by one", extra={"stream": stream, "cause": answer.error.description})
            return False
        self._last[stream] = answer.seq
        return True

    async def _made(self, broker: _Stream, events: Sequence[LoggedEvent], *, room: int) -> Sequence[Message]:
        """The messages of a batch.

        Of one batch at a time: while the next is made, the broker works on the last. Made side by side, all would be done at
        about the same moment, sent then, and the broker would have nothing to do while the next ones are made.
        """
        messages: list[Message] = []
        async with self._making:
            for index, logged in enumerate(events):
                expecting = "" if index else self._expecting(broker, logged.event.stream)
                messages += messages_of(logged, topic=self._address.topic, room=room, expecting=expecting)
                if index % TOGETHER == TOGETHER - 1:
                    await asyncio.sleep(0)  # requests are served in this process, too
        return messages

    async def _publish_one(self, broker: _Stream, logged: LoggedEvent) -> None:
        """Publish one, with its copy."""
        stream = logged.event.stream
        *copies, own = messages_of(
            logged, topic=self._address.topic, room=broker.room, expecting=self._expecting(broker, stream)
        )
        for copied in copies:
            await self._send(broker, copied)
        self._last[stream] = await self._send(broker, own)

    def _expecting(self, broker: _Stream, stream: str) -> str:
        """Headers of what the broker is to have last of a stream, where that is known and it compares it."""
        if not broker.checks or stream not in self._last:
            return ""
        subjects = stream_subjects(stream, topic=self._address.topic)
        return f"{EXPECTED_SEQUENCE}: {self._last[stream]}\r\n{EXPECTED_SUBJECT}: {subjects}\r\n"

    async def _send(self, broker: _Stream, message: Message) -> int:
        if message.size > broker.room:
            self._stream = None
            raise EventRefusedError(too_large(message.size, broker.room))
        publishing = broker.jetstream.publish(
            message.subject, message.payload, timeout=self._address.patience, headers=message.headers
        )
        try:
            with self._denials.watched(message.subject) as denied:
                kept = await first(publishing, denied)
        except PublishingDeniedError as denied_it:
            raise EventRefusedError(str(denied_it)) from denied_it
        except failures() as failure:
            raise self._failed(failure) from failure
        return kept.seq

    def _failed(self, failure: Exception) -> SinkUnavailableError:
        """What is raised for a failure; whatever it was, the stream is looked for again."""
        self._stream = None
        return SinkUnavailableError(str(failure) or type(failure).__name__)

    async def _reach(self) -> _Stream:
        async with self._reaching:
            try:
                if self._client is None or self._client.is_closed:
                    self._stream = self._ingest = None
                    self._last.clear()
                    self._client = await connect(self._address, self._tls, self._denials)
                if self._stream is None:
                    self._stream = await self._look(self._client)
            except failures() as failure:
                raise self._failed(failure) from failure
            return self._stream

    async def _look(self, client: Client) -> _Stream:
        """The stream that has our subjects: one that an operator made, or one of ours with bounds."""
        from nats.js.errors import NotFoundError  # noqa: PLC0415 - only who publishes imports nats-py

        jetstream = client.jetstream(timeout=self._address.patience)
        try:
            name = await jetstream.find_stream_name_by_subject(self._address.topic)
        except NotFoundError:
            config = (await jetstream.add_stream(self._wanted())).config
            self._tell_made(config)
        else:
            config = (await jetstream.stream_info(name)).config
        assert config.name is not None, "a stream without a name"
        self._had = config.name
        if config.allow_batched and self._ingest is None:
            self._ingest = Ingest(client)
            await self._ingest.listen()
        version = client.connected_server_version
        bounds = [bound for bound in (client.max_payload, config.max_msg_size) if bound is not None and bound > 0]
        return _Stream(
            client,
            jetstream,
            config.name,
            min(bounds),
            checks=(version.major, version.minor) >= _CHECKS_STREAM_SINCE,
            batches=bool(config.allow_atomic),
            ingest=self._ingest if config.allow_batched else None,
        )

    def _wanted(self) -> StreamConfig:
        from nats.js.api import DiscardPolicy, StreamConfig  # noqa: PLC0415 - only who publishes imports nats-py

        address = self._address
        return StreamConfig(
            name=re.sub(r"[^A-Za-z0-9_-]", "_", address.topic),
            subjects=[address.topic, f"{address.topic}.>"],
            max_age=address.max_age.total_seconds(),
            max_bytes=address.max_bytes,
            duplicate_window=address.duplicates.total_seconds(),
            discard=DiscardPolicy.OLD,
            allow_atomic=True,  # an older server makes the stream without either
            allow_batched=True,
        )

    def _tell_made(self, config: StreamConfig) -> None:
        if self._had is None:
            _LOG.info("made a stream for events", extra={"nats_stream": config.name})
        else:
            _LOG.warning(
                "no stream takes events any more, so one was made; what the old one held is in the log and not in it",
                extra={"nats_stream": config.name, "old_stream": self._had},
            )
