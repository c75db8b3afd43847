"""Where authz allows everything it is asked once over each call that stays open, and never believed beyond that call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from lakeward_authz.adapters.allow_all import AllowAll
from lakeward_authz.adapters.metered import Metered
from lakeward_authz.authorization import open_authorizer
from lakeward_authz.domain.bindings import Bindings
from lakeward_authz.settings import DecidingSettings
from lakeward_authz.transport.decisions import DecisionServicer
from lakeward_components import ports
from lakeward_protocol.authz.v1 import decisions_pb2_grpc
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal, user
from lakeward_servicekit.authorization.remote import RemoteAuthorizer
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import Caller, Host, client, connect, lanes
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.telemetry import bind, correlate
from tests.support.deciding import TableAuthorizer

WAREHOUSE = ObjectRef.warehouse("p", UUID(int=1))
TABLE = ObjectRef.table("p", UUID(int=1), UUID(int=2), namespace_id=UUID(int=3))
USE, DROP = Demand(WAREHOUSE, Action.WAREHOUSE_USE), Demand(TABLE, Action.TABLE_DROP)
ANNA = user("oidc~anna")
ALLOWED = [Outcome.ALLOWED, Outcome.ALLOWED]


class Counted(AllowAll):
    """Allows everything, and counts what it is asked."""

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked = 0

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        self.asked += 1
        return await super().decide(principal, demands)

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        self.asked += 1
        return await super().decide_each(turns)

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        self.asked += 1
        return await super().visible(principal, scope, kind)


@asynccontextmanager
async def authz(servicer: DecisionServicer, *, port: int = 0) -> AsyncIterator[int]:
    host = Host("authz")
    host.add(decisions_pb2_grpc.add_DecisionServiceServicer_to_server, servicer)
    async with host.serve(f"127.0.0.1:{port}", workloads=Proven()) as bound:
        yield bound


class Proven:
    def caller_of(self, metadata: object, peer_names: object) -> Caller.ValueType:
        del metadata, peer_names
        return Caller.CALLER_CATALOG


@asynccontextmanager
async def asking(servicer: DecisionServicer) -> AsyncIterator[RemoteAuthorizer]:
    async with authz(servicer) as port, connect(f"127.0.0.1:{port}", service="authz") as channel:
        yield RemoteAuthorizer(channel, coalesce=True)


async def ask_everything(authorizer: RemoteAuthorizer) -> None:
    assert list(await authorizer.decide(ANNA, [USE, DROP])) == ALLOWED
    assert [list(each) for each in await authorizer.decide_each([Turn(ANONYMOUS, [USE, DROP], as_owner=True)])] == [
        ALLOWED
    ]
    assert (await authorizer.visible(ANNA, WAREHOUSE, ObjectKind.NAMESPACE)).everything


async def test_it_is_asked_once_while_the_call_is_open() -> None:
    counted = Counted()
    async with asking(DecisionServicer(counted, allows_everything=True)) as authorizer:
        known = []
        for _ in range(3):
            known.append(authorizer.answers_at_once)
            await ask_everything(authorizer)
        assert known == [False, True, True]
    assert counted.asked == 1


async def test_it_is_asked_anew_once_the_call_was_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "LASTS_SECONDS", 0.05)
    counted = Counted()
    async with asking(DecisionServicer(counted, allows_everything=True)) as authorizer:
        await ask_everything(authorizer)
        while authorizer.answers_at_once:
            await asyncio.sleep(0.01)
        before = counted.asked
        await ask_everything(authorizer)
    assert counted.asked > before


async def test_who_decides_otherwise_behind_it_is_asked_and_who_is_away_allows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lanes, "LASTS_SECONDS", 3600.0)
    strict, port = TableAuthorizer(), ports.take(given=None, last=None)
    async with authz(DecisionServicer(AllowAll(), allows_everything=True), port=port):
        channel = connect(f"127.0.0.1:{port}", service="authz")
        authorizer = RemoteAuthorizer(await channel.__aenter__(), coalesce=True)
        await ask_everything(authorizer)
    async with asyncio.timeout(10):
        while authorizer.answers_at_once:  # until the end of the call has crossed the wire
            await asyncio.sleep(0)
    try:
        with pytest.raises(Refusal) as refused:
            await authorizer.decide(ANNA, [USE])
        assert refused.value.reason == Reason.REASON_AUTHORIZATION_UNAVAILABLE
        monkeypatch.setattr(client, "_RECONNECT_SECONDS", 30.0)
        async with authz(DecisionServicer(strict), port=port):
            assert list(await authorizer.decide(ANNA, [USE, DROP])) == [Outcome.HIDDEN, Outcome.HIDDEN]
            assert not (await authorizer.visible(ANNA, WAREHOUSE, ObjectKind.NAMESPACE)).everything
            assert not authorizer.answers_at_once
    finally:
        await channel.__aexit__(None, None, None)


async def test_who_decides_is_asked_each_time_whatever_it_allows() -> None:
    counted = Counted()
    async with asking(DecisionServicer(Metered(counted, engine="other"))) as authorizer:
        for _ in range(2):
            await ask_everything(authorizer)
    assert counted.asked == 6


async def test_an_answer_by_a_call_of_its_own_holds_for_one_question() -> None:
    counted = Counted()
    async with asking(DecisionServicer(counted, allows_everything=True)) as authorizer:
        with bind(correlate("my-request", None)):
            for _ in range(2):
                await authorizer.decide_each([Turn(ANNA, [USE])])
        assert not authorizer.answers_at_once
    assert counted.asked == 2


@pytest.mark.parametrize(
    ("backend", "bindings", "everything"),
    [
        ("allowall", Bindings(), True),
        ("allowall", Bindings({"company": ["p"]}), False),
        ("builtin", Bindings(), False),
    ],
    ids=["everybody", "providers are a project's own", "somebody decides"],
)
async def test_it_says_so_only_where_nobody_can_be_kept_out(backend: str, bindings: Bindings, everything: bool) -> None:
    variables = {"LAKEKEEPER__AUTHZ_BACKEND": backend, "LAKEKEEPER__INSTANCE_ADMINS": '["oidc~anna"]'}
    settings = load(DecidingSettings, variables).settings
    nobody_asks_it: Any = None
    async with open_authorizer(settings, nobody_asks_it, bindings) as deciding:
        assert deciding.allows_everything is everything


async def test_in_one_process_it_is_asked_each_time() -> None:
    counted = Counted()
    host = Host("authz")
    servicer = DecisionServicer(counted, allows_everything=True)
    host.add(decisions_pb2_grpc.add_DecisionServiceServicer_to_server, servicer)
    authorizer = RemoteAuthorizer(host.channel(caller=Caller.CALLER_CATALOG), coalesce=False)
    for _ in range(2):
        await ask_everything(authorizer)
    assert counted.asked == 6
