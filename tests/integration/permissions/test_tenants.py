"""Ids and names of one project, used by an owner of another one, in every operation that the gateway has."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from lakeward_gateway.bootstrap import openapi_documents
from tests.conformance.documents import document
from tests.integration.permissions.conftest import House, Houses
from tests.support.dumps import dump
from tests.support.foreign_ids import BUCKET, Template, templates
from tests.support.installations import compositions
from tests.support.warehouses import make_namespace, make_table, make_warehouse, tables_of, told

pytestmark = pytest.mark.integration

EVERY = [template for name in openapi_documents() for template in templates(document(name))]
_AT_ONCE = 16
_GRANTED = ("warehouse", "namespace", "table", "view", "generic_table", "tag")
# Operations that are no failure where nothing is there, with the reason; they say then what they say of nobody's ids: nothing.
_NARROWED = "what is named narrows what is listed, to nothing"
_RIGHTS = "upstream's answer of what is not there is a list of no actions"
_UNLOCKED = "who is no member is none afterwards"
ANSWERED_WITH_NOTHING: Mapping[str, str] = {
    **dict.fromkeys(
        ("search_tabular", "list_tasks", "list_tag_attachments", "list_roles", "search_role", "list_audit_records"),
        _NARROWED,
    ),
    **{f"list_{kind}grants": _NARROWED for kind in ("", "project_", *(f"{kind}_" for kind in _GRANTED))},
    **{f"get_authorizer_{kind}_actions": _RIGHTS for kind in ("role", *_GRANTED)},
    **{f"get_authorizer_{kind}_actions_by_id_alone": _RIGHTS for kind in ("table", "view", "generic_table")},
    **{f"get_{kind}_access_by_id": _RIGHTS for kind in ("role", "project", *_GRANTED)},
    **dict.fromkeys(("get_authorizer_project_actions", "get_project_access"), _RIGHTS),
    "remove_role_member": _UNLOCKED,
}
# A role's name is everybody's who knows its id, in whatever project, as upstream has it. The audit of one's own project has what
# oneself tried with such ids, which is more the more is tried; whose records are shown is tried in test_audit.py.
EVERYBODYS = {"get_role_metadata"}
_OWN_TRIES = {"list_audit_records"}
# Users are the server's, and no project's.
_NO_PROJECTS = {"user"}
# What an owner of a project may not ask either, and versions of what has none.
_NOT_AN_OWNERS = re.compile(r"/server/|/user/<<user>>/actions|/versions/1")
# What queues do by themselves, and the counts of requests that were answered.
_WORKED_ON = re.compile(r"\.(task|task_log|warehouse_statistic|endpoint_count)$")
_IDS = ("warehouse", "namespace", "table", "view", "generic_table", "dropped", "task", "project_task", "role", "tag")


@dataclasses.dataclass(frozen=True)
class Tenant:
    """A project, and what is in it.

    Attributes:
        ids: by kind; what has no id is named.
    """

    ids: Mapping[str, str]


async def furnish(house: House, name: str) -> Tenant:
    """A project with one thing of each kind."""
    project = f"{name}-{uuid4().hex[:8]}"
    async with house.client("admin") as http:
        told(await http.post("/management/v1/project", json={"project-name": project, "project-id": project}))
        http.headers["x-project-id"] = project
        warehouse = await make_warehouse(http, house.store)
        management = f"/management/v1/warehouse/{warehouse.id}"
        profile = {"delete-profile": {"type": "soft", "expiration-seconds": 86_400}}
        told(await http.post(f"{management}/delete-profile", json=profile))
        namespace = await make_namespace(http, warehouse, f"{name}_namespace")
        table: Any = await make_table(http, warehouse, namespace, f"{name}_table")
        dropped: Any = await make_table(http, warehouse, namespace, f"{name}_dropped")
        version = {
            "version-id": 1,
            "timestamp-ms": 1,
            "schema-id": 0,
            "summary": {},
            "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
            "default-namespace": [namespace],
        }
        schema = table["metadata"]["schemas"][0]
        view = {"name": f"{name}_view", "schema": schema, "view-version": version, "properties": {}}
        made = told(await http.post(f"{warehouse.path}/namespaces/{namespace}/views", json=view)).json()
        generic = {"name": f"{name}_generic", "format": "lance"}
        places = f"/lakekeeper/v1/{warehouse.id}/namespaces/{namespace}/generic-tables"
        opaque = told(await http.post(places, json=generic)).json()["table"]
        told(await http.delete(f"{tables_of(warehouse, namespace)}/{name}_dropped", params={"purgeRequested": "false"}))
        tasks = told(await http.post(f"{management}/task/list", json={})).json()["tasks"]
        # a project's queue makes its first task by itself, soon after the project is there
        while not (queued := told(await http.post("/management/v1/project/task/list", json={})).json()["tasks"]):
            await asyncio.sleep(0.05)
        role = told(await http.post("/management/v1/role", json={"name": f"{name}_role"})).json()
        tag = {"name": f"{name}_tag", "scope": ["warehouse", "namespace", "table", "view"], "value-kind": "marker"}
        defined = told(await http.post("/management/v1/tag-definition", json=tag)).json()
        namespaces = told(await http.get(f"{warehouse.path}/namespaces", params={"returnUuids": "true"})).json()
        owner = f"{name}-owner-{uuid4().hex[:8]}"
        give = {
            "writes": [{"type": "project_admin", **who} for who in ({"user": f"oidc~{owner}"}, {"role": role["id"]})]
        }
        told(await http.post(f"/management/v1/permissions/project/{project}/assignments", json=give))
    async with house.client(owner) as http:
        told(await http.get(f"/catalog/v1/config?warehouse={warehouse.name}", headers={"x-project-id": project}))
    return Tenant(
        {
            "project": project,
            "warehouse": warehouse.id,
            "namespace": namespaces["namespace-uuids"][0],
            "namespace_name": namespace,
            "table": table["metadata"]["table-uuid"],
            "table_name": f"{name}_table",
            "generic_table": opaque["id"],
            "generic_name": f"{name}_generic",
            "view": made["metadata"]["view-uuid"],
            "view_name": f"{name}_view",
            "dropped": dropped["metadata"]["table-uuid"],
            "task": tasks[0]["task-id"],
            "project_task": queued[0]["task-id"],
            "role": role["id"],
            "tag": defined["id"],
            "tag_name": f"{name}_tag",
            "user": f"oidc~{owner}",
        }
    )


@dataclasses.dataclass(frozen=True)
class Tried:
    """A request with foreign ids in some of its places, and what the same one is answered with ids of nobody's.

    Attributes:
        places: which of the template's places.
        foreign: what stands there.
    """

    template: Template
    places: tuple[int, ...]
    foreign: tuple[str, ...]

    def __str__(self) -> str:
        named = ", ".join(
            f"{self.template.slots[place]}={used}" for place, used in zip(self.places, self.foreign, strict=True)
        )
        return f"{self.template.operation} with {named}"


def tried(mine: Tenant, theirs: Tenant) -> Iterator[Tried]:
    """Each place with what is theirs, and with theirs of other kinds; and all places at once."""
    for number, template in enumerate(each for each in EVERY if each.operation not in EVERYBODYS | _OWN_TRIES):
        slots = template.slots
        for place, kind in enumerate(slots):
            if kind in _NO_PROJECTS:
                continue
            yield Tried(template, (place,), (theirs.ids[kind],))
            if _is_id(theirs.ids[kind]):
                # every kind comes by in some operation; all of them in each would be thousands of requests
                other = _IDS[(number + place) % len(_IDS)]
                yield Tried(template, (place,), (theirs.ids[other if other != kind else "project"],))
        places = [place for place, kind in enumerate(slots) if kind not in _NO_PROJECTS]
        if len(places) > 1:
            yield Tried(template, tuple(places), tuple(theirs.ids[slots[place]] for place in places))
    assert mine.ids.keys() == theirs.ids.keys()


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def nobodys(like: str) -> str:
    """What looks like it, and nobody has."""
    if _is_id(like):
        return str(uuid4())
    prefix, tilde, _ = like.rpartition("~")
    return f"{prefix}{tilde}nobodys-{uuid4().hex[:12]}"


def shown(reply: httpx.Response, used: Sequence[str]) -> tuple[int, str]:
    """Status and body, with the ids that were sent taken out."""
    text = reply.text
    for each in sorted(set(used), key=len, reverse=True):
        text = text.replace(each, "(id)")
    return reply.status_code, text


async def state(house: House, *tenants: Tenant) -> Mapping[str, Sequence[str]]:
    """Everything that is kept; of what is worked on while nobody asks, what is about the tenants' tasks of tomorrow."""
    tasks = [tenant.ids["task"] for tenant in tenants]
    every = await dump(house.database, "lakeward_catalog", "lakeward_vending", "lakeward_authz")
    return {
        name: [row for row in rows if any(task in row for task in tasks)] if _WORKED_ON.search(name) else rows
        for name, rows in every.items()
    }


@pytest.fixture
async def house(houses: Houses) -> House:
    """One is enough: who decides and how services are joined change nothing of what is asked."""
    return await houses("builtin", compositions()[0])


@pytest.fixture
async def tenants(house: House) -> AsyncIterator[tuple[Tenant, Tenant, httpx.AsyncClient]]:
    mine, theirs = await furnish(house, "mine"), await furnish(house, "theirs")
    async with house.client(mine.ids["user"].removeprefix("oidc~")) as owner:
        owner.headers["x-project-id"] = mine.ids["project"]
        yield mine, theirs, owner


async def test_ids_of_another_project_are_answered_like_ids_of_nobodys_and_change_nothing(
    house: House, tenants: tuple[Tenant, Tenant, httpx.AsyncClient]
) -> None:
    mine, theirs, owner = tenants
    limit, bucket = asyncio.Semaphore(_AT_ONCE), f"{house.store.endpoint}/{house.store.bucket}"

    async def send(each: Tried, values: Sequence[str]) -> tuple[int, str]:
        filled = [mine.ids[kind] for kind in each.template.slots]
        for place, value in zip(each.places, values, strict=True):
            filled[place] = value
        request = dataclasses.replace(each.template, body=each.template.body.replace(BUCKET, bucket)).filled(filled)
        async with limit:
            return shown(await owner.request(**request), values)

    # what nobody's ids are answered with, once for all that is tried in the same places
    answers: dict[tuple[str, tuple[int, ...], tuple[bool, ...]], asyncio.Task[tuple[int, str]]] = {}

    def expecting(each: Tried) -> asyncio.Task[tuple[int, str]]:
        key = (each.template.operation, each.places, tuple(map(_is_id, each.foreign)))
        if key not in answers:
            made_up = {used: nobodys(used) for used in each.foreign}
            answers[key] = asyncio.create_task(send(each, [made_up[used] for used in each.foreign]))
        return answers[key]

    async def judged(each: Tried) -> str | None:
        found, expected = await send(each, each.foreign), await expecting(each)
        if found != expected:
            return f"{each}: {found} where nobody's is {expected}"
        if found[0] >= 500:
            return f"{each}: {found}"
        if found[0] < 400 and each.template.operation not in ANSWERED_WITH_NOTHING:
            return f"{each}: {found}"
        leaked = [name for name in theirs.ids.values() if name in found[1] and name not in each.foreign]
        return f"{each} shows {leaked}: {found}" if leaked else None

    before = await state(house, mine, theirs)
    wrong = [found for found in await asyncio.gather(*map(judged, tried(mine, theirs))) if found is not None]
    assert wrong == []
    assert _without_audit(await state(house, mine, theirs)) == _without_audit(before)


def _without_audit(rows: Mapping[str, Any]) -> dict[str, Any]:
    """All but what was tried, which is recorded whatever came of it."""
    return {table: kept for table, kept in rows.items() if not table.endswith(".audit_record")}


async def test_the_same_requests_with_ones_own_ids_reach_what_they_name(
    tenants: tuple[Tenant, Tenant, httpx.AsyncClient],
) -> None:
    """Reads alone, so that they leave everything as it is: a request that never gets anywhere would prove nothing above."""
    mine, _, owner = tenants
    failed = []
    for template in EVERY:
        if template.method == "GET" and _NOT_AN_OWNERS.search(template.path) is None:
            reply = await owner.request(**template.filled([mine.ids[kind] for kind in template.slots]))
            if not reply.is_success:
                failed.append(f"{template.operation}: {reply.status_code} {reply.text}")
    assert failed == []


async def test_an_operation_that_tells_the_two_apart_is_seen_to(
    tenants: tuple[Tenant, Tenant, httpx.AsyncClient],
) -> None:
    mine, theirs, owner = tenants
    (metadata,) = (template for template in EVERY if template.operation in EVERYBODYS)
    answers = []
    for role in (theirs.ids["role"], nobodys(theirs.ids["role"])):
        values = [role if kind == "role" else mine.ids[kind] for kind in metadata.slots]
        answers.append(shown(await owner.request(**metadata.filled(values)), [role]))
    assert answers[0] != answers[1]
