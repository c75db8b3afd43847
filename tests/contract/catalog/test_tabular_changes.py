from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from uuid import uuid4

import msgspec
import pytest

from lakeward_catalog.application.changes import Stood
from lakeward_catalog.application.ports.stores import Visibility
from lakeward_catalog.domain.bodies import text_of
from lakeward_catalog.domain.model import Incarnation, Kind, MetadataId, State, Tabular, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_locations import Location
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.deflated import join
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import NOON, a_body, a_commit, a_namespace, a_purge, a_storage, a_tabular, an_event

EVERYTHING = Visibility(everything=True)


async def _text(stores: Stores, tabular: Tabular, metadata_id: MetadataId, *, references: bool = False) -> str:
    parts = await stores.bodies.body(tabular.warehouse_id, metadata_id, references=references)
    return text_of(join([part.part for part in parts])).decode()


async def _found(stores: Stores, tabular: Tabular) -> Tabular | None:
    return (await stores.tabulars.locate(tabular.warehouse_id, tabular.ident)).tabular


def _reason(refused: pytest.ExceptionInfo[Refusal]) -> int:
    return refused.value.reason


async def test_a_tabular_is_found_as_it_was_inserted(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    assert await _found(stores, tabular) == tabular


async def test_names_compare_without_case_and_keep_theirs(stores: Stores) -> None:
    namespace = await stores.with_namespace(
        None,
        "Sales",
    )
    tabular = await stores.with_tabular(namespace, "Straße")
    ident = TabularIdent(NamespaceIdent(("sALES",)), "STRASSE")
    assert (await stores.tabulars.locate(tabular.warehouse_id, ident)).tabular == tabular


async def test_a_location_says_how_far_the_path_exists(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    nothing = await stores.tabulars.locate(namespace.warehouse_id, TabularIdent(namespace.ident, "absent"))
    assert nothing.warehouse is not None
    assert nothing.namespace == namespace
    assert nothing.tabular is None
    elsewhere = TabularIdent(NamespaceIdent(("absent",)), "t")
    assert (await stores.tabulars.locate(namespace.warehouse_id, elsewhere)).namespace is None
    nowhere = await stores.tabulars.locate(WarehouseId(uuid4()), TabularIdent(namespace.ident, "t"))
    assert (nowhere.warehouse, nowhere.namespace, nowhere.tabular) == (None, None, None)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", ""])
async def test_a_name_that_cannot_be_stored_is_not_there(stores: Stores, name: str) -> None:
    tabular = await stores.with_tabular()
    other = TabularIdent(tabular.ident.namespace, name)
    absent, found = await asyncio.gather(
        stores.tabulars.locate(tabular.warehouse_id, other),
        stores.tabulars.locate(tabular.warehouse_id, tabular.ident),
    )
    assert absent.tabular is None
    assert found.tabular == tabular


async def test_what_was_committed_is_what_is_loaded(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    commit = a_commit(tabular, body=a_body('{"version":2}'))
    async with stores.changes.change() as change:
        assert not (await change.tabulars.commit([commit])).lost
    found = await _found(stores, tabular)
    assert found == dataclasses.replace(
        tabular, metadata_id=commit.metadata_id, metadata_location=commit.metadata_location
    )
    assert await _text(stores, tabular, commit.metadata_id) == '{"version":2}'
    assert await stores.changes.current_metadata(tabular.warehouse_id, tabular.incarnation) == commit.metadata_id


async def test_a_body_that_was_replaced_is_gone(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        await change.tabulars.commit([a_commit(tabular)])
    with pytest.raises(LookupError):
        await stores.bodies.body(tabular.warehouse_id, tabular.metadata_id, references=False)


async def test_views_come_with_their_documents_and_nothing_else_is_one(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    view, table = a_tabular(namespace, "Seen", kind=Kind.VIEW), a_tabular(namespace, "t")
    staged = a_tabular(namespace, "s", kind=Kind.VIEW, state=State.STAGED)
    async with stores.changes.change() as change:
        await change.tabulars.insert(view, a_body('{"view":1}'), owner=ANONYMOUS)
        await change.tabulars.insert(table, a_body((uuid4(), '{"table":'), "1}"), owner=ANONYMOUS)
        await change.tabulars.insert(staged, a_body(), owner=ANONYMOUS)
    absent = TabularIdent(NamespaceIdent(("absent",)), "seen")
    lower = TabularIdent(view.ident.namespace, "sEEN")
    unstorable = TabularIdent(view.ident.namespace, "a\0b")
    names = [absent, lower, table.ident, staged.ident, unstorable, view.ident]
    found = await stores.tabulars.views(view.warehouse_id, names)
    assert [row and row.view for row in found] == [None, view, None, None, None, view]
    assert [text_of(row.document) for row in found if row is not None] == [b'{"view":1}'] * 2
    async with stores.changes.change() as change:
        await change.tabulars.commit([a_commit(view, body=a_body('{"view":2}'))])
    (row,) = await stores.tabulars.views(view.warehouse_id, [view.ident])
    assert row is not None
    assert text_of(row.document) == b'{"view":2}'
    assert await stores.tabulars.views(WarehouseId(uuid4()), [view.ident]) == [None]


async def test_of_two_commits_from_one_metadata_exactly_one_wins(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    commits = [a_commit(tabular) for _ in range(8)]

    async def attempt(index: int) -> bool:
        async with stores.changes.change() as change:
            return not (await change.tabulars.commit([commits[index]])).lost

    won = await asyncio.gather(*(attempt(index) for index in range(8)))
    assert sum(won) == 1
    found = await _found(stores, tabular)
    assert found is not None
    assert found.metadata_id == commits[won.index(True)].metadata_id


async def test_commits_to_several_tables_happen_all_or_not_at_all(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    first, second = await stores.with_tabular(namespace), await stores.with_tabular(namespace)
    stale = msgspec.structs.replace(a_commit(second), expected=MetadataId(uuid4()))
    async with stores.changes.change() as change:
        assert list((await change.tabulars.commit([a_commit(first), stale])).lost) == [second.incarnation]
    assert await _found(stores, first) == first
    async with stores.changes.change() as change:
        assert not (await change.tabulars.commit([a_commit(second), a_commit(first)])).lost
    assert (await _found(stores, first)) != first


async def test_transactions_over_the_same_tables_in_any_order_all_end(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    tables = [await stores.with_tabular(namespace) for _ in range(4)]

    async def attempt(turn: int) -> bool:
        order = tables if turn % 2 else tables[::-1]
        async with stores.changes.change() as change:
            return not (await change.tabulars.commit([a_commit(table) for table in order])).lost

    assert sum(await asyncio.gather(*(attempt(turn) for turn in range(8)))) == 1


@pytest.mark.parametrize("several", [False, True])
async def test_a_commit_that_waited_for_a_rename_says_where_its_table_went(stores: Stores, several: bool) -> None:
    warehouse = await stores.with_warehouse()
    namespace = await stores.with_namespace(warehouse)
    tabular, other = await stores.with_tabular(namespace), await stores.with_tabular(namespace)
    made_meanwhile = a_namespace(warehouse, "elsewhere")

    async def commit() -> Stood:
        async with stores.changes.change() as change:
            committed = await change.tabulars.commit(
                [a_commit(each) for each in ([tabular, other] if several else [tabular])]
            )
            return committed.stood[tabular.incarnation]

    async with stores.changes.change() as change:
        await change.namespaces.insert(made_meanwhile, owner=ANONYMOUS)
        await change.tabulars.rename(tabular, namespace=made_meanwhile, name="Renamed")
        committing = asyncio.create_task(commit())
        await asyncio.sleep(0.1)  # it waits for the row by now, or finds it renamed, if that took longer
    assert await committing == Stood(
        made_meanwhile.namespace_id, TabularIdent(made_meanwhile.ident, "Renamed"), tabular.protected
    )


async def test_a_dropped_table_takes_no_commit(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        await change.tabulars.drop(tabular, at=NOON, expires_at=NOON + timedelta(days=7))
    async with stores.changes.change() as change:
        assert list((await change.tabulars.commit([a_commit(tabular)])).lost) == [tabular.incarnation]


async def test_the_first_commit_makes_a_staged_table_live(stores: Stores) -> None:
    tabular = await stores.with_tabular(state=State.STAGED)
    async with stores.changes.change() as change:
        assert not (await change.tabulars.commit([a_commit(tabular)])).lost
    found = await _found(stores, tabular)
    assert found is not None
    assert (found.state, found.expires_at) == (State.LIVE, None)


async def test_both_forms_of_a_body_come_back_part_by_part(stores: Stores) -> None:
    first, second = uuid4(), uuid4()
    body = a_body(
        "{", (first, "snapshot 1,"), (second, "snapshot 2,"), "newest}", references=("{", (second, "snapshot 2,"), "}")
    )
    tabular = await stores.with_tabular()
    commit = a_commit(tabular, body=body)
    async with stores.changes.change() as change:
        await change.tabulars.commit([commit])
    whole = await stores.bodies.body(tabular.warehouse_id, commit.metadata_id, references=False)
    assert tuple(whole) == body.everything
    references = await stores.bodies.body(tabular.warehouse_id, commit.metadata_id, references=True)
    assert tuple(references) == body.references
    assert await stores.chunks(tabular) == 2


async def test_the_form_for_references_is_the_document_where_nothing_is_left_out(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    assert await _text(stores, tabular, tabular.metadata_id, references=True) == '{"format-version":2}'


async def test_shared_parts_stay_while_a_body_names_them_and_go_with_the_last(stores: Stores) -> None:
    old, new = uuid4(), uuid4()
    tabular = await stores.with_tabular()
    first = a_commit(tabular, body=a_body("{", (old, "old"), "}"))
    async with stores.changes.change() as change:
        await change.tabulars.commit([first])
    second = msgspec.structs.replace(
        a_commit(tabular, body=a_body("{", (old, "old"), (new, "new"), "}")),
        expected=first.metadata_id,
        kept_chunks=frozenset({old}),
    )
    async with stores.changes.change() as change:
        assert not (await change.tabulars.commit([second])).lost
    assert await _text(stores, tabular, second.metadata_id) == "{oldnew}"
    assert await stores.chunks(tabular) == 2
    third = msgspec.structs.replace(a_commit(tabular, body=a_body("{}")), expected=second.metadata_id)
    async with stores.changes.change() as change:
        assert not (await change.tabulars.commit([third])).lost
    assert await stores.chunks(tabular) == 0


async def test_equal_shared_parts_of_two_tables_are_each_ones_own(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    shared = uuid4()
    first, second = await stores.with_tabular(namespace), await stores.with_tabular(namespace)
    commits = [a_commit(each, body=a_body("{", (shared, "same"), "}")) for each in (first, second)]
    async with stores.changes.change() as change:
        await change.tabulars.commit(commits)
    async with stores.changes.change() as change:
        await change.tabulars.delete(first)
    assert await _text(stores, second, commits[1].metadata_id) == "{same}"


async def test_a_name_that_is_taken_is_refused_whatever_its_case(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    await stores.with_tabular(namespace, "Orders")
    with pytest.raises(Refusal) as refused:
        await stores.with_tabular(namespace, "ORDERS", kind=Kind.VIEW)
    assert _reason(refused) == Reason.REASON_TABULAR_EXISTS


async def test_of_two_creates_of_one_name_exactly_one_wins(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    outcomes = await asyncio.gather(*(stores.with_tabular(namespace, "same") for _ in range(6)), return_exceptions=True)
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    assert len(refusals) == 5
    assert {each.reason for each in refusals} == {Reason.REASON_TABULAR_EXISTS}


async def test_a_public_id_is_taken_once_in_a_warehouse_and_free_in_the_next(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    namespace = await stores.with_namespace(await stores.warehouse_of(tabular))
    with pytest.raises(Refusal) as refused:
        await stores.with_tabular(namespace, tabular_id=tabular.tabular_id)
    assert _reason(refused) == Reason.REASON_TABULAR_EXISTS
    await stores.with_tabular(await stores.with_namespace(), tabular_id=tabular.tabular_id)


async def test_a_staged_table_gives_way_to_a_create_of_its_name(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    staged = await stores.with_tabular(namespace, "t", state=State.STAGED)
    made = await stores.with_tabular(namespace, "T")
    assert await _found(stores, staged) == made
    assert await stores.changes.current_metadata(staged.warehouse_id, staged.incarnation) is None


async def test_a_create_and_the_commit_of_the_staged_row_it_would_replace_leave_one_table(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    staged = await stores.with_tabular(namespace, "t", state=State.STAGED)

    async def finish() -> bool:
        async with stores.changes.change() as change:
            return not (await change.tabulars.commit([a_commit(staged)])).lost

    finished, made = await asyncio.gather(finish(), stores.with_tabular(namespace, "t"), return_exceptions=True)
    assert (finished is True) == isinstance(made, Refusal)


async def test_two_tabulars_never_lie_at_one_place(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    namespace = await stores.with_namespace(await stores.warehouse_of(tabular))
    spelled = tabular.location.replace("s3://", "s3a://")
    with pytest.raises(Refusal) as refused:
        await stores.with_tabular(namespace, location=spelled)
    assert _reason(refused) == Reason.REASON_LOCATION_TAKEN


async def test_a_tabular_in_a_namespace_that_went_is_refused(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    async with stores.changes.change() as change:
        await change.namespaces.delete(namespace)
    with pytest.raises(Refusal) as refused:
        await stores.with_tabular(namespace)
    assert _reason(refused) == Reason.REASON_NO_SUCH_NAMESPACE


async def test_a_dropped_table_frees_its_name_and_keeps_its_place(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        await change.tabulars.drop(tabular, at=NOON, expires_at=NOON + timedelta(days=7))
    assert await _found(stores, tabular) is None
    by_id = await stores.tabulars.by_id(tabular.warehouse_id, tabular.tabular_id)
    assert by_id is not None
    assert by_id.state is State.DROPPED
    inside = Location.parse(f"{tabular.location}/data/file.parquet")
    assert await stores.tabulars.by_location(tabular.warehouse_id, inside) == by_id
    namespace = (await stores.namespaces.find(tabular.warehouse_id, tabular.ident.namespace))[1]
    await stores.with_tabular(namespace, tabular.ident.name)


async def test_protection_is_set_and_not_of_an_older_version(stores: Stores) -> None:
    tabular = await stores.with_tabular()

    async def protect(*, protected: bool) -> None:
        async with stores.changes.change() as change:
            await change.tabulars.set_protection(tabular, protected=protected)

    assert await _found(stores, tabular) == tabular
    await protect(protected=True)
    found = await _found(stores, tabular)
    assert found == dataclasses.replace(tabular, protected=True, row_version=2)
    with pytest.raises(Refusal) as refused:
        await protect(protected=False)
    assert _reason(refused) == Reason.REASON_CONCURRENT_CHANGE
    assert await _found(stores, tabular) == found


async def test_a_dropped_table_is_protected_and_stays_dropped(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    expires_at = NOON + timedelta(days=7)
    async with stores.changes.change() as change:
        await change.tabulars.drop(tabular, at=NOON, expires_at=expires_at)
    async with stores.changes.change() as change:
        dropped = await change.tabulars.lock_incarnation(tabular.warehouse_id, tabular.incarnation)
        assert dropped is not None
        await change.tabulars.set_protection(dropped, protected=True)
    assert await stores.tabulars.by_id(tabular.warehouse_id, tabular.tabular_id) == dataclasses.replace(
        tabular, state=State.DROPPED, expires_at=expires_at, protected=True, row_version=3
    )


async def test_a_deleted_table_leaves_nothing(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        await change.tabulars.delete(tabular)
    assert await stores.tabulars.by_id(tabular.warehouse_id, tabular.tabular_id) is None
    with pytest.raises(LookupError):
        await stores.bodies.body(tabular.warehouse_id, tabular.metadata_id, references=False)


async def test_a_rename_moves_the_name_and_nothing_else(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    warehouse = await stores.warehouse_of(tabular)
    target = await stores.with_namespace(warehouse)
    async with stores.changes.change() as change:
        await change.tabulars.rename(tabular, namespace=target, name="renamed")
    assert await _found(stores, tabular) is None
    ident = TabularIdent(target.ident, "renamed")
    moved = (await stores.tabulars.locate(tabular.warehouse_id, ident)).tabular
    assert moved == dataclasses.replace(tabular, ident=ident, namespace_id=target.namespace_id, row_version=2)


async def test_a_rename_to_a_taken_name_is_refused(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    tabular, other = await stores.with_tabular(namespace), await stores.with_tabular(namespace)
    with pytest.raises(Refusal) as refused:
        async with stores.changes.change() as change:
            await change.tabulars.rename(tabular, namespace=namespace, name=other.ident.name.upper())
    assert _reason(refused) == Reason.REASON_TABULAR_EXISTS


async def test_a_rename_may_change_a_names_case(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    tabular = await stores.with_tabular(namespace, "orders")
    async with stores.changes.change() as change:
        await change.tabulars.rename(tabular, namespace=namespace, name="Orders")
    found = await _found(stores, tabular)
    assert found is not None
    assert found.ident.name == "Orders"


async def test_a_change_of_a_row_that_moved_is_refused(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    tabular = await stores.with_tabular(namespace)
    async with stores.changes.change() as change:
        await change.tabulars.rename(tabular, namespace=namespace, name="renamed")
    with pytest.raises(Refusal) as refused:
        async with stores.changes.change() as change:
            await change.tabulars.drop(tabular, at=NOON, expires_at=NOON)
    assert _reason(refused) == Reason.REASON_CONCURRENT_CHANGE


async def test_an_absent_tabular_is_not_locked(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    absent = TabularIdent(namespace.ident, "absent")
    async with stores.changes.change() as change:
        locked = await change.tabulars.lock(namespace.warehouse_id, absent, list(Kind), states=list(State))
    assert locked is None


async def test_only_the_asked_kind_and_state_is_locked(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        found = await change.tabulars.lock(tabular.warehouse_id, tabular.ident, (Kind.TABLE,), states=(State.LIVE,))
        assert found == tabular
    for kinds, states in (((Kind.VIEW,), (State.LIVE,)), ((Kind.TABLE,), (State.STAGED,))):
        async with stores.changes.change() as change:
            assert await change.tabulars.lock(tabular.warehouse_id, tabular.ident, kinds, states=states) is None


@pytest.mark.parametrize(
    ("where", "enclosed_too", "overlaps"),
    [
        ("{0}", False, True),
        ("{0}/inner", False, True),
        ("{0}-beside", True, False),
        ("{1}", False, False),
        ("{1}", True, True),
    ],
)
async def test_places_overlap_by_whole_segments(stores: Stores, where: str, enclosed_too: bool, overlaps: bool) -> None:
    tabular = await stores.with_tabular()
    location = Location.parse(where.format(tabular.location, tabular.location.rpartition("/")[0]))
    async with stores.changes.change() as change:
        await change.locations.lock(tabular.warehouse_id, exclusively=True)
        found = await change.locations.overlapping(tabular.warehouse_id, location, enclosed_too=enclosed_too)
        assert found == (tabular if overlaps else None)
        assert not await change.locations.overlapping(
            tabular.warehouse_id, location, enclosed_too=enclosed_too, but_not=tabular.incarnation
        )


@pytest.mark.parametrize("tells_case", [True, False, None])
@pytest.mark.parametrize(
    ("place", "other", "overlaps"),
    [
        ("s3://lake/base/Abc%3F", "s3://lake/base/abc%3F", True),
        ("s3://lake/base/Abc%3F", "s3://lake/base/Abc%3f", True),
        ("s3://lake/base/Kelvin/t", "s3://lake/base/\u212aelvin/t", True),
        ("s3://lake/base/STRASSE", "s3://lake/base/stra\u00dfe", True),
        ("s3://lake/base/abc", "s3://lake/base/ABC/inner", True),
        ("s3://lake/base/ABC/inner", "s3://lake/base/abc", True),
        ("s3://lake/base/abc", "s3://lake/base/ABCD", False),
        ("s3://lake/base/caf\u00e9", "s3://lake/base/cafe\u0301", False),
    ],
)
async def test_places_that_differ_by_case_alone_are_one_unless_the_store_was_seen_to_tell_them_apart(
    stores: Stores, tells_case: bool | None, place: str, other: str, overlaps: bool
) -> None:
    warehouse = await stores.with_warehouse(storage=a_storage(tells_case=tells_case))
    tabular = await stores.with_tabular(await stores.with_namespace(warehouse), location=place)
    async with stores.changes.change() as change:
        found = await change.locations.overlapping(warehouse.warehouse_id, Location.parse(other), enclosed_too=True)
        assert found == (tabular if overlaps and tells_case is not True else None)
        await change.tabulars.delete(tabular)
        await change.tasks.enqueue(a_purge(tabular))
    async with stores.changes.change() as change:
        pending = await change.locations.purge_pending(warehouse.warehouse_id, Location.parse(other))
        assert pending is (overlaps and tells_case is not True)


async def test_a_table_that_moved_is_found_without_regard_to_case_where_it_is_and_not_where_it_was(
    stores: Stores,
) -> None:
    tabular = await stores.with_tabular(location="s3://lake/base/Before")
    moved = Location.parse("s3://lake/base/After")
    async with stores.changes.change() as change:
        assert not (await change.tabulars.commit([msgspec.structs.replace(a_commit(tabular), location=moved)])).lost
    async with stores.changes.change() as change:
        for place, found in (("before", False), ("AFTER", True)):
            location = Location.parse(f"s3://lake/base/{place}")
            overlapping = await change.locations.overlapping(tabular.warehouse_id, location, enclosed_too=True)
            assert (overlapping is not None) is found, place


async def test_what_a_proof_learns_of_case_is_kept_with_its_warehouse(stores: Stores) -> None:
    warehouse = await stores.with_warehouse(storage=a_storage(tells_case=None))
    tabular = await stores.with_tabular(await stores.with_namespace(warehouse), location="s3://lake/base/abc")
    for tells_case in (True, False):
        async with stores.changes.change() as change:
            locked = await change.warehouses.lock(warehouse.warehouse_id)
            assert locked is not None
            await change.warehouses.update(
                dataclasses.replace(locked, storage=dataclasses.replace(locked.storage, tells_case=tells_case))
            )
        async with stores.changes.change() as change:
            locked = await change.warehouses.lock(warehouse.warehouse_id)
            assert locked is not None
            assert locked.storage.tells_case is tells_case
            other = Location.parse("s3://lake/base/ABC")
            found = await change.locations.overlapping(warehouse.warehouse_id, other, enclosed_too=False)
            assert found == (None if tells_case else tabular)


async def test_a_location_longer_than_an_index_entry_is_compared_whole(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    segments = "/".join("é" * 120 for _ in range(10))
    tabular = await stores.with_tabular(namespace, location=f"s3://lake/{segments}/first")
    await stores.with_tabular(namespace, location=f"s3://lake/{segments}/second")
    async with stores.changes.change() as change:
        inner = Location.parse(f"{tabular.location}/data")
        assert await change.locations.overlapping(tabular.warehouse_id, inner, enclosed_too=False) == tabular
        beside = Location.parse(f"s3://lake/{segments}/third")
        assert await change.locations.overlapping(tabular.warehouse_id, beside, enclosed_too=True) is None


async def test_files_that_wait_to_be_purged_block_what_overlaps_them(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        await change.tabulars.delete(tabular)
        await change.tasks.enqueue(a_purge(tabular))
    async with stores.changes.change() as change:
        for place, pending in (
            (tabular.location, True),
            (f"{tabular.location}/inner", True),
            (tabular.location.rpartition("/")[0], True),
            (f"{tabular.location}2", False),
        ):
            assert await change.locations.purge_pending(tabular.warehouse_id, Location.parse(place)) is pending


async def test_queueing_the_same_work_twice_answers_the_first_ones_id(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        first = await change.tasks.enqueue(a_purge(tabular))
        assert await change.tasks.enqueue(a_purge(tabular)) == first
    async with stores.changes.change() as change:
        assert await change.tasks.enqueue(a_purge(tabular)) == first


async def test_what_a_refused_change_did_is_undone(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    tabular, event = a_tabular(namespace), an_event(namespace.warehouse_id)

    async def make_two_of_one_name() -> None:
        async with stores.changes.change() as change:
            await change.tabulars.insert(tabular, a_body(), owner=ANONYMOUS)
            change.ledger.emit(event)
            await change.tabulars.insert(
                dataclasses.replace(a_tabular(namespace), ident=tabular.ident), a_body(), owner=ANONYMOUS
            )

    with pytest.raises(Refusal):
        await make_two_of_one_name()
    assert await _found(stores, tabular) is None
    assert event.event_id not in await stores.told()


async def test_events_keep_the_order_in_which_they_were_emitted(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    events = [an_event(namespace.warehouse_id) for _ in range(20)]
    async with stores.changes.change() as change:
        change.ledger.emit(*events[:3])
        await change.tabulars.insert(a_tabular(namespace), a_body(), owner=ANONYMOUS)
        change.ledger.emit(*events[3:])
    wanted = [event.event_id for event in events]
    assert [each for each in await stores.told() if each in wanted] == wanted


async def test_an_incarnation_that_never_was_has_no_metadata(stores: Stores) -> None:
    namespace = a_namespace(await stores.with_warehouse())
    assert await stores.changes.current_metadata(namespace.warehouse_id, Incarnation(uuid4())) is None


async def test_a_generic_table_has_no_file_and_is_listed_with_its_format_alone_of_its_kind(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    await stores.with_tabular(namespace, "iceberg")
    generic = dataclasses.replace(a_tabular(namespace, "vectors"), kind=Kind.GENERIC_TABLE, metadata_location=None)
    async with stores.changes.change() as change:
        await change.tabulars.insert(generic, a_body('{"format":"lance"}'), owner=ANONYMOUS, listed_as="lance")
    assert await _found(stores, generic) == generic
    listed = {
        kind: await stores.tabulars.list(
            generic.warehouse_id, namespace.namespace_id, kind, visible=EVERYTHING, after=None, limit=10
        )
        for kind in Kind
    }
    assert [(each.name, each.format) for each in listed[Kind.GENERIC_TABLE]] == [("vectors", "lance")]
    assert [(each.name, each.format) for each in listed[Kind.TABLE]] == [("iceberg", None)]
    shown = await stores.tabulars.list(
        generic.warehouse_id,
        namespace.namespace_id,
        Kind.GENERIC_TABLE,
        visible=Visibility(everything=False, objects=frozenset({generic.incarnation})),
        after=None,
        limit=10,
    )
    assert shown == listed[Kind.GENERIC_TABLE]
    assert await stores.tabulars.counts(generic.warehouse_id) == {Kind.TABLE: 1, Kind.GENERIC_TABLE: 1}


async def test_a_commit_to_a_generic_table_writes_its_document_and_no_files_place(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    generic = dataclasses.replace(a_tabular(namespace, "vectors"), kind=Kind.GENERIC_TABLE, metadata_location=None)
    async with stores.changes.change() as change:
        await change.tabulars.insert(generic, a_body('{"v":1}'), owner=ANONYMOUS, listed_as="lance")
    commit = msgspec.structs.replace(a_commit(generic, body=a_body('{"v":2}')), metadata_location=None)
    async with stores.changes.change() as change:
        assert not (await change.tabulars.commit([commit])).lost
    found = await _found(stores, generic)
    assert found == dataclasses.replace(generic, metadata_id=commit.metadata_id)
    assert await _text(stores, generic, commit.metadata_id) == '{"v":2}'
    async with stores.changes.change() as change:
        assert [*(await change.tabulars.commit([commit])).lost] == [generic.incarnation]
