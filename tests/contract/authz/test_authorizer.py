"""What every authorizer promises, asked of each adapter, directly and through authz's own door."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import TypeAlias
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_authz.adapters.allow_all import AllowAll
from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.adapters.openfga.engine import OpenFgaEngine
from lakeward_authz.adapters.openfga.feeding import Feeder
from lakeward_authz.application.deciding import InstanceAdministrators, RevisedAuthorizer
from lakeward_authz.application.permissions import Grant, Made, key_of, subject_of
from lakeward_authz.domain.permissions.lakeward import TABULARS
from lakeward_authz.transport.decisions import DecisionServicer
from lakeward_components.openfga import OpenFgaServer
from lakeward_protocol.authz.v1 import decisions_pb2_grpc
from lakeward_servicekit.authorization.actions import SEEING, SHOWING, Action
from lakeward_servicekit.authorization.authorizer import Authorizer, Demand, Outcome, Turn
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import ANONYMOUS, user
from lakeward_servicekit.authorization.remote import RemoteAuthorizer
from lakeward_servicekit.rpc import Caller, Host
from tests.support.authz_stores import Stores, opened, openfga_store
from tests.support.deciding import Rule, TableAuthorizer
from tests.support.guides import customized

Wrap: TypeAlias = Callable[[RevisedAuthorizer], Authorizer]
WAREHOUSE_ID, NAMESPACE_ID, TABLE_ID, VIEW_ID, GENERIC_ID, ROLE_ID, TAG_ID = (UUID(int=each) for each in range(1, 8))
OBJECTS = {
    ObjectKind.SERVER: SERVER,
    ObjectKind.PROJECT: ObjectRef.project("p"),
    ObjectKind.WAREHOUSE: ObjectRef.warehouse("p", WAREHOUSE_ID),
    ObjectKind.NAMESPACE: ObjectRef.namespace("p", WAREHOUSE_ID, NAMESPACE_ID, parent_id=None),
    ObjectKind.TABLE: ObjectRef.table("p", WAREHOUSE_ID, TABLE_ID, namespace_id=NAMESPACE_ID),
    ObjectKind.VIEW: ObjectRef.view("p", WAREHOUSE_ID, VIEW_ID, namespace_id=NAMESPACE_ID),
    ObjectKind.GENERIC_TABLE: ObjectRef.generic_table("p", WAREHOUSE_ID, GENERIC_ID, namespace_id=NAMESPACE_ID),
    ObjectKind.ROLE: ObjectRef.role("p", ROLE_ID),
    ObjectKind.TAG: ObjectRef.tag("p", TAG_ID),
}
ALICE, BOB = user("oidc~alice"), user("oidc~bob")
AUTHORIZERS = ["allow-all", "table", "empty table", "administrators", "a company's own"]
ACTIONS = st.lists(st.sampled_from(list(Action)), min_size=1, max_size=50)


def demand(action: Action) -> Demand:
    return Demand(OBJECTS[action.kind], action)


def through_the_door(*, coalesce: bool) -> Wrap:
    def wrap(authorizer: RevisedAuthorizer) -> Authorizer:
        host = Host("authz")
        host.add(decisions_pb2_grpc.add_DecisionServiceServicer_to_server, DecisionServicer(authorizer))
        return RemoteAuthorizer(host.channel(caller=Caller.CALLER_CATALOG), coalesce=coalesce)

    return wrap


@pytest.fixture(
    params=[
        pytest.param(lambda authorizer: authorizer, id="itself"),
        pytest.param(through_the_door(coalesce=False), id="called"),
        pytest.param(through_the_door(coalesce=True), id="coalesced"),
    ]
)
def wrap(request: pytest.FixtureRequest) -> Wrap:
    wrapping: Wrap = request.param
    return wrapping


def every_authorizer() -> list[RevisedAuthorizer]:
    table = TableAuthorizer(
        Rule(False, principal=BOB.key, action=Action.TABLE_DROP),
        Rule(False, principal=BOB.key, kind=ObjectKind.VIEW),
        Rule(True),
    )
    by_department: RevisedAuthorizer = customized("ByDepartment")({"oidc~alice": ["p"], "oidc~bob": ["q"]})
    administrators = InstanceAdministrators(table, frozenset({BOB.key}))
    return [AllowAll(), table, TableAuthorizer(), administrators, by_department]


async def engine_of(stores: Stores) -> Builtin:
    """The builtin engine over the objects: Alice reads the namespace, Bob runs the project."""
    warehouse = OBJECTS[ObjectKind.WAREHOUSE]
    keys = {kind: key_of(ref) for kind, ref in OBJECTS.items()}
    made = [
        Made(key, NAMESPACE_ID if kind in TABULARS else None)
        for kind, key in keys.items()
        if kind is not ObjectKind.SERVER
    ]
    await stores.tree.apply(warehouse.warehouse_id, [*enumerate(made, 1)])
    for who, kind, relation in [(ALICE, ObjectKind.NAMESPACE, "select"), (BOB, ObjectKind.PROJECT, "project_admin")]:
        await stores.grants.change(keys[kind], writes=[Grant(subject_of(who), relation)], deletes=[])
    return Builtin(stores.rights)


@pytest.fixture(
    params=[
        *(pytest.param(n, id=name) for n, name in enumerate(AUTHORIZERS)),
        pytest.param("builtin", marks=pytest.mark.integration),
        pytest.param("openfga", marks=pytest.mark.integration),
    ]
)
def chosen(request: pytest.FixtureRequest) -> tuple[int | str, str, OpenFgaServer | None]:
    """Which authorizer, and what real ones need."""
    which: int | str = request.param
    url = "" if isinstance(which, int) else request.getfixturevalue("postgres_url")
    return which, url, request.getfixturevalue("openfga_server") if which == "openfga" else None


@pytest.fixture
async def authorizer(chosen: tuple[int | str, str, OpenFgaServer | None]) -> AsyncIterator[RevisedAuthorizer]:
    which, url, server = chosen
    if isinstance(which, int):
        yield every_authorizer()[which]
        return
    async with AsyncExitStack() as stack:
        stores = await stack.enter_async_context(opened(url))
        builtin = await engine_of(stores)
        if server is None:
            yield builtin
            return
        openfga = await stack.enter_async_context(openfga_store(server))
        yield OpenFgaEngine(openfga, Feeder(stores.pool, openfga), stores.rights)


async def test_every_demand_gets_its_own_outcome_in_its_place(authorizer: RevisedAuthorizer, wrap: Wrap) -> None:
    asked = wrap(authorizer)
    for principal in (ALICE, BOB, ANONYMOUS):
        together = await asked.decide(principal, [demand(action) for action in Action])
        alone = [(await asked.decide(principal, [demand(action)]))[0] for action in Action]
        assert list(together) == alone


async def test_what_several_principals_are_asked_about_is_answered_to_each_as_if_alone(
    authorizer: RevisedAuthorizer, wrap: Wrap
) -> None:
    asked = wrap(authorizer)
    questions = [
        Turn(ALICE, [demand(Action.WAREHOUSE_USE), demand(Action.VIEW_SELECT)]),
        Turn(BOB, [demand(Action.VIEW_GET_METADATA), demand(Action.VIEW_SELECT), demand(Action.TABLE_READ_DATA)]),
        Turn(ANONYMOUS, [demand(Action.TABLE_READ_DATA)]),
        Turn(ALICE, [demand(action) for action in Action]),
    ]
    together = await asked.decide_each(questions)
    alone = [list(await asked.decide(question.principal, question.demands)) for question in questions]
    assert [list(outcomes) for outcomes in together] == alone


async def test_of_whom_a_view_names_its_owner_all_that_was_granted_counts(
    authorizer: RevisedAuthorizer, wrap: Wrap
) -> None:
    granted = authorizer.others if isinstance(authorizer, InstanceAdministrators) else authorizer
    demands = [demand(action) for action in Action]
    (outcomes,) = await wrap(authorizer).decide_each([Turn(BOB, demands, as_owner=True)])
    assert list(outcomes) == list(await granted.decide(BOB, demands))


async def test_what_is_not_seen_is_hidden_whatever_is_asked_of_it(authorizer: RevisedAuthorizer, wrap: Wrap) -> None:
    asked = wrap(authorizer)
    for principal in (ALICE, BOB, ANONYMOUS):
        outcomes = dict(zip(Action, await asked.decide(principal, [demand(action) for action in Action]), strict=True))
        for kind, seeing in SEEING.items():
            of_kind = {outcome for action, outcome in outcomes.items() if action.kind is kind and action not in SHOWING}
            assert outcomes[seeing] in {Outcome.HIDDEN, Outcome.ALLOWED}, "seeing is never denied to who sees"
            assert (of_kind == {Outcome.HIDDEN}) == (outcomes[seeing] is Outcome.HIDDEN)
            assert (Outcome.HIDDEN in of_kind) == (outcomes[seeing] is Outcome.HIDDEN)
            showing = {outcome for action, outcome in outcomes.items() if action.kind is kind and action in SHOWING}
            assert showing <= {outcomes[seeing], Outcome.ALLOWED, Outcome.DENIED}
            assert outcomes[seeing] is Outcome.ALLOWED or Outcome.DENIED not in showing


@pytest.mark.integration
@pytest.mark.parametrize("chosen", ["builtin", "openfga"], indirect=True)
async def test_engines_tell_readers_owners_and_strangers_apart(authorizer: RevisedAuthorizer, wrap: Wrap) -> None:
    asked = [demand(action) for action in (Action.TABLE_READ_DATA, Action.TABLE_DROP, Action.WAREHOUSE_DELETE)]
    outcomes = {who.key: list(await wrap(authorizer).decide(who, asked)) for who in (ALICE, BOB, ANONYMOUS)}
    assert outcomes == {
        ALICE.key: [Outcome.ALLOWED, Outcome.DENIED, Outcome.DENIED],
        BOB.key: [Outcome.ALLOWED] * 3,
        ANONYMOUS.key: [Outcome.HIDDEN] * 3,
    }


async def test_showing_everything_comes_with_no_sets(authorizer: RevisedAuthorizer, wrap: Wrap) -> None:
    for scope, kind in [
        (OBJECTS[ObjectKind.PROJECT], ObjectKind.WAREHOUSE),
        (OBJECTS[ObjectKind.WAREHOUSE], ObjectKind.NAMESPACE),
        (OBJECTS[ObjectKind.NAMESPACE], ObjectKind.TABLE),
        (OBJECTS[ObjectKind.NAMESPACE], ObjectKind.VIEW),
    ]:
        shown = await wrap(authorizer).visible(ALICE, scope, kind)
        assert not (shown.everything and (shown.containers or shown.objects))


async def test_an_authorizer_always_names_its_revision(authorizer: RevisedAuthorizer) -> None:
    assert authorizer.revision


async def test_allow_all_allows_everybody_everything(wrap: Wrap) -> None:
    everything = wrap(AllowAll())
    assert set(await everything.decide(ANONYMOUS, [demand(action) for action in Action])) == {Outcome.ALLOWED}
    assert (await everything.visible(ANONYMOUS, OBJECTS[ObjectKind.WAREHOUSE], ObjectKind.NAMESPACE)).everything


async def test_a_table_hides_denies_and_allows(wrap: Wrap) -> None:
    table = wrap(
        TableAuthorizer(
            Rule(False, principal=BOB.key, kind=ObjectKind.TABLE, id=TABLE_ID),
            Rule(False, principal=ALICE.key, action=Action.TABLE_DROP),
            Rule(True),
        )
    )
    asked = [demand(Action.TABLE_DROP), demand(Action.TABLE_COMMIT)]
    assert list(await table.decide(BOB, asked)) == [Outcome.HIDDEN, Outcome.HIDDEN]
    assert list(await table.decide(ALICE, asked)) == [Outcome.DENIED, Outcome.ALLOWED]
    assert list(await table.decide(ANONYMOUS, asked)) == [Outcome.ALLOWED, Outcome.ALLOWED]


async def test_a_table_shows_what_it_names(wrap: Wrap) -> None:
    namespace = OBJECTS[ObjectKind.NAMESPACE]
    table = TableAuthorizer(Rule(True, kind=ObjectKind.TABLE, id=TABLE_ID), Rule(True, principal=BOB.key))
    assert (await wrap(table).visible(ALICE, namespace, ObjectKind.TABLE)).objects == {TABLE_ID}
    assert (await wrap(table).visible(BOB, namespace, ObjectKind.TABLE)).everything
    table.replace(Rule(True, kind=ObjectKind.TABLE, id=TABLE_ID, action=Action.TABLE_GET_METADATA))
    assert not (await wrap(table).visible(ALICE, namespace, ObjectKind.TABLE)).objects


async def test_a_table_that_no_set_can_say_is_refused_rather_than_shown() -> None:
    table = TableAuthorizer(Rule(False, kind=ObjectKind.TABLE, id=TABLE_ID), Rule(True))
    with pytest.raises(ValueError, match="hides"):
        await table.visible(ALICE, OBJECTS[ObjectKind.NAMESPACE], ObjectKind.TABLE)


@given(asked=ACTIONS, allowed=st.sets(st.sampled_from(list(Action))))
async def test_a_table_of_allowed_actions_answers_by_its_lines(asked: list[Action], allowed: set[Action]) -> None:
    table = TableAuthorizer(*(Rule(True, action=action) for action in allowed))
    outcomes = await table.decide(ALICE, [demand(action) for action in asked])
    for action, outcome in zip(asked, outcomes, strict=True):
        if action.sight in allowed or action in SHOWING & allowed:
            assert outcome is (Outcome.ALLOWED if action in allowed else Outcome.DENIED)
        else:
            assert outcome is Outcome.HIDDEN


async def test_what_shows_in_a_project_of_a_companys_own_authorizer_is_what_it_decides(wrap: Wrap) -> None:
    own = wrap(customized("ByDepartment")({"oidc~alice": ["p", "team-a"]}))
    projects = await own.visible(ALICE, SERVER, ObjectKind.PROJECT)
    assert (projects.everything, projects.projects) == (False, {"p", "team-a"})
    for who in (ALICE, BOB, ANONYMOUS):
        shown = await own.visible(who, OBJECTS[ObjectKind.PROJECT], ObjectKind.WAREHOUSE)
        (used,) = await own.decide(who, [demand(Action.WAREHOUSE_USE)])
        assert shown.everything == (used is Outcome.ALLOWED)
