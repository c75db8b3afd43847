"""Secrets on their way from Postgres to a vault and back: readable at every moment, and wherever it ends too early."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Literal
from uuid import UUID, uuid4

import pytest

from lakeward_components.openbao import OpenBaoServer
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr
from lakeward_vending.adapters.postgres import migrations
from lakeward_vending.adapters.postgres.sealing import KeyRing
from lakeward_vending.adapters.postgres.secrets import PostgresSecrets
from lakeward_vending.application.ports import Vault
from lakeward_vending.application.refusals import SecretStoreUnavailable
from lakeward_vending.application.secrets import SecretMoves
from lakeward_vending.domain.credentials import Credential
from tests.support.vending import vaults
from tests.support.vending.fakes import START
from tests.support.vending.permits import credential
from tests.support.vending.vaults import FakeVault

pytestmark = pytest.mark.integration

SCHEMA = "lakeward_vending"
RING = {"one": b"1" * 32}
_KIND = Literal["postgres", "kv2"]


class Killed(BaseException):
    """The process ended here."""


class End:
    """Ends the process before a call of the vault.

    Args:
        step: before which, from 0.
    """

    def __init__(self, step: int) -> None:
        self._left = step

    def __call__(self, _: str) -> None:
        if self._left == 0:
            raise Killed
        self._left -= 1


class House:
    """The rows, a vault, and whoever reads both."""

    def __init__(self, pool: Pool, vault: Vault) -> None:
        self.pool = pool
        self.vault = vault

    def keeping(self, where: _KIND) -> PostgresSecrets:
        return PostgresSecrets(self.pool, KeyRing(RING), vault=self.vault, keeps=where)

    async def given(self, count: int, where: _KIND) -> dict[UUID, Credential]:
        store, made = self.keeping(where), {}
        for number in range(count):
            secret_id, made_up = uuid4(), credential(secret_access_key=f"hush-{number}")
            await store.stage(secret_id, made_up, staged_by="oidc~alice", warehouse_id=None, now=START)
            if number % 2:
                await store.keep(secret_id, warehouse_id=uuid4(), now=START)
            made[secret_id] = made_up
        return made

    async def read(self, ids: dict[UUID, Credential]) -> dict[UUID, Credential | None]:
        store = self.keeping("postgres")
        found = {secret_id: await store.find(secret_id) for secret_id in ids}
        return {secret_id: None if each is None else each.credential for secret_id, each in found.items()}

    async def places(self) -> set[tuple[str, bool, bool]]:
        """Where rows say that secrets are, whether one may lie in the vault, and whether its text is in the row."""
        rows = await self.pool.fetch("select store, in_kv2, ciphertext is not null as here from secret")
        return {(row["store"], row["in_kv2"], row["here"]) for row in rows}


AT_HOME, OUTSIDE = ("postgres", False, True), ("kv2", True, False)
MOVES: list[tuple[_KIND, _KIND]] = [("postgres", "kv2"), ("kv2", "postgres")]


@asynccontextmanager
async def house_of(url: str, vault: Vault) -> AsyncIterator[House]:
    await migrate(SecretStr(url), package=migrations.__name__, schema=SCHEMA)
    async with open_pool(SecretStr(url), size=4, name="test", schema=SCHEMA) as pool:
        await pool.execute("delete from secret")
        yield House(pool, vault)


@pytest.fixture
async def house(postgres_url: str) -> AsyncIterator[House]:
    async with house_of(postgres_url, FakeVault()) as made:
        yield made


Opener = Callable[[], AbstractAsyncContextManager[House]]


@pytest.fixture(params=["fake", "openbao"])
def opener(request: pytest.FixtureRequest, postgres_url: str) -> Opener:
    if request.param == "fake":
        return lambda: house_of(postgres_url, FakeVault())
    server: OpenBaoServer = request.getfixturevalue("openbao_server")

    @asynccontextmanager
    async def real() -> AsyncIterator[House]:
        async with vaults.engine(server) as engine, engine.vault() as vault, house_of(postgres_url, vault) as made:
            yield made

    return real


async def test_all_secrets_move_out_and_home_again_and_nothing_of_them_stays_behind(opener: Opener) -> None:
    async with opener() as house:
        ids = await house.given(5, "postgres")
        assert await SecretMoves(house.keeping("kv2"))() == (5, [])
        assert await house.read(ids) == ids
        assert await house.places() == {OUTSIDE}
        assert await SecretMoves(house.keeping("kv2"))() == (0, [])
        assert await SecretMoves(house.keeping("postgres"))() == (5, [])
        assert await house.read(ids) == ids
        assert await house.places() == {AT_HOME}
        assert [await house.vault.get(secret_id) for secret_id in ids] == [None] * 5


@pytest.mark.parametrize(("start", "to"), MOVES)
async def test_a_move_that_is_killed_at_any_step_loses_nothing_and_the_next_one_ends_it(
    house: House, start: _KIND, to: _KIND
) -> None:
    vault = house.vault
    assert isinstance(vault, FakeVault)
    for step in range(12):
        await house.pool.execute("delete from secret")
        vault.held.clear()
        ids = await house.given(3, start)
        vault.before = End(step)
        ended = False
        try:
            await SecretMoves(house.keeping(to))()
        except Killed:
            ended = True
        vault.before = lambda _: None
        assert await house.read(ids) == ids, f"lost at step {step}"
        await SecretMoves(house.keeping(to))()
        assert await house.read(ids) == ids
        assert await house.places() == {OUTSIDE if to == "kv2" else AT_HOME}
        assert set(vault.held) == (set(ids) if to == "kv2" else set())
        if not ended:
            return
    raise AssertionError("every step was cut short; there are more steps than are tried")


@pytest.mark.parametrize(("start", "to"), MOVES)
async def test_whoever_reads_while_secrets_move_finds_each_of_them(house: House, start: _KIND, to: _KIND) -> None:
    ids = await house.given(20, start)
    moving = asyncio.create_task(SecretMoves(house.keeping(to))())
    rounds = 0
    while not moving.done() or rounds == 0:
        assert await house.read(ids) == ids
        rounds += 1
    assert (await moving)[0] == 20


async def test_a_secret_that_its_store_does_not_have_is_named_and_stays_and_the_others_move(house: House) -> None:
    ids = await house.given(3, "kv2")
    lost = sorted(ids)[1]
    await house.vault.delete(lost)
    assert await SecretMoves(house.keeping("postgres"))() == (2, [lost])
    assert await house.places() == {AT_HOME, OUTSIDE}


async def test_a_secret_that_is_not_read_as_it_was_written_stays_where_it_is(house: House) -> None:
    vault = house.vault
    assert isinstance(vault, FakeVault)
    ids = await house.given(1, "postgres")
    (secret_id,) = ids

    def spoil(call: str) -> None:
        if call == "get":
            vault.held[secret_id] = credential(secret_access_key="another")

    vault.before = spoil
    with pytest.raises(SecretStoreUnavailable, match="not read as it was written"):
        await SecretMoves(house.keeping("kv2"))()
    vault.before = lambda _: None
    assert await house.read(ids) == ids
    assert await house.places() == {("postgres", True, True)}


async def test_a_secret_that_is_forgotten_while_the_vault_is_away_is_gone_and_is_deleted_there_later(
    house: House,
) -> None:
    vault = house.vault
    assert isinstance(vault, FakeVault)
    (secret_id,) = await house.given(1, "kv2")
    store = house.keeping("kv2")
    vault.away = True
    await store.forget(secret_id)
    assert await store.find(secret_id) is None
    assert not await store.keep(secret_id, warehouse_id=uuid4(), now=START)
    with pytest.raises(SecretStoreUnavailable):
        await store.sweep(staged_before=START - dt.timedelta(days=1), limit=10)
    vault.away = False
    assert await store.sweep(staged_before=START - dt.timedelta(days=1), limit=10) == 1
    assert vault.held == {}
    assert await house.places() == set()


async def test_what_was_staged_while_the_vault_is_away_is_no_secret_and_is_swept(house: House) -> None:
    vault = house.vault
    assert isinstance(vault, FakeVault)
    vault.away = True
    with pytest.raises(SecretStoreUnavailable):
        await house.given(1, "kv2")
    vault.away = False
    assert await house.keeping("kv2").sweep(staged_before=START + dt.timedelta(days=1), limit=10) == 1
    assert await house.places() == set()
