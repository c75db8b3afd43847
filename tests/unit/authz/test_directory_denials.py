"""Every method that manages users and roles, as who may not see its object, as who sees it and may not, and as who may."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import descriptor_pool

from lakeward_protocol.authz.v1 import provisioning_pb2, roles_pb2, users_pb2
from lakeward_servicekit.authorization.actions import SEEING, Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import MethodRule, failure_of, rule_of_method
from tests.support.deciding import Rule
from tests.support.directory_house import ANYTHING, EXPECTED, Case, DirectoryHouse, a_house


def _rules() -> dict[str, MethodRule]:
    rules: dict[str, MethodRule] = {}
    for module in (users_pb2, roles_pb2, provisioning_pb2):
        file = descriptor_pool.Default().FindFileByName(module.DESCRIPTOR.name)
        for service in file.services_by_name.values():
            rules |= {rule.path: rule for rule in map(rule_of_method, service.methods)}
    return rules


RULES = _rules()


def _needs(path: str, case: Case) -> frozenset[Action]:
    return frozenset(Action[name] for name in RULES[path].permissions) if case.needs is None else case.needs


def _cases() -> Iterator[tuple[str, Case, str]]:
    for path, cases in EXPECTED.items():
        for number, case in enumerate(cases, 1):
            yield path, case, f"{path.rpartition('/')[2]} {number}"


ALL = [pytest.param(path, case, id=name) for path, case, name in _cases()]
DENIED = [
    pytest.param(path, case, action, id=f"{name} {action.name}")
    for path, case, name in _cases()
    for action in sorted(_needs(path, case))
    if action is not SEEING.get(action.kind)
]
SHAPED = [
    pytest.param(case, action, id=f"{name} {action.name}")
    for _, case, name in _cases()
    for action in sorted(case.shapes)
]
HIDDEN = [pytest.param(case, kind, id=f"{name} {kind.word}") for _, case, name in _cases() for kind in case.gone]


async def refused(house: DirectoryHouse, request: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await house.call(request)
    return caught.value


def _rows(house: DirectoryHouse) -> object:
    directory = house.directory
    return copy.deepcopy((directory.users, directory.roles, directory.grants, house.people.people))


def test_every_method_has_an_expectation_and_every_expectation_a_method() -> None:
    assert EXPECTED.keys() == RULES.keys() == DirectoryHouse().host.methods.keys()


@pytest.mark.parametrize("path", RULES)
def test_every_permission_of_a_method_is_walked_by_one_of_its_cases(path: str) -> None:
    walked = {action for case in EXPECTED[path] for action in _needs(path, case) | case.shapes}
    assert walked == {Action[name] for name in RULES[path].permissions}


@pytest.mark.parametrize("path", RULES)
def test_a_method_demands_something_or_says_why_not_and_acts_for_the_user_who_calls(path: str) -> None:
    rule = RULES[path]
    assert rule.acts_for.name == "USER"
    assert rule.permissions or all(case.needs == frozenset() for case in EXPECTED[path])


@pytest.mark.parametrize(("path", "case"), ALL)
async def test_who_may_do_everything_is_served(path: str, case: Case) -> None:
    await (await a_house(sent=True)).call(case.request())


@pytest.mark.parametrize(("path", "case", "action"), DENIED)
async def test_who_sees_the_object_and_may_not_is_told_so(path: str, case: Case, action: Action) -> None:
    house = await a_house(sent=True)
    before = _rows(house)
    house.authorizer.replace(Rule(allows=False, action=action), ANYTHING)
    refusal = await refused(house, case.request())
    assert refusal.reason == Reason.REASON_FORBIDDEN
    assert refusal.metadata == {"kind": action.kind.word, "action": action.word}
    assert _rows(house) == before


@pytest.mark.parametrize(("case", "action"), SHAPED)
async def test_an_action_that_only_shapes_the_reply_may_be_denied(case: Case, action: Action) -> None:
    house = await a_house(sent=True)
    house.authorizer.replace(Rule(allows=False, action=action), ANYTHING)
    await house.call(case.request())


@pytest.mark.parametrize(("case", "kind"), HIDDEN)
async def test_what_is_hidden_is_refused_with_the_bytes_of_what_is_absent(case: Case, kind: ObjectKind) -> None:
    house, without = await a_house(sent=True), await a_house(sent=True)
    before = _rows(house)
    house.authorizer.replace(Rule(allows=False, kind=kind), ANYTHING)
    hidden = await refused(house, case.request())
    assert hidden.reason == case.gone[kind]
    assert _rows(house) == before
    if kind not in case.only_hidden:
        without.directory.projects.clear()
        without.directory.roles.clear()
        absent = await refused(without, case.request())
        assert failure_of(absent).SerializeToString() == failure_of(hidden).SerializeToString()


@pytest.mark.parametrize(
    ("path", "case"), [param for param in ALL if EXPECTED[str(param.values[0])][0].gone.get(ObjectKind.ROLE)]
)
async def test_a_role_of_another_project_is_refused_like_one_that_is_not_there(path: str, case: Case) -> None:
    house, without = await a_house(sent=True), await a_house(sent=True)
    elsewhere = case.request()
    elsewhere.context.project_id = "q"
    absent = case.request()
    absent.context.project_id = "q"
    without.directory.roles.clear()
    there, gone = await refused(house, elsewhere), await refused(without, absent)
    assert failure_of(there).SerializeToString() == failure_of(gone).SerializeToString()
