"""Users of a project's own identity provider, asked about what is theirs and what is not."""

from __future__ import annotations

from uuid import UUID

from lakeward_authz.application.deciding import InstanceAdministrators, OwnProviders
from lakeward_authz.domain.bindings import Bindings
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal, PrincipalKind, RoleId, UserId, user
from tests.support.deciding import Rule, TableAuthorizer

BINDINGS = Bindings({"app-p": frozenset({"p"})})
ROBOT, ANN = user("app-p~robot"), user("oidc~ann")
# named as the bound provider is, and of another
ODD = user("oidc~app-p~robot")
AS_ROLE = Principal(PrincipalKind.ROLE, UserId("app-p~robot"), RoleId(str(UUID(int=9))))
HERE = Demand(ObjectRef.warehouse("p", UUID(int=1)), Action.WAREHOUSE_USE)
THERE = Demand(ObjectRef.warehouse("q", UUID(int=2)), Action.WAREHOUSE_USE)
THE_SERVER = Demand(SERVER, Action.SERVER_LIST_USERS)
ALL = [THERE, HERE, THE_SERVER]
KEPT_OUT = [Outcome.HIDDEN, Outcome.ALLOWED, Outcome.DENIED]


def over(*rules: Rule) -> OwnProviders:
    return OwnProviders(TableAuthorizer(*(rules or (Rule(allows=True),))), BINDINGS)


async def test_elsewhere_nothing_is_there_and_on_the_server_nothing_is_allowed() -> None:
    assert await over().decide(ROBOT, ALL) == KEPT_OUT
    assert await over().decide(AS_ROLE, ALL) == KEPT_OUT
    assert await over().decide(ROBOT, [THERE]) == [Outcome.HIDDEN]


async def test_who_comes_by_another_provider_is_decided_about_as_ever() -> None:
    for principal in (ANN, ODD, ANONYMOUS):
        assert await over().decide(principal, ALL) == [Outcome.ALLOWED] * 3
    assert await over(Rule(allows=False)).decide(ANN, [HERE]) == [Outcome.HIDDEN]


async def test_what_is_theirs_is_theirs_only_where_they_were_given_it() -> None:
    assert await over(Rule(allows=False)).decide(ROBOT, [HERE]) == [Outcome.HIDDEN]


async def test_of_several_turns_each_is_answered_in_its_place() -> None:
    turns = [Turn(ANN, [THERE]), Turn(ROBOT, [THERE]), Turn(ROBOT, [THERE, HERE]), Turn(ANN, [HERE], as_owner=True)]
    assert await over().decide_each(turns) == [
        [Outcome.ALLOWED],
        [Outcome.HIDDEN],
        [Outcome.HIDDEN, Outcome.ALLOWED],
        [Outcome.ALLOWED],
    ]


async def test_listings_elsewhere_are_empty() -> None:
    assert not (await over().visible(ROBOT, ObjectRef.project("q"), ObjectKind.WAREHOUSE)).everything
    assert (await over().visible(ROBOT, ObjectRef.project("p"), ObjectKind.WAREHOUSE)).everything
    assert (await over().visible(ANN, ObjectRef.project("q"), ObjectKind.WAREHOUSE)).everything


async def test_an_administrator_of_the_instance_is_one_in_its_own_projects_alone() -> None:
    inner = InstanceAdministrators(TableAuthorizer(Rule(allows=False)), frozenset({"app-p~robot"}))
    assert await OwnProviders(inner, BINDINGS).decide(ROBOT, ALL) == KEPT_OUT
