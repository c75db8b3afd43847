"""HTTP calls to services that a user may have named: to an admitted address, without redirects.

Object-store libraries follow redirects and resolve names by themselves, so a store that a user names could lead the server to
any address. These calls go to the addresses that the guard admitted, and what comes back comes from there. Each service has slots
and a breaker of its own (`services`), so that one that hangs holds nobody else's calls.
"""

from __future__ import annotations

import dataclasses
import logging
import ssl
import time
from collections import deque
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from lakeward_servicekit import tls
from lakeward_servicekit.telemetry import spans
from lakeward_servicekit.telemetry.metrics import QUICK, Histogram
from lakeward_vending.adapters.network.connections import Connection, TooLarge, head_of, open_connection
from lakeward_vending.adapters.network.refusals import LeftAlone, ReplyTooLarge, unavailable
from lakeward_vending.adapters.network.services import Service, Services
from lakeward_vending.application.refusals import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

    from lakeward_vending.adapters.network.addresses import AddressGuard

_log = logging.getLogger(__name__)

# What a service says of itself: an error, a receipt. Who asks for more says how much.
MAX_REPLY_BYTES: Final = 64 * 1024
REPLY_SECONDS: Final = 30.0
_IDLE_SECONDS: Final = 10.0
_IDLE_PER_SERVICE: Final = 32
# A name may have any number of addresses, and each is waited for.
_ADDRESSES_TRIED: Final = 4
_PORTS: Final = {"http": 80, "https": 443}
_REFUSED, _FAILED = 400, 500  # statuses of HTTP from here on
CALLS: Final = Histogram(
    "lakeward_store_call_seconds",
    "How long calls of stores took, waiting for a slot included; `call` is `store`, or `sts` for what mints credentials. "
    "`outcome` is `ok`, `refused` (4xx), `failed` (5xx), `away` (no answer), or `left_alone` (not called).",
    ("call", "method", "outcome"),
    bounds=QUICK,
)
_METHODS: Final = frozenset({"GET", "PUT", "POST", "DELETE"})


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    body: bytes


class HttpCalls:
    """Makes calls; `close` when done."""

    def __init__(self, guard: AddressGuard, services: Services[Connections] | None = None) -> None:
        """Call what `guard` admits, within the bounds of `services`; None: their defaults."""
        self._guard = guard
        self._services = Services(Connections) if services is None else services

    def close(self) -> None:
        """Close the connections between calls."""
        self._services.close()

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        repeatable: bool,
        limit: int = MAX_REPLY_BYTES,
        call: Literal["store", "sts"] = "store",
    ) -> Reply:
        """One call. A redirect is returned, not followed.

        Args:
            method: upper case, and not HEAD, whose replies announce bodies that don't come.
            url: absolute; its path and query go out as they are.
            headers: without `host` and `content-length`, which are the URL's and the body's.
            body: may be empty.
            repeatable: whether it may be sent again when a connection that was kept turns out to be closed.
            limit: most bytes of the reply's body.
            call: what it is, in metrics.

        Raises:
            StoreUnavailable: and as `LeftAlone` where the service is not called for now, as `ReplyTooLarge` where its reply is
                over `limit`.
            Refusal: ADDRESS_DENIED.
        """
        began, outcome = time.perf_counter(), "away"
        try:
            # of the address the host alone: a path names files, and a query may be a signature
            known = (
                {"http.request.method": method, "server.address": urlsplit(url).hostname or ""}
                if spans.recording
                else None
            )
            with spans.inner(f"{call} {method}", attributes=known) as told:
                reply = await self._call(method, url, headers=headers, body=body, repeatable=repeatable, limit=limit)
                told.set("http.response.status_code", reply.status)
        except LeftAlone:
            outcome = "left_alone"
            raise
        else:
            outcome = "ok" if reply.status < _REFUSED else "refused" if reply.status < _FAILED else "failed"
            return reply
        finally:
            kind = method if method in _METHODS else "other"
            CALLS.series(call, kind, outcome).observe(time.perf_counter() - began)

    async def _call(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, repeatable: bool, limit: int
    ) -> Reply:
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        framed = {"host": parts.netloc, **headers, "content-length": str(len(body))}
        head = head_of(method, target, framed)
        async with self._services.call(f"{parts.scheme}://{parts.netloc}") as (service, outcome):
            try:
                reply = await self._send(service, parts, head, body, repeatable=repeatable, limit=limit)
            except TooLarge as error:
                outcome.answered()
                raise ReplyTooLarge(url, error) from error
            except (OSError, TimeoutError, ssl.SSLError) as error:
                outcome.failed()
                raise unavailable(url, error) from error
            except StoreUnavailable:  # its name is not to be resolved
                outcome.failed()
                raise
            outcome.answered()
            return reply

    async def _send(
        self,
        service: Service[Connections],
        parts: SplitResult,
        head: bytes,
        body: bytes,
        *,
        repeatable: bool,
        limit: int,
    ) -> Reply:
        kept = service.kept.take() if repeatable else None
        if kept is not None:
            try:
                return await self._exchange(kept, service, head, body, limit)
            except ConnectionError as error:
                if isinstance(error, TooLarge):
                    raise
        return await self._exchange(await self._connect(parts), service, head, body, limit)

    async def _exchange(
        self, connection: Connection, service: Service[Connections], head: bytes, body: bytes, limit: int
    ) -> Reply:
        status, received = await connection.exchange(head, body, limit=limit, seconds=REPLY_SECONDS)
        service.kept.give_back(connection)
        return Reply(status, received)

    async def _connect(self, parts: SplitResult) -> Connection:
        """A connection to the first admitted address that answers."""
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        context = tls.shared_context() if parts.scheme == "https" else None
        failure: OSError = ConnectionError(f"{host} has no address")
        for address in (await self._guard.admit(parts.geturl()))[:_ADDRESSES_TRIED]:
            try:
                return await open_connection(str(address), port, tls=context, host=host)
            except (OSError, TimeoutError) as error:
                failure = error
        raise failure


class Connections:
    """The connections to one service that wait for their next call."""

    def __init__(self) -> None:
        """Have none."""
        self._waiting: deque[tuple[float, Connection]] = deque()

    def take(self) -> Connection | None:
        """The connection that was used last: the others grow old and go. It was admitted when it was opened."""
        waiting = self._waiting
        while waiting and time.monotonic() - waiting[0][0] > _IDLE_SECONDS:
            waiting.popleft()[1].close()
        while waiting:
            _, connection = waiting.pop()
            if connection.usable:
                return connection
        return None

    def give_back(self, connection: Connection) -> None:
        """Keep a connection after a call, or close it."""
        if connection.usable and len(self._waiting) < _IDLE_PER_SERVICE:
            self._waiting.append((time.monotonic(), connection))
        else:
            connection.close()

    def close(self) -> None:
        """Close them all."""
        for _, connection in self._waiting:
            connection.close()
        self._waiting.clear()
