"""The sink that produces to Kafka: CloudEvents' binary mode, as upstream produces them.

Attributes are headers `ce_<name>`, the value is `data`, and the key is the tabular's id, so that one partition has a tabular's
events in order; events of no tabular have their stream for a key. Upstream's events are in upstream's form. With a topic for all
events beside, that one has every event in its own form, and upstream's topic has upstream's alone.

The producer is idempotent and lets no gap be: a client that gave up one message sends none behind it, and is made anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import importlib
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lakeward_servicekit.events.references import WHOLE_MAX, reference_of
from lakeward_servicekit.events.relay import EventRefusedError, LoggedEvent, SinkError, SinkUnavailableError
from lakeward_servicekit.events.upstream import upstreams
from lakeward_servicekit.secrecy import SecretStr

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

_LOG: Final = logging.getLogger("lakeward_servicekit.events")
_SERVERS: Final = ("bootstrap.servers", "metadata.broker.list")
_DEFAULTS: Final[Mapping[str, object]] = {
    "client.id": "lakeward",
    "message.timeout.ms": 10_000,
    "linger.ms": 5,
    "log_level": 3,
}
# What order and delivery stand on is not for settings to undo.
_OURS: Final[Mapping[str, object]] = {"enable.idempotence": True, "enable.gapless.guarantee": True}
_FLUSH_MARGIN: Final = 5.0
_MILLISECONDS: Final = 1000


class KafkaSettingsError(Exception):
    """Settings that Kafka's client does not take; the message says which, without a secret."""


@dataclasses.dataclass(frozen=True, slots=True)
class KafkaAddress:
    """Where and how.

    Attributes:
        topic: upstream's.
        config: librdkafka's settings, by its own names.
        every_topic: where every event goes in its own form; None: to `topic`, and upstream's in upstream's form.
    """

    topic: str
    config: Mapping[str, SecretStr]
    every_topic: str | None = None

    @property
    def names_servers(self) -> bool:
        """Whether it says where the servers are; upstream does without Kafka where it does not."""
        return any(name in self.config for name in _SERVERS)


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """One message."""

    topic: str
    key: bytes
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]


def records_of(logged: LoggedEvent, address: KafkaAddress) -> Sequence[Record]:
    """An event's messages."""
    event = logged.event
    upstream = upstreams(event.body)
    if address.every_topic is None:
        return [_record(logged, upstream or event.body, topic=address.topic)]
    whole = _record(logged, event.body, topic=address.every_topic)
    return [whole] if upstream is None else [_record(logged, upstream, topic=address.topic), whole]


class KafkaSink:
    """`Sink` on Kafka.

    The client's own threads talk to the brokers; what they come back with is waited for in a thread, so the loop goes on.
    """

    def __init__(self, address: KafkaAddress) -> None:
        """Produce to `address`; nothing is connected yet.

        Raises:
            KafkaSettingsError: librdkafka does not take the settings.
        """
        importlib.import_module("confluent_kafka")  # now, and not at the first event
        self._address: Final = address
        given = {name: value.get_secret_value() for name, value in address.config.items()}
        self._config: Final[dict[str, Any]] = {**_DEFAULTS, **given, **_OURS, "logger": _LOG}
        self._producer: Producer | None = self._made()
        # Who gives up a message gives up all that the client has.
        self._producing: Final = asyncio.Lock()

    @property
    def name(self) -> str:
        """See `Sink`."""
        return "kafka"

    async def position(self, stream: str) -> int:
        """A topic has events of all streams, in partitions that the tabulars' ids choose: nothing says where one ends."""
        del stream
        return 0

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        """See `Sink`. Within a partition nothing is behind an event that is not there."""
        async with self._producing:
            held, self._producer = [self._producer or self._made()], None
            handed = _Handed(len(events))
            whole = False
            try:
                self._hand(held[0], handed, events)
                await asyncio.to_thread(held[0].flush, self._patience)
                failed = handed.failed()
                whole = failed is None
            finally:
                if not whole:
                    await _end(held)
            if failed is not None:
                raise failed
            self._producer = held.pop()

    async def close(self) -> None:
        """Leave what was not delivered; it comes again."""
        producer, self._producer = self._producer, None
        if producer is not None:
            held = [producer]
            del producer
            await _end(held)

    @property
    def _patience(self) -> float:
        given = self._config.get("delivery.timeout.ms", self._config["message.timeout.ms"])
        return float(given) / _MILLISECONDS + _FLUSH_MARGIN

    def _hand(self, producer: Producer, handed: _Handed, events: Sequence[LoggedEvent]) -> None:
        from confluent_kafka import KafkaException  # noqa: PLC0415 - only who publishes loads librdkafka

        for index, logged in enumerate(events):
            for record in records_of(logged, self._address):
                try:
                    producer.produce(
                        record.topic,
                        value=record.value,
                        key=record.key,
                        headers=list(record.headers),
                        on_delivery=handed.one_more(index),
                    )
                except (KafkaException, BufferError) as refused:
                    handed.refused_here(index, refused)
                    return

    def _made(self) -> Producer:
        from confluent_kafka import KafkaException, Producer  # noqa: PLC0415 - see above

        try:
            return Producer(self._config)
        except KafkaException as wrong:
            said = str(wrong.args[0].str())
            for value in self._address.config.values():
                said = said.replace(f'"{value.get_secret_value()}"', '"***"')
            raise KafkaSettingsError(said) from None


async def _end(held: list[Producer]) -> None:
    """Give up what a producer still has, and the producer, which nobody else may hold.

    Its threads are waited for when it is forgotten, and one that waits for a broker may take minutes. So it is forgotten in a
    thread, where it holds nobody up, and left there after a while.
    """
    ending = asyncio.ensure_future(asyncio.to_thread(_give_up, held))
    await asyncio.wait([ending], timeout=_FLUSH_MARGIN)


def _give_up(held: list[Producer]) -> None:
    producer = held.pop()
    producer.purge()
    with contextlib.suppress(BufferError):
        producer.poll(0)


class _Handed:
    """What became of events that were handed to the client."""

    def __init__(self, count: int) -> None:
        self._waiting: Final = [0] * count
        self._errors: Final[dict[int, SinkError]] = {}

    def one_more(self, index: int) -> _Delivered:
        """For a message of an event."""
        self._waiting[index] += 1
        return _Delivered(self, index)

    def delivered(self, index: int, error: KafkaError | None) -> None:
        """A message of an event arrived, or never will."""
        self._waiting[index] -= 1
        if error is not None:
            self._errors.setdefault(index, _error_of(error))

    def refused_here(self, index: int, error: Exception) -> None:
        """The client itself did not take a message of an event, and so none behind it."""
        self._waiting[index] -= 1
        if isinstance(error, BufferError):
            failed: SinkError = SinkUnavailableError("the queue of Kafka's client is full")
        else:
            failed = _error_of(error.args[0])
        self._errors.setdefault(index, failed)

    def failed(self) -> SinkError | None:
        """What is raised; None where all of them arrived."""
        waiting = next((index for index, count in enumerate(self._waiting) if count > 0), len(self._waiting))
        first = min([*self._errors, waiting])
        if first == len(self._waiting):
            return None
        failed = self._errors.get(first) or SinkUnavailableError("Kafka did not answer in time")
        failed.taken = first
        return failed


@dataclasses.dataclass(frozen=True, slots=True)
class _Delivered:
    """Called by the client with what became of one message, in the thread that waits for all."""

    handed: _Handed
    index: int

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        del message
        self.handed.delivered(self.index, error)


def _error_of(error: KafkaError) -> SinkError:
    from confluent_kafka import KafkaError as Codes  # noqa: PLC0415 - see above

    about_the_event = {
        Codes.MSG_SIZE_TOO_LARGE,
        Codes.RECORD_LIST_TOO_LARGE,
        Codes.INVALID_RECORD,
        Codes.POLICY_VIOLATION,
        Codes._INVALID_ARG,  # noqa: SLF001 - its name for what the client itself finds wrong
    }
    kind = EventRefusedError if error.code() in about_the_event else SinkUnavailableError
    return kind(f"Kafka: {error.str()}")


def _record(logged: LoggedEvent, body: bytes, *, topic: str) -> Record:
    event = logged.event
    attributes = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    data = bytes(attributes.pop("data", b"null"))
    headers = [(f"ce_{name}", _text(raw)) for name, raw in attributes.items() if name != "datacontenttype"]
    if (kind := attributes.get("datacontenttype")) is not None:
        headers.append(("content-type", _text(kind)))
    headers += [("lakeward-stream", event.stream.encode()), ("lakeward-sequence", str(logged.sequence).encode())]
    if len(data) > WHOLE_MAX:
        headers.append(("ce_dataref", reference_of(logged).encode()))
        data = b"null"
    tabular = attributes.get("tabular-id")
    key = event.stream.encode() if tabular is None else _text(tabular)
    return Record(topic, key, None if data == b"null" else data, headers)


def _text(raw: msgspec.Raw) -> bytes:
    """A member as a header has it: text as it is, and all else as JSON."""
    value = msgspec.json.decode(raw)
    return value.encode() if isinstance(value, str) else bytes(raw)
