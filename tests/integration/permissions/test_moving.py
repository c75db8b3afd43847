"""A namespace that moves: who may move it, and who sees what is inside from then on."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.integration.permissions.conftest import House
from tests.integration.permissions.test_people import kind_of
from tests.support.warehouses import make_table, told

pytestmark = pytest.mark.integration


async def _made(house: House, *names: str) -> list[str]:
    """Namespaces at the top, made by the administrator: where each is in the management API."""
    async with house.client("admin") as http:
        for name in names:
            told(await http.post(f"{house.warehouse.path}/namespaces", json={"namespace": [name]}))
    return [f"/management/v1/warehouse/{house.warehouse.id}/{await house.namespace(name)}" for name in names]


async def test_rights_follow_from_where_a_namespace_is_at_the_very_next_request(house: House) -> None:
    old, new, moving = (f"{word}{uuid4().hex}" for word in ("old", "new", "moving"))
    before, after = f"before{uuid4().hex}", f"after{uuid4().hex}"
    await _made(house, old, new)
    path = house.warehouse.path
    async with house.client("admin") as http, house.client(before) as left, house.client(after) as came:
        told(await http.post(f"{path}/namespaces", json={"namespace": [old, moving]}))
        await make_table(http, house.warehouse, f"{old}%1F{moving}", "t")
        await house.give(before, "select", await house.namespace(old))
        await house.give(after, "select", await house.namespace(new))
        was, is_now = (f"{path}/namespaces/{top}%1F{moving}/tables/t" for top in (old, new))
        assert told(await left.get(was)).status_code == 200
        assert kind_of(await came.get(was)) == (404, "NoSuchTableException")
        found = told(await http.get(f"{path}/namespaces/{old}%1F{moving}")).json()["properties"]["namespace_id"]
        move = f"/management/v1/warehouse/{house.warehouse.id}/namespace/{found}/move"
        told(await http.post(move, json={"destination": [new, moving]}))
        assert kind_of(await left.get(is_now)) == (404, "NoSuchTableException")
        assert kind_of(await left.get(was)) == (404, "NoSuchTableException")
        assert told(await came.get(is_now)).status_code == 200
        shown = told(await left.get(f"{path}/namespaces", params={"parent": old})).json()["namespaces"]
        assert shown == []
        shown = told(await came.get(f"{path}/namespaces", params={"parent": new})).json()["namespaces"]
        assert shown == [[new, moving]]


async def test_a_move_takes_rights_at_both_ends(house: House) -> None:
    mine, theirs = f"mine{uuid4().hex}", f"theirs{uuid4().hex}"
    from_, _ = await _made(house, mine, theirs)
    owner, stranger = f"owner{uuid4().hex}", f"stranger{uuid4().hex}"
    await house.give(owner, "ownership", await house.namespace(mine))
    into = {"destination": [theirs, mine]}
    async with house.client(owner) as http, house.client(stranger) as other:
        assert kind_of(await other.post(f"{from_}/move", json=into)) == (404, "NoSuchWarehouseException")
        assert kind_of(await http.post(f"{from_}/move", json=into)) == (404, "NoSuchNamespaceException")
        assert kind_of(await http.post(f"{from_}/move", json={"destination": ["up"]}))[0] == 403
        await house.give(owner, "create", await house.namespace(theirs))
        refused = await http.post(f"{from_}/move", json=into)
        assert kind_of(refused) == (403, "NamespaceActionForbidden")
        assert "accept moved namespace" in refused.json()["error"]["message"]
        await house.give(owner, "manage_grants", await house.namespace(theirs))
        moved = told(await http.post(f"{from_}/move", json=into)).json()
        assert moved["namespace"] == [theirs, mine]
