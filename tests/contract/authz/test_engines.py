"""The two engines are one: OpenFGA, fed from the rows, decides as the rows do, on random worlds and through changes."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import secrets
from collections.abc import AsyncIterator
from datetime import timedelta
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.adapters.openfga.connection import OpenFga
from lakeward_authz.adapters.openfga.engine import OpenFgaEngine
from lakeward_authz.adapters.openfga.feeding import Drift, Feeder
from lakeward_authz.application.permissions import Gone, Grant, Made, Moved
from lakeward_authz.domain.permissions.compiled import NOTHING
from lakeward_authz.domain.permissions.lakeward import GLIMPSE, MODEL, SIGHT
from lakeward_authz.domain.permissions.language import Computed
from lakeward_authz.domain.permissions.objects import ObjectKey
from lakeward_authz.domain.permissions.tuples import FgaTuple
from lakeward_components.openfga import OpenFgaServer
from lakeward_servicekit.authorization.actions import SEEING, Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import ANONYMOUS, user
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.authz_stores import Stores, openfga_store
from tests.support.authz_worlds import (
    ROLES,
    USERS,
    World,
    fill,
    id_of,
    principal_of,
    ref_of,
    small,
    subject_of,
    worlds,
)
from tests.support.proxy import proxy

pytestmark = pytest.mark.integration
# Not made smaller: each try is hundreds of checks by a server, and a world is small as it is.
FEW = settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
CALLERS = (*USERS, *(f"role:{role}" for role in ROLES))


@pytest.fixture
async def openfga(openfga_server: OpenFgaServer) -> AsyncIterator[OpenFga]:
    """A store of this test's own, with the model."""
    async with openfga_store(openfga_server) as store:
        await store.prepare()
        yield store


@pytest.fixture
def engine(openfga: OpenFga, stores: Stores) -> OpenFgaEngine:
    return OpenFgaEngine(openfga, Feeder(stores.pool, openfga), stores.rights)


# Relations that have a rule of their own; the others are other names for these, as the model's document says.
RULED = {
    name: [relation for relation, rule in relations.items() if not isinstance(rule, Computed) and relation != GLIMPSE]
    for name, relations in MODEL.rules.items()
}


@FEW
@given(world=worlds(), some=st.randoms(use_true_random=False))
async def test_both_engines_hold_every_relation_alike(
    stores: Stores, openfga: OpenFga, engine: OpenFgaEngine, world: World, some: Random
) -> None:
    await stores.forget()
    await Feeder(stores.pool, openfga).catch_up()
    await fill(world, stores.tree, stores.grants)
    every = [
        (node.key, relation)
        for node in world.nodes.values()
        for relation in RULED[node.key.type]
        if relation != MODEL.types[node.key.type].link
    ]
    for caller in CALLERS:
        asked = some.sample(every, min(40, len(every)))
        rights = await stores.rights.of(subject_of(caller), [key for key, _ in asked])
        told = await engine.holds(subject_of(caller), asked)
        for (key, relation), held, by_openfga in zip(asked, rights.held, told, strict=True):
            assert held is not None
            assert by_openfga == bool(held & MODEL.types[key.type].bits[relation]), (caller, key, relation)


@FEW
@given(world=worlds(), some=st.randoms(use_true_random=False))
async def test_both_engines_answer_demands_alike(
    stores: Stores, openfga: OpenFga, engine: OpenFgaEngine, world: World, some: Random
) -> None:
    await stores.forget()
    await Feeder(stores.pool, openfga).catch_up()
    await fill(world, stores.tree, stores.grants)
    builtin = Builtin(stores.rights)
    every = [
        Demand(ref_of(world, node), action)
        for node in world.nodes.values()
        for action in Action
        if action.kind.word == node.key.type
    ]
    scopes = [node for node in world.nodes.values() if node.key.type in {"project", "warehouse", "namespace"}]
    questions: list[Turn] = []
    for principal in [*(principal_of(caller) for caller in CALLERS), ANONYMOUS]:
        demands = some.sample(every, min(20, len(every)))
        questions.append(Turn(principal, demands))
        assert await engine.decide(principal, demands) == await builtin.decide(principal, demands)
        scope, kind = ref_of(world, some.choice(scopes)), some.choice([*SEEING])
        assert await engine.visible(principal, scope, kind) == await builtin.visible(principal, scope, kind)
    assert await engine.decide_each(questions) == await builtin.decide_each(questions)


async def test_no_answer_is_older_than_the_change_that_came_before_the_question(
    stores: Stores, engine: OpenFgaEngine
) -> None:
    world = small()
    world.add("namespace", "managed", "w", managed=True)
    await fill(world, stores.tree, stores.grants)
    anne, table = subject_of("user:anne"), world.nodes["t"].key
    select, member = Grant(anne, "select"), Grant(anne, "assignee")

    async def reads() -> bool:
        return (await engine.holds(anne, [(table, "can_read_data")]))[0]

    assert not await reads()
    for _ in range(3):
        await stores.grants.change(table, writes=[select], deletes=[])
        assert await reads()
        await stores.grants.change(table, writes=[], deletes=[select])
        assert not await reads()
    await stores.grants.change(world.nodes["other"].key, writes=[Grant(subject_of("role:R"), "select")], deletes=[])
    await stores.grants.change(world.nodes["R"].key, writes=[member], deletes=[])
    assert not await reads()
    await stores.tree.apply("w", [(1, Moved(table, id_of("other")))])
    assert await reads()
    await stores.grants.change(world.nodes["R"].key, writes=[], deletes=[member])
    assert not await reads()


async def test_what_is_gone_leaves_no_tuple_behind(stores: Stores, openfga: OpenFga) -> None:
    world = small()
    world.give("user:anne", "ownership", "n.deep")
    world.give("role:R", "select", "t")
    world.give("user:anne", "assignee", "R")
    await fill(world, stores.tree, stores.grants)
    await stores.tree.manage(world.nodes["n"].key, managed=True)
    feeder = Feeder(stores.pool, openfga)
    await feeder.catch_up()
    before = {each async for each in openfga.tuples() if each.object.partition(":")[0] != "model_version"}
    assert len(before) == 12
    await stores.tree.apply("w", [(1, Gone(ObjectKey("project", "p")))])
    await feeder.catch_up()
    assert {each async for each in openfga.tuples() if each.object.partition(":")[0] != "model_version"} == set()


async def test_drift_is_repaired_and_what_is_others_stays(stores: Stores, openfga: OpenFga) -> None:
    world = small()
    world.give("user:anne", "select", "t")
    await fill(world, stores.tree, stores.grants)
    feeder = Feeder(stores.pool, openfga)
    await feeder.catch_up()
    assert await feeder.verify(repair=True) == []
    fed = {each async for each in openfga.tuples()}
    lost = next(each for each in fed if each.relation == "select")
    extra = FgaTuple("user:mallory", "modify", lost.object)
    others = FgaTuple("user:someone", "modify", "warehouse:4c6d7a4e-0000-7000-8000-000000000000")
    await openfga.write([(lost, False), (extra, True), (others, True)])
    drift = {Drift(lost, wanted=True), Drift(extra, wanted=False)}
    assert set(await feeder.verify(repair=False)) == drift
    assert set(await feeder.verify(repair=True)) == drift
    assert {each async for each in openfga.tuples()} == {*fed, others}
    assert await feeder.verify(repair=False) == []


async def test_what_was_answered_of_drift_is_not_remembered_once_it_is_repaired(
    stores: Stores, openfga: OpenFga, engine: OpenFgaEngine
) -> None:
    world = small()
    world.give("user:anne", "modify", "t")
    await fill(world, stores.tree, stores.grants)
    anne, table = user("oidc~anne"), ref_of(world, world.nodes["t"])
    demands = [Demand(table, Action.TABLE_READ_DATA), Demand(table, Action.TABLE_WRITE_DATA)]
    assert await engine.decide(anne, demands) == [Outcome.ALLOWED] * 2
    (lost,) = [each async for each in openfga.tuples() if each.relation == "modify"]
    await openfga.write([(lost, False), (lost._replace(relation="select"), True)])
    await stores.grants.change(world.nodes["n"].key, writes=[Grant(subject_of("user:ben"), "select")], deletes=[])
    assert await engine.decide(anne, demands) == [Outcome.ALLOWED, Outcome.DENIED]
    assert len(await Feeder(stores.pool, openfga).verify(repair=True)) == 2
    assert await engine.decide(anne, demands) == [Outcome.ALLOWED] * 2


async def test_a_store_that_nobody_feeds_is_not_compared(stores: Stores, openfga: OpenFga) -> None:
    await fill(small(), stores.tree, stores.grants)
    with pytest.raises(Refusal, match="was not told everything yet") as refused:
        await Feeder(stores.pool, openfga).verify(repair=True)
    assert refused.value.reason == Reason.REASON_AUTHORIZATION_UNAVAILABLE
    assert not [each async for each in openfga.tuples() if each.object.startswith("table:")]


async def test_of_feeders_at_once_each_returns_with_all_that_was_there(stores: Stores, openfga: OpenFga) -> None:
    await fill(small(), stores.tree, stores.grants)
    keys = [ObjectKey("namespace", "p", id_of("w"), id_of(f"n{number}")) for number in range(40)]
    owner = subject_of("user:anne")
    engines = [OpenFgaEngine(openfga, Feeder(stores.pool, openfga), stores.rights) for _ in range(3)]

    async def make_and_ask(number: int) -> bool:
        await stores.tree.apply(f"stream {number}", [(1, Made(keys[number], owner=owner))])
        return (await engines[number % 3].holds(owner, [(keys[number], "can_delete")]))[0]

    assert all(await asyncio.gather(*(make_and_ask(number) for number in range(len(keys)))))
    assert await Feeder(stores.pool, openfga).verify(repair=False) == []


def reading(world: World, *callers: str) -> list[Turn]:
    demand = Demand(ref_of(world, world.nodes["t"]), Action.TABLE_READ_DATA)
    return [Turn(principal_of(caller), [demand]) for caller in callers]


@pytest.mark.parametrize("by", ["builtin", "openfga"])
async def test_what_two_never_held_at_once_is_never_answered_to_both(
    stores: Stores, engine: OpenFgaEngine, by: str
) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    decider = Builtin(stores.rights) if by == "builtin" else engine
    table, questions = world.nodes["t"].key, reading(world, "user:anne", "user:bob")
    selects = [Grant(subject_of(who), "select") for who in ("user:anne", "user:bob")]
    ended = asyncio.Event()

    async def pass_it_on() -> None:
        for turn in range(30):
            await stores.grants.change(table, writes=[], deletes=[selects[turn % 2]])
            await stores.grants.change(table, writes=[selects[(turn + 1) % 2]], deletes=[])
        ended.set()

    await stores.grants.change(table, writes=[selects[0]], deletes=[])
    passing = asyncio.create_task(pass_it_on())
    while not ended.is_set():
        with contextlib.suppress(Refusal):  # OpenFGA is asked again a few times, and here something is taken each time
            answers = await decider.decide_each(questions)
            assert [answer[0] for answer in answers].count(Outcome.ALLOWED) <= 1
    await passing


async def test_what_is_taken_while_openfga_answers_for_several_is_asked_again(
    stores: Stores, openfga: OpenFga, engine: OpenFgaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    table, questions = world.nodes["t"].key, reading(world, "user:anne", "user:bob")
    select = Grant(subject_of("user:anne"), "select")
    await stores.grants.change(table, writes=[select], deletes=[])
    taken, allowed = [0], openfga.allowed
    times = 1

    async def taking_meanwhile(checks: Any) -> Any:
        answers = await allowed(checks)
        if taken[0] < times:
            taken[0] += 1
            await stores.grants.change(table, writes=[], deletes=[select])
            await stores.grants.change(table, writes=[select] if times > 1 else [], deletes=[])
        return answers

    monkeypatch.setattr(openfga, "allowed", taking_meanwhile)
    assert [answer[0] for answer in await engine.decide_each(questions)] == [Outcome.HIDDEN] * 2
    assert taken == [1]
    taken[0], times = 0, 100
    await stores.grants.change(table, writes=[select], deletes=[])
    with pytest.raises(Refusal) as refused:
        await engine.decide_each(questions)
    assert refused.value.reason == Reason.REASON_AUTHORIZATION_UNAVAILABLE
    assert taken == [5]


async def test_what_was_answered_is_not_asked_again_until_a_right_is_given_or_taken(
    stores: Stores, openfga: OpenFga, engine: OpenFgaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = small()
    world.give("user:anne", "select", "t")
    await fill(world, stores.tree, stores.grants)
    table, anne = ref_of(world, world.nodes["t"]), user("oidc~anne")
    demands = [Demand(table, Action.TABLE_READ_DATA), Demand(table, Action.TABLE_WRITE_DATA)]
    asked: list[int] = []
    allowed, hear = openfga.allowed, openfga.hear

    async def counted(checks: Any) -> Any:
        asked.append(len(checks))
        return await allowed(checks)

    async def heard() -> None:
        asked.append(0)
        await hear()

    monkeypatch.setattr(openfga, "allowed", counted)
    monkeypatch.setattr(openfga, "hear", heard)
    for expected in ([Outcome.ALLOWED, Outcome.DENIED], [Outcome.ALLOWED] * 2):
        for _ in range(3):
            assert await engine.decide(anne, demands) == expected
        assert asked == [0, 3, 0, 0], "it is asked once, and heard from each time"
        asked.clear()
        await stores.grants.change(world.nodes["n"].key, writes=[Grant(subject_of("user:anne"), "modify")], deletes=[])
    await stores.grants.change(world.nodes["n"].key, writes=[], deletes=[Grant(subject_of("user:anne"), "modify")])
    assert await engine.decide(anne, demands) == [Outcome.ALLOWED, Outcome.DENIED]


def test_what_is_made_inside_gives_no_right_on_what_is_kept_of_a_container_that_shows() -> None:
    for name in ("warehouse", "namespace"):
        found = MODEL.types[name]
        glimpsed = MODEL.held(found.index, found.bits[GLIMPSE], NOTHING, 0) & ~found.bits[GLIMPSE]
        for right in MODEL.alone(name, SIGHT):
            held = MODEL.held(found.index, found.bits[right], NOTHING, 0)
            assert held | glimpsed == held, f"{right} on a {name} shows less than something in it does"


async def test_a_no_about_what_is_not_there_is_not_remembered(stores: Stores, engine: OpenFgaEngine) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    key = ObjectKey("table", "p", id_of("w"), id_of("later"))
    later = ObjectRef.table("p", id_of("w"), id_of("later"), namespace_id=id_of("n"))
    asked = [
        Demand(later, Action.TABLE_READ_DATA),
        Demand(ref_of(world, world.nodes["n"]), Action.NAMESPACE_LIST_TABLES),
    ]
    assert await engine.decide(user("oidc~anne"), asked) == [Outcome.HIDDEN] * 2
    before = await stores.pool.fetchval("select sum(revision) from revisions")
    await stores.tree.apply("later", [(1, Made(key, id_of("n"), subject_of("user:anne")))])
    assert await stores.pool.fetchval("select sum(revision) from revisions") == before, "what is made moves no revision"
    assert await engine.decide(user("oidc~anne"), asked) == [Outcome.ALLOWED] * 2


async def test_a_server_that_is_away_or_does_not_answer_decides_nothing(
    stores: Stores, openfga_server: OpenFgaServer
) -> None:
    world = small()
    world.give("user:anne", "select", "t")
    await fill(world, stores.tree, stores.grants)
    name = f"t{secrets.token_hex(6)}"
    demand = Demand(ref_of(world, world.nodes["t"]), Action.TABLE_READ_DATA)
    server = urlsplit(openfga_server.url)
    async with (
        proxy(str(server.hostname), int(server.port or 0)) as line,
        openfga_store(openfga_server, url=line.instead_of(openfga_server.url), name=name) as openfga,
    ):
        engine = OpenFgaEngine(openfga, Feeder(stores.pool, openfga), stores.rights)

        async def decides_nothing() -> None:
            with pytest.raises(Refusal) as refused:
                await engine.decide(user("oidc~anne"), [demand])
            assert refused.value.reason == Reason.REASON_AUTHORIZATION_UNAVAILABLE

        assert await engine.decide(user("oidc~anne"), [demand]) == [Outcome.ALLOWED]
        patient = openfga._address
        openfga._address = dataclasses.replace(patient, patience=timedelta(seconds=1))
        line.pause()
        await decides_nothing()
        line.resume()
        openfga._address = patient
        assert await engine.decide(user("oidc~anne"), [demand]) == [Outcome.ALLOWED]
        await line.refuse()
        line.cut_all()
        await decides_nothing()
        await stores.grants.change(world.nodes["t"].key, writes=[], deletes=[Grant(subject_of("user:anne"), "select")])
        await decides_nothing()
        await line.accept()
        # what was taken while it was away is gone when it is back
        assert await engine.decide(user("oidc~anne"), [demand]) == [Outcome.HIDDEN]


async def test_a_model_is_written_once_whoever_migrates_and_however_often(openfga_server: OpenFgaServer) -> None:
    name = f"t{secrets.token_hex(6)}"
    async with (
        openfga_store(openfga_server, name=name) as first,
        openfga_store(openfga_server, name=name) as second,
        openfga_store(openfga_server, name=name, prefix="another") as other,
    ):
        assert await first.model() is None
        written = await first.migrate()
        assert await second.migrate() == written
        assert await second.model() == written
        assert await other.model() is None


async def test_a_key_that_the_server_does_not_know_gets_no_answer(openfga_server: OpenFgaServer) -> None:
    wrong = OpenFgaServer(openfga_server.url, "not the key")
    async with openfga_store(wrong) as openfga:
        with pytest.raises(Refusal) as refused:
            await openfga.migrate()
    assert refused.value.reason == Reason.REASON_AUTHORIZATION_UNAVAILABLE
    assert "not the key" not in refused.value.message


async def test_a_place_too_deep_for_the_server_is_not_decided_rather_than_denied(
    stores: Stores, engine: OpenFgaEngine
) -> None:
    world = World()
    world.add("project", "p", "server")
    world.add("warehouse", "above", "p")
    name = "above"
    for level in range(30):
        world.add("namespace", f"n{level}", name)
        name = f"n{level}"
    world.add("table", "t", name)
    world.give("user:anne", "select", "above")
    world.give("user:ben", "select", "t")
    await fill(world, stores.tree, stores.grants)
    demand = Demand(ref_of(world, world.nodes["t"]), Action.TABLE_READ_DATA)
    assert await Builtin(stores.rights).decide(user("oidc~anne"), [demand]) == [Outcome.ALLOWED]
    assert await engine.decide(user("oidc~ben"), [demand]) == [Outcome.ALLOWED]
    with pytest.raises(Refusal) as refused:
        await engine.decide(user("oidc~anne"), [demand])
    assert refused.value.reason == Reason.REASON_AUTHORIZATION_UNAVAILABLE
