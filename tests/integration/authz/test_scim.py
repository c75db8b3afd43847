"""SCIM as identity providers speak it, over the public API, with authz as it is started.

The requests have the shapes that Okta and Microsoft Entra send; those of Okta are of the checks that its SCIM test suite
makes, and those of Entra of what its validator does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest

from lakeward_authz.domain.permissions.objects import role_subject, user_subject
from lakeward_components.oidc import OidcProvider
from lakeward_servicekit.authorization.principals import UserId
from tests.integration.authz.test_people import ADMINISTRATOR, People, serving

pytestmark = pytest.mark.integration

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
SCIM = {"LAKEKEEPER__AUTHZ_BACKEND": "builtin", "LAKEWARD__SCIM__ENABLED": "true"}


@pytest.fixture
def empty(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture
async def people(empty: str, oidc: OidcProvider) -> AsyncIterator[People]:
    async with serving(empty, oidc, **SCIM) as made:
        yield made


class Sender:
    """An identity provider's client, who may do what it needs."""

    def __init__(self, people: People, who: str = ADMINISTRATOR) -> None:
        self._people = people
        self._who = who

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        return await self._people.scim(self._who, method, path, body, **headers)

    async def told(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        response = await self.ask(method, path, body, **headers)
        assert response.is_success, response.text
        assert response.headers.get("content-type", "application/scim+json") == "application/scim+json"
        return response.json() if response.content else None

    async def refused(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str | None]:
        response = await self.ask(method, path, body, **headers)
        document = response.json()
        assert document["schemas"] == [ERROR]
        assert document["status"] == str(response.status_code)
        assert document["detail"]
        return response.status_code, document.get("scimType")

    async def patch(self, path: str, *operations: dict[str, Any]) -> Any:
        return await self.told("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)})

    async def user(self, name: str, **more: Any) -> Any:
        """As Okta sends one; its own id is `name`."""
        document = {
            "schemas": [USER],
            "userName": f"{name}@example.org",
            "externalId": name,
            "name": {"givenName": name.title(), "familyName": "Test"},
            "emails": [{"primary": True, "value": f"{name}@example.org", "type": "work"}],
            "displayName": name.title(),
            "locale": "en-US",
            "groups": [],
            "password": "1mz050nq",
            "active": True,
            **more,
        }
        return await self.told("POST", "/Users", document)

    async def group(self, name: str, *members: str, **more: Any) -> Any:
        document = {"schemas": [GROUP], "displayName": name, "members": [{"value": each} for each in members], **more}
        return await self.told("POST", "/Groups", document)

    async def members(self, group: str) -> set[str]:
        found = await self.told("GET", f"/Groups/{group}")
        return {member["value"] for member in found.get("members", [])}


@pytest.fixture
def sender(people: People) -> Sender:
    return Sender(people)


async def may_use(people: People, who: str) -> bool:
    """Whether a user may list the roles of the project, which the project's `describe` gives."""
    return (await people.call(who, "GET", "/role")).is_success


async def test_okta_finds_nobody_makes_a_user_and_finds_it_again(sender: Sender) -> None:
    found = await sender.told("GET", "/Users?count=1&startIndex=1")
    assert (found["schemas"], found["totalResults"], found["Resources"]) == ([LIST], 0, [])
    found = await sender.told("GET", '/Users?filter=userName eq "nobody@example.org"')
    assert (found["totalResults"], found["startIndex"], found["itemsPerPage"]) == (0, 1, 0)
    response = await sender.ask(
        "POST",
        "/Users",
        {
            "schemas": [USER],
            "userName": "Runscope300@example.org",
            "externalId": "00u1",
            "name": {"givenName": "Runscope", "familyName": "Okta"},
            "emails": [{"primary": True, "value": "r@example.org", "type": "work"}],
            "active": True,
            "password": "secret",
        },
    )
    made = response.json()
    assert response.status_code == 201
    assert made["schemas"] == [USER]
    assert (made["active"], made["userName"]) == (True, "Runscope300@example.org")
    assert made["name"] == {"givenName": "Runscope", "familyName": "Okta"}
    assert "password" not in made
    assert made["meta"]["resourceType"] == "User"
    assert made["meta"]["location"] == response.headers["location"] == f"http://lake.test/scim/v2/Users/{made['id']}"
    assert made["meta"]["version"] == response.headers["etag"]
    assert await sender.told("GET", f"/Users/{made['id']}") == made
    found = await sender.told("GET", '/Users?filter=userName eq "runscope300@EXAMPLE.org"')
    assert found["Resources"] == [made]
    assert await sender.refused("POST", "/Users", {k: v for k, v in made.items() if k != "id"}) == (409, "uniqueness")


async def test_okta_is_told_that_a_user_is_not_there_and_that_a_path_is_not_served(sender: Sender) -> None:
    assert await sender.refused("GET", f"/Users/{uuid4()}") == (404, None)
    assert await sender.refused("GET", "/Users/no-uuid") == (404, None)
    assert await sender.refused("GET", "/Nothing") == (404, None)
    assert await sender.refused("POST", "/Schemas", {}) == (405, None)
    assert await sender.refused("POST", "/Users", {"schemas": [USER]}) == (400, "invalidValue")
    assert await sender.refused("POST", "/Users", ["no object"]) == (400, "invalidSyntax")


async def test_okta_deactivates_a_user_and_that_user_has_no_rights_at_the_very_next_request(
    people: People, sender: Sender
) -> None:
    ann = await sender.user("ann")
    await people.give(user_subject(UserId("oidc~ann")), "describe")
    assert await may_use(people, "ann")
    gone = await sender.patch(f"/Users/{ann['id']}", {"op": "replace", "value": {"active": False}})
    assert gone["active"] is False
    assert not await may_use(people, "ann")
    assert await may_use(people, ADMINISTRATOR)
    back = await sender.told("PUT", f"/Users/{ann['id']}", {**ann, "active": True})
    assert back["active"] is True
    assert await may_use(people, "ann")


async def test_what_is_given_to_a_user_who_is_not_active_waits_until_it_is(people: People, sender: Sender) -> None:
    ann = await sender.user("ann", active=False)
    group = await sender.group("engineers", ann["id"])
    await people.give(role_subject(group["id"]), "describe")
    await people.give(user_subject(UserId("oidc~ann")), "modify")
    assert await sender.members(group["id"]) == {ann["id"]}
    assert not await may_use(people, "ann")
    await sender.patch(f"/Users/{ann['id']}", {"op": "Replace", "path": "active", "value": "True"})
    assert await may_use(people, "ann")


async def test_a_deleted_user_is_gone_with_all_that_it_had_and_comes_back_without_it(
    people: People, sender: Sender
) -> None:
    ann = await sender.user("ann")
    group = await sender.group("engineers", ann["id"])
    await people.give(user_subject(UserId("oidc~ann")), "describe")
    await sender.told("DELETE", f"/Users/{ann['id']}")
    assert await sender.refused("DELETE", f"/Users/{ann['id']}") == (404, None)
    assert not await may_use(people, "ann")
    assert await sender.members(group["id"]) == set()
    again = await sender.user("ann")
    assert again["id"] != ann["id"]
    assert not await may_use(people, "ann")


async def test_members_of_a_group_hold_what_its_role_was_given_and_who_leaves_holds_it_no_more(
    people: People, sender: Sender
) -> None:
    ann, bob = await sender.user("ann"), await sender.user("bob")
    group = await sender.group("engineers", ann["id"], externalId="g-1")
    await people.give(role_subject(group["id"]), "describe")
    assert [await may_use(people, who) for who in ("ann", "bob")] == [True, False]
    await sender.patch(f"/Groups/{group['id']}", {"op": "add", "path": "members", "value": [{"value": bob["id"]}]})
    assert [await may_use(people, who) for who in ("ann", "bob")] == [True, True]
    await sender.patch(f"/Groups/{group['id']}", {"op": "remove", "path": f'members[value eq "{ann["id"]}"]'})
    assert [await may_use(people, who) for who in ("ann", "bob")] == [False, True]
    role = await people.told(ADMINISTRATOR, "GET", f"/role/{group['id']}")
    assert (role["name"], role["provider-id"], role["source-id"]) == ("engineers", "scim", "g-1")
    await sender.told("DELETE", f"/Groups/{group['id']}")
    assert not await may_use(people, "bob")
    assert await sender.refused("GET", f"/Groups/{group['id']}") == (404, None)


async def test_a_group_in_a_group_brings_its_members_along(people: People, sender: Sender) -> None:
    ann = await sender.user("ann")
    inner = await sender.group("inner", ann["id"])
    outer = await sender.group("outer", inner["id"])
    await people.give(role_subject(outer["id"]), "describe")
    assert await may_use(people, "ann")
    shown = (await sender.told("GET", f"/Groups/{outer['id']}"))["members"]
    assert [(each["type"], each["display"]) for each in shown] == [("Group", "inner")]
    add = {"op": "add", "path": "members", "value": [{"value": outer["id"]}]}
    circle = {"schemas": [PATCH], "Operations": [add]}
    assert await sender.refused("PATCH", f"/Groups/{inner['id']}", circle) == (400, "invalidValue")


async def test_a_user_says_which_groups_it_is_in_and_by_what(people: People, sender: Sender) -> None:
    ann, base = await sender.user("ann"), "http://lake.test/scim/v2/Groups/"
    path, alone = f"/Users/{ann['id']}", ann["meta"]["version"]
    assert not ann.get("groups")
    inner = await sender.group("inner", ann["id"])
    outer = await sender.group("outer", inner["id"])
    await sender.told("POST", "/Groups", {"schemas": [GROUP], "displayName": "others"})
    groups = [
        {"value": inner["id"], "$ref": f"{base}{inner['id']}", "display": "inner", "type": "direct"},
        {"value": outer["id"], "$ref": f"{base}{outer['id']}", "display": "outer", "type": "indirect"},
    ]
    response = await sender.ask("GET", path, if_none_match=alone)
    shown = response.json()
    assert shown["groups"] == groups
    assert shown["meta"]["version"] == response.headers["etag"] != alone
    assert (await sender.ask("GET", path, if_none_match=response.headers["etag"])).status_code == 304
    (listed,) = (await sender.told("GET", "/Users"))["Resources"]
    assert listed == shown
    assert "groups" not in await sender.told("GET", f"{path}?excludedAttributes=groups")
    assert (await sender.told("GET", f"{path}?attributes=groups.display"))["groups"] == [
        {"display": "inner"},
        {"display": "outer"},
    ]
    # what is sent of it is passed over: who is in a group is the group's to say
    mine = {**shown, "title": "one", "groups": [{"value": outer["id"], "type": "direct"}]}
    changed = await sender.told("PUT", path, mine, if_match=shown["meta"]["version"])
    assert (changed["title"], changed["groups"]) == ("one", groups)
    patch = {"schemas": [PATCH], "Operations": [{"op": "remove", "path": "groups"}]}
    assert await sender.refused("PATCH", path, patch) == (400, "mutability")
    assert (await sender.patch(path, {"op": "replace", "path": "title", "value": "two"}))["groups"] == groups
    await sender.patch(f"/Groups/{inner['id']}", {"op": "remove", "path": "members"})
    assert not (await sender.told("GET", path)).get("groups")


async def test_a_user_is_shown_with_its_groups_of_the_project_that_is_named_and_of_no_other(
    people: People, sender: Sender
) -> None:
    ann = await sender.user("ann")
    await sender.group("engineers", ann["id"])
    path = f"/Users/{ann['id']}"
    assert await Sender(people, "stranger").refused("GET", path) == (403, None)
    for project in ("q", str(uuid4())):
        response = await sender.ask("GET", path, project=project)
        assert response.is_success
        assert not response.json().get("groups")
    assert [group["display"] for group in (await sender.told("GET", path))["groups"]] == ["engineers"]


async def test_entra_changes_a_user_in_each_of_its_ways(sender: Sender) -> None:
    ann = await sender.user("ann", **{"schemas": [USER, ENTERPRISE], ENTERPRISE: {"department": "one"}})
    path = f"/Users/{ann['id']}"
    changed = await sender.patch(
        path,
        {"op": "Add", "path": "nickName", "value": "Babs"},
        {"op": "Replace", "path": "name.givenName", "value": "Anna"},
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "anna@example.org"},
        {"op": "Add", "path": 'phoneNumbers[type eq "mobile"].value', "value": "555"},
        {"op": "Replace", "path": f"{ENTERPRISE}:department", "value": "two"},
        {"op": "Add", "path": f"{ENTERPRISE}:manager", "value": "4712"},
    )
    assert changed["nickName"] == "Babs"
    assert changed["name"]["givenName"] == "Anna"
    assert [email["value"] for email in changed["emails"]] == ["anna@example.org"]
    assert changed["phoneNumbers"] == [{"value": "555", "type": "mobile"}]
    assert changed[ENTERPRISE] == {"department": "two", "manager": {"value": "4712"}}
    whole = {"active": "False", "displayName": "Anna", "name.familyName": "Other", f"{ENTERPRISE}:division": "d"}
    changed = await sender.patch(path, {"op": "Replace", "value": whole})
    assert (changed["active"], changed["displayName"], changed["name"]["familyName"]) == (False, "Anna", "Other")
    assert changed[ENTERPRISE]["division"] == "d"
    changed = await sender.patch(path, {"op": "Remove", "path": "nickName"})
    assert "nickName" not in changed
    assert await sender.told("GET", path) == changed


async def test_entra_changes_a_group_in_each_of_its_ways(sender: Sender) -> None:
    ann, bob = [(await sender.user(name))["id"] for name in ("ann", "bob")]
    group = (await sender.group("engineers", externalId="8aa1a0c0"))["id"]
    path = f"/Groups/{group}"
    shown = await sender.told("GET", f"{path}?excludedAttributes=members")
    assert (shown["externalId"], "members" in shown) == ("8aa1a0c0", False)
    await sender.patch(path, {"op": "Add", "path": "members", "value": [{"$ref": None, "value": ann}]})
    await sender.patch(path, {"op": "Add", "value": {"members": [{"value": bob}]}})
    assert await sender.members(group) == {ann, bob}
    for found in (
        await sender.told("GET", f'/Groups?filter=id eq "{group}" and members eq "{ann}"'),
        await sender.told("GET", f'/Groups?filter=members[value eq "{ann}"]&excludedAttributes=members'),
        await sender.told("GET", '/Groups?filter=displayName eq "ENGINEERS"&excludedAttributes=members'),
        await sender.told("GET", '/Groups?filter=externalId eq "8aa1a0c0"'),
    ):
        assert [each["id"] for each in found["Resources"]] == [group]
    await sender.patch(path, {"op": "Remove", "path": "members", "value": [{"value": ann}]})
    assert await sender.members(group) == {bob}
    found = await sender.told("GET", f'/Groups?filter=id eq "{group}" and members eq "{ann}"')
    assert found["totalResults"] == 0
    await sender.patch(path, {"op": "Replace", "path": "displayName", "value": "builders"})
    await sender.patch(path, {"op": "replace", "value": {"id": group, "displayName": "makers"}})
    assert (await sender.told("GET", path))["displayName"] == "makers"
    await sender.patch(path, {"op": "replace", "path": "members", "value": [{"value": ann}]})
    assert await sender.members(group) == {ann}
    await sender.patch(path, {"op": "remove", "path": "members"})
    assert await sender.members(group) == set()
    await sender.told("PUT", path, {"schemas": [GROUP], "displayName": "all", "members": [{"value": bob}]})
    assert await sender.members(group) == {bob}


async def test_a_group_takes_nobody_who_was_not_sent_and_then_nothing_of_the_request_counts(sender: Sender) -> None:
    ann = (await sender.user("ann"))["id"]
    group = (await sender.group("engineers"))["id"]
    add = {"op": "add", "path": "members", "value": [{"value": ann}, {"value": str(uuid4())}]}
    patch = {"schemas": [PATCH], "Operations": [{"op": "replace", "path": "displayName", "value": "other"}, add]}
    assert await sender.refused("PATCH", f"/Groups/{group}", patch) == (400, "invalidValue")
    assert (await sender.told("GET", f"/Groups/{group}"))["displayName"] == "engineers"
    assert await sender.members(group) == set()
    assert await sender.refused("POST", "/Groups", {"schemas": [GROUP], "displayName": "Engineers"}) == (
        409,
        "uniqueness",
    )


async def test_people_are_listed_in_pages_and_asked_for_by_every_comparison(sender: Sender) -> None:
    made = [await sender.user(name, title="x") for name in ("ann", "bob", "carl", "dora")]
    await sender.user("eve", active=False)
    page = await sender.told("GET", "/Users?startIndex=2&count=2")
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (5, 2, 2)
    assert page["Resources"] == made[1:3]
    assert (await sender.told("GET", "/Users?count=0"))["totalResults"] == 5
    assert (await sender.told("GET", "/Users?startIndex=0&count=-5"))["Resources"] == []

    async def found(wanted: str) -> list[str]:
        listed = await sender.told("POST", "/Users/.search", {"filter": wanted, "attributes": ["userName"]})
        assert all(each.keys() <= {"schemas", "id", "userName"} for each in listed["Resources"])
        return [each["userName"].partition("@")[0] for each in listed["Resources"]]

    assert await found('userName sw "a" or userName ew "LA@example.org" or displayName co "ARL"') == ["ann", "carl"]
    assert await found("active eq false") == await found("not (active eq true)") == ["eve"]
    assert await found('emails[type eq "work" and value eq "BOB@example.org"]') == ["bob"]
    assert await found('emails.value co "dora"') == ["dora"]
    assert await found('externalId gt "bob" and externalId le "dora"') == ["carl", "dora"]
    assert await found(f'id eq "{made[0]["id"]}"') == ["ann"]
    assert await found('meta.created gt "2001-01-01T00:00:00Z" and userName ne "ann@example.org"') != []
    assert await found('userName eq "a\\" or \\"1\\"=\\"1"') == []
    assert await found("externalId pr and not (externalId pr)") == []


async def test_a_filter_that_can_not_be_asked_is_refused_by_its_own_word(sender: Sender) -> None:
    for wanted in (
        "userName",
        'userName == "x"',
        'title eq "x"',
        'nothing eq "x"',
        'userName eq "x',
        "(" * 3000 + 'userName eq "x"' + ")" * 3000,
        " and ".join(['userName eq "x"'] * 60),
        "not (" * 60 + 'userName eq "x"' + ")" * 60,
        'meta.created gt "yesterday"',
    ):
        assert await sender.refused("POST", "/Users/.search", {"filter": wanted}) == (400, "invalidFilter"), wanted[:80]


async def test_a_change_counts_for_the_version_that_it_names_and_for_no_other(sender: Sender) -> None:
    ann = await sender.user("ann")
    path, version = f"/Users/{ann['id']}", ann["meta"]["version"]
    assert (await sender.ask("GET", path, if_none_match=version)).status_code == 304
    patch = {"schemas": [PATCH], "Operations": [{"op": "replace", "path": "title", "value": "one"}]}
    changed = await sender.told("PATCH", path, patch, if_match=version)
    assert changed["meta"]["version"] != version
    assert (await sender.ask("GET", path, if_none_match=version)).status_code == 200
    assert await sender.refused("PATCH", path, patch, if_match=version) == (412, None)
    assert await sender.refused("PUT", path, ann, if_match=version) == (412, None)
    assert await sender.refused("DELETE", path, if_match=version) == (412, None)
    group = await sender.group("engineers")
    await sender.patch(f"/Groups/{group['id']}", {"op": "add", "path": "members", "value": [{"value": ann["id"]}]})
    stale = group["meta"]["version"]
    assert await sender.refused("PUT", f"/Groups/{group['id']}", group, if_match=stale) == (412, None)
    assert await sender.refused("DELETE", f"/Groups/{group['id']}", if_match=stale) == (412, None)


async def test_of_patches_that_meet_none_is_lost(sender: Sender) -> None:
    ann = await sender.user("ann")
    names = ["nickName", "title", "locale", "timezone"]
    operations = [{"op": "add", "path": name, "value": "Europe/Berlin"} for name in names]
    await asyncio.gather(*(sender.patch(f"/Users/{ann['id']}", each) for each in operations))
    found = await sender.told("GET", f"/Users/{ann['id']}")
    assert [found[name] for name in names] == ["Europe/Berlin"] * 4


async def test_who_a_person_is_never_changes_and_is_one_of_the_configured_provider(
    people: People, sender: Sender
) -> None:
    ann = await sender.user("ann")
    assert (await people.told(ADMINISTRATOR, "GET", "/user/oidc~ann"))["last-updated-with"] == "role-provider"
    other = {**ann, "externalId": "bob"}
    assert await sender.refused("PUT", f"/Users/{ann['id']}", other) == (400, "mutability")
    nobody = {"schemas": [USER], "userName": "carl@example.org"}
    assert await sender.refused("POST", "/Users", nobody) == (400, "invalidValue")
    twice = {"schemas": [USER], "userName": "second@example.org", "externalId": "ann"}
    assert await sender.refused("POST", "/Users", twice) == (409, "uniqueness")


async def test_another_user_name_is_taken_where_it_does_not_say_who_the_person_is(sender: Sender) -> None:
    ann = await sender.user("ann")
    bob = await sender.user("bob")
    path = f"/Users/{ann['id']}"
    changed = await sender.told("PUT", path, {**ann, "userName": "anna@example.org"})
    assert (changed["id"], changed["userName"]) == (ann["id"], "anna@example.org")
    again = await sender.patch(path, {"op": "replace", "path": "userName", "value": "Anne@example.org"})
    assert again["userName"] == "Anne@example.org"
    found = await sender.told("GET", '/Users?filter=userName eq "anne@example.org"')
    assert found["Resources"] == [again]
    assert await sender.refused("PUT", path, {**ann, "userName": bob["userName"]}) == (409, "uniqueness")
    assert await sender.told("GET", path) == again


async def test_a_user_name_that_says_who_the_person_is_can_not_be_replaced(empty: str, oidc: OidcProvider) -> None:
    async with serving(empty, oidc, **SCIM, LAKEWARD__SCIM__USER_ID="userName") as people:
        sender = Sender(people)
        ann = await sender.user("ann")
        path = f"/Users/{ann['id']}"
        fixed = (400, "mutability")
        other = {"op": "replace", "path": "userName", "value": "anna@example.org"}
        for operation in (other, {"op": "replace", "value": {"userName": "anna@example.org"}}):
            patch = {"schemas": [PATCH], "Operations": [operation]}
            assert await sender.refused("PATCH", path, patch) == fixed
        assert await sender.refused("PUT", path, {**ann, "userName": "anna@example.org"}) == fixed
        assert await sender.told("GET", path) == ann
        changed = await sender.told("PUT", path, {**ann, "externalId": "another"})
        assert (changed["userName"], changed["externalId"]) == (ann["userName"], "another")
        assert (await people.told(ADMINISTRATOR, "GET", "/user/oidc~ann@example.org"))["name"] == "Ann"


async def test_a_person_with_an_odd_id_is_exactly_that_user(people: People, sender: Sender) -> None:
    group = await sender.group("engineers")
    await people.give(role_subject(group["id"]), "describe")
    for number, odd in enumerate(("a#b:c*d~e", "oidc~root", "role:1#assignee", "日本 ünï", "%2e%2e", "*")):
        made = await sender.user(f"odd{number}", externalId=odd)
        member = {"op": "replace", "path": "members", "value": [{"value": made["id"]}]}
        await sender.patch(f"/Groups/{group['id']}", member)
        members = await people.told(ADMINISTRATOR, "GET", f"/role/{group['id']}/members")
        assert [each["id"] for each in members["members"]] == [f"oidc~{odd}"]
        assert await may_use(people, odd)
        assert not await may_use(people, "somebody-else")


async def test_nobody_changes_by_hand_what_a_provider_keeps(people: People, sender: Sender) -> None:
    ann = await sender.user("ann")
    group = (await sender.group("engineers"))["id"]
    member = {"type": "user", "id": "oidc~ann"}
    managed = (400, "ManagedRoleImmutable")
    root = ADMINISTRATOR
    assert await people.refused(root, "POST", f"/role/{group}/members", {"members": [member]}) == managed
    assert await people.refused(root, "DELETE", f"/role/{group}/members/user/oidc~ann") == managed
    assert await people.refused(root, "POST", f"/role/{group}", {"name": "mine"}) == managed
    bound = {"provider-id": "oidc", "source-id": "x"}
    assert await people.refused(root, "PUT", f"/role/{group}/source-system", bound) == managed
    taken = {"name": "mine", "provider-id": "scim", "source-id": "x"}
    assert await people.refused(root, "POST", "/role", taken) == managed
    own = await people.told(root, "POST", "/role", {"name": "own"})
    bound = {"provider-id": "scim", "source-id": "x"}
    assert await people.refused(root, "PUT", f"/role/{own['id']}/source-system", bound) == managed
    writes = {"writes": [{"type": "assignee", "user": "oidc~ann"}]}
    assert await people.refused(root, "POST", f"/permissions/role/{group}/assignments", writes) == managed
    assert await sender.members(group) == set()
    # a role that people made is no group, and no member of one
    assert await sender.refused("GET", f"/Groups/{own['id']}") == (404, None)
    assert await sender.refused("DELETE", f"/Groups/{own['id']}") == (404, None)
    assert (await sender.told("GET", "/Groups"))["totalResults"] == 1
    add = {"schemas": [PATCH], "Operations": [{"op": "add", "path": "members", "value": [{"value": own["id"]}]}]}
    assert await sender.refused("PATCH", f"/Groups/{group}", add) == (400, "invalidValue")
    assert ann["active"] is True


async def test_who_may_not_is_refused_and_changes_nothing(people: People, sender: Sender) -> None:
    ann = await sender.user("ann")
    group = await sender.group("engineers", ann["id"])
    stranger = Sender(people, "stranger")
    user = {"schemas": [USER], "userName": "x@example.org", "externalId": "x"}
    patch = {"schemas": [PATCH], "Operations": [{"op": "replace", "path": "active", "value": False}]}
    clear = {"schemas": [PATCH], "Operations": [{"op": "remove", "path": "members"}]}
    for method, path, body in (
        ("GET", "/Users", None),
        ("POST", "/Users", user),
        ("GET", f"/Users/{ann['id']}", None),
        ("PUT", f"/Users/{ann['id']}", ann),
        ("PATCH", f"/Users/{ann['id']}", patch),
        ("DELETE", f"/Users/{ann['id']}", None),
        ("GET", f"/Users/{uuid4()}", None),
    ):
        assert await stranger.refused(method, path, body) == (403, None)
    for method, path, body in (
        ("GET", "/Groups", None),
        ("POST", "/Groups", {"schemas": [GROUP], "displayName": "mine"}),
        ("GET", f"/Groups/{group['id']}", None),
        ("PATCH", f"/Groups/{group['id']}", clear),
        ("DELETE", f"/Groups/{group['id']}", None),
    ):
        assert (await stranger.refused(method, path, body))[0] in {403, 404}
    assert await sender.members(group["id"]) == {ann["id"]}
    unknown = await people.scim(ADMINISTRATOR, "GET", "/Users", authorization="")
    assert unknown.status_code == 401
    assert unknown.headers["www-authenticate"] == 'Bearer realm="lakeward"'
    assert unknown.json()["schemas"] == [ERROR]


async def test_a_server_administrator_who_keeps_the_security_of_a_project_may_send_and_holds_no_group(
    people: People, sender: Sender
) -> None:
    """What docs/users-and-roles.md says to give a provider's client."""
    writes = {"writes": [{"type": "admin", "user": "oidc~idp"}]}
    await people.told(ADMINISTRATOR, "POST", "/permissions/server/assignments", writes)
    await people.give(user_subject(UserId("oidc~idp")), "security_admin")
    client = Sender(people, "idp")
    ann = await client.user("ann")
    group = await client.group("engineers", ann["id"])
    await client.patch(f"/Groups/{group['id']}", {"op": "replace", "path": "displayName", "value": "other"})
    owners = await people.told(ADMINISTRATOR, "GET", f"/permissions/role/{group['id']}/assignments")
    assert [(each["type"], each["user"]) for each in owners["assignments"]] == [("assignee", "oidc~ann")]
    await client.told("DELETE", f"/Groups/{group['id']}")
    await client.told("DELETE", f"/Users/{ann['id']}")


async def test_groups_are_of_the_project_that_is_named(sender: Sender) -> None:
    group = await sender.group("engineers")
    other = await sender.ask("GET", "/Groups", project="q")
    assert other.json()["totalResults"] == 0
    assert (await sender.ask("GET", f"/Groups/{group['id']}", project="q")).status_code == 404
    assert (
        await sender.ask("POST", "/Groups", {"schemas": [GROUP], "displayName": "engineers"}, project="q")
    ).is_success


async def test_without_the_setting_nothing_is_served_and_nothing_is_kept(empty: str, oidc: OidcProvider) -> None:
    async with serving(empty, oidc, LAKEKEEPER__AUTHZ_BACKEND="builtin") as people:
        assert (await people.scim(ADMINISTRATOR, "GET", "/Users")).status_code == 404
        taken = {"name": "mine", "provider-id": "scim", "source-id": "x"}
        await people.told(ADMINISTRATOR, "POST", "/role", taken)
