"""What conflicts tell of what the caller may not see: that a name or a place is taken, and not by what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from lakeward_catalog.domain.model import Kind, State
from lakeward_protocol.catalog.v1 import generic_tables_pb2, namespaces_pb2, tables_pb2, tabulars_pb2, views_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import failure_of
from tests.support.catalog.house import ANYTHING, House, a_house, ident, refusal_of, tabular, tabular_ref
from tests.support.catalog.tables import STAGED, a_file, commit, create, register
from tests.support.deciding import Rule

PLACE = "s3://lake/demo/found"
FILE = f"{PLACE}/metadata/00003-x.metadata.json"
THEIRS = "s3://lake/demo/theirs"
Want = Callable[[House, str], Awaitable[Any]]

MAKES: dict[Kind, Callable[..., Awaitable[Any]]] = {
    Kind.TABLE: lambda house, name, **members: house.make_table("sales", name, **members),
    Kind.VIEW: lambda house, name, **members: house.make_view("sales", name, **members),
    Kind.GENERIC_TABLE: lambda house, name, **members: house.make_generic(
        "sales", name, **({"base-location": members["location"]} if members else {})
    ),
}


def _rename_table(house: House, name: str) -> Awaitable[Any]:
    request = tables_pb2.RenameTableRequest(warehouse_id=house.warehouse_id)
    request.source.CopyFrom(tabular("sales", "orders"))
    request.destination.CopyFrom(tabular("sales", name))
    called: Awaitable[Any] = house.tables.RenameTable(request)
    return called


def _rename_view(house: House, name: str) -> Awaitable[Any]:
    request = views_pb2.RenameViewRequest(warehouse_id=house.warehouse_id)
    request.source.CopyFrom(tabular("sales", "recent"))
    request.destination.CopyFrom(tabular("sales", name))
    called: Awaitable[Any] = house.views.RenameView(request)
    return called


def _rename_generic(house: House, name: str) -> Awaitable[Any]:
    request = generic_tables_pb2.RenameGenericTableRequest(warehouse_id=house.warehouse_id)
    request.source.CopyFrom(tabular("sales", "vectors"))
    request.destination.CopyFrom(tabular("sales", name))
    called: Awaitable[Any] = house.generic_tables.RenameGenericTable(request)
    return called


WANTS: dict[str, Want] = {
    "create a table": create,
    "stage a table": lambda house, name: create(house, name, **STAGED),
    "create a view": lambda house, name: house.make_view("sales", name),
    "create a generic table": lambda house, name: house.make_generic("sales", name),
    "register a table": lambda house, name: register(house, FILE, name=name),
    "register over a table": lambda house, name: register(house, FILE, name=name, overwrite=True),
    "commit a new table": lambda house, name: commit(
        house, path=("sales", name), requirements=[{"type": "assert-create"}]
    ),
    "rename a table": _rename_table,
    "rename a view": _rename_view,
    "rename a generic table": _rename_generic,
}
NEEDS: dict[str, Action] = {
    want: Action.NAMESPACE_CREATE_GENERIC_TABLE
    if "generic" in want
    else Action.NAMESPACE_CREATE_VIEW
    if "view" in want
    else Action.NAMESPACE_CREATE_TABLE
    for want in WANTS
}


def _as_bytes(refusal: Refusal) -> bytes:
    return failure_of(refusal).SerializeToString(deterministic=True)


async def _house() -> House:
    house = await a_house()
    await house.make_generic("sales", "vectors")
    house.files.stored[FILE] = a_file(PLACE)
    return house


async def _with(kind: Kind, name: str = "taken", **members: Any) -> House:
    """A house with something of a kind that the caller may not see."""
    house = await _house()
    await MAKES[kind](house, name, **members)
    hide(house, house.tabular(name).incarnation)
    return house


def hide(house: House, *ids: UUID) -> None:
    house.authorizer.replace(*(Rule(allows=False, id=each) for each in ids), ANYTHING)


@pytest.mark.parametrize("want", WANTS)
async def test_a_name_of_what_is_hidden_is_taken_and_nothing_says_by_what(want: str) -> None:
    refusals = []
    for kind in Kind:
        house = await _with(kind)
        before = house.catalog.rows.copy()
        refusals.append(await refusal_of(WANTS[want](house, "TAKEN")))
        assert house.catalog.rows == before
    assert len({_as_bytes(each) for each in refusals}) == 1
    assert refusals[0].reason == Reason.REASON_TABULAR_EXISTS
    assert "Table or view already exists" in refusals[0].message


@pytest.mark.parametrize("want", WANTS)
async def test_who_may_not_make_anything_there_is_not_told_whether_a_name_is_taken(want: str) -> None:
    house = await _house()
    await house.make_table("sales", "taken")
    hidden = Rule(allows=False, id=house.tabular("taken").incarnation)
    for name in ("taken", "free"):
        house.authorizer.replace(hidden, Rule(allows=False, action=NEEDS[want]), ANYTHING)
        refusal = await refusal_of(WANTS[want](house, name))
        assert (refusal.reason, refusal.metadata["action"]) == (Reason.REASON_FORBIDDEN, NEEDS[want].word)
        assert name not in refusal.message


async def test_whether_a_hidden_table_is_protected_is_not_told_to_who_would_overwrite_it() -> None:
    house = await _with(Kind.TABLE)
    house.change_tabular("taken", protected=True)
    refusal = await refusal_of(register(house, FILE, name="taken", overwrite=True))
    assert refusal.reason == Reason.REASON_TABULAR_EXISTS


async def test_what_is_restored_under_a_name_that_something_hidden_got_is_refused_alike_for_each_kind() -> None:
    told = set()
    for kind in Kind:
        house = await _house()
        house.change_warehouse(restorable_for=timedelta(days=7))
        which = house.tabular("orders")
        await house.tables.DropTable(
            tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))
        )
        await MAKES[kind](house, "orders")
        live = next(
            each
            for each in house.catalog.rows.tabulars.values()
            if each.ident.name == "orders" and each.state is State.LIVE
        )
        hide(house, live.incarnation)
        call = house.tabulars.UndropTabulars(
            tabulars_pb2.UndropTabularsRequest(
                warehouse_id=house.warehouse_id, tabulars=[tabular_ref(Kind.TABLE, which.tabular_id)]
            )
        )
        told.add(_as_bytes(await refusal_of(call)))
    assert len(told) == 1


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("where", [THEIRS, f"{THEIRS}/metadata"])
async def test_a_file_in_a_place_of_what_is_hidden_is_refused_whatever_has_the_place(where: str, state: State) -> None:
    told = set()
    for kind in Kind:
        house = await _with(kind, location=THEIRS)
        house.change_tabular("taken", state=state)
        refusal = await refusal_of(register(house, f"{where}/00000-y.metadata.json", name="mine"))
        assert refusal.reason == Reason.REASON_LOCATION_TAKEN
        told.add(_as_bytes(refusal))
    assert len(told) == 1


# -- namespaces


def make(house: House, *path: str) -> Any:
    return house.namespaces.CreateNamespace(
        namespaces_pb2.CreateNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident(*path))
    )


def move(house: House, *to: str) -> Any:
    return house.namespaces.MoveNamespace(
        namespaces_pb2.MoveNamespaceRequest(
            warehouse_id=house.warehouse_id,
            namespace_id=str(house.namespace("sales").namespace_id),
            destination=ident(*to),
        )
    )


def rename_into(house: House, *to: str) -> Any:
    return house.tables.RenameTable(
        tables_pb2.RenameTableRequest(
            warehouse_id=house.warehouse_id, source=tabular("sales", "orders"), destination=tabular(*to, "orders")
        )
    )


@pytest.mark.parametrize("call", [make, move])
async def test_the_name_of_a_hidden_namespace_is_taken_as_that_of_any_other(call: Callable[..., Any]) -> None:
    house = await _house()
    await house.make_namespace("theirs")
    seen = await refusal_of(call(house, "THEIRS"))
    hide(house, house.namespace("theirs").namespace_id)
    hidden = await refusal_of(call(house, "THEIRS"))
    assert hidden.reason == Reason.REASON_NAMESPACE_EXISTS
    assert _as_bytes(hidden) == _as_bytes(seen)
    assert "theirs" not in hidden.message


@pytest.mark.parametrize("call", [make, move])
async def test_who_may_make_no_namespace_is_not_told_whether_a_name_is_taken(call: Callable[..., Any]) -> None:
    house = await _house()
    await house.make_namespace("theirs")
    hidden = Rule(allows=False, id=house.namespace("theirs").namespace_id)
    house.authorizer.replace(hidden, Rule(allows=False, action=Action.WAREHOUSE_CREATE_NAMESPACE), ANYTHING)
    taken, free = [await refusal_of(call(house, name)) for name in ("theirs", "free")]
    assert taken.reason == Reason.REASON_FORBIDDEN
    assert _as_bytes(taken) == _as_bytes(free)


@pytest.mark.parametrize("inside", ["orders", "free"])
@pytest.mark.parametrize("call", [make, move, rename_into])
async def test_into_a_hidden_namespace_nothing_comes_as_if_it_were_not_there(
    call: Callable[..., Any], inside: str
) -> None:
    house, without = await _house(), await _house()
    await house.make_namespace("theirs")
    await house.make_namespace("theirs", "orders")
    await house.make_table("theirs", "orders")
    hide(house, house.namespace("theirs").namespace_id)
    path = ("theirs",) if call is rename_into else ("theirs", inside)
    hidden, absent = [await refusal_of(call(each, *path)) for each in (house, without)]
    assert hidden.reason == Reason.REASON_NO_SUCH_NAMESPACE
    assert _as_bytes(hidden) == _as_bytes(absent)
