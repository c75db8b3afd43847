"""The use cases over the real database: what the unit tests show in memory holds where it is kept."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from lakeward_catalog.adapters.postgres.containers import Containers
from lakeward_catalog.adapters.postgres.locating import Locating
from lakeward_catalog.application.tasks.queues.soft_deletion import Expiries
from lakeward_catalog.application.workers import Progress
from lakeward_catalog.domain.model import Kind, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent
from lakeward_catalog.domain.tasks import Queue
from lakeward_protocol.catalog.v1 import (
    namespaces_pb2,
    server_pb2,
    tables_pb2,
    tabulars_pb2,
    views_pb2,
    warehouses_pb2,
)
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import (
    ADMINISTRATOR,
    RULES,
    House,
    commit_body,
    context,
    ident,
    refusal_of,
    tabular,
    tabular_ref,
    view_body,
)
from tests.support.catalog.stores import PostgresStores, Stores, catalog_pool

pytestmark = pytest.mark.integration


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stores(postgres_url: str) -> AsyncIterator[Stores]:
    async with catalog_pool(postgres_url) as pool:
        yield PostgresStores(pool)


@pytest_asyncio.fixture(loop_scope="session")
async def house(stores: Stores) -> House:
    """A warehouse of its own for each test."""
    house = House(stores=stores)
    if not (await stores.servers.server()).bootstrapped:
        await house.server.Bootstrap(server_pb2.BootstrapRequest(accept_terms_of_use=True))
    name = f"w-{uuid4()}"
    house.warehouse_id = await house.make_warehouse(name, base=f"s3://lake/{name}")
    await house.make_namespace("Sales")
    await house.make_table("Sales", "Orders")
    await house.make_view("Sales", "Recent")
    return house


def namespaces(house: House, *parent: str, **page: Any) -> Any:
    return house.namespaces.ListNamespaces(
        namespaces_pb2.ListNamespacesRequest(
            warehouse_id=house.warehouse_id,
            parent=ident(*parent) if parent else None,
            page=context_pb2.Page(**page) if page else None,
        )
    )


def drop_namespace(house: House, *path: str, **flags: Any) -> Any:
    return house.namespaces.DropNamespace(
        namespaces_pb2.DropNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident(*path), **flags)
    )


def commit(house: House, key: str, *, idempotency_key: str = "") -> Any:
    return house.views.CommitView(
        views_pb2.CommitViewRequest(
            context=context(idempotency_key=idempotency_key),
            warehouse_id=house.warehouse_id,
            view=tabular("sales", "recent"),
            body=commit_body({"action": "set-properties", "updates": {key: "x"}}),
        )
    )


async def commit_as_clients_do(house: House, key: str) -> None:
    """Again, while another try can win."""
    while True:
        try:
            await commit(house, key)
        except Refusal as refusal:
            if refusal.reason != Reason.REASON_COMMIT_CONFLICT:
                raise
        else:
            return


async def properties(house: House) -> list[str]:
    reply = await house.views.LoadView(
        views_pb2.LoadViewRequest(warehouse_id=house.warehouse_id, view=tabular("SALES", "RECENT"))
    )
    return sorted(json.loads(reply.view.metadata.plain)["properties"])


@pytest.fixture
def empty(make_database: Callable[[], str]) -> str:
    return make_database()


async def test_of_two_bootstraps_at_once_one_wins(empty: str) -> None:
    async with catalog_pool(empty) as pool:
        stores = PostgresStores(pool)
        request = server_pb2.BootstrapRequest(accept_terms_of_use=True)
        ends = await asyncio.gather(
            *(House(stores=stores).server.Bootstrap(request) for _ in range(2)), return_exceptions=True
        )
        assert [each.reason for each in ends if isinstance(each, Refusal)] == [Reason.REASON_ALREADY_BOOTSTRAPPED]
        assert (await stores.servers.server()).bootstrapped
        told = [json.loads(row["body"])["type"] for row in await pool.fetch("select body from outbox")]
        assert sorted(told) == ["bootstrapServer", "createProject"]


async def test_names_are_listed_page_by_page_as_they_are_stored(house: House) -> None:
    for name in ("A", "b", "C"):
        await house.make_namespace("sales", name)
    found, token = [], ""
    while True:
        page = await namespaces(house, "SALES", size=2, token=token)
        found += [".".join(each.parts) for each in page.namespaces]
        token = page.next_page_token
        if not token:
            break
    assert sorted(found) == ["Sales.A", "Sales.C", "Sales.b"]
    assert len((await namespaces(house, "sales")).namespaces) == 3


async def test_a_namespace_goes_with_everything_inside_and_not_while_something_is(house: House) -> None:
    await house.make_namespace("Sales", "Eu")
    assert (await refusal_of(drop_namespace(house, "sales"))).reason == Reason.REASON_NAMESPACE_NOT_EMPTY
    await drop_namespace(house, "sales", recursive=True, purge=True)
    assert not (await namespaces(house)).namespaces
    request = warehouses_pb2.DeleteWarehouseRequest(warehouse_id=house.warehouse_id, force=True)
    assert (await refusal_of(house.warehouses.DeleteWarehouse(request))).reason == Reason.REASON_WAREHOUSE_NOT_EMPTY


async def test_nothing_is_made_inside_a_namespace_that_goes(house: House) -> None:
    await house.make_namespace("empty")
    calls = [drop_namespace(house, "empty"), *(house.make_namespace("empty", f"n{n}") for n in range(4))]
    results = await asyncio.gather(*calls, return_exceptions=True)
    refused = {each.reason for each in results if isinstance(each, Refusal)}
    assert not [each for each in results if isinstance(each, Exception) and not isinstance(each, Refusal)]
    dropped = not isinstance(results[0], Exception)
    made = [each for each in results[1:] if not isinstance(each, Exception)]
    assert dropped is not bool(made)
    assert refused <= {Reason.REASON_NO_SUCH_NAMESPACE, Reason.REASON_NAMESPACE_NOT_EMPTY}


def move_namespace(house: House, which: str, *to: str) -> Any:
    return house.namespaces.MoveNamespace(
        namespaces_pb2.MoveNamespaceRequest(warehouse_id=house.warehouse_id, namespace_id=which, destination=ident(*to))
    )


async def id_of(house: House, *path: str) -> str:
    request = namespaces_pb2.GetNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident(*path))
    return str((await house.namespaces.GetNamespace(request)).namespace.namespace_id)


async def _is_there(house: House, *path: str) -> bool:
    try:
        await house.tables.TableExists(
            tables_pb2.TableExistsRequest(warehouse_id=house.warehouse_id, table=tabular(*path))
        )
    except Refusal:
        return False
    return True


@dataclasses.dataclass
class Moving:
    """Makes, commits and moves, all at once, in one namespace.

    Attributes:
        at: what the namespace is called, as far as was said.
        made: tables that were made, as far as their makers know.
    """

    which: str
    at: str = "Sales"
    made: list[str] = dataclasses.field(default_factory=lambda: ["Orders"])
    refused: set[Reason.ValueType] = dataclasses.field(default_factory=set)

    async def attempt(self, call: Any) -> bool:
        try:
            await call
        except Refusal as refusal:
            self.refused.add(refusal.reason)
            return False
        return True

    async def make(self, house: House, number: int) -> None:
        for step in range(6):
            name = f"t{number}_{step}"
            if await self.attempt(house.make_table(self.at, name)):
                self.made.append(name)

    async def commit(self, house: House) -> None:
        for step in range(6):
            await self.attempt(commit(house, f"k{step}"))

    async def move(self, house: House) -> None:
        for step in range(1, 6):
            to = f"Sales{step % 2}"
            await move_namespace(house, self.which, to)
            self.at = to


async def test_what_is_made_and_committed_while_its_namespace_moves_is_there_once_it_has(
    house: House, stores: Stores
) -> None:
    moving, there = Moving(await id_of(house, "Sales")), House(stores=stores)
    there.warehouse_id = house.warehouse_id
    makers = [moving.make(each, number) for number, each in enumerate((house, there, house, there))]
    await asyncio.gather(moving.move(house), *makers, moving.commit(there))
    assert moving.refused <= {
        Reason.REASON_NO_SUCH_NAMESPACE,
        Reason.REASON_NO_SUCH_VIEW,
    }
    listed = await house.tables.ListTables(
        tables_pb2.ListTablesRequest(warehouse_id=house.warehouse_id, namespace=ident("Sales1"))
    )
    assert sorted(each.name for each in listed.identifiers) == sorted(moving.made)
    for old in ("Sales", "Sales0"):
        assert not await _is_there(house, old, "Orders")
        assert not await _is_there(there, old, "Orders")
    assert await _is_there(there, "Sales1", "Orders")
    assert list((await namespaces(house)).namespaces) == [ident("Sales1")]


async def test_what_moves_while_its_old_path_is_looked_at_is_not_found_there(stores: Stores) -> None:
    namespace = await stores.with_namespace(None, "old")
    tabular = await stores.with_tabular(namespace, "t")
    assert isinstance(stores, PostgresStores)
    containers = Containers(stores.pool)
    read = containers.read

    async def move_and_read(*wanted: Any) -> Any:
        async with stores.changes.change() as change:
            held, *_ = await change.namespaces.lock_tree(namespace.warehouse_id, namespace.namespace_id)
            await change.namespaces.move(held, parent_id=None, ident=NamespaceIdent(("new",)))
        return await read(*wanted)

    containers.read = move_and_read  # type: ignore[method-assign]  # between the two statements of a look
    found = await Locating(stores.pool, containers).locate(tabular.warehouse_id, tabular.ident)
    assert found.warehouse is not None
    assert (found.namespace, found.tabular) == (None, None)


async def test_of_two_that_are_moved_into_each_other_one_moves(house: House, stores: Stores) -> None:
    there = House(stores=stores)
    there.warehouse_id = house.warehouse_id
    for round_ in range(4):
        here, other = f"a{round_}", f"b{round_}"
        await house.make_namespace(here)
        await house.make_namespace(other)
        results = await asyncio.gather(
            move_namespace(house, await id_of(house, here), other, here),
            move_namespace(there, await id_of(house, other), here, other),
            return_exceptions=True,
        )
        (refusal,) = [each for each in results if isinstance(each, BaseException)]
        assert isinstance(refusal, Refusal)
        assert refusal.reason in {Reason.REASON_NO_SUCH_NAMESPACE, Reason.REASON_CONCURRENT_CHANGE}


async def test_a_namespace_that_is_dropped_while_it_moves_is_gone_or_has_moved(house: House, stores: Stores) -> None:
    there = House(stores=stores)
    there.warehouse_id = house.warehouse_id
    await house.make_namespace("target")
    for round_ in range(6):
        name = f"n{round_}"
        await house.make_namespace(name)
        await house.make_namespace(name, "inner")
        which = await id_of(house, name)
        moved, dropped = await asyncio.gather(
            move_namespace(house, which, "target", name),
            drop_namespace(there, name, recursive=True, force=True),
            return_exceptions=True,
        )
        assert isinstance(moved, Refusal) is not isinstance(dropped, Refusal)
        left = [".".join(each.parts) for each in (await namespaces(house, "target")).namespaces]
        assert (f"target.{name}" in left) is isinstance(dropped, Refusal)


async def test_concurrent_property_changes_lose_nothing(house: House) -> None:
    await asyncio.gather(
        *(
            house.namespaces.UpdateNamespaceProperties(
                namespaces_pb2.UpdateNamespacePropertiesRequest(
                    warehouse_id=house.warehouse_id, ident=ident("sales"), updates={f"k{n}": "x"}
                )
            )
            for n in range(8)
        )
    )
    reply = await house.namespaces.GetNamespace(
        namespaces_pb2.GetNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident("sales"))
    )
    assert {f"k{n}" for n in range(8)} < set(reply.namespace.properties)


def protect_table(house: House, which: str, *, protected: bool) -> Any:
    return house.tables.SetTableProtection(
        tables_pb2.SetTableProtectionRequest(warehouse_id=house.warehouse_id, tabular_id=which, protected=protected)
    )


async def id_of_orders(house: House) -> str:
    listed = await house.tables.ListTables(
        tables_pb2.ListTablesRequest(warehouse_id=house.warehouse_id, namespace=ident("sales"), with_ids=True)
    )
    (which,) = listed.ids
    return str(which)


def drop_orders(house: House, **flags: Any) -> Any:
    return house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"), **flags)
    )


async def test_a_table_is_protected_by_its_id_until_its_protection_is_gone(house: House, stores: Stores) -> None:
    which, told = await id_of_orders(house), len(await stores.told())
    await protect_table(house, which, protected=True)
    assert (await refusal_of(drop_orders(house))).reason == Reason.REASON_TABULAR_PROTECTED
    refusal = await refusal_of(drop_namespace(house, "sales", recursive=True))
    assert refusal.reason == Reason.REASON_CHILD_TABULAR_PROTECTED
    read = tables_pb2.GetTableProtectionRequest(warehouse_id=house.warehouse_id, tabular_id=which)
    assert (await house.tables.GetTableProtection(read)).protected
    await protect_table(house, which, protected=False)
    assert not (await house.tables.GetTableProtection(read)).protected
    await drop_orders(house)
    assert (await refusal_of(house.tables.GetTableProtection(read))).reason == Reason.REASON_NO_SUCH_TABLE
    assert len(await stores.told()) == told + 3


async def test_a_table_that_is_protected_and_dropped_at_once_is_kept_or_absent_to_the_one_that_lost(
    house: House,
) -> None:
    which = await id_of_orders(house)
    protected, dropped = await asyncio.gather(
        protect_table(house, which, protected=True), drop_orders(house), return_exceptions=True
    )
    lost = [each for each in (protected, dropped) if isinstance(each, Refusal)]
    assert len(lost) == 1
    assert lost[0].reason == (Reason.REASON_NO_SUCH_TABLE if lost[0] is protected else Reason.REASON_TABULAR_PROTECTED)


async def test_a_namespace_is_protected_by_its_id_and_found_in_its_warehouse_alone(house: House) -> None:
    sales = namespaces_pb2.GetNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident("sales"))
    which = (await house.namespaces.GetNamespace(sales)).namespace.namespace_id

    async def protect(warehouse_id: str, *, protected: bool) -> None:
        await house.namespaces.SetNamespaceProtection(
            namespaces_pb2.SetNamespaceProtectionRequest(
                warehouse_id=warehouse_id, namespace_id=which, protected=protected
            )
        )

    name = f"other-{uuid4()}"
    elsewhere = await house.make_warehouse(name, base=f"s3://lake/{name}")
    assert (await refusal_of(protect(elsewhere, protected=True))).reason == Reason.REASON_NO_SUCH_NAMESPACE
    await protect(house.warehouse_id, protected=True)
    assert (await house.namespaces.GetNamespace(sales)).namespace.protected
    refusal = await refusal_of(drop_namespace(house, "sales", recursive=True))
    assert refusal.reason == Reason.REASON_NAMESPACE_PROTECTED
    await protect(house.warehouse_id, protected=False)
    await drop_namespace(house, "sales", recursive=True)


async def test_commits_to_one_view_from_two_processes_lose_nothing(house: House, stores: Stores) -> None:
    other = House(stores=stores, shares=house)
    processes = (("a", house), ("b", other))
    await asyncio.gather(*(commit_as_clients_do(each, f"{name}{n}") for n in range(4) for name, each in processes))
    assert await properties(house) == sorted(f"{name}{n}" for n in range(4) for name in "ab")
    assert len(house.files.stored) == 2 + 8  # one file a commit; those of lost races are gone


async def test_twins_of_one_key_in_two_processes_make_one_commit(house: House, stores: Stores) -> None:
    other, key = House(stores=stores, shares=house), str(uuid4())
    told = len(await stores.told())
    replies = await asyncio.gather(*(commit(each, "a", idempotency_key=key) for each in (house, other)))
    assert len({reply.view.metadata_location for reply in replies}) == 1
    assert len(await stores.told()) == told + 1


async def test_a_view_moves_is_renamed_and_dropped(house: House) -> None:
    warehouse = await house.parts.doors.warehouses.find(WarehouseId(UUID(house.warehouse_id)))
    assert warehouse is not None
    location = f"{warehouse.storage.base_location}/moved"
    body = commit_body({"action": "set-location", "location": location})
    await house.views.CommitView(
        views_pb2.CommitViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent"), body=body)
    )
    taken = house.views.CreateView(
        views_pb2.CreateViewRequest(
            warehouse_id=house.warehouse_id, namespace=ident("sales"), body=view_body("v", location=f"{location}/in")
        )
    )
    assert (await refusal_of(taken)).reason == Reason.REASON_LOCATION_TAKEN
    await house.views.RenameView(
        views_pb2.RenameViewRequest(
            warehouse_id=house.warehouse_id,
            source=tabular("sales", "recent"),
            destination=tabular("sales", "RECENT"),
        )
    )
    listed = await house.views.ListViews(
        views_pb2.ListViewsRequest(warehouse_id=house.warehouse_id, namespace=ident("sales"))
    )
    assert [each.name for each in listed.identifiers] == ["RECENT"]
    await house.views.DropView(
        views_pb2.DropViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent"))
    )
    pending = house.views.CreateView(
        views_pb2.CreateViewRequest(
            warehouse_id=house.warehouse_id, namespace=ident("sales"), body=view_body("v", location=location)
        )
    )
    assert (await refusal_of(pending)).reason == Reason.REASON_LOCATION_BEING_PURGED


async def test_of_a_rename_and_a_drop_at_once_one_wins(house: House) -> None:
    rename = house.tables.RenameTable(
        tables_pb2.RenameTableRequest(
            warehouse_id=house.warehouse_id, source=tabular("sales", "orders"), destination=tabular("sales", "new")
        )
    )
    drop = house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))
    )
    results = await asyncio.gather(rename, drop, return_exceptions=True)
    refused = [each for each in results if isinstance(each, Exception)]
    assert len(refused) == 1
    assert isinstance(refused[0], Refusal)


async def test_of_two_warehouses_at_one_place_at_once_one_wins(house: House) -> None:
    base = f"s3://lake/{uuid4()}"
    calls = [house.make_warehouse(f"w-{uuid4()}", base=base + "/in" * n) for n in range(2)]
    results = await asyncio.gather(*calls, return_exceptions=True)
    refused = [each for each in results if isinstance(each, Exception)]
    assert [getattr(each, "reason", each) for each in refused] == [Reason.REASON_STORAGE_OVERLAP]


async def test_a_warehouse_changes_and_goes(house: House) -> None:
    name = f"w-{uuid4()}"
    which = await house.make_warehouse(name, base=f"s3://lake/{name}")
    await house.warehouses.RenameWarehouse(warehouses_pb2.RenameWarehouseRequest(warehouse_id=which, name=name + "x"))
    await house.warehouses.DeactivateWarehouse(warehouses_pb2.DeactivateWarehouseRequest(warehouse_id=which))
    await house.warehouses.UpdateStorageCredential(
        warehouses_pb2.UpdateStorageCredentialRequest(warehouse_id=house.warehouse_id, secret_id=str(uuid4()))
    )
    inactive = await house.warehouses.ListWarehouses(
        warehouses_pb2.ListWarehousesRequest(statuses=[warehouses_pb2.WAREHOUSE_STATUS_INACTIVE])
    )
    assert which in [each.warehouse_id for each in inactive.warehouses]
    await house.warehouses.DeleteWarehouse(warehouses_pb2.DeleteWarehouseRequest(warehouse_id=which))
    gone = house.warehouses.GetWarehouse(warehouses_pb2.GetWarehouseRequest(warehouse_id=which))
    assert (await refusal_of(gone)).reason == Reason.REASON_NO_SUCH_WAREHOUSE


@pytest.mark.parametrize("turn", range(4))
async def test_of_a_restoration_and_the_end_of_its_time_at_once_one_wins_and_the_other_is_told(
    house: House, stores: Stores, turn: int
) -> None:
    warehouse = WarehouseId(UUID(house.warehouse_id))
    async with stores.changes.change() as change:
        row = await change.warehouses.lock(warehouse)
        assert row is not None
        await change.warehouses.update(dataclasses.replace(row, restorable_for=timedelta(0)))
    listed = await house.tables.ListTables(
        tables_pb2.ListTablesRequest(warehouse_id=house.warehouse_id, namespace=ident("sales"), with_ids=True)
    )
    await house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))
    )
    task = None
    while task is None or task.warehouse_id != warehouse:
        task = await stores.tasks.claim(
            Queue.SOFT_DELETION, now=house.clock.now(), silence=timedelta(minutes=5), attempts=5
        )
    expiries = Expiries(house.parts.doors.warehouses, house.parts.changes, house.parts.announcer, house.clock)
    undrop = house.tabulars.UndropTabulars(
        tabulars_pb2.UndropTabularsRequest(
            warehouse_id=house.warehouse_id, tabulars=[tabular_ref(Kind.TABLE, listed.ids[0])]
        )
    )
    pair = [undrop, expiries(task, Progress())]
    results = await asyncio.gather(*(pair if turn % 2 else pair[::-1]), return_exceptions=True)
    refused = [each for each in results if isinstance(each, Refusal)]
    expired = "Deleted tabular" in results
    assert [each.reason for each in refused] == ([Reason.REASON_NO_SUCH_TABLE] if expired else [])
    after = await house.tables.ListTables(
        tables_pb2.ListTablesRequest(warehouse_id=house.warehouse_id, namespace=ident("sales"))
    )
    assert [each.name for each in after.identifiers] == ([] if expired else ["Orders"])


async def test_the_settings_of_a_warehouse_are_kept_and_a_managed_one_is_locked(house: House) -> None:
    which = house.warehouse_id
    await house.warehouses.SetDeleteProfile(
        warehouses_pb2.SetDeleteProfileRequest(
            warehouse_id=which, delete_profile=warehouses_pb2.DeleteProfile(restorable=True)
        )
    )
    await house.warehouses.SetFormatVersionPolicy(
        warehouses_pb2.SetFormatVersionPolicyRequest(warehouse_id=which, allowed_format_versions=[1, 3])
    )
    managed = warehouses_pb2.SetManagedByRequest(
        context=context(authorization=ADMINISTRATOR),
        warehouse_id=which,
        managed_by=warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN,
    )
    await house.warehouses.SetManagedBy(managed)
    found = (await house.warehouses.GetWarehouse(warehouses_pb2.GetWarehouseRequest(warehouse_id=which))).warehouse
    assert found.delete_profile.restorable_for.ToTimedelta() == RULES.restorable_by_default
    assert (list(found.allowed_format_versions), found.default_format_version) == ([1, 3], 3)
    assert found.managed_by == warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN
    rename = house.warehouses.RenameWarehouse(warehouses_pb2.RenameWarehouseRequest(warehouse_id=which, name="other"))
    assert (await refusal_of(rename)).reason == Reason.REASON_WAREHOUSE_MANAGED
