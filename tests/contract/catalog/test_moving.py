from __future__ import annotations

import asyncio
import dataclasses

import pytest

from lakeward_catalog.application.refs import namespace_ref
from lakeward_catalog.application.tree import Answer, Gone, Moved, StreamId, TreeChange, stream_of
from lakeward_catalog.domain.model import Namespace, NamespaceId, Tabular
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import a_body, a_namespace, a_tabular


@dataclasses.dataclass
class Tree:
    """Namespaces a, a.B and a.B.c with a table in the second; and what is called alike: aa, and a-b."""

    top: Namespace
    inner: Namespace
    deepest: Namespace
    alike: tuple[Namespace, Namespace]
    table: Tabular


async def a_tree(stores: Stores) -> Tree:
    warehouse = await stores.with_warehouse()
    top = await stores.with_namespace(warehouse, "a")
    inner = a_namespace(warehouse, "B", parent=top)
    deepest = a_namespace(warehouse, "c", parent=inner)
    alike = (a_namespace(warehouse, "aa"), a_namespace(warehouse, "a-b"))
    async with stores.changes.change() as change:
        for each in (inner, deepest, *alike):
            await change.namespaces.insert(each, owner=ANONYMOUS)
    return Tree(top, inner, deepest, alike, await stores.with_tabular(inner, "T"))


async def move(stores: Stores, namespace: Namespace, *path: str, into: Namespace | None = None) -> None:
    async with stores.changes.change() as change:
        await change.namespaces.begin_move(namespace.warehouse_id)
        held, *_ = await change.namespaces.lock_tree(namespace.warehouse_id, namespace.namespace_id)
        parent_id = None if into is None else into.namespace_id
        above = () if into is None else into.ident.parts
        await change.namespaces.move(held, parent_id=parent_id, ident=NamespaceIdent((*above, *path)))


async def now(stores: Stores, namespace: Namespace) -> Namespace:
    _, found = await stores.namespaces.find_by_id(namespace.warehouse_id, namespace.namespace_id)
    assert found is not None
    return found


async def _told(stores: Stores, stream: StreamId) -> list[TreeChange]:
    told: list[TreeChange] = []
    answer = None
    while True:
        batch = await stores.tree.take(stream, answer, limit=100)
        if not batch.changes:
            return told
        told += [numbered.change for numbered in batch.changes]
        answer = Answer(batch.base, batch.changes[-1].sequence)


async def test_a_tree_is_locked_outermost_first_and_nothing_of_what_is_not_there(stores: Stores) -> None:
    tree = await a_tree(stores)
    async with stores.changes.change() as change:
        warehouse_id = tree.top.warehouse_id
        found = await change.namespaces.lock_tree(warehouse_id, tree.top.namespace_id)
        assert list(found) == [tree.top, tree.inner, tree.deepest]
        assert not await change.namespaces.lock_tree(warehouse_id, NamespaceId(tree.table.incarnation))


async def test_whatever_is_inside_is_found_by_the_new_path_and_not_by_the_old_one(stores: Stores) -> None:
    tree = await a_tree(stores)
    before = await stores.tabulars.locate(tree.table.warehouse_id, tree.table.ident)
    assert before.tabular == tree.table
    await move(stores, tree.top, "Straße")
    for was, path in ((tree.top, ()), (tree.inner, ("B",)), (tree.deepest, ("B", "c"))):
        found = await now(stores, was)
        ident = NamespaceIdent(("Straße", *path))
        assert found == dataclasses.replace(was, ident=ident, row_version=was.row_version + 1)
        assert (await stores.namespaces.find(was.warehouse_id, was.ident))[1] is None
        assert (await stores.namespaces.find(was.warehouse_id, NamespaceIdent(("STRASSE", *path))))[1] == found
    after = await stores.tabulars.locate(tree.table.warehouse_id, TabularIdent(NamespaceIdent(("strasse", "b")), "t"))
    ident = TabularIdent(NamespaceIdent(("Straße", "B")), "T")
    assert after.tabular == dataclasses.replace(tree.table, ident=ident)
    old = await stores.tabulars.locate(tree.table.warehouse_id, tree.table.ident)
    assert (old.namespace, old.tabular) == (None, None)
    assert [await now(stores, each) for each in tree.alike] == list(tree.alike)


async def test_a_namespace_hangs_from_its_new_parent_and_so_do_those_inside(stores: Stores) -> None:
    tree = await a_tree(stores)
    other = tree.alike[0]
    await move(stores, tree.inner, "B", into=other)
    moved = await now(stores, tree.inner)
    assert (moved.parent_id, moved.ident.parts) == (other.namespace_id, ("aa", "B"))
    deepest = await now(stores, tree.deepest)
    assert (deepest.parent_id, deepest.ident.parts) == (tree.inner.namespace_id, ("aa", "B", "c"))
    await move(stores, tree.deepest, "c")
    assert ((await now(stores, tree.deepest)).parent_id, (await now(stores, tree.deepest)).ident.parts) == (
        None,
        ("c",),
    )


async def test_a_path_that_is_taken_is_refused_and_one_s_own_in_another_spelling_is_not(stores: Stores) -> None:
    tree = await a_tree(stores)
    with pytest.raises(Refusal) as refused:
        await move(stores, tree.top, "AA")
    assert refused.value.reason == Reason.REASON_NAMESPACE_EXISTS
    await move(stores, tree.top, "A")
    assert (await now(stores, tree.deepest)).ident.parts == ("A", "B", "c")


async def test_authz_is_told_of_another_parent_and_of_no_other_name(stores: Stores) -> None:
    tree = await a_tree(stores)
    stream = stream_of(tree.top.warehouse_id)
    await _told(stores, stream)
    await move(stores, tree.top, "renamed")
    assert await _told(stores, stream) == []
    await move(stores, tree.top, "a", into=tree.alike[0])
    await move(stores, tree.inner, "inner")
    warehouse = await stores.warehouse_of(tree.top)
    assert await _told(stores, stream) == [
        Moved(namespace_ref(warehouse, await now(stores, tree.top))),
        Moved(namespace_ref(warehouse, await now(stores, tree.inner))),
    ]


async def test_what_was_moved_out_stays_when_what_it_was_in_is_dropped(stores: Stores) -> None:
    tree = await a_tree(stores)
    await move(stores, tree.inner, "out")
    stream = stream_of(tree.top.warehouse_id)
    await _told(stores, stream)
    async with stores.changes.change() as change:
        contents = await change.namespaces.contents(tree.top.warehouse_id, tree.top.namespace_id)
        assert (contents.namespaces, contents.tabulars) == ((), ())
        await change.namespaces.delete(tree.top)
    (gone,) = await _told(stores, stream)
    assert isinstance(gone, Gone)
    assert (await now(stores, tree.deepest)).ident.parts == ("out", "c")


async def test_who_holds_a_namespace_by_its_path_finds_it_gone_once_it_has_moved(stores: Stores) -> None:
    tree = await a_tree(stores)
    moving, moved = asyncio.Event(), asyncio.Event()

    async def move_slowly() -> None:
        async with stores.changes.change() as change:
            await change.namespaces.begin_move(tree.top.warehouse_id)
            held, *_ = await change.namespaces.lock_tree(tree.top.warehouse_id, tree.top.namespace_id)
            await change.namespaces.move(held, parent_id=None, ident=NamespaceIdent(("b",)))
            moving.set()
            await moved.wait()

    async def hold() -> object:
        await moving.wait()
        asyncio.get_running_loop().call_soon(moved.set)
        async with stores.changes.change() as change:
            return await change.namespaces.lock(tree.top.warehouse_id, tree.top.ident, exclusively=False)

    async def make() -> None:
        await moving.wait()
        async with stores.changes.change() as change:
            await change.tabulars.insert(a_tabular(tree.inner), a_body(), owner=ANONYMOUS)

    _, held, refused = await asyncio.gather(move_slowly(), hold(), make(), return_exceptions=True)
    assert held is None
    assert isinstance(refused, Refusal)
    assert refused.reason == Reason.REASON_NO_SUCH_NAMESPACE
    inner = await now(stores, tree.inner)
    made = await stores.with_tabular(inner)
    assert (await stores.tabulars.by_id(made.warehouse_id, made.tabular_id)) == made


async def test_what_is_made_inside_while_a_namespace_is_to_move_moves_along(stores: Stores) -> None:
    tree = await a_tree(stores)
    made, made_too = a_namespace(await stores.warehouse_of(tree.top), "new", parent=tree.inner), a_tabular(tree.inner)
    making = asyncio.Event()

    async def make() -> None:
        async with stores.changes.change() as change:
            await change.namespaces.lock(tree.inner.warehouse_id, tree.inner.ident, exclusively=False)
            await change.namespaces.insert(made, owner=ANONYMOUS)
            await change.tabulars.insert(made_too, a_body(), owner=ANONYMOUS)
            making.set()

    async def move_then() -> None:
        await making.wait()
        await move(stores, tree.top, "b")

    await asyncio.gather(make(), move_then())
    assert (await now(stores, made)).ident.parts == ("b", "B", "new")
    found = await stores.tabulars.by_id(made_too.warehouse_id, made_too.tabular_id)
    assert found is not None
    assert found.ident.namespace.parts == ("b", "B")
