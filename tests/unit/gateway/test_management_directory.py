"""Users and roles of the management API: what is asked of authz, and what is answered."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import timestamp_pb2

from lakeward_protocol.authz.v1 import roles_pb2, users_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import World, error_of

ROLE = "0198f2c0-0000-7000-8000-000000000001"
MADE = timestamp_pb2.Timestamp(seconds=1_767_225_600, nanos=5_000_000)
ANN = users_pb2.User(
    user_id="oidc~ann",
    name="Ann",
    email="ann@example.org",
    type=users_pb2.USER_TYPE_HUMAN,
    updated_with="create-endpoint",
    created_at=MADE,
)
ANN_SHOWN: dict[str, Any] = {
    "id": "oidc~ann",
    "name": "Ann",
    "email": "ann@example.org",
    "user-type": "human",
    "last-updated-with": "create-endpoint",
    "created-at": "2026-01-01T00:00:00.005000Z",
    "updated-at": None,
}
ENGINEERS = roles_pb2.Role(
    role_id=ROLE,
    project_id="p",
    name="engineers",
    provider_id="oidc",
    source_id="a~b",
    created_at=MADE,
    updated_at=MADE,
)
ENGINEERS_SHOWN: dict[str, Any] = {
    "id": ROLE,
    "ident": "oidc~a~b",
    "provider-id": "oidc",
    "source-id": "a~b",
    "name": "engineers",
    "description": None,
    "project-id": "p",
    "created-at": "2026-01-01T00:00:00.005000Z",
    "updated-at": "2026-01-01T00:00:00.005000Z",
}


def asked(served: World) -> Any:
    """The one message that authz got."""
    (message,) = served.authz.asked
    return message


@pytest.mark.parametrize(("created", "status"), [(True, 201), (False, 200)])
async def test_a_user_is_recorded_as_the_body_says(served: World, created: bool, status: int) -> None:
    served.authz.answers["CreateUser"] = users_pb2.CreateUserResponse(user=ANN, created=created)
    body = {"id": "oidc~ann", "name": "Ann", "user-type": "application", "update-if-exists": True}
    response = await served.client.post("/management/v1/user", json=body)
    assert (response.status_code, response.json()) == (status, ANN_SHOWN)
    message = asked(served)
    assert (message.user_id, message.name, message.HasField("email")) == ("oidc~ann", "Ann", False)
    assert (message.type, message.update_if_exists) == (users_pb2.USER_TYPE_APPLICATION, True)


async def test_who_records_itself_says_nothing(served: World) -> None:
    served.authz.answers["CreateUser"] = users_pb2.CreateUserResponse(user=ANN, created=True)
    key = "0198f2c0-0000-7000-8000-0000000000aa"
    await served.client.post("/management/v1/user", json={}, headers={"idempotency-key": key})
    message = asked(served)
    assert not any(message.HasField(field) for field in ("user_id", "name", "email"))
    assert (message.type, message.context.idempotency_key) == (users_pb2.USER_TYPE_UNSPECIFIED, key)


async def test_users_are_listed_page_by_page(served: World) -> None:
    stub = users_pb2.User(user_id="oidc~stub", type=users_pb2.USER_TYPE_APPLICATION, created_at=MADE)
    served.authz.answers["ListUsers"] = users_pb2.ListUsersResponse(users=[ANN, stub], next_page_token="next")
    response = await served.client.get("/management/v1/user", params={"name": "n", "pageSize": 7, "pageToken": "t"})
    document = response.json()
    assert document["users"][0] == ANN_SHOWN
    assert document["users"][1]["name"] == "Nameless User with id oidc~stub"
    assert document["next-page-token"] == "next"
    message = asked(served)
    assert (message.name, message.page.size, message.page.token) == ("n", 7, "t")


async def test_without_a_page_size_a_list_is_still_in_pages_and_its_end_has_no_token(served: World) -> None:
    served.authz.answers["ListUsers"] = users_pb2.ListUsersResponse(users=[ANN])
    document = (await served.client.get("/management/v1/user")).json()
    assert document == {"users": [ANN_SHOWN], "next-page-token": None}
    page = asked(served).page
    assert (page.HasField("size"), page.HasField("token"), asked(served).HasField("name")) == (False, True, False)


async def test_users_are_searched_by_a_text(served: World) -> None:
    served.authz.answers["SearchUsers"] = users_pb2.SearchUsersResponse(users=[ANN])
    response = await served.client.post("/management/v1/search/user", json={"search": "an"})
    assert response.json() == {
        "users": [{"id": "oidc~ann", "name": "Ann", "email": "ann@example.org", "user-type": "human"}]
    }
    assert asked(served).search == "an"


async def test_a_caller_is_told_who_it_is(served: World) -> None:
    served.authz.answers["WhoAmI"] = users_pb2.WhoAmIResponse(user=ANN, instance_administrator=True)
    document = (await served.client.get("/management/v1/whoami")).json()
    assert document == {**ANN_SHOWN, "is-instance-admin": True}


async def test_a_user_is_found_replaced_and_deleted_by_its_id_whatever_that_holds(served: World) -> None:
    served.authz.answers["GetUser"] = users_pb2.GetUserResponse(user=ANN)
    served.authz.answers["UpdateUser"] = users_pb2.UpdateUserResponse(user=ANN)
    served.authz.answers["DeleteUser"] = users_pb2.DeleteUserResponse()
    path = "/management/v1/user/oidc~a%40b%2Fc%20d"
    assert (await served.client.get(path)).json() == ANN_SHOWN
    replaced = await served.client.put(path, json={"name": "A", "user-type": "human"})
    assert (replaced.status_code, replaced.content) == (200, b"")
    assert (await served.client.delete(path)).status_code == 204
    assert {message.user_id for message in served.authz.asked} == {"oidc~a@b/c d"}
    assert served.authz.asked[1].HasField("email") is False


async def test_what_may_be_done_to_a_user_is_asked_for_one_principal(served: World) -> None:
    served.authz.answers["GetUserActions"] = users_pb2.GetUserActionsResponse(actions=["read", "update"])
    path = "/management/v1/user/oidc~ann/actions"
    own = await served.client.get(path)
    assert own.json() == {"allowed-actions": [{"action": "read"}, {"action": "update"}]}
    await served.client.get(path, params={"principalUser": "oidc~bob"})
    await served.client.get(path, params={"principalRole": ROLE})
    both = await served.client.get(path, params={"principalUser": "oidc~bob", "principalRole": ROLE})
    assert error_of(both)["code"] == 400
    found = [(message.WhichOneof("principal")) for message in served.authz.asked]
    assert found == [None, "principal_user", "principal_role"]


async def test_a_role_is_made_in_the_project_of_the_header_or_of_the_older_member(served: World) -> None:
    served.authz.answers["CreateRole"] = roles_pb2.CreateRoleResponse(role=ENGINEERS)
    headers = {"x-project-id": "header"}
    for body, project in [({"name": "x"}, "header"), ({"name": "x", "project-id": "body"}, "body")]:
        response = await served.client.post("/management/v1/role", json=body, headers=headers)
        assert (response.status_code, response.json()) == (201, ENGINEERS_SHOWN)
        assert served.authz.asked[-1].context.project_id == project
    whole = {"name": "x", "description": "d", "provider-id": "oidc", "source-id": "s"}
    await served.client.post("/management/v1/role", json=whole)
    message = served.authz.asked[-1]
    assert (message.description, message.provider_id, message.source_id) == ("d", "oidc", "s")
    assert not served.authz.asked[0].HasField("provider_id")


async def test_roles_are_listed_by_their_filters(served: World) -> None:
    served.authz.answers["ListRoles"] = roles_pb2.ListRolesResponse(roles=[ENGINEERS], next_page_token="n")
    query = f"roleIds={ROLE}&roleIds=x&sourceIds=a,b&providerIds=oidc&projectId=q&pageSize=3"
    response = await served.client.get(f"/management/v1/role?{query}")
    assert response.json() == {"roles": [ENGINEERS_SHOWN], "next-page-token": "n"}
    message = asked(served)
    assert (list(message.role_ids), list(message.source_ids)) == ([ROLE, "x"], ["a,b"])
    assert (list(message.provider_ids), message.context.project_id, message.page.size) == (["oidc"], "q", 3)


async def test_roles_are_searched_in_the_project_that_is_named(served: World) -> None:
    served.authz.answers["SearchRoles"] = roles_pb2.SearchRolesResponse(roles=[ENGINEERS])
    response = await served.client.post("/management/v1/search/role", json={"search": "eng", "project-id": "q"})
    assert response.json() == {"roles": [ENGINEERS_SHOWN]}
    assert (asked(served).search, asked(served).context.project_id) == ("eng", "q")


async def test_a_role_is_shown_described_bound_and_deleted(served: World) -> None:
    path = f"/management/v1/role/{ROLE}"
    served.authz.answers |= {
        "GetRole": roles_pb2.GetRoleResponse(role=ENGINEERS),
        "UpdateRole": roles_pb2.UpdateRoleResponse(role=ENGINEERS),
        "UpdateRoleSource": roles_pb2.UpdateRoleSourceResponse(role=ENGINEERS),
        "DeleteRole": roles_pb2.DeleteRoleResponse(),
        "GetRoleMetadata": roles_pb2.GetRoleMetadataResponse(role=ENGINEERS),
    }
    assert (await served.client.get(path)).json() == ENGINEERS_SHOWN
    described = await served.client.post(path, json={"name": "n"})
    assert (described.status_code, described.json()) == (200, ENGINEERS_SHOWN)
    bound = await served.client.put(f"{path}/source-system", json={"provider-id": "p", "source-id": "s"})
    assert (bound.status_code, bound.json()) == (200, ENGINEERS_SHOWN)
    assert (await served.client.delete(path)).status_code == 204
    named = (await served.client.get(f"{path}/metadata")).json()
    assert named == {
        key: ENGINEERS_SHOWN[key] for key in ("id", "ident", "provider-id", "source-id", "name", "project-id")
    }
    assert {message.role_id for message in served.authz.asked} == {ROLE}


async def test_members_are_named_by_kind_and_id(served: World) -> None:
    user = roles_pb2.RoleMemberRef(kind=roles_pb2.ROLE_MEMBER_KIND_USER, id="oidc~ann")
    role = roles_pb2.RoleMemberRef(kind=roles_pb2.ROLE_MEMBER_KIND_ROLE, id=ROLE)
    served.authz.answers["AddRoleMembers"] = roles_pb2.AddRoleMembersResponse(members=[user, role])
    served.authz.answers["RemoveRoleMember"] = roles_pb2.RemoveRoleMemberResponse()
    path = f"/management/v1/role/{ROLE}/members"
    body = {"members": [{"type": "user", "id": "oidc~ann"}, {"type": "role", "id": ROLE}]}
    response = await served.client.post(path, json=body)
    assert (response.status_code, response.json()) == (200, body)
    assert list(served.authz.asked[0].members) == [user, role]
    assert (await served.client.delete(f"{path}/user/oidc~ann")).status_code == 204
    assert (await served.client.delete(f"{path}/role/{ROLE}")).status_code == 204
    assert [message.member for message in served.authz.asked[1:]] == [user, role]
    assert error_of(await served.client.delete(f"{path}/group/x"))["code"] == 400
    assert error_of(await served.client.post(path, json={"members": [{"id": "x"}]}))["code"] == 400


@pytest.mark.parametrize(("path", "transitive"), [("members", False), ("members/transitive", True)])
async def test_members_are_shown_with_what_is_known_of_them(served: World, path: str, transitive: bool) -> None:
    known = roles_pb2.RoleMemberUser(user_id="oidc~ann", name="Ann", type=users_pb2.USER_TYPE_HUMAN)
    unknown = roles_pb2.RoleMemberUser(user_id="oidc~who")
    members = [
        roles_pb2.RoleMember(role=ENGINEERS),
        roles_pb2.RoleMember(user=known),
        roles_pb2.RoleMember(user=unknown),
    ]
    served.authz.answers["ListRoleMembers"] = roles_pb2.ListRoleMembersResponse(members=members, next_page_token="n")
    response = await served.client.get(f"/management/v1/role/{ROLE}/{path}", params={"type": "user"})
    assert response.json() == {
        "members": [
            {"type": "role", "id": ROLE, "ident": "oidc~a~b", "name": "engineers"},
            {"type": "user", "id": "oidc~ann", "name": "Ann", "email": None, "user-type": "human"},
            {"type": "user", "id": "oidc~who", "name": None, "email": None, "user-type": None},
        ],
        "next-page-token": "n",
    }
    message = asked(served)
    assert (message.transitive, message.kind) == (transitive, roles_pb2.ROLE_MEMBER_KIND_USER)
    assert error_of(await served.client.get(f"/management/v1/role/{ROLE}/{path}?type=group"))["code"] == 400


@pytest.mark.parametrize(
    ("path", "method", "transitive"),
    [
        (f"role/{ROLE}/member-of", "ListRolesOfRole", False),
        (f"role/{ROLE}/member-of/transitive", "ListRolesOfRole", True),
        ("user/oidc~ann/roles", "ListRolesOfUser", False),
        ("user/oidc~ann/roles/transitive", "ListRolesOfUser", True),
    ],
)
async def test_roles_that_somebody_is_in_are_shown_by_name(
    served: World, path: str, method: str, transitive: bool
) -> None:
    response_type: Any = getattr(roles_pb2, f"{method}Response")
    served.authz.answers[method] = response_type(roles=[ENGINEERS])
    response = await served.client.get(f"/management/v1/{path}", headers={"x-project-id": "q"})
    assert response.json() == {
        "roles": [{"id": ROLE, "ident": "oidc~a~b", "name": "engineers"}],
        "next-page-token": None,
    }
    assert (asked(served).transitive, asked(served).context.project_id) == (transitive, "q")


@pytest.mark.parametrize(
    ("reason", "metadata", "status", "word"),
    [
        (Reason.REASON_NO_SUCH_USER, {"user": "u"}, 404, "UserNotFound"),
        (Reason.REASON_USER_INCOMPLETE, {"field": "name", "problem": "missing"}, 400, "MissingUserName"),
        (Reason.REASON_USER_INCOMPLETE, {"field": "type", "problem": "missing"}, 400, "MissingUserType"),
        (Reason.REASON_USER_INCOMPLETE, {"field": "id", "problem": "missing"}, 400, "MissingUserId"),
        (Reason.REASON_USER_INCOMPLETE, {"field": "name", "problem": "empty"}, 400, "EmptyName"),
        (Reason.REASON_USER_INCOMPLETE, {"field": "email", "problem": "malformed"}, 400, "InvalidUserEmail"),
        (Reason.REASON_NO_SUCH_ROLE, {"role": "r"}, 404, "RoleNotFoundInProject"),
        (Reason.REASON_INVALID_ROLE_NAME, {"name": " "}, 400, "EmptyRoleName"),
        (Reason.REASON_INVALID_ROLE_NAME, {"name": "a\nb"}, 400, "InvalidRoleName"),
        (Reason.REASON_ROLE_MEMBERSHIP_CYCLE, {"role": "r", "member": "m"}, 409, "RoleMembershipCycle"),
    ],
)
async def test_a_refusal_has_the_word_that_clients_match_on(
    served: World, reason: Reason.ValueType, metadata: dict[str, str], status: int, word: str
) -> None:
    served.authz.answers["GetRole"] = Refusal(reason, "no", **metadata)
    error = error_of(await served.client.get(f"/management/v1/role/{ROLE}"))
    assert (error["code"], error["type"]) == (status, word)


async def test_a_role_that_is_named_by_its_id_alone_is_absent_by_another_word(served: World) -> None:
    served.authz.answers["GetRoleMetadata"] = Refusal(Reason.REASON_NO_SUCH_ROLE, "no", role="r")
    error = error_of(await served.client.get(f"/management/v1/role/{ROLE}/metadata"))
    assert (error["code"], error["type"]) == (404, "RoleIdNotFound")


async def test_nobody_in_particular_is_asked_for_a_token(served: World) -> None:
    served.authz.answers["WhoAmI"] = Refusal(Reason.REASON_NOBODY, "who")
    response = await served.client.get("/management/v1/whoami")
    error = error_of(response)
    assert (error["code"], error["type"]) == (401, "GetMyUserWithoutToken")
    assert response.headers["www-authenticate"] == 'Bearer realm="lakeward"'
