"""A real OpenFGA that takes tokens of a real identity provider, asked with client credentials."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lakeward_authz.adapters.openfga.connection import connected
from lakeward_authz.authorization import address_of
from lakeward_components import openfga, openfga_build
from lakeward_components.oidc import TRINO, OidcProvider
from lakeward_components.openfga import OpenFgaServer, Trusted
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.settings.authorization import OpenFgaSettings
from lakeward_servicekit.settings.loading import load

pytestmark = pytest.mark.integration


@pytest.fixture
async def server(oidc: OidcProvider, openfga_server: OpenFgaServer, tmp_path: Path) -> AsyncIterator[OpenFgaServer]:
    del openfga_server  # it has had the program made, where there was none
    programs = openfga_build.build()
    made = await openfga.start(tmp_path, programs=programs, trusted=Trusted(oidc.issuer, oidc.audience))
    try:
        yield made
    finally:
        await made.stop()


def told(server: OpenFgaServer, oidc: OidcProvider, **changed: str) -> OpenFgaSettings:
    given = {
        "ENDPOINT": server.url,
        "STORE_NAME": "by-token",
        "CLIENT_ID": TRINO.id,
        "CLIENT_SECRET": TRINO.secret,
        "TOKEN_ENDPOINT": oidc.token_endpoint,
        **changed,
    }
    environ = {f"LAKEKEEPER__OPENFGA__{name}": value for name, value in given.items()}
    return load(OpenFgaSettings, environ).settings


async def test_a_store_is_asked_with_a_token_that_client_credentials_gave(
    server: OpenFgaServer, oidc: OidcProvider
) -> None:
    # a key beside them is not used, as upstream has it
    async with connected(address_of(told(server, oidc, API_KEY="not-a-key"))) as store:
        await store.migrate()
        await store.ping()


@pytest.mark.parametrize(
    "changed", [{"CLIENT_SECRET": "wrong"}, {"CLIENT_ID": "nobody"}, {"TOKEN_ENDPOINT": "http://127.0.0.1:1/token"}]
)
async def test_credentials_that_give_no_token_decide_nothing_and_are_not_shown(
    server: OpenFgaServer, oidc: OidcProvider, changed: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(address_of(told(server, oidc, **changed))) as store:
        with pytest.raises(Refusal) as refused:
            await store.migrate()
    assert refused.value.reason == Reason.REASON_AUTHORIZATION_UNAVAILABLE
    assert TRINO.secret not in str(refused.value) + caplog.text
