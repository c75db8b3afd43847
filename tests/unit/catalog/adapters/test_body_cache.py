from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from lakeward.catalog.adapters.postgres.body_cache import CachedBodies
from lakeward.catalog.domain.bodies import BodyPart, Deflated
from lakeward.catalog.domain.model import MetadataId, WarehouseId
from tests.support.catalog.values import uuid7

HERE = WarehouseId(uuid7())


class Counting:
    """Bodies of a size, counted as they are read."""

    def __init__(self, size: int = 10_000) -> None:
        self.size = size
        self.reads = 0
        self.absent = False

    async def body(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> Sequence[BodyPart]:
        del warehouse_id, metadata_id, references
        self.reads += 1
        await asyncio.sleep(0)
        if self.absent:
            raise LookupError
        return (BodyPart(None, Deflated(b"x" * self.size, 0, self.size)),)


def _id() -> MetadataId:
    return MetadataId(uuid7())


async def test_a_body_is_read_once_however_many_ask_at_once_and_after() -> None:
    store = Counting()
    bodies = CachedBodies(store, most_bytes=1_000_000)
    metadata_id = _id()
    found = await asyncio.gather(*(bodies.body(HERE, metadata_id, references=False) for _ in range(5)))
    assert await bodies.body(HERE, metadata_id, references=False) is found[0]
    assert store.reads == 1


async def test_what_is_kept_stays_within_the_bound_and_the_least_used_goes() -> None:
    store = Counting()
    bodies = CachedBodies(store, most_bytes=100_000)
    often, ids = _id(), [_id() for _ in range(30)]
    for metadata_id in ids:
        await bodies.body(HERE, often, references=False)
        await bodies.body(HERE, metadata_id, references=False)
        assert bodies.kept_bytes <= 100_000
    assert store.reads == 31
    await bodies.body(HERE, ids[0], references=False)
    assert store.reads == 32


async def test_a_body_that_would_push_all_others_out_is_not_kept() -> None:
    store = Counting(size=50_000)
    bodies = CachedBodies(store, most_bytes=100_000)
    await bodies.body(HERE, _id(), references=False)
    assert bodies.kept_bytes == 0


async def test_two_forms_that_are_one_document_are_kept_once() -> None:
    store = Counting()
    bodies = CachedBodies(store, most_bytes=1_000_000)
    metadata_id = _id()
    whole = await bodies.body(HERE, metadata_id, references=False)
    before = bodies.kept_bytes
    assert await bodies.body(HERE, metadata_id, references=True) is whole
    assert bodies.kept_bytes - before < 1000


async def test_absence_is_not_remembered() -> None:
    store = Counting()
    store.absent = True
    bodies = CachedBodies(store, most_bytes=1_000_000)
    metadata_id = _id()
    for _ in range(2):
        with pytest.raises(LookupError):
            await bodies.body(HERE, metadata_id, references=False)
    assert store.reads == 2


async def test_a_cancelled_caller_takes_the_read_from_nobody() -> None:
    store = Counting()
    bodies = CachedBodies(store, most_bytes=1_000_000)
    metadata_id = _id()
    gone, stays = (asyncio.create_task(bodies.body(HERE, metadata_id, references=False)) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays
    assert store.reads == 1
