from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

import pytest

from lakeward_locations import Location
from lakeward_vending.adapters.caching.secrets import CachedSecrets
from lakeward_vending.adapters.s3.cached import CachedS3
from lakeward_vending.application.ports import Grant, Storage
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.profiles import profile as profiles
from tests.support.vending.fakes import START, FakeClock, FakeSecrets, FakeStores, refusal_of
from tests.support.vending.permits import SECRET, TABLE, WAREHOUSE, credential, profile_text


def storage(**changes: object) -> Storage:
    text = profile_text(**changes)
    return Storage(profiles.parse(text), profiles.digest(text), credential(), SECRET)


def grant(**changes: Any) -> Grant:
    arguments: dict[str, Any] = {"storage": storage(), "location": TABLE, "access": Access.READ, "principal": "alice"}
    return Grant(**(arguments | changes))


def cached(*, life: dt.timedelta = dt.timedelta(hours=1), capacity: int = 10) -> tuple[CachedS3, FakeStores]:
    clock = FakeClock()
    backend = FakeStores(clock, life=life)
    return CachedS3(backend, clock=clock, capacity=capacity), backend


@pytest.mark.parametrize(
    "changes",
    [
        {"location": Location.parse("s3://lake/wh/t2")},
        {"access": Access.READ_WRITE},
        {"principal": "bob"},
        {"storage": storage(region="us")},
    ],
)
async def test_a_credential_is_shared_by_equal_grants_alone(changes: dict[str, Any]) -> None:
    cache, backend = cached()
    one = await cache.mint(grant())
    assert await cache.mint(grant()) is one
    assert await cache.mint(grant(**changes)) is not one
    assert len(backend.grants) == 2


@pytest.mark.parametrize(
    ("life", "kept"), [(dt.timedelta(hours=1), 1800), (dt.timedelta(hours=12), 3600), (dt.timedelta(0), 0)]
)
async def test_a_credential_is_kept_for_half_of_the_life_that_was_granted_and_an_hour_at_most(
    life: dt.timedelta, kept: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    cache, backend = cached(life=life)
    monkeypatch.setattr(cache._credentials, "_now", lambda: now[0])
    await cache.mint(grant())
    now[0] = kept - 1
    await cache.mint(grant())
    assert len(backend.grants) == (1 if kept else 2)
    now[0] = kept
    await cache.mint(grant())
    assert len(backend.grants) == (2 if kept else 3)


async def test_a_cache_of_no_capacity_mints_each_time() -> None:
    cache, backend = cached(capacity=0)
    await cache.mint(grant())
    await cache.mint(grant())
    assert len(backend.grants) == 2


async def test_on_which_terms_the_own_key_signs_is_tried_once_for_a_profile_and_a_secret() -> None:
    cache, backend = cached(capacity=0)
    for _ in range(3):
        await cache.signing_terms(storage())
    assert backend.terms_asked == 1
    await cache.signing_terms(storage(region="us"))
    assert backend.terms_asked == 2


async def test_a_store_that_lets_signatures_be_led_elsewhere_is_asked_again_each_time() -> None:
    cache, backend = cached()
    backend.terms = None
    for _ in range(2):
        await refusal_of(cache.signing_terms(storage()))
    assert backend.terms_asked == 2


async def test_a_client_of_a_store_is_made_once_for_a_profile_and_a_secret() -> None:
    cache, backend = cached()
    assert await cache.open(storage()) is await cache.open(storage())
    await cache.open(storage(region="us"))
    assert backend.opened == 2


async def test_a_kept_secret_is_read_once_and_a_staged_one_each_time() -> None:
    inner = FakeSecrets()
    secrets = CachedSecrets(inner)
    await secrets.stage(SECRET, credential(), staged_by="alice", warehouse_id=None, now=START)
    await secrets.find(SECRET)
    await secrets.find(SECRET)
    assert inner.reads == 2
    await secrets.keep(SECRET, warehouse_id=WAREHOUSE, now=START)
    found = await secrets.find(SECRET)
    assert found is not None
    assert found.warehouse_id == WAREHOUSE
    await secrets.find(SECRET)
    assert inner.reads == 3
    await secrets.forget(SECRET)
    assert SECRET not in inner.rows


async def test_a_credential_that_would_not_last_is_minted_anew_once_a_minute_at_most() -> None:
    clock = FakeClock()
    backend = FakeStores(clock, life=dt.timedelta(hours=1))
    cache = CachedS3(backend, clock=clock, capacity=10)
    longer = grant(min_validity=dt.timedelta(hours=12))  # longer than any lasts
    first = await cache.mint(longer)
    assert await cache.mint(longer) is first
    clock.advance(minutes=1)
    assert await cache.mint(grant(min_validity=dt.timedelta(minutes=59))) is first
    second, third = await asyncio.gather(cache.mint(longer), cache.mint(longer))
    assert first is not second is third
    assert await cache.mint(grant()) is second
    assert len(backend.grants) == 2
