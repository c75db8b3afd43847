"""Who reads a project's stream of vending from the beginning knows which credentials there are, whatever changes meanwhile."""

from __future__ import annotations

import asyncio
import datetime as dt
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.system import SystemIds
from lakeward_vending.adapters.postgres import migrations
from lakeward_vending.adapters.postgres.sealing import KeyRing
from lakeward_vending.adapters.postgres.secrets import PostgresSecrets
from lakeward_vending.adapters.postgres.snapshots import VendingTold
from tests.support.replaying import NO_EVENTS, ThingsMirror, caught_up, consumed, now, reads_of, sequencing, swept
from tests.support.vending.fakes import START
from tests.support.vending.permits import credential

pytestmark = pytest.mark.integration

SCHEMA: Final = "lakeward_vending"
KEYS: Final = {"one": b"1" * 32, "two": b"2" * 32}
_STORED: Final = """
select secret_id, warehouse_id, store, key_id from secret
 where project_id is not distinct from $1 and forgotten_at is null
"""


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[Pool]:
    url = SecretStr(postgres_url)
    await migrate(url, package=migrations.__name__, schema=SCHEMA)
    async with open_pool(url, size=8, name="test", schema=SCHEMA) as pool:
        await pool.execute(f"delete from secret; delete from encryption_key; {NO_EVENTS}")
        yield pool


def _mirror() -> ThingsMirror:
    return ThingsMirror(members={"credential": "credential"}, ends={("credential", "forgotten")}, partial=True)


async def _stored(pool: Pool, project_id: str | None) -> dict[str, dict[str, Any]]:
    return {
        str(secret_id): {
            "warehouse-id": None if warehouse_id is None else str(warehouse_id),
            "store": store,
            "key-id": key_id,
        }
        for secret_id, warehouse_id, store, key_id in await pool.fetch(_STORED, project_id)
    }


def _known(mirror: ThingsMirror) -> dict[str, dict[str, Any]]:
    return {
        secret_id: {name: said.get(name) for name in ("warehouse-id", "store", "key-id")}
        for (_, secret_id), said in mirror.things.items()
    }


class _Changes:
    """Stages, keeps, forgets and encrypts credentials of a project at random."""

    def __init__(self, pool: Pool, project_id: str | None, seed: int) -> None:
        self._secrets = PostgresSecrets(pool, KeyRing(KEYS))
        self._rotated = PostgresSecrets(pool, KeyRing(dict(reversed(KEYS.items()))))
        self._project_id, self._random = project_id, random.Random(seed)
        self._ids: list[UUID] = []

    async def one(self) -> None:
        steps: list[Callable[[], Awaitable[object]]] = [
            self._stage,
            self._stage,
            self._keep,
            self._keep,
            self._forget,
            self._encrypt,
            self._sweep,
        ]
        await self._random.choice(steps)()

    async def _stage(self) -> None:
        self._ids.append(uuid4())
        store = self._random.choice((self._secrets, self._rotated))
        age = dt.timedelta(hours=self._random.choice((0, 0, 2)))
        await store.stage(
            self._ids[-1],
            credential(),
            staged_by="anna",
            warehouse_id=None,
            now=START - age,
            project_id=self._project_id,
        )

    async def _keep(self) -> None:
        if self._ids:
            await self._secrets.keep(self._random.choice(self._ids), warehouse_id=uuid4(), now=START)

    async def _forget(self) -> None:
        if self._ids:
            await self._secrets.forget(self._random.choice(self._ids))

    async def _encrypt(self) -> None:
        await self._random.choice((self._secrets, self._rotated)).reencrypt(limit=3)

    async def _sweep(self) -> None:
        await self._secrets.sweep(staged_before=START - dt.timedelta(hours=1), limit=2)


async def test_a_consumer_from_the_beginning_has_what_the_rows_say_while_everything_changes(pool: Pool) -> None:
    reads, over = reads_of(pool, VendingTold(SystemIds())), asyncio.Event()
    streams = {"vending-p": "p", "vending": None}
    for one in (PostgresSecrets(pool, KeyRing(KEYS)), PostgresSecrets(pool, KeyRing(dict(reversed(KEYS.items()))))):
        assert not await one.key_retired()
    racing = [_Changes(pool, project_id, seed) for seed, project_id in enumerate((*streams.values(), "p"))]
    for one in racing:
        for _ in range(8):
            await one.one()
    await swept(pool)
    consumers: dict[str, list[asyncio.Task[ThingsMirror]]] = {stream: [] for stream in streams}

    async def change(one: _Changes) -> None:
        for turn in range(50):
            await one.one()
            if turn % 25 == 0:
                for stream, its in consumers.items():
                    its.append(asyncio.create_task(consumed(reads, stream, _mirror(), over, limit=len(its) * 5 + 1)))

    async with sequencing(pool):
        await asyncio.gather(*map(change, racing))
        await caught_up(pool)
        over.set()
        mirrors = {stream: await asyncio.gather(*its) for stream, its in consumers.items()}
    for stream, project_id in streams.items():
        state = await _stored(pool, project_id)
        assert state
        assert [_known(each) for each in mirrors[stream]] == [state] * len(mirrors[stream])


async def test_a_snapshot_has_nothing_of_what_a_credential_is(pool: Pool) -> None:
    secrets, secret_id, warehouse_id = PostgresSecrets(pool, KeyRing(KEYS)), uuid4(), uuid4()
    assert not await secrets.key_retired()
    await secrets.stage(secret_id, credential(), staged_by="anna", warehouse_id=warehouse_id, now=START, project_id="p")
    row = await pool.fetchrow("select nonce, ciphertext from secret")
    assert row is not None
    hidden = [each.reveal().encode() for each in credential().secrets.values()]
    hidden += [bytes(each).hex().encode() for each in row]
    await now(reads_of(pool, VendingTold(SystemIds())), "vending-p", mirror := _mirror())
    (said,) = mirror.things.values()
    assert said == {"id": str(secret_id), "warehouse-id": str(warehouse_id), "store": "postgres", "key-id": "one"}
    bodies = [row["body"] for row in await pool.fetch("select body from event_snapshot_entry")]
    assert not [each for each in hidden for body in bodies if each in body]
