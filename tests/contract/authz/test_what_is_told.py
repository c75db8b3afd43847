"""Each change of users, roles and grants is told in its transaction, and what changes nothing is not."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import pytest
from google.protobuf import descriptor_pool

from lakeward_authz.adapters.postgres.members import PostgresMembers
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.provisioned_groups import PostgresProvisionedGroups
from lakeward_authz.adapters.postgres.provisioned_users import PostgresProvisionedUsers
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.adapters.postgres.sourced_roles import PostgresSourcedRoles
from lakeward_authz.adapters.postgres.user_directory import PostgresUserDirectory
from lakeward_authz.adapters.postgres.users import PostgresUsers
from lakeward_authz.application.permissions import Grant, Made
from lakeward_authz.application.provisioned_groups import GroupChange, MembersChange
from lakeward_authz.application.synchronising import RoleMembers
from lakeward_authz.application.users import Administrator
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, OWNERSHIP
from lakeward_authz.domain.permissions.objects import SERVER, ObjectKey, role_subject, user_subject
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.domain.roles import RoleIdent
from lakeward_protocol.authz import v1
from lakeward_servicekit.authorization.principals import UserId, user
from lakeward_servicekit.events.acting import act_for
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.rpc import MethodRule, rule_of_method
from lakeward_servicekit.system import SystemIds
from tests.support.authz_stores import Stores
from tests.support.directory import NOW, a_role, a_user, role_id
from tests.support.event_contracts import checked
from tests.support.provisioning import a_group, a_person

pytestmark = pytest.mark.integration

PROJECT: Final = ObjectKey("project", "p")
ROLE: Final = a_role(1, "analysts")
ANN: Final = a_user("ann")
DORA: Final = a_person(5, "dora")
GROUP: Final = a_group(4, "people")
# Methods that change nothing of authz's own, and why nobody is told of them here.
SILENT: Final = {"ApplyTreeChanges": "it is told by the catalog, of what the catalog has told of itself"}


@dataclasses.dataclass(frozen=True)
class Kept:
    """The stores, and what they wrote."""

    stores: Stores
    users: PostgresUserDirectory
    callers: PostgresUsers
    roles: PostgresRoles
    members: PostgresMembers
    people: PostgresProvisionedUsers
    groups: PostgresProvisionedGroups
    sourced: PostgresSourcedRoles

    async def told(self) -> Sequence[dict[str, Any]]:
        """What was told since the last look; each keeps to its contract."""
        rows = await self.stores.pool.fetch(
            "with gone as (delete from outbox returning *) select * from gone order by outbox_id"
        )
        return [checked(Event(row["event_id"], row["stream"], row["kind"], row["verb"], row["body"])) for row in rows]


@pytest.fixture
async def kept(stores: Stores) -> Kept:
    outbox = Outbox()
    roles = PostgresRoles(stores.pool, stores.tree)
    await stores.pool.execute("delete from first_administrator; delete from outbox")
    await stores.tree.apply("a test", [(1, Made(PROJECT))])
    made = Kept(
        stores,
        PostgresUserDirectory(stores.pool, outbox),
        PostgresUsers(stores.pool, outbox),
        roles,
        PostgresMembers(stores.pool, stores.grants),
        PostgresProvisionedUsers(stores.pool, outbox),
        PostgresProvisionedGroups(stores.pool, roles, stores.grants),
        PostgresSourcedRoles(stores.pool, roles, stores.grants, SystemIds()),
    )
    await made.users.save(ANN, update=True, record=None)
    await made.roles.add(ROLE, owner=None, record=None)
    await made.people.add(DORA)
    await made.groups.add(GROUP, frozenset())
    await made.told()
    return made


async def _members(kept: Kept) -> None:
    await kept.members.add(ROLE, [user_subject("oidc~ann")])


async def _leave(kept: Kept) -> None:
    await kept.members.remove(ROLE, user_subject("oidc~ann"))


async def _come_and_go(kept: Kept) -> None:
    await _members(kept)
    await _leave(kept)


def _grants(kept: Kept) -> Awaitable[object]:
    writes = [Grant(user_subject("oidc~ann"), "data_admin"), Grant(user_subject("oidc~bob"), "data_admin")]
    return kept.stores.grants.change(PROJECT, writes=writes, deletes=())


def _person(**changes: object) -> Any:
    return dataclasses.replace(DORA.profile, **changes)  # type: ignore[arg-type]  # the test's own business


# By method: what its use case has the stores do, and the events that tell of it. What comes twice is no change the second time.
CHANGES: Final[dict[str, tuple[Callable[[Kept], Awaitable[object]], tuple[str, ...]]]] = {
    "ChangeGrants": (_grants, ("grant.changed",)),
    "SetManagedAccess": (lambda k: k.stores.tree.manage(PROJECT, managed=True), ("grant.managed-access-updated",)),
    "ProvisionUser": (lambda k: k.callers.add(a_user("eve")), ("user.created",)),
    "BootstrapAdministrator": (
        lambda k: k.callers.appoint_first(Administrator(UserId("oidc~ann"), False), at=NOW),
        ("grant.changed",),
    ),
    "CreateProvisionedUser": (lambda k: k.people.add(a_person(7, "finn")), ("user.created",)),
    "ReplaceProvisionedUser": (
        lambda k: k.people.replace(DORA.id, _person(display_name="D."), expected="", at=NOW),
        ("user.updated",),
    ),
    "DeleteProvisionedUser": (lambda k: k.people.remove(DORA.id, expected="", at=NOW), ("user.deleted",)),
    "CreateProvisionedGroup": (
        lambda k: k.groups.add(a_group(8, "others"), frozenset({str(DORA.id)})),
        ("role.created", "role.members-changed"),
    ),
    "ChangeProvisionedGroup": (
        lambda k: k.groups.change(
            GROUP.role_id,
            GroupChange(name="crowd", members=(MembersChange(add=frozenset({str(DORA.id)})),)),
            expected="",
            at=NOW,
        ),
        ("role.updated", "role.members-changed"),
    ),
    "DeleteProvisionedGroup": (lambda k: k.roles.remove(GROUP, record=None), ("role.deleted",)),
    "CreateRole": (lambda k: k.roles.add(a_role(2, "makers"), owner=None, record=None), ("role.created",)),
    "UpdateRole": (
        lambda k: k.roles.describe(ROLE.role_id, name="readers", description="who read", at=NOW),
        ("role.updated",),
    ),
    "UpdateRoleSource": (
        lambda k: k.roles.bind(ROLE.role_id, RoleIdent.of("oidc", "readers"), at=NOW),
        ("role.updated",),
    ),
    "DeleteRole": (lambda k: k.roles.remove(ROLE, record=None), ("role.deleted",)),
    "AddRoleMembers": (_members, ("role.members-changed",)),
    "RemoveRoleMember": (_come_and_go, ("role.members-changed", "role.members-changed")),
    "CreateUser": (lambda k: k.users.save(a_user("gus"), update=True, record=None), ("user.created",)),
    "UpdateUser": (
        lambda k: k.users.replace(
            ANN.user_id, Profile("Anna", None, UserKind.HUMAN), updated_with="update-endpoint", at=NOW
        ),
        ("user.updated",),
    ),
    "DeleteUser": (lambda k: k.users.delete(ANN.user_id, at=NOW, record=None), ("user.deleted",)),
}


def _mutations() -> set[str]:
    rules: list[MethodRule] = []
    for module in pkgutil.iter_modules(v1.__path__):
        if module.name.endswith("_pb2"):
            name = importlib.import_module(f"{v1.__name__}.{module.name}").DESCRIPTOR.name
            for service in descriptor_pool.Default().FindFileByName(name).services_by_name.values():
                rules += map(rule_of_method, service.methods)
    return {rule.path.rpartition("/")[2] for rule in rules if rule.mutation}


def test_every_method_that_changes_something_is_here() -> None:
    assert {*CHANGES, *SILENT} == _mutations()


@pytest.mark.parametrize("method", CHANGES)
async def test_each_change_is_told_with_who_made_it(kept: Kept, method: str) -> None:
    act_for(user("oidc~root"))
    change, expected = CHANGES[method]
    await change(kept)
    told = await kept.told()
    assert tuple(f"{_kind(each)}" for each in told) == expected
    assert all(each["principal"] == "oidc~root" for each in told)


def _kind(document: dict[str, Any]) -> str:
    data = document["data"]
    kinds = {
        "createUser": "user.created",
        "updateUser": "user.updated",
        "deleteUser": "user.deleted",
        "suspendUser": "user.suspended",
        "restoreUser": "user.restored",
        "createRole": "role.created",
        "updateRole": "role.updated",
        "deleteRole": "role.deleted",
        "updateRoleMembers": "role.members-changed",
        "updateGrants": "grant.changed",
        "updateManagedAccess": "grant.managed-access-updated",
    }
    assert data
    return kinds[document["type"]]


async def test_grants_are_told_of_by_what_really_changed(kept: Kept) -> None:
    await _grants(kept)
    await _grants(kept)
    ann = Grant(user_subject("oidc~ann"), "data_admin")
    await kept.stores.grants.change(PROJECT, writes=(), deletes=[ann])
    first, last = await kept.told()
    given = [{"type": "user", "subject": f"oidc~{name}", "relation": "data_admin"} for name in ("ann", "bob")]
    assert (sorted(first["data"]["given"], key=lambda each: each["subject"]), first["data"]["taken"]) == (given, [])
    assert (last["data"]["given"], last["data"]["taken"], last["projectid"]) == ([], given[:1], "p")


async def test_who_joins_and_leaves_a_role_is_told(kept: Kept) -> None:
    for change in (_members, _members, _leave, _leave):
        await change(kept)
    joined, left = await kept.told()
    ann = [{"type": "user", "subject": "oidc~ann", "relation": ASSIGNEE}]
    assert (joined["data"]["given"], left["data"]["taken"]) == (ann, ann)
    assert joined["data"]["object"]["id"] == str(ROLE.role_id)


async def test_a_role_that_changes_is_told_with_what_it_was(kept: Kept) -> None:
    await kept.roles.describe(ROLE.role_id, name="readers", description=None, at=NOW)
    (told,) = await kept.told()
    assert (told["data"]["role"]["name"], told["data"]["before"]["name"]) == ("readers", "analysts")


async def test_whose_rights_wait_and_come_back_is_told(kept: Kept) -> None:
    await kept.people.replace(DORA.id, _person(active=False), expected="", at=NOW)
    await kept.people.replace(DORA.id, _person(active=True), expected="", at=NOW)
    await kept.people.replace(DORA.id, _person(active=True), expected="", at=NOW)
    assert [_kind(each) for each in await kept.told()] == ["user.suspended", "user.restored"]


async def test_what_a_maker_has_on_its_role_is_told_with_it(kept: Kept) -> None:
    await kept.roles.add(a_role(2, "makers"), owner=user_subject("oidc~ann"), record=None)
    await kept.roles.add(a_role(3, "nobodys"), owner=None, record=None)
    owned, nobodys = await kept.told()
    assert owned["data"]["owner"] == {"type": "user", "subject": "oidc~ann", "relation": OWNERSHIP}
    assert "owner" not in nobodys["data"]


async def test_a_user_is_deleted_wherever_something_was_given_to_it(kept: Kept) -> None:
    await kept.stores.tree.apply("another test", [(1, Made(ObjectKey("project", name))) for name in ("q",)])
    for key in (SERVER, PROJECT, ObjectKey("project", "q")):
        await kept.stores.grants.change(key, writes=[Grant(user_subject(DORA.user_id), "describe")], deletes=())
    await kept.people.replace(DORA.id, _person(active=False), expected="", at=NOW)
    await kept.told()
    assert await kept.people.remove(DORA.id, expected="", at=NOW)
    told = await kept.told()
    assert {(_kind(each), each.get("projectid")) for each in told} == {("user.deleted", of) for of in (None, "p", "q")}


async def test_what_a_role_had_on_the_server_is_told_there_when_it_goes(kept: Kept) -> None:
    grant = Grant(role_subject(ROLE.role_id), "admin")
    await kept.stores.grants.change(SERVER, writes=[grant], deletes=())
    await kept.told()
    assert await kept.roles.remove(ROLE, record=None)
    taken, gone = await kept.told()
    assert (_kind(taken), taken.get("projectid"), _kind(gone)) == ("grant.changed", None, "role.deleted")
    said = {"type": "role", "subject": str(ROLE.role_id), "relation": "admin"}
    assert (taken["data"]["given"], taken["data"]["taken"]) == ([], [said])


async def test_what_a_directory_changes_is_told(kept: Kept) -> None:
    ident, users = RoleIdent("ldap", "cn=staff"), frozenset({UserId("ldap~zoe")})
    for name in ("staff", "staff", "people of ours"):
        wanted = [RoleMembers(ident, name, users)]
        assert await kept.sourced.apply("ldap", "p", wanted, may_empty=False, at=NOW)
    told = [_kind(each) for each in await kept.told()]
    assert told == ["user.created", "role.created", "role.members-changed", "role.updated"]


async def test_what_fails_is_not_told(kept: Kept) -> None:
    assert await kept.roles.describe(role_id(99), name="nobody", description=None, at=NOW) is None
    assert not await kept.users.delete(UserId("oidc~nobody"), at=NOW, record=None)
    assert await kept.people.replace(DORA.id, DORA.profile, expected="", at=NOW)
    assert not await kept.callers.add(ANN)
    assert await kept.told() == []
