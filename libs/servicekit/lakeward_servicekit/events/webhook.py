"""The sink that posts each event to an address of the operator's: CloudEvents' structured form over HTTP, signed.

The signature covers the time and the body, so who checks it can refuse what is old:

    Lakeward-Timestamp: 1785585600                     seconds since 1970
    Lakeward-Signature: v1=<HMAC-SHA256 of "<timestamp>.<body>", in hex>

A redirect is an answer like another, and not one that takes the event: it would lead a signed body to another place than the
one that was named.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import hmac
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

import httpx

from lakeward_servicekit.events.relay import EventRefusedError, LoggedEvent, SinkUnavailableError
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.tls import client_context

# Answers about the event itself: another attempt gets the same. All others are about the moment, or about the settings.
_REFUSALS: Final = frozenset({400, 413, 415, 422})
_ANSWER_SHOWN: Final = 200
_HEADERS: Final = {"Content-Type": "application/cloudevents+json; charset=UTF-8", "User-Agent": "lakeward"}


@dataclasses.dataclass(frozen=True, slots=True)
class WebhookAddress:
    """Where events are posted.

    Attributes:
        secret: that both sides know; None: nothing is signed.
        timeout: for one event.
    """

    url: str
    secret: SecretStr | None = None
    timeout: timedelta = timedelta(seconds=10)


def signature(secret: SecretStr, timestamp: str, body: bytes) -> str:
    """What stands in `Lakeward-Signature`.

    Args:
        secret: that both sides know.
        timestamp: as in `Lakeward-Timestamp`.
        body: as it is sent.
    """
    told = hmac.new(secret.get_secret_value().encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"v1={told.hexdigest()}"


class WebhookSink:
    """`Sink` over HTTP: one request an event, taken by any answer of 200 to 299."""

    def __init__(self, address: WebhookAddress, *, now: Callable[[], float] = time.time) -> None:
        """Post to `address`; nothing is connected yet.

        Args:
            address: where.
            now: seconds since 1970.
        """
        self._address: Final = address
        self._now: Final = now
        self._client: Final = httpx.AsyncClient(
            verify=client_context(), timeout=address.timeout.total_seconds(), follow_redirects=False, trust_env=False
        )

    @property
    def name(self) -> str:
        """See `Sink`."""
        return "webhook"

    async def position(self, stream: str) -> int:
        """A receiver can't be asked."""
        del stream
        return 0

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        """See `Sink`."""
        for taken, logged in enumerate(events):
            status, said = await self._post(logged, taken=taken)
            if status in _REFUSALS:
                raise EventRefusedError(f"the webhook answered {status}: {said}", taken=taken)
            if not httpx.codes.is_success(status):
                raise SinkUnavailableError(f"the webhook answered {status}: {said}", taken=taken)

    async def close(self) -> None:
        """End the connections."""
        await self._client.aclose()

    async def _post(self, logged: LoggedEvent, *, taken: int) -> tuple[int, str]:
        """Status, and the beginning of what was said; of a long answer the rest is never read."""
        body, timestamp = logged.event.body, str(int(self._now()))
        headers = {
            **_HEADERS,
            "Lakeward-Stream": logged.event.stream,
            "Lakeward-Sequence": str(logged.sequence),
            "Lakeward-Timestamp": timestamp,
        }
        if self._address.secret is not None:
            headers["Lakeward-Signature"] = signature(self._address.secret, timestamp, body)
        try:
            async with (
                asyncio.timeout(self._address.timeout.total_seconds()),
                self._client.stream("POST", self._address.url, content=body, headers=headers) as reply,
            ):
                said = b""
                if not reply.is_success:
                    async for part in reply.aiter_raw(_ANSWER_SHOWN):
                        said = part
                        break
        except (httpx.HTTPError, OSError) as away:
            # the address may hold a password, and an error may hold the address
            raise SinkUnavailableError(f"the webhook does not answer ({type(away).__name__})", taken=taken) from away
        return reply.status_code, said.decode("utf-8", "replace")
