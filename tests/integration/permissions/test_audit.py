"""The audit: what people did and tried, as those see it who may read who has rights."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest

from tests.integration.permissions.conftest import PROJECT, House, Houses
from tests.support.installations import compositions
from tests.support.warehouses import make_namespace, make_table, tables_of, told, warehouse_document

pytestmark = pytest.mark.integration

_AUDIT = "/management/v1/audit"
_AGENT = {"user-agent": "an-auditors-test/1"}


@pytest.fixture(scope="module", params=compositions(), ids=str)
async def audited(request: pytest.FixtureRequest, houses: Houses) -> House:
    return await houses("builtin", request.param)


async def records(http: httpx.AsyncClient, **wanted: str) -> Sequence[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = told(await http.get(_AUDIT, params=wanted)).json()["records"]
    return found


async def found(http: httpx.AsyncClient, count: int, **wanted: str) -> Sequence[Mapping[str, Any]]:
    """As many records as are awaited: what is no change of the catalog's gets its row within a moment."""
    async with asyncio.timeout(30):
        while len(rows := await records(http, **wanted)) < count:
            await asyncio.sleep(0.1)
    return rows


async def test_a_change_is_there_with_its_answer_and_says_who_and_from_where(audited: House) -> None:
    request_id = str(uuid4())
    async with audited.client("admin") as http:
        namespace = await make_namespace(http, audited.warehouse)
        made = await http.post(
            tables_of(audited.warehouse, namespace),
            json={"name": "kept", "schema": {"type": "struct", "fields": []}},
            headers={**_AGENT, "x-request-id": request_id},
        )
        own = told(made).json()["metadata"]["table-uuid"]
        (record,) = await records(http, objectId=own)
    assert record.pop("at")
    assert record.pop("audit-id")
    assert record.pop("client") in {"127.0.0.1", "::1"}
    assert record == {
        "outcome": "allowed",
        "action": "createTable",
        "object-type": "table",
        "object-id": own,
        "object": f"{namespace}.kept",
        "project-id": PROJECT,
        "warehouse-id": audited.warehouse.id,
        "principal": "oidc~admin",
        "request-id": request_id,
        "user-agent": _AGENT["user-agent"],
    }


async def test_a_rolled_back_change_is_in_the_audit_as_refused_and_not_as_made(audited: House) -> None:
    who = f"maker-{uuid4().hex[:8]}"
    await audited.give(who, "create", audited.place)
    async with audited.client(who) as http, audited.client("admin") as admin:
        namespace = await make_namespace(http, audited.warehouse)
        await make_table(http, audited.warehouse, namespace, "kept")
        again = await http.post(
            tables_of(audited.warehouse, namespace), json={"name": "kept", "schema": {"type": "struct", "fields": []}}
        )
        assert again.status_code == 409
        rows = await found(admin, 3, principal=f"oidc~{who}")
    assert [(row["action"], row["outcome"], row.get("reason")) for row in rows] == [
        ("CreateTable", "refused", "TABULAR_EXISTS"),
        ("createTable", "allowed", None),
        ("createNamespace", "allowed", None),
    ]


async def test_who_tries_what_they_may_not_is_told_of_and_hidden_names_are_not(audited: House) -> None:
    who = f"reader-{uuid4().hex[:8]}"
    orders = await audited.table("sales", "orders")
    await audited.give(who, "describe", orders)
    async with audited.client(who) as http, audited.client("admin") as admin:
        seen = f"{tables_of(audited.warehouse, 'sales')}/orders"
        hidden = f"{tables_of(audited.warehouse, 'hr')}/orders"
        assert (await http.delete(seen)).status_code == 403
        assert (await http.delete(hidden)).status_code == 404
        rows = await found(admin, 2, principal=f"oidc~{who}", outcome="refused")
    assert [(row["action"], row["reason"], row.get("object")) for row in rows] == [
        ("DropTable", "NO_SUCH_TABLE", None),
        ("DropTable", "FORBIDDEN", "sales.orders"),
    ]


async def test_grants_and_tables_are_in_one_listing_in_the_order_of_time(audited: House) -> None:
    who = f"granted-{uuid4().hex[:8]}"
    async with audited.client("admin") as http:
        await make_namespace(http, audited.warehouse, first := f"first_{uuid4().hex[:8]}")
        await audited.give(who, "select", audited.place)
        await make_namespace(http, audited.warehouse, last := f"last_{uuid4().hex[:8]}")
        rows = await records(http, principal="oidc~admin", warehouseId=audited.warehouse.id, pageSize="3")
        assert [row["action"] for row in rows] == ["createNamespace", "updateGrants", "createNamespace"]
        assert (rows[0]["object"], rows[2]["object"]) == (last, first)
        paged: list[Mapping[str, Any]] = []
        token: str | None = None
        for _ in range(3):
            wanted = {"pageSize": "1", "warehouseId": audited.warehouse.id, **({"pageToken": token} if token else {})}
            page = told(await http.get(_AUDIT, params=wanted)).json()
            paged += page["records"]
            token = page["next-page-token"]
    assert paged == [*rows]


async def test_a_change_that_breaks_a_contract_is_refused_by_its_name_and_recorded(audited: House) -> None:
    async with audited.client("admin") as http:
        namespace = await make_namespace(http, audited.warehouse)
        made = await http.post(
            tables_of(audited.warehouse, namespace),
            json={
                "name": "kept",
                "schema": {"type": "struct", "fields": [{"id": 1, "name": "id", "type": "long", "required": True}]},
            },
        )
        own = told(made).json()["metadata"]["table-uuid"]
        contracts = f"/management/v1/warehouse/{audited.warehouse.id}/contracts"
        promise = {"name": "readers", "namespace": [namespace], "rules": {"columns-stay": True}}
        told(await http.put(contracts, json={"contracts": [promise]}))
        try:
            refused = await http.post(
                f"{tables_of(audited.warehouse, namespace)}/kept",
                json={
                    "requirements": [],
                    "updates": [
                        {"action": "add-schema", "schema": {"type": "struct", "fields": []}},
                        {"action": "set-current-schema", "schema-id": -1},
                    ],
                },
            )
        finally:
            told(await http.put(contracts, json={"contracts": []}))
        error = refused.json()["error"]
        assert (refused.status_code, error["type"]) == (400, "ContractViolation")
        assert "contract 'readers'" in error["message"]
        assert "column 'id' stays, and would be dropped" in error["message"]
        rows = await found(http, 1, outcome="refused", action="CommitTable", warehouseId=audited.warehouse.id)
    assert (rows[0]["reason"], rows[0]["object"]) == ("CONTRACT_VIOLATED", f"{namespace}.kept")
    assert own


async def test_the_audit_is_for_who_may_read_rights(audited: House) -> None:
    who = f"curious-{uuid4().hex[:8]}"
    async with audited.client(who) as http:
        assert (await http.get(_AUDIT)).status_code == 404
        assert (await http.get(_AUDIT, params={"wholeServer": "true"})).status_code == 403
    async with audited.client("admin") as http:
        whole = await found(http, 1, principal=f"oidc~{who}", wholeServer="true", outcome="refused")
        assert {row["reason"] for row in whole} <= {"NO_SUCH_PROJECT", "FORBIDDEN"}
        bad = await http.get(_AUDIT, params={"start": "yesterday"})
        assert bad.status_code == 400
        assert "a time with its zone" in bad.json()["error"]["message"]


async def test_no_row_holds_a_token(audited: House) -> None:
    connection = await asyncpg.connect(audited.database)
    try:
        schemas = await connection.fetch(
            "select table_schema from information_schema.tables where table_name = 'audit_record'"
        )
        assert {schema for (schema,) in schemas} == {"lakeward_catalog", "lakeward_authz", "lakeward_vending"}
        for (schema,) in schemas:
            texts = await connection.fetch(f'select a::text from "{schema}".audit_record a')
            assert texts
            assert not [text for (text,) in texts if "Bearer" in text or "eyJ" in text]
    finally:
        await connection.close()


async def test_what_happens_to_credentials_is_there_and_nothing_of_what_they_are(audited: House) -> None:
    who, place = f"keeper-{uuid4().hex[:8]}", f"/management/v1/warehouse/{audited.warehouse.id}/storage-credential"
    credential: Any = warehouse_document(audited.store, name="w", key_prefix="w")["storage-credential"]
    secret = f"not-to-be-seen-{uuid4().hex}"
    refused = {"new-storage-credential": {**credential, "secret-access-key": secret}}
    async with audited.client(who) as http, audited.client("admin") as admin:
        assert (await http.post(place, json=refused)).status_code in {403, 404}
        await found(admin, 1, principal=f"oidc~{who}", action="StageCredential", outcome="refused")
        before = {each["audit-id"] for each in await records(admin, action="storeCredential")}
        told(await admin.post(place, json={"new-storage-credential": credential}))
        stored = [each for each in await records(admin, action="storeCredential") if each["audit-id"] not in before]
        kept = await found(admin, 1, action="keepCredential", objectId=stored[0]["object-id"])
        said = (await admin.get(_AUDIT, params={"pageSize": "1000"})).text
    (record,) = stored
    assert (record["object-type"], record["principal"], record["project-id"]) == ("credential", "oidc~admin", PROJECT)
    assert (kept[0]["warehouse-id"], kept[0]["project-id"]) == (audited.warehouse.id, PROJECT)
    assert secret not in said
    assert credential["secret-access-key"] not in said
