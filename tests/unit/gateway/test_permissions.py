"""Rights over HTTP: what is asked of authz, and how its answers and refusals look."""

from __future__ import annotations

import itertools
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
PERMISSIONS = "/management/v1/permissions"
TABLE = f"{PERMISSIONS}/warehouse/{WAREHOUSE}/table/{ID}"
K = principals_pb2

# Below which path, and as what authz is asked about it.
PLACES: Sequence[tuple[str, levels.Level, dict[str, Any]]] = (
    ("server", levels.SERVER, {}),
    ("project", levels.PROJECT, {}),
    ("project/team-a", levels.PROJECT, {"project_id": "team-a"}),
    (f"warehouse/{WAREHOUSE}", levels.WAREHOUSE, {"warehouse_id": WAREHOUSE}),
    (f"namespace/{ID}", levels.NAMESPACE, {"id": ID}),
    (f"warehouse/{WAREHOUSE}/table/{ID}", levels.TABLE, {"warehouse_id": WAREHOUSE, "id": ID}),
    (f"warehouse/{WAREHOUSE}/view/{ID}", levels.VIEW, {"warehouse_id": WAREHOUSE, "id": ID}),
    (f"warehouse/{WAREHOUSE}/generic-table/{ID}", levels.GENERIC_TABLE, {"warehouse_id": WAREHOUSE, "id": ID}),
    (f"table/{ID}", levels.TABLE, {"id": ID}),
    (f"view/{ID}", levels.VIEW, {"id": ID}),
    (f"generic-table/{ID}", levels.GENERIC_TABLE, {"id": ID}),
    (f"role/{ROLE}", levels.ROLE, {"id": ROLE}),
    (f"tag/{ID}", levels.TAG, {"id": ID}),
)
NAMES = [path for path, _, _ in PLACES]


def asked(served: World) -> Any:
    (message,) = served.authz.asked
    return message


def grant(privilege: str, **grantee: str) -> grants_pb2.Grant:
    return grants_pb2.Grant(
        grantee=grants_pb2.Grantee(**grantee),
        privilege=privilege,
        recognized=True,
        created_at=timestamp_pb2.Timestamp(seconds=1_767_225_600),
    )


@pytest.mark.parametrize(("path", "level", "named"), PLACES, ids=NAMES)
async def test_assignments_are_shown_by_type_and_user_or_role(
    served: World, path: str, level: levels.Level, named: dict[str, Any]
) -> None:
    first, last = level.privileges[0], level.privileges[-1]
    served.authz.answers["ListGrants"] = grants_pb2.ListGrantsResponse(
        grants=[
            grant(first, user_id="oidc~a b"),
            grant(last, role_id=ROLE),
            grant("of-a-later-release", user_id="x~y"),
        ],
        project_id="p" if level is levels.PROJECT else "",
    )
    response = await served.client.get(f"{PERMISSIONS}/{path}/assignments")
    shown: dict[str, Any] = {"assignments": [{"type": first, "user": "oidc~a b"}, {"type": last, "role": ROLE}]}
    if level is levels.PROJECT:
        shown["project-id"] = "p"
    assert (response.status_code, response.json()) == (200, shown)
    assert asked(served).object == grants_pb2.ObjectName(kind=level.kind, **named)
    assert not asked(served).HasField("page"), "all of them"


@pytest.mark.parametrize(("path", "level", "named"), PLACES, ids=NAMES)
async def test_assignments_are_given_and_taken_exactly(
    served: World, path: str, level: levels.Level, named: dict[str, Any]
) -> None:
    served.authz.answers["ChangeGrants"] = grants_pb2.ChangeGrantsResponse()
    first, last = level.privileges[0], level.privileges[-1]
    body = {"writes": [{"type": first, "user": "oidc~a"}], "deletes": [{"type": last, "role": ROLE}]}
    response = await served.client.post(f"{PERMISSIONS}/{path}/assignments", json=body)
    assert (response.status_code, response.content) == (204, b"")
    assert asked(served).object == grants_pb2.ObjectName(kind=level.kind, **named)
    assert asked(served).exact
    assert [*asked(served).writes] == [
        grants_pb2.GrantEntry(grantee=grants_pb2.Grantee(user_id="oidc~a"), privilege=first)
    ]
    assert [*asked(served).deletes] == [grants_pb2.GrantEntry(grantee=grants_pb2.Grantee(role_id=ROLE), privilege=last)]


async def test_the_project_is_the_headers_where_the_path_names_none(served: World) -> None:
    served.authz.answers["ListGrants"] = grants_pb2.ListGrantsResponse(project_id="team-a")
    await served.client.get(f"{PERMISSIONS}/project/assignments", headers={"x-project-id": "team-a"})
    assert asked(served).context.project_id == "team-a"
    assert asked(served).object.project_id == ""


@pytest.mark.parametrize(
    "query", ["relations=select&relations=modify", "relations=select,modify", "relations=select,+modify"]
)
async def test_assignments_of_some_relations_alone_are_asked_for(served: World, query: str) -> None:
    served.authz.answers["ListGrants"] = grants_pb2.ListGrantsResponse()
    await served.client.get(f"{TABLE}/assignments?{query}")
    assert [*asked(served).privileges] == ["select", "modify"]


async def test_a_relation_that_the_object_has_not_is_refused(served: World) -> None:
    response = await served.client.get(f"{TABLE}/assignments?relations=create")
    assert error_of(response)["code"] == 400
    assert "'create'" in error_of(response)["message"]
    assert served.authz.asked == []


@pytest.mark.parametrize(
    "body",
    [
        {"write": []},
        {"writes": [{"type": "select", "user": "oidc~a", "comment": "x"}]},
        {"writes": [{"user": "oidc~a"}]},
        {"writes": [{"type": "select", "user": 7}]},
        {"writes": {"type": "select"}},
        {"deletes": None},
        [],
    ],
)
async def test_a_change_with_what_nobody_knows_or_of_another_shape_changes_nothing(served: World, body: object) -> None:
    response = await served.client.post(f"{TABLE}/assignments", json=body)
    assert error_of(response)["code"] == 400
    assert served.authz.asked == []


async def test_both_principals_or_none_reach_authz_as_they_came(served: World) -> None:
    """It says what is wrong with them, for native callers too."""
    served.authz.answers["ChangeGrants"] = grants_pb2.ChangeGrantsResponse()
    body = {"writes": [{"type": "select", "user": "oidc~a", "role": ROLE}, {"type": "select"}]}
    await served.client.post(f"{TABLE}/assignments", json=body)
    both, none = (entry.grantee for entry in asked(served).writes)
    assert (both.user_id, both.role_id) == ("oidc~a", ROLE)
    assert (none.HasField("user_id"), none.HasField("role_id")) == (False, False)


@pytest.mark.parametrize(
    ("refusal", "status", "word"),
    [
        (Refusal(Reason.REASON_GRANT_EXISTS, "x", grant="g"), 409, "TupleAlreadyExistsError"),
        (Refusal(Reason.REASON_NO_SUCH_GRANT, "x", grant="g"), 404, "TupleNotFoundError"),
        (Refusal(Reason.REASON_FORBIDDEN, "x", kind="table", action="a"), 403, "GrantActionForbidden"),
        (Refusal(Reason.REASON_PERMISSIONS_INVALID, "x", cause="EmptyGrantDiff"), 400, "EmptyGrantDiff"),
        (Refusal(Reason.REASON_NO_SUCH_TABLE, "x", table="t"), 404, "NoSuchTableException"),
        (Refusal(Reason.REASON_NO_SUCH_GENERIC_TABLE, "x", table="t"), 404, "NoSuchGenericTableException"),
        (Refusal(Reason.REASON_NO_SUCH_ROLE, "x", role="r"), 404, "RoleIdNotFound"),
        (Refusal(Reason.REASON_NO_SUCH_TAG, "x", tag="t"), 404, "TagDefinitionIdNotFound"),
        (Refusal(Reason.REASON_TOKEN_MISSING, "x"), 401, "MissingAuthorizationHeader"),
        (Refusal(Reason.REASON_AUTHORIZATION_UNAVAILABLE, "x"), 503, "AuthorizationBackendError"),
    ],
)
async def test_what_authz_refuses_has_upstreams_words_and_no_denial_is_a_401(
    served: World, refusal: Refusal, status: int, word: str
) -> None:
    served.authz.answers["ChangeGrants"] = refusal
    response = await served.client.post(f"{TABLE}/assignments", json={"writes": [{"type": "select", "user": "oidc~a"}]})
    assert (error_of(response)["code"], error_of(response)["type"]) == (status, word)


# Not at all places: what is deprecated is not said at new ones.
WITHOUT_ACCESS = {*NAMES[7:11]}
VOCABULARIES = [
    *((path, level, "authorizer-actions", level.authorizer) for path, level, _ in PLACES if path != "project/team-a"),
    *((path, level, "access", level.access) for path, level, _ in PLACES if path not in WITHOUT_ACCESS),
]


@pytest.mark.parametrize(
    ("path", "level", "endpoint", "words"),
    [case for case in VOCABULARIES if case[1] is not levels.TAG],
    ids=[f"{path} {endpoint}" for path, level, endpoint, _ in VOCABULARIES if level is not levels.TAG],
)
async def test_what_is_allowed_is_said_in_the_words_of_the_endpoint(
    served: World, path: str, level: levels.Level, endpoint: str, words: Sequence[str]
) -> None:
    relations = [levels.relation_of(word) for word in words]
    served.authz.answers["GetAllowedActions"] = grants_pb2.GetAllowedActionsResponse(
        actions=[*relations, "something_else"]
    )
    response = await served.client.get(f"{PERMISSIONS}/{path}/{endpoint}")
    assert response.json() == {"allowed-actions": [*words]}
    assert asked(served).object.kind == level.kind
    assert asked(served).absent_is_nothing
    assert not asked(served).HasField("grantee"), "oneself"
    served.authz.answers["GetAllowedActions"] = grants_pb2.GetAllowedActionsResponse()
    assert (await served.client.get(f"{PERMISSIONS}/{path}/{endpoint}")).json() == {"allowed-actions": []}


async def test_another_is_asked_about_by_a_query_and_both_at_once_is_refused_in_upstreams_word(served: World) -> None:
    served.authz.answers["GetAllowedActions"] = grants_pb2.GetAllowedActionsResponse()
    await served.client.get(f"{TABLE}/access", params={"principalUser": "oidc~a#b:*"})
    await served.client.get(f"{TABLE}/access", params={"principalRole": ROLE})
    assert [message.grantee for message in served.authz.asked] == [
        grants_pb2.Grantee(user_id="oidc~a#b:*"),
        grants_pb2.Grantee(role_id=ROLE),
    ]
    served.authz.answers["GetAllowedActions"] = Refusal(
        Reason.REASON_PERMISSIONS_INVALID, "x", cause="AmbiguousGrantPrincipal"
    )
    response = await served.client.get(f"{TABLE}/access?principalUser=oidc~a&principalRole={ROLE}")
    assert (error_of(response)["code"], error_of(response)["type"]) == (400, "InvalidGetAccessQuery")
    served.authz.answers["GetAllowedActions"] = Refusal(Reason.REASON_FORBIDDEN, "x", kind="table", action="a")
    response = await served.client.get(f"{TABLE}/authorizer-actions?principalUser=oidc~a")
    assert (error_of(response)["code"], error_of(response)["type"]) == (403, "CannotInspectPermissions")


@pytest.mark.parametrize(("managed", "inherited"), [*itertools.product([True, False], repeat=2)])
async def test_managed_access_of_a_namespace_says_whether_it_is_inherited(
    served: World, managed: bool, inherited: bool
) -> None:
    served.authz.answers["GetManagedAccess"] = grants_pb2.GetManagedAccessResponse(managed=managed, inherited=inherited)
    response = await served.client.get(f"{PERMISSIONS}/namespace/{ID}")
    assert response.json() == {"managed-access": managed, "managed-access-inherited": inherited}
    response = await served.client.get(f"{PERMISSIONS}/warehouse/{WAREHOUSE}")
    assert response.json() == {"managed-access": managed}


@pytest.mark.parametrize("managed", [True, False])
async def test_managed_access_is_set_with_nothing_to_say(served: World, managed: bool) -> None:
    served.authz.answers["SetManagedAccess"] = grants_pb2.SetManagedAccessResponse()
    for path in (f"namespace/{ID}", f"warehouse/{WAREHOUSE}"):
        response = await served.client.post(f"{PERMISSIONS}/{path}/managed-access", json={"managed-access": managed})
        assert (response.status_code, response.content) == (200, b"")
    assert [message.managed for message in served.authz.asked] == [managed] * 2
    assert [message.object for message in served.authz.asked] == [
        grants_pb2.ObjectName(kind=K.OBJECT_KIND_NAMESPACE, id=ID),
        grants_pb2.ObjectName(kind=K.OBJECT_KIND_WAREHOUSE, warehouse_id=WAREHOUSE),
    ]
