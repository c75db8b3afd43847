"""What everybody promises who says whether a user may act as a role."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from lakeward_authz.adapters.postgres.role_membership import PostgresRoleMembership
from lakeward_authz.application.identifying import RoleMembership
from lakeward_authz.domain.permissions.objects import Subject
from lakeward_servicekit.authorization.principals import RoleId, UserId
from tests.support.authz_stores import opened
from tests.support.authz_worlds import World, fill, id_of, subject_of
from tests.support.users import FakeRoles

# anne is a member of inner, bob owns it, and who holds inner holds outer.
GIVEN = (
    ("user:anne", "assignee", "inner"),
    ("user:bob", "ownership", "inner"),
    ("role:inner", "assignee", "outer"),
    ("user:anne#", "assignee", "theirs"),
)


def world() -> World:
    made = World()
    for project, roles in (("p", ("inner", "outer", "empty")), ("q", ("theirs",))):
        made.add("project", project, "server")
        for role in roles:
            made.add("role", role, project)
    for given in GIVEN:
        made.give(*given)
    return made


def in_memory() -> FakeRoles:
    holders = defaultdict[UUID, set[Subject]](set)
    for role in ("inner", "outer", "empty", "theirs"):
        holders[id_of(role)] = {subject_of(subject) for subject, _, name in GIVEN if name == role}
    return FakeRoles(holders)


@pytest.fixture(params=["fake", pytest.param("postgres", marks=pytest.mark.integration)])
def database(request: pytest.FixtureRequest) -> str | None:
    if request.param == "fake":
        return None
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
async def membership(database: str | None) -> AsyncIterator[RoleMembership]:
    if database is None:
        yield in_memory()
        return
    async with opened(database) as stores:
        await fill(world(), stores.tree, stores.grants)
        yield PostgresRoleMembership(stores.pool)


async def may(membership: RoleMembership, user: str, role: str) -> bool | None:
    return await membership.may_assume(UserId(f"oidc~{user}"), RoleId(str(id_of(role))))


async def test_members_and_owners_of_a_role_may_act_as_it_and_nobody_else(membership: RoleMembership) -> None:
    assert await may(membership, "anne", "inner")
    assert await may(membership, "bob", "inner")
    assert await may(membership, "carl", "inner") is False
    assert await may(membership, "anne", "empty") is False


async def test_who_holds_a_role_that_holds_another_may_act_as_that_too(membership: RoleMembership) -> None:
    assert await may(membership, "anne", "outer")
    assert await may(membership, "bob", "outer")


async def test_a_role_may_be_of_any_project(membership: RoleMembership) -> None:
    assert await may(membership, "anne#", "theirs")
    assert await may(membership, "anne", "theirs") is False


async def test_there_is_nothing_to_act_as_where_there_is_no_role(membership: RoleMembership) -> None:
    assert await may(membership, "anne", "nowhere") is None


@pytest.mark.parametrize(
    "alias",
    [
        "role:{}",
        "role:{}#assignee",
        "{}",
        "anne ",
        " anne",
        "ANNE",
        "anne~",
        "ann%65",
        "anne#assignee",
        "*",
        "an*",
        "user:anne",
    ],
)
async def test_no_users_name_makes_it_a_member(membership: RoleMembership, alias: str) -> None:
    named = alias.format(id_of("inner"))
    assert await may(membership, named, "inner") is False
    # Not even as the whole of a user id, as no provider would give one.
    assert await membership.may_assume(UserId(named), RoleId(str(id_of("inner")))) is False
