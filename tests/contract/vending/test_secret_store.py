from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Protocol
from uuid import UUID, uuid4

import pytest

from lakeward_components.openbao import OpenBaoServer
from lakeward_servicekit.audit.postgres import PostgresAudit, Wanted
from lakeward_servicekit.authorization.principals import user
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.events.acting import act_for
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.postgres.migrating import differences, migrate
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr
from lakeward_vending.adapters.caching.secrets import CachedSecrets
from lakeward_vending.adapters.postgres import migrations
from lakeward_vending.adapters.postgres.schema import METADATA
from lakeward_vending.adapters.postgres.sealing import KeyRing
from lakeward_vending.adapters.postgres.secrets import PostgresSecrets
from lakeward_vending.application.ports import SecretStore, StoredSecret
from tests.support.event_contracts import checked
from tests.support.vending import vaults
from tests.support.vending.fakes import START, FakeSecrets, refusal_of
from tests.support.vending.permits import credential

SCHEMA = "lakeward_vending"
ONE, TWO = b"1" * 32, b"2" * 32
KEYS = {"one": ONE, "two": TWO}


class Rings(Protocol):
    """Opens the same rows with another ring of keys; the first one seals."""

    def __call__(self, *key_ids: str) -> SecretStore: ...


@asynccontextmanager
async def fake() -> AsyncIterator[Rings]:
    rows = FakeSecrets()

    def with_keys(*key_ids: str) -> SecretStore:
        rows.keys = list(key_ids)
        return rows

    yield with_keys


@asynccontextmanager
async def pool_of(url: str) -> AsyncIterator[Pool]:
    await migrate(SecretStr(url), package=migrations.__name__, schema=SCHEMA)
    async with open_pool(SecretStr(url), size=4, name="test", schema=SCHEMA) as pool:
        yield pool


@asynccontextmanager
async def postgres(url: str) -> AsyncIterator[Rings]:
    async with pool_of(url) as pool:
        await pool.execute("delete from secret")
        await pool.execute("delete from encryption_key")
        yield lambda *key_ids: PostgresSecrets(pool, KeyRing({key_id: KEYS[key_id] for key_id in key_ids}))


@asynccontextmanager
async def cached() -> AsyncIterator[Rings]:
    async with fake() as rings:
        yield lambda *key_ids: CachedSecrets(rings(*key_ids))


@asynccontextmanager
async def kv2(url: str, server: OpenBaoServer) -> AsyncIterator[Rings]:
    async with pool_of(url) as pool, vaults.engine(server) as engine, engine.vault() as vault:
        await pool.execute("delete from secret")
        yield lambda *key_ids: PostgresSecrets(pool, None, vault=vault, keeps="kv2")


Opener = Callable[[], AbstractAsyncContextManager[Rings]]
ENCRYPTED = ["fake", "cached", pytest.param("postgres", marks=pytest.mark.integration)]
STORES = [*ENCRYPTED, pytest.param("kv2", marks=pytest.mark.integration)]


def opener_of(request: pytest.FixtureRequest) -> Opener:
    # servers start outside of the loop that the tests run in
    match request.param:
        case "postgres":
            return partial(postgres, request.getfixturevalue("postgres_url"))
        case "kv2":
            return partial(kv2, request.getfixturevalue("postgres_url"), request.getfixturevalue("openbao_server"))
    return {"fake": fake, "cached": cached}[request.param]


@pytest.fixture(params=STORES)
def opener(request: pytest.FixtureRequest) -> Opener:
    return opener_of(request)


@pytest.fixture
async def secrets(opener: Opener) -> AsyncIterator[SecretStore]:
    async with opener() as opened:
        yield opened("one")


@pytest.fixture(params=ENCRYPTED)
def encrypting(request: pytest.FixtureRequest) -> Opener:
    return opener_of(request)


@pytest.fixture
async def rings(encrypting: Opener) -> AsyncIterator[Rings]:
    async with encrypting() as opened:
        yield opened


async def given(secrets: SecretStore, *, age: dt.timedelta = dt.timedelta(), warehouse_id: UUID | None = None) -> UUID:
    secret_id = uuid4()
    await secrets.stage(secret_id, credential(), staged_by="oidc~alice", warehouse_id=warehouse_id, now=START - age)
    return secret_id


async def there(secrets: SecretStore, secret_id: UUID) -> StoredSecret:
    found = await secrets.find(secret_id)
    assert found is not None
    return found


async def test_what_is_staged_is_found_and_belongs_to_nobody(secrets: SecretStore) -> None:
    found = await there(secrets, await given(secrets))
    assert (found.credential, found.warehouse_id) == (credential(), None)


async def test_an_unknown_secret_is_not_found(secrets: SecretStore) -> None:
    assert await secrets.find(uuid4()) is None


async def test_a_secret_is_one_warehouse_s_once_it_is_kept(secrets: SecretStore) -> None:
    secret_id, warehouse, other = await given(secrets), uuid4(), uuid4()
    for _ in range(2):
        assert await secrets.keep(secret_id, warehouse_id=warehouse, now=START)
    assert (await there(secrets, secret_id)).warehouse_id == warehouse
    assert not await secrets.keep(secret_id, warehouse_id=other, now=START)
    assert (await there(secrets, secret_id)).warehouse_id == warehouse


async def test_a_secret_that_is_staged_for_a_warehouse_is_kept_by_that_one_alone(secrets: SecretStore) -> None:
    warehouse = uuid4()
    secret_id = await given(secrets, warehouse_id=warehouse)
    assert not await secrets.keep(secret_id, warehouse_id=uuid4(), now=START)
    assert await secrets.keep(secret_id, warehouse_id=warehouse, now=START)


async def test_an_unknown_secret_can_not_be_kept(secrets: SecretStore) -> None:
    assert not await secrets.keep(uuid4(), warehouse_id=uuid4(), now=START)


async def test_a_forgotten_secret_is_gone_and_forgetting_again_is_fine(secrets: SecretStore) -> None:
    secret_id = await given(secrets)
    await secrets.keep(secret_id, warehouse_id=uuid4(), now=START)
    await secrets.find(secret_id)
    await secrets.forget(secret_id)
    await secrets.forget(secret_id)
    assert await secrets.find(secret_id) is None


async def test_a_sweep_takes_old_staged_secrets_a_few_at_a_time_and_spares_the_others(secrets: SecretStore) -> None:
    hour = dt.timedelta(hours=1)
    young, kept = await given(secrets), await given(secrets, age=2 * hour)
    await secrets.keep(kept, warehouse_id=uuid4(), now=START)
    old = [await given(secrets, age=2 * hour) for _ in range(3)]
    assert await secrets.sweep(staged_before=START - hour, limit=2) == 2
    assert await secrets.sweep(staged_before=START - hour, limit=2) == 1
    assert await secrets.sweep(staged_before=START - hour, limit=2) == 0
    for secret_id in (young, kept):
        assert (await there(secrets, secret_id)).credential == credential()
    for secret_id in old:
        assert await secrets.find(secret_id) is None


async def test_every_key_of_the_ring_reads_and_a_missing_one_is_named(rings: Rings) -> None:
    secret_id = await given(rings("one"))
    assert (await there(rings("two", "one"), secret_id)).credential == credential()
    refusal = await refusal_of(rings("two").find(secret_id))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_SECRET_UNREADABLE, {"key_id": "one"})


async def test_after_reencryption_the_old_key_can_go(rings: Rings) -> None:
    ids = [await given(rings("one")) for _ in range(3)]
    both = rings("two", "one")
    assert [await both.reencrypt(limit=2) for _ in range(3)] == [2, 1, 0]
    for secret_id in ids:
        assert (await there(rings("two"), secret_id)).credential == credential()


async def test_a_reencryption_without_the_old_key_changes_nothing(rings: Rings) -> None:
    secret_id = await given(rings("one"))
    assert (await refusal_of(rings("two").reencrypt(limit=5))).reason == Reason.REASON_SECRET_UNREADABLE
    assert (await there(rings("one"), secret_id)).credential == credential()


async def test_a_retired_key_encrypts_nothing_more_whoever_has_it_first(rings: Rings) -> None:
    before = await given(rings("one"))
    await rings("two", "one").retire()
    refusal = await refusal_of(given(rings("one", "two")))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_SECRET_UNREADABLE, {"key_id": "one"})
    assert "retired" in refusal.message
    assert (await there(rings("two", "one"), before)).credential == credential()
    await given(rings("two"))
    await rings("one", "two").retire()
    await given(rings("one"))


@pytest.mark.integration
async def test_a_rotation_waits_for_what_is_being_encrypted_with_an_old_key(postgres_url: str) -> None:
    async with pool_of(postgres_url) as pool:
        await pool.execute("delete from secret")
        old, new = (PostgresSecrets(pool, KeyRing({k: KEYS[k] for k in ids})) for ids in (("one",), ("two", "one")))
        await old.key_retired()
        async with pool.transaction() as staging:
            await staging.execute("select from encryption_key where key_id = 'one' for share")
            retiring = asyncio.create_task(new.retire())
            waiting = (
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%encryption_key%'"
            )
            while not await pool.fetchval(waiting):
                assert not retiring.done()
        await retiring
        assert await old.key_retired()
        assert not await new.key_retired()


@pytest.mark.integration
async def test_the_rows_hold_nothing_of_a_secret_and_open_in_their_own_place_alone(postgres_url: str) -> None:
    async with pool_of(postgres_url) as pool:
        secrets = PostgresSecrets(pool, KeyRing({"one": ONE}))
        await secrets.retire()
        mine, other = await given(secrets), await given(secrets)
        rows = await pool.fetch("select s::text as row from secret s")
        assert not [row for row in rows if "hush" in row["row"] or b"hush".hex() in row["row"]]
        await pool.execute(
            "update secret s set nonce = o.nonce, ciphertext = o.ciphertext from secret o"
            " where s.secret_id = $1 and o.secret_id = $2",
            mine,
            other,
        )
        assert (await refusal_of(secrets.find(mine))).reason == Reason.REASON_SECRET_UNREADABLE


@pytest.mark.integration
async def test_the_migrated_schema_is_the_one_that_is_described(postgres_url: str) -> None:
    await migrate(SecretStr(postgres_url), package=migrations.__name__, schema=SCHEMA)
    found = await differences(SecretStr(postgres_url), schema=SCHEMA, metadata=METADATA)
    assert [each for each in found if "event_log_" not in each] == []  # partitions


@pytest.mark.integration
@pytest.mark.parametrize("audits", [True, False])
async def test_each_change_of_a_secret_is_told_and_audited_once_and_nothing_of_what_it_is(
    postgres_url: str, audits: bool
) -> None:
    await migrate(SecretStr(postgres_url), package=migrations.__name__, schema=SCHEMA)
    async with open_pool(SecretStr(postgres_url), size=4, name="test", schema=SCHEMA) as pool:
        await pool.execute("delete from outbox; delete from secret; delete from audit_record")
        old, new, turned = (
            PostgresSecrets(pool, KeyRing({key_id: KEYS[key_id] for key_id in keys}), audits=audits)
            for keys in (("one",), ("one", "two"), ("two", "one"))
        )
        act_for(user("oidc~anna"))
        warehouse_id, kept, unused = uuid4(), uuid4(), uuid4()
        for secret_id in (kept, unused):
            await old.stage(
                secret_id, credential(), staged_by="oidc~anna", warehouse_id=None, now=START, project_id="p"
            )
        for _ in range(2):
            assert await old.keep(kept, warehouse_id=warehouse_id, now=START)
        assert await old.sweep(staged_before=START + dt.timedelta(hours=1), limit=10) == 1
        await turned.reencrypt(limit=10)
        for _ in range(2):
            await new.forget(kept)
        rows = await pool.fetch("select event_id, stream, kind, verb, body from outbox order by outbox_id")
        recorded = await PostgresAudit(pool).read(Wanted(START, START + dt.timedelta(days=36500)), limit=10)
    assert {row["stream"] for row in rows} == {"vending-p"}
    told = [checked(Event(*row)) for row in rows]
    assert [(row["verb"], each["subject"]) for row, each in zip(rows, told, strict=True)] == [
        ("stored", str(kept)),
        ("stored", str(unused)),
        ("kept", str(kept)),
        ("forgotten", str(unused)),
        ("reencrypted", str(kept)),
        ("forgotten", str(kept)),
    ]
    assert told[2]["warehouseid"] == str(warehouse_id)
    assert {each["principal"] for each in told} == {"oidc~anna"}
    secret = json.loads(credential().document())["secret-access-key"]
    assert not any(secret in row["body"].decode() for row in rows)
    of_events = [(row["event_id"], each["type"], each["subject"]) for row, each in zip(rows, told, strict=True)]
    found = [(each.audit_id, each.action, each.object_id) for each in recorded]
    # two of one millisecond are in the order of their ids, which is none
    assert sorted(found) == sorted(of_events if audits else [])
    assert {(each.kind, each.project_id, each.principal) for each in recorded} <= {("credential", "p", "oidc~anna")}
    assert secret not in str(recorded)
