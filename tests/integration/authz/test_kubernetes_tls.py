"""What goes over the wire to an API server, with one of the test's own: it speaks TLS and answers as the API does.

Whether its answers are the API's own is for the tests with a real one, which not every machine has.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lakeward_authz.application.identifying import Authenticator
from lakeward_authz.authentication import open_authenticator
from lakeward_authz.settings import AuthenticationSettings
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.settings.loading import load
from tests.support.certificates import Authority
from tests.support.reviews import ACCEPTED, SPARK, service_token

pytestmark = pytest.mark.integration
LATER = 4_000_000_000


@dataclass
class ApiServer:
    """Requests that arrived, whole, and connections that were made."""

    port: int = 0
    connections: int = 0
    requests: list[tuple[str, dict[str, str], object]] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("ascii"):
                line, *lines = head.strip().split("\r\n")
                headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in lines)}
                asked = json.loads(await reader.readexactly(int(headers["content-length"])))
                self.requests.append((line, headers, asked))
                body = json.dumps({**asked, "status": ACCEPTED}).encode()
                writer.write(b"HTTP/1.1 201 Created\r\ncontent-type: application/json\r\n")
                writer.write(b"content-length: %d\r\n\r\n%s" % (len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def api_server(authority: Authority) -> AsyncIterator[ApiServer]:
    pair = authority.issue("api")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    served = ApiServer()
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0, ssl=context)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def own_token(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text("authz.own.token\n", encoding="ascii")
    return file


def settings(authority: Authority, own_token: Path, **more: str) -> AuthenticationSettings:
    environ = {
        "LAKEKEEPER__ENABLE_KUBERNETES_AUTHENTICATION": "true",
        "LAKEKEEPER__KUBERNETES_AUTHENTICATION_AUDIENCE": "lake",
        "LAKEWARD__KUBERNETES__CA_FILE": str(authority.certificate),
        "LAKEWARD__KUBERNETES__TOKEN_FILE": str(own_token),
        **more,
    }
    return load(AuthenticationSettings, environ).settings


async def reason_of(authenticator: Authenticator, text: str) -> int:
    with pytest.raises(Refusal) as refusal:
        await authenticator.identify(f"Bearer {text}")
    return refusal.value.reason


async def test_a_pod_asks_its_own_cluster_about_a_token_over_one_connection(
    authority: Authority, own_token: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with api_server(authority) as api:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(api.port))
        async with open_authenticator(settings(authority, own_token), []) as authenticator:
            tokens = [service_token(exp=LATER, jti=str(number)) for number in range(3)]
            found = [await authenticator.identify(f"Bearer {each}") for each in (*tokens, *tokens)]
    assert {each.principal.user_id for each in found} == {"kubernetes~u-1"}
    assert {each.profile.name for each in found if each.profile is not None} == {SPARK}
    assert api.connections == 1
    assert [line for line, _, _ in api.requests] == ["POST /apis/authentication.k8s.io/v1/tokenreviews HTTP/1.1"] * 3
    assert {headers["authorization"] for _, headers, _ in api.requests} == {"Bearer authz.own.token"}


async def test_an_api_server_of_another_authority_gets_neither_our_token_nor_the_callers(
    authority: Authority, own_token: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with api_server(Authority(tmp_path / "other")) as impostor:
        address = {"LAKEWARD__KUBERNETES__API_SERVER": f"https://127.0.0.1:{impostor.port}"}
        async with open_authenticator(settings(authority, own_token, **address), []) as authenticator:
            with caplog.at_level(logging.WARNING):
                reason = await reason_of(authenticator, service_token(exp=LATER))
    assert reason == Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE
    assert impostor.requests == []
    assert any("authority that is not trusted" in str(vars(record).get("why")) for record in caplog.records)
