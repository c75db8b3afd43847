"""Who is in which role, by the rows and by a model in memory: the same after any changes, one by one or at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeward_authz.adapters.postgres.members import PostgresMembers
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.adapters.postgres.user_directory import PostgresUserDirectory
from lakeward_authz.application.members import MemberStore
from lakeward_authz.application.permissions import Made
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject, role_subject, user_subject
from lakeward_authz.domain.roles import Role
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.authz_stores import Stores
from tests.support.directory import AsMembers, Directory, a_role, a_user

pytestmark = pytest.mark.integration

MANY = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROLES = [a_role(number, f"r{number}") for number in range(6)]
ANN = user_subject("oidc~ann")
CYCLE = Reason.REASON_ROLE_MEMBERSHIP_CYCLE

_NUMBERS = st.integers(0, len(ROLES) - 1)
_SUBJECTS = st.one_of(st.just(ANN), st.sampled_from([role_subject(role.role_id) for role in ROLES]))
# Who is put into a role, or taken out of it.
_STEPS = st.lists(st.tuples(_NUMBERS, _SUBJECTS, st.booleans()), max_size=20)


async def _begun(stores: Stores) -> tuple[MemberStore, MemberStore]:
    """The rows and the model, each with ann and all roles, and nobody in any."""
    await stores.forget()
    await stores.tree.apply("projects", [(1, Made(ObjectKey("project", "p")))])
    users = PostgresUserDirectory(stores.pool, Outbox())
    roles, model = PostgresRoles(stores.pool, stores.tree), Directory()
    await users.save(a_user("ann"), update=False, record=None)
    await model.save(a_user("ann"), update=False, record=None)
    for role in ROLES:
        await roles.add(role, owner=None, record=None)
        await model.add(role, owner=None, record=None)
    return PostgresMembers(stores.pool, stores.grants), AsMembers(model)


async def _add(members: MemberStore, role: Role, subject: Subject) -> bool | int:
    try:
        return await members.add(role, [subject])
    except Refusal as refusal:
        return refusal.reason


async def _said(members: MemberStore, *, transitive: bool) -> Sequence[object]:
    """Everything that can be asked."""
    everyone = [ANN, *(role_subject(role.role_id) for role in ROLES)]
    inside = [
        list(await members.members(role, kind=None, transitive=transitive, after="", limit=100)) for role in ROLES
    ]
    held = [
        list(await members.roles_of(subject, "p", transitive=transitive, after="", limit=100)) for subject in everyone
    ]
    return [*inside, *held]


@MANY
@given(steps=_STEPS)
async def test_the_rows_say_what_the_model_says_and_refuse_what_it_refuses(
    stores: Stores, steps: list[tuple[int, Subject, bool]]
) -> None:
    both = await _begun(stores)
    for number, subject, put_in in steps:
        if put_in:
            outcomes = [await _add(each, ROLES[number], subject) for each in both]
            assert outcomes[0] == outcomes[1], (number, subject)
        else:
            for each in both:
                assert await each.remove(ROLES[number], subject)
    for transitive in (False, True):
        rows, model = [await _said(each, transitive=transitive) for each in both]
        assert rows == model


@MANY
@given(edges=st.lists(st.tuples(_NUMBERS, _NUMBERS), min_size=2, max_size=8, unique=True))
async def test_whatever_memberships_are_written_at_once_no_role_is_in_itself(
    stores: Stores, edges: list[tuple[int, int]]
) -> None:
    members, _ = await _begun(stores)
    outcomes = await asyncio.gather(
        *(_add(members, ROLES[outer], role_subject(ROLES[inner].role_id)) for outer, inner in edges)
    )
    assert set(outcomes) <= {True, CYCLE}
    for role in ROLES:
        assert role not in await members.members(role, kind=None, transitive=True, after="", limit=100)
    # what was refused closes a circle with what was not
    for (outer, inner), outcome in zip(edges, outcomes, strict=True):
        again = await _add(members, ROLES[outer], role_subject(ROLES[inner].role_id))
        assert again == outcome, (outer, inner)
