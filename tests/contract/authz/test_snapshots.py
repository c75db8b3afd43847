"""Who reads a project's or the server's stream of authz from the beginning has its state, whatever changes meanwhile."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from uuid import UUID

import pytest

from lakeward.events import Event
from lakeward_authz.adapters.postgres.members import PostgresMembers
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.provisioned_users import PostgresProvisionedUsers
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.adapters.postgres.snapshots import AuthzTold
from lakeward_authz.adapters.postgres.user_directory import PostgresUserDirectory
from lakeward_authz.application.permissions import Grant, Made
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE
from lakeward_authz.domain.permissions.objects import SERVER, ObjectKey, Subject, role_subject, user_subject
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.history import HistoryReads, Part
from lakeward_servicekit.events.positions import Beginning, LogPlace
from lakeward_servicekit.events.postgres_snapshots import forget_old
from lakeward_servicekit.system import SystemIds
from tests.support.authz_stores import Stores
from tests.support.directory import NOW, a_role, a_user, role_id
from tests.support.mirrored_access import AccessMirror, stored_access
from tests.support.provisioning import a_person
from tests.support.replaying import NO_EVENTS, caught_up, consumed, now, reads_of, sequencing, swept

pytestmark = pytest.mark.integration

WAREHOUSE: Final = UUID(int=1)
PROJECT: Final = ObjectKey("project", "p")
NAMESPACE: Final = ObjectKey("namespace", "p", WAREHOUSE, UUID(int=2))
TABLE: Final = ObjectKey("table", "p", WAREHOUSE, UUID(int=3))
TREE: Final = (
    Made(PROJECT),
    Made(ObjectKey("warehouse", "p", WAREHOUSE)),
    Made(NAMESPACE),
    Made(TABLE, parent_id=NAMESPACE.id, public_id=UUID(int=4)),
)
STREAMS: Final = {"authz-p": "p", "authz": ""}
PEOPLE: Final = [a_person(900 + number, f"person-{number}") for number in range(3)]
USERS: Final = [f"oidc~user-{number}" for number in range(4)] + [each.user_id for each in PEOPLE]
GIVEN_AT_ONCE: Final = 200


@dataclasses.dataclass(frozen=True)
class House:
    """Authz's stores, with a table in a project, people and users."""

    stores: Stores
    users: PostgresUserDirectory
    people: PostgresProvisionedUsers
    roles: PostgresRoles
    members: PostgresMembers

    @property
    def reads(self) -> HistoryReads:
        return reads_of(self.stores.pool, AuthzTold(SystemIds()))

    async def give(self, key: ObjectKey, *grants: Grant) -> None:
        await self.stores.grants.change(key, writes=grants, deletes=())


@pytest.fixture
async def house(stores: Stores) -> House:
    outbox, pool = Outbox(), stores.pool
    await pool.execute(NO_EVENTS)
    await stores.tree.apply("a test", list(enumerate(TREE, 1)))
    made = House(
        stores,
        PostgresUserDirectory(pool, outbox),
        PostgresProvisionedUsers(pool, outbox),
        PostgresRoles(pool, stores.tree),
        PostgresMembers(pool, stores.grants),
    )
    for user_id in USERS[:4]:
        await made.users.save(a_user(user_id.removeprefix("oidc~")), update=True, record=None)
    for person in PEOPLE:
        await made.people.add(person)
    return made


class _Changes:
    """Changes users, roles and grants at random; what does not fit the moment is refused, and that is fine."""

    def __init__(self, house: House, seed: int) -> None:
        self._house, self._random = house, random.Random(seed)
        self._own = 1000 * (seed + 1)
        self.done = 0

    async def one(self) -> None:
        steps: list[Callable[[], Awaitable[object]]] = [
            self._give,
            self._give,
            self._give,
            self._take,
            self._take,
            self._make_role,
            self._describe_role,
            self._join,
            self._join,
            self._leave,
            self._drop_role,
            self._update_user,
            self._come_and_go,
            self._switch_person,
            self._manage,
        ]
        try:
            await self._random.choice(steps)()
        except Refusal as refused:
            assert refused.reason != Reason.REASON_INTERNAL, refused  # noqa: PT017 - the others are races
        else:
            self.done += 1

    async def _roles(self) -> Sequence[UUID]:
        found = await self._house.stores.pool.fetch("select role_id from roles order by random() limit 2")
        return [row["role_id"] for row in found]

    async def _subject(self) -> Subject:
        roles = await self._roles()
        if roles and self._random.random() < 0.3:
            return role_subject(roles[0])
        return user_subject(self._random.choice(USERS))

    async def _grant(self) -> tuple[ObjectKey, Grant]:
        key = self._random.choice((SERVER, PROJECT, NAMESPACE, TABLE))
        return key, Grant(await self._subject(), self._random.choice(("select", "describe")))

    async def _give(self) -> None:
        key, grant = await self._grant()
        await self._house.give(key, grant)

    async def _take(self) -> None:
        key, grant = await self._grant()
        other = Grant(grant.subject, "modify")
        await self._house.stores.grants.change(key, writes=[other], deletes=[grant])

    async def _make_role(self) -> None:
        self._own += 1
        owner = None if self._random.random() < 0.3 else user_subject(self._random.choice(USERS[:4]))
        await self._house.roles.add(a_role(self._own, f"role {self._own}"), owner=owner, record=None)

    async def _describe_role(self) -> None:
        for each in (await self._roles())[:1]:
            self._own += 1
            await self._house.roles.describe(each, name=f"role {self._own}", description="of many", at=NOW)

    async def _join(self) -> None:
        for each in (await self._roles())[:1]:
            role = await self._house.roles.find(each)
            if role is not None:
                await self._house.members.add(role, [await self._subject(), user_subject(self._random.choice(USERS))])

    async def _leave(self) -> None:
        for each in (await self._roles())[:1]:
            role = await self._house.roles.find(each)
            if role is not None:
                await self._house.members.remove(role, user_subject(self._random.choice(USERS)))

    async def _drop_role(self) -> None:
        for each in (await self._roles())[:1]:
            role = await self._house.roles.find(each)
            if role is not None:
                await self._house.roles.remove(role, record=None)

    async def _update_user(self) -> None:
        user, self._own = a_user(self._random.choice(USERS[:4]).removeprefix("oidc~")), self._own + 1
        profile = Profile(f"called {self._own}", None, UserKind.HUMAN)
        await self._house.users.replace(user.user_id, profile, updated_with="update-endpoint", at=NOW)

    async def _come_and_go(self) -> None:
        """A user of this one's own: what is given to a user who is being deleted may come too late to go."""
        user, subject = a_user(f"guest-{self._own // 1000}"), user_subject(f"oidc~guest-{self._own // 1000}")
        await self._house.users.save(user, update=True, record=None)
        for key in (SERVER, TABLE):
            await self._house.give(key, Grant(subject, "select"))
        if self._random.random() < 0.7:
            await self._house.users.delete(user.user_id, at=NOW, record=None)

    async def _switch_person(self) -> None:
        person = self._random.choice(PEOPLE)
        found = await self._house.people.find(person.id)
        assert found is not None
        profile = dataclasses.replace(found.profile, active=not found.profile.active)
        await self._house.people.replace(person.id, profile, expected="", at=NOW)

    async def _manage(self) -> None:
        await self._house.stores.tree.manage(NAMESPACE, managed=self._random.random() < 0.5)


@pytest.mark.parametrize("seed", range(2))
async def test_a_consumer_from_the_beginning_has_what_the_rows_say_while_everything_changes(
    house: House, seed: int
) -> None:
    pool, reads, over = house.stores.pool, house.reads, asyncio.Event()
    racing = [_Changes(house, seed * 10 + each) for each in range(3)]
    for one in racing:
        for _ in range(10):
            await one.one()
    await swept(pool)  # what was first is nowhere but in the rows
    consumers: dict[str, list[asyncio.Task[AccessMirror]]] = {stream: [] for stream in STREAMS}

    async def change(one: _Changes) -> None:
        for turn in range(45):
            await one.one()
            if turn % 15 == 0:  # each begins at a moment of its own, among changes under way
                for stream, its in consumers.items():
                    task = consumed(reads, stream, AccessMirror(), over, limit=len(its) * 15 + 5)
                    its.append(asyncio.create_task(task))

    async with sequencing(pool):
        await asyncio.gather(*map(change, racing))
        await caught_up(pool)
        over.set()
        mirrors = {stream: await asyncio.gather(*its) for stream, its in consumers.items()}
    assert sum(one.done for one in racing) > 100
    for stream, project_id in STREAMS.items():
        state = await stored_access(pool, project_id)
        assert state["grants"]
        for mirror in mirrors[stream]:
            assert mirror.complete
            assert mirror.state == state


async def test_what_is_forgotten_is_refused_by_its_number_and_the_beginning_is_not(house: House) -> None:
    await house.give(SERVER, Grant(user_subject(USERS[0]), "select"))
    await swept(house.stores.pool)
    for stream, project_id in STREAMS.items():
        if project_id:
            continue
        with pytest.raises(Refusal) as refused:
            await house.reads(stream, Part(LogPlace(0)))
        assert refused.value.reason == Reason.REASON_EVENTS_FORGOTTEN
        assert "beginning" in refused.value.message
    for stream, project_id in STREAMS.items():
        mirror = await now(house.reads, stream, AccessMirror(), limit=2)
        assert mirror.state == await stored_access(house.stores.pool, project_id)


class _Counting(AccessMirror):
    """Counts how often the members of a role are told of."""

    told = 0

    def apply(self, event: Event) -> None:
        self.told += event.verb == "snapshot-members"
        super().apply(event)


async def test_a_role_of_very_many_comes_in_several_events(house: House) -> None:
    role = a_role(1, "everybody")
    await house.roles.add(role, owner=None, record=None)
    members = [Grant(user_subject(f"oidc~{number:03}"), ASSIGNEE) for number in range(2 * GIVEN_AT_ONCE + 50)]
    await house.give(ObjectKey("role", "p", id=role.role_id), *members)
    mirror = await now(house.reads, "authz-p", _Counting())
    assert mirror.told == 3
    assert mirror.state == await stored_access(house.stores.pool, "p")


async def test_a_project_that_is_not_there_has_nothing(house: House) -> None:
    mirror = await now(house.reads, "authz-nobodys", AccessMirror())
    assert (mirror.complete, mirror.begun, mirror.state) == (True, 2, AccessMirror().state)


async def test_nobody_made_what_is_there(house: House) -> None:
    page = await house.reads("authz", Part(LogPlace(0)))
    assert page.position == LogPlace(0)
    await house.roles.add(a_role(1, "readers"), owner=user_subject(USERS[0]), record=None)

    class _Of(AccessMirror):
        def apply(self, event: Event) -> None:
            assert not event.snapshot or (event.principal, event.role) == (None, None)
            super().apply(event)

    mirror = await now(house.reads, "authz-p", _Of())
    place = ("role", "p", None, str(role_id(1)))
    assert mirror.grants == {(place, f"user:{USERS[0]}", "ownership")}


async def test_a_snapshot_is_forgotten_after_a_day_with_its_events(house: House) -> None:
    pool, reads = house.stores.pool, house.reads
    old, kept = [await reads(stream, Part(Beginning(), 1)) for stream in STREAMS]
    await pool.execute("update event_snapshot set made_at = made_at - interval '25 hours' where stream = 'authz-p'")
    assert [await forget_old(pool) for _ in range(2)] == [1, 0]
    with pytest.raises(Refusal) as refused:
        await reads("authz-p", Part(old.position))
    assert refused.value.reason == Reason.REASON_EVENTS_FORGOTTEN
    assert (await reads("authz", Part(kept.position))).events
    left = "select count(distinct snapshot_id) from event_snapshot_entry"
    assert await pool.fetchval(left) == 1
