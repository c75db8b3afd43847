"""The sink that publishes to a JetStream stream."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import SecretStr

from lakeward.catalog.adapters.nats.messages import (
    EXPECTED_SEQUENCE,
    EXPECTED_SUBJECT,
    SEQUENCE,
    Message,
    messages_of,
    stream_subjects,
)
from lakeward.catalog.application.relay import LoggedEvent, SinkUnavailableError

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js import JetStreamContext

_LOG: Final = logging.getLogger("lakeward.catalog.relay")
_TIMEOUT: Final = 5.0
_CHECKS_STREAM_SINCE: Final = (2, 12)
"""Servers from here on compare the expected sequence over all subjects of a stream; an older one would compare one subject's."""


@dataclasses.dataclass(frozen=True, slots=True)
class NatsAddress:
    """Where and as whom.

    Attributes:
        url: of one server, or of several, separated by commas.
        topic: the subject that upstream's events go to, and the head of all others.
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
    max_age: timedelta = timedelta(days=7)
    max_bytes: int = 1 << 30
    duplicates: timedelta = timedelta(minutes=10)


class NatsSink:
    """`Sink` on JetStream. It connects when it first publishes, and again after it was cut off."""

    def __init__(self, address: NatsAddress) -> None:
        """Publish to `address`; nothing is connected yet, and nats-py is not imported."""
        self._address: Final = address
        self._client: Client | None = None
        self._stream_name: str | None = None
        self._connecting: Final = asyncio.Lock()
        # By stream: the broker's own number of the last message that it has of it.
        self._last: Final[dict[str, int]] = {}
        self._checks_stream = False

    @property
    def name(self) -> str:
        """See `Sink`."""
        return "nats"

    async def position(self, stream: str) -> int:
        """See `Sink`."""
        from nats.js.errors import NotFoundError  # noqa: PLC0415 - only who publishes imports nats-py

        jetstream = await self._jetstream()
        subjects = stream_subjects(stream, topic=self._address.topic)
        assert self._stream_name is not None
        try:
            last = await jetstream.get_last_msg(self._stream_name, subjects)
        except NotFoundError:
            self._last[stream] = 0
            return 0
        except Exception as away:
            raise _unavailable(away) from away
        self._last[stream] = last.seq or 0
        return int((last.headers or {}).get(SEQUENCE, 0))

    async def publish(self, logged: LoggedEvent) -> None:
        """See `Sink`."""
        jetstream = await self._jetstream()
        stream = logged.event.stream
        *copies, own = messages_of(logged, topic=self._address.topic)
        for copied in copies:
            await self._send(jetstream, copied, copied.headers)
        headers = own.headers
        if self._checks_stream and stream in self._last:
            headers = {
                **headers,
                EXPECTED_SEQUENCE: str(self._last[stream]),
                EXPECTED_SUBJECT: stream_subjects(stream, topic=self._address.topic),
            }
        try:
            self._last[stream] = await self._send(jetstream, own, headers)
        except SinkUnavailableError:
            self._last.pop(stream, None)
            raise

    async def close(self) -> None:
        """End the connection."""
        client, self._client = self._client, None
        if client is not None and not client.is_closed:
            await client.close()

    async def _send(self, jetstream: JetStreamContext, message: Message, headers: dict[str, str]) -> int:
        try:
            kept = await jetstream.publish(message.subject, message.payload, timeout=_TIMEOUT, headers=headers)
        except Exception as away:
            raise _unavailable(away) from away
        return kept.seq

    async def _jetstream(self) -> JetStreamContext:
        async with self._connecting:
            if self._client is None or self._client.is_closed:
                try:
                    self._client = await self._connect()
                except Exception as away:
                    raise _unavailable(away) from away
            return self._client.jetstream(timeout=_TIMEOUT)

    async def _connect(self) -> Client:
        from nats.aio.client import Client  # noqa: PLC0415 - only who publishes imports nats-py

        address = self._address
        options: dict[str, Any] = {
            "user": address.user,
            "password": None if address.password is None else address.password.get_secret_value(),
            "token": None if address.token is None else address.token.get_secret_value(),
            "user_credentials": None if address.creds_file is None else str(address.creds_file),
        }
        client = Client()
        try:
            async with asyncio.timeout(_TIMEOUT):
                await client.connect(
                    servers=address.url.split(","),
                    name="lakeward catalog events",
                    # Nothing is tried again in there: the next publication connects anew, after the relay's own pause, and
                    # finds out where the broker stands.
                    allow_reconnect=False,
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    error_cb=_log_error,
                    **{name: value for name, value in options.items() if value is not None},
                )
                self._stream_name = await self._ensure_stream(client)
        except BaseException:
            await client.close()
            raise
        version = client.connected_server_version
        self._checks_stream = (version.major, version.minor) >= _CHECKS_STREAM_SINCE
        self._last.clear()
        return client

    async def _ensure_stream(self, client: Client) -> str:
        """The stream that has our subjects: one that an operator made, or one of ours with bounds."""
        from nats.js.api import DiscardPolicy, StreamConfig  # noqa: PLC0415 - only who publishes imports nats-py
        from nats.js.errors import NotFoundError  # noqa: PLC0415

        address, jetstream = self._address, client.jetstream(timeout=_TIMEOUT)
        try:
            return str(await jetstream.find_stream_name_by_subject(address.topic))
        except NotFoundError:
            made = await jetstream.add_stream(
                StreamConfig(
                    name=re.sub(r"[^A-Za-z0-9_-]", "_", address.topic),
                    subjects=[address.topic, f"{address.topic}.>"],
                    max_age=address.max_age.total_seconds(),
                    max_bytes=address.max_bytes,
                    duplicate_window=address.duplicates.total_seconds(),
                    discard=DiscardPolicy.OLD,
                )
            )
            _LOG.info("made a stream for events", extra={"nats_stream": made.config.name})
            return str(made.config.name)


async def _log_error(error: Exception) -> None:
    _LOG.warning("the connection to NATS failed", extra={"cause": str(error) or type(error).__name__})


def _failures() -> tuple[type[Exception], ...]:
    """What nats-py raises when a server is away, refuses, or is late."""
    from nats.errors import Error  # noqa: PLC0415 - only who publishes imports nats-py

    return Error, OSError, EOFError


def _unavailable(error: Exception) -> SinkUnavailableError:
    return SinkUnavailableError(str(error) or type(error).__name__)
