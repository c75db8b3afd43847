"""Every method, as who may not see its object, as who sees it and may not, and as who may.

What is hidden is refused with the very bytes of what is absent; what is seen and denied says so; and a refusal changes nothing.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from google.protobuf import descriptor_pool

from lakeward_protocol.catalog import v1
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import MethodRule, failure_of, rule_of_method
from tests.support.calling import answer_of
from tests.support.catalog.expectations import EXPECTED
from tests.support.catalog.expectations.case import Case
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of
from tests.support.deciding import Rule


def _rules() -> dict[str, MethodRule]:
    """The rule of every method that lakeward.catalog.v1 declares, found by its descriptors."""
    rules: dict[str, MethodRule] = {}
    for module in pkgutil.iter_modules(v1.__path__):
        if not module.name.endswith("_pb2"):
            continue
        name = importlib.import_module(f"{v1.__name__}.{module.name}").DESCRIPTOR.name
        for service in descriptor_pool.Default().FindFileByName(name).services_by_name.values():
            rules |= {rule.path: rule for rule in map(rule_of_method, service.methods)}
    return rules


RULES = _rules()


def _cases() -> Iterator[tuple[str, Case]]:
    for path, cases in EXPECTED.items():
        for case in cases:
            yield path, case


def _needs(path: str, case: Case) -> frozenset[Action]:
    if case.needs is not None:
        return case.needs
    return frozenset(Action[name] for name in RULES[path].permissions) - case.shapes


def _name(path: str, case: Case, *more: str) -> str:
    number = EXPECTED[path].index(case)
    return " ".join((path.rpartition(".")[2] + (f" {number + 1}" if number else ""), *more))


ALL = [pytest.param(path, case, id=_name(path, case)) for path, case in _cases()]
IN_WAREHOUSES = [
    pytest.param(path, case, id=_name(path, case)) for path, case in _cases() if ObjectKind.WAREHOUSE in case.gone
]
DENIED = [
    pytest.param(path, case, action, id=_name(path, case, action.name))
    for path, case in _cases()
    for action in sorted(_needs(path, case))
    if action is not action.sight
]
SHAPED = [
    pytest.param(path, case, action, id=_name(path, case, action.name))
    for path, case in _cases()
    for action in sorted(case.shapes)
]
HIDDEN = [
    pytest.param(path, case, kind, id=_name(path, case, kind.word)) for path, case in _cases() for kind in case.gone
]


# What is in a warehouse, where what is absent is refused at all.
INSIDE = [
    pytest.param(path, case, kind, id=_name(path, case, kind.word))
    for path, case in _cases()
    for kind in case.gone
    if kind not in case.only_hidden and kind not in {ObjectKind.PROJECT, ObjectKind.WAREHOUSE, ObjectKind.TAG}
]


async def _ready(case: Case) -> House:
    house = await a_house()
    if case.prepare is not None:
        await case.prepare(house)
    return house


async def _call(house: House, path: str, case: Case, request: object) -> None:
    case.unwrap(await answer_of(house.host, path, request))


def _remove(house: House, kind: ObjectKind, case: Case) -> None:
    rows = house.catalog.rows
    if kind is ObjectKind.PROJECT:
        rows.projects.clear()
    elif kind is ObjectKind.WAREHOUSE:
        rows.warehouses.clear()
    elif kind is ObjectKind.TAG:
        rows.tags.clear()
        rows.tagged.clear()
    elif kind is ObjectKind.NAMESPACE:
        gone = house.namespace(*case.target)
        del rows.namespaces[gone.warehouse_id, gone.namespace_id]
    else:
        names = {ObjectKind.TABLE: "orders", ObjectKind.VIEW: "recent", ObjectKind.GENERIC_TABLE: "vectors"}
        gone_tabular = house.tabular(names[kind])
        del rows.tabulars[gone_tabular.warehouse_id, gone_tabular.incarnation]


def _as_bytes(refusal: Refusal) -> bytes:
    return failure_of(refusal).SerializeToString(deterministic=True)


def test_every_method_has_an_expectation_and_every_expectation_a_method() -> None:
    assert EXPECTED.keys() == RULES.keys()


async def test_every_method_is_hosted() -> None:
    assert House().host.methods.keys() == RULES.keys()


@pytest.mark.parametrize("path", RULES)
def test_every_permission_of_a_method_is_walked_by_one_of_its_cases(path: str) -> None:
    walked = {action for case in EXPECTED[path] for action in _needs(path, case) | case.shapes}
    assert walked == {Action[name] for name in RULES[path].permissions}


@pytest.mark.parametrize(("path", "case"), ALL)
def test_a_case_says_what_hides_each_kind_that_its_permissions_are_of(path: str, case: Case) -> None:
    assert {action.kind for action in _needs(path, case) | case.shapes} <= case.gone.keys()


@pytest.mark.parametrize(("path", "case"), ALL)
async def test_who_may_do_everything_is_served(path: str, case: Case) -> None:
    house = await _ready(case)
    await _call(house, path, case, case.request(house))


@pytest.mark.parametrize(("path", "case", "action"), DENIED)
async def test_who_sees_the_object_and_may_not_is_told_so(path: str, case: Case, action: Action) -> None:
    house = await _ready(case)
    request, before = case.request(house), house.catalog.rows.copy()
    house.authorizer.replace(Rule(allows=False, action=action), ANYTHING)
    refusal = await refusal_of(_call(house, path, case, request))
    assert refusal.reason == Reason.REASON_FORBIDDEN
    assert refusal.metadata == {"kind": action.kind.word, "action": action.word}
    assert house.catalog.rows == before


@pytest.mark.parametrize(("path", "case", "action"), SHAPED)
async def test_an_action_that_only_shapes_the_reply_may_be_denied(path: str, case: Case, action: Action) -> None:
    house = await _ready(case)
    house.authorizer.replace(Rule(allows=False, action=action), ANYTHING)
    await _call(house, path, case, case.request(house))


@pytest.mark.parametrize(("path", "case", "kind"), HIDDEN)
async def test_what_is_hidden_is_refused_with_the_bytes_of_what_is_absent(
    path: str, case: Case, kind: ObjectKind
) -> None:
    house, without = await _ready(case), await _ready(case)
    request, before = case.request(house), house.catalog.rows.copy()
    assert request == case.request(without)

    house.authorizer.replace(Rule(allows=False, kind=kind), ANYTHING)
    hidden = await refusal_of(_call(house, path, case, request))
    assert hidden.reason == case.gone[kind]
    assert house.catalog.rows == before

    if kind not in case.only_hidden:
        _remove(without, kind, case)
        absent = await refusal_of(_call(without, path, case, request))
        assert _as_bytes(absent) == _as_bytes(hidden)


@pytest.mark.parametrize(("path", "case", "kind"), INSIDE)
async def test_what_is_absent_is_asked_about_like_what_is_hidden(path: str, case: Case, kind: ObjectKind) -> None:
    """Or the time of a refusal tells which it was, wherever an answer takes a while."""
    house, without = await _ready(case), await _ready(case)
    request = case.request(house)
    assert request == case.request(without)
    house.authorizer.replace(Rule(allows=False, kind=kind), ANYTHING)
    _remove(without, kind, case)
    for each in (house, without):
        each.authorizer.asked.clear()
        await refusal_of(_call(each, path, case, request))
    assert [*map(len, without.authorizer.asked)] == [*map(len, house.authorizer.asked)]


@pytest.mark.parametrize(("path", "case"), IN_WAREHOUSES)
async def test_a_hidden_warehouse_hides_whether_anything_is_in_it(path: str, case: Case) -> None:
    house, empty = await _ready(case), await _ready(case)
    request = case.request(house)
    empty.catalog.rows.tabulars.clear()
    empty.catalog.rows.namespaces.clear()
    for each in (house, empty):
        each.authorizer.replace(Rule(allows=False, kind=ObjectKind.WAREHOUSE), ANYTHING)
    answers = {_as_bytes(await refusal_of(_call(each, path, case, request))) for each in (house, empty)}
    assert len(answers) == 1
