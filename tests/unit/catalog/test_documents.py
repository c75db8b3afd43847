"""Metadata documents through their caches: read once, never mixed up, and never more than fits."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from uuid import uuid4

import pytest

from lakeward_catalog.application.documents import Documents
from lakeward_catalog.domain.bodies import Body, BodyPart, text_of
from lakeward_catalog.domain.iceberg.table import Selection
from lakeward_catalog.domain.model import MetadataId, WarehouseId
from lakeward_catalog.domain.table_bodies import body_of
from tests.support.catalog.values import a_body
from tests.unit.catalog.iceberg.given import a_table

WAREHOUSE, ID = WarehouseId(uuid4()), MetadataId(uuid4())
TABLE = a_table(snapshots=3)


class CountedBodies:
    """Bodies by id; counts reads, and holds them up while `open` is not set."""

    def __init__(self, bodies: dict[MetadataId, Body]) -> None:
        self.bodies, self.reads = bodies, Counter[tuple[MetadataId, bool]]()
        self.open = asyncio.Event()
        self.open.set()

    async def body(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> Sequence[BodyPart]:
        self.reads[metadata_id, references] += 1
        await self.open.wait()
        body = self.bodies[metadata_id]
        return body.references if references else body.everything


@pytest.fixture
def store() -> CountedBodies:
    return CountedBodies({ID: body_of(TABLE)})


async def test_every_form_of_a_document_is_made_of_one_read(store: CountedBodies) -> None:
    documents = Documents(store)
    for _ in range(2):
        assert text_of(await documents.deflated(WAREHOUSE, ID, references=False)) == TABLE.encode()
        assert await documents.plain(WAREHOUSE, ID, references=False) == TABLE.encode()
        assert await documents.table(WAREHOUSE, ID) == TABLE
    assert store.reads == {(ID, False): 1}


async def test_the_snapshots_of_references_are_another_document(store: CountedBodies) -> None:
    documents = Documents(store)
    everything = await documents.plain(WAREHOUSE, ID, references=False)
    references = await documents.plain(WAREHOUSE, ID, references=True)
    assert (everything, references) == (TABLE.encode(), TABLE.encode(Selection.REFS))
    assert everything != references
    assert store.reads == {(ID, False): 1, (ID, True): 1}


async def test_what_a_commit_wrote_is_not_read_again(store: CountedBodies) -> None:
    documents, body = Documents(store), body_of(TABLE)
    store.bodies.clear()
    documents.keep(ID, body, TABLE)
    assert await documents.table(WAREHOUSE, ID) is TABLE
    assert await documents.plain(WAREHOUSE, ID, references=False) == TABLE.encode()
    assert not store.reads


async def test_readers_of_one_document_at_once_share_the_read(store: CountedBodies) -> None:
    documents = Documents(store)
    texts = await asyncio.gather(*(documents.deflated(WAREHOUSE, ID, references=False) for _ in range(9)))
    assert len(set(texts)) == 1
    assert store.reads == {(ID, False): 1}


async def test_a_reader_who_leaves_takes_the_document_from_nobody(store: CountedBodies) -> None:
    documents = Documents(store)
    store.open.clear()
    leaves, stays = (asyncio.ensure_future(documents.plain(WAREHOUSE, ID, references=False)) for _ in range(2))
    while not store.reads:
        await asyncio.sleep(0)
    leaves.cancel()
    await asyncio.wait([leaves])
    store.open.set()
    assert await stays == TABLE.encode()
    assert store.reads == {(ID, False): 1}


async def test_that_a_document_was_replaced_is_told_and_not_remembered(store: CountedBodies) -> None:
    documents, replaced = Documents(store), MetadataId(uuid4())
    for _ in range(2):
        with pytest.raises(LookupError):
            await documents.table(WAREHOUSE, replaced)
    store.bodies[replaced] = body_of(TABLE)
    assert await documents.table(WAREHOUSE, replaced) == TABLE


async def test_a_document_that_fits_no_cache_is_served_all_the_same(store: CountedBodies) -> None:
    documents = Documents(store, text_bytes=8, parsed_bytes=8)
    for _ in range(2):
        assert await documents.plain(WAREHOUSE, ID, references=False) == TABLE.encode()
    assert store.reads == {(ID, False): 2}


async def test_what_was_pushed_out_is_read_again() -> None:
    ids = [MetadataId(uuid4()) for _ in range(5)]
    store = CountedBodies({each: a_body("x" * 50 + str(each)) for each in ids})
    size = len((await Documents(store).deflated(WAREHOUSE, ids[0], references=False)).raw)
    store.reads.clear()
    documents = Documents(store, text_bytes=4 * size + size // 2)
    for each in (*ids, ids[-1], ids[0]):
        await documents.deflated(WAREHOUSE, each, references=False)
    assert (store.reads[ids[-1], False], store.reads[ids[0], False]) == (1, 2)


async def test_a_commit_to_a_table_of_thousands_of_snapshots_builds_on_what_the_last_one_kept(
    store: CountedBodies,
) -> None:
    documents = Documents(store)
    documents.keep(ID, a_body("x" * (10 << 20)), TABLE)  # as much as 15,000 snapshots
    assert await documents.table(WAREHOUSE, ID) is TABLE
    assert not store.reads
