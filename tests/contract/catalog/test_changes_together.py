"""Commits, and tabulars that come to be, which many ask for at one moment: they may share transactions, and nothing else."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from uuid import uuid4

from lakeward_catalog.application.changes import Stood, TabularInsert
from lakeward_catalog.domain.bodies import Body, text_of
from lakeward_catalog.domain.model import Kind, MetadataId, Namespace, State, Tabular
from lakeward_catalog.domain.names import TabularIdent
from lakeward_locations import Location
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.deflated import join
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event
from tests.support.catalog.stores import MemoryStores, Stores
from tests.support.catalog.values import a_body, a_commit, a_namespace, a_tabular, an_event

MANY = 50  # more than go into a transaction


async def _commit(stores: Stores, tabular: Tabular, told: dict[object, Stood], **changes: object) -> bool:
    commit = a_commit(tabular, **changes)

    def tell(stood: Stood) -> Event:
        event = an_event(tabular.warehouse_id)
        told[event.event_id] = stood
        return event

    return await stores.changes.commit(commit, tell)


async def _insert(stores: Stores, tabular: Tabular, body: Body | None = None) -> Event:
    event = an_event(tabular.warehouse_id, verb="created")
    insert = TabularInsert(tabular, body or a_body(), ANONYMOUS, None)
    await stores.changes.insert(insert, event)
    return event


async def _found(stores: Stores, tabular: Tabular) -> Tabular | None:
    return (await stores.tabulars.locate(tabular.warehouse_id, tabular.ident)).tabular


async def _text(stores: Stores, tabular: Tabular) -> str:
    parts = await stores.bodies.body(tabular.warehouse_id, tabular.metadata_id, references=False)
    return text_of(join([part.part for part in parts])).decode()


def _refusals(outcomes: Sequence[object]) -> list[Refusal]:
    assert not [each for each in outcomes if isinstance(each, BaseException) and not isinstance(each, Refusal)]
    return [each for each in outcomes if isinstance(each, Refusal)]


async def test_each_of_many_commits_is_made_and_told_of(stores: Stores) -> None:
    namespace, other = await stores.with_namespace(), await stores.with_namespace()
    tables = [await stores.with_tabular(each) for each in (namespace, other) for _ in range(MANY // 2)]
    told: dict[object, Stood] = {}
    assert all(await asyncio.gather(*(_commit(stores, each, told) for each in tables)))
    assert [(await _found(stores, each)) != each for each in tables] == [True] * MANY
    assert {each.ident for each in told.values()} == {each.ident for each in tables}
    assert told.keys() <= set(await stores.told())


async def test_of_many_commits_those_that_lost_wrote_nothing_and_the_others_did(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    tables = [await stores.with_tabular(namespace) for _ in range(MANY)]
    told: dict[object, Stood] = {}
    stale = MetadataId(uuid4())
    outcomes = await asyncio.gather(
        *(
            _commit(stores, each, told, **({"expected": stale} if index % 2 else {}))
            for index, each in enumerate(tables)
        )
    )
    assert outcomes == [index % 2 == 0 for index in range(MANY)]
    assert [(await _found(stores, each)) == each for each in tables] == [not outcome for outcome in outcomes]
    assert len(told) == sum(outcomes)


async def test_of_commits_to_one_table_from_one_metadata_exactly_one_wins(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    told: dict[object, Stood] = {}
    bodies = [f'{{"of":{number}}}' for number in range(8)]
    won = await asyncio.gather(*(_commit(stores, tabular, told, body=a_body(body)) for body in bodies))
    assert sum(won) == len(told) == 1
    found = await _found(stores, tabular)
    assert found is not None
    assert await _text(stores, found) == bodies[won.index(True)]


async def test_each_of_several_commits_that_waited_says_where_its_table_went(stores: Stores) -> None:
    warehouse = await stores.with_warehouse()
    namespace = await stores.with_namespace(warehouse)
    renamed, stays = await stores.with_tabular(namespace), await stores.with_tabular(namespace)
    elsewhere = a_namespace(warehouse, "elsewhere")
    told: dict[object, Stood] = {}
    async with stores.changes.change() as change:
        await change.namespaces.insert(elsewhere, owner=ANONYMOUS)
        await change.tabulars.rename(renamed, namespace=elsewhere, name="Renamed")
        committing = asyncio.gather(*(_commit(stores, each, told) for each in (renamed, stays)))
        await asyncio.sleep(0.1)  # they wait for the row by now, or find it renamed, if that took longer
    assert await committing == [True, True]
    assert sorted(told.values(), key=lambda each: each.ident.name) == [
        Stood(elsewhere.namespace_id, TabularIdent(elsewhere.ident, "Renamed"), protected=False),
        Stood(namespace.namespace_id, stays.ident, protected=False),
    ]


async def test_those_that_wait_for_nobody_are_not_held_up_by_one_that_does(stores: Stores) -> None:
    if isinstance(stores, MemoryStores):
        return  # its transactions run one after another
    namespace = await stores.with_namespace()
    locked, *free = [await stores.with_tabular(namespace) for _ in range(4)]
    waits = await stores.with_namespace(await stores.warehouse_of(namespace))
    new = [a_tabular(waits), a_tabular(namespace)]
    told: dict[object, Stood] = {}
    async with stores.changes.change() as change:
        await change.tabulars.lock_incarnation(locked.warehouse_id, locked.incarnation)
        await change.namespaces.lock(waits.warehouse_id, waits.ident, exclusively=True)
        held_up = [asyncio.create_task(_commit(stores, locked, told)), asyncio.create_task(_insert(stores, new[0]))]
        others = [_commit(stores, each, told) for each in free]
        assert await asyncio.gather(*others) == [True] * 3
        await _insert(stores, new[1])
        assert not [each for each in held_up if each.done()]
    assert await held_up[0]
    await held_up[1]
    assert [await _found(stores, each) for each in new] == new


async def test_what_one_commit_is_refused_for_is_not_the_others(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    tables = [await stores.with_tabular(namespace) for _ in range(4)]
    told: dict[object, Stood] = {}

    def fail(_: Stood) -> Event:
        raise Refusal(Reason.REASON_CONCURRENT_CHANGE, "this one", object="o")

    outcomes = await asyncio.gather(
        stores.changes.commit(a_commit(tables[0]), fail),
        *(_commit(stores, each, told) for each in tables[1:]),
        return_exceptions=True,
    )
    assert [each.reason for each in _refusals(outcomes)] == [Reason.REASON_CONCURRENT_CHANGE]
    assert outcomes[1:] == [True] * 3
    assert [(await _found(stores, each)) == each for each in tables] == [True, False, False, False]
    assert len(set(told) & set(await stores.told())) == 3


async def test_each_of_many_tabulars_comes_to_be_in_its_own_namespace_and_is_told_of(stores: Stores) -> None:
    spaces: list[Namespace] = [await stores.with_namespace() for _ in range(3)]
    new = [a_tabular(spaces[number % 3], f"t_{number}") for number in range(MANY)]
    bodies = [f'{{"of":{number}}}' for number in range(MANY)]
    events = await asyncio.gather(
        *(_insert(stores, each, a_body(body)) for each, body in zip(new, bodies, strict=True))
    )
    assert [await _found(stores, each) for each in new] == new
    assert [await _text(stores, each) for each in new] == bodies
    assert {each.event_id for each in events} <= set(await stores.told())


async def test_of_many_that_want_one_name_exactly_one_gets_it_and_others_get_theirs(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    same = [a_tabular(namespace, "Same" if number % 2 else "same", kind=Kind.TABLE) for number in range(8)]
    others = [a_tabular(namespace, f"other_{number}") for number in range(8)]
    outcomes = await asyncio.gather(*(_insert(stores, each) for each in [*same, *others]), return_exceptions=True)
    assert [each.reason for each in _refusals(outcomes)] == [Reason.REASON_TABULAR_EXISTS] * 7
    assert [await _found(stores, each) for each in others] == others
    assert await _found(stores, same[0]) in same


async def test_a_staged_table_gives_way_to_one_of_several_that_come_to_be(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    staged = await stores.with_tabular(namespace, "t", state=State.STAGED)
    new = [a_tabular(namespace, name) for name in ("T", "u", "v")]
    await asyncio.gather(*(_insert(stores, each) for each in new))
    assert [await _found(stores, each) for each in new] == new
    assert await stores.changes.current_metadata(staged.warehouse_id, staged.incarnation) is None


async def test_one_of_several_that_lies_inside_anothers_place_is_refused_alone(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    around = await stores.with_tabular(namespace)
    inside = dataclasses.replace(
        a_tabular(namespace, "inside"), location=str(Location.parse(around.location).join("deeper"))
    )
    new = [a_tabular(namespace, f"t_{number}") for number in range(4)]
    outcomes = await asyncio.gather(*(_insert(stores, each) for each in [inside, *new]), return_exceptions=True)
    assert [each.reason for each in _refusals(outcomes)] == [Reason.REASON_LOCATION_TAKEN]
    assert isinstance(outcomes[0], Refusal)
    assert [await _found(stores, each) for each in [inside, *new]] == [None, *new]


async def test_one_of_several_with_shared_parts_has_them(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    plain, parted = a_tabular(namespace), a_tabular(namespace)
    body = a_body('{"a":', (uuid4(), "1"), "}")
    await asyncio.gather(_insert(stores, plain), _insert(stores, parted, body))
    assert await _text(stores, parted) == '{"a":1}'
    assert await stores.chunks(parted) == 1
    assert await _found(stores, plain) == plain


async def test_several_that_want_a_namespace_that_went_are_each_refused(stores: Stores) -> None:
    gone = a_namespace(await stores.with_warehouse())
    there = await stores.with_namespace()
    new = [a_tabular(gone, "a"), a_tabular(gone, "b"), a_tabular(there, "c")]
    outcomes = await asyncio.gather(*(_insert(stores, each) for each in new), return_exceptions=True)
    assert [each.reason for each in _refusals(outcomes)] == [Reason.REASON_NO_SUCH_NAMESPACE] * 2
    assert await _found(stores, new[2]) == new[2]


async def test_what_came_to_be_is_committed_to_once_for_each_metadata(stores: Stores) -> None:
    tabular = a_tabular(await stores.with_namespace())
    await _insert(stores, tabular)
    told: dict[object, Stood] = {}
    assert await _commit(stores, tabular, told)
    assert not await _commit(stores, tabular, told)
    found = await _found(stores, tabular)
    assert found is not None
    assert await _commit(stores, found, told)
