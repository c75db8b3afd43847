"""What people meet over HTTP who define tags, own them, may apply them, manage what is tagged, or may do nothing."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.integration.permissions.conftest import PROJECT, House
from tests.integration.permissions.test_people import kind_of
from tests.support.warehouses import told

pytestmark = pytest.mark.integration

DEFINITIONS = "/management/v1/tag-definition"
HIGH = {"value": "high"}


def _wanted(name: str) -> dict[str, Any]:
    return {"name": name, "scope": ["namespace", "table", "column"], "value-kind": "free-text"}


async def _defined(house: House, who: str) -> tuple[str, str]:
    """A tag that a person made, who may: its name and id."""
    await house.give(who, "tag_creator", f"project/{PROJECT}")
    name = f"t{uuid4().hex}"
    async with house.client(who) as http:
        made = told(await http.post(DEFINITIONS, json=_wanted(name))).json()
    await house.take(who, "tag_creator", f"project/{PROJECT}")
    return name, made["id"]


async def _actions(http: httpx.AsyncClient, tag_id: str) -> list[str]:
    found = told(await http.get(f"{DEFINITIONS}/{tag_id}/actions")).json()["allowed-actions"]
    return [each["action"] for each in found]


async def test_who_defines_a_tag_owns_it_and_gives_it_to_others(house: House) -> None:
    name, tag_id = await _defined(house, owner := f"owner{uuid4().hex}")
    other = f"other{uuid4().hex}"
    async with house.client(owner) as http, house.client(other) as theirs:
        assert kind_of(await http.post(DEFINITIONS, json=_wanted("mine"))) == (404, "ProjectNotFound")
        assert set(await _actions(http, tag_id)) == {
            *("read", "update", "delete", "apply", "remove", "read_attachments", "read_grants"),
        }
        assert kind_of(await theirs.get(f"{DEFINITIONS}/{tag_id}")) == (404, "TagDefinitionIdNotFound")
        given = {"writes": [{"principal": {"user": f"oidc~{other}"}, "privilege": "apply"}]}
        told(await http.post(f"{DEFINITIONS}/{tag_id}/grants", json=given))
        assert await _actions(theirs, tag_id) == ["read", "apply", "remove"]
        assert told(await theirs.get(f"{DEFINITIONS}/{tag_id}")).json()["name"] == name
        assert kind_of(await theirs.delete(f"{DEFINITIONS}/{tag_id}")) == (403, "TagActionForbidden")
        assert kind_of(await theirs.get(f"{DEFINITIONS}/{tag_id}/attachments")) == (403, "TagActionForbidden")
        assert kind_of(await theirs.get(f"/management/v1/permissions/tag/{tag_id}/assignments"))[0] == 403
        held = told(await http.get(f"/management/v1/permissions/tag/{tag_id}/assignments")).json()["assignments"]
        assert {(each["type"], each["user"]) for each in held} == {
            ("ownership", f"oidc~{owner}"),
            ("apply", f"oidc~{other}"),
        }
        assert told(await http.delete(f"{DEFINITIONS}/{tag_id}")).status_code == 204


async def test_a_steward_tags_what_is_hidden_from_it(house: House) -> None:
    name, tag_id = await _defined(house, owner := f"owner{uuid4().hex}")
    steward, table = f"steward{uuid4().hex}", await house.table("sales", "orders")
    await house.give(steward, "manage_tags", table)
    path = f"/management/v1/{table}"
    async with house.client(steward) as http, house.client(owner) as theirs:
        assert kind_of(await http.put(f"{path}/tags/{name}", json=HIGH)) == (404, "TagNameNotFound")
        await house.give(steward, "apply", f"tag/{tag_id}")
        assert told(await http.put(f"{path}/tags/{name}", json=HIGH)).json()["value"] == "high"
        assert told(await http.put(f"{path}/column/id/tags/{name}", json=HIGH)).json()["name"] == name
        assert kind_of(await http.get(f"{path}/tags")) == (404, "TagTargetNotFound")
        found = told(await theirs.get(f"{DEFINITIONS}/{tag_id}/attachments")).json()["attachments"]
        assert [each["target"]["type"] for each in found] == ["table", "column"]
        assert kind_of(await theirs.put(f"{path}/tags/{name}", json=HIGH)) == (404, "TagTargetNotFound")
        assert kind_of(await theirs.delete(f"{DEFINITIONS}/{tag_id}")) == (409, "TagDefinitionInUse")
        for tagged in (path, f"{path}/column/id"):
            assert told(await http.delete(f"{tagged}/tags/{name}")).status_code == 204
        await house.take(steward, "apply", f"tag/{tag_id}")
        assert kind_of(await http.put(f"{path}/tags/{name}", json=HIGH)) == (404, "TagNameNotFound")


async def test_who_sees_a_table_sees_its_tags_and_sets_none(house: House) -> None:
    name, tag_id = await _defined(house, f"owner{uuid4().hex}")
    reader, namespace, table = (
        f"reader{uuid4().hex}",
        await house.namespace("sales"),
        await house.table("sales", "orders"),
    )
    await house.give(reader, "describe", table)
    in_namespace = f"/management/v1/warehouse/{house.warehouse.id}/{namespace}"
    path = f"/management/v1/{table}"
    async with house.client("admin") as http, house.client(reader) as theirs:
        told(await http.put(f"{in_namespace}/tags/{name}", json=HIGH))
        (shown,) = [
            each
            for each in told(await theirs.get(f"{path}/tags", params={"effective": "true"})).json()["tags"]
            if each["name"] == name
        ]
        assert shown["inherited-from"]["type"] == "namespace"
        assert kind_of(await theirs.put(f"{path}/tags/{name}", json=HIGH)) == (403, "TableActionForbidden")
        assert kind_of(await theirs.put(f"{in_namespace}/tags/{name}", json=HIGH)) == (403, "NamespaceActionForbidden")
        listed = told(await theirs.get(DEFINITIONS, params={"name": name})).json()["tag-definitions"]
        assert [each["id"] for each in listed] == [tag_id]
        told(await http.delete(f"{in_namespace}/tags/{name}"))


async def test_a_stranger_finds_neither_tags_nor_what_is_tagged(house: House) -> None:
    name, tag_id = await _defined(house, f"owner{uuid4().hex}")
    table = f"/management/v1/{await house.table('sales', 'orders')}"
    async with house.client(f"stranger{uuid4().hex}") as http:
        assert kind_of(await http.get(DEFINITIONS)) == (404, "ProjectNotFound")
        assert kind_of(await http.post(DEFINITIONS, json=_wanted("mine"))) == (404, "ProjectNotFound")
        assert kind_of(await http.get(f"{DEFINITIONS}/{tag_id}")) == (404, "TagDefinitionIdNotFound")
        assert kind_of(await http.delete(f"{DEFINITIONS}/{tag_id}")) == (404, "TagDefinitionIdNotFound")
        assert kind_of(await http.get(f"{table}/tags")) == (404, "TagTargetNotFound")
        assert kind_of(await http.get(f"{table}/column-tags")) == (404, "TagTargetNotFound")
        assert kind_of(await http.put(f"{table}/tags/{name}", json=HIGH)) == (404, "TagTargetNotFound")
        assert kind_of(await http.delete(f"{table}/column/id/tags/{name}")) == (404, "TagTargetNotFound")
