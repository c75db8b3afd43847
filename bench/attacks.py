"""What strangers send, from a process of their own, so that the client whose waiting is timed waits for the server alone.

python -m bench.attacks drips http://127.0.0.1:8181 /catalog/v1/<warehouse> 10
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import itertools
import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

BOMBS: Final = 100
DRIPS: Final = 2_150
NAMES: Final = 10_000
TOKEN_VARIABLE: Final = "BENCH_TOKEN"
_ADDRESS: Final = "127.0.0.2"
_AT_ONCE: Final = 32
_DOCUMENT_BYTES: Final = 30 * 1000 * 1000
_BOMB_BYTES: Final = 32 * 1000 * 1000
_LONG: Final = 20_000
_VERY_LONG: Final = 10_000_000
_OPEN_FILES: Final = 8192
_DRIPPING_SECONDS: Final = 12.0  # at least: longer than any body that drips is waited for


@dataclass(slots=True)
class Attack:
    """Whom and where.

    Attributes:
        path: of a warehouse's Iceberg REST.
        seconds: for which what can be repeated is.
        token: of a caller who is known; empty for nobody's.
        answers: how many replies had each status; 0: none came.
    """

    url: str
    path: str
    seconds: float
    token: str = ""
    answers: Counter[int] = field(default_factory=Counter)

    def head(self, method: str, path: str, *, headers: Mapping[str, str] | None = None, length: int = 0) -> bytes:
        """The head of a request."""
        given = {"host": "lake", "authorization": f"Bearer {self.token}" if self.token else "", **(headers or {})}
        if method == "POST":
            given |= {"content-type": "application/json", "content-length": str(length)}
        lines = [
            f"{method} {self.path}{path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in given.items() if value),
        ]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"

    async def send(self, *parts: bytes) -> None:
        """One request on a connection of its own, and what came back."""
        try:
            reader, writer = await self.connect()
        except OSError:
            self.answers[0] += 1
            return
        try:
            for part in parts:
                writer.write(part)
            with contextlib.suppress(OSError):  # refused before all of it was read: the reply says why
                await writer.drain()
            self.answers[_status(await reader.readline())] += 1
        except OSError:
            self.answers[0] += 1
        finally:
            writer.transport.abort()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection from the strangers' address."""
        where = urlsplit(self.url)
        return await asyncio.open_connection(where.hostname, where.port, local_addr=(_ADDRESS, 0))


async def bombs(attack: Attack) -> None:
    """A hundred gzipped bodies at a time, 29 KB that inflate to 32 MB."""
    body = gzip.compress(b"[" + b"{}," * (_BOMB_BYTES // 3) + b"{}]", 9)
    head = attack.head("POST", "/namespaces/n/tables", headers={"content-encoding": "gzip"}, length=len(body))
    until = time.monotonic() + attack.seconds
    while time.monotonic() < until:
        await asyncio.gather(*(attack.send(head + body) for _ in range(BOMBS)))


async def drips(attack: Attack) -> None:
    """Thousands of sockets, a byte of a body a second on each, and a new one for each that is closed."""
    head = attack.head("POST", "/namespaces/n/tables", length=1_000_000)
    until = time.monotonic() + max(attack.seconds, _DRIPPING_SECONDS)

    async def drip() -> None:
        while time.monotonic() < until:
            try:
                reader, writer = await attack.connect()
                writer.write(head + b"{")
                reply = asyncio.ensure_future(reader.readline())
                while time.monotonic() < until and not reply.done():
                    await asyncio.wait([reply], timeout=1.0)
                    writer.write(b" ")
                attack.answers[_status(await reply) if reply.done() else 0] += 1
                reply.cancel()
                writer.transport.abort()
            except OSError:
                attack.answers[0] += 1
                await asyncio.sleep(0.1)

    await asyncio.gather(*(drip() for _ in range(DRIPS)))


async def containers(attack: Attack) -> None:
    """Thirty megabytes of empty containers, side by side and one inside the other, where documents are parsed."""
    flat = b"{}," * (_DOCUMENT_BYTES // 3) + b"{}"
    deep = b"[" * 150 + b"]" * 150
    nested = b",".join([deep] * (_DOCUMENT_BYTES // len(deep)))
    bodies = [
        ("/namespaces/n/tables", b'{"name":"t","schema":{"type":"struct","fields":[' + inside + b"]}}")
        for inside in (flat, nested)
    ]
    bodies += [
        ("/namespaces/n/tables/t", b'{"requirements":[],"updates":[' + inside + b"]}") for inside in (flat, nested)
    ]
    bodies += [("/transactions/commit", b'{"table-changes":[' + flat + b"]}"), ("/namespaces", b"[" + nested + b"]")]
    until = time.monotonic() + attack.seconds
    for path, body in itertools.cycle(bodies):
        await asyncio.gather(*(attack.send(attack.head("POST", path, length=len(body)), body) for _ in range(2)))
        if time.monotonic() >= until and sum(attack.answers.values()) >= 2 * len(bodies):
            return


async def names(attack: Attack) -> None:
    """Ten thousand requests with names and headers of 20 KB, each another, and a few with a name of 10 MB."""
    heads = (_distinct(attack, number) for number in range(NAMES))

    async def one_after_the_other() -> None:
        for head in heads:
            await attack.send(head)

    await asyncio.gather(*(one_after_the_other() for _ in range(_AT_ONCE)))
    for number in range(15):
        document = {"name": _text(number, _VERY_LONG), "schema": {"type": "struct", "fields": []}}
        body = json.dumps(document).encode()
        await attack.send(attack.head("POST", "/namespaces/n/tables", length=len(body)), body)


def _distinct(attack: Attack, number: int) -> bytes:
    long = _text(number, _LONG)
    return (
        attack.head("GET", f"/namespaces/n/tables/{long}"),
        attack.head("GET", f"/namespaces/{long}"),
        attack.head("GET", "/namespaces/n/tables/t", headers={"if-none-match": f'"{long}"', "user-agent": long}),
        attack.head("GET", "/namespaces/n/tables/t", headers={"accept-encoding": long, "x-request-id": long}),
        attack.head("GET", "/namespaces/n/tables/t", headers={"x-iceberg-access-delegation": long, "host": long}),
        attack.head("GET", "/namespaces/n/tables/t", headers={"x-project-id": long}),
    )[number % 6]


def _text(number: int, length: int) -> str:
    return f"{number:08d}".ljust(length, "x")


def _status(line: bytes) -> int:
    parts = line.split(b" ", 2)
    return int(parts[1]) if len(parts) == 3 else 0


ATTACKS: Final[Mapping[str, Callable[[Attack], Awaitable[None]]]] = {
    "bombs": bombs,
    "drips": drips,
    "containers": containers,
    "names": names,
}


def command(name: str, attack: Attack) -> tuple[Sequence[str], Mapping[str, str]]:
    """What runs an attack, and its environment."""
    arguments = [name, attack.url, attack.path, str(attack.seconds)]
    return [sys.executable, "-m", "bench.attacks", *arguments], {**os.environ, TOKEN_VARIABLE: attack.token}


def main() -> int:
    """Attack, and tell as JSON how many replies had each status."""
    parser = argparse.ArgumentParser(prog="python -m bench.attacks")
    parser.add_argument("name", choices=ATTACKS)
    parser.add_argument("url")
    parser.add_argument("path")
    parser.add_argument("seconds", type=float)
    chosen = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, _OPEN_FILES) if hard > 0 else _OPEN_FILES, hard))
    attack = Attack(chosen.url, chosen.path, chosen.seconds, os.environ.get(TOKEN_VARIABLE, ""))
    asyncio.run(_all(ATTACKS[chosen.name], attack))
    print(json.dumps(attack.answers))
    return 0


async def _all(attacking: Callable[[Attack], Awaitable[None]], attack: Attack) -> None:
    await attacking(attack)


if __name__ == "__main__":
    sys.exit(main())
