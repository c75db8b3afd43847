"""Asking authz beside the read: what is asked early, of whom, and what counts of the answer."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
from collections.abc import Coroutine, Sequence
from typing import Any, Final
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeward_catalog.application.foresight import CALM, Foresight, Looked, Wanted
from lakeward_catalog.application.ports.stores import Located
from lakeward_catalog.domain.names import TabularIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal, user
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import failure_of
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of
from tests.support.catalog.tables import commit, create, document, drop, load, prop
from tests.support.catalog.values import a_namespace, a_project, a_tabular, a_warehouse
from tests.support.deciding import Rule

WAREHOUSE: Final = a_warehouse(a_project())
NAMESPACE: Final = a_namespace(WAREHOUSE, "sales")
TABLE: Final = a_tabular(NAMESPACE, "orders")
THERE: Final = Located(WAREHOUSE, NAMESPACE, TABLE)
ANNA: Final = user("oidc~anna")
ACTIONS: Final = (Action.TABLE_GET_METADATA, Action.TABLE_READ_DATA)
WANTED: Final = Wanted(ANNA.key, WAREHOUSE.warehouse_id, TABLE.ident, ACTIONS)
REF: Final = ObjectRef.table(WAREHOUSE.project_id, WAREHOUSE.warehouse_id, UUID(int=7), namespace_id=UUID(int=8))
DEMANDS: Final = (
    Demand(ObjectRef.warehouse(WAREHOUSE.project_id, WAREHOUSE.warehouse_id), Action.WAREHOUSE_USE),
    *(Demand(REF, action) for action in ACTIONS),
)
ALLOWED: Final = [Outcome.ALLOWED] * 3
HIDES: Final = Rule(allows=False, kind=ObjectKind.TABLE)


class Scripted:
    """Both that are asked: each answers when it is let, and `happened` says in which order."""

    def __init__(self) -> None:
        self.happened: list[str] = []
        self.located: Located | Exception = THERE
        self.outcomes: Sequence[Outcome] | Exception = ALLOWED
        self.may_locate, self.may_decide = asyncio.Event(), asyncio.Event()
        self.may_locate.set()
        self.may_decide.set()

    async def locate(self, *_: Any) -> Located:
        self.happened.append("look")
        await self.may_locate.wait()
        self.happened.append("found")
        if isinstance(self.located, Exception):
            raise self.located
        return self.located

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        assert (principal, demands) == (ANNA, DEMANDS)
        self.happened.append("ask")
        try:
            await self.may_decide.wait()
        except asyncio.CancelledError:
            self.happened.append("left")
            raise
        if isinstance(self.outcomes, Exception):
            raise self.outcomes
        self.happened.append("decided")
        return self.outcomes


def look(foreseeing: Foresight, wanted: Wanted = WANTED) -> Coroutine[Any, Any, Looked]:
    return foreseeing.locate(ANNA, wanted.warehouse_id, wanted.ident, wanted.actions)


def foresight(script: Scripted, **options: Any) -> Foresight:
    both: Any = script
    return Foresight(both, both, **options)


def that_foresees(script: Scripted) -> Foresight:
    made = foresight(script)
    for _ in range(2):
        made.note(WANTED, THERE, DEMANDS)
    return made


async def test_what_was_there_twice_is_asked_beside_the_read() -> None:
    script = Scripted()
    foreseeing = foresight(script)
    assert await look(foreseeing) == Looked(THERE, WANTED)
    foreseeing.note(WANTED, THERE, DEMANDS)
    assert await look(foreseeing) == Looked(THERE, WANTED)
    foreseeing.note(WANTED, THERE, DEMANDS)
    script.happened.clear()
    script.may_locate.clear()
    looking = asyncio.create_task(look(foreseeing))
    while "decided" not in script.happened:
        await asyncio.sleep(0)
    assert "found" not in script.happened
    script.may_locate.set()
    assert await looking == Looked(THERE, WANTED, ALLOWED)


async def test_where_authz_need_not_be_asked_over_a_wire_it_is_asked_behind_the_read() -> None:
    known = True
    script = Scripted()
    foreseeing = foresight(script, is_known=lambda: known)
    for _ in range(2):
        foreseeing.note(WANTED, THERE, DEMANDS)
    assert await look(foreseeing) == Looked(THERE)
    assert "ask" not in script.happened
    known = False
    assert await look(foreseeing) == Looked(THERE, WANTED, ALLOWED)


@pytest.mark.parametrize(
    "found",
    [
        Located(WAREHOUSE, NAMESPACE, dataclasses.replace(TABLE, row_version=9)),
        Located(WAREHOUSE, a_namespace(WAREHOUSE, "sales"), TABLE),
        Located(a_warehouse(a_project()), NAMESPACE, TABLE),
        Located(WAREHOUSE, NAMESPACE, None),
        Located(None, None, None),
    ],
    ids=["changed", "namespace changed", "warehouse changed", "gone", "warehouse gone"],
)
async def test_what_has_changed_is_still_to_be_asked_of_and_nothing_is_foreseen_of_it(found: Located) -> None:
    script = Scripted()
    foreseeing = that_foresees(script)
    script.located = found
    assert await look(foreseeing) == Looked(found, WANTED)
    assert script.happened == ["look", "found", "ask", "decided"]
    script.happened.clear()
    assert await look(foreseeing) == Looked(found, WANTED)
    assert script.happened == ["look", "found"]


@pytest.mark.parametrize("needed", [0, 1])
@pytest.mark.parametrize("outcome", [Outcome.HIDDEN, Outcome.DENIED])
async def test_what_is_not_allowed_any_more_is_still_to_be_asked_of(needed: int, outcome: Outcome) -> None:
    script = Scripted()
    foreseeing = that_foresees(script)
    script.outcomes = [outcome if index == needed else Outcome.ALLOWED for index in range(3)]
    assert await look(foreseeing) == Looked(THERE, WANTED)
    script.happened.clear()
    assert await look(foreseeing) == Looked(THERE, WANTED)
    assert script.happened == ["look", "found"]


async def test_what_is_only_asked_may_be_denied() -> None:
    script = Scripted()
    foreseeing = that_foresees(script)
    script.outcomes = [Outcome.ALLOWED, Outcome.ALLOWED, Outcome.DENIED]
    assert await look(foreseeing) == Looked(THERE, WANTED, script.outcomes)


@pytest.mark.parametrize(
    "other",
    [
        WANTED._replace(caller="oidc~bob"),
        WANTED._replace(warehouse_id=a_warehouse(a_project(), name="other").warehouse_id),
        WANTED._replace(ident=TabularIdent(NAMESPACE.ident, "customers")),
        WANTED._replace(actions=(Action.TABLE_COMMIT,)),
    ],
    ids=["caller", "warehouse", "name", "actions"],
)
async def test_nothing_is_foreseen_for_anybody_or_anything_else(other: Wanted) -> None:
    script = Scripted()
    await that_foresees(script).locate(user(other.caller), other.warehouse_id, other.ident, other.actions)
    assert script.happened == ["look", "found"]


async def test_a_question_that_fails_fails_its_caller_only_where_its_answer_would_have_counted() -> None:
    script = Scripted()
    foreseeing = that_foresees(script)
    script.outcomes = Refusal(Reason.REASON_AUTHORIZATION_UNAVAILABLE, "away")
    with pytest.raises(Refusal, match="away"):
        await look(foreseeing)
    script.located = Located(None, None, None)
    assert await look(foreseeing) == Looked(script.located, WANTED)


@pytest.mark.parametrize("found", [THERE, Located(None, None, None), OSError("gone")], ids=["same", "gone", "away"])
async def test_a_failure_that_nobody_waits_for_is_told_to_nobody(found: Located | Exception) -> None:
    script, told = Scripted(), list[object]()
    foreseeing = that_foresees(script)
    script.outcomes = Refusal(Reason.REASON_AUTHORIZATION_UNAVAILABLE, "away")
    script.located = found
    script.may_locate.clear()
    loop = asyncio.get_running_loop()
    gc.collect()  # what others left
    loop.set_exception_handler(lambda _, context: told.append(context))
    looking = asyncio.create_task(look(foreseeing))
    while "ask" not in script.happened:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    script.may_locate.set()
    await asyncio.wait([looking])
    failed = looking.exception()
    assert failed is (script.outcomes if found is THERE else found if isinstance(found, Exception) else None)
    if isinstance(found, Exception):
        found.with_traceback(None)  # which knows the frames, and these the question
    del looking, failed
    gc.collect()
    loop.set_exception_handler(None)
    assert told == []


@pytest.mark.parametrize("waits_for", ["may_locate", "may_decide"])
async def test_who_leaves_takes_the_question_along(waits_for: str) -> None:
    script = Scripted()
    foreseeing = that_foresees(script)
    script.may_decide.clear()
    getattr(script, waits_for).clear()
    looking = asyncio.create_task(look(foreseeing))
    while "ask" not in script.happened:
        await asyncio.sleep(0)
    looking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await looking
    await asyncio.sleep(0)
    assert script.happened[-1] == "left"


async def test_nothing_is_asked_early_in_a_crowd_and_again_once_it_has_gone() -> None:
    script = Scripted()
    foreseeing = that_foresees(script)
    script.may_locate.clear()
    crowd = [asyncio.create_task(look(foreseeing)) for _ in range(CALM + 1)]
    while script.happened.count("look") < len(crowd):
        await asyncio.sleep(0)
    script.happened.clear()
    last = asyncio.create_task(look(foreseeing))
    await asyncio.sleep(0)
    script.may_locate.set()
    await asyncio.wait([*crowd, last])
    assert last.result() == Looked(THERE)  # and it is not noted
    for _ in range(2):  # the first that is alone may yet be one of them
        script.happened.clear()
        found = await look(foreseeing)
    assert found == Looked(THERE, WANTED, ALLOWED)


async def test_so_many_are_remembered_and_those_go_that_were_used_longest_ago() -> None:
    script = Scripted()
    foreseeing = foresight(script, entries=2)
    others = [WANTED._replace(actions=(action,)) for action in (Action.TABLE_COMMIT, Action.TABLE_DROP)]
    for each in (WANTED, others[0]):
        for _ in range(2):
            foreseeing.note(each, THERE, DEMANDS)
    assert await look(foreseeing) == Looked(THERE, WANTED, ALLOWED)
    foreseeing.note(others[1], THERE, DEMANDS)
    assert await look(foreseeing) == Looked(THERE, WANTED, ALLOWED)
    assert await look(foreseeing, others[0]) == Looked(THERE, others[0])


@pytest.fixture
async def house() -> House:
    house = await a_house(foresees=True)
    for _ in range(3):
        await load(house)
    house.authorizer.asked.clear()
    return house


async def test_a_foreseen_load_takes_one_question(house: House) -> None:
    await load(house)
    assert len(house.authorizer.asked) == 1


async def test_who_may_see_it_no_more_is_answered_as_if_it_were_gone_after_as_much_work(house: House) -> None:
    other = await a_house(foresees=True)
    for _ in range(3):
        await load(other)
    other.authorizer.asked.clear()
    house.authorizer.replace(HIDES, ANYTHING)
    table = other.tabular("orders")
    del other.catalog.rows.tabulars[table.warehouse_id, table.incarnation]
    hidden, absent = [await refusal_of(load(each)) for each in (house, other)]
    assert failure_of(hidden) == failure_of(absent)
    assert house.authorizer.asked == other.authorizer.asked


async def test_a_name_that_was_always_hidden_is_never_asked_of_early() -> None:
    house = await a_house(foresees=True)
    house.authorizer.replace(HIDES, ANYTHING)
    house.authorizer.asked.clear()
    for _ in range(4):
        await refusal_of(load(house))
        await refusal_of(load(house, "sales", "nothing"))
    assert len(house.authorizer.asked) == 8
    assert len({tuple(asked) for asked in house.authorizer.asked}) == 1


async def test_what_was_written_after_a_right_was_taken_is_not_read_by_a_decision_from_before(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right is taken, and then the secret is written, both between the early answer and the read."""
    tabulars = house.parts.doors.tabulars
    locate = tabulars.locate

    async def late(*asked: Any) -> Located:
        while not house.authorizer.asked:
            await asyncio.sleep(0)
        monkeypatch.setattr(tabulars, "locate", locate)
        house.authorizer.replace(ANYTHING)
        await commit(house, prop("secret"))
        house.authorizer.replace(HIDES, ANYTHING)
        return await locate(*asked)

    monkeypatch.setattr(tabulars, "locate", late)
    assert (await refusal_of(load(house))).reason is Reason.REASON_NO_SUCH_TABLE


STEPS: Final = st.lists(st.sampled_from(["load", "hide", "show", "commit", "drop", "create"]), max_size=25)


@settings(max_examples=60, deadline=None)
@given(STEPS)
async def test_foreseen_or_not_every_load_is_answered_by_what_is_there_and_allowed(steps: Sequence[str]) -> None:
    house, there, shown, commits = await a_house(foresees=True), True, True, 0
    for step in (*steps, "load"):
        if step == "load" and there and shown:
            assert document(await load(house))["properties"].get("commits", "0") == str(commits)
        elif step == "load":
            assert (await refusal_of(load(house))).reason is Reason.REASON_NO_SUCH_TABLE
        elif step in {"hide", "show"}:
            shown = step == "show"
            house.authorizer.replace(*([] if shown else [HIDES]), ANYTHING)
        elif shown and there and step == "commit":
            commits += 1
            await commit(house, prop("commits", str(commits)))
        elif shown and there and step == "drop":
            await drop(house, "orders")
            there = False
        elif shown and not there and step == "create":
            await create(house, "orders")
            there, commits = True, 0
