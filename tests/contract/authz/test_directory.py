"""What every store of users, roles and members promises."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.members import PostgresMembers
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.adapters.postgres.user_directory import PostgresUserDirectory
from lakeward_authz.application.members import Member, MemberKind, MemberStore, MemberUser
from lakeward_authz.application.permissions import Gone, Grant, Made
from lakeward_authz.application.role_store import RoleFilter, RoleStore
from lakeward_authz.application.user_directory import UserDirectory
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject, role_subject, user_subject
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.domain.roles import Role, RoleIdent
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.idempotency import KeyPlace, Record, Remembered
from tests.support.authz_stores import Stores, opened
from tests.support.directory import NOW, AsMembers, AsUsers, Directory, a_role, a_user, role_id

LATER = NOW + timedelta(hours=1)
ANY = RoleFilter()
FED = "insert into openfga_feeds (store_id, wanted_at, complete) values ('a store', now(), true)"
ANN, BOB, CARL = a_user("ann", email="ann@example.org"), a_user("bob"), a_user("carl")


@dataclasses.dataclass
class Kept:
    """The stores, and the rows below them where they are real."""

    users: UserDirectory
    roles: RoleStore
    members: MemberStore
    stores: Stores | None = None

    async def a_role(self, number: int, name: str, *, project: str = "p", owner: Subject | None = None) -> Role:
        role = a_role(number, name, project=project)
        assert await self.roles.add(role, owner=owner, record=None)
        return role

    async def a_user(self, name: str) -> Subject:
        saved = await self.users.save(a_user(name), update=True, record=None)
        assert saved is not None
        return user_subject(saved.user.user_id)


@pytest.fixture(params=["fake", pytest.param("postgres", marks=pytest.mark.integration)])
def database(request: pytest.FixtureRequest) -> str | None:
    if request.param == "fake":
        return None
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
async def kept(database: str | None) -> AsyncIterator[Kept]:
    if database is None:
        directory = Directory(projects=("p", "q"))
        yield Kept(AsUsers(directory), directory, AsMembers(directory))
        return
    async with opened(database) as stores:
        await _projects(stores)
        outbox = Outbox()
        yield Kept(
            PostgresUserDirectory(stores.pool, outbox),
            PostgresRoles(stores.pool, stores.tree),
            PostgresMembers(stores.pool, stores.grants),
            stores,
        )


async def _projects(stores: Stores) -> None:
    made = [(number, Made(ObjectKey("project", name))) for number, name in enumerate(("p", "q"), 1)]
    assert await stores.tree.apply("projects", made) == len(made)


async def reason_of(call: object) -> int:
    with pytest.raises(Refusal) as refused:
        await call  # type: ignore[misc]
    return refused.value.reason


def record(number: int = 1) -> Record:
    place = KeyPlace("server", "oidc~ann", UUID(int=number))
    return Record(place, Remembered(b"print", b"{}"), datetime.max.replace(tzinfo=UTC))


# users


async def test_a_user_is_saved_once_and_changed_where_that_is_meant(kept: Kept) -> None:
    saved = await kept.users.save(ANN, update=False, record=None)
    assert saved is not None
    assert (saved.user, saved.created) == (ANN, True)
    assert await kept.users.save(dataclasses.replace(ANN, created_at=LATER), update=False, record=None) is None
    assert await kept.users.find(ANN.user_id) == ANN
    other = dataclasses.replace(ANN, profile=Profile("Anna", None, UserKind.APPLICATION), created_at=LATER)
    changed = await kept.users.save(other, update=True, record=None)
    assert changed is not None
    assert not changed.created
    assert changed.user == dataclasses.replace(other, created_at=NOW, updated_at=LATER)
    assert await kept.users.find(ANN.user_id) == changed.user


async def test_of_users_saved_at_once_one_is_created(kept: Kept) -> None:
    saved = await asyncio.gather(*(kept.users.save(ANN, update=False, record=None) for _ in range(6)))
    assert [each.created for each in saved if each is not None] == [True]


async def test_a_deleted_user_is_gone_from_everywhere_but_its_row_and_comes_back(kept: Kept) -> None:
    await kept.users.save(ANN, update=False, record=None)
    assert await kept.users.delete(ANN.user_id, at=LATER, record=None)
    assert not await kept.users.delete(ANN.user_id, at=LATER, record=None)
    gone = await kept.users.find(ANN.user_id)
    assert gone is not None
    assert (gone.deleted, gone.profile.name, gone.profile.email) == (True, "Deleted User", None)
    assert await kept.users.replace(ANN.user_id, ANN.profile, updated_with="update-endpoint", at=LATER) is None
    assert await kept.users.page(name=None, after="", limit=10) == []
    for text in (ANN.user_id, "ann", "ann@example.org", "deleted", ""):
        assert await kept.users.search(text) == [], text
    back = await kept.users.save(dataclasses.replace(ANN, created_at=LATER), update=False, record=None)
    assert back is not None
    assert (back.created, back.user) == (True, dataclasses.replace(ANN, created_at=LATER))
    assert await kept.users.search("ann") == [back.user]


async def test_with_a_user_go_its_memberships_and_everything_else_that_it_was_given(kept: Kept) -> None:
    ann, bob = await kept.a_user("ann"), await kept.a_user("bob")
    role = await kept.a_role(1, "engineers", owner=ann)
    theirs = await kept.a_role(2, "theirs", project="q")
    assert await kept.members.add(role, [ann, bob])
    assert await kept.members.add(theirs, [ann])
    assert await kept.users.delete(UserId("oidc~ann"), at=LATER, record=None)
    found = await kept.members.members(role, kind=None, transitive=False, after="", limit=10)
    assert [member.user_id for member in found if isinstance(member, MemberUser)] == ["oidc~bob"]
    await kept.users.save(dataclasses.replace(ANN, created_at=LATER), update=False, record=None)
    for project in ("p", "q"):
        assert await kept.members.roles_of(ann, project, transitive=True, after="", limit=10) == []
    if kept.stores is not None:
        assert await kept.stores.pool.fetchval("select count(*) from grants where subject = $1", ann) == 0


@pytest.mark.integration
async def test_with_a_user_openfga_is_told_and_the_state_of_its_projects_grants_moves(postgres_url: str) -> None:
    async with opened(postgres_url) as stores:
        await _projects(stores)
        users = PostgresUserDirectory(stores.pool, Outbox())
        await users.save(ANN, update=False, record=None)
        ann = user_subject(ANN.user_id)
        for project in ("p", "q"):
            key = ObjectKey("project", project)
            assert await stores.grants.change(key, writes=[Grant(ann, "describe")], deletes=[])
        await stores.pool.execute(FED)
        before = await stores.pool.fetchval("select sum(revision) from revisions")
        assert await users.delete(ANN.user_id, at=LATER, record=None)
        told = await stores.pool.fetch(
            "select tuple_user, relation, object, wanted from openfga_outbox order by object"
        )
        assert [tuple(row) for row in told] == [
            ("user:oidc~ann", "describe", f"project:lw-{project}", False) for project in ("p", "q")
        ]
        assert await stores.pool.fetchval("select sum(revision) from revisions") > before


async def test_users_are_paged_by_id_and_filtered_by_a_part_of_their_name(kept: Kept) -> None:
    for user in (CARL, ANN, BOB, a_user("stub", at=NOW)):
        await kept.users.save(user, update=False, record=None)
    nameless = dataclasses.replace(a_user("aaa"), profile=Profile(None, None, UserKind.APPLICATION))
    await kept.users.save(nameless, update=False, record=None)
    first = await kept.users.page(name=None, after="", limit=2)
    assert [user.user_id for user in first] == ["oidc~aaa", "oidc~ann"]
    rest = await kept.users.page(name=None, after=first[-1].user_id, limit=10)
    assert [user.user_id for user in rest] == ["oidc~bob", "oidc~carl", "oidc~stub"]
    assert [user.user_id for user in await kept.users.page(name="AR", after="", limit=10)] == ["oidc~carl"]
    assert await kept.users.page(name="%", after="", limit=10) == []


async def test_a_search_finds_the_id_first_and_then_what_is_most_alike(kept: Kept) -> None:
    people = [
        a_user("1", email="marta.weber@example.org"),
        dataclasses.replace(a_user("2"), profile=Profile("Martha Webber", None, UserKind.HUMAN)),
        dataclasses.replace(a_user("3"), profile=Profile("Bob", "bob@example.org", UserKind.HUMAN)),
        dataclasses.replace(a_user("4"), profile=Profile("Ünal Özgür", None, UserKind.HUMAN)),
    ]
    for user in people:
        await kept.users.save(user, update=False, record=None)
    assert (await kept.users.search("martha weber"))[0].user_id == "oidc~2"
    assert (await kept.users.search("mart web"))[0].user_id in {"oidc~1", "oidc~2"}
    assert [user.user_id for user in await kept.users.search("ÖZGÜR")] == ["oidc~4"]
    assert (await kept.users.search("oidc~3"))[0].user_id == "oidc~3"
    assert await kept.users.search("zzzz") == []
    assert (await kept.users.search("'; drop bobs; --%_\\"))[0].user_id == "oidc~3"
    assert len(await kept.users.search("")) == 4


async def test_a_search_finds_ten_at_most(kept: Kept) -> None:
    for number in range(15):
        await kept.users.save(a_user(f"same {number}"), update=False, record=None)
    assert len(await kept.users.search("same")) == 10


# roles


async def test_a_role_comes_back_as_it_was_added_and_then_as_it_was_changed(kept: Kept) -> None:
    role = a_role(1, "Engineers")
    assert await kept.roles.find(role.role_id) is None
    assert await kept.roles.add(role, owner=None, record=None)
    assert await kept.roles.find(role.role_id) == role
    named = await kept.roles.describe(role.role_id, name="Builders", description="they build", at=LATER)
    assert named == dataclasses.replace(role, name="Builders", description="they build", updated_at=LATER)
    bound = await kept.roles.bind(role.role_id, RoleIdent("oidc", "a~b"), at=LATER)
    assert bound == dataclasses.replace(named, ident=RoleIdent("oidc", "a~b"))
    assert await kept.roles.find(role.role_id) == bound
    assert await kept.roles.describe(role_id(9), name="x", description=None, at=LATER) is None
    assert await kept.roles.bind(role_id(9), RoleIdent("oidc", "x"), at=LATER) is None


async def test_there_is_no_role_in_a_project_that_is_not_there(kept: Kept) -> None:
    role = a_role(1, "lost", project="nowhere")
    assert not await kept.roles.add(role, owner=None, record=None)
    assert await kept.roles.find(role.role_id) is None


async def test_names_and_idents_are_a_projects_own_and_names_count_without_case(kept: Kept) -> None:
    await kept.a_role(1, "Straße")
    for name in ("STRASSE", "straße"):
        again = kept.roles.add(a_role(2, name), owner=None, record=None)
        assert await reason_of(again) == Reason.REASON_ROLE_EXISTS
    await kept.a_role(2, "strasse", project="q")
    await kept.a_role(3, "other")
    bound = RoleIdent("oidc", "Group")
    assert await kept.roles.bind(role_id(1), bound, at=LATER) is not None
    assert await reason_of(kept.roles.bind(role_id(3), bound, at=LATER)) == Reason.REASON_ROLE_IDENT_TAKEN
    twin = kept.roles.add(a_role(4, "twin", ident=bound), owner=None, record=None)
    assert await reason_of(twin) == Reason.REASON_ROLE_IDENT_TAKEN
    assert await kept.roles.bind(role_id(2), bound, at=LATER) is not None, "of another project"
    assert await kept.roles.bind(role_id(3), RoleIdent("oidc", "group"), at=LATER) is not None, "of another case"
    renamed = kept.roles.describe(role_id(3), name="STRAßE", description=None, at=LATER)
    assert await reason_of(renamed) == Reason.REASON_ROLE_EXISTS
    assert await kept.roles.describe(role_id(1), name="STRASSE", description=None, at=LATER) is not None, "its own"


async def test_of_roles_of_one_name_made_at_once_one_is_made(kept: Kept) -> None:
    made = await asyncio.gather(
        *(kept.roles.add(a_role(number, "one"), owner=None, record=None) for number in range(6)), return_exceptions=True
    )
    assert sorted(isinstance(each, Refusal) for each in made) == [False] + [True] * 5


async def test_a_projects_roles_are_paged_by_id_and_filtered(kept: Kept) -> None:
    for number in (3, 1, 2):
        await kept.a_role(number, f"r{number}")
    await kept.a_role(4, "theirs", project="q")
    await kept.roles.bind(role_id(2), RoleIdent("oidc", "two"), at=LATER)

    async def names(wanted: RoleFilter = ANY, *, after: str = "", limit: int = 10) -> Sequence[str]:
        return [role.name for role in await kept.roles.page("p", wanted, after=after, limit=limit)]

    assert await names() == ["r1", "r2", "r3"]
    assert await names(limit=2) == ["r1", "r2"]
    assert await names(after=str(role_id(2))) == ["r3"]
    assert await names(RoleFilter(role_ids=(role_id(3), role_id(4)))) == ["r3"]
    assert await names(RoleFilter(provider_ids=("oidc", "ldap"))) == ["r2"]
    assert await names(RoleFilter(provider_ids=("lakekeeper",), source_ids=("two",))) == []
    assert await names(RoleFilter(source_ids=("two", str(role_id(1))))) == ["r1", "r2"]
    assert await names(RoleFilter(source_ids=("two\0",))) == []
    assert await names(RoleFilter(provider_ids=("oidc\0", "\0"))) == []


async def test_a_role_is_found_by_its_id_by_its_source_and_by_what_it_is_called(kept: Kept) -> None:
    for number, name in enumerate(["data engineers", "data scientists", "finance"], 1):
        await kept.a_role(number, name)
    await kept.roles.bind(role_id(3), RoleIdent("oidc", "data"), at=LATER)
    await kept.a_role(4, "data", project="q")
    assert (await kept.roles.search("p", "data"))[0].role_id == role_id(3)
    assert (await kept.roles.search("p", "enginers"))[0].role_id == role_id(1)
    assert (await kept.roles.search("p", str(role_id(2)).upper()))[0].role_id == role_id(2)
    assert await kept.roles.search("p", "zzz") == []
    assert len(await kept.roles.search("p", " ")) == 3


async def test_with_a_role_goes_what_was_granted_to_it_and_on_it(kept: Kept) -> None:
    ann = await kept.a_user("ann")
    inner, outer = await kept.a_role(1, "inner", owner=ann), await kept.a_role(2, "outer")
    assert await kept.members.add(inner, [ann])
    assert await kept.members.add(outer, [role_subject(inner.role_id)])
    assert await kept.roles.remove(inner, record=None)
    assert not await kept.roles.remove(inner, record=None)
    assert await kept.roles.find(inner.role_id) is None
    assert await kept.members.members(outer, kind=None, transitive=True, after="", limit=10) == []
    assert await kept.members.roles_of(ann, "p", transitive=True, after="", limit=10) == []
    assert not await kept.members.add(inner, [ann])
    assert not await kept.members.remove(inner, ann)
    await kept.a_role(3, "inner")
    if kept.stores is not None:
        assert await kept.stores.pool.fetchval("select count(*) from grants") == 0
        assert await kept.stores.pool.fetchval("select count(*) from objects where kind = 'role'") == 2


@pytest.mark.integration
async def test_a_project_that_is_gone_takes_its_roles_along(postgres_url: str) -> None:
    async with opened(postgres_url) as stores:
        await _projects(stores)
        roles = PostgresRoles(stores.pool, stores.tree)
        for number, project in ((1, "p"), (2, "q")):
            await roles.add(a_role(number, "r", project=project), owner=None, record=None)
        assert await stores.tree.apply("projects", [(3, Gone(ObjectKey("project", "p")))]) == 3
        assert (await roles.find(role_id(1)), (await roles.find(role_id(2))) is None) == (None, False)


# members


async def test_members_are_listed_once_roles_first_and_by_kind(kept: Kept) -> None:
    ann, bob = await kept.a_user("ann"), await kept.a_user("bob")
    outer, inner = await kept.a_role(1, "outer"), await kept.a_role(2, "inner")
    for _ in range(2):
        assert await kept.members.add(outer, [bob, role_subject(inner.role_id), ann])
    listed: Sequence[Member] = await kept.members.members(outer, kind=None, transitive=False, after="", limit=10)
    users = [MemberUser(user.user_id, user.profile) for user in (a_user("ann"), a_user("bob"))]
    assert list(listed) == [inner, *users]
    of_users = await kept.members.members(outer, kind=MemberKind.USER, transitive=False, after="", limit=10)
    assert list(of_users) == users
    of_roles = await kept.members.members(outer, kind=MemberKind.ROLE, transitive=False, after="", limit=10)
    assert list(of_roles) == [inner]
    behind = await kept.members.members(outer, kind=None, transitive=False, after=ann, limit=10)
    assert list(behind) == users[1:]
    assert await kept.members.remove(outer, ann)
    assert await kept.members.remove(outer, ann)
    left = await kept.members.members(outer, kind=None, transitive=False, after="", limit=10)
    assert list(left) == [inner, users[1]]


async def test_an_owner_is_no_member(kept: Kept) -> None:
    ann = await kept.a_user("ann")
    role = await kept.a_role(1, "owned", owner=ann)
    assert await kept.members.members(role, kind=None, transitive=True, after="", limit=10) == []
    assert await kept.members.roles_of(ann, "p", transitive=True, after="", limit=10) == []


async def test_a_member_that_is_not_there_is_refused_and_so_are_all_that_came_along(kept: Kept) -> None:
    ann = await kept.a_user("ann")
    role, theirs = await kept.a_role(1, "ours"), await kept.a_role(2, "theirs", project="q")
    await kept.a_user("gone")
    await kept.users.delete(UserId("oidc~gone"), at=LATER, record=None)
    for stranger, reason in [
        (user_subject("oidc~nobody"), Reason.REASON_ROLE_MEMBER_UNKNOWN),
        (user_subject("oidc~gone"), Reason.REASON_ROLE_MEMBER_UNKNOWN),
        (role_subject(role_id(9)), Reason.REASON_NO_SUCH_ROLE),
        (role_subject(theirs.role_id), Reason.REASON_NO_SUCH_ROLE),
    ]:
        assert await reason_of(kept.members.add(role, [ann, stranger])) == reason
    assert await kept.members.members(role, kind=None, transitive=False, after="", limit=10) == []


async def test_a_role_that_is_in_another_or_is_itself_can_not_be_put_around_it(kept: Kept) -> None:
    chain = [await kept.a_role(number, f"r{number}") for number in range(4)]
    for outer, inner in itertools.pairwise(chain):
        assert await kept.members.add(outer, [role_subject(inner.role_id)])
    for inner in (0, 1, 2, 3):
        round_about = kept.members.add(chain[3], [role_subject(chain[inner].role_id)])
        assert await reason_of(round_about) == Reason.REASON_ROLE_MEMBERSHIP_CYCLE
    assert await kept.members.members(chain[3], kind=None, transitive=False, after="", limit=10) == []


async def test_of_memberships_written_at_once_none_closes_a_circle(kept: Kept) -> None:
    roles = [await kept.a_role(number, f"r{number}") for number in range(5)]
    for turn in range(4):
        pairs = [(roles[n], roles[(n + 1 + turn) % 5]) for n in range(5)]
        outcomes = await asyncio.gather(
            *(kept.members.add(outer, [role_subject(inner.role_id)]) for outer, inner in pairs), return_exceptions=True
        )
        for outcome in outcomes:
            assert outcome is True or (
                isinstance(outcome, Refusal) and outcome.reason == Reason.REASON_ROLE_MEMBERSHIP_CYCLE
            ), outcome
    for role in roles:
        inside = await kept.members.members(role, kind=None, transitive=True, after="", limit=100)
        assert role not in inside


@pytest.mark.integration
async def test_a_user_who_is_deleted_while_it_is_put_into_roles_is_in_none(postgres_url: str) -> None:
    async with opened(postgres_url) as stores:
        await _projects(stores)
        users = PostgresUserDirectory(stores.pool, Outbox())
        roles, members = PostgresRoles(stores.pool, stores.tree), PostgresMembers(stores.pool, stores.grants)
        made = [a_role(number, f"r{number}") for number in range(6)]
        for role in made:
            await roles.add(role, owner=None, record=None)
        for _ in range(5):
            await users.save(ANN, update=True, record=None)
            ann = user_subject(ANN.user_id)
            adding = [members.add(role, [ann]) for role in made]
            await asyncio.gather(
                *adding[:3], users.delete(ANN.user_id, at=LATER, record=None), *adding[3:], return_exceptions=True
            )
            assert await stores.pool.fetchval("select count(*) from grants where subject = $1", ann) == 0


async def test_where_a_depth_is_configured_it_is_kept(kept: Kept) -> None:
    if kept.stores is None:
        bounded: MemberStore = AsMembers(_bounded(kept, most_nested=2))
    else:
        grants = PostgresGrants(kept.stores.pool, Outbox(), most_nested=2)
        bounded = PostgresMembers(kept.stores.pool, grants)
    chain = [await kept.a_role(number, f"r{number}") for number in range(4)]
    for outer, inner in itertools.pairwise(chain[:3]):
        assert await bounded.add(outer, [role_subject(inner.role_id)])
    deeper = bounded.add(chain[2], [role_subject(chain[3].role_id)])
    assert await reason_of(deeper) == Reason.REASON_ROLE_NESTED_TOO_DEEP


def _bounded(kept: Kept, *, most_nested: int) -> Directory:
    directory = Directory(projects=("p", "q"), most_nested=most_nested)
    kept.users, kept.roles, kept.members = AsUsers(directory), directory, AsMembers(directory)
    return directory


# idempotency keys


async def test_what_a_key_did_is_kept_with_the_change_or_the_change_is_not_made(kept: Kept) -> None:
    assert await kept.users.save(ANN, update=False, record=record(1)) is not None
    for change in (
        kept.users.save(BOB, update=False, record=record(1)),
        kept.users.delete(ANN.user_id, at=LATER, record=record(1)),
        kept.roles.add(a_role(1, "r"), owner=None, record=record(1)),
    ):
        assert await reason_of(change) == Reason.REASON_REQUEST_IN_PROGRESS
    assert await kept.users.find(BOB.user_id) is None
    assert await kept.users.find(ANN.user_id) == ANN
    assert await kept.roles.find(role_id(1)) is None
    role = await kept.a_role(1, "r")
    assert await reason_of(kept.roles.remove(role, record=record(1))) == Reason.REASON_REQUEST_IN_PROGRESS
    assert await kept.roles.find(role_id(1)) == role
    assert await kept.roles.remove(role, record=record(2))
