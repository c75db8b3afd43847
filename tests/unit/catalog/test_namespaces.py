from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.domain.model import NamespaceId, State
from lakeward_catalog.domain.tasks import Queue
from lakeward_protocol.catalog.v1 import namespaces_pb2, tables_pb2
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import ANYTHING, House, a_house, context, ident, refusal_of
from tests.support.deciding import Rule


def create(house: House, *path: str, key: object = "", **properties: str) -> Any:
    return house.namespaces.CreateNamespace(
        namespaces_pb2.CreateNamespaceRequest(
            context=context(idempotency_key=str(key)),
            warehouse_id=house.warehouse_id,
            ident=ident(*path),
            properties=properties,
        )
    )


def update(house: House, *path: str, updates: dict[str, str] | None = None, removals: tuple[str, ...] = ()) -> Any:
    return house.namespaces.UpdateNamespaceProperties(
        namespaces_pb2.UpdateNamespacePropertiesRequest(
            warehouse_id=house.warehouse_id, ident=ident(*path), updates=updates or {}, removals=removals
        )
    )


def drop(house: House, *path: str, key: object = "", **flags: bool) -> Any:
    return house.namespaces.DropNamespace(
        namespaces_pb2.DropNamespaceRequest(
            context=context(idempotency_key=str(key)), warehouse_id=house.warehouse_id, ident=ident(*path), **flags
        )
    )


async def listed(house: House, *parent: str, **page: Any) -> tuple[list[str], str]:
    response = await house.namespaces.ListNamespaces(
        namespaces_pb2.ListNamespacesRequest(
            warehouse_id=house.warehouse_id,
            parent=ident(*parent) if parent else None,
            page=context_pb2.Page(**page) if page else None,
        )
    )
    return [".".join(each.parts) for each in response.namespaces], response.next_page_token


async def test_a_namespace_is_answered_with_its_stored_casing_whatever_the_caller_wrote() -> None:
    house = await a_house()
    await house.make_namespace("Mixed")
    inner = await house.make_namespace("mIXED", "Inner")
    assert list(inner.ident.parts) == ["Mixed", "Inner"]
    reply = await house.namespaces.GetNamespace(
        namespaces_pb2.GetNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident("MIXED", "INNER"))
    )
    assert list(reply.namespace.ident.parts) == ["Mixed", "Inner"]


async def test_names_that_differ_by_case_alone_are_one_name() -> None:
    house = await a_house()
    assert (await refusal_of(create(house, "SALES"))).reason == Reason.REASON_NAMESPACE_EXISTS


async def test_a_namespace_replies_with_its_location_and_id_beside_what_was_set() -> None:
    house = await a_house()
    made = await house.make_namespace("new", owner="anna", namespace_id="forged", managed_access="true")
    assert made.properties == {"owner": "anna", "location": "s3://lake/demo/", "namespace_id": made.namespace_id}
    assert house.namespace("new").properties == {"owner": "anna"}


@pytest.mark.parametrize(
    ("path", "properties", "reason"),
    [
        (("system",), {}, Reason.REASON_RESERVED_NAMESPACE),
        (("Forbidden",), {}, Reason.REASON_RESERVED_NAMESPACE),
        (("a",), {"Owner": "x"}, Reason.REASON_PROPERTY_NOT_LOWERCASE),
        (("a",), {"location": "nowhere"}, Reason.REASON_MALFORMED_LOCATION),
        (("a",), {"location": "s3://lake/demo"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        (("a",), {"location": "s3://lake/demonic/x"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        (("a",), {"location": "gs://lake/demo/x"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        (("a",), {"location": "s3://lake/demo/*"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        (("a", "", "b"), {}, Reason.REASON_NAMESPACE_PART_EMPTY),
        (("a.b",), {}, Reason.REASON_NAMESPACE_PART_CONTAINS_DOT),
        (("a+b",), {}, Reason.REASON_INVALID_NAMESPACE),
        (("1", "2", "3", "4", "5", "6"), {}, Reason.REASON_NAMESPACE_TOO_DEEP),
        (("absent", "inner"), {}, Reason.REASON_NO_SUCH_NAMESPACE),
    ],
)
async def test_a_namespace_that_cannot_be_is_refused_and_nothing_is_stored(
    path: tuple[str, ...], properties: dict[str, str], reason: Reason.ValueType
) -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    assert (await refusal_of(create(house, *path, **properties))).reason == reason
    assert house.catalog.rows == before


async def test_a_reserved_name_may_be_used_below_the_top() -> None:
    house = await a_house()
    await house.make_namespace("sales", "system")


async def test_a_location_that_the_caller_chose_gets_one_trailing_slash() -> None:
    house = await a_house()
    made = await house.make_namespace("new", location="s3://lake/demo/mine")
    assert made.properties["location"] == "s3://lake/demo/mine/"


async def test_a_full_hierarchy_nests_directories_by_the_names_of_all_ancestors() -> None:
    house = House()
    house.make_project()
    layout = {"type": "full-hierarchy", "namespace": "{name}", "tabular": "{name}-{uuid}"}
    house.warehouse_id = await house.make_warehouse(layout=layout)
    await house.make_namespace("A")
    await house.make_namespace("a", "B")
    made = await house.make_namespace("a", "b", "C c")
    assert made.properties["location"] == "s3://lake/demo/A/B/C%20c/"


async def test_changed_properties_are_told_by_key_and_unknown_removals_are_missing() -> None:
    house = await a_house()
    await house.make_namespace("new", a="1", b="2")
    reply = await update(house, "new", updates={"c": "3", "a": "1"}, removals=("b", "z"))
    assert (list(reply.updated), list(reply.removed), list(reply.missing)) == (["a", "c"], ["b"], ["z"])
    assert house.namespace("new").properties == {"a": "1", "c": "3"}
    assert house.events()[-1] == "updateNamespaceProperties"


async def test_an_update_that_changes_nothing_tells_no_event() -> None:
    house = await a_house()
    await house.make_namespace("new", a="1")
    before = house.events()
    await update(house, "new", updates={"a": "1"}, removals=("z",))
    assert house.events() == before


@pytest.mark.parametrize(
    ("updates", "removals", "reason"),
    [
        ({"a": "1"}, ("a",), Reason.REASON_PROPERTY_SET_AND_REMOVED),
        ({"location": "s3://lake/demo/"}, (), Reason.REASON_NAMESPACE_LOCATION_FIXED),
        ({}, ("location",), Reason.REASON_NAMESPACE_LOCATION_FIXED),
        ({"A": "1"}, (), Reason.REASON_PROPERTY_NOT_LOWERCASE),
        ({}, ("A",), Reason.REASON_PROPERTY_NOT_LOWERCASE),
    ],
)
async def test_an_update_that_contradicts_itself_or_the_rules_is_refused(
    updates: dict[str, str], removals: tuple[str, ...], reason: Reason.ValueType
) -> None:
    house = await a_house()
    assert (await refusal_of(update(house, "sales", updates=updates, removals=removals))).reason == reason


async def test_a_repeated_update_under_a_key_answers_what_the_first_did() -> None:
    house = await a_house()
    request = namespaces_pb2.UpdateNamespacePropertiesRequest(
        context=context(idempotency_key=str(uuid4())),
        warehouse_id=house.warehouse_id,
        ident=ident("sales"),
        updates={"a": "1"},
        removals=["b"],
    )
    first = await house.namespaces.UpdateNamespaceProperties(request)
    assert await house.namespaces.UpdateNamespaceProperties(request) == first
    assert house.events().count("updateNamespaceProperties") == 1


async def test_concurrent_updates_lose_no_property() -> None:
    house = await a_house()
    await asyncio.gather(*(update(house, "sales", updates={f"k{n}": str(n)}) for n in range(10)))
    assert house.namespace("sales").properties == {f"k{n}": str(n) for n in range(10)}


async def test_a_listing_holds_direct_children_in_the_order_they_were_made() -> None:
    house = await a_house()
    for name in ("c", "a", "b"):
        house.clock.advance(timedelta(seconds=1))
        await house.make_namespace(name)
    await house.make_namespace("a", "inner")
    assert await listed(house) == (["sales", "c", "a", "b"], "")
    assert await listed(house, "A") == (["a.inner"], "")


async def test_a_listing_holds_only_what_the_caller_may_see_and_its_pages_are_full() -> None:
    house = await a_house()
    for name in ("n1", "n2", "n3", "n4"):
        house.clock.advance(timedelta(seconds=1))
        await house.make_namespace(name)
    hidden = [house.namespace(name).namespace_id for name in ("n1", "n3")]
    shown = [house.namespace(name).namespace_id for name in ("sales", "n2", "n4")]
    house.authorizer.replace(
        *(Rule(allows=False, kind=ObjectKind.NAMESPACE, id=each) for each in hidden),
        *(Rule(allows=True, kind=ObjectKind.NAMESPACE, id=each) for each in shown),
        Rule(allows=False, kind=ObjectKind.NAMESPACE),
        Rule(allows=False, action=Action.WAREHOUSE_LIST_EVERYTHING),
        ANYTHING,
    )
    names, token = await listed(house, size=2, token="")
    assert names == ["sales", "n2"]
    assert await listed(house, size=2, token=token) == (["n4"], "")


async def test_a_token_of_one_parent_is_refused_for_another() -> None:
    house = await a_house()
    for name in ("x", "y"):
        await house.make_namespace("sales", name)
    _, token = await listed(house, "sales", size=1)
    assert token
    await house.make_namespace("other")
    assert (await refusal_of(listed(house, "other", token=token))).reason == Reason.REASON_INVALID_PAGE_TOKEN


async def test_what_is_dropped_is_gone_with_its_event() -> None:
    house = await a_house()
    await house.make_namespace("empty")
    await drop(house, "EMPTY")
    assert (await listed(house))[0] == ["sales"]
    assert (house.events()[-1], house.event()["subject"]) == ("dropNamespace", "empty")


@pytest.mark.parametrize("state", [State.LIVE, State.DROPPED])
async def test_a_namespace_with_something_inside_is_not_dropped_alone(state: State) -> None:
    house = await a_house()
    house.change_tabular("orders", state=state)
    assert (await refusal_of(drop(house, "sales"))).reason == Reason.REASON_NAMESPACE_NOT_EMPTY
    assert (await refusal_of(drop(house, "sales", force=True))).reason == Reason.REASON_NAMESPACE_NOT_EMPTY


async def test_a_namespace_with_a_child_namespace_is_not_dropped_alone() -> None:
    house = await a_house()
    await house.make_namespace("outer")
    await house.make_namespace("outer", "inner")
    assert (await refusal_of(drop(house, "outer"))).reason == Reason.REASON_NAMESPACE_NOT_EMPTY


async def test_staged_tables_do_not_keep_a_namespace() -> None:
    house = await a_house()
    await house.make_namespace("stage")
    await house.make_table("stage", "t", **{"stage-create": True})
    await drop(house, "stage")


@pytest.mark.parametrize("flags", [{}, {"recursive": True}])
async def test_a_protected_namespace_is_dropped_by_force_alone(flags: dict[str, bool]) -> None:
    house = await a_house()
    await house.make_namespace("kept")
    house.change_namespace("kept", protected=True)
    assert (await refusal_of(drop(house, "kept", **flags))).reason == Reason.REASON_NAMESPACE_PROTECTED
    await drop(house, "kept", force=True, **flags)


async def test_a_recursive_drop_stops_at_what_is_protected_inside() -> None:
    house = await a_house()
    await house.make_namespace("sales", "eu")
    house.change_namespace("sales", "eu", protected=True)
    assert (await refusal_of(drop(house, "sales", recursive=True))).reason == Reason.REASON_CHILD_NAMESPACE_PROTECTED
    house.change_namespace("sales", "eu", protected=False)
    house.change_tabular("orders", protected=True)
    refusal = await refusal_of(drop(house, "sales", recursive=True))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_CHILD_TABULAR_PROTECTED, {"tabular": "sales.orders"})
    await drop(house, "sales", recursive=True, force=True)
    assert not house.catalog.rows.namespaces
    assert not house.catalog.rows.tabulars


async def test_a_recursive_drop_needs_force_where_drops_can_be_restored() -> None:
    house = await a_house()
    house.change_warehouse(restorable_for=timedelta(days=7))
    assert (await refusal_of(drop(house, "sales", recursive=True))).reason == Reason.REASON_NAMESPACE_DROP_NOT_ALLOWED
    await drop(house, "sales", recursive=True, force=True)


async def test_a_recursive_drop_tells_of_everything_that_went() -> None:
    house = await a_house()
    await house.make_namespace("sales", "eu")
    before = len(house.events())
    await drop(house, "sales", recursive=True)
    assert sorted(house.events()[before:]) == ["dropNamespace", "dropNamespace", "dropTable", "dropView"]
    assert house.event()["subject"] == "sales"


@pytest.mark.parametrize(("purge", "queued"), [(True, 2), (False, 0)])
async def test_files_inside_go_only_where_purge_is_asked_for(purge: bool, queued: int) -> None:
    house = await a_house()
    await drop(house, "sales", recursive=True, purge=purge)
    tasks = list(house.catalog.rows.tasks.values())
    assert [task.queue for task in tasks] == [Queue.TABULAR_PURGE] * queued


async def test_files_of_staged_and_of_dropped_tables_inside_go_too() -> None:
    house = await a_house()
    await house.make_table("sales", "staged", **{"stage-create": True})
    house.change_tabular("orders", state=State.DROPPED)
    places = {house.tabular(name).location for name in ("staged", "orders", "recent")}
    await drop(house, "sales", recursive=True, force=True, purge=True)
    assert {task.location for task in house.catalog.rows.tasks.values()} == places


async def test_a_reserved_namespace_is_not_dropped() -> None:
    assert (await refusal_of(drop(await a_house(), "System"))).reason == Reason.REASON_RESERVED_NAMESPACE


async def test_a_repeated_drop_under_a_key_succeeds_though_the_namespace_is_gone() -> None:
    house, key = await a_house(), uuid4()
    await house.make_namespace("empty")
    await drop(house, "empty", key=key)
    await drop(house, "empty", key=key)
    assert house.events().count("dropNamespace") == 1


async def test_a_repeated_drop_is_refused_to_who_may_not_use_the_warehouse_any_more() -> None:
    house, key = await a_house(), uuid4()
    await house.make_namespace("empty")
    await drop(house, "empty", key=key)
    house.authorizer.replace()
    assert (await refusal_of(drop(house, "empty", key=key))).reason == Reason.REASON_NO_SUCH_WAREHOUSE


async def test_a_repeated_create_answers_with_the_namespace_that_the_first_made() -> None:
    house, key = await a_house(), uuid4()
    first = await create(house, "new", key=key)
    assert await create(house, "new", key=key) == first
    await drop(house, "new")
    assert (await refusal_of(create(house, "new", key=key))).reason == Reason.REASON_NO_SUCH_NAMESPACE
    await create(house, "new")
    assert (await refusal_of(create(house, "new", key=key))).reason == Reason.REASON_NO_SUCH_NAMESPACE


async def test_of_creates_of_one_name_exactly_one_wins() -> None:
    house = await a_house()
    results = await asyncio.gather(*(create(house, name) for name in ("n", "N", "n")), return_exceptions=True)
    refused = [each for each in results if isinstance(each, Exception)]
    assert [each.reason for each in refused] == [Reason.REASON_NAMESPACE_EXISTS] * 2  # type: ignore[attr-defined]


async def test_nothing_is_there_in_an_inactive_warehouse() -> None:
    house = await a_house()
    house.change_warehouse(active=False)
    calls = [
        listed(house),
        create(house, "new"),
        drop(house, "sales"),
        house.tables.ListTables(
            tables_pb2.ListTablesRequest(warehouse_id=house.warehouse_id, namespace=ident("sales"))
        ),
    ]
    for call in calls:
        assert (await refusal_of(call)).reason == Reason.REASON_NO_SUCH_WAREHOUSE


async def test_a_namespace_that_was_replaced_after_the_decision_is_not_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    await house.make_namespace("empty")
    decide = house.authorizer.decide

    async def replaced_meanwhile(*args: Any) -> Any:
        outcomes = await decide(*args)
        rows, gone = house.catalog.rows.namespaces, house.namespace("empty")
        del rows[gone.warehouse_id, gone.namespace_id]
        fresh = dataclasses.replace(gone, namespace_id=NamespaceId(uuid4()))
        rows[fresh.warehouse_id, fresh.namespace_id] = fresh
        return outcomes

    monkeypatch.setattr(house.authorizer, "decide", replaced_meanwhile)
    assert (await refusal_of(drop(house, "empty"))).reason == Reason.REASON_NO_SUCH_NAMESPACE
    assert house.namespace("empty").ident.parts == ("empty",)
