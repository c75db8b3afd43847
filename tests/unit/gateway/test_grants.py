"""Grants over HTTP: what is asked of authz, and how its answers look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from google.protobuf import timestamp_pb2

from lakeward_gateway.dialects.management import levels
from lakeward_protocol.authz.v1 import grants_pb2, principals_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import WAREHOUSE, World, error_of

ID = "0198e000-0000-7000-8000-0000000000aa"
ROLE = "0198e000-0000-7000-8000-0000000000bb"
MANAGEMENT = "/management/v1"
# Below which path, as what authz is asked about it, and how it is shown.
PLACES: Sequence[tuple[str, levels.Level, dict[str, Any], dict[str, str]]] = (
    ("server", levels.SERVER, {}, {"type": "server"}),
    ("project", levels.PROJECT, {"project_id": "p"}, {"type": "project", "project-id": "p"}),
    (
        f"warehouse/{WAREHOUSE}",
        levels.WAREHOUSE,
        {"warehouse_id": WAREHOUSE},
        {"type": "warehouse", "warehouse-id": WAREHOUSE},
    ),
    *(
        (
            f"warehouse/{WAREHOUSE}/{level.noun}/{ID}",
            level,
            {"warehouse_id": WAREHOUSE, "id": ID},
            {"type": level.noun, "warehouse-id": WAREHOUSE, f"{level.noun}-id": ID},
        )
        for level in levels.IN_WAREHOUSE
    ),
    (f"tag-definition/{ID}", levels.TAG, {"id": ID}, {"type": "tag-definition", "tag-definition-id": ID}),
)
every_place = pytest.mark.parametrize(
    ("path", "level", "named", "resource"), PLACES, ids=[level.noun for _, level, _, _ in PLACES]
)


def asked(served: World) -> Any:
    (message,) = served.authz.asked
    return message


def asked_name(level: levels.Level, named: dict[str, Any]) -> grants_pb2.ObjectName:
    if level is levels.PROJECT:
        return grants_pb2.ObjectName(kind=level.kind)
    return grants_pb2.ObjectName(kind=level.kind, of_this_project=level is not levels.SERVER, **named)


@every_place
async def test_grants_are_shown_with_principal_resource_and_time(
    served: World, path: str, level: levels.Level, named: dict[str, Any], resource: dict[str, str]
) -> None:
    found = grants_pb2.Grant(
        grantee=grants_pb2.Grantee(user_id="oidc~a"),
        privilege=level.privileges[0],
        recognized=True,
        created_at=timestamp_pb2.Timestamp(seconds=1_767_225_600, nanos=5_000_000),
        object=grants_pb2.ObjectName(kind=level.kind, **named),
    )
    served.authz.answers["ListGrants"] = grants_pb2.ListGrantsResponse(grants=[found], next_page_token="next")
    response = await served.client.get(
        f"{MANAGEMENT}/{path}/grants", params={"principalRole": ROLE, "pageSize": 7, "pageToken": "t"}
    )
    assert response.json() == {
        "grants": [
            {
                "principal": {"user": "oidc~a"},
                "resource": resource,
                "privilege": level.privileges[0],
                "recognized": True,
                "created-at": "2026-01-01T00:00:00.005000Z",
            }
        ],
        "next-page-token": "next",
    }
    assert asked(served).object == asked_name(level, named)
    assert (asked(served).page.size, asked(served).page.token) == (7, "t")
    assert asked(served).grantee == grants_pb2.Grantee(role_id=ROLE)


@every_place
async def test_grants_are_applied_and_what_is_so_already_passed_over(
    served: World, path: str, level: levels.Level, named: dict[str, Any], resource: dict[str, str]
) -> None:
    del resource
    served.authz.answers["ChangeGrants"] = grants_pb2.ChangeGrantsResponse()
    body = {
        "writes": [{"principal": {"user": "oidc~a"}, "privilege": level.privileges[0]}],
        "deletes": [{"principal": {"role": ROLE}, "privilege": "whatever"}],
    }
    response = await served.client.post(f"{MANAGEMENT}/{path}/grants", json=body)
    assert (response.status_code, response.content) == (204, b"")
    assert asked(served).object == asked_name(level, named)
    assert not asked(served).exact
    assert [entry.grantee for entry in asked(served).writes] == [grants_pb2.Grantee(user_id="oidc~a")]
    assert [(entry.grantee, entry.privilege) for entry in asked(served).deletes] == [
        (grants_pb2.Grantee(role_id=ROLE), "whatever")
    ]


@every_place
async def test_what_may_be_given_is_said_for_each_privilege(
    served: World, path: str, level: levels.Level, named: dict[str, Any], resource: dict[str, str]
) -> None:
    del resource
    privilege = grants_pb2.Privilege(kind=level.kind, name="select", display_name="Select", category="read")
    served.authz.answers["GetGrantablePrivileges"] = grants_pb2.GetGrantablePrivilegesResponse(
        privileges=[grants_pb2.GrantablePrivilege(privilege=privilege, allowed=True)]
    )
    response = await served.client.get(
        f"{MANAGEMENT}/{path}/grants/grantable-privileges", params={"principalUser": "oidc~a"}
    )
    described = {"name": "select", "display-name": "Select", "description": None, "category": "read"}
    assert response.json() == {
        "privileges": [{"privilege": {**described, "resource-type": level.noun}, "allowed": True}]
    }
    assert asked(served).object == asked_name(level, named)
    assert asked(served).grantee == grants_pb2.Grantee(user_id="oidc~a")


async def test_everything_that_can_be_given_is_listed_by_kind_and_roles_are_not_such_a_kind(served: World) -> None:
    kinds = (principals_pb2.OBJECT_KIND_VIEW, principals_pb2.OBJECT_KIND_ROLE, principals_pb2.OBJECT_KIND_TAG)
    served.authz.answers["ListPrivileges"] = grants_pb2.ListPrivilegesResponse(
        privileges=[grants_pb2.Privilege(kind=kind, name="x", display_name="X") for kind in kinds]
    )
    listed = (await served.client.get(f"{MANAGEMENT}/grants/grantable-privileges")).json()["privileges"]
    assert {noun: len(found) for noun, found in listed.items()} == {
        "server": 0,
        "project": 0,
        "warehouse": 0,
        "namespace": 0,
        "table": 0,
        "view": 1,
        "generic-table": 0,
        "tag-definition": 1,
    }


async def test_what_one_principal_holds_is_asked_for_in_the_selected_project(served: World) -> None:
    served.authz.answers["ListGrantsOfPrincipal"] = grants_pb2.ListGrantsOfPrincipalResponse()
    response = await served.client.get(
        f"{MANAGEMENT}/grants", params={"principalUser": "oidc~a"}, headers={"x-project-id": "team-a"}
    )
    assert response.json() == {"grants": [], "next-page-token": None}
    assert asked(served).context.project_id == "team-a"
    assert asked(served).grantee == grants_pb2.Grantee(user_id="oidc~a")


@pytest.mark.parametrize("cause", ["MissingGrantPrincipal", "AmbiguousGrantPrincipal"])
async def test_nobody_or_two_are_refused_in_upstreams_words(served: World, cause: str) -> None:
    served.authz.answers["ListGrantsOfPrincipal"] = Refusal(Reason.REASON_PERMISSIONS_INVALID, "x", cause=cause)
    response = await served.client.get(f"{MANAGEMENT}/grants")
    assert (error_of(response)["code"], error_of(response)["type"]) == (400, cause)
    assert not asked(served).grantee.HasField("user_id")


@pytest.mark.parametrize(
    "body",
    [
        {"write": []},
        {"writes": [], "comment": "x"},
        {"writes": [{"principal": {"user": "oidc~a"}, "privilege": "select", "resource": {"type": "server"}}]},
        {"writes": [{"principal": {"user": "oidc~a", "group": "g"}, "privilege": "select"}]},
        {"writes": [{"principal": "oidc~a", "privilege": "select"}]},
        {"writes": [{"privilege": "select"}]},
    ],
)
async def test_a_member_that_nobody_knows_refuses_the_change(served: World, body: object) -> None:
    response = await served.client.post(f"{MANAGEMENT}/server/grants", json=body)
    assert error_of(response)["code"] == 400
    assert served.authz.asked == []


async def test_a_listing_cannot_be_fed_back_as_a_change(served: World) -> None:
    """It names what each grant is on, and the change would be made on something else."""
    listed = {
        "principal": {"user": "oidc~a"},
        "resource": {"type": "server"},
        "privilege": "admin",
        "recognized": True,
        "created-at": None,
    }
    response = await served.client.post(f"{MANAGEMENT}/project/grants", json={"writes": [listed]})
    assert error_of(response)["code"] == 400
    assert served.authz.asked == []


async def test_a_privilege_that_is_not_the_callers_to_give_is_a_403_of_its_own_word(served: World) -> None:
    served.authz.answers["ChangeGrants"] = Refusal(Reason.REASON_FORBIDDEN, "x", kind="server", action="grant_admin")
    body = {"writes": [{"principal": {"user": "oidc~a"}, "privilege": "admin"}]}
    response = await served.client.post(f"{MANAGEMENT}/server/grants", json=body)
    assert (error_of(response)["code"], error_of(response)["type"]) == (403, "GrantActionForbidden")
