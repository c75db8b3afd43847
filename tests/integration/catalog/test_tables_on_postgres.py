"""Tables' use cases over the real database: races between processes, large documents, places and files that become tables."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from lakeward_catalog.domain.iceberg.history import CHUNK_SIZE
from lakeward_catalog.domain.model import State, Tabular, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_protocol.catalog.v1 import server_pb2, signing_pb2, tables_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import SCHEMA, House, refusal_of
from tests.support.catalog.stores import PostgresStores, Stores
from tests.support.catalog.tables import (
    STAGED,
    Json,
    a_file,
    commit,
    create,
    document,
    drop,
    load,
    once_after,
    prop,
    properties,
    ref,
    register,
    snapshot,
    transaction,
)

pytestmark = pytest.mark.integration
CREATED: Json = {"type": "assert-create"}


@dataclasses.dataclass
class Two:
    """Two processes over one database and one store."""

    one: House
    other: House
    stores: Stores
    base: str

    async def row(self, name: str) -> Tabular:
        warehouse_id = WarehouseId(UUID(self.one.warehouse_id))
        located = await self.stores.tabulars.locate(warehouse_id, TabularIdent(NamespaceIdent(("sales",)), name))
        assert located.tabular is not None
        return located.tabular


@pytest_asyncio.fixture(loop_scope="session")
async def two(stores: PostgresStores) -> Two:
    """A warehouse of its own for each test."""
    one = House(stores=stores)
    if not (await stores.servers.server()).bootstrapped:
        await one.server.Bootstrap(server_pb2.BootstrapRequest(accept_terms_of_use=True))
    name = f"w-{uuid4()}"
    one.warehouse_id = await one.make_warehouse(name, base=f"s3://lake/{name}")
    await one.make_namespace("sales")
    await one.make_table("sales", "orders")
    return Two(one, House(stores=stores, shares=one), stores, f"s3://lake/{name}")


async def until_it_is_in(process: House, key: str) -> None:
    """Again, while another try can win."""
    while True:
        try:
            await commit(process, prop(key))
        except Refusal as refusal:
            if refusal.reason != Reason.REASON_COMMIT_CONFLICT:
                raise
        else:
            return


def refused(results: list[Any]) -> set[Any]:
    return {getattr(each, "reason", each) for each in results if isinstance(each, BaseException)}


async def test_commits_to_one_table_from_two_processes_lose_nothing_and_leave_no_file_behind(two: Two) -> None:
    told = len(await two.stores.told())
    await asyncio.gather(
        *(until_it_is_in(each, f"{n}{m}") for n in range(6) for m, each in enumerate((two.one, two.other)))
    )
    reply = await load(House(stores=two.stores, shares=two.one))
    assert len(properties(reply)) == 12
    assert len(two.one.files.stored) == 1 + 12
    logged = {entry["metadata-file"] for entry in document(reply)["metadata-log"]}
    assert logged | {reply.table.metadata_location} == two.one.files.stored.keys()
    assert len(await two.stores.told()) == told + 12


async def test_a_race_lost_to_another_process_is_run_again_on_what_won_it(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = once_after(two.one.files.write, lambda: commit(two.other, prop("theirs")))
    monkeypatch.setattr(two.one.files, "write", theirs)
    assert properties(await commit(two.one, prop("mine"))) == ["mine", "theirs"]
    assert len(two.one.files.stored) == 3


async def test_a_transaction_that_loses_at_one_table_writes_none_until_it_wins_at_all(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create(two.one, "items")
    theirs = once_after(two.one.files.write, lambda: commit(two.other, *snapshot(1), path=("sales", "items")))
    monkeypatch.setattr(two.one.files, "write", theirs)
    empty: Json = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}
    changes = [(("sales", name), prop("a")) for name in ("orders", "items")]
    refusal = await refusal_of(transaction(two.one, *changes, requirements={"items": [empty]}))
    assert refusal.reason == Reason.REASON_COMMIT_CONFLICT
    assert properties(await load(two.other)) == []
    await transaction(two.one, *changes)
    assert [properties(await load(two.other, "sales", name)) for name in ("orders", "items")] == [["a"], ["a"]]


async def test_transactions_of_two_processes_in_any_order_of_tables_all_end(two: Two) -> None:
    await create(two.one, "items")

    async def change(process: House, key: str, *names: str) -> None:
        while True:
            try:
                await transaction(process, *((("sales", name), prop(key)) for name in names))
            except Refusal as refusal:
                if refusal.reason != Reason.REASON_COMMIT_CONFLICT:
                    raise
            else:
                return

    async with asyncio.timeout(60):
        await asyncio.gather(
            *(change(two.one, f"a{n}", "orders", "items") for n in range(4)),
            *(change(two.other, f"b{n}", "items", "orders") for n in range(4)),
        )
    keys = sorted(f"{who}{n}" for who in "ab" for n in range(4))
    assert [properties(await load(two.one, "sales", name)) for name in ("orders", "items")] == [keys, keys]
    assert len(two.one.files.stored) == 2 + 16


@pytest.mark.parametrize("deflated", [False, True])
async def test_a_large_document_is_read_back_as_it_was_committed(two: Two, deflated: bool) -> None:
    count = 3 * CHUNK_SIZE + 8
    added = [update for number in range(1, count + 1) for update in snapshot(number)]
    tags = [ref(f"t{number}", number, "tag") for number in range(1, count, 2)]  # references fill chunks of their own
    committed = document(await commit(two.one, *added, *tags))
    assert len(committed["snapshots"]) == count
    fresh = House(stores=two.stores, shares=two.one)
    assert document(await load(fresh, accept_deflate=deflated)) == committed
    references = document(await load(fresh, snapshots=tables_pb2.SNAPSHOTS_REFS, accept_deflate=deflated))
    assert [each["snapshot-id"] for each in references["snapshots"]] == [*range(1, count, 2), count]
    assert {**references, "snapshots": []} == {**committed, "snapshots": []}


async def test_documents_share_their_chunks_through_appends_and_expiries(two: Two) -> None:
    count = 2 * CHUNK_SIZE + 8
    await commit(two.one, *(update for number in range(1, count + 1) for update in snapshot(number)))
    for number in range(count + 1, count + 4):
        await commit(two.other, *snapshot(number))  # on what it read from the store
    before = await two.stores.chunks(await two.row("orders"))
    expired: Json = {"action": "remove-snapshots", "snapshot-ids": list(range(1, CHUNK_SIZE + 1))}
    await commit(two.one, expired)
    assert await two.stores.chunks(await two.row("orders")) < before
    last = document(await commit(two.other, *snapshot(count + 4)))
    assert [each["snapshot-id"] for each in last["snapshots"]] == list(range(CHUNK_SIZE + 1, count + 5))
    assert document(await load(House(stores=two.stores, shares=two.one))) == last


@pytest.mark.parametrize("nested", [False, True])
async def test_of_creates_at_overlapping_places_in_two_processes_one_wins(two: Two, nested: bool) -> None:
    places = [f"{two.base}/place{'/in' * n if nested else ''}" for n in range(6)]
    results = await asyncio.gather(
        *(create((two.one, two.other)[n % 2], f"n{n}", location=place) for n, place in enumerate(places)),
        return_exceptions=True,
    )
    assert len([each for each in results if not isinstance(each, BaseException)]) == 1
    assert refused(results) <= {Reason.REASON_LOCATION_TAKEN, Reason.REASON_LOCATION_NOT_EMPTY}
    assert len(two.one.files.stored) == 2


async def test_of_creates_of_one_name_in_two_processes_one_wins(two: Two) -> None:
    results = await asyncio.gather(
        *(create(each, spelt) for each in (two.one, two.other) for spelt in ("new", "NEW", "New")),
        return_exceptions=True,
    )
    assert len([each for each in results if not isinstance(each, BaseException)]) == 1
    assert refused(results) == {Reason.REASON_TABULAR_EXISTS}
    assert len(two.one.files.stored) == 2


async def test_of_commits_that_make_one_unstaged_table_in_two_processes_one_wins(two: Two) -> None:
    updates: list[Json] = [
        {"action": "add-schema", "schema": SCHEMA},
        {"action": "set-current-schema", "schema-id": -1},
    ]
    results = await asyncio.gather(
        *(
            commit(each, *updates, path=("sales", spelt), requirements=[CREATED])
            for each in (two.one, two.other)
            for spelt in ("new", "NEW", "New")
        ),
        return_exceptions=True,
    )
    assert len([each for each in results if not isinstance(each, BaseException)]) == 1
    assert refused(results) <= {Reason.REASON_TABULAR_EXISTS, Reason.REASON_COMMIT_CONFLICT}
    assert len(two.one.files.stored) == 2


async def test_a_drop_heeds_what_another_process_says_of_the_files_meanwhile(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = two.one.parts.documents
    shared = once_after(documents.plain, lambda: commit(two.other, prop("gc.enabled", "false")))
    monkeypatch.setattr(documents, "plain", shared)
    assert (await refusal_of(drop(two.one, "orders", purge=True))).reason == Reason.REASON_GC_DISABLED
    assert (await two.row("orders")).state is State.LIVE
    await drop(two.one, "orders")


async def test_a_staged_table_gives_way_to_its_own_name_alone_and_is_finished_once(two: Two) -> None:
    place = f"{two.base}/place"
    first = document(await create(two.one, location=place, **STAGED))
    assert (await refusal_of(create(two.other, "other", location=f"{place}/in"))).reason == Reason.REASON_LOCATION_TAKEN
    second = document(await create(two.other, location=place, **STAGED))
    stale: Json = {"action": "assign-uuid", "uuid": first["table-uuid"]}
    refusal = await refusal_of(commit(two.one, stale, path=("sales", "new"), requirements=[CREATED]))
    assert refusal.reason == Reason.REASON_ASSIGN_UUID_NOT_ALLOWED
    right: Json = {"action": "assign-uuid", "uuid": second["table-uuid"]}
    results = await asyncio.gather(
        *(
            commit(each, right, prop("a"), path=("sales", "new"), requirements=[CREATED])
            for each in (two.one, two.other)
        ),
        return_exceptions=True,
    )
    assert refused(results) == {Reason.REASON_COMMIT_CONFLICT}
    row = await two.row("new")
    assert (row.state, row.expires_at, row.metadata_location in two.one.files.stored) == (State.LIVE, None, True)
    assert (await refusal_of(create(two.one, location=place))).reason == Reason.REASON_TABULAR_EXISTS


async def test_files_are_registered_overwritten_and_refused_where_they_are_anothers(two: Two) -> None:
    place = f"{two.base}/found"
    file = f"{place}/metadata/00003-x.metadata.json"
    two.one.files.stored[file] = a_file(place, **{"table-uuid": str(uuid4())})
    await register(two.one, file)
    first = await two.row("found")
    assert (await refusal_of(register(two.other, file, name="again"))).reason == Reason.REASON_LOCATION_TAKEN
    await commit(two.other, prop("a"), path=("sales", "found"))
    assert properties(await register(two.other, file, overwrite=True)) == []
    again = await two.row("found")
    assert (again.tabular_id, again.incarnation == first.incarnation) == (first.tabular_id, False)
    assert properties(await load(two.one, "sales", "found")) == []
    await drop(two.one, "found", purge=True)
    assert (await refusal_of(register(two.one, file))).reason == Reason.REASON_LOCATION_BEING_PURGED


async def test_twins_of_one_key_in_two_processes_make_one_commit_and_one_table(two: Two) -> None:
    told, keys = len(await two.stores.told()), [uuid4(), uuid4()]
    commits = await asyncio.gather(*(commit(each, prop("a"), key=keys[0]) for each in (two.one, two.other)))
    creates = await asyncio.gather(*(create(each, key=keys[1]) for each in (two.one, two.other)))
    assert len({reply.table.metadata_location for reply in commits}) == 1
    assert len({reply.table.metadata_location for reply in creates}) == 1
    assert len(await two.stores.told()) == told + 2
    await drop(two.one, "new")
    await create(two.one)
    assert (await refusal_of(create(two.other, key=keys[1]))).reason == Reason.REASON_NO_SUCH_TABLE


async def test_a_signature_is_for_the_table_that_lies_there(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    signed: list[str] = []
    sign = two.one.access.sign

    async def noted(warehouse: Any, tabular: Tabular | None, *args: Any, **kwargs: Any) -> Any:
        if tabular is not None:
            signed.append(tabular.ident.name)
        return await sign(warehouse, tabular, *args, **kwargs)

    monkeypatch.setattr(two.one.access, "sign", noted)
    place = (await two.row("orders")).location

    def ask(place: str) -> Any:
        return two.one.signing.SignS3Request(
            signing_pb2.SignS3RequestRequest(
                warehouse_id=two.one.warehouse_id,
                method="GET",
                uri=f"{place.replace('s3://', 'https://s3/')}/data/x",
                region="eu",
            )
        )

    await ask(place)
    assert signed == ["orders"]
    assert (await refusal_of(ask(place + "2"))).reason == Reason.REASON_NO_SUCH_TABLE
