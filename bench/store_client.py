"""PUTs and GETs of a store through our own client, beside ones on aiohttp and httpx with the same address guard.

All sign alike and talk to the same store over the same address, in turns; what differs is who speaks HTTP. The CPU is that of
this process alone: the store is another. ADR 10 argues with these figures.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import aiohttp
import aiohttp.abc
import httpcore
import httpx
import uvloop
from httpcore import AsyncNetworkBackend, AsyncNetworkStream

from bench.figures import Better, Figure, median
from bench.plan import Plan
from bench.stack import Stack
from lakeward_servicekit import tls
from lakeward_servicekit.system import SystemClock
from lakeward_vending.adapters.network.addresses import AddressGuard, SystemResolver
from lakeward_vending.adapters.network.calls import MAX_REPLY_BYTES, HttpCalls, Reply
from lakeward_vending.adapters.s3.key_sources import FixedKey
from lakeward_vending.adapters.s3.signed_calls import SignedCalls
from lakeward_vending.domain.addresses import AddressRules
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.profiles.s3 import S3Profile
from lakeward_vending.domain.s3.keys import SigningKey
from lakeward_vending.domain.secret import Secret

BENCH: Final = "store_client"
SIZES: Final = {"5 KB": 5_000, "1 MB": 1_000_000}
"""Bytes of an object: a small table's metadata file, and a large one's."""
_AT_ONCE: Final = 8
_OK: Final = 200


class Other:
    """Calls by another client, as `SignedCalls` makes them; what comes back is counted as it comes, and nothing is followed."""

    def __init__(
        self,
        sent: Callable[[str, str, Mapping[str, str], bytes], AbstractAsyncContextManager[Any]],
        told: Callable[[Any], tuple[int, AsyncIterator[bytes]]],
    ) -> None:
        """`sent` sends method, URL, headers and body; `told` reads the status and the pieces of what comes back."""
        self._sent = sent
        self._told = told

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        limit: int = MAX_REPLY_BYTES,
        **_: object,
    ) -> Reply:
        async with self._sent(method, url, headers, body) as response:
            status, pieces = self._told(response)
            return Reply(status, await _bounded(pieces, limit))


class Dialling(AsyncNetworkBackend):
    """Connects to the addresses that the guard admitted, whatever the host's name says by now."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        (address, *_) = await self._guard.admit(f"http://{host}:{port}")
        return await self._inner.connect_tcp(str(address), port, timeout, local_address, socket_options)


class Admitting(aiohttp.abc.AbstractResolver):
    """Resolves to what the guard admitted."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[aiohttp.abc.ResolveResult]:
        del family
        return [
            aiohttp.abc.ResolveResult(
                hostname=host, host=str(address), port=port, family=socket.AF_INET, proto=0, flags=0
            )
            for address in await self._guard.admit(f"http://{host}:{port}")
        ]

    async def close(self) -> None:
        """Nothing is held."""


async def _bounded(pieces: AsyncIterator[bytes], limit: int) -> bytes:
    held = bytearray()
    async for piece in pieces:
        held += piece
        if len(held) > limit:
            raise ValueError(f"the reply is over {limit} bytes")
    return bytes(held)


@asynccontextmanager
async def _ours(guard: AddressGuard) -> AsyncIterator[HttpCalls | Other]:
    calls = HttpCalls(guard)
    try:
        yield calls
    finally:
        calls.close()


@asynccontextmanager
async def _httpx(guard: AddressGuard) -> AsyncIterator[HttpCalls | Other]:
    transport = httpx.AsyncHTTPTransport(retries=0)
    transport._pool = httpcore.AsyncConnectionPool(  # noqa: SLF001 - httpx takes no backend; a product would wrap httpcore's pool
        ssl_context=_context(), max_connections=128, max_keepalive_connections=32, network_backend=Dialling(guard)
    )
    async with httpx.AsyncClient(transport=transport, follow_redirects=False, timeout=30) as client:
        yield Other(
            lambda method, url, headers, body: client.stream(method, url, headers=dict(headers), content=body),
            lambda response: (response.status_code, response.aiter_raw()),
        )


@asynccontextmanager
async def _aiohttp(guard: AddressGuard) -> AsyncIterator[HttpCalls | Other]:
    connector = aiohttp.TCPConnector(resolver=Admitting(guard), limit=128, use_dns_cache=False, ssl=_context())
    async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:
        bare: Any = {"allow_redirects": False, "skip_auto_headers": ("content-type",)}
        yield Other(
            lambda method, url, headers, body: session.request(method, url, headers=headers, data=body, **bare),
            lambda response: (response.status, response.content.iter_any()),
        )


def _context() -> ssl.SSLContext:
    return tls.shared_context()


CLIENTS: Final = {"ours": _ours, "httpx": _httpx, "aiohttp": _aiohttp}


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one call: microseconds of this process's CPU, and of the clock."""

    cpu: float
    wall: float


def run(parts: Stack, plan: Plan) -> Sequence[Figure]:
    """CPU and wall time of a PUT and a GET of each size, by each client; ours over the others' is what is argued with."""
    return uvloop.run(_run(parts, plan))


async def _run(parts: Stack, plan: Plan) -> Sequence[Figure]:
    guard = AddressGuard(AddressRules(), SystemResolver())
    seen: dict[tuple[str, str, str], list[Cost]] = {}
    for _ in range(plan.rounds):
        for name, opened in CLIENTS.items():
            async with opened(guard) as client:
                for size, count in SIZES.items():
                    bucket = _bucket(parts, client)
                    repeats = max(_AT_ONCE, int(plan.seconds * (60 if count < 100_000 else 12)))
                    for method, cost in (await _measured(bucket, count, repeats)).items():
                        seen.setdefault((method, size, name), []).append(cost)
    return list(_figures(seen))


def _bucket(parts: Stack, client: HttpCalls | Other) -> SignedCalls:
    store = parts.s3
    document = {
        "type": "s3",
        "bucket": store.bucket,
        "region": store.region,
        "endpoint": store.endpoint,
        "path-style-access": True,
        "flavor": "s3-compat",
        "sts-enabled": False,
    }
    profile = profiles.parse(json.dumps(document).encode())
    assert isinstance(profile, S3Profile)
    key = SigningKey(store.admin.access_key, Secret(store.admin.secret_key), None)
    calls = cast("HttpCalls", client)  # by its shape; the adapter names the one class that it has
    return SignedCalls(profile, FixedKey(key), calls=calls, clock=SystemClock())


async def _measured(bucket: SignedCalls, size: int, repeats: int) -> Mapping[str, Cost]:
    content = secrets.token_bytes(size)
    keys = [f"bench/{secrets.token_hex(8)}" for _ in range(repeats)]

    async def put(key: str) -> None:
        reply = await bucket.send("PUT", key=key, body=content)
        assert reply.status == _OK, reply

    async def get(key: str) -> None:
        reply = await bucket.send("GET", key=key, limit=size)
        assert reply.body == content

    await _costs(put, keys[:_AT_ONCE])  # connections are there before anything is counted
    return {"PUT": await _costs(put, keys), "GET": await _costs(get, keys)}


async def _costs(work: Callable[[str], Awaitable[None]], keys: Sequence[str]) -> Cost:
    waiting = iter(keys)

    async def one_of_several() -> None:
        for key in waiting:
            await work(key)

    cpu, wall = time.process_time(), time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE):
            group.create_task(one_of_several())
    return Cost(
        cpu=(time.process_time() - cpu) * 1e6 / len(keys),
        wall=(time.perf_counter() - wall) * 1e6 / len(keys),
    )


def _figures(seen: Mapping[tuple[str, str, str], Sequence[Cost]]) -> Iterator[Figure]:
    for method in ("PUT", "GET"):
        for size in SIZES:
            ours = seen[method, size, "ours"]
            for name in CLIENTS:
                others = seen[method, size, name]
                cpu, wall = median([cost.cpu for cost in others]), median([cost.wall for cost in others])
                ratio = median([a.cpu / b.cpu for a, b in zip(ours, others, strict=True)])
                detail = f"CPU {cpu:,.0f} us, wall {wall:,.0f} us a call, {_AT_ONCE} at once"
                yield Figure(
                    BENCH, f"{method} {size}, CPU of ours over {name}'s", ratio, "x", Better.LOWER, detail=detail
                )
