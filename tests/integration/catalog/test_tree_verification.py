"""Comparing authz's tree with the catalog's rows, over the real databases of both, and mending what was spoilt by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from lakeward_catalog.adapters.postgres.tree_rows import PostgresTreeRows
from lakeward_catalog.adapters.postgres.tree_streams import PostgresTreeStreams
from lakeward_catalog.application import verifying
from lakeward_catalog.application.feeding import TreeFeed
from lakeward_catalog.application.verifying import Difference, Key, Place, TreeVerification, Verified
from lakeward_catalog.domain.model import NIL_PROJECT, WarehouseId
from lakeward_protocol.catalog.v1 import tables_pb2, tags_pb2, warehouses_pb2
from lakeward_servicekit.events.bell import LocalBell
from tests.support.catalog.house import House, tabular
from tests.support.catalog.joined import Joined, joined_at

pytestmark = pytest.mark.integration


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def joined(postgres_url: str) -> AsyncIterator[Joined]:
    async with joined_at(postgres_url) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def house(joined: Joined) -> House:
    """A warehouse of its own: namespaces "a", "a.inner" and "b", table "t" in each of them."""
    house = await joined.a_house()
    for path in (("a",), ("a", "inner"), ("b",)):
        await house.make_namespace(*path)
        await house.make_table(*path, "t")
    await joined.settle()
    assert await joined.differences() == []
    return house


class Verifier:
    def __init__(self, joined: Joined) -> None:
        self.rows = PostgresTreeRows(joined.pool)
        self.feed = TreeFeed(PostgresTreeStreams(joined.pool), joined.tree, LocalBell(), awaited=True)
        self.found: list[Difference] = []
        self._verify = TreeVerification(self.rows, joined.remote, self.feed, self.found.append)

    async def __call__(self, *, repair: bool = False) -> Verified:
        self.found.clear()
        return await self._verify(repair=repair)

    def shown(self) -> list[tuple[str, str, str]]:
        return sorted(
            (str(each.verdict), each.key.kind, "" if each.held is None else each.held.shown) for each in self.found
        )


async def _ids(joined: Joined, house: House) -> dict[str, UUID]:
    """Ids of the warehouse's namespaces, by their paths, and of its tables, by their namespaces' paths and "t"."""
    rows = await joined.pool.fetch(
        "select array_to_string(path, '.'), namespace_id from namespace where warehouse_id = $1"
        " union all select array_to_string(n.path, '.') || '.' || t.name, t.incarnation from tabular t"
        " join namespace n using (warehouse_id, namespace_id) where t.warehouse_id = $1",
        UUID(house.warehouse_id),
    )
    return dict(rows)


async def _spoil(joined: Joined, house: House, statement: str, *values: object) -> None:
    """Change authz's tables by hand; the first parameter is the warehouse."""
    await joined.authz.pool.execute(statement, UUID(house.warehouse_id), *values)


_FORGET = "delete from objects where warehouse_id = $1 and object_id = any($2::uuid[])"
_DISOWN = "delete from grants where warehouse_id = $1"
_INVENT = """
insert into objects (project_id, warehouse_id, kind, object_id, parent_id, path)
select project_id, warehouse_id, $2, $3, $4, case when $4::uuid is null then '{}'::uuid[] else array[$4::uuid] end
  from objects where warehouse_id = $1 and kind = 'warehouse'
"""
_HANG = "update objects set parent_id = $3::uuid, path = array[$3::uuid] where warehouse_id = $1 and object_id = $2"


async def test_what_is_equal_has_no_differences(joined: Joined, house: House) -> None:
    verify = Verifier(joined)
    assert await verify() == Verified(0, 0)
    assert await verify(repair=True) == Verified(0, 0)
    assert verify.found == []
    del house


async def test_what_authz_lacks_is_found_and_repaired_with_all_that_holds_it(joined: Joined, house: House) -> None:
    ids, verify = await _ids(joined, house), Verifier(joined)
    await _spoil(joined, house, _FORGET, [ids["a"], ids["a.inner"], ids["a.inner.t"], ids["b.t"]])
    lost = ["a", "a.inner", "a.inner.t", "b.t"]
    kinds = {"a": "namespace", "a.inner": "namespace", "a.inner.t": "table", "b.t": "table"}
    assert await verify() == Verified(4, 4)
    assert verify.shown() == sorted(("missing in authz", kinds[each], each) for each in lost)
    assert await verify(repair=True) == Verified(4, 0)
    assert await joined.differences() == []
    assert await verify() == Verified(0, 0)


async def test_what_authz_alone_knows_is_found_and_removed(joined: Joined, house: House) -> None:
    ids, verify, invented = await _ids(joined, house), Verifier(joined), uuid4()
    await _spoil(joined, house, _INVENT, "namespace", invented, None)
    await _spoil(joined, house, _INVENT, "table", uuid4(), invented)
    await _spoil(joined, house, _INVENT, "view", uuid4(), ids["b"])
    assert await verify() == Verified(3, 3)
    assert verify.shown() == [("in authz alone", kind, "") for kind in ("namespace", "table", "view")]
    assert await verify(repair=True) == Verified(3, 0)
    assert await joined.differences() == []


async def test_what_hangs_elsewhere_is_found_and_moved_before_what_it_hung_from_goes(
    joined: Joined, house: House
) -> None:
    ids, verify, invented = await _ids(joined, house), Verifier(joined), uuid4()
    await _spoil(joined, house, _INVENT, "namespace", invented, None)
    await _spoil(joined, house, _HANG, ids["a.t"], invented)
    await _spoil(joined, house, _HANG, ids["a.inner"], ids["b"])
    owned = "select count(*) from grants where warehouse_id = $1"
    before = await joined.authz.pool.fetchval(owned, UUID(house.warehouse_id))
    assert await verify() == Verified(3, 3)
    assert verify.shown() == [
        ("hanging elsewhere in authz", "namespace", "a.inner"),
        ("hanging elsewhere in authz", "table", "a.t"),
        ("in authz alone", "namespace", ""),
    ]
    assert await verify(repair=True) == Verified(3, 0)
    assert await joined.differences() == []
    assert await joined.authz.pool.fetchval(owned, UUID(house.warehouse_id)) == before


async def test_a_warehouse_that_authz_takes_for_active_or_not_otherwise_is_switched(
    joined: Joined, house: House
) -> None:
    verify = Verifier(joined)
    await _spoil(joined, house, "update objects set inactive = true where warehouse_id = $1 and kind = 'warehouse'")
    assert await verify() == Verified(1, 1)
    assert [each[:2] for each in verify.shown()] == [("active or not otherwise in authz", "warehouse")]
    assert await verify(repair=True) == Verified(1, 0)
    assert not await _inactive(joined, house)
    await house.warehouses.DeactivateWarehouse(
        warehouses_pb2.DeactivateWarehouseRequest(warehouse_id=house.warehouse_id)
    )
    assert await _inactive(joined, house)
    assert await verify() == Verified(0, 0)
    await _spoil(joined, house, _DISOWN)
    await _spoil(joined, house, "delete from objects where warehouse_id = $1")
    assert (await verify(repair=True)).left == 0
    assert await _inactive(joined, house)


async def _inactive(joined: Joined, house: House) -> bool | None:
    asked = "select inactive from objects where warehouse_id = $1 and kind = 'warehouse'"
    found: bool | None = await joined.authz.pool.fetchval(asked, UUID(house.warehouse_id))
    return found


async def test_a_warehouse_that_authz_lacks_is_repaired_with_everything_in_it(joined: Joined, house: House) -> None:
    await _spoil(joined, house, _DISOWN)
    await _spoil(joined, house, "delete from objects where warehouse_id = $1")
    verify = Verifier(joined)
    assert (await verify()).found == 7
    assert await verify(repair=True) == Verified(7, 0)
    assert await joined.differences() == []


async def test_a_warehouse_and_a_project_that_authz_alone_knows_go_with_what_is_in_them(joined: Joined) -> None:
    project, warehouse = f"p-{uuid4()}", uuid4()
    await joined.authz.pool.execute(
        "insert into objects (project_id, warehouse_id, kind, object_id, path) values"
        " ($1, $3, 'project', $3, '{}'), ($1, $2, 'warehouse', $3, '{}'), ($1, $2, 'namespace', $4, '{}')",
        project,
        warehouse,
        verifying.NIL,
        uuid4(),
    )
    verify = Verifier(joined)
    assert await verify() == Verified(2, 2)
    assert sorted(each.key.kind for each in verify.found) == ["project", "warehouse"]
    assert await verify(repair=True) == Verified(1, 0)  # the project takes its warehouse along
    assert await joined.differences() == []


async def test_a_tag_that_authz_lacks_or_alone_knows_is_found_and_mended(joined: Joined, house: House) -> None:
    verify = Verifier(joined)
    lost, kept = await house.make_tag(f"lost {uuid4()}", "table"), await house.make_tag(f"kept {uuid4()}", "table")
    assert await joined.differences() == []
    forget = "delete from objects where kind = 'tag' and object_id = $1"
    await joined.authz.pool.execute(forget.replace("objects", "grants"), UUID(lost))
    await joined.authz.pool.execute(forget, UUID(lost))
    await joined.authz.pool.execute(
        "insert into objects (project_id, warehouse_id, kind, object_id, path) values ($1, $2, 'tag', $3, '{}')",
        NIL_PROJECT,
        verifying.NIL,
        uuid4(),
    )
    assert await verify() == Verified(2, 2)
    assert {(str(each.verdict), each.key.kind) for each in verify.found} == {
        ("missing in authz", "tag"),
        ("in authz alone", "tag"),
    }
    assert await verify(repair=True) == Verified(2, 0)
    assert await joined.differences() == []
    await house.tags.DeleteTagDefinition(tags_pb2.DeleteTagDefinitionRequest(tag_id=kept))
    await joined.settle()
    assert await joined.differences() == []


async def test_an_authz_that_lost_everything_is_told_of_everything(joined: Joined, house: House) -> None:
    del house
    await joined.authz.forget()
    assert await joined.differences() != []
    verify = Verifier(joined)
    assert (await verify(repair=True)).left == 0
    assert await joined.differences() == []
    late = await joined.a_house()
    await late.make_namespace("late")
    assert await joined.differences() == []


@pytest.mark.parametrize("page", [1, 2])
async def test_every_page_is_compared(joined: Joined, house: House, page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "PAGE", page)
    monkeypatch.setattr(verifying, "_AT_ONCE", page)
    ids, verify = await _ids(joined, house), Verifier(joined)
    await _spoil(joined, house, _FORGET, [ids["a.inner"], ids["a.inner.t"], ids["a.t"], ids["b.t"]])
    assert await verify(repair=True) == Verified(4, 0)
    assert await joined.differences() == []


async def test_what_changes_meanwhile_is_no_difference_and_no_repair_undoes_it(joined: Joined, house: House) -> None:
    done = asyncio.Event()

    async def churn(index: int) -> None:
        name = f"churn{index}"
        while not done.is_set():
            await house.make_namespace(name)
            await house.make_table(name, "t")
            await house.tables.RenameTable(
                tables_pb2.RenameTableRequest(
                    warehouse_id=house.warehouse_id, source=tabular(name, "t"), destination=tabular("b", name)
                )
            )
            await house.tables.DropTable(
                tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("b", name), force=True)
            )
            await house.drop_namespace(name)

    churning = [asyncio.create_task(churn(index)) for index in range(3)]
    verify = Verifier(joined)
    try:
        for repair in (False, True) * 5:
            verified = await verify(repair=repair)
            assert verify.found == [], "what is on its way was taken for a difference"
            assert verified.found == 0
    finally:
        done.set()
        await asyncio.gather(*churning)
    await joined.settle()
    assert await joined.differences() == []


async def test_a_row_that_another_holds_is_not_judged(joined: Joined, house: House) -> None:
    ids = await _ids(joined, house)
    place = Place(NIL_PROJECT, WarehouseId(UUID(house.warehouse_id)))
    key = Key("table", ids["a.t"])
    rows = PostgresTreeRows(joined.pool)
    async with joined.pool.transaction() as connection:
        await connection.execute("update tabular set protected = true where incarnation = $1", ids["a.t"])
        async with rows.hold(place, [key]) as holding:
            assert key in holding.unsettled
    async with rows.hold(place, [key]) as holding:
        assert key not in holding.unsettled
        assert holding.there[key].standing.parent_id == ids["a"]
