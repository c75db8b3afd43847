"""HTTP calls to services that a user may have named: in bounded threads, to an admitted address, without redirects.

For what object-store clients don't do well: STS, and lists and deletes of keys as they literally are. Connections are kept
for a while, since a commit may delete files.
"""

from __future__ import annotations

import asyncio
import dataclasses
import http.client
import logging
import socket
import threading
import time
from collections import defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from lakeward.servicekit import tls
from lakeward.servicekit.errors import Reason, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lakeward.vending.adapters.network.addresses import AddressGuard
    from lakeward.vending.domain.addresses import Address

_log = logging.getLogger(__name__)

THREADS: Final = 16
MAX_REPLY_BYTES: Final = 8 * 1024 * 1024
CONNECT_SECONDS: Final = 5.0
REPLY_SECONDS: Final = 20.0
_IDLE_SECONDS: Final = 15.0
_IDLE_PER_HOST: Final = 8
_PORTS: Final = {"http": 80, "https": 443}


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes:
        body: at most `MAX_REPLY_BYTES`.
    """

    status: int
    body: bytes


class HttpCalls:
    """Makes calls; `close` when done."""

    def __init__(self, guard: AddressGuard) -> None:
        """Call what `guard` admits."""
        self._guard = guard
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="vending-http")
        self._idle = _IdleConnections()

    def close(self) -> None:
        """Close what is open; calls under way finish."""
        self._threads.shutdown(wait=True)
        self._idle.close()

    async def send(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, repeatable: bool) -> Reply:
        """One call. A redirect is returned, not followed.

        Args:
            method: upper case.
            url: absolute; its path and query go out as they are.
            headers: without `host` and `content-length`, which are the URL's and the body's.
            body: may be empty.
            repeatable: whether it may be sent again when a connection that was kept turns out to be closed.

        Raises:
            Refusal: ADDRESS_DENIED, STORE_UNAVAILABLE.
        """
        addresses = await self._guard.admit(url)
        call = _Call(method, url, dict(headers), body, repeatable, addresses)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._send, call)
        except (OSError, http.client.HTTPException) as error:
            raise unavailable(url, error) from error

    def _send(self, call: _Call) -> Reply:
        parts = urlsplit(call.url)
        kept = self._idle.take(parts.scheme, parts.netloc)
        if kept is not None:
            try:
                return self._exchange(kept, call)
            except (OSError, http.client.HTTPException):
                kept.close()
                if not call.repeatable:
                    raise
        return self._exchange(_connect(call), call)

    def _exchange(self, connection: http.client.HTTPConnection, call: _Call) -> Reply:
        parts = urlsplit(call.url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request(call.method, target, body=call.body, headers=call.headers)
            response = connection.getresponse()
            body = response.read(MAX_REPLY_BYTES + 1)
        except BaseException:
            connection.close()
            raise
        if len(body) > MAX_REPLY_BYTES:
            connection.close()
            raise http.client.HTTPException(f"the reply is over {MAX_REPLY_BYTES} bytes")
        if response.will_close or not response.isclosed():
            connection.close()
        else:
            self._idle.give(parts.scheme, parts.netloc, connection)
        return Reply(response.status, body)


@dataclasses.dataclass(frozen=True, slots=True)
class _Call:
    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    repeatable: bool
    addresses: Sequence[Address]


class _IdleConnections:
    """Connections between calls, newest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_host: defaultdict[tuple[str, str], deque[tuple[float, http.client.HTTPConnection]]] = defaultdict(
            deque
        )

    def take(self, scheme: str, authority: str) -> http.client.HTTPConnection | None:
        old: list[http.client.HTTPConnection] = []
        with self._lock:
            waiting = self._by_host[scheme, authority]
            while waiting and time.monotonic() - waiting[0][0] > _IDLE_SECONDS:
                old.append(waiting.popleft()[1])
            taken = waiting.pop()[1] if waiting else None
        for connection in old:
            connection.close()
        return taken

    def give(self, scheme: str, authority: str, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            waiting = self._by_host[scheme, authority]
            if len(waiting) < _IDLE_PER_HOST:
                waiting.append((time.monotonic(), connection))
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            connections = [connection for waiting in self._by_host.values() for _, connection in waiting]
            self._by_host.clear()
        for connection in connections:
            connection.close()


def _connect(call: _Call) -> http.client.HTTPConnection:
    """A connection to the first address that answers."""
    parts = urlsplit(call.url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    failure: OSError = ConnectionError(f"{host} has no address")
    for address in call.addresses:
        try:
            raw = socket.create_connection((str(address), port), timeout=CONNECT_SECONDS)
        except OSError as error:
            failure = error
            continue
        connection = http.client.HTTPConnection(parts.netloc, timeout=REPLY_SECONDS)
        try:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # the handshake has the host's name, so the certificate is checked against that and not the address
            connection.sock = (
                tls.shared_context().wrap_socket(raw, server_hostname=host) if parts.scheme == "https" else raw
            )
        except BaseException:
            raw.close()
            raise
        connection.sock.settimeout(REPLY_SECONDS)
        connection.auto_open = 0
        return connection
    raise failure


def unavailable(url: str, error: BaseException) -> Refusal:
    """The refusal for a service that can't be reached, with the cure where TLS is the cause."""
    parts = urlsplit(url)
    store = f"{parts.scheme}://{parts.netloc}"
    cure = tls.explain(error)
    _log.warning("a store can't be reached", extra={"store": store, "error": repr(error)[:1000]})
    message = f"{store} can't be reached or is failing" + (f": {cure}" if cure else "; check the endpoint, or retry")
    return Refusal(Reason.REASON_STORE_UNAVAILABLE, message, store=store)
