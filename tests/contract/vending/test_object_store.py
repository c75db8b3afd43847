from __future__ import annotations

from asyncio import gather
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import pytest

from lakeward_servicekit.errors import Reason
from lakeward_vending.application.ports import ListedObject, ObjectStore
from lakeward_vending.application.refusals import FileExists, FileTooLarge
from tests.support.vending.fakes import FakeObjects, refusal_of
from tests.support.vending.kinds import REAL, RealGround, each_of


@pytest.fixture(params=["fake", *each_of(REAL)])
def opening(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[RealGround] | None:
    return None if request.param == "fake" else REAL[request.param](request)


@pytest.fixture
async def store(opening: AbstractAsyncContextManager[RealGround] | None) -> AsyncIterator[ObjectStore]:
    if opening is None:
        yield FakeObjects()
        return
    async with opening as ground:
        yield await ground.kind.open(ground.storage)


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
    assert await store.read(f"{at}none", limit=1) is None


async def test_an_object_over_the_limit_is_not_read(store: ObjectStore, at: str) -> None:
    await store.write(f"{at}a", b"content", content_type=None)
    refusal = await refusal_of(store.read(f"{at}a", limit=6))
    assert isinstance(refusal, FileTooLarge)
    assert refusal.reason == Reason.REASON_FILE_UNREADABLE


async def test_a_second_writer_of_other_bytes_is_refused_and_of_the_same_is_not(store: ObjectStore, at: str) -> None:
    await store.write(f"{at}a", b"one", content_type=None)
    await store.write(f"{at}a", b"one", content_type=None)
    for other in (b"two", b"longer", b""):
        refusal = await refusal_of(store.write(f"{at}a", other, content_type=None))
        assert isinstance(refusal, FileExists)
        assert refusal.reason == Reason.REASON_FILE_EXISTS
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


async def test_a_listing_with_sizes_goes_on_behind_a_key(store: ObjectStore, at: str) -> None:
    for number, name in enumerate(("t/1", "t/2", "t/a b+c", "t/é", "t2/1")):
        await store.write(f"{at}{name}", b"x" * number, content_type=None)
    names = [f"{at}{name}" for name in ("t/1", "t/2", "t/a b+c", "t/é")]
    everything = [ListedObject(name, size) for size, name in enumerate(names)]
    assert await store.list_objects(f"{at}t/", after="", limit=10) == everything
    assert await store.list_objects(f"{at}t/", after=names[0], limit=2) == everything[1:3]
    assert await store.list_objects(f"{at}t/", after=names[2], limit=10) == everything[3:]
    assert await store.list_objects(f"{at}t/", after=names[3], limit=10) == []


async def test_a_part_ends_where_it_was_asked_to_or_the_object_does(store: ObjectStore, at: str) -> None:
    await store.write(f"{at}a", b"0123456789", content_type=None)
    assert await store.read_part(f"{at}a", offset=2, length=3) == b"234"
    assert await store.read_part(f"{at}a", offset=8, length=5) == b"89"
    assert await store.read_part(f"{at}a", offset=10, length=5) == b""
    assert await store.read_part(f"{at}none", offset=0, length=1) is None


async def test_a_thousand_keys_are_listed_and_deleted_at_once(store: ObjectStore, at: str) -> None:

    for start in range(0, 1005, 67):
        await gather(
            *(store.write(f"{at}{number:04}", b"", content_type=None) for number in range(start, min(start + 67, 1005)))
        )
    page = await store.list_page(at, limit=1000)
    assert len(page) == 1000
    await store.delete(page)
    assert await store.list_page(at, limit=1000) == [f"{at}{number:04}" for number in range(1000, 1005)]
