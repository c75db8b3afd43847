"""An adversary who may make warehouses names addresses that the server is to call for it.

Each is refused by its spelling, before anything is called, as the endpoint of the store and as that of its STS. A store that
answers with a redirect, and a name that leads to loopback where that is closed, have their own tests.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.integration.security.conftest import Place
from tests.support.dumps import dump
from tests.support.warehouses import warehouse_document

pytestmark = pytest.mark.integration

ENDPOINTS = (
    # Metadata services of clouds.
    "http://169.254.169.254", "http://169.254.169.254/", "http://169.254.169.254:80", "https://169.254.169.254",
    "http://169.254.170.2", "http://169.254.170.23", "http://100.100.100.200", "http://168.63.129.16", "http://192.0.0.192",
    "http://[fd00:ec2::254]", "http://[fd20:ce::254]", "http://metadata", "http://metadata.google.internal",
    "http://METADATA.google.internal.", "http://metadata.goog", "http://instance-data",
    # Other spellings of an address.
    "http://2852039166", "http://0xa9fea9fe", "http://0xA9FEA9FE", "http://025177524776", "http://0251.0376.0251.0376",
    "http://0xa9.0xfe.0xa9.0xfe", "http://169.254.43518", "http://169.16689662", "http://0xa9.254.0251.254",
    "http://169.254.169.254.", "http://0169.254.169.254", "http://127.1", "http://2130706433", "http://0x7f.1",
    "http://017700000001",
    "http://0", "http://0.0.0.0", "http://0.0.0.0:9000", "http://[::]", "http://255.255.255.255", "http://224.0.0.1",
    "http://[ff02::1]",
    # IPv4 inside of IPv6.
    "http://[::ffff:169.254.169.254]", "http://[::ffff:a9fe:a9fe]", "http://[0:0:0:0:0:ffff:a9fe:a9fe]",
    "http://[::169.254.169.254]",
    "http://[::a9fe:a9fe]", "http://[64:ff9b::a9fe:a9fe]", "http://[64:ff9b::169.254.169.254]", "http://[2002:a9fe:a9fe::]",
    "http://[2001:0:a9fe:a9fe::]", "http://[fe80::1]", "http://[fe80::1%25eth0]", "http://[fe80::a9fe:a9fe%eth0]",
    "http://[::ffff:0.0.0.0]",
    # What another parser could take for another host.
    "http://store@169.254.169.254", "http://169.254.169.254@store", "http://user:pass@127.0.0.1:9000",
    "http://store#@169.254.169.254",
    "http://169.254.169.254#store", "http://169.254.169.254?x", "http://store\\@169.254.169.254",
    "http://169.254.169.254\\.store",
    "http:/\\169.254.169.254", "http:169.254.169.254", "//169.254.169.254", "http://169.254.169.254%00.store",
    "http://store%2f169.254.169.254",
    "http://169。254。169。254", "http://①⑥⑨.254.169.254", "http://\uff11\uff16\uff19.254.169.254", "http://[::ffff:①⑥⑨.254.169.254]",
    "http://store\r\nHost: 169.254.169.254", "http://sto\nre", "http://sto\tre", "http://sto re", "http://.store",
    "http://store..x",
    "http://127.0.0.1:99999", "http://127.0.0.1:-1", "http://127.0.0.1:x", "http://[::1", "http://", "http://:80",
    "http://[]",
    # Other schemes and places.
    "file:///etc/passwd", "gopher://127.0.0.1:6379/_x", "ftp://127.0.0.1", "unix:///var/run/docker.sock",
    "ldap://127.0.0.1", "dict://127.0.0.1",
    "javascript:alert(1)", "http://127.0.0.1:9000/../x", "http://127.0.0.1:9000/x/..", "HTTP+UNIX://x",
)  # fmt: skip


async def _make(http: httpx.AsyncClient, place: Place, **profile: str) -> httpx.Response:
    name = f"w{secrets.token_hex(4)}"
    body: dict[str, Any] = warehouse_document(place.store, name=name, key_prefix=name)
    body["storage-profile"] |= {key.replace("_", "-"): value for key, value in profile.items()}
    return await http.post("/management/v1/warehouse", json=body)


@pytest.mark.parametrize("member", ["endpoint", "sts_endpoint"])
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=ascii)
async def test_an_address_that_is_no_store_s_is_refused_by_its_spelling(
    place: Place, http: httpx.AsyncClient, endpoint: str, member: str
) -> None:
    reply = await _make(http, place, **{member: endpoint})
    assert reply.status_code == 400, (endpoint, reply.text)
    said = reply.json()["error"]["message"]
    assert "can't be reached" not in said, "it was called"
    assert "Storage validation failed" not in said, "it was called"


async def test_every_refusal_left_nothing(place: Place, http: httpx.AsyncClient) -> None:
    before = await dump(place.database)
    for endpoint in ENDPOINTS[:3]:
        await _make(http, place, endpoint=endpoint)
    after = await dump(place.database)
    # A secret is kept before its store is asked, and forgotten after; events and the audit tell of both.
    assert {name for name in after if after[name] != before.get(name)} <= {
        "lakeward_vending.secret",
        "lakeward_vending.events",
        "lakeward_vending.audit_record",
    }


class Redirecting:
    """A store that answers every request with a redirect, and counts who follows."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readline()).decode()
        self.asked.append(line.split(" ")[1])
        where = f"http://127.0.0.1:{self.port}/followed"
        writer.write(f"HTTP/1.1 307 x\r\nLocation: {where}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()


@pytest.fixture
async def redirecting() -> AsyncIterator[Redirecting]:
    store = Redirecting()
    server = await asyncio.start_server(store.answer, "127.0.0.1", 0)
    store.port = server.sockets[0].getsockname()[1]
    async with server:
        yield store


@pytest.mark.parametrize("member", ["endpoint", "sts_endpoint"])
async def test_a_redirect_is_an_answer_and_no_instruction(
    place: Place, http: httpx.AsyncClient, redirecting: Redirecting, member: str
) -> None:
    reply = await _make(http, place, **{member: f"http://127.0.0.1:{redirecting.port}"})
    assert 400 <= reply.status_code < 600
    assert redirecting.asked
    assert not [path for path in redirecting.asked if "followed" in path]
