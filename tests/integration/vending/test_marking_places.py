"""Marks in a real store, which two endpoints lead to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from lakeward_servicekit.system import SystemClock, SystemIds
from lakeward_vending.adapters.s3.backend import S3Backend
from lakeward_vending.application.files import purge_page
from lakeward_vending.application.marking_places import Claimed, claim_place, release_place
from lakeward_vending.application.storages import Backends
from lakeward_vending.application.validate_storage import validate_storage
from lakeward_vending.domain import credentials
from lakeward_vending.domain.permit import Purpose
from lakeward_vending.domain.profiles import profile as profiles
from tests.support.components import S3Place
from tests.support.vending.fakes import START, FakeSecrets
from tests.support.vending.permits import SECRET, permit
from tests.support.vending.s3 import profile_text, s3_backend, storage

pytestmark = pytest.mark.integration

INSTALLATION = uuid4()


class Bucket:
    def __init__(self, place: S3Place, backend: S3Backend, secrets: FakeSecrets) -> None:
        self.place = place
        self.backend = backend
        self.io: dict[str, Any] = {"secrets": secrets, "backends": Backends({"s3": backend}), "skip": False}

    @property
    def endpoints(self) -> tuple[str, str]:
        """Two spellings of one."""
        port = urlsplit(self.place.store.endpoint).port
        return f"http://127.0.0.1:{port}", f"http://localhost:{port}"

    def asked(self, warehouse: UUID, below: str, endpoint: str | None, purpose: Purpose) -> tuple[Any, bytes]:
        prefix = f"{self.place.prefix}/{below}".rstrip("/")
        profile = profile_text(self.place, key_prefix=prefix, endpoint=endpoint or self.place.store.endpoint)
        at = profiles.parse(profile).base
        return permit(purpose, profile, warehouse_id=warehouse, location=at, incarnation=None), profile

    async def claim(self, warehouse: UUID, below: str = "", *, endpoint: str | None = None) -> Claimed:
        return await claim_place(
            *self.asked(warehouse, below, endpoint, Purpose.VALIDATE),
            installation=INSTALLATION,
            claimed_at=SystemClock().now(),
            takes_over=(),
            **self.io,
        )

    async def release(self, warehouse: UUID, below: str = "") -> None:
        asked = self.asked(warehouse, below, None, Purpose.VALIDATE)
        await release_place(*asked, claimed_before=None, **self.io)


@pytest.fixture
async def bucket(s3_store: S3Place) -> AsyncIterator[Bucket]:
    key = s3_store.store.admin
    document = {
        "type": "s3",
        "credential-type": "access-key",
        "access-key-id": key.access_key,
        "secret-access-key": key.secret_key,
    }
    secrets = FakeSecrets()
    credential = credentials.parse(json.dumps(document).encode())
    await secrets.stage(SECRET, credential, staged_by="a", warehouse_id=None, now=START)
    async with s3_backend() as backend:
        yield Bucket(s3_store, backend, secrets)


async def test_endpoints_of_two_spellings_lead_to_one_mark(bucket: Bucket) -> None:
    first, second = bucket.endpoints
    one, two = uuid4(), uuid4()
    assert await bucket.claim(one, endpoint=first) == Claimed(None, fresh=True)
    for below in ("", "inside", "inside/deeper"):
        other = (await bucket.claim(two, below, endpoint=second)).other
        assert other is not None
        assert other.mark is not None
        assert (other.mark.installation, other.mark.warehouse_id) == (INSTALLATION, one)
    assert await bucket.claim(one, endpoint=second) == Claimed(None, fresh=False)
    await bucket.release(one)
    assert await bucket.claim(two, "inside", endpoint=second) == Claimed(None, fresh=True)
    assert (await bucket.claim(one, endpoint=first)).other is not None


async def test_of_many_claims_of_one_place_at_once_one_wins(bucket: Bucket) -> None:
    endpoints = bucket.endpoints
    warehouses = [uuid4() for _ in range(12)]
    claims = await asyncio.gather(
        *(bucket.claim(each, endpoint=endpoints[number % 2]) for number, each in enumerate(warehouses))
    )
    (winner,) = [each for each, claim in zip(warehouses, claims, strict=True) if claim.other is None]
    assert (await bucket.claim(winner)).other is None


async def test_of_claims_above_and_below_each_other_at_once_at_most_one_wins(bucket: Bucket) -> None:
    for _ in range(5):
        above, below = uuid4(), uuid4()
        claims = await asyncio.gather(bucket.claim(above, "a"), bucket.claim(below, "a/b/c"))
        assert [claim.other is None for claim in claims].count(True) <= 1
        await asyncio.gather(bucket.release(above, "a"), bucket.release(below, "a/b/c"))


async def test_a_released_place_leaves_nothing_in_the_store(bucket: Bucket) -> None:
    warehouse = uuid4()
    await bucket.claim(warehouse, "alone")
    await bucket.release(warehouse, "alone")
    store = await bucket.backend.open(storage(bucket.place))
    assert await store.list_page(f"{bucket.place.prefix}/alone", limit=10) == []
    assert await store.list_page(f".lakeward-warehouses/{bucket.place.prefix}/alone", limit=10) == []


async def test_a_mark_outlives_proofs_and_purges_of_tabulars(bucket: Bucket) -> None:
    warehouse = uuid4()
    await bucket.claim(warehouse)
    allowed, profile = bucket.asked(warehouse, "", None, Purpose.VALIDATE)
    await validate_storage(allowed, profile, **bucket.io, clock=SystemClock(), ids=SystemIds())
    store = await bucket.backend.open(storage(bucket.place))
    await store.write(f"{bucket.place.prefix}/t1/data/f", b"x", content_type=None)
    io = {name: value for name, value in bucket.io.items() if name != "skip"}
    at = profiles.parse(profile).base.join("t1")
    purge = permit(Purpose.PURGE, profile, warehouse_id=warehouse, location=at)
    assert (await purge_page(purge, profile, **io)).deleted == 1
    assert await bucket.claim(warehouse) == Claimed(None, fresh=False)
