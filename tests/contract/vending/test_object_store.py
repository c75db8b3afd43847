from __future__ import annotations

from asyncio import gather
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import pytest

from lakeward_servicekit.errors import Reason
from lakeward_vending.application.ports import ObjectStore
from tests.support.components import S3Place
from tests.support.vending.fakes import FakeObjects, refusal_of
from tests.support.vending.s3 import s3_backend, storage

Opener = Callable[[], AbstractAsyncContextManager[ObjectStore]]


@asynccontextmanager
async def fake() -> AsyncIterator[ObjectStore]:
    yield FakeObjects()


@asynccontextmanager
async def s3(place: S3Place) -> AsyncIterator[ObjectStore]:
    async with s3_backend() as backend:
        yield await backend.open(storage(place))


@pytest.fixture(params=["fake", pytest.param("s3", marks=pytest.mark.integration)])
def opener(request: pytest.FixtureRequest) -> Opener:
    return partial(s3, request.getfixturevalue("s3_store")) if request.param == "s3" else fake


@pytest.fixture
async def store(opener: Opener) -> AsyncIterator[ObjectStore]:
    async with opener() as opened:
        yield opened


@pytest.fixture
def at(unique_name: str) -> str:
    """A prefix of this test's own; the S3 store's objects are the session's."""
    return f"{unique_name}/"


async def test_what_is_written_is_read_and_listed(store: ObjectStore, at: str) -> None:
    await store.write(f"{at}a", b"content", content_type="application/json")
    assert await store.read(f"{at}a", limit=7) == b"content"
    assert await store.list_page(at, limit=10) == [f"{at}a"]


async def test_an_empty_object_is_an_object(store: ObjectStore, at: str) -> None:
    await store.write(f"{at}a", b"", content_type=None)
    assert await store.read(f"{at}a", limit=1) == b""


async def test_an_absent_object_is_not_found(store: ObjectStore, at: str) -> None:
    assert (await refusal_of(store.read(f"{at}none", limit=1))).reason == Reason.REASON_FILE_NOT_FOUND


async def test_an_object_over_the_limit_is_not_read(store: ObjectStore, at: str) -> None:
    await store.write(f"{at}a", b"content", content_type=None)
    assert (await refusal_of(store.read(f"{at}a", limit=6))).reason == Reason.REASON_FILE_UNREADABLE


async def test_a_second_writer_of_other_bytes_is_refused_and_of_the_same_is_not(store: ObjectStore, at: str) -> None:
    await store.write(f"{at}a", b"one", content_type=None)
    await store.write(f"{at}a", b"one", content_type=None)
    assert (await refusal_of(store.write(f"{at}a", b"two", content_type=None))).reason == Reason.REASON_FILE_EXISTS
    assert (await refusal_of(store.write(f"{at}a", b"longer", content_type=None))).reason == Reason.REASON_FILE_EXISTS
    assert (await refusal_of(store.write(f"{at}a", b"", content_type=None))).reason == Reason.REASON_FILE_EXISTS
    assert await store.read(f"{at}a", limit=9) == b"one"


async def test_deleted_and_absent_objects_are_gone(store: ObjectStore, at: str) -> None:
    await store.write(f"{at}a", b"x", content_type=None)
    await store.delete([f"{at}a", f"{at}none"])
    await store.delete([f"{at}a"])
    assert await store.list_page(at, limit=1) == []


async def test_a_listing_is_of_a_prefix_and_no_longer_than_asked(store: ObjectStore, at: str) -> None:
    for name in ("t/1", "t/2", "t/3", "t2/1", "t0"):
        await store.write(f"{at}{name}", b"x", content_type=None)
    assert sorted(await store.list_page(f"{at}t/", limit=10)) == [f"{at}t/{number}" for number in (1, 2, 3)]
    assert len(await store.list_page(f"{at}t/", limit=2)) == 2


@pytest.mark.parametrize("name", ["a b", "é漢", "a%2Fb", "100%", "a=1", "a+b&c", "~'()*!", "<x>&amp;"])
async def test_a_key_is_taken_literally(store: ObjectStore, at: str, name: str) -> None:
    await store.write(f"{at}{name}", b"x", content_type=None)
    assert await store.list_page(at, limit=10) == [f"{at}{name}"]
    assert await store.list_page(f"{at}{name}", limit=10) == [f"{at}{name}"]
    assert await store.read(f"{at}{name}", limit=1) == b"x"
    await store.delete([f"{at}{name}"])
    assert await store.list_page(at, limit=10) == []


async def test_a_thousand_keys_are_listed_and_deleted_at_once(store: ObjectStore, at: str) -> None:

    for start in range(0, 1005, 67):
        await gather(
            *(store.write(f"{at}{number:04}", b"", content_type=None) for number in range(start, min(start + 67, 1005)))
        )
    page = await store.list_page(at, limit=1000)
    assert len(page) == 1000
    await store.delete(page)
    assert await store.list_page(at, limit=1000) == [f"{at}{number:04}" for number in range(1000, 1005)]
