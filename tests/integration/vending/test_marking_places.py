"""Marks in a real store, which two endpoints lead to."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from lakeward_servicekit.system import SystemClock, SystemIds
from lakeward_vending.adapters.s3.backend import S3Backend
from lakeward_vending.application.files import PagePurges
from lakeward_vending.application.places import Claimed, ClaimPlace, PlaceClaims, PlaceReleases
from lakeward_vending.application.storages import Kinds, Storages
from lakeward_vending.application.validation import StorageValidations
from lakeward_vending.domain import credentials
from lakeward_vending.domain.permit import Permit, Purpose
from lakeward_vending.domain.profiles import profile as profiles
from tests.support.components import S3Place
from tests.support.vending.fakes import START, FakeSecrets
from tests.support.vending.permits import SECRET, permit
from tests.support.vending.s3 import profile_text, s3_backend, s3_kind, storage

pytestmark = pytest.mark.integration

INSTALLATION = uuid4()


class Bucket:
    def __init__(self, place: S3Place, backend: S3Backend, secrets: FakeSecrets) -> None:
        self.place = place
        self.backend = backend
        self.storages = Storages(secrets, Kinds({"s3": s3_kind(backend)}))

    @property
    def endpoints(self) -> tuple[str, str]:
        """Two spellings of one."""
        port = urlsplit(self.place.store.endpoint).port
        return f"http://127.0.0.1:{port}", f"http://localhost:{port}"

    def asked(self, warehouse: UUID, below: str, endpoint: str | None, purpose: Purpose) -> Permit:
        prefix = f"{self.place.prefix}/{below}".rstrip("/")
        profile = profile_text(self.place, key_prefix=prefix, endpoint=endpoint or self.place.store.endpoint)
        at = profiles.parse(profile).base
        return permit(purpose, profile, warehouse_id=warehouse, location=at, incarnation=None)

    async def claim(self, warehouse: UUID, below: str = "", *, endpoint: str | None = None) -> Claimed:
        claim = ClaimPlace(INSTALLATION, SystemClock().now(), takes_over=())
        permit = self.asked(warehouse, below, endpoint, Purpose.VALIDATE)
        return await PlaceClaims(self.storages, skip=False)(claim, permit=permit)

    async def release(self, warehouse: UUID, below: str = "") -> None:
        permit = self.asked(warehouse, below, None, Purpose.VALIDATE)
        await PlaceReleases(self.storages, skip=False)(claimed_before=None, permit=permit)


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
    allowed = bucket.asked(warehouse, "", None, Purpose.VALIDATE)
    await StorageValidations(bucket.storages, SystemClock(), SystemIds(), skip=False)(permit=allowed)
    store = await bucket.backend.open(storage(bucket.place))
    await store.write(f"{bucket.place.prefix}/t1/data/f", b"x", content_type=None)
    purge = dataclasses.replace(allowed, purpose=Purpose.PURGE, location=allowed.location.join("t1"))
    assert (await PagePurges(bucket.storages)(permit=purge)).deleted == 1
    assert await bucket.claim(warehouse) == Claimed(None, fresh=False)
