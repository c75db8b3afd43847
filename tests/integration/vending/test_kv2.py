"""A KV v2 engine of a real OpenBao: logins, mounts, TLS, and what becomes of callers while it is away."""

from __future__ import annotations

import dataclasses
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from lakeward_components import blocking, openbao
from lakeward_components.openbao import OpenBaoServer
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.settings.problems import SettingsError
from lakeward_vending.application.ports import Vault
from lakeward_vending.application.refusals import SecretStoreUnavailable
from tests.support.proxy import proxy
from tests.support.vending import vaults
from tests.support.vending.permits import credential
from tests.support.vending.vaults import PASSWORD, Engine

pytestmark = pytest.mark.integration


@pytest.fixture
async def engine(openbao_server: OpenBaoServer) -> AsyncIterator[Engine]:
    async with vaults.engine(openbao_server) as made:
        yield made


async def works(vault: Vault) -> None:
    """Everything that vending does."""
    secret_id = uuid4()
    assert await vault.get(secret_id) is None
    for _ in range(2):
        await vault.put(secret_id, credential())
    assert await vault.get(secret_id) == credential()
    await vault.put(secret_id, credential(secret_access_key="another"))
    assert await vault.get(secret_id) == credential(secret_access_key="another")
    for _ in range(2):
        await vault.delete(secret_id)
    assert await vault.get(secret_id) is None
    await vault.put(secret_id, credential())
    assert await vault.get(secret_id) == credential()


async def test_a_user_with_no_more_rights_than_are_documented_can_do_all_of_it(engine: Engine) -> None:
    async with engine.vault() as vault:
        await works(vault)
    assert len(await engine.keys()) == 1


async def test_a_path_as_policies_have_it_is_a_folder_of_the_mount(engine: Engine) -> None:
    async with engine.vault(SECRET_MOUNT=f"{engine.mount}/data/iceberg") as vault:
        await works(vault)
    assert len(await engine.keys("iceberg/secret")) == 1


async def test_an_engine_that_demands_the_version_that_is_followed_is_no_other(openbao_server: OpenBaoServer) -> None:
    async with vaults.engine(openbao_server, cas_required="true") as engine, engine.vault() as vault:
        await works(vault)


async def test_a_version_that_somebody_deleted_is_absent_and_can_be_written_again(engine: Engine) -> None:
    secret_id = uuid4()
    async with engine.vault() as vault:
        await vault.put(secret_id, credential())
        await engine.do("DELETE", f"{engine.mount}/data/secret/{secret_id}")
        assert await vault.get(secret_id) is None
        await vault.put(secret_id, credential())
        assert await vault.get(secret_id) == credential()


async def test_a_token_lets_in_as_it_is_and_from_a_file_that_an_agent_keeps(engine: Engine, tmp_path: Path) -> None:
    made = await engine.do("POST", "auth/token/create", {"policies": [engine.mount], "ttl": "1h"})
    token = made["auth"]["client_token"]
    (tmp_path / "token").write_text(token + "\n")
    for said in ({"TOKEN": token}, {"TOKEN_PATH": str(tmp_path / "token")}):
        async with engine.vault(LOGIN="token", **said) as vault:
            await works(vault)


async def test_an_app_role_lets_in(engine: Engine) -> None:
    await engine.do("POST", f"sys/auth/{engine.mount}", {"type": "approle"})
    role = f"auth/{engine.mount}/role/vending"
    await engine.do("POST", role, {"token_policies": [engine.mount], "token_ttl": "1h"})
    role_id = (await engine.do("GET", f"{role}/role-id"))["data"]["role_id"]
    secret_id = (await engine.do("POST", f"{role}/secret-id"))["data"]["secret_id"]
    async with engine.vault(LOGIN="approle", LOGIN_MOUNT=engine.mount, ROLE_ID=role_id, SECRET_ID=secret_id) as vault:
        await works(vault)


async def test_a_service_accounts_token_lets_in_where_the_store_knows_the_clusters_key(
    engine: Engine, tmp_path: Path
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    await engine.do("POST", f"sys/auth/{engine.mount}", {"type": "jwt"})
    await engine.do(
        "POST",
        f"auth/{engine.mount}/config",
        {"jwt_validation_pubkeys": [public.decode()], "jwt_supported_algs": ["ES256"]},
    )
    role = {"role_type": "jwt", "bound_audiences": ["bao"], "user_claim": "sub", "token_policies": [engine.mount]}
    await engine.do("POST", f"auth/{engine.mount}/role/vending", role)
    now = int(time.time())
    claims = {"sub": "system:serviceaccount:lake:vending", "aud": "bao", "iat": now, "exp": now + 600}
    (tmp_path / "token").write_text(jwt.encode(claims, key, algorithm="ES256"))
    said = {"KUBERNETES_ROLE": "vending", "KUBERNETES_TOKEN_PATH": str(tmp_path / "token")}
    async with engine.vault(LOGIN="kubernetes", LOGIN_MOUNT=engine.mount, **said) as vault:
        await works(vault)


async def test_a_token_that_is_revoked_under_our_hands_is_followed_by_another(engine: Engine) -> None:
    secret_id = uuid4()
    async with engine.vault() as vault:
        await vault.put(secret_id, credential())
        await engine.do("POST", "sys/leases/revoke-prefix/auth/userpass", {})
        held = vault._session._held
        assert held is not None
        # as if it had been got a while ago: one that is seconds old is not taken for revoked
        vault._session._held = dataclasses.replace(held, since=held.since - 60)
        assert await vault.get(secret_id) == credential()


async def test_a_wrong_password_is_refused_by_the_store_s_name_and_shown_nowhere(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with engine.vault(PASSWORD="hush-wrong") as vault:
            with pytest.raises(SecretStoreUnavailable) as refused:
                await vault.get(uuid4())
    assert engine.url in refused.value.message
    assert "auth/userpass" in refused.value.message
    assert "hush" not in refused.value.message + caplog.text


async def test_a_mount_that_is_not_ours_is_refused_by_what_its_policy_must_allow(engine: Engine) -> None:
    async with engine.vault(SECRET_MOUNT="secret") as vault:
        with pytest.raises(SecretStoreUnavailable, match="below data/"):
            await vault.put(uuid4(), credential())


async def test_nothing_of_a_secret_or_a_login_is_logged(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with engine.vault() as vault:
            await works(vault)
            held = vault._session._held
            assert held is not None
            token = held.granted.token.get_secret_value()
    for secret in (PASSWORD, token, "hush"):
        assert secret not in caplog.text


async def test_while_the_store_is_away_calls_are_refused_at_once_and_go_on_when_it_is_back(engine: Engine) -> None:
    at = urlsplit(engine.url)
    assert at.hostname is not None
    assert at.port is not None
    secret_id = uuid4()
    async with proxy(at.hostname, at.port) as line, engine.vault(URL=line.instead_of(engine.url)) as vault:
        await vault.put(secret_id, credential())
        await line.refuse()
        with pytest.raises(SecretStoreUnavailable) as refused:
            await vault.get(secret_id)
        assert refused.value.reason == Reason.REASON_SECRET_STORE_UNAVAILABLE
        await line.accept()
        assert await vault.get(secret_id) == credential()


async def test_a_store_that_is_away_at_the_start_is_used_once_it_is_there(engine: Engine) -> None:
    at = urlsplit(engine.url)
    assert at.hostname is not None
    assert at.port is not None
    async with proxy(at.hostname, at.port) as line:
        await line.refuse()
        async with engine.vault(URL=line.instead_of(engine.url)) as vault:
            with pytest.raises(SecretStoreUnavailable):
                await vault.get(uuid4())
            await line.accept()
            await works(vault)


@pytest.fixture(scope="module")
def secure_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenBaoServer]:
    server = blocking.run(openbao.start(tmp_path_factory.mktemp("openbao-tls"), tls=True))
    yield server
    blocking.run(server.stop())


async def test_a_store_is_trusted_by_its_authority_alone(secure_server: OpenBaoServer, tmp_path: Path) -> None:
    async with vaults.engine(secure_server) as engine:
        async with engine.vault(CA_FILE=str(secure_server.ca_file)) as vault:
            await works(vault)
        async with engine.vault() as vault:
            with pytest.raises(SecretStoreUnavailable, match="authority that is not trusted"):
                await vault.get(uuid4())
        (tmp_path / "none.pem").write_text(json.dumps("no certificate"))
        with pytest.raises(SettingsError, match="KV2__CA_FILE"):
            async with engine.vault(CA_FILE=str(tmp_path / "none.pem")):
                pass
