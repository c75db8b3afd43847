"""The calls that vending makes, over TLS, on both event loops."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.adapters.network.addresses import AddressGuard
from lakeward_vending.adapters.network.calls import HttpCalls, Reply
from lakeward_vending.domain.addresses import AddressRules
from tests.support.certificates import Authority, Pair
from tests.support.vending.fakes import FakeResolver

pytestmark = pytest.mark.integration

Loop = Callable[[], asyncio.AbstractEventLoop]


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def loop(request: pytest.FixtureRequest) -> Loop:
    factory: Loop = request.param
    return factory


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    made = Authority(tmp_path / "authority")
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.certificate))
    return made


@asynccontextmanager
async def serving(pair: Pair) -> AsyncIterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def called(pair: Pair, *, host: str = "localhost", body: bytes = b"") -> Reply:
    async with serving(pair) as port:
        resolver = FakeResolver({host: [ipaddress.ip_address("127.0.0.1")]})
        calls = HttpCalls(AddressGuard(AddressRules(), resolver))
        try:
            url = f"https://{host}:{port}/"
            await calls.send("PUT", url, headers={}, body=body, repeatable=True)
            return await calls.send("PUT", url, headers={}, body=body, repeatable=True)
        finally:
            calls.close()
            await asyncio.sleep(0)  # lets the loop take the connections down


def run(loop: Loop, work: Awaitable[Reply]) -> Reply:
    async def main() -> Reply:
        return await work

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(main())


def fault(loop: Loop, work: Awaitable[Reply]) -> str:
    with pytest.raises(Refusal) as caught:
        run(loop, work)
    assert caught.value.reason == Reason.REASON_STORE_UNAVAILABLE
    return caught.value.message


def test_a_private_authority_is_trusted_when_the_environment_names_it(loop: Loop, authority: Authority) -> None:
    assert run(loop, called(authority.issue())) == Reply(200, b"hello")


def test_a_large_body_goes_through(loop: Loop, authority: Authority) -> None:
    assert run(loop, called(authority.issue(), body=bytes(5_000_000))) == Reply(200, b"hello")


def test_an_authority_that_nobody_named_is_not_trusted_and_the_cure_is_said(
    loop: Loop, authority: Authority, tmp_path: Path
) -> None:
    del authority
    assert "SSL_CERT_FILE" in fault(loop, called(Authority(tmp_path / "other").issue()))


def test_an_authority_s_own_certificate_is_refused_and_the_cure_is_said(loop: Loop, authority: Authority) -> None:
    assert "CaUsedAsEndEntity" in fault(loop, called(authority.own))


def test_the_certificate_is_held_against_the_host_and_not_the_address(loop: Loop, authority: Authority) -> None:
    pair = authority.issue(hosts=("store.test",))
    assert run(loop, called(pair, host="store.test")) == Reply(200, b"hello")
    assert "another host" in fault(loop, called(pair, host="elsewhere.test"))


def test_a_certificate_that_has_expired_is_told_as_such(loop: Loop, authority: Authority) -> None:
    assert "expired" in fault(loop, called(authority.issue(expired=True)))
