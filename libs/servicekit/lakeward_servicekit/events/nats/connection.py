"""Where NATS is, as whom it is spoken to, and one connection to it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import re
import ssl
from collections import defaultdict
from collections.abc import Collection, Coroutine, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.tls import client_context

if TYPE_CHECKING:
    from nats.aio.client import Client

Answer = TypeVar("Answer")

_LOG: Final = logging.getLogger("lakeward_servicekit.events")
_DENIALS_MAX: Final = 1000
_DENIED: Final = re.compile(r'(?i)permissions violation for publish to "([^"]*)"')


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
        timeout: for an answer of the server's; a connection that ends is noticed at once.
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
    timeout: timedelta = timedelta(seconds=5)

    @property
    def patience(self) -> float:
        """Seconds for an answer."""
        return self.timeout.total_seconds()

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


class PublishingDeniedError(Exception):
    """The server lets this user publish elsewhere, and not to a subject."""


class ConnectionEndedError(OSError):
    """The connection ended while an answer was waited for, which won't come any more."""


class Denials:
    """What is heard beside all answers, and in place of one: that the server denies something, or is gone."""

    def __init__(self) -> None:
        """Nothing is denied yet."""
        self._waiting: Final[defaultdict[str, set[asyncio.Future[None]]]] = defaultdict(set)
        self._denied: Final[set[str]] = set()

    def heard(self, error: Exception) -> bool:
        """Whether an error of the connection is a denial; who waits for an answer about the subject learns of it."""
        found = _DENIED.search(str(error))
        if found is None:
            return False
        subject = found[1]
        if len(self._denied) < _DENIALS_MAX:
            self._denied.add(subject)
        for waiting in self._waiting.get(subject, ()):
            if not waiting.done():
                waiting.set_exception(PublishingDeniedError(denial_of(subject)))
        return True

    def ended(self) -> None:
        """The connection is gone; who waits for an answer learns of it."""
        for waiting in [each for subject in self._waiting.values() for each in subject]:
            if not waiting.done():
                waiting.set_exception(ConnectionEndedError("the connection to NATS ended"))

    def taken(self, subjects: Collection[str]) -> str | None:
        """One of these that was denied since it was last asked for; the others are asked for by this, too."""
        denied = self._denied.intersection(subjects)
        self._denied.difference_update(denied)
        return min(denied, default=None)

    @contextlib.contextmanager
    def watched(self, subject: str) -> Iterator[asyncio.Future[None]]:
        """Until the block ends: fails with `PublishingDeniedError` when the server denies the subject.

        When the server is gone it fails with `ConnectionEndedError`.
        """
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[subject].add(waiting)
        try:
            yield waiting
        finally:
            if not waiting.cancel():
                waiting.exception()  # or it would be told as one that nobody looked at
            self._waiting[subject].discard(waiting)
            if not self._waiting[subject]:
                del self._waiting[subject]


def denial_of(subject: str) -> str:
    """What is said of a subject that is denied."""
    return f"NATS does not let this user publish to {subject}"


def too_large(size: int, room: int) -> str:
    """What is said of an event of which not even a reference fits."""
    return (
        f"NATS takes messages of {room} bytes, and a reference to an event has {size}; "
        "raise the server's max_payload or the stream's max_msg_size"
    )


async def connect(address: NatsAddress, tls: ssl.SSLContext | None, denials: Denials) -> Client:
    """A connection that ends, and is not made again, when the server goes.

    Raises:
        Exception: one of `failures`.
    """
    from nats.aio.client import Client  # noqa: PLC0415 - only who publishes imports nats-py
    from nats.errors import FlushTimeoutError  # noqa: PLC0415 - the same

    async def heard(error: Exception) -> None:
        if isinstance(error, FlushTimeoutError):
            denials.ended()  # a server that reads nothing more is as good as gone
        if not denials.heard(error):
            _LOG.warning("the connection to NATS failed", extra={"cause": str(error) or type(error).__name__})

    async def ended() -> None:
        denials.ended()

    options: dict[str, Any] = {
        "user": address.user,
        "password": None if address.password is None else address.password.get_secret_value(),
        "token": None if address.token is None else address.token.get_secret_value(),
        "user_credentials": None if address.creds_file is None else str(address.creds_file),
        "nkeys_seed": None if address.nkey_file is None else str(address.nkey_file),
        "tls": tls,
    }
    client = Client()
    try:
        async with asyncio.timeout(address.patience):
            await client.connect(
                servers=address.url.split(","),
                name="lakeward catalog events",
                # Nothing is tried again in there: the next publication connects anew, after the relay's own pause, and
                # finds out where the broker stands, and what it takes by now.
                allow_reconnect=False,
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                # What is written to a server that does not read would else wait for ever.
                flush_timeout=address.patience,
                error_cb=heard,
                closed_cb=ended,
                **{name: value for name, value in options.items() if value is not None},
            )
    except BaseException:
        await close(client, seconds=address.patience)
        raise
    return client


async def close(client: Client, *, seconds: float) -> None:
    """End a connection; nats-py may wait for ever for one whose TLS was refused, so it is left after a while."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await client.close()


async def first(answer: Coroutine[Any, Any, Answer], aside: asyncio.Future[None]) -> Answer:
    """The answer, unless something else is heard first.

    Args:
        answer: that is asked for.
        aside: see `Denials.watched`.

    Raises:
        PublishingDeniedError: that was heard first.
        ConnectionEndedError: that was.
    """
    answering = asyncio.ensure_future(answer)
    try:
        both: set[asyncio.Future[Any]] = {answering, aside}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            aside.result()
        return answering.result()
    finally:
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)


def failures() -> tuple[type[Exception], ...]:
    """What nats-py raises when a server is away, refuses, or is late."""
    from nats.errors import Error  # noqa: PLC0415 - only who publishes imports nats-py

    return Error, OSError, EOFError
