"""Users as people manage them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from lakeward_authz.domain.permissions.objects import user_subject
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_protocol.authz.v1 import users_pb2 as pb
from lakeward_protocol.common.v1.context_pb2 import Page
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.deciding import Rule
from tests.support.directory import a_user
from tests.support.directory_house import ADMINISTRATOR, ANYTHING, ROLE, DirectoryHouse, a_house
from tests.support.users import FakeRoles

NOTHING = Rule(allows=False)
KEY = "0198f2c0-0000-7000-8000-0000000000aa"


async def refused(house: DirectoryHouse, request: Any, **context: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await house.call(request, **context)
    return caught.value


async def test_who_records_itself_needs_no_right_and_is_what_its_token_says() -> None:
    house = await a_house()
    house.authorizer.replace(NOTHING)
    house.tokens.profiles["carl"] = Profile("Carl C.", "carl@example.org", UserKind.HUMAN)
    response = await house.call(pb.CreateUserRequest(), as_user="carl")
    user = response.user
    assert (user.user_id, user.name, user.email) == ("oidc~carl", "Carl C.", "carl@example.org")
    assert (user.type, user.updated_with, response.created) == (pb.USER_TYPE_HUMAN, "create-endpoint", True)


async def test_a_token_that_says_nothing_makes_a_nameless_application() -> None:
    house = await a_house()
    house.tokens.profiles["robot"] = Profile(None, None, UserKind.APPLICATION)
    user = (await house.call(pb.CreateUserRequest(), as_user="robot")).user
    assert (user.name, user.type) == ("Nameless App with ID oidc~robot", pb.USER_TYPE_APPLICATION)


async def test_what_is_said_counts_before_what_the_token_says() -> None:
    house = await a_house()
    request = pb.CreateUserRequest(user_id="oidc~carl", email="c@example.org", type=pb.USER_TYPE_APPLICATION)
    user = (await house.call(request, as_user="carl")).user
    assert (user.name, user.email, user.type) == ("Carl", "c@example.org", pb.USER_TYPE_APPLICATION)


async def test_behind_an_assumed_role_the_user_is_itself() -> None:
    house = await a_house()
    house.held = FakeRoles()
    house.authorizer.replace(NOTHING)
    request = pb.CreateUserRequest(update_if_exists=True)
    user = (await house.call(request, assumed_role=str(ROLE))).user
    assert user.user_id == "oidc~ann"


async def test_a_user_that_is_there_is_refused_or_changed_as_asked() -> None:
    house = await a_house()
    assert (await refused(house, pb.CreateUserRequest())).reason == Reason.REASON_USER_EXISTS
    house.clock.at += timedelta(hours=1)
    response = await house.call(pb.CreateUserRequest(name="Anna", update_if_exists=True))
    assert (response.created, response.user.name, response.user.HasField("updated_at")) == (False, "Anna", True)


async def test_a_deleted_user_comes_back_without_being_asked_to_be_changed() -> None:
    house = await a_house()
    await house.call(pb.DeleteUserRequest(user_id="oidc~ann"))
    assert (await refused(house, pb.GetUserRequest(user_id="oidc~ann"))).reason == Reason.REASON_NO_SUCH_USER
    assert (await house.call(pb.CreateUserRequest())).created
    assert (await house.call(pb.GetUserRequest(user_id="oidc~ann"))).user.name == "Ann"


@pytest.mark.parametrize(
    ("request_", "field", "problem"),
    [
        (pb.CreateUserRequest(user_id="oidc~x", type=pb.USER_TYPE_HUMAN), "name", "missing"),
        (pb.CreateUserRequest(user_id="oidc~x", name="X"), "type", "missing"),
        (pb.CreateUserRequest(user_id="oidc~x", name=" ", type=pb.USER_TYPE_HUMAN), "name", "empty"),
        (pb.CreateUserRequest(name=""), "name", "empty"),
        (pb.CreateUserRequest(name="a\nb"), "name", "malformed"),
        (pb.CreateUserRequest(name="x" * 256), "name", "malformed"),
        (pb.CreateUserRequest(email="a\0b"), "email", "malformed"),
        (pb.UpdateUserRequest(user_id="oidc~ann", name="Ann"), "type", "missing"),
        (pb.UpdateUserRequest(user_id="oidc~ann", type=pb.USER_TYPE_HUMAN), "name", "empty"),
    ],
)
async def test_who_says_too_little_of_a_user_is_told_what_is_missing(request_: Any, field: str, problem: str) -> None:
    house = await a_house()
    before = dict(house.directory.users)
    refusal = await refused(house, request_)
    assert (refusal.reason, refusal.metadata) == (
        Reason.REASON_USER_INCOMPLETE,
        {"field": field, "problem": problem},
    )
    assert house.directory.users == before


async def test_nobody_in_particular_says_which_user_is_meant() -> None:
    house = await a_house()
    refusal = await refused(house, pb.CreateUserRequest(), as_user="")
    assert refusal.metadata == {"field": "id", "problem": "missing"}
    assert (await refused(house, pb.WhoAmIRequest(), as_user="")).reason == Reason.REASON_NOBODY


@pytest.mark.parametrize(
    "user_id", ["", "ann", "~ann", "oidc~", "OIDC~ann", "oi_dc~ann", "oidc~a\nb", "oidc~" + "x" * 128]
)
async def test_what_is_no_users_id_is_refused(user_id: str) -> None:
    house = await a_house()
    for request in (
        pb.CreateUserRequest(user_id=user_id, name="X", type=pb.USER_TYPE_HUMAN),
        pb.GetUserRequest(user_id=user_id),
        pb.DeleteUserRequest(user_id=user_id),
    ):
        assert (await refused(house, request)).reason == Reason.REASON_INVALID_USER_ID


async def test_a_subject_may_hold_whatever_a_provider_puts_there() -> None:
    house = await a_house()
    odd = "kubernetes~system:serviceaccount:a~b c@é"
    made = pb.CreateUserRequest(user_id=odd, name="Odd", type=pb.USER_TYPE_APPLICATION)
    assert (await house.call(made)).user.user_id == odd


async def test_callers_are_told_who_they_are_and_administrators_that_they_are() -> None:
    house = await a_house()
    assert not (await house.call(pb.WhoAmIRequest())).instance_administrator
    missing = await refused(house, pb.WhoAmIRequest(), as_user="root")
    assert missing.reason == Reason.REASON_NO_SUCH_USER
    await house.directory.save(a_user("root"), update=False, record=None)
    itself = await house.call(pb.WhoAmIRequest(), as_user="root")
    assert (itself.user.user_id, itself.instance_administrator) == (ADMINISTRATOR, True)
    house.held.holders[ROLE] = [user_subject(ADMINISTRATOR)]
    acting = await house.call(pb.WhoAmIRequest(), as_user="root", assumed_role=str(ROLE))
    assert (acting.user.user_id, acting.instance_administrator) == (ADMINISTRATOR, False)


async def test_an_update_replaces_all_of_it() -> None:
    house = await a_house()
    await house.call(pb.CreateUserRequest(email="a@example.org", update_if_exists=True))
    user = (await house.call(pb.UpdateUserRequest(user_id="oidc~ann", name="A", type=pb.USER_TYPE_APPLICATION))).user
    assert (user.name, user.HasField("email"), user.type) == ("A", False, pb.USER_TYPE_APPLICATION)
    assert user.updated_with == "update-endpoint"
    nobody = pb.UpdateUserRequest(user_id="oidc~nobody", name="A", type=pb.USER_TYPE_HUMAN)
    assert (await refused(house, nobody)).reason == Reason.REASON_NO_SUCH_USER


async def test_users_come_in_pages_whose_tokens_are_their_listings_own() -> None:
    house = await a_house()
    for name in ("carl", "dora", "eve"):
        await house.directory.save(a_user(name), update=False, record=None)
    seen, token = [], ""
    while True:
        page = await house.call(pb.ListUsersRequest(page=Page(token=token)))
        seen += [user.user_id for user in page.users]
        assert len(page.users) <= 2
        token = page.next_page_token
        if not token:
            break
    assert seen == [f"oidc~{name}" for name in ("ann", "bob", "carl", "dora", "eve")]
    everything = await house.call(pb.ListUsersRequest())
    assert [user.user_id for user in everything.users] == seen
    first = (await house.call(pb.ListUsersRequest(page=Page(size=1)))).next_page_token
    for request, caller in [
        (pb.ListUsersRequest(page=Page(token=first), name="a"), "ann"),
        (pb.ListUsersRequest(page=Page(token=first)), "bob"),
        (pb.ListUsersRequest(page=Page(token=first[:-1])), "ann"),
        (pb.ListUsersRequest(page=Page(token="é")), "ann"),
        (pb.ListUsersRequest(page=Page(token=first + "=")), "ann"),
    ]:
        assert (await refused(house, request, as_user=caller)).reason == Reason.REASON_INVALID_PAGE_TOKEN


async def test_a_search_passes_over_what_no_name_has() -> None:
    house = await a_house()
    plain = await house.call(pb.SearchUsersRequest(search="bob"))
    assert await house.call(pb.SearchUsersRequest(search="b\0ob\0")) == plain
    assert len(plain.users) == 1


async def test_a_search_looks_at_64_characters() -> None:
    house = await a_house()
    assert len((await house.call(pb.SearchUsersRequest(search="bob" + " " * 61 + "zzz"))).users) == 1


async def test_one_key_records_and_deletes_once() -> None:
    house = await a_house()
    house.directory.users.clear()
    first = await house.call(pb.CreateUserRequest(), idempotency_key=KEY)
    assert await house.call(pb.CreateUserRequest(), idempotency_key=KEY) == first
    reused = await refused(house, pb.CreateUserRequest(name="Else"), idempotency_key=KEY)
    assert reused.reason == Reason.REASON_IDEMPOTENCY_KEY_REUSED
    other = KEY.replace("a", "b")
    for _ in range(2):
        await house.call(pb.DeleteUserRequest(user_id="oidc~ann"), idempotency_key=other)
    assert (await refused(house, pb.DeleteUserRequest(user_id="oidc~ann"))).reason == Reason.REASON_NO_SUCH_USER


async def test_a_repetition_is_authorised_anew() -> None:
    house = await a_house()
    request = pb.DeleteUserRequest(user_id="oidc~bob")
    await house.call(request, idempotency_key=KEY)
    house.authorizer.replace(NOTHING)
    assert (await refused(house, request)).reason == Reason.REASON_FORBIDDEN


@pytest.mark.parametrize(
    ("user_id", "denied", "actions"),
    [
        ("oidc~ann", None, {"read", "update", "delete", "read_role_assignments"}),
        ("oidc~bob", Action.SERVER_DELETE_USERS, {"read", "update", "read_role_assignments"}),
        ("oidc~bob", Action.SERVER_LIST_USERS, {"read", "update", "delete"}),
    ],
)
async def test_what_may_be_done_to_a_user_is_said(user_id: str, denied: Action | None, actions: set[str]) -> None:
    house = await a_house()
    house.authorizer.replace(Rule(allows=False, action=denied) if denied else NOTHING, ANYTHING)
    assert set((await house.call(pb.GetUserActionsRequest(user_id=user_id))).actions) == actions


async def test_what_another_may_do_is_its_own_right_and_a_roles_is_not_its_members() -> None:
    house = await a_house()
    house.authorizer.replace(Rule(allows=True, principal="oidc~ann"))
    for by, actions in [("oidc~bob", 4), ("oidc~carl", 1), ("oidc~ann", 4)]:
        request = pb.GetUserActionsRequest(user_id="oidc~bob", principal_user=by)
        assert len((await house.call(request)).actions) == actions, by
    by_role = pb.GetUserActionsRequest(user_id="oidc~bob", principal_role=str(ROLE))
    assert list((await house.call(by_role)).actions) == ["read"]
    unknown = pb.GetUserActionsRequest(user_id="oidc~bob", principal_role=KEY)
    assert (await refused(house, unknown)).reason == Reason.REASON_NO_SUCH_ROLE
    assert UserId("oidc~bob") in house.directory.users
