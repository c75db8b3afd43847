"""People and groups that identity providers send, kept in memory beside a directory."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from lakeward_authz.application.members import MemberKind
from lakeward_authz.application.provisioned_groups import GroupChange, GroupMember, version_of
from lakeward_authz.application.provisioned_users import Found, id_of
from lakeward_authz.application.users import User
from lakeward_authz.domain.permissions.objects import Subject, role_subject, user_subject
from lakeward_authz.domain.provisioning import (
    Filter,
    Membership,
    ProvisionedProfile,
    ProvisionedUser,
    changed_meanwhile,
    member_unknown,
    provisioned_already,
)
from lakeward_authz.domain.roles import Role, RoleIdent, no_such_role
from lakeward_authz.domain.search import folded
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.settings.provisioning import SCIM
from tests.support.directory import NOW, Directory, a_role, role_id


class People:
    """The `ProvisionedUserStore` in memory; filters are the database's.

    Attributes:
        aside: grants of who is not active.
    """

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.people: dict[UUID, ProvisionedUser] = {}
        self.aside: set[tuple[Subject, str, UUID]] = set()

    async def find(self, wanted: UUID) -> ProvisionedUser | None:
        return self.people.get(wanted)

    async def page(self, wanted: Filter | None, *, skip: int, count: int) -> Found:
        assert wanted is None, "the memory has no filters"
        found = [self.people[each] for each in sorted(self.people)]
        return Found(found[skip : skip + count], len(found))

    def _check_taken(self, user: ProvisionedUser) -> None:
        for other in self.people.values():
            if other.id == user.id:
                continue
            if folded(other.profile.user_name) == folded(user.profile.user_name):
                raise provisioned_already("userName", user.profile.user_name)
            if other.user_id == user.user_id:
                raise provisioned_already("user id", user.user_id)

    async def _keep(self, user: ProvisionedUser, at: datetime) -> None:
        self._check_taken(user)
        self.people[user.id] = user
        visible = User(user.user_id, user.profile.profile(), "role-provider", at)
        await self.directory.save(visible, update=True, record=None)
        subject = user_subject(user.user_id)
        if user.profile.active:
            back = {grant for grant in self.aside if grant[0] == subject}
            self.directory.grants |= back
            self.aside -= back
        else:
            gone = {grant for grant in self.directory.grants if grant[0] == subject}
            self.aside |= gone
            self.directory.grants -= gone

    async def add(self, user: ProvisionedUser) -> None:
        await self._keep(user, user.created_at)

    def _at(self, wanted: UUID, expected: str) -> ProvisionedUser | None:
        found = self.people.get(wanted)
        if found is not None and expected not in {"", str(found.version)}:
            raise changed_meanwhile(wanted, expected)
        return found

    async def replace(
        self, wanted: UUID, profile: ProvisionedProfile, *, expected: str, at: datetime
    ) -> ProvisionedUser | None:
        found = self._at(wanted, expected)
        if found is None or found.profile == profile:
            return found
        changed = dataclasses.replace(found, profile=profile, updated_at=at, version=found.version + 1)
        await self._keep(changed, at)
        return changed

    async def remove(self, wanted: UUID, *, expected: str, at: datetime) -> bool:
        found = self._at(wanted, expected)
        if found is None:
            return False
        del self.people[wanted]
        await self.directory.delete(found.user_id, at=at, record=None)
        subject = user_subject(found.user_id)
        self.aside = {grant for grant in self.aside if grant[0] != subject}
        return True


class Groups:
    """The `ProvisionedGroupStore` in memory."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._directory = people.directory

    def _subjects(self, role: Role) -> set[Subject]:
        every = self._directory.grants | self._people.aside
        return {subject for subject, relation, on in every if on == role.role_id and relation == "assignee"}

    def _named(self, member: str, role: Role) -> Subject | None:
        key = id_of(member)
        if key in self._people.people:
            return user_subject(self._people.people[key].user_id)
        inner = self._directory.roles.get(key) if key is not None else None
        if inner is None or inner.project_id != role.project_id or inner.ident.provider_id != SCIM:
            return None
        return role_subject(inner.role_id)

    async def members(self, roles: Sequence[Role], *, most: int) -> Sequence[Sequence[GroupMember]]:
        del most
        return [self._of(role) for role in roles]

    def _of(self, role: Role) -> Sequence[GroupMember]:
        subjects = self._subjects(role)
        people = [
            GroupMember(each.id, MemberKind.USER, each.profile.user_name)
            for each in self._people.people.values()
            if user_subject(each.user_id) in subjects
        ]
        inner = [
            GroupMember(each.role_id, MemberKind.ROLE, each.name)
            for each in self._directory.roles.values()
            if role_subject(each.role_id) in subjects and each.ident.provider_id == SCIM
        ]
        return [*sorted(people, key=lambda each: each.id), *sorted(inner, key=lambda each: each.id)]

    async def groups_of(
        self, users: Sequence[UserId], project_id: str, *, most: int
    ) -> Sequence[tuple[Membership, ...]]:
        del most
        return [self._groups_of(user, project_id) for user in users]

    def _groups_of(self, user: UserId, project_id: str) -> tuple[Membership, ...]:
        groups = [
            role
            for role in sorted(self._directory.roles.values(), key=lambda each: each.role_id)
            if role.project_id == project_id and role.ident.provider_id == SCIM
        ]
        direct = {role.role_id for role in groups if user_subject(user) in self._subjects(role)}
        inside = set(direct)
        for _ in groups:
            subjects = {role_subject(each) for each in inside}
            inside |= {role.role_id for role in groups if self._subjects(role) & subjects}
        return tuple(
            Membership(role.role_id, role.name, role.role_id in direct) for role in groups if role.role_id in inside
        )

    async def page(
        self, project_id: str, wanted: Filter | None, *, skip: int, count: int
    ) -> tuple[Sequence[Role], int]:
        assert wanted is None, "the memory has no filters"
        found = [
            role
            for role in sorted(self._directory.roles.values(), key=lambda each: each.role_id)
            if role.project_id == project_id and role.ident.provider_id == SCIM
        ]
        return found[skip : skip + count], len(found)

    async def add(self, role: Role, members: frozenset[str]) -> bool:
        if role.project_id in self._directory.projects:
            self._known(members, role)
        if not await self._directory.add(role, owner=None, record=None):
            return False
        await self._put(role, members)
        return True

    def _known(self, members: frozenset[str], role: Role) -> None:
        for member in sorted(members):
            if self._named(member, role) is None:
                raise member_unknown(member)

    async def _put(self, role: Role, members: frozenset[str]) -> None:
        for member in members:
            subject = self._named(member, role)
            assert subject is not None
            idle = any(
                user_subject(each.user_id) == subject and not each.profile.active
                for each in self._people.people.values()
            )
            (self._people.aside if idle else self._directory.grants).add((subject, "assignee", role.role_id))

    async def change(self, role_id: UUID, change: GroupChange, *, expected: str, at: datetime) -> Role:
        found = self._directory.roles.get(role_id)
        if found is None:
            raise no_such_role(role_id)
        if expected not in {"", version_of(found)}:
            raise changed_meanwhile(role_id, expected)
        for each in change.members:
            self._known(each.add, found)
        later = max(at, (found.updated_at or found.created_at) + timedelta(microseconds=1))
        name, ident = change.name or found.name, change.ident or found.ident
        await self._directory.describe(role_id, name=name, description=found.description, at=later)
        changed = await self._directory.bind(role_id, ident, at=later)
        assert changed is not None
        for each in change.members:
            gone = self._subjects(found) if each.clear else set()
            gone |= {
                subject for member in each.remove for subject in [self._named(member, found)] if subject is not None
            }
            for subject in gone:
                self._directory.grants.discard((subject, "assignee", role_id))
                self._people.aside.discard((subject, "assignee", role_id))
            await self._put(found, each.add)
        return changed


def a_person(number: int, name: str, *, active: bool = True) -> ProvisionedUser:
    """Who is the user "oidc~<name>"."""
    profile = ProvisionedProfile(f"{name}@example.org", name, name.title(), f"{name}@example.org", active, b"{}")
    return ProvisionedUser(role_id(number), UserId(f"oidc~{name}"), profile, NOW, NOW)


def a_group(number: int, name: str) -> Role:
    """A group that the provider calls nothing."""
    return a_role(number, name, ident=RoleIdent(SCIM, str(role_id(number))))
