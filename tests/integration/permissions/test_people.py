"""What people meet over HTTP who have different rights: the bootstrapper, readers, writers, and somebody with none."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.integration.permissions.conftest import PROJECT, House
from tests.support.warehouses import (
    SCHEMA,
    make_namespace,
    make_table,
    make_warehouse,
    tables_of,
    told,
    warehouse_document,
)

pytestmark = pytest.mark.integration

COMMIT: dict[str, Any] = {"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": "b"}}]}
# Who sees nothing in a warehouse does not see that, whatever in it they name.
HIDDEN = (404, "NoSuchWarehouseException")
DELEGATED = {"x-iceberg-access-delegation": "vended-credentials"}


def kind_of(reply: httpx.Response) -> tuple[int, str]:
    """Its status, and the word that says why."""
    return reply.status_code, reply.json()["error"]["type"] if reply.content else ""


async def test_whoever_bootstraps_may_do_everything_with_what_they_make(house: House) -> None:
    async with house.client("admin") as http:
        warehouse = await make_warehouse(http, house.store)
        namespace = await make_namespace(http, warehouse)
        table = f"{tables_of(warehouse, namespace)}/t"
        await make_table(http, warehouse, namespace, "t")
        assert told(await http.get(table, headers=DELEGATED)).json()["storage-credentials"]
        told(await http.post(table, json=COMMIT))
        told(await http.delete(table, params={"purgeRequested": "false"}))
        told(await http.delete(f"{warehouse.path}/namespaces/{namespace}"))
        told(await http.post(f"/management/v1/warehouse/{warehouse.id}/rename", json={"new-name": f"w{uuid4().hex}"}))
        told(await http.delete(f"/management/v1/warehouse/{warehouse.id}"))
        told(await http.post("/management/v1/project", json={"project-name": f"p{uuid4().hex}"}))


async def test_a_second_bootstrap_gives_nothing(house: House) -> None:
    async with house.client("mallory") as http:
        reply = await http.post("/management/v1/bootstrap", json={"accept-terms-of-use": True})
        assert reply.status_code == 400
        assert kind_of(await http.post("/management/v1/project", json={"project-name": "mine"}))[0] == 403


async def test_somebody_without_rights_sees_nothing_and_changes_nothing(house: House) -> None:
    """By the table of what operations demand; a thing that is hidden answers as one that is not there."""
    path, management = house.warehouse.path, f"/management/v1/warehouse/{house.warehouse.id}"
    orders = f"{path}/namespaces/sales/tables/orders"
    rename = {
        "source": {"namespace": ["sales"], "name": "orders"},
        "destination": {"namespace": ["sales"], "name": "mine"},
    }
    body = warehouse_document(house.store, name="mine", key_prefix="mine")
    expected: list[tuple[str, str, Any, tuple[int, str]]] = [
        ("GET", f"/catalog/v1/config?warehouse={house.warehouse.name}", None, HIDDEN),
        ("GET", f"{path}/namespaces", None, HIDDEN),
        ("POST", f"{path}/namespaces", {"namespace": ["mine"]}, HIDDEN),
        ("GET", f"{path}/namespaces/sales", None, HIDDEN),
        ("HEAD", f"{path}/namespaces/sales", None, (404, "")),
        ("POST", f"{path}/namespaces/sales/properties", {"updates": {"a": "b"}}, HIDDEN),
        ("DELETE", f"{path}/namespaces/sales", None, HIDDEN),
        ("GET", f"{path}/namespaces/sales/tables", None, HIDDEN),
        ("GET", f"{path}/namespaces/sales/views", None, HIDDEN),
        ("POST", f"{path}/namespaces/sales/tables", {"name": "mine", "schema": SCHEMA}, HIDDEN),
        ("GET", orders, None, HIDDEN),
        ("HEAD", orders, None, (404, "")),
        ("GET", f"{orders}/credentials", None, HIDDEN),
        ("POST", orders, COMMIT, HIDDEN),
        ("DELETE", orders, None, HIDDEN),
        ("POST", f"{path}/tables/rename", rename, HIDDEN),
        ("GET", management, None, HIDDEN),
        ("DELETE", management, None, HIDDEN),
        ("POST", f"{management}/rename", {"new-name": "mine"}, HIDDEN),
        ("POST", f"{management}/deactivate", None, HIDDEN),
        ("POST", "/management/v1/warehouse", body, (404, "ProjectNotFound")),
        ("GET", "/management/v1/warehouse", None, (404, "ProjectNotFound")),
        ("POST", "/management/v1/project", {"project-name": "mine"}, (403, "ServerActionForbidden")),
        ("GET", f"/management/v1/project?projectId={PROJECT}", None, (404, "ProjectNotFound")),
        ("DELETE", f"/management/v1/project?projectId={PROJECT}", None, (404, "ProjectNotFound")),
    ]
    differing = {}
    async with house.client("stranger") as http:
        for method, url, document, answer in expected:
            found = kind_of(await http.request(method, url, json=document))
            if found != answer:
                differing[method, url] = found
        assert told(await http.get("/management/v1/project-list")).json()["projects"] == []
    assert differing == {}


@pytest.mark.parametrize("sees", ["nothing", "another namespace"])
async def test_what_is_hidden_answers_as_what_is_not_there(house: House, sees: str) -> None:
    who = f"guest-{uuid4().hex[:8]}"
    if sees != "nothing":
        await house.give(who, "select", await house.namespace("hr"))
    path = house.warehouse.path
    async with house.client(who) as http:
        for there, absent in (
            (f"{path}/namespaces/sales/tables/orders", f"{path}/namespaces/sales/tables/ordels"),
            (f"{path}/namespaces/sales", f"{path}/namespaces/salas"),
        ):
            hidden, gone = await http.get(there), await http.get(absent)
            assert kind_of(hidden) == kind_of(gone)
            said = hidden.json()["error"]["message"]
            assert said.replace("orders", "ordels").replace("sales", "salas") == gone.json()["error"][
                "message"
            ].replace("sales", "salas")


async def test_who_may_read_a_namespace_reads_it_and_is_refused_to_write_by_name(house: House) -> None:
    reader = f"reader-{uuid4().hex[:8]}"
    await house.give(reader, "select", await house.namespace("sales"))
    path = house.warehouse.path
    orders = f"{tables_of(house.warehouse, 'sales')}/orders"
    async with house.client(reader) as http:
        told(await http.get("/catalog/v1/config", params={"warehouse": house.warehouse.name}))
        assert told(await http.get(f"{path}/namespaces")).json()["namespaces"] == [["sales"]]
        listed = told(await http.get(tables_of(house.warehouse, "sales"))).json()["identifiers"]
        assert listed == [{"namespace": ["sales"], "name": "orders"}]
        assert told(await http.get(orders, headers=DELEGATED)).json()["storage-credentials"]
        refused = {
            "commit": await http.post(orders, json=COMMIT),
            "drop": await http.delete(orders),
            "create": await http.post(tables_of(house.warehouse, "sales"), json={"name": "mine", "schema": SCHEMA}),
            "delete": await http.delete(f"{path}/namespaces/sales"),
            "create below": await http.post(f"{path}/namespaces", json={"namespace": ["mine"]}),
        }
        assert {what: kind_of(reply) for what, reply in refused.items()} == {
            "commit": (403, "TableActionForbidden"),
            "drop": (403, "TableActionForbidden"),
            "create": (403, "NamespaceActionForbidden"),
            "delete": (403, "NamespaceActionForbidden"),
            "create below": (403, "WarehouseActionForbidden"),
        }
        message = refused["commit"].json()["error"]["message"]
        assert message == "you see this table and may not commit; ask who manages its grants"
        assert kind_of(await http.get(f"{tables_of(house.warehouse, 'hr')}/orders")) == (404, "NoSuchTableException")
        assert kind_of(await http.get(f"{path}/namespaces/hr")) == (404, "NoSuchNamespaceException")


async def test_who_may_describe_a_table_alone_sees_the_way_to_it_and_gets_no_credentials(house: House) -> None:
    clerk = f"clerk-{uuid4().hex[:8]}"
    await house.give(clerk, "describe", await house.table("hr", "orders"))
    async with house.client(clerk) as http:
        assert told(await http.get(f"{house.warehouse.path}/namespaces")).json()["namespaces"] == [["hr"]]
        orders = f"{tables_of(house.warehouse, 'hr')}/orders"
        loaded = told(await http.get(orders, headers=DELEGATED)).json()
        assert not loaded.get("storage-credentials")
        assert not any("secret" in name for name in loaded.get("config", {}))
        assert kind_of(await http.get(f"{orders}/credentials")) == (403, "TableActionForbidden")


async def test_a_writer_uses_what_they_made_at_once_and_others_do_not_see_it(house: House) -> None:
    writer = f"writer-{uuid4().hex[:8]}"
    await house.give(writer, "create", house.place)
    async with house.client(writer) as http, house.client("stranger") as stranger:
        namespace = await make_namespace(http, house.warehouse)
        await make_table(http, house.warehouse, namespace, "t")
        table = f"{tables_of(house.warehouse, namespace)}/t"
        assert told(await http.get(table, headers=DELEGATED)).json()["storage-credentials"]
        told(await http.post(table, json=COMMIT))
        assert kind_of(await stranger.get(table)) == HIDDEN
        assert kind_of(await http.delete(f"{tables_of(house.warehouse, 'hr')}/orders")) == (403, "TableActionForbidden")
        told(await http.delete(table))
        told(await http.delete(f"{house.warehouse.path}/namespaces/{namespace}"))


async def test_a_dropped_tables_rights_are_not_its_names(house: House) -> None:
    reader = f"reader-{uuid4().hex[:8]}"
    path = tables_of(house.warehouse, "sales")
    async with house.client("admin") as admin, house.client(reader) as http:
        await make_table(admin, house.warehouse, "sales", reader)
        await house.give(reader, "select", await house.table("sales", reader))
        told(await http.get(f"{path}/{reader}"))
        told(await admin.delete(f"{path}/{reader}"))
        await make_table(admin, house.warehouse, "sales", reader)
        assert kind_of(await http.get(f"{path}/{reader}")) == HIDDEN


async def test_what_is_moved_into_a_namespace_is_seen_by_who_sees_that_and_by_nobody_else(house: House) -> None:
    here, there = f"here-{uuid4().hex[:8]}", f"there-{uuid4().hex[:8]}"
    name = f"t{uuid4().hex[:8]}"
    for who, namespace in ((here, "sales"), (there, "hr")):
        await house.give(who, "select", await house.namespace(namespace))
    async with house.client("admin") as admin, house.client(here) as from_here, house.client(there) as from_there:
        await make_table(admin, house.warehouse, "sales", name)
        told(await from_here.get(f"{tables_of(house.warehouse, 'sales')}/{name}"))
        move = {
            "source": {"namespace": ["sales"], "name": name},
            "destination": {"namespace": ["hr"], "name": name},
        }
        told(await admin.post(f"{house.warehouse.path}/tables/rename", json=move))
        moved = f"{tables_of(house.warehouse, 'hr')}/{name}"
        told(await from_there.get(moved))
        assert kind_of(await from_here.get(moved)) == (404, "NoSuchTableException")
