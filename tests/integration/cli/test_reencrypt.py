"""`lakeward reencrypt`, on rows that a service has written."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from lakeward_cli.reencrypting import reencrypt
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.secrecy import SecretStr
from lakeward_vending.adapters.postgres import migrations
from lakeward_vending.adapters.postgres.sealing import KeyRing
from lakeward_vending.adapters.postgres.secrets import PostgresSecrets
from tests.support.vending.fakes import refusal_of
from tests.support.vending.permits import credential

pytestmark = pytest.mark.integration

SCHEMA = "lakeward_vending"
OLD, NEW = b"o" * 32, b"n" * 32


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
        refusal = await refusal_of(reencrypt(environment(postgres_url, ("new", NEW))))
        assert refusal.reason == Reason.REASON_SECRET_UNREADABLE
        for count in (1, 0):
            await reencrypt(environment(postgres_url, ("new", NEW), ("old", OLD)))
            assert capsys.readouterr().out.startswith(f"{count} secrets ")
        found = await PostgresSecrets(pool, KeyRing({"new": NEW})).find(secret_id)
        assert found.credential == credential()
