"""HTTP calls to services that a user may have named: to an admitted address, without redirects.

Object-store libraries follow redirects and resolve names by themselves, so a store that a user names could lead the server to
any address. These calls go to the addresses that the guard admitted, and what comes back comes from there.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import ssl
import time
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from lakeward.servicekit import tls
from lakeward.servicekit.errors import Reason, Refusal
from lakeward.vending.adapters.network.connections import Connection, TooLarge, head_of, open_connection

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

    from lakeward.vending.adapters.network.addresses import AddressGuard

_log = logging.getLogger(__name__)

AT_ONCE: Final = 128
MAX_REPLY_BYTES: Final = 8 * 1024 * 1024
REPLY_SECONDS: Final = 30.0
_IDLE_SECONDS: Final = 10.0
_IDLE_PER_HOST: Final = 32
_PORTS: Final = {"http": 80, "https": 443}


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    body: bytes


class HttpCalls:
    """Makes calls, up to `AT_ONCE` at a time; `close` when done."""

    def __init__(self, guard: AddressGuard) -> None:
        """Call what `guard` admits."""
        self._guard = guard
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._idle: defaultdict[tuple[str, str], deque[tuple[float, Connection]]] = defaultdict(deque)

    def close(self) -> None:
        """Close the connections between calls."""
        for waiting in self._idle.values():
            for _, connection in waiting:
                connection.close()
        self._idle.clear()

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        repeatable: bool,
        limit: int = MAX_REPLY_BYTES,
    ) -> Reply:
        """One call. A redirect is returned, not followed.

        Args:
            method: upper case, and not HEAD, whose replies announce bodies that don't come.
            url: absolute; its path and query go out as they are.
            headers: without `host` and `content-length`, which are the URL's and the body's.
            body: may be empty.
            repeatable: whether it may be sent again when a connection that was kept turns out to be closed.
            limit: most bytes of the reply's body.

        Raises:
            Refusal: ADDRESS_DENIED, STORE_UNAVAILABLE.
            TooLarge: the reply is over `limit`.
        """
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        framed = {"host": parts.netloc, **headers, "content-length": str(len(body))}
        head = head_of(method, target, framed)
        try:
            async with self._slots:
                return await self._send(parts, head, body, repeatable=repeatable, limit=limit)
        except TooLarge:
            raise
        except (OSError, TimeoutError, ssl.SSLError) as error:
            raise unavailable(url, error) from error

    async def _send(self, parts: SplitResult, head: bytes, body: bytes, *, repeatable: bool, limit: int) -> Reply:
        kept = self._take(parts) if repeatable else None
        if kept is not None:
            try:
                return await self._exchange(kept, parts, head, body, limit)
            except ConnectionError as error:
                if isinstance(error, TooLarge):
                    raise
        return await self._exchange(await self._connect(parts), parts, head, body, limit)

    async def _exchange(
        self, connection: Connection, parts: SplitResult, head: bytes, body: bytes, limit: int
    ) -> Reply:
        status, received = await connection.exchange(head, body, limit=limit, seconds=REPLY_SECONDS)
        waiting = self._idle[parts.scheme, parts.netloc]
        if connection.usable and len(waiting) < _IDLE_PER_HOST:
            waiting.append((time.monotonic(), connection))
        else:
            connection.close()
        return Reply(status, received)

    def _take(self, parts: SplitResult) -> Connection | None:
        """The connection that was used last: the others grow old and go. It was admitted when it was opened."""
        waiting = self._idle[parts.scheme, parts.netloc]
        while waiting and time.monotonic() - waiting[0][0] > _IDLE_SECONDS:
            waiting.popleft()[1].close()
        while waiting:
            _, connection = waiting.pop()
            if connection.usable:
                return connection
        return None

    async def _connect(self, parts: SplitResult) -> Connection:
        """A connection to the first admitted address that answers."""
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        context = tls.shared_context() if parts.scheme == "https" else None
        failure: OSError = ConnectionError(f"{host} has no address")
        for address in await self._guard.admit(parts.geturl()):
            try:
                return await open_connection(str(address), port, tls=context, host=host)
            except (OSError, TimeoutError) as error:
                failure = error
        raise failure


def unavailable(url: str, error: BaseException) -> Refusal:
    """The refusal for a service that can't be reached, with the cure where TLS is the cause."""
    parts = urlsplit(url)
    store = f"{parts.scheme}://{parts.netloc}"
    cure = tls.explain(error)
    _log.warning("a store can't be reached", extra={"store": store, "error": repr(error)[:1000]})
    message = f"{store} can't be reached or is failing" + (f": {cure}" if cure else "; check the endpoint, or retry")
    return Refusal(Reason.REASON_STORE_UNAVAILABLE, message, store=store)
