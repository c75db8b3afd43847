from __future__ import annotations

from uuid import UUID

from lakeward_catalog.application.ports.stores import Match, Visibility
from lakeward_catalog.domain.model import Kind, Namespace, State
from lakeward_servicekit.authorization.principals import ANONYMOUS
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import EVERYTHING, NOON, a_namespace


async def _found(stores: Stores, namespace: Namespace, text: str | UUID, **visible: Visibility) -> list[Match]:
    shown = {Kind[kind.upper()]: each for kind, each in visible.items()} or dict.fromkeys(Kind, EVERYTHING)
    return list(await stores.tabulars.search(namespace.warehouse_id, text, visible=shown, limit=10))


async def _names(stores: Stores, namespace: Namespace, text: str | UUID, **visible: Visibility) -> list[str]:
    return [each.ident.name for each in await _found(stores, namespace, text, **visible)]


async def test_the_nearest_name_comes_first_and_what_is_unlike_not_at_all(stores: Stores) -> None:
    namespace = await stores.with_namespace(None, "shop")
    for name in ("Customers", "Customer", "Invoices"):
        await stores.with_tabular(namespace, name)
    await stores.with_tabular(name="Customer")  # in another warehouse
    matches = await _found(stores, namespace, "customer")
    assert [each.ident.name for each in matches] == ["Customer", "Customers"]
    assert matches[0].distance == 0
    assert matches[1].distance is not None
    assert matches[1].distance > 0
    assert (await _names(stores, namespace, "custmer"))[0] == "Customer"
    assert await _names(stores, namespace, "zebra") == []
    assert await _names(stores, namespace, "\0") == []


async def test_a_word_of_the_path_is_enough(stores: Stores) -> None:
    namespace = await stores.with_namespace(None, "warranty")
    await stores.with_tabular(namespace, "t")
    assert await _names(stores, namespace, "warranty") == ["t"]


async def test_what_shows_is_chosen_before_the_best_are(stores: Stores) -> None:
    namespace = await stores.with_namespace(None, "shop")
    inner = a_namespace(await stores.warehouse_of(namespace), "items", parent=namespace)
    async with stores.changes.change() as change:
        await change.namespaces.insert(inner, owner=ANONYMOUS)
    for number in range(12):
        await stores.with_tabular(namespace, f"orders{number:02}")
    single = await stores.with_tabular(namespace, "orders_single")
    within = await stores.with_tabular(inner, "orders_within")
    view = await stores.with_tabular(namespace, "orders_view", kind=Kind.VIEW)
    assert len(await _names(stores, namespace, "orders")) == 10
    by_object = Visibility(everything=False, objects=frozenset({single.incarnation}))
    by_container = Visibility(everything=False, containers=frozenset({inner.namespace_id}))
    assert await _names(stores, namespace, "orders", table=by_object) == [single.ident.name]
    assert await _names(stores, namespace, "orders", table=by_container) == [within.ident.name]
    assert await _names(stores, namespace, "orders", view=EVERYTHING) == [view.ident.name]


async def test_an_id_finds_a_tabular_or_what_is_directly_in_a_namespace(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    inner = a_namespace(await stores.warehouse_of(namespace), parent=namespace)
    async with stores.changes.change() as change:
        await change.namespaces.insert(inner, owner=ANONYMOUS)
    first, second = await stores.with_tabular(namespace, "a"), await stores.with_tabular(namespace, "b")
    await stores.with_tabular(inner, "c")
    assert await _found(stores, namespace, first.tabular_id) == [
        Match(tabular=(first.kind, first.tabular_id), ident=first.ident, distance=None)  # type: ignore[arg-type]  # it is one
    ]
    assert await _names(stores, namespace, namespace.namespace_id) == ["a", "b"]
    nothing = Visibility(everything=False)
    assert await _names(stores, namespace, second.tabular_id, table=nothing) == []


async def test_live_ones_alone_are_found_and_counted(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    await stores.with_tabular(namespace, "live")
    await stores.with_tabular(namespace, "live_view", kind=Kind.VIEW)
    await stores.with_tabular(namespace, "live_staged", state=State.STAGED, expires_at=NOON)
    dropped = await stores.with_tabular(namespace, "live_dropped")
    async with stores.changes.change() as change:
        await change.tabulars.drop(dropped, at=NOON, expires_at=NOON)
    assert sorted(await _names(stores, namespace, "live")) == ["live", "live_view"]
    assert dict(await stores.tabulars.counts(namespace.warehouse_id)) == {Kind.TABLE: 1, Kind.VIEW: 1}
