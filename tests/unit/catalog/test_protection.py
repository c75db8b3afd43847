"""Protection of what is in a warehouse, set and read by ids: it stops a drop without force, and nothing else."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.domain.model import State
from lakeward_protocol.catalog.v1 import namespaces_pb2, tables_pb2, types_pb2, views_pb2
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import House, a_house, ident, refusal_of, tabular
from tests.support.catalog.values import NOON


@dataclasses.dataclass(frozen=True)
class Noun:
    """One kind of what is protected.

    Attributes:
        id_of: of the one that the house has.
        read: whether the one of an id is protected.
        write: protects the one of an id, or no longer.
        drop: drops the one that the house has.
        refused: why it is not dropped.
        absent: why one is not there.
        event: that tells of a change.
    """

    id_of: Callable[[House], object]
    read: Callable[[House, object], Awaitable[Any]]
    write: Callable[[House, object, bool], Awaitable[Any]]
    drop: Callable[[House], Awaitable[Any]]
    refused: Reason.ValueType
    absent: Reason.ValueType
    event: str


def _drop_namespace(house: House) -> Any:
    return house.namespaces.DropNamespace(
        namespaces_pb2.DropNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident("sales"), recursive=True)
    )


def _drop_table(house: House) -> Any:
    return house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))
    )


def _drop_view(house: House) -> Any:
    return house.views.DropView(
        views_pb2.DropViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent"))
    )


NAMESPACE = Noun(
    lambda house: house.namespace("sales").namespace_id,
    lambda house, which: house.namespaces.GetNamespaceProtection(
        namespaces_pb2.GetNamespaceProtectionRequest(warehouse_id=house.warehouse_id, namespace_id=str(which))
    ),
    lambda house, which, protected: house.namespaces.SetNamespaceProtection(
        namespaces_pb2.SetNamespaceProtectionRequest(
            warehouse_id=house.warehouse_id, namespace_id=str(which), protected=protected
        )
    ),
    _drop_namespace,
    Reason.REASON_NAMESPACE_PROTECTED,
    Reason.REASON_NO_SUCH_NAMESPACE,
    "updateNamespaceProtection",
)
TABLE = Noun(
    lambda house: house.tabular("orders").tabular_id,
    lambda house, which: house.tables.GetTableProtection(
        tables_pb2.GetTableProtectionRequest(warehouse_id=house.warehouse_id, tabular_id=str(which))
    ),
    lambda house, which, protected: house.tables.SetTableProtection(
        tables_pb2.SetTableProtectionRequest(
            warehouse_id=house.warehouse_id, tabular_id=str(which), protected=protected
        )
    ),
    _drop_table,
    Reason.REASON_TABULAR_PROTECTED,
    Reason.REASON_NO_SUCH_TABLE,
    "updateTableProtection",
)
VIEW = Noun(
    lambda house: house.tabular("recent").tabular_id,
    lambda house, which: house.views.GetViewProtection(
        views_pb2.GetViewProtectionRequest(warehouse_id=house.warehouse_id, tabular_id=str(which))
    ),
    lambda house, which, protected: house.views.SetViewProtection(
        views_pb2.SetViewProtectionRequest(warehouse_id=house.warehouse_id, tabular_id=str(which), protected=protected)
    ),
    _drop_view,
    Reason.REASON_TABULAR_PROTECTED,
    Reason.REASON_NO_SUCH_VIEW,
    "updateViewProtection",
)
EACH = pytest.mark.parametrize(
    "noun", [pytest.param(NAMESPACE, id="namespace"), pytest.param(TABLE, id="table"), pytest.param(VIEW, id="view")]
)


@EACH
async def test_what_was_protected_is_dropped_once_its_protection_is_gone(noun: Noun) -> None:
    house = await a_house()
    which = noun.id_of(house)
    assert not (await noun.read(house, which)).protected
    assert (await noun.write(house, which, True)).protected
    assert (await noun.read(house, which)).protected
    assert (await refusal_of(noun.drop(house))).reason == noun.refused
    assert not (await noun.write(house, which, False)).protected
    assert not (await noun.read(house, which)).protected
    await noun.drop(house)
    assert (await refusal_of(noun.read(house, which))).reason == noun.absent


@EACH
async def test_each_change_of_protection_is_told_once_with_what_is_so_now(noun: Noun) -> None:
    house = await a_house()
    which, before = noun.id_of(house), len(house.events())
    for protected in (False, True, True, False, False):
        await noun.write(house, which, protected)
    told = [house.event(index) for index in range(before, len(house.events()))]
    assert [(event["type"], state_of(event)["protected"]) for event in told] == [
        (noun.event, True),
        (noun.event, False),
    ]


def state_of(event: dict[str, Any]) -> dict[str, Any]:
    """What it is about, as it is now."""
    data: dict[str, Any] = event["data"]
    return next(data[kind] for kind in ("tabular", "namespace", "warehouse") if kind in data)  # type: ignore[no-any-return]


@EACH
@pytest.mark.parametrize("which", ["", "orders", "0"])
async def test_an_id_that_is_none_is_refused_as_such(noun: Noun, which: str) -> None:
    house = await a_house()
    for call in (noun.read(house, which), noun.write(house, which, True)):
        assert (await refusal_of(call)).reason == Reason.REASON_INVALID_FIELD


@EACH
async def test_an_id_that_nothing_has_is_absent_by_the_id_that_was_written(noun: Noun) -> None:
    house, nobody = await a_house(), str(uuid4())
    for call in (noun.read(house, nobody), noun.write(house, nobody, True)):
        refusal = await refusal_of(call)
        assert refusal.reason == noun.absent
        assert [*refusal.metadata.values()] == [nobody]


@EACH
async def test_nothing_in_an_inactive_warehouse_is_there(noun: Noun) -> None:
    house = await a_house()
    which = noun.id_of(house)
    house.change_warehouse(active=False)
    for call in (noun.read(house, which), noun.write(house, which, True)):
        assert (await refusal_of(call)).reason == Reason.REASON_NO_SUCH_WAREHOUSE


async def test_a_view_is_no_table_and_a_table_no_view() -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    for noun, other in ((TABLE, VIEW), (VIEW, TABLE)):
        which = other.id_of(house)
        for call in (noun.read(house, which), noun.write(house, which, True)):
            assert (await refusal_of(call)).reason == noun.absent
    assert house.catalog.rows == before


@pytest.mark.parametrize("state", [State.STAGED, State.DROPPED])
async def test_staged_and_dropped_tables_are_protected_too(state: State) -> None:
    house = await a_house()
    house.change_tabular("orders", state=state, expires_at=NOON)
    which = TABLE.id_of(house)
    assert (await TABLE.write(house, which, True)).protected
    assert (await TABLE.read(house, which)).protected
    assert (house.tabular("orders").state, house.tabular("orders").expires_at) == (state, NOON)


async def test_a_namespace_is_not_dropped_around_what_was_protected() -> None:
    house = await a_house()
    await TABLE.write(house, TABLE.id_of(house), True)
    assert (await refusal_of(_drop_namespace(house))).reason == Reason.REASON_CHILD_TABULAR_PROTECTED
    await TABLE.write(house, TABLE.id_of(house), False)
    await _drop_namespace(house)


async def test_a_protected_table_is_still_renamed_and_stays_protected() -> None:
    house = await a_house()
    which = TABLE.id_of(house)
    await TABLE.write(house, which, True)
    source, destination = tabular("sales", "orders"), types_pb2.TabularIdent(namespace=ident("sales"), name="renamed")
    await house.tables.RenameTable(
        tables_pb2.RenameTableRequest(warehouse_id=house.warehouse_id, source=source, destination=destination)
    )
    assert (await TABLE.read(house, which)).protected
