"""`lakeward secrets`, on rows that a service has written."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from lakeward_cli.secrets import move, rotate
from lakeward_components.openbao import OpenBaoServer
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.permits import PermitVerifier
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.rpc import Caller, Host
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.problems import SettingsError
from lakeward_vending.adapters.postgres import migrations
from lakeward_vending.adapters.postgres.sealing import KeyRing
from lakeward_vending.adapters.postgres.secrets import PostgresSecrets
from lakeward_vending.bootstrap import vending
from lakeward_vending.settings import VendingSettings
from tests.support.settling import as_it_came
from tests.support.vending import vaults
from tests.support.vending.fakes import refusal_of
from tests.support.vending.permits import credential
from tests.support.vending.vaults import PASSWORD, Engine

pytestmark = pytest.mark.integration

SCHEMA = "lakeward_vending"
OLD, NEW = b"o" * 32, b"n" * 32


@pytest.fixture
async def openbao(openbao_server: OpenBaoServer) -> AsyncIterator[Engine]:
    async with vaults.engine(openbao_server) as engine:
        yield engine


def environment(url: str, *ring: tuple[str, bytes]) -> dict[str, str]:
    keys = ",".join(f"{key_id}:{base64.b64encode(key).decode()}" for key_id, key in ring)
    return {"LAKEKEEPER__PG_DATABASE_URL_WRITE": url, "LAKEWARD__ENCRYPTION_KEYS": keys}


async def test_the_command_puts_secrets_under_the_first_key_and_counts_them(
    postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await migrate(SecretStr(postgres_url), package=migrations.__name__, schema=SCHEMA)
    async with open_pool(SecretStr(postgres_url), size=2, name="test", schema=SCHEMA) as pool:
        await pool.execute("delete from secret")
        secret_id = uuid4()
        await PostgresSecrets(pool, KeyRing({"old": OLD})).stage(
            secret_id, credential(), staged_by="oidc~anna", warehouse_id=None, now=datetime.now(UTC)
        )
        refusal = await refusal_of(rotate(environment(postgres_url, ("new", NEW))))
        assert refusal.reason == Reason.REASON_SECRET_UNREADABLE
        for count in (1, 0):
            await rotate(environment(postgres_url, ("new", NEW), ("old", OLD)))
            assert capsys.readouterr().out.startswith(f"{count} secrets ")
        found = await PostgresSecrets(pool, KeyRing({"new": NEW})).find(secret_id)
        assert found is not None
        assert found.credential == credential()


async def test_after_a_rotation_the_old_key_is_refused_at_the_start(postgres_url: str) -> None:
    await migrate(SecretStr(postgres_url), package=migrations.__name__, schema=SCHEMA)
    await rotate(environment(postgres_url, ("new", NEW), ("old", OLD)))
    settings = load(VendingSettings, environment(postgres_url, ("old", OLD), ("new", NEW))).settings
    host = Host("authz", settle=as_it_came)
    with pytest.raises(SettingsError, match="begins with a key that a rotation has retired"):
        async with vending(
            settings, authz=host.channel(caller=Caller.CALLER_VENDING), verifier=PermitVerifier([]), remote=False
        ):
            pass


async def test_the_command_moves_secrets_to_a_kv_store_and_home_and_counts_them(
    postgres_url: str, openbao: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    await migrate(SecretStr(postgres_url), package=migrations.__name__, schema=SCHEMA)
    both = environment(postgres_url, ("new", NEW)) | {
        "LAKEKEEPER__KV2__URL": openbao.url,
        "LAKEKEEPER__KV2__SECRET_MOUNT": f"{openbao.mount}/data/iceberg",
        "LAKEKEEPER__KV2__USER": openbao.user,
        "LAKEKEEPER__KV2__PASSWORD": PASSWORD,
    }
    async with open_pool(SecretStr(postgres_url), size=2, name="test", schema=SCHEMA) as pool:
        await pool.execute("delete from secret")
        await pool.execute("delete from encryption_key")
        store, secret_id = PostgresSecrets(pool, KeyRing({"new": NEW})), uuid4()
        await store.stage(secret_id, credential(), staged_by="oidc~anna", warehouse_id=None, now=datetime.now(UTC))
        assert await move(both, to="kv2") == 0
        assert await openbao.keys("iceberg/secret") == [str(secret_id)]
        assert (await refusal_of(store.find(secret_id))).reason == Reason.REASON_SECRET_STORE_UNAVAILABLE
        assert await move(both, to="postgres") == 0
        assert await openbao.keys("iceberg/secret") == []
        found = await store.find(secret_id)
        assert found is not None
        assert found.credential == credential()
        for _ in range(2):
            await move(both, to="kv2")
        await openbao.do("DELETE", f"{openbao.mount}/metadata/iceberg/secret/{secret_id}")
        assert await move(both, to="postgres") == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [f"{count} secrets were elsewhere, and lie in {to} now" for count, to in _MOVED]
    assert f"the secret {secret_id} is not in its store" in err
    with pytest.raises(SettingsError, match="KV2__URL"):
        await move(environment(postgres_url, ("new", NEW)), to="kv2")
    alone = {name: value for name, value in both.items() if "ENCRYPTION" not in name}
    with pytest.raises(SettingsError, match="ENCRYPTION_KEYS"):
        await move(alone | {"LAKEKEEPER__SECRET_BACKEND": "kv2"}, to="postgres")


_MOVED = ((1, "kv2"), (1, "postgres"), (1, "kv2"), (0, "kv2"), (0, "postgres"))
