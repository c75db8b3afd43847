from __future__ import annotations

from uuid import UUID

import pytest

from lakeward_authz.application.deciding import InstanceAdministrators
from lakeward_servicekit.authorization.actions import DATA, Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import (
    ANONYMOUS,
    Principal,
    PrincipalKind,
    RoleId,
    UserId,
    user,
)
from tests.support.deciding import Rule, TableAuthorizer

ROOT = user("oidc~root")
TABLE = ObjectRef.table("p", UUID(int=1), UUID(int=2), namespace_id=UUID(int=3))
WAREHOUSE = ObjectRef.warehouse("p", UUID(int=1))


def over(*rules: Rule) -> InstanceAdministrators:
    return InstanceAdministrators(TableAuthorizer(*rules), frozenset({"oidc~root"}))


def demands() -> list[Demand]:
    refs = {
        ObjectKind.SERVER: SERVER,
        ObjectKind.PROJECT: ObjectRef.project("p"),
        ObjectKind.WAREHOUSE: WAREHOUSE,
        ObjectKind.NAMESPACE: ObjectRef.namespace("p", UUID(int=1), UUID(int=3), parent_id=None),
        ObjectKind.TABLE: TABLE,
        ObjectKind.VIEW: ObjectRef.view("p", UUID(int=1), UUID(int=4), namespace_id=UUID(int=3)),
        ObjectKind.GENERIC_TABLE: ObjectRef.generic_table("p", UUID(int=1), UUID(int=5), namespace_id=UUID(int=3)),
        ObjectKind.ROLE: ObjectRef.role("p", UUID(int=6)),
        ObjectKind.TAG: ObjectRef.tag("p", UUID(int=7)),
    }
    return [Demand(refs[action.kind], action) for action in Action]


async def test_an_administrator_passes_everything_but_data() -> None:
    outcomes = await over().decide(ROOT, demands())
    assert {
        action: outcome for action, outcome in zip(Action, outcomes, strict=True) if outcome != Outcome.ALLOWED
    } == (dict.fromkeys(DATA, Outcome.DENIED))
    assert (await over().visible(ROOT, ObjectRef.project("p"), ObjectKind.WAREHOUSE)).everything


async def test_data_is_decided_as_for_everyone_and_in_its_place() -> None:
    granted = over(
        Rule(True, kind=ObjectKind.TABLE, action=Action.TABLE_GET_METADATA),
        Rule(True, kind=ObjectKind.TABLE, action=Action.TABLE_READ_DATA),
    )
    asked = [Action.TABLE_WRITE_DATA, Action.TABLE_COMMIT, Action.TABLE_READ_DATA, Action.TABLE_DROP]
    outcomes = await granted.decide(ROOT, [Demand(TABLE, action) for action in asked])
    assert outcomes == [Outcome.DENIED, Outcome.ALLOWED, Outcome.ALLOWED, Outcome.ALLOWED]


@pytest.mark.parametrize(
    "principal",
    [
        user("oidc~other"),
        user("kubernetes~root"),
        ANONYMOUS,
        Principal(PrincipalKind.ROLE, UserId("oidc~root"), RoleId("r")),
    ],
)
async def test_nobody_else_passes_and_an_assumed_role_is_somebody_else(principal: Principal) -> None:
    authorizer = over()
    outcomes = await authorizer.decide(principal, demands())
    assert set(outcomes) == {Outcome.HIDDEN}
    assert not (await authorizer.visible(principal, ObjectRef.project("p"), ObjectKind.WAREHOUSE)).everything
