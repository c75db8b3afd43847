"""Roles that a token names: those that are bound to a name count for what is in their project, by either engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.adapters.openfga.engine import OpenFgaEngine
from lakeward_authz.adapters.openfga.feeding import Feeder
from lakeward_authz.adapters.postgres.members import PostgresMembers
from lakeward_authz.adapters.postgres.role_membership import PostgresRoleMembership
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.adapters.postgres.trails import PostgresTrails
from lakeward_authz.application.permissions import Grant, Made
from lakeward_authz.domain.permissions.objects import ObjectKey, role_subject, user_subject
from lakeward_authz.domain.roles import Role, RoleIdent
from lakeward_components.openfga import OpenFgaServer
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer, Demand, Outcome, Turn
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind, RoleId, UserId
from tests.support.authz_stores import Stores, openfga_store
from tests.support.authz_worlds import id_of
from tests.support.directory import NOW, a_role

pytestmark = pytest.mark.integration

ENGINEERS = RoleIdent("oidc", "engineers~eu")
WAREHOUSE = id_of("w")
SEES = Demand(ObjectRef.project("p"), Action.PROJECT_GET_METADATA)
LISTS = Demand(ObjectRef.warehouse("p", WAREHOUSE), Action.WAREHOUSE_LIST_EVERYTHING)
ELSEWHERE = Demand(ObjectRef.project("q"), Action.PROJECT_GET_METADATA)
OF_SERVER = Demand(SERVER, Action.SERVER_LIST_USERS)


def named(*roles: str) -> Principal:
    return Principal(PrincipalKind.USER, UserId("oidc~ann"), token_roles=roles)


BY_TOKEN = named("oidc~engineers~eu", "oidc~others")


@pytest.fixture(params=["builtin", "openfga"])
def server(request: pytest.FixtureRequest) -> OpenFgaServer | None:
    """None where authz decides by itself."""
    if request.param == "builtin":
        return None
    found: OpenFgaServer = request.getfixturevalue("openfga_server")
    return found


@pytest.fixture
async def engine(server: OpenFgaServer | None, stores: Stores) -> AsyncIterator[Authorizer]:
    if server is None:
        yield Builtin(stores.rights)
        return
    async with openfga_store(server) as store:
        await store.prepare()
        yield OpenFgaEngine(store, Feeder(stores.pool, store), stores.rights)


@pytest.fixture
async def role(stores: Stores) -> Role:
    """A role of p that its members see a warehouse by, and that no user is in."""
    made = [
        Made(ObjectKey("project", "p")),
        Made(ObjectKey("project", "q")),
        Made(ObjectKey("warehouse", "p", WAREHOUSE)),
        Made(ObjectKey("warehouse", "p", id_of("other"))),
    ]
    await stores.tree.apply("a world", list(enumerate(made, 1)))
    role = a_role(1, "engineers", ident=ENGINEERS)
    assert await PostgresRoles(stores.pool, stores.tree).add(role, owner=None, record=None)
    holds = role_subject(role.role_id)
    warehouse = ObjectKey("warehouse", "p", WAREHOUSE)
    assert await stores.grants.change(warehouse, writes=[Grant(holds, "describe")], deletes=[])
    return role


@pytest.mark.usefixtures("role")
async def test_who_has_a_role_by_its_token_has_its_rights_in_its_project(engine: Authorizer) -> None:
    asked = [SEES, LISTS, ELSEWHERE, OF_SERVER]
    expected = [Outcome.ALLOWED, Outcome.ALLOWED, Outcome.HIDDEN, Outcome.HIDDEN]
    assert await engine.decide(BY_TOKEN, asked) == expected
    together = await engine.decide_each([Turn(BY_TOKEN, asked), Turn(named(), asked)])
    assert together == [expected, [Outcome.HIDDEN] * 4]
    shown = await engine.visible(BY_TOKEN, ObjectRef.project("p"), ObjectKind.WAREHOUSE)
    assert (shown.everything, shown.objects) == (False, {WAREHOUSE})
    projects = await engine.visible(BY_TOKEN, SERVER, ObjectKind.PROJECT)
    assert (projects.everything, projects.projects) == (False, {"p"})


@pytest.mark.usefixtures("role")
@pytest.mark.parametrize(
    "caller",
    [
        named(),
        named("oidc~engineers"),
        named("oidc~ENGINEERS~EU"),
        named("ldap~engineers~eu"),
        named("engineers~eu"),
        named("oidc~engineers~eu "),
        Principal(PrincipalKind.USER, UserId("oidc~engineers~eu")),
    ],
)
async def test_nothing_else_is_that_role(engine: Authorizer, caller: Principal) -> None:
    assert await engine.decide(caller, [SEES, LISTS]) == [Outcome.HIDDEN, Outcome.HIDDEN]
    shown = await engine.visible(caller, ObjectRef.project("p"), ObjectKind.WAREHOUSE)
    assert (shown.everything, shown.objects) == (False, frozenset())
    projects = await engine.visible(caller, SERVER, ObjectKind.PROJECT)
    assert (projects.everything, projects.projects) == (False, frozenset())


async def test_a_role_that_is_bound_anew_is_not_had_any_more_from_the_next_question_on(
    engine: Authorizer, stores: Stores, role: Role
) -> None:
    roles = PostgresRoles(stores.pool, stores.tree)
    assert await engine.decide(BY_TOKEN, [LISTS]) == [Outcome.ALLOWED]
    before = await stores.pool.fetchval("select sum(revision) from revisions")
    await roles.bind(role.role_id, RoleIdent("oidc", "elsewhere"), at=NOW + timedelta(hours=1))
    assert await stores.pool.fetchval("select sum(revision) from revisions") > before
    assert await engine.decide(BY_TOKEN, [LISTS]) == [Outcome.HIDDEN]
    assert await engine.decide(named("oidc~elsewhere"), [LISTS]) == [Outcome.ALLOWED]


async def test_a_role_of_another_project_by_the_same_name_gives_nothing_here(
    engine: Authorizer, stores: Stores
) -> None:
    made = [Made(ObjectKey("project", "p")), Made(ObjectKey("project", "q"))]
    await stores.tree.apply("a world", list(enumerate(made, 1)))
    theirs = a_role(2, "theirs", project="q", ident=ENGINEERS)
    await PostgresRoles(stores.pool, stores.tree).add(theirs, owner=None, record=None)
    key = ObjectKey("project", "q")
    await stores.grants.change(key, writes=[Grant(role_subject(theirs.role_id), "describe")], deletes=[])
    assert await engine.decide(BY_TOKEN, [SEES]) == [Outcome.HIDDEN]
    assert await engine.decide(BY_TOKEN, [ELSEWHERE]) == [Outcome.ALLOWED]


async def test_roles_that_hold_it_come_along_and_it_may_be_acted_as(stores: Stores, role: Role) -> None:
    outer = a_role(3, "outer")
    await PostgresRoles(stores.pool, stores.tree).add(outer, owner=None, record=None)
    await PostgresMembers(stores.pool, stores.grants).add(outer, [role_subject(role.role_id)])
    membership = PostgresRoleMembership(stores.pool)
    for held in (role, outer):
        own = RoleId(str(held.role_id))
        assert await membership.may_assume(UserId("oidc~ann"), own, token_roles=BY_TOKEN.token_roles)
        assert await membership.may_assume(UserId("oidc~ann"), own) is False
    nowhere = RoleId(str(id_of("nowhere")))
    assert await membership.may_assume(UserId("oidc~ann"), nowhere, token_roles=BY_TOKEN.token_roles) is None


async def test_what_somebody_may_by_such_a_role_is_explained_by_it(stores: Stores, role: Role) -> None:
    outer = a_role(3, "outer")
    await PostgresRoles(stores.pool, stores.tree).add(outer, owner=None, record=None)
    await PostgresMembers(stores.pool, stores.grants).add(outer, [role_subject(role.role_id)])
    key, own = ObjectKey("warehouse", "p", WAREHOUSE), user_subject("oidc~ann")
    also = await stores.rights.bound(BY_TOKEN.token_roles, ["p"])
    trails = PostgresTrails(stores.pool)
    trail = await trails.of(key, own, also=also)
    assert trail is not None
    assert trail.roles == {
        role_subject(role.role_id): own,
        role_subject(outer.role_id): role_subject(role.role_id),
    }
    assert [right.relation for right in trail.rights] == ["describe"]
    without = await trails.of(key, own)
    assert without is not None
    assert (without.roles, list(without.rights)) == ({}, [])
