"""Users and roles that are kept in memory, and what every test of them begins with."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from uuid import UUID

from lakeward_authz.application.members import Member, MemberKind, MemberUser
from lakeward_authz.application.role_store import RoleFilter
from lakeward_authz.application.user_directory import Saved
from lakeward_authz.application.users import User
from lakeward_authz.domain.permissions.objects import Subject, role_subject, user_subject
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.domain.roles import Role, RoleIdent, name_key, no_such_role
from lakeward_authz.domain.search import MOST_FOUND, folded, trigrams
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.idempotency import KeyPlace, Record, Remembered

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)


class Keys:
    """The `IdempotencyStore` in memory."""

    def __init__(self) -> None:
        self.rows: dict[KeyPlace, tuple[Remembered, datetime]] = {}

    async def find(self, place: KeyPlace, *, now: datetime) -> Remembered | None:
        found = self.rows.get(place)
        return found[0] if found is not None and found[1] > now else None

    async def keep_refusal(self, place: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        self.rows.setdefault(place, (remembered, until))

    def keep(self, record: Record | None) -> None:
        """What a change keeps.

        Raises:
            Refusal: REQUEST_IN_PROGRESS.
        """
        if record is None:
            return
        if record.place in self.rows:
            shown = str(record.place.key)
            raise Refusal(Reason.REASON_REQUEST_IN_PROGRESS, f"{shown} came first", key=shown)
        self.rows[record.place] = (record.remembered, record.until)


class Directory:
    """The `UserDirectory`, the `RoleStore` and the `MemberStore` in memory.

    Args:
        projects: those that there are.
        most_nested: the longest chain of roles within roles; None: any.
    """

    def __init__(self, *, projects: Collection[str] = ("p",), most_nested: int | None = None) -> None:
        self.projects = set(projects)
        self.users: dict[UserId, User] = {}
        self.roles: dict[UUID, Role] = {}
        self.grants: set[tuple[Subject, str, UUID]] = set()
        self.keys = Keys()
        self._most_nested = most_nested

    # users

    async def find_user(self, user_id: UserId) -> User | None:
        return self.users.get(user_id)

    def _live(self) -> list[User]:
        return sorted((user for user in self.users.values() if not user.deleted), key=lambda user: user.user_id)

    async def page_of_users(self, *, name: str | None, after: str, limit: int) -> Sequence[User]:
        found = [
            user
            for user in self._live()
            if user.user_id > after
            and (name is None or (user.profile.name is not None and folded(name) in folded(user.profile.name)))
        ]
        return found[:limit]

    async def search_users(self, text: str) -> Sequence[User]:
        named = [user for user in self._live() if user.profile.name is not None]
        if not text.strip():
            return named[:MOST_FOUND]
        sought = set(trigrams(text))

        def rank(user: User) -> tuple[object, ...]:
            has = set(trigrams(user.profile.name, user.profile.email)) if user.profile.name is not None else set()
            return (user.user_id != text, -len(has & sought), len(has), user.user_id)

        found = [user for user in self._live() if user.user_id == text or rank(user)[1] != 0]
        return sorted(found, key=rank)[:MOST_FOUND]

    async def save(self, user: User, *, update: bool, record: Record | None) -> Saved | None:
        found = self.users.get(user.user_id)
        if found is not None and not found.deleted:
            if not update:
                return None
            user = dataclasses.replace(user, created_at=found.created_at, updated_at=user.created_at)
        self.keys.keep(record)
        self.users[user.user_id] = user
        return Saved(user, created=found is None or found.deleted)

    async def replace(self, user_id: UserId, profile: Profile, *, updated_with: str, at: datetime) -> User | None:
        found = self.users.get(user_id)
        if found is None or found.deleted:
            return None
        self.users[user_id] = dataclasses.replace(found, profile=profile, updated_with=updated_with, updated_at=at)
        return self.users[user_id]

    async def delete(self, user_id: UserId, *, at: datetime, record: Record | None) -> bool:
        found = self.users.get(user_id)
        if found is None or found.deleted:
            return False
        self.keys.keep(record)
        gone = Profile("Deleted User", None, found.profile.kind)
        self.users[user_id] = dataclasses.replace(found, profile=gone, updated_at=at, deleted=True)
        self.grants = {grant for grant in self.grants if grant[0] != user_subject(user_id)}
        return True

    # roles

    async def find(self, role_id: UUID) -> Role | None:
        return self.roles.get(role_id)

    def _of(self, project_id: str) -> list[Role]:
        found = (role for role in self.roles.values() if role.project_id == project_id)
        return sorted(found, key=lambda role: role.role_id)

    async def page(self, project_id: str, wanted: RoleFilter, *, after: str, limit: int) -> Sequence[Role]:
        found = [
            role
            for role in self._of(project_id)
            if str(role.role_id) > after
            and (not wanted.role_ids or role.role_id in wanted.role_ids)
            and (not wanted.provider_ids or role.ident.provider_id in wanted.provider_ids)
            and (not wanted.source_ids or role.ident.source_id in wanted.source_ids)
        ]
        return found[:limit]

    async def search(self, project_id: str, text: str) -> Sequence[Role]:
        if not text.strip():
            return self._of(project_id)[:MOST_FOUND]
        sought = set(trigrams(text))

        def rank(role: Role) -> tuple[bool, bool, int, int, UUID]:
            has = set(trigrams(role.name))
            by_id, by_source = str(role.role_id) != text.lower(), role.ident.source_id != text
            return (by_id, by_source, -len(has & sought), len(has), role.role_id)

        found = [role for role in self._of(project_id) if not all((rank(role)[0], rank(role)[1], rank(role)[2] == 0))]
        return sorted(found, key=rank)[:MOST_FOUND]

    def _check_taken(self, role: Role) -> None:
        for other in self._of(role.project_id):
            if other.role_id == role.role_id:
                continue
            if name_key(other.name) == name_key(role.name):
                raise Refusal(Reason.REASON_ROLE_EXISTS, f"{role.name} is taken", name=role.name)
            if other.ident == role.ident:
                raise Refusal(Reason.REASON_ROLE_IDENT_TAKEN, f"{role.ident} is taken", ident=str(role.ident))

    async def add(self, role: Role, *, owner: Subject | None, record: Record | None) -> bool:
        if role.project_id not in self.projects:
            return False
        self._check_taken(role)
        self.keys.keep(record)
        self.roles[role.role_id] = role
        if owner is not None:
            self.grants.add((owner, "ownership", role.role_id))
        return True

    async def describe(self, role_id: UUID, *, name: str, description: str | None, at: datetime) -> Role | None:
        found = self.roles.get(role_id)
        return found and self._changed(dataclasses.replace(found, name=name, description=description, updated_at=at))

    async def bind(self, role_id: UUID, ident: RoleIdent, *, at: datetime) -> Role | None:
        found = self.roles.get(role_id)
        return found and self._changed(dataclasses.replace(found, ident=ident, updated_at=at))

    def _changed(self, role: Role) -> Role:
        self._check_taken(role)
        self.roles[role.role_id] = role
        return role

    async def remove(self, role: Role, *, record: Record | None) -> bool:
        if role.role_id not in self.roles:
            return False
        self.keys.keep(record)
        del self.roles[role.role_id]
        gone = role_subject(role.role_id)
        self.grants = {grant for grant in self.grants if grant[0] != gone and grant[2] != role.role_id}
        return True

    # members

    def holders(self, role_id: UUID, *relations: str) -> set[Subject]:
        """Who was given one of some relations on a role."""
        return {subject for subject, relation, on in self.grants if on == role_id and relation in relations}

    def inside(self, role_id: UUID, *relations: str) -> set[Subject]:
        """All who are in a role, by any number of steps."""
        found, fresh = set[Subject](), self.holders(role_id, *relations)
        while fresh:
            found |= fresh
            roles = {UUID(subject.partition(":")[2]) for subject in fresh if subject.startswith("role:")}
            fresh = {holder for role in roles for holder in self.holders(role, *relations)} - found
        return found

    def depth(self, role_id: UUID) -> int:
        """The longest chain of roles in a role."""
        inner = [UUID(s.partition(":")[2]) for s in self.holders(role_id, "assignee", "ownership") if s[0] == "r"]
        return max((1 + self.depth(role) for role in inner), default=0)

    async def add_members(self, role: Role, members: Sequence[Subject]) -> bool:
        for member in members:
            kind, _, name = member.partition(":")
            user = self.users.get(UserId(name))
            if kind == "user" and (user is None or user.deleted):
                raise Refusal(Reason.REASON_ROLE_MEMBER_UNKNOWN, f"{name} is unknown", user=name)
            if kind == "role" and (
                UUID(name) not in self.roles or self.roles[UUID(name)].project_id != role.project_id
            ):
                raise no_such_role(UUID(name))
        if role.role_id not in self.roles:
            return False
        before, own = set(self.grants), role_subject(role.role_id)
        for member in sorted(members):
            within = self.inside(UUID(member[5:]), "assignee", "ownership") if member[0] == "r" else set()
            if member == own or own in within:
                self.grants = before
                raise Refusal(
                    Reason.REASON_ROLE_MEMBERSHIP_CYCLE, f"{member} is round", role=own[5:], member=member[5:]
                )
            self.grants.add((member, "assignee", role.role_id))
        deepest = max(map(self.depth, self.roles))
        if self._most_nested is not None and deepest > self._most_nested:
            self.grants, limit = before, str(self._most_nested)
            raise Refusal(
                Reason.REASON_ROLE_NESTED_TOO_DEEP, "too deep", role=own[5:], member=members[0][5:], limit=limit
            )
        return True

    async def remove_member(self, role: Role, member: Subject) -> bool:
        self.grants.discard((member, "assignee", role.role_id))
        return role.role_id in self.roles

    async def members(
        self, role: Role, *, kind: MemberKind | None, transitive: bool, after: str, limit: int
    ) -> Sequence[Member]:
        found = self.inside(role.role_id, "assignee") if transitive else self.holders(role.role_id, "assignee")
        wanted = sorted(each for each in found if each > after and (kind is None or each.startswith(kind.value)))
        return [self._member(subject) for subject in wanted[:limit]]

    def _member(self, subject: Subject) -> Member:
        kind, _, name = subject.partition(":")
        if kind == "role":
            return self.roles[UUID(name)]
        user = self.users.get(UserId(name))
        return MemberUser(UserId(name), None if user is None or user.deleted else user.profile)

    async def roles_of(
        self, member: Subject, project_id: str, *, transitive: bool, after: str, limit: int
    ) -> Sequence[Role]:
        found = [
            role
            for role in self._of(project_id)
            if str(role.role_id) > after
            and member
            in (self.inside(role.role_id, "assignee") if transitive else self.holders(role.role_id, "assignee"))
        ]
        return found[:limit]


@dataclasses.dataclass(frozen=True)
class AsUsers:
    """A directory as the `UserDirectory`."""

    directory: Directory

    async def find(self, user_id: UserId) -> User | None:
        return await self.directory.find_user(user_id)

    async def page(self, *, name: str | None, after: str, limit: int) -> Sequence[User]:
        return await self.directory.page_of_users(name=name, after=after, limit=limit)

    async def search(self, text: str) -> Sequence[User]:
        return await self.directory.search_users(text)

    async def save(self, user: User, *, update: bool, record: Record | None) -> Saved | None:
        return await self.directory.save(user, update=update, record=record)

    async def replace(self, user_id: UserId, profile: Profile, *, updated_with: str, at: datetime) -> User | None:
        return await self.directory.replace(user_id, profile, updated_with=updated_with, at=at)

    async def delete(self, user_id: UserId, *, at: datetime, record: Record | None) -> bool:
        return await self.directory.delete(user_id, at=at, record=record)


@dataclasses.dataclass(frozen=True)
class AsMembers:
    """A directory as the `MemberStore`."""

    directory: Directory

    async def add(self, role: Role, members: Sequence[Subject]) -> bool:
        return await self.directory.add_members(role, members)

    async def remove(self, role: Role, member: Subject) -> bool:
        return await self.directory.remove_member(role, member)

    async def members(
        self, role: Role, *, kind: MemberKind | None, transitive: bool, after: str, limit: int
    ) -> Sequence[Member]:
        return await self.directory.members(role, kind=kind, transitive=transitive, after=after, limit=limit)

    async def roles_of(
        self, member: Subject, project_id: str, *, transitive: bool, after: str, limit: int
    ) -> Sequence[Role]:
        return await self.directory.roles_of(member, project_id, transitive=transitive, after=after, limit=limit)


def a_user(name: str, *, email: str | None = None, at: datetime = NOW) -> User:
    """The user "oidc~<name>", named so."""
    return User(UserId(f"oidc~{name}"), Profile(name, email, UserKind.HUMAN), "create-endpoint", at)


def role_id(number: int) -> UUID:
    """Larger for larger numbers."""
    return UUID(int=(0x0198F2C0 << 96) | (7 << 76) | (2 << 62) | number)


def a_role(number: int, name: str, *, project: str = "p", ident: RoleIdent | None = None) -> Role:
    """A role of a project; native, where no `ident` is given."""
    own = role_id(number)
    return Role(own, project, name, None, ident or RoleIdent("lakekeeper", str(own)), NOW)
