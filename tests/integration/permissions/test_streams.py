"""Events of a project and of the server, as each service has them, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.integration.permissions.conftest import PROJECT, House, Houses
from tests.support.installations import compositions
from tests.support.warehouses import told

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module", params=compositions(), ids=str)
async def streamed(request: pytest.FixtureRequest, houses: Houses) -> House:
    return await houses("builtin", request.param)


async def _newest(http: httpx.AsyncClient, of: str, service: str) -> str:
    page = told(await http.get(f"/management/v1/{of}/events", params={"service": service, "after": "now"})).json()
    return str(page["position"])


async def _next(http: httpx.AsyncClient, of: str, service: str, after: str, what: str) -> Any:
    """The first event behind a position of a kind and verb, as "role.created"."""
    async with asyncio.timeout(60):
        while True:
            query = {"service": service, "after": after, "waitMs": "5000"}
            page = told(await http.get(f"/management/v1/{of}/events", params=query)).json()
            for each in page["events"]:
                if f"{each['kind']}.{each['verb']}" == what:
                    return each["event"]
            after = page["position"]


async def test_roles_grants_and_users_are_followed_where_they_are(streamed: House) -> None:
    who, name = f"reader-{uuid4().hex[:8]}", f"role-{uuid4().hex[:8]}"
    async with streamed.client("admin") as http:
        project, server = await _newest(http, "project", "authz"), await _newest(http, "server", "authz")
        told(await http.post("/management/v1/role", json={"name": name, "project-id": PROJECT}))
        made = await _next(http, "project", "authz", project, "role.created")
        assert (made["subject"], made["projectid"]) == (name, PROJECT)
        told(await http.post("/management/v1/user", json={"id": f"oidc~{who}", "name": who, "user-type": "human"}))
        assert (await _next(http, "server", "authz", server, "user.created"))["userid"] == f"oidc~{who}"
        query = {"service": "vending", "after": "0"}
        first = told(await http.get("/management/v1/project/events", params=query)).json()["events"][0]
        assert (first["sequence"], first["kind"], first["verb"]) == (1, "credential", "stored")


async def test_each_service_begins_with_what_is_there(streamed: House) -> None:
    firsts = {
        ("project", "catalog"): "project",
        ("project", "authz"): "authz",
        ("project", "vending"): "vending",
        ("server", "catalog"): "server",
        ("server", "authz"): "authz",
        ("server", "vending"): "vending",
    }
    async with streamed.client("admin") as http:
        for (of, service), kind in firsts.items():
            found, query = [], {"service": service, "after": "beginning", "pageSize": "1000"}
            while (page := told(await http.get(f"/management/v1/{of}/events", params=query)).json())["events"]:
                found += page["events"]
                query["after"] = page["position"]
            opening, snapshot = found[0], [each for each in found if each["snapshot"]]
            assert (opening["kind"], opening["verb"]) == (kind, "snapshot")
            last = snapshot[-1]
            assert (last["kind"], last["verb"]) == (kind, "snapshot-completed")
            assert last["event"]["data"]["entities"] == len(snapshot) - 1
            assert [each["sequence"] for each in found[len(snapshot) :]] == list(
                range(last["sequence"] + 1, last["sequence"] + 1 + len(found) - len(snapshot))
            )


async def test_who_may_not_read_who_has_rights_follows_neither(streamed: House) -> None:
    who = f"stranger-{uuid4().hex[:8]}"
    async with streamed.client(who) as http:
        for service in ("catalog", "authz", "vending"):
            query = {"service": service}
            assert (await http.get("/management/v1/project/events", params=query)).status_code == 404
            assert (await http.get("/management/v1/server/events", params=query)).status_code == 403
