"""Every outbound client trusts what SSL_CERT_FILE and SSL_CERT_DIR hold, and says what a failed handshake means."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import asyncpg
import httpx
import pytest
import uvloop

from lakeward_servicekit import tls
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import open_connection
from lakeward_servicekit.rpc import ChannelSecurity, Host, ServerSecurity, connect, is_serving
from lakeward_servicekit.secrecy import SecretStr
from tests.support.certificates import Authority, Pair

pytestmark = pytest.mark.integration

Client = Callable[[str], str]


class _Store(BaseHTTPRequestHandler):
    """Enough of a store for each client to be answered."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = b"hello"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        del request, client_address  # a client that refuses us says why itself


@contextmanager
def _serving(pair: Pair) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    with _Server(("127.0.0.1", 0), _Store) as server:
        # Handshakes happen where a request is read, so that one that fails holds nobody else up.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _by_httpx(url: str) -> str:
    with httpx.Client(verify=tls.shared_context()) as client:
        return client.get(f"{url}/lake/key").text


def _by_httpx_on_asyncio(url: str) -> str:
    return asyncio.run(_get(url))


def _by_httpx_on_uvloop(url: str) -> str:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_get(url))


async def _get(url: str) -> str:
    async with httpx.AsyncClient(verify=tls.shared_context()) as client:
        return (await client.get(f"{url}/lake/key")).text


_CLIENTS: list[Client] = [_by_httpx, _by_httpx_on_asyncio, _by_httpx_on_uvloop]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


class _Trust:
    names: ClassVar = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture(autouse=True)
def _nothing_trusted_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _Trust.names:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("client", _CLIENTS)
def test_a_private_authority_is_trusted_when_ssl_cert_file_names_it(
    client: Client, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _serving(authority.issue()) as url:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        assert client(url) == "hello"


@pytest.mark.parametrize("client", _CLIENTS)
def test_a_private_authority_is_trusted_when_ssl_cert_dir_holds_it_under_any_name(
    client: Client, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "trusted"
    folder.mkdir()
    (folder / "company-root.crt").write_bytes(authority.certificate.read_bytes())
    (folder / "readme.txt").write_text("no certificate")
    with _serving(authority.issue()) as url:
        monkeypatch.setenv("SSL_CERT_DIR", str(folder))
        assert client(url) == "hello"


@pytest.mark.parametrize("client", _CLIENTS)
def test_an_authority_nobody_named_is_not_trusted_and_the_cure_is_said(client: Client, authority: Authority) -> None:
    with _serving(authority.issue()) as url, pytest.raises(Exception) as raised:
        client(url)
    explained = tls.explain(raised.value)
    assert explained is not None
    assert "SSL_CERT_FILE" in explained
    assert "not trusted" in explained


@pytest.mark.parametrize("client", _CLIENTS)
def test_an_authoritys_own_certificate_as_a_servers_is_refused_and_the_cure_is_said(
    client: Client, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    with _serving(authority.own) as url, pytest.raises(Exception) as raised:
        client(url)
    explained = tls.explain(raised.value)
    assert explained is not None
    assert "CaUsedAsEndEntity" in explained
    assert "subjectAltName" in explained


@pytest.mark.parametrize("client", _CLIENTS)
def test_a_certificate_for_another_host_is_told_as_such(
    client: Client, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    with _serving(authority.issue(hosts=("elsewhere.example",))) as url, pytest.raises(Exception) as raised:
        client(url)
    assert "another host" in (tls.explain(raised.value) or "")


@pytest.mark.parametrize("client", _CLIENTS)
def test_a_certificate_that_has_expired_is_told_as_such(
    client: Client, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    with _serving(authority.issue(expired=True)) as url, pytest.raises(Exception) as raised:
        client(url)
    assert "expired" in (tls.explain(raised.value) or "")


def test_public_authorities_stay_trusted_beside_a_private_one(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = len(tls.client_context().get_ca_certs())
    assert public > 50
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    subjects = [each["subject"] for each in tls.client_context().get_ca_certs()]
    assert ((("commonName", "authority"),),) in subjects
    assert len(subjects) > 50


def test_an_explicit_bundle_is_trusted_alone(authority: Authority) -> None:
    context = tls.client_context(ca_file=str(authority.certificate))
    assert len(context.get_ca_certs()) == 1


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_a_name_that_leads_nowhere_is_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    with pytest.raises(tls.TlsSetupError, match=f"{name} names"):
        tls.shared_context()


def test_a_file_without_a_certificate_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty.pem").write_text("nothing here")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "empty.pem"))
    with pytest.raises(tls.TlsSetupError, match="holds no PEM certificate"):
        tls.shared_context()


async def test_services_meet_over_tls_and_none_meets_one_whose_authority_it_does_not_know(
    authority: Authority, tmp_path: Path
) -> None:
    leaf, stranger = authority.issue(), Authority(tmp_path / "stranger")
    serving = ServerSecurity(leaf.certificate.read_bytes(), leaf.key.read_bytes(), client_ca=None)
    async with Host("catalog").serve("127.0.0.1:0", security=serving) as port:
        for ca, met in ((authority, True), (stranger, False)):
            security = ChannelSecurity(ca.certificate.read_bytes())
            async with connect(f"127.0.0.1:{port}", service="catalog", security=security) as channel:
                assert await is_serving(channel, seconds=5.0) is met


@asynccontextmanager
async def _tls_before_postgres(url: str, pair: Pair) -> AsyncIterator[str]:
    """Postgres has no TLS in every build: this answers its SSLRequest, and passes on what it decrypts."""
    parts = urlsplit(url)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readexactly(8)
            writer.write(b"S")
            await writer.start_tls(context)
            far_reader, far_writer = await asyncio.open_connection(parts.hostname, parts.port)
            await asyncio.gather(_pass(reader, far_writer), _pass(far_reader, writer))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{port}").geturl()
    finally:
        server.close()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def test_postgres_is_verified_with_ssl_cert_file(
    postgres_url: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _tls_before_postgres(postgres_url, authority.issue()) as url:
        verified = SecretStr(f"{url}?sslmode=verify-full")
        with pytest.raises(Refusal) as refused:
            async with open_connection(verified, name="t"):
                raise AssertionError("connected to a server that nobody vouches for")
        assert refused.value.reason == Reason.REASON_DATABASE_UNAVAILABLE
        assert "not trusted" in (tls.explain(refused.value) or "")
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        async with open_connection(verified, name="t") as connection:
            assert await connection.fetchval("select 1") == 1
        monkeypatch.delenv("SSL_CERT_FILE")
        async with open_connection(verified, name="t", root_cert=authority.certificate) as connection:
            assert await connection.fetchval("select 1") == 1


async def test_a_postgres_with_an_authoritys_certificate_is_refused(postgres_url: str, authority: Authority) -> None:
    async with _tls_before_postgres(postgres_url, authority.own) as url:
        with pytest.raises(Refusal) as refused:
            async with open_connection(
                SecretStr(f"{url}?sslmode=verify-ca"), name="t", root_cert=authority.certificate
            ):
                raise AssertionError("connected")
    assert "CaUsedAsEndEntity" in (tls.explain(refused.value) or "")


def test_an_unknown_sslmode_is_told(postgres_url: str) -> None:
    async def connect() -> None:
        async with open_connection(SecretStr(f"{postgres_url}?sslmode=maybe"), name="t"):
            pass

    with pytest.raises(ValueError, match="sslmode is 'maybe'"):
        asyncio.run(connect())


def test_other_errors_are_not_explained_as_tls() -> None:
    assert tls.explain(ValueError("no")) is None
    assert tls.explain(asyncpg.PostgresError("no")) is None


def test_the_environment_is_as_it_was() -> None:
    assert not any(name in os.environ for name in _Trust.names)
