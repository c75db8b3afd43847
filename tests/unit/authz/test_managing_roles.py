"""Roles as people manage them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from lakeward_authz.domain.permissions.objects import role_subject, user_subject
from lakeward_protocol.authz.v1 import roles_pb2 as pb
from lakeward_protocol.common.v1.context_pb2 import Page
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.deciding import Rule
from tests.support.directory import role_id
from tests.support.directory_house import ANYTHING, INNER, OTHER_PROJECTS, ROLE, DirectoryHouse, a_house

USER, OF_ROLES = pb.ROLE_MEMBER_KIND_USER, pb.ROLE_MEMBER_KIND_ROLE
KEY = "0198f2c0-0000-7000-8000-0000000000aa"


async def refused(house: DirectoryHouse, request: Any, **context: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await house.call(request, **context)
    return caught.value


def ref(kind: pb.RoleMemberKind.ValueType, member: object) -> pb.RoleMemberRef:
    return pb.RoleMemberRef(kind=kind, id=str(member))


async def test_a_role_is_made_in_the_project_that_is_named_and_is_known_here_alone() -> None:
    house = await a_house()
    made = (await house.call(pb.CreateRoleRequest(name="new", description="d"), project_id="q")).role
    assert (made.project_id, made.name, made.description) == ("q", "new", "d")
    assert (made.provider_id, made.source_id) == ("lakekeeper", made.role_id)
    assert made.HasField("created_at")
    assert not made.HasField("updated_at")
    assert (await house.call(pb.GetRoleRequest(role_id=made.role_id), project_id="q")).role == made


async def test_its_maker_owns_a_role_as_the_principal_that_it_is_and_nobody_in_particular_owns_nothing() -> None:
    house = await a_house()
    by_user = (await house.call(pb.CreateRoleRequest(name="1"))).role.role_id
    by_role = (await house.call(pb.CreateRoleRequest(name="2"), assumed_role=str(ROLE))).role.role_id
    by_nobody = (await house.call(pb.CreateRoleRequest(name="3"), as_user="")).role.role_id
    owners = {str(on): subject for subject, relation, on in house.directory.grants if relation == "ownership"}
    assert owners == {by_user: user_subject("oidc~ann"), by_role: role_subject(ROLE)}
    assert by_nobody not in owners


async def test_without_a_project_there_is_nothing_to_make_a_role_in() -> None:
    house = await a_house(default_project=None)
    for request in (
        pb.CreateRoleRequest(name="new"),
        pb.ListRolesRequest(),
        pb.SearchRolesRequest(),
        pb.GetRoleRequest(role_id=str(ROLE)),
        pb.DeleteRoleRequest(role_id=str(ROLE)),
        pb.ListRolesOfUserRequest(user_id="oidc~ann"),
    ):
        assert (await refused(house, request)).reason == Reason.REASON_PROJECT_MISSING
    assert (await house.call(pb.GetRoleMetadataRequest(role_id=str(ROLE)))).role.name == "engineers"


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (pb.CreateRoleRequest(name=""), Reason.REASON_INVALID_ROLE_NAME),
        (pb.CreateRoleRequest(name=" \t"), Reason.REASON_INVALID_ROLE_NAME),
        (pb.CreateRoleRequest(name="a\x00b"), Reason.REASON_INVALID_ROLE_NAME),
        (pb.CreateRoleRequest(name="é" * 257), Reason.REASON_INVALID_ROLE_NAME),
        (pb.CreateRoleRequest(name="x", description="d" * 10_001), Reason.REASON_INVALID_FIELD),
        (pb.CreateRoleRequest(name="x", provider_id="oidc"), Reason.REASON_INVALID_ROLE_IDENT),
        (pb.CreateRoleRequest(name="x", source_id="group"), Reason.REASON_INVALID_ROLE_IDENT),
        (pb.CreateRoleRequest(name="x", provider_id="OIDC", source_id="s"), Reason.REASON_INVALID_ROLE_IDENT),
        (pb.CreateRoleRequest(name="x", provider_id="", source_id="s"), Reason.REASON_INVALID_ROLE_IDENT),
        (pb.CreateRoleRequest(name="x", provider_id="oidc", source_id=""), Reason.REASON_INVALID_ROLE_IDENT),
        (pb.CreateRoleRequest(name="x", provider_id="oidc", source_id="a\nb"), Reason.REASON_INVALID_ROLE_IDENT),
        (pb.CreateRoleRequest(name="x", provider_id="oidc", source_id="s" * 1025), Reason.REASON_INVALID_ROLE_IDENT),
        (pb.CreateRoleRequest(name="x", provider_id="system", source_id="s"), Reason.REASON_RESERVED_ROLE_PROVIDER),
        (pb.CreateRoleRequest(name="ENGINEERS"), Reason.REASON_ROLE_EXISTS),
        (pb.UpdateRoleRequest(role_id=str(ROLE), name=""), Reason.REASON_INVALID_ROLE_NAME),
        (pb.UpdateRoleRequest(role_id=str(ROLE), name="Inner"), Reason.REASON_ROLE_EXISTS),
        (
            pb.UpdateRoleSourceRequest(role_id=str(ROLE), provider_id="system", source_id="s"),
            Reason.REASON_RESERVED_ROLE_PROVIDER,
        ),
        (
            pb.UpdateRoleSourceRequest(role_id=str(ROLE), provider_id="lakekeeper", source_id=str(INNER)),
            Reason.REASON_ROLE_IDENT_TAKEN,
        ),
        (pb.GetRoleRequest(role_id="engineers"), Reason.REASON_INVALID_ROLE_ID),
        (pb.GetRoleMetadataRequest(role_id=KEY), Reason.REASON_NO_SUCH_ROLE),
        (pb.ListRolesRequest(role_ids=["x"]), Reason.REASON_INVALID_ROLE_ID),
        (pb.ListRolesRequest(source_ids=["x"] * 1001), Reason.REASON_INVALID_FIELD),
    ],
)
async def test_what_no_role_can_be_is_refused_and_changes_nothing(request_: Any, reason: int) -> None:
    house = await a_house()
    before = dict(house.directory.roles)
    assert (await refused(house, request_)).reason == reason
    assert house.directory.roles == before


async def test_a_role_may_be_what_a_provider_calls_so_and_is_bound_anew() -> None:
    house = await a_house()
    made = (await house.call(pb.CreateRoleRequest(name="g", provider_id="oidc", source_id="a~b"))).role
    assert (made.provider_id, made.source_id) == ("oidc", "a~b")
    house.clock.at += timedelta(hours=1)
    request = pb.UpdateRoleSourceRequest(role_id=made.role_id, provider_id="ldap", source_id="g")
    bound = (await house.call(request)).role
    assert (bound.provider_id, bound.source_id, bound.HasField("updated_at")) == ("ldap", "g", True)


async def test_a_description_that_is_left_out_is_taken_away() -> None:
    house = await a_house()
    request = pb.UpdateRoleRequest(role_id=str(ROLE), name="engineers", description="d")
    assert (await house.call(request)).role.description == "d"
    cleared = (await house.call(pb.UpdateRoleRequest(role_id=str(ROLE), name="engineers"))).role
    assert not cleared.HasField("description")


async def test_roles_are_listed_by_pages_and_filters() -> None:
    house = await a_house()
    for name in ("a", "b", "c"):
        await house.call(pb.CreateRoleRequest(name=name))
    first = await house.call(pb.ListRolesRequest(page=Page(token="")))
    assert [role.name for role in first.roles] == ["engineers", "inner"]
    second = await house.call(pb.ListRolesRequest(page=Page(token=first.next_page_token, size=100)))
    assert [role.name for role in second.roles] == ["a", "b", "c"]
    assert second.next_page_token == ""
    chosen = await house.call(pb.ListRolesRequest(role_ids=[str(INNER), str(OTHER_PROJECTS)]))
    assert [role.name for role in chosen.roles] == ["inner"]
    elsewhere = pb.ListRolesRequest(page=Page(token=first.next_page_token))
    assert (await refused(house, elsewhere, project_id="q")).reason == Reason.REASON_INVALID_PAGE_TOKEN


async def test_a_role_of_any_project_is_named_without_its_description() -> None:
    house = await a_house()
    house.authorizer.replace(Rule(allows=False))
    role = (await house.call(pb.GetRoleMetadataRequest(role_id=str(OTHER_PROJECTS)))).role
    assert (role.name, role.project_id) == ("theirs", "q")
    assert not role.HasField("created_at")


async def test_members_are_added_once_and_named_as_they_were_asked_for() -> None:
    house = await a_house()
    members = [ref(USER, "oidc~ann"), ref(OF_ROLES, str(INNER).upper()), ref(USER, "oidc~ann")]
    added = (await house.call(pb.AddRoleMembersRequest(role_id=str(ROLE), members=members))).members
    assert [(each.kind, each.id) for each in added] == [(USER, "oidc~ann"), (OF_ROLES, str(INNER))]
    listed = await house.call(pb.ListRoleMembersRequest(role_id=str(ROLE)))
    assert [each.WhichOneof("member") for each in listed.members] == ["role", "user", "user"]
    assert [each.user.user_id for each in listed.members[1:]] == ["oidc~ann", "oidc~bob"]
    users = await house.call(pb.ListRoleMembersRequest(role_id=str(ROLE), kind=USER))
    assert len(users.members) == 2
    nobody = await house.call(pb.AddRoleMembersRequest(role_id=str(ROLE)))
    assert len(nobody.members) == 0


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (ref(USER, "oidc~nobody"), Reason.REASON_ROLE_MEMBER_UNKNOWN),
        (ref(USER, "nobody"), Reason.REASON_INVALID_USER_ID),
        (ref(OF_ROLES, "x"), Reason.REASON_INVALID_ROLE_ID),
        (ref(OF_ROLES, KEY), Reason.REASON_NO_SUCH_ROLE),
        (ref(OF_ROLES, OTHER_PROJECTS), Reason.REASON_NO_SUCH_ROLE),
        (ref(OF_ROLES, ROLE), Reason.REASON_ROLE_MEMBERSHIP_CYCLE),
        (pb.RoleMemberRef(id="oidc~ann"), Reason.REASON_INVALID_FIELD),
    ],
)
async def test_of_members_of_whom_one_can_not_be_none_is_added(member: pb.RoleMemberRef, reason: int) -> None:
    house = await a_house()
    before = set(house.directory.grants)
    request = pb.AddRoleMembersRequest(role_id=str(ROLE), members=[ref(USER, "oidc~ann"), member])
    assert (await refused(house, request)).reason == reason
    assert house.directory.grants == before


async def test_a_thousand_members_are_added_at_once_and_no_more() -> None:
    house = await a_house()
    many = [ref(USER, f"oidc~{number}") for number in range(1001)]
    refusal = await refused(house, pb.AddRoleMembersRequest(role_id=str(ROLE), members=many))
    assert (refusal.reason, refusal.metadata["field"]) == (Reason.REASON_INVALID_FIELD, "members")


async def test_a_member_is_taken_out_however_often_that_is_asked() -> None:
    house = await a_house()
    request = pb.RemoveRoleMemberRequest(role_id=str(ROLE), member=ref(USER, "oidc~bob"))
    for _ in range(2):
        await house.call(request)
    left = await house.call(pb.ListRoleMembersRequest(role_id=str(ROLE)))
    assert [each.role.role_id for each in left.members] == [str(INNER)]


async def test_roles_within_roles_are_told_when_they_are_asked_for() -> None:
    house = await a_house()
    await house.call(pb.AddRoleMembersRequest(role_id=str(INNER), members=[ref(USER, "oidc~ann")]))

    async def names(request: Any) -> list[str]:
        return [role.name for role in (await house.call(request)).roles]

    assert await names(pb.ListRolesOfUserRequest(user_id="oidc~ann")) == ["inner"]
    assert await names(pb.ListRolesOfUserRequest(user_id="oidc~ann", transitive=True)) == ["engineers", "inner"]
    assert await names(pb.ListRolesOfRoleRequest(role_id=str(INNER), transitive=True)) == ["engineers"]
    assert await names(pb.ListRolesOfRoleRequest(role_id=str(ROLE))) == []
    inside = await house.call(pb.ListRoleMembersRequest(role_id=str(ROLE), transitive=True, page=Page(size=2)))
    assert [each.WhichOneof("member") for each in inside.members] == ["role", "user"]
    rest = pb.ListRoleMembersRequest(role_id=str(ROLE), transitive=True, page=Page(token=inside.next_page_token))
    assert [each.user.user_id for each in (await house.call(rest)).members] == ["oidc~bob"]
    direct = pb.ListRoleMembersRequest(role_id=str(ROLE), page=Page(token=inside.next_page_token))
    assert (await refused(house, direct)).reason == Reason.REASON_INVALID_PAGE_TOKEN
    stranger = pb.ListRolesOfUserRequest(user_id="oidc~stranger")
    assert (await refused(house, stranger)).reason == Reason.REASON_NO_SUCH_USER


async def test_one_key_makes_and_deletes_a_role_once() -> None:
    house = await a_house()
    request = pb.CreateRoleRequest(name="once")
    first = await house.call(request, idempotency_key=KEY)
    assert await house.call(request, idempotency_key=KEY) == first
    house.authorizer.replace(Rule(allows=False, action=Action.PROJECT_CREATE_ROLE), ANYTHING)
    assert (await refused(house, request, idempotency_key=KEY)).reason == Reason.REASON_FORBIDDEN
    house.authorizer.replace(ANYTHING)
    for _ in range(2):
        await house.call(pb.DeleteRoleRequest(role_id=first.role.role_id), idempotency_key=KEY.replace("a", "b"))
    assert role_id(1001) not in house.directory.roles
