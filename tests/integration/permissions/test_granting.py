"""Rights given, taken and shown over HTTP, as they count: by people of different rights, under each engine."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from click.testing import CliRunner, Result

from lakeward_cli.commands import why
from tests.conformance.documents import document
from tests.conformance.specifications import operations
from tests.integration.permissions.conftest import PROJECT, House
from tests.integration.permissions.test_people import kind_of
from tests.support.http import NOBODY
from tests.support.warehouses import make_namespace, make_table, make_warehouse, tables_of, told

pytestmark = pytest.mark.integration

MANAGEMENT = "/management/v1"
PERMISSIONS = f"{MANAGEMENT}/permissions"
_ABOUT_RIGHTS = re.compile(r"/permissions/|/grants|/actions$|/batch-check$")


@dataclasses.dataclass(frozen=True)
class Place:
    """A namespace with a table, of the test's own.

    Attributes:
        admin: speaks as who made them.
        table_path: of Iceberg REST.
    """

    house: House
    admin: httpx.AsyncClient
    name: str
    namespace_id: str
    table_id: str
    table_path: str

    @property
    def warehouse(self) -> str:
        return self.house.warehouse.id

    def assignments(self, noun: str) -> str:
        return f"{PERMISSIONS}/{self._below_permissions(noun)}/assignments"

    def grants(self, noun: str) -> str:
        return f"{MANAGEMENT}/{self._below_management(noun)}/grants"

    def actions(self, noun: str) -> str:
        return f"{MANAGEMENT}/{self._below_management(noun)}/actions"

    def _below_permissions(self, noun: str) -> str:
        if noun == "table":
            return f"warehouse/{self.warehouse}/table/{self.table_id}"
        return {"warehouse": f"warehouse/{self.warehouse}", "namespace": f"namespace/{self.namespace_id}"}.get(
            noun, noun
        )

    def _below_management(self, noun: str) -> str:
        if noun == "namespace":
            return f"warehouse/{self.warehouse}/namespace/{self.namespace_id}"
        return self._below_permissions(noun)

    async def give(self, who: str, privilege: str, noun: str = "table") -> None:
        change = {"writes": [{"type": privilege, "user": f"oidc~{who}"}]}
        assert (await self.admin.post(self.assignments(noun), json=change)).status_code == 204

    async def take(self, who: str, privilege: str, noun: str = "table") -> None:
        change = {"deletes": [{"type": privilege, "user": f"oidc~{who}"}]}
        assert (await self.admin.post(self.assignments(noun), json=change)).status_code == 204


@pytest.fixture
async def place(house: House) -> AsyncIterator[Place]:
    async with house.client("admin") as admin:
        name = await make_namespace(admin, house.warehouse)
        table: Any = await make_table(admin, house.warehouse, name, "t")
        namespace_id = (await house.namespace(name)).removeprefix("namespace/")
        path = f"{tables_of(house.warehouse, name)}/t"
        yield Place(house, admin, name, namespace_id, table["metadata"]["table-uuid"], path)


def somebody(prefix: str = "somebody") -> str:
    return f"{prefix}-{uuid4().hex[:8]}"


async def test_a_right_counts_from_the_reply_that_gives_it_to_the_reply_that_takes_it(place: Place) -> None:
    who = somebody()
    async with place.house.client(who) as http:
        for _ in range(3):
            assert kind_of(await http.get(place.table_path))[0] == 404
            await place.give(who, "select")
            told(await http.get(place.table_path))
            allowed = told(await http.get(place.actions("table"))).json()["allowed-actions"]
            assert {"action": "read_data"} in allowed
            assert {"action": "write_data"} not in allowed
            assert kind_of(await http.delete(place.table_path)) == (403, "TableActionForbidden")
            await place.take(who, "select")


async def test_rights_on_what_is_in_an_inactive_warehouse_are_those_on_nothing(house: House) -> None:
    async with house.client("admin") as admin:
        warehouse = await make_warehouse(admin, house.store)
        name = await make_namespace(admin, warehouse)
        table: Any = await make_table(admin, warehouse, name, "t")
        found = told(await admin.get(f"{warehouse.path}/namespaces", params={"returnUuids": "true"})).json()
        own = dataclasses.replace(house, warehouse=warehouse)
        (namespace_id,) = found["namespace-uuids"]
        place = Place(own, admin, name, namespace_id, table["metadata"]["table-uuid"], "")
        nowhere = dataclasses.replace(place, namespace_id=str(uuid4()), table_id=str(uuid4()))

        async def answers(where: Place) -> list[tuple[int, str]]:
            write = {"writes": [{"type": "select", "user": "oidc~somebody"}]}
            apply = {"writes": [{"principal": {"user": "oidc~somebody"}, "privilege": "select"}]}
            asked = [
                call
                for noun in ("namespace", "table")
                for call in (
                    admin.get(where.assignments(noun)),
                    admin.post(where.assignments(noun), json=write),
                    admin.get(where.grants(noun)),
                    admin.post(where.grants(noun), json=apply),
                    admin.get(where.actions(noun)),
                )
            ]
            replies = [await each for each in asked]
            ids = {where.namespace_id, where.table_id}
            texts = [functools.reduce(lambda text, each: text.replace(each, "it"), ids, each.text) for each in replies]
            return [(each.status_code, text) for each, text in zip(replies, texts, strict=True)]

        assert {status for status, _ in await answers(place)} <= {200, 204}
        told(await admin.post(f"{MANAGEMENT}/warehouse/{warehouse.id}/deactivate"))
        assert await answers(place) == await answers(nowhere)
        told(await admin.get(place.grants("warehouse")))
        told(await admin.post(f"{MANAGEMENT}/warehouse/{warehouse.id}/activate"))
        assert {status for status, _ in await answers(place)} <= {200, 204, 409}


async def test_assignments_and_grants_are_two_faces_of_the_same_rows(place: Place) -> None:
    who = f"oidc~{somebody()} ü#*:~role:x"
    for noun in ("server", "project", "warehouse", "namespace", "table"):
        privilege = "operator" if noun == "server" else "select"
        write = {"writes": [{"type": privilege, "user": who}]}
        apply = {"writes": [{"principal": {"user": who}, "privilege": privilege}]}
        revoke = {"deletes": apply["writes"]}
        assignments, grants = place.assignments(noun), place.grants(noun)
        assert (await place.admin.post(assignments, json=write)).status_code == 204
        assert kind_of(await place.admin.post(assignments, json=write)) == (409, "TupleAlreadyExistsError")
        assert (await place.admin.post(grants, json=apply)).status_code == 204, "it may be repeated"
        listed = told(await place.admin.get(grants, params={"principalUser": who})).json()["grants"]
        assert [(each["principal"], each["privilege"]) for each in listed] == [({"user": who}, privilege)]
        assert listed[0]["resource"]["type"] == noun
        for _ in range(2):
            assert (await place.admin.post(grants, json=revoke)).status_code == 204
        shown = told(await place.admin.get(assignments)).json()["assignments"]
        assert who not in {each.get("user") for each in shown}
        take = {"deletes": write["writes"]}
        assert kind_of(await place.admin.post(assignments, json=take)) == (404, "TupleNotFoundError")


async def test_what_one_holds_in_the_project_is_listed_by_itself_and_by_who_administers_it(place: Place) -> None:
    who = somebody()
    for privilege, noun in (("select", "table"), ("describe", "namespace"), ("manage_tags", "table")):
        await place.give(who, privilege, noun)
    async with place.house.client(who) as http:
        for client in (http, place.admin):
            found: list[tuple[str, str]] = []
            query = {"principalUser": f"oidc~{who}", "pageSize": "2"}
            while True:
                page = told(await client.get(f"{MANAGEMENT}/grants", params=query)).json()
                found += [(each["resource"]["type"], each["privilege"]) for each in page["grants"]]
                if page["next-page-token"] is None:
                    break
                query["pageToken"] = page["next-page-token"]
            assert sorted(found) == [("namespace", "describe"), ("table", "manage_tags"), ("table", "select")]
        other = {"principalUser": "oidc~admin"}
        assert kind_of(await http.get(f"{MANAGEMENT}/grants", params=other)) == (403, "ProjectActionForbidden")


async def test_who_gives_what_is_not_theirs_is_refused_whole(place: Place) -> None:
    who, friend = somebody(), f"oidc~{somebody('friend')}"
    await place.give(who, "select")
    await place.give(who, "pass_grants")
    async with place.house.client(who) as http:
        both = [{"principal": {"user": friend}, "privilege": name} for name in ("select", "modify")]
        refused = await http.post(place.grants("table"), json={"writes": both})
        assert kind_of(refused) == (403, "GrantActionForbidden")
        assert "modify" in refused.json()["error"]["message"]
        assert "select" not in refused.json()["error"]["message"]
        assert (await http.post(place.grants("table"), json={"writes": both[:1]})).status_code == 204
    listed = told(await place.admin.get(place.grants("table"), params={"principalUser": friend})).json()["grants"]
    assert [each["privilege"] for each in listed] == ["select"]


async def test_managed_access_takes_an_owners_right_to_give_and_leaves_their_data(place: Place) -> None:
    owner, friend = somebody("owner"), f"oidc~{somebody('friend')}"
    await place.give(owner, "ownership")
    flag = f"{PERMISSIONS}/namespace/{place.namespace_id}"
    change = {"writes": [{"type": "select", "user": friend}]}
    async with place.house.client(owner) as http:
        assert told(await http.get(flag)).json() == {"managed-access": False, "managed-access-inherited": False}
        told(await place.admin.post(f"{flag}/managed-access", json={"managed-access": True}))
        assert told(await http.get(flag)).json() == {"managed-access": True, "managed-access-inherited": True}
        assert kind_of(await http.post(place.assignments("table"), json=change)) == (403, "GrantActionForbidden")
        told(await http.post(place.table_path, json={"requirements": [], "updates": []}))
        assert kind_of(await http.post(f"{flag}/managed-access", json={"managed-access": False}))[0] == 403
        told(await place.admin.post(f"{flag}/managed-access", json={"managed-access": False}))
        assert (await http.post(place.assignments("table"), json=change)).status_code == 204


async def test_a_policy_engine_asks_about_others_by_name_and_by_id_and_a_stranger_about_nobody(place: Place) -> None:
    who, engine = somebody(), somebody("engine")
    await place.give(who, "select", "namespace")
    await place.give(engine, "security_admin", "project")
    within = {"warehouse-id": place.warehouse, "namespace": [place.name]}
    about: list[tuple[dict[str, Any], bool]] = [
        ({"namespace": {"action": {"action": "list_tables"}, **within}}, True),
        ({"namespace": {"action": {"action": "create_table", "name": "x"}, **within}}, False),
        ({"table": {"action": {"action": "read_data"}, **within, "table": "T"}}, True),
        ({"table": {"action": {"action": "write_data"}, **within, "table": "t"}}, False),
        ({"view": {"action": {"action": "select"}, **within, "table": "t"}}, False),
        ({"table": {"action": {"action": "read_data"}, **within, "table": "absent"}}, False),
        (
            {"table": {"action": "get_metadata", "warehouse-id": place.warehouse, "table-id": place.table_id}},
            True,
        ),
        ({"warehouse": {"action": {"action": "use"}, "warehouse-id": place.warehouse}}, True),
        ({"warehouse": {"action": {"action": "list_everything"}, "warehouse-id": place.warehouse}}, False),
        ({"project": {"action": {"action": "get_metadata"}}}, True),
    ]
    identity = {"user": f"oidc~{who}"}
    others = [{"operation": operation, "identity": identity} for operation, _ in about]
    own = [{"operation": operation} for operation, _ in about]
    batch = f"{MANAGEMENT}/action/batch-check"
    async with place.house.client(engine) as asking, place.house.client(who) as itself:
        for client, checks in ((asking, others), (itself, own), (itself, others)):
            results = told(await client.post(batch, json={"checks": checks})).json()["results"]
            assert [each["allowed"] for each in results] == [allowed for _, allowed in about]
    strict = {"checks": others, "error-on-not-found": True}
    async with place.house.client(somebody("stranger")) as stranger:
        results = told(await stranger.post(batch, json={"checks": others})).json()["results"]
        assert not any(each["allowed"] for each in results)
        hidden = await stranger.post(batch, json=strict | {"checks": [others[2]]})
        absent = await stranger.post(batch, json=strict | {"checks": [others[5]]})
        assert kind_of(hidden) == kind_of(absent) == (404, "NoSuchTableException")
        assert hidden.text.replace(".T'", "'") == absent.text.replace(".absent'", "'")


async def test_an_object_that_one_may_do_nothing_to_answers_as_one_that_is_not_there(place: Place) -> None:
    absent = str(uuid4())
    change: dict[str, Any] = {"writes": [{"type": "select", "user": "oidc~x"}]}
    grant: dict[str, Any] = {"writes": [{"principal": {"user": "oidc~x"}, "privilege": "select"}]}
    table = f"warehouse/{place.warehouse}/table"
    namespace = f"warehouse/{place.warehouse}/namespace"
    asked: list[tuple[str, str, Any, str]] = [
        *(
            (method, f"{PERMISSIONS}/{below}/{{}}/assignments", body, own)
            for below, own in ((table, place.table_id), ("table", place.table_id), ("namespace", place.namespace_id))
            for method, body in (("GET", None), ("POST", change))
        ),
        *(
            (method, f"{MANAGEMENT}/{below}/{{}}/grants", body, own)
            for below, own in ((table, place.table_id), (namespace, place.namespace_id), ("warehouse", place.warehouse))
            for method, body in (("GET", None), ("POST", grant))
        ),
        ("GET", f"{PERMISSIONS}/{table}/{{}}/authorizer-actions?principalUser=oidc~admin", None, place.table_id),
        ("GET", f"{PERMISSIONS}/{table}/{{}}/access", None, place.table_id),
        ("GET", f"{PERMISSIONS}/namespace/{{}}", None, place.namespace_id),
        ("POST", f"{PERMISSIONS}/namespace/{{}}/managed-access", {"managed-access": True}, place.namespace_id),
        ("GET", f"{PERMISSIONS}/warehouse/{{}}", None, place.warehouse),
        ("GET", f"{MANAGEMENT}/{table}/{{}}/actions", None, place.table_id),
        ("GET", f"{MANAGEMENT}/{table}/{{}}/actions?principalUser=oidc~admin", None, place.table_id),
        ("GET", f"{MANAGEMENT}/{namespace}/{{}}/grants/grantable-privileges", None, place.namespace_id),
        ("GET", f"{MANAGEMENT}/warehouse/{{}}/actions", None, place.warehouse),
    ]
    async with place.house.client(somebody("stranger")) as http:
        for method, path, body, own in asked:
            hidden = await http.request(method, path.format(own), json=body)
            gone = await http.request(method, path.format(absent), json=body)
            assert hidden.status_code == gone.status_code in {200, 404}, (method, path, hidden.text)
            assert hidden.text.replace(own, "") == gone.text.replace(absent, ""), (method, path)


def about_rights() -> Iterator[tuple[str, str]]:
    for method, path, _ in operations(document("management")):
        if _ABOUT_RIGHTS.search(path):
            yield method, path


async def test_nobody_is_told_anything_of_rights_without_a_token_and_a_stranger_meets_no_fault(house: House) -> None:
    bodies = [None, {}, [], {"writes": [{"type": "select", "user": "oidc~x"}]}]
    found = [*about_rights()]
    assert len(found) > 70
    async with (
        httpx.AsyncClient(verify=NOBODY, base_url=house.installation.url) as nobody,
        house.client(somebody()) as stranger,
    ):
        for method, path in found:
            url = re.sub(r"\{project_id\}", PROJECT, re.sub(r"\{(?!project_id)\w+\}", str(uuid4()), path))
            for body in bodies if method == "POST" else [None]:
                # a body that is none is refused before it is asked whose it is
                refused = await nobody.request(method, url, json=body)
                assert refused.status_code in ({401} if method == "GET" else {400, 401}), (method, url, refused.text)
                answered = await stranger.request(method, url, json=body)
                assert answered.status_code in {200, 400, 403, 404}, (method, url, answered.text)


async def test_an_answer_is_explained_by_grants_and_roles_and_a_denial_by_what_would_do(place: Place) -> None:
    who, explain = somebody(), f"{PERMISSIONS}/explain"
    named: dict[str, Any] = {"warehouse-id": place.warehouse, "namespace": [place.name], "table": "t"}
    reads = {"operation": {"table": {"action": "read_data", **named}}}
    writes = {"operation": {"table": {"action": {"action": "write_data"}, **named}}}
    about = {"identity": {"user": f"oidc~{who}"}}
    role = told(await place.admin.post(f"{MANAGEMENT}/role", json={"name": somebody("role")})).json()["id"]
    members = {"writes": [{"type": "assignee", "user": f"oidc~{who}"}]}
    assert (await place.admin.post(f"{PERMISSIONS}/role/{role}/assignments", json=members)).status_code == 204
    async with place.house.client(who) as http:
        assert kind_of(await http.post(explain, json=reads)) == (404, "NoSuchTableException")
        to_role = {"writes": [{"principal": {"role": role}, "privilege": "select"}]}
        assert (await place.admin.post(place.grants("namespace"), json=to_role)).status_code == 204
        because = [
            [
                {
                    "resource": {
                        "type": "namespace",
                        "warehouse-id": place.warehouse,
                        "namespace-id": place.namespace_id,
                    },
                    "principal": {"role": role},
                    "privilege": "select",
                    "through-roles": [role],
                }
            ]
        ]
        for client, question in ((http, reads), (http, reads | about), (place.admin, reads | about)):
            found = told(await client.post(explain, json=question)).json()
            assert (found["allowed"], found["ground"], found["because"]) == (True, "grants", because)
        own = told(await http.post(explain, json=writes)).json()
        assert not own["allowed"]
        assert own["remedies"][0] == {
            "resource": {"type": "table", "warehouse-id": place.warehouse, "table-id": place.table_id},
            "privilege": "modify",
            "right-to-give": "grant_modify",
            "givers": [],
        }
        told_more = told(await place.admin.post(explain, json=writes | about)).json()["remedies"][0]
        assert {"user": "oidc~admin"} in told_more["givers"]
        other = {"identity": {"user": "oidc~admin"}}
        assert kind_of(await http.post(explain, json=writes | other)) == (403, "CannotInspectPermissions")
    # what it says would do, does
    remedy = told_more["privilege"]
    await place.give(who, remedy)
    assert told(await place.admin.post(explain, json=writes | about)).json()["allowed"]


async def test_the_command_says_why_and_ends_by_the_answer(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    who = somebody()
    await place.give(who, "select")
    monkeypatch.setenv("LAKEWARD_URL", place.house.installation.url)
    monkeypatch.setenv("LAKEWARD_TOKEN", place.admin.headers["authorization"].removeprefix("Bearer "))

    async def run(action: str, name: str) -> Result:
        on = f"table/{place.house.warehouse.name}/{place.name}.{name}"
        return await asyncio.to_thread(CliRunner().invoke, why, [f"oidc~{who}", action, on])

    reads, writes, absent = await run("read_data", "t"), await run("write_data", "t"), await run("read_data", "absent")
    assert (reads.exit_code, writes.exit_code, absent.exit_code) == (0, 1, 2)
    assert f"by select on table {place.table_id} to oidc~{who}" in reads.output
    assert f"modify on table {place.table_id} would do; to be given by" in writes.output
    assert f"there is no table '{place.name}.absent' that you can see" in absent.output
