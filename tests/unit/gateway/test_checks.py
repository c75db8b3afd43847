"""Actions and checks over HTTP: what is asked of catalog and authz, and how the answers look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from lakeward_gateway.dialects.management import levels
from lakeward_protocol.authz.v1 import grants_pb2
from lakeward_protocol.catalog.v1 import names_pb2, tabulars_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import WAREHOUSE, World, error_of

ID = "0198e000-0000-7000-8000-0000000000aa"
ROLE = "0198e000-0000-7000-8000-0000000000bb"
MANAGEMENT = "/management/v1"
BATCH = f"{MANAGEMENT}/action/batch-check"
CHECK = f"{MANAGEMENT}/permissions/check"
PLACES: Sequence[tuple[str, levels.Level, dict[str, Any]]] = (
    ("server", levels.SERVER, {}),
    ("project", levels.PROJECT, {}),
    (f"warehouse/{WAREHOUSE}", levels.WAREHOUSE, {"warehouse_id": WAREHOUSE}),
    *(
        (f"warehouse/{WAREHOUSE}/{level.noun}/{ID}", level, {"warehouse_id": WAREHOUSE, "id": ID})
        for level in levels.IN_WAREHOUSE
    ),
    (f"role/{ID}", levels.ROLE, {"id": ID, "of_this_project": True}),
    (f"tag-definition/{ID}", levels.TAG, {"id": ID, "of_this_project": True}),
)


def asked(served: World) -> Any:
    (message,) = served.authz.asked
    return message


@pytest.mark.parametrize(("path", "level", "named"), PLACES, ids=[level.noun for _, level, _ in PLACES])
async def test_what_is_allowed_is_said_in_the_catalogs_words(
    served: World, path: str, level: levels.Level, named: dict[str, Any]
) -> None:
    relations = [levels.relation_of(word) for word in level.catalog]
    served.authz.answers["GetAllowedActions"] = grants_pb2.GetAllowedActionsResponse(actions=[*relations, "else"])
    response = await served.client.get(f"{MANAGEMENT}/{path}/actions", params={"principalUser": "oidc~a"})
    assert response.json() == {"allowed-actions": [{"action": word} for word in level.catalog]}
    assert asked(served).object == grants_pb2.ObjectName(kind=level.kind, **named)
    assert asked(served).grantee == grants_pb2.Grantee(user_id="oidc~a")
    assert not asked(served).absent_is_nothing


async def test_what_is_not_there_is_a_404_and_another_may_be_asked_about_by_who_reads_grants(served: World) -> None:
    path = f"{MANAGEMENT}/warehouse/{WAREHOUSE}/table/{ID}/actions"
    served.authz.answers["GetAllowedActions"] = Refusal(Reason.REASON_NO_SUCH_TABLE, "x", table=ID)
    assert error_of(await served.client.get(path))["type"] == "NoSuchTableException"
    served.authz.answers["GetAllowedActions"] = Refusal(Reason.REASON_FORBIDDEN, "x", kind="table", action="a")
    response = await served.client.get(path, params={"principalRole": ROLE})
    assert (error_of(response)["code"], error_of(response)["type"]) == (403, "CannotInspectPermissions")


async def test_many_checks_are_one_question_of_authz_and_answered_by_id_or_place(served: World) -> None:
    served.authz.answers["CheckActions"] = grants_pb2.CheckActionsResponse(allowed=[True, False, True, False])
    in_warehouse = {"warehouse-id": WAREHOUSE}
    checks = [
        {"operation": {"server": {"action": {"action": "create_project", "name": "x"}}}},
        {"id": "mine", "operation": {"project": {"action": "read_grants"}}, "identity": {"user": "oidc~a"}},
        {
            "operation": {"table": {"action": {"action": "read_data"}, **in_warehouse, "table-id": ID}},
            "identity": {"role": ROLE},
        },
        {"operation": {"generic-table": {"action": {"action": "drop"}, **in_warehouse, "table-id": ID}}},
    ]
    response = await served.client.post(BATCH, json={"checks": checks, "error-on-not-found": True})
    assert response.json() == {
        "results": [
            {"id": "0", "allowed": True},
            {"id": "mine", "allowed": False},
            {"id": "2", "allowed": True},
            {"id": "3", "allowed": False},
        ]
    }
    assert served.catalog.asked == []
    table = grants_pb2.ObjectName(kind=levels.TABLE.kind, warehouse_id=WAREHOUSE, id=ID)
    generic = grants_pb2.ObjectName(kind=levels.GENERIC_TABLE.kind, warehouse_id=WAREHOUSE, id=ID)
    assert [*asked(served).checks] == [
        grants_pb2.ActionCheck(object=grants_pb2.ObjectName(kind=levels.SERVER.kind), action="create_project"),
        grants_pb2.ActionCheck(
            object=grants_pb2.ObjectName(kind=levels.PROJECT.kind),
            action="read_assignments",
            grantee=grants_pb2.Grantee(user_id="oidc~a"),
        ),
        grants_pb2.ActionCheck(object=table, action="read_data", grantee=grants_pb2.Grantee(role_id=ROLE)),
        grants_pb2.ActionCheck(object=generic, action="drop"),
    ]
    assert asked(served).absent_is_refused


async def test_what_is_named_by_its_path_is_found_in_the_catalog_all_of_it_at_once(served: World) -> None:
    served.catalog.answers["FindByName"] = names_pb2.FindByNameResponse(ids=[ID, "", ROLE, WAREHOUSE])
    served.authz.answers["CheckActions"] = grants_pb2.CheckActionsResponse(allowed=[True] * 5)
    within = {"warehouse-id": WAREHOUSE, "namespace": ["a", "b"]}
    operations = [
        {"namespace": {"action": {"action": "get_metadata"}, **within}},
        {"table": {"action": {"action": "commit"}, **within, "table": "t"}},
        {"warehouse": {"action": {"action": "use"}, "warehouse-id": WAREHOUSE}},
        {"view": {"action": {"action": "select"}, **within, "table": "v"}},
        {"generic-table": {"action": {"action": "drop"}, **within, "table": "g"}},
    ]
    response = await served.client.post(BATCH, json={"checks": [{"operation": each} for each in operations]})
    assert response.status_code == 200
    (found,) = served.catalog.asked
    assert [(*each.namespace.parts, each.name, each.kind) for each in found.names] == [
        ("a", "b", "", tabulars_pb2.TABULAR_KIND_UNSPECIFIED),
        ("a", "b", "t", tabulars_pb2.TABULAR_KIND_TABLE),
        ("a", "b", "v", tabulars_pb2.TABULAR_KIND_VIEW),
        ("a", "b", "g", tabulars_pb2.TABULAR_KIND_GENERIC_TABLE),
    ]
    assert not found.names[0].HasField("name")
    assert [(each.object.id, each.called) for each in asked(served).checks] == [
        (ID, "a.b"),
        ("", "a.b.t"),
        ("", ""),
        (ROLE, "a.b.v"),
        (WAREHOUSE, "a.b.g"),
    ]


@pytest.mark.parametrize(
    "operation",
    [
        {},
        {"server": {"action": "create_project"}, "project": {"action": "delete"}},
        {"server": {"action": "drop"}},
        {"server": {"action": {"action": "read_assignments"}}},
        {"server": {}},
        {"table": {"action": "drop", "warehouse-id": WAREHOUSE}},
        {"table": {"action": "drop", "warehouse-id": WAREHOUSE, "namespace": ["a"]}},
        {"table": {"action": "drop", "table-id": ID}},
        {"namespace": {"action": "delete", "warehouse-id": WAREHOUSE}},
        {"user": {"action": "read"}},
    ],
)
async def test_a_check_that_cannot_be_meant_refuses_the_batch_before_anything_is_asked(
    served: World, operation: object
) -> None:
    sound = {"operation": {"server": {"action": "create_project"}}}
    response = await served.client.post(BATCH, json={"checks": [sound, {"operation": operation}]})
    assert error_of(response)["code"] == 400
    assert "checks" in error_of(response)["message"]
    assert (served.authz.asked, served.catalog.asked) == ([], [])


async def test_a_thousand_checks_are_taken_and_one_more_is_refused_in_upstreams_word(served: World) -> None:
    check = {"operation": {"server": {"action": "create_project"}}}
    response = await served.client.post(BATCH, json={"checks": [check] * 1001})
    assert (error_of(response)["code"], error_of(response)["type"]) == (400, "TooManyChecks")
    assert served.authz.asked == []
    served.authz.answers["CheckActions"] = grants_pb2.CheckActionsResponse(allowed=[True] * 1000)
    response = await served.client.post(BATCH, json={"checks": [check] * 1000})
    assert len(response.json()["results"]) == 1000


async def test_no_checks_are_answered_by_nothing(served: World) -> None:
    assert (await served.client.post(BATCH, json={"checks": []})).json() == {"results": []}
    assert served.authz.asked == []


@pytest.mark.parametrize(
    ("operation", "level", "relation"),
    [
        ({"server": {"action": "grant_admin"}}, levels.SERVER, "grant_admin"),
        ({"project": {"action": "create_role", "project-id": "team-a"}}, levels.PROJECT, "create_role"),
        (
            {"warehouse": {"action": "modify_storage", "warehouse-id": WAREHOUSE}},
            levels.WAREHOUSE,
            "update_storage",
        ),
        (
            {"namespace": {"action": "move", "warehouse-id": WAREHOUSE, "namespace-id": ID}},
            levels.NAMESPACE,
            "move",
        ),
        (
            {"table": {"action": "grant_select", "warehouse-id": WAREHOUSE, "table-id": ID}},
            levels.TABLE,
            "grant_select",
        ),
    ],
)
@pytest.mark.parametrize("allowed", [True, False])
async def test_one_check_is_in_the_words_of_upstreams_openfga_edition(
    served: World, operation: dict[str, Any], level: levels.Level, relation: str, allowed: bool
) -> None:
    served.authz.answers["CheckActions"] = grants_pb2.CheckActionsResponse(allowed=[allowed])
    response = await served.client.post(CHECK, json={"operation": operation, "identity": {"user": "oidc~a"}})
    assert (response.status_code, response.json()) == (200, {"allowed": allowed})
    (check,) = asked(served).checks
    assert (check.object.kind, check.action, check.grantee.user_id) == (level.kind, relation, "oidc~a")
    assert check.object.project_id == ("team-a" if level is levels.PROJECT else "")
    assert asked(served).absent_is_refused, "what is not there is said to be"


async def test_one_check_has_no_words_of_the_catalogs_actions_alone(served: World) -> None:
    response = await served.client.post(CHECK, json={"operation": {"server": {"action": "read_grants"}}})
    assert error_of(response)["code"] == 400
    assert served.authz.asked == []
