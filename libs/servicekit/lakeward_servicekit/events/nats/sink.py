"""The sink that publishes to a JetStream stream."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import importlib
import logging
import re
import ssl
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lakeward_servicekit.events.nats.messages import (
    EXPECTED_SEQUENCE,
    EXPECTED_SUBJECT,
    SEQUENCE,
    Message,
    messages_of,
    stream_subjects,
)
from lakeward_servicekit.events.relay import LoggedEvent, SinkUnavailableError
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.tls import client_context

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js import JetStreamContext
    from nats.js.api import StreamConfig

_LOG: Final = logging.getLogger("lakeward_servicekit.events")
_TIMEOUT: Final = 5.0
# JetStream's own number of an error, which tells "no message" from "no stream": both are a 404.
_NO_MESSAGE: Final = 10037
_CHECKS_STREAM_SINCE: Final = (2, 12)
"""Servers from here on compare the expected sequence over all subjects of a stream; an older one would compare one subject's."""


@dataclasses.dataclass(frozen=True, slots=True)
class NatsAddress:
    """Where and as whom.

    Attributes:
        url: of one server, or of several, separated by commas.
        topic: the subject that upstream's events go to, and the head of all others.
        nkey_file: has the seed of an nkey.
        ca_file: of authorities that the server may be of; None: those that outbound calls trust.
        cert_file: what the client shows to the server, with its key in `key_file`.
        max_age: of messages in the stream, where the sink makes it.
        max_bytes: of the stream, where the sink makes it; the oldest messages make room.
        duplicates: how long the broker remembers ids, where the sink makes the stream.
    """

    url: str
    topic: str
    user: str | None = None
    password: SecretStr | None = None
    token: SecretStr | None = None
    creds_file: Path | None = None
    nkey_file: Path | None = None
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    max_age: timedelta = timedelta(days=7)
    max_bytes: int = 1 << 30
    duplicates: timedelta = timedelta(minutes=10)

    def tls(self) -> ssl.SSLContext | None:
        """How the server is known, and this client to it; None where no file says: the URL or the server asks for TLS then.

        Raises:
            TlsSetupError: a file is missing, or holds no certificate or key.
            OSError: the key is not that of the certificate.
        """
        if self.ca_file is None and self.cert_file is None:
            return None
        files = (self.ca_file, self.cert_file, self.key_file)
        ca_file, cert_file, key_file = (None if each is None else str(each) for each in files)
        return client_context(ca_file=ca_file, cert_file=cert_file, key_file=key_file)


@dataclasses.dataclass(frozen=True, slots=True)
class _Stream:
    """A stream that takes our events, as it was when it was last looked at.

    Attributes:
        room: bytes of one message, headers included, that the server and the stream take.
        checks: whether the expected sequence is compared over all subjects of one of ours.
    """

    jetstream: JetStreamContext
    name: str
    room: int
    checks: bool


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
        self._client: Client | None = None
        self._stream: _Stream | None = None
        self._had: str | None = None
        self._reaching: Final = asyncio.Lock()
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
        except _failures() as failure:
            if isinstance(failure, NotFoundError) and failure.err_code == _NO_MESSAGE:
                self._last[stream] = 0
                return 0
            raise self._failed(failure) from failure
        self._last[stream] = last.seq or 0
        return int((last.headers or {}).get(SEQUENCE, 0))

    async def publish(self, logged: LoggedEvent) -> None:
        """See `Sink`."""
        broker = await self._reach()
        stream = logged.event.stream
        expecting = {}
        if broker.checks and stream in self._last:
            expecting[EXPECTED_SEQUENCE] = str(self._last[stream])
            expecting[EXPECTED_SUBJECT] = stream_subjects(stream, topic=self._address.topic)
        *copies, own = messages_of(logged, topic=self._address.topic, room=broker.room, expecting=expecting)
        try:
            for copied in copies:
                await self._send(broker, copied)
            self._last[stream] = await self._send(broker, own)
        except SinkUnavailableError:
            self._last.pop(stream, None)
            raise

    async def close(self) -> None:
        """End the connection."""
        client, self._client = self._client, None
        if client is not None and not client.is_closed:
            await _close(client)

    async def _send(self, broker: _Stream, message: Message) -> int:
        if message.size > broker.room:
            self._stream = None
            raise SinkUnavailableError(
                f"NATS takes messages of {broker.room} bytes, and a reference to an event has {message.size}; "
                "raise the server's max_payload or the stream's max_msg_size"
            )
        try:
            kept = await broker.jetstream.publish(
                message.subject, message.payload, timeout=_TIMEOUT, headers=dict(message.headers)
            )
        except _failures() as failure:
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
                    self._stream = None
                    self._last.clear()
                    self._client = await self._connect()
                if self._stream is None:
                    self._stream = await self._look(self._client)
            except _failures() as failure:
                raise self._failed(failure) from failure
            return self._stream

    async def _connect(self) -> Client:
        from nats.aio.client import Client  # noqa: PLC0415 - only who publishes imports nats-py

        address = self._address
        options: dict[str, Any] = {
            "user": address.user,
            "password": None if address.password is None else address.password.get_secret_value(),
            "token": None if address.token is None else address.token.get_secret_value(),
            "user_credentials": None if address.creds_file is None else str(address.creds_file),
            "nkeys_seed": None if address.nkey_file is None else str(address.nkey_file),
            "tls": self._tls,
        }
        client = Client()
        try:
            async with asyncio.timeout(_TIMEOUT):
                await client.connect(
                    servers=address.url.split(","),
                    name="lakeward catalog events",
                    # Nothing is tried again in there: the next publication connects anew, after the relay's own pause, and
                    # finds out where the broker stands, and what it takes by now.
                    allow_reconnect=False,
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    error_cb=_log_error,
                    **{name: value for name, value in options.items() if value is not None},
                )
        except BaseException:
            await _close(client)
            raise
        return client

    async def _look(self, client: Client) -> _Stream:
        """The stream that has our subjects: one that an operator made, or one of ours with bounds."""
        from nats.js.errors import NotFoundError  # noqa: PLC0415 - only who publishes imports nats-py

        jetstream = client.jetstream(timeout=_TIMEOUT)
        try:
            name = await jetstream.find_stream_name_by_subject(self._address.topic)
        except NotFoundError:
            config = (await jetstream.add_stream(self._wanted())).config
            self._tell_made(config)
        else:
            config = (await jetstream.stream_info(name)).config
        assert config.name is not None, "a stream without a name"
        self._had = config.name
        version = client.connected_server_version
        bounds = [bound for bound in (client.max_payload, config.max_msg_size) if bound is not None and bound > 0]
        return _Stream(jetstream, config.name, min(bounds), (version.major, version.minor) >= _CHECKS_STREAM_SINCE)

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
        )

    def _tell_made(self, config: StreamConfig) -> None:
        if self._had is None:
            _LOG.info("made a stream for events", extra={"nats_stream": config.name})
        else:
            _LOG.warning(
                "no stream takes events any more, so one was made; what the old one held is in the log and not in it",
                extra={"nats_stream": config.name, "old_stream": self._had},
            )


async def _close(client: Client) -> None:
    """End a connection; nats-py may wait for ever for one whose TLS was refused, so it is left after a while."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_TIMEOUT):
            await client.close()


async def _log_error(error: Exception) -> None:
    _LOG.warning("the connection to NATS failed", extra={"cause": str(error) or type(error).__name__})


def _failures() -> tuple[type[Exception], ...]:
    """What nats-py raises when a server is away, refuses, or is late."""
    from nats.errors import Error  # noqa: PLC0415 - only who publishes imports nats-py

    return Error, OSError, EOFError
