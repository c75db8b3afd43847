"""What every store of people and groups that identity providers send promises."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import pytest

from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.provisioned_groups import PostgresProvisionedGroups
from lakeward_authz.adapters.postgres.provisioned_users import PostgresProvisionedUsers
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.adapters.postgres.user_directory import PostgresUserDirectory
from lakeward_authz.application.members import MemberKind
from lakeward_authz.application.permissions import Made
from lakeward_authz.application.provisioned_groups import (
    GroupChange,
    GroupMember,
    MembersChange,
    version_of,
)
from lakeward_authz.application.provisioned_users import ProvisionedUserStore
from lakeward_authz.application.role_store import RoleStore
from lakeward_authz.application.user_directory import UserDirectory
from lakeward_authz.domain.permissions.objects import ObjectKey
from lakeward_authz.domain.provisioning import Membership
from lakeward_authz.domain.roles import Role, RoleIdent
from lakeward_authz.provisioning import GroupsAndMemberships
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.authz_stores import opened
from tests.support.directory import NOW, AsUsers, Directory, a_role, role_id
from tests.support.provisioning import Groups, People, a_group, a_person

LATER = NOW + timedelta(hours=1)
ANN, BOB = a_person(1, "ann"), a_person(2, "bob")
ENGINEERS, BUILDERS = a_group(11, "engineers"), a_group(12, "builders")


@dataclasses.dataclass
class Kept:
    """The stores."""

    people: ProvisionedUserStore
    groups: GroupsAndMemberships
    users: UserDirectory
    roles: RoleStore

    async def members(self, role: Role) -> list[UUID]:
        (found,) = await self.groups.members([role], most=100)
        return [member.id for member in found]

    async def put(self, role: Role, *members: str) -> Role:
        change = GroupChange(members=(MembersChange(add=frozenset(members)),))
        return await self.groups.change(role.role_id, change, expected="", at=LATER)


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.integration)])
def database(request: pytest.FixtureRequest) -> str | None:
    if request.param == "memory":
        return None
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
async def kept(database: str | None) -> AsyncIterator[Kept]:
    if database is None:
        directory = Directory(projects=("p", "q"))
        people = People(directory)
        yield Kept(people, Groups(people), AsUsers(directory), directory)
        return
    async with opened(database) as stores:
        for project in ("p", "q"):
            await stores.tree.apply(project, [(1, Made(ObjectKey("project", project)))])
        roles, outbox = PostgresRoles(stores.pool, stores.tree), Outbox()
        people_there = PostgresProvisionedUsers(stores.pool, outbox)
        groups = PostgresProvisionedGroups(stores.pool, roles, stores.grants)
        yield Kept(people_there, groups, PostgresUserDirectory(stores.pool, outbox), roles)


async def refused(reason: Reason.ValueType, change: object) -> None:
    with pytest.raises(Refusal) as caught:
        await change  # type: ignore[misc]
    assert caught.value.reason == reason


async def test_a_person_is_found_listed_and_a_user(kept: Kept) -> None:
    await kept.people.add(ANN)
    await kept.people.add(BOB)
    assert await kept.people.find(ANN.id) == ANN
    assert await kept.people.find(role_id(99)) is None
    page = await kept.people.page(None, skip=1, count=5)
    assert (page.users, page.total) == ([BOB], 2)
    user = await kept.users.find(UserId("oidc~ann"))
    assert user is not None
    assert (user.profile.name, user.profile.email, user.updated_with) == ("Ann", "ann@example.org", "role-provider")


async def test_no_two_people_share_a_user_or_a_name_whatever_its_case(kept: Kept) -> None:
    await kept.people.add(ANN)
    loud = dataclasses.replace(ANN.profile, user_name=ANN.profile.user_name.upper())
    await refused(Reason.REASON_PROVISIONED_ALREADY, kept.people.add(dataclasses.replace(BOB, profile=loud)))
    await refused(Reason.REASON_PROVISIONED_ALREADY, kept.people.add(dataclasses.replace(BOB, user_id=ANN.user_id)))
    assert (await kept.people.page(None, skip=0, count=5)).total == 1


async def test_a_change_makes_a_version_and_no_change_makes_none(kept: Kept) -> None:
    await kept.people.add(ANN)
    assert await kept.people.replace(ANN.id, ANN.profile, expected="1", at=LATER) == ANN
    renamed = dataclasses.replace(ANN.profile, display_name="Anna")
    changed = await kept.people.replace(ANN.id, renamed, expected="1", at=LATER)
    assert changed is not None
    assert (changed.version, changed.updated_at, changed.created_at) == (2, LATER, NOW)
    stale = kept.people.replace(ANN.id, ANN.profile, expected="1", at=LATER)
    await refused(Reason.REASON_PROVISIONED_CONCURRENTLY, stale)
    await refused(Reason.REASON_PROVISIONED_CONCURRENTLY, kept.people.remove(ANN.id, expected="1", at=LATER))
    assert await kept.people.replace(BOB.id, BOB.profile, expected="", at=LATER) is None
    user = await kept.users.find(UserId("oidc~ann"))
    assert user is not None
    assert user.profile.name == "Anna"


async def test_a_removed_person_is_a_deleted_user(kept: Kept) -> None:
    await kept.people.add(ANN)
    assert await kept.people.remove(ANN.id, expected="", at=LATER)
    assert not await kept.people.remove(ANN.id, expected="", at=LATER)
    user = await kept.users.find(UserId("oidc~ann"))
    assert user is not None
    assert user.deleted


async def test_members_of_a_group_are_people_before_groups_each_by_id(kept: Kept) -> None:
    await kept.people.add(ANN)
    await kept.people.add(BOB)
    assert await kept.groups.add(BUILDERS, frozenset())
    assert await kept.groups.add(ENGINEERS, frozenset(map(str, (BOB.id, BUILDERS.role_id, ANN.id))))
    (members,) = await kept.groups.members([ENGINEERS], most=100)
    assert members == [
        GroupMember(ANN.id, MemberKind.USER, "ann@example.org"),
        GroupMember(BOB.id, MemberKind.USER, "bob@example.org"),
        GroupMember(BUILDERS.role_id, MemberKind.ROLE, "builders"),
    ]
    assert await kept.groups.page("p", None, skip=0, count=1) == ([ENGINEERS], 2)
    assert await kept.groups.page("q", None, skip=0, count=1) == ([], 0)


async def test_changes_of_members_are_made_in_their_order_all_or_none(kept: Kept) -> None:
    await kept.people.add(ANN)
    await kept.people.add(BOB)
    assert await kept.groups.add(ENGINEERS, frozenset({str(ANN.id)}))
    both = (
        MembersChange(clear=True),
        MembersChange(add=frozenset({str(ANN.id), str(BOB.id)})),
        MembersChange(remove=frozenset({str(ANN.id), "nobody"})),
    )
    before = await kept.groups.change(ENGINEERS.role_id, GroupChange(members=both), expected="", at=LATER)
    assert await kept.members(ENGINEERS) == [BOB.id]
    half = (MembersChange(clear=True, add=frozenset({str(ANN.id), str(role_id(99))})),)
    change = kept.groups.change(ENGINEERS.role_id, GroupChange("new", None, half), expected="", at=LATER)
    await refused(Reason.REASON_PROVISIONED_MEMBER_UNKNOWN, change)
    assert await kept.roles.find(ENGINEERS.role_id) == before
    assert await kept.members(ENGINEERS) == [BOB.id]


async def test_each_change_of_a_group_makes_a_version_also_when_the_clock_stands(kept: Kept) -> None:
    await kept.people.add(ANN)
    assert await kept.groups.add(ENGINEERS, frozenset())
    first = await kept.put(ENGINEERS, str(ANN.id))
    second = await kept.put(ENGINEERS, str(ANN.id))
    assert len({version_of(each) for each in (ENGINEERS, first, second)}) == 3
    stale = kept.groups.change(ENGINEERS.role_id, GroupChange("new"), expected=version_of(first), at=LATER)
    await refused(Reason.REASON_PROVISIONED_CONCURRENTLY, stale)
    ident = RoleIdent("scim", "g-1")
    third = await kept.groups.change(
        ENGINEERS.role_id, GroupChange("new", ident), expected=version_of(second), at=LATER
    )
    assert (third.name, third.ident) == ("new", ident)


async def test_a_person_is_in_the_groups_that_name_it_and_in_those_around_them_of_one_project(kept: Kept) -> None:
    await kept.people.add(ANN)
    await kept.people.add(BOB)
    await kept.groups.add(BUILDERS, frozenset({str(ANN.id)}))
    await kept.groups.add(ENGINEERS, frozenset({str(BUILDERS.role_id), str(BOB.id)}))
    theirs = a_group(13, "theirs")
    await kept.groups.add(dataclasses.replace(theirs, project_id="q"), frozenset({str(ANN.id)}))
    people = [BOB.user_id, UserId("oidc~nobody"), ANN.user_id]
    of_bob, of_nobody, of_ann = await kept.groups.groups_of(people, "p", most=9)
    assert of_bob == (Membership(ENGINEERS.role_id, "engineers", direct=True),)
    assert of_nobody == ()
    assert of_ann == (
        Membership(ENGINEERS.role_id, "engineers", direct=False),
        Membership(BUILDERS.role_id, "builders", direct=True),
    )
    await kept.put(ENGINEERS, str(ANN.id))
    idle = dataclasses.replace(ANN.profile, active=False)
    await kept.people.replace(ANN.id, idle, expected="", at=LATER)
    ((first, second),) = await kept.groups.groups_of([ANN.user_id], "p", most=9)
    assert (first.direct, second.direct) == (True, True)
    ((other,),) = await kept.groups.groups_of([ANN.user_id], "q", most=9)
    assert other.display == "theirs"


async def test_roles_that_people_made_and_groups_of_other_projects_are_no_members(kept: Kept) -> None:
    own, theirs = a_role(21, "own"), dataclasses.replace(a_group(22, "theirs"), project_id="q")
    assert await kept.roles.add(own, owner=None, record=None)
    assert await kept.groups.add(theirs, frozenset())
    assert await kept.groups.add(ENGINEERS, frozenset())
    for stranger in (own, theirs):
        await refused(Reason.REASON_PROVISIONED_MEMBER_UNKNOWN, kept.put(ENGINEERS, str(stranger.role_id)))
    assert not await kept.groups.add(dataclasses.replace(BUILDERS, project_id="none"), frozenset())


async def test_who_is_not_active_stays_in_its_groups_and_is_back_with_its_version(kept: Kept) -> None:
    await kept.people.add(ANN)
    assert await kept.groups.add(ENGINEERS, frozenset({str(ANN.id)}))
    idle = dataclasses.replace(ANN.profile, active=False)
    await kept.people.replace(ANN.id, idle, expected="", at=LATER)
    assert await kept.members(ENGINEERS) == [ANN.id]
    change = GroupChange(members=(MembersChange(remove=frozenset({str(ANN.id)})),))
    await kept.groups.change(ENGINEERS.role_id, change, expected="", at=LATER)
    assert await kept.members(ENGINEERS) == []
    await kept.put(ENGINEERS, str(ANN.id))
    await kept.people.replace(ANN.id, ANN.profile, expected="", at=LATER)
    assert await kept.members(ENGINEERS) == [ANN.id]
