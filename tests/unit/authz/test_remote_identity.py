"""What is remembered of a token, for how long, and what never is."""

from __future__ import annotations

import asyncio
import gc
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lakeward_authz.application.identifying import Everybody, Identification
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_protocol.authz.v1 import identity_pb2_grpc
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.principals import ANONYMOUS, user
from lakeward_servicekit.authorization.registrar import Presented
from lakeward_servicekit.authorization.remote_identity import RemoteIdentity
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import Caller, Host
from tests.support.users import FakeUsers, identity_servicer

NOW = datetime(2026, 8, 1, tzinfo=UTC)
ROLE = "0198f2c0-0000-7000-8000-000000000001"


class Idp:
    def __init__(self) -> None:
        self.asked = 0
        self.revision = "r1"
        self.lives = 3600.0
        self.refusal: Refusal | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def identify(self, authorization: str) -> Identification:
        self.asked += 1
        await self.gate.wait()
        if self.refusal is not None:
            raise self.refusal
        if self.revision == "open":
            return await Everybody().identify(authorization)
        profile = Profile("Ann", None, UserKind.HUMAN)
        ends = NOW + timedelta(seconds=self.lives)
        return Identification(user(f"oidc~{authorization}"), profile, ends, self.revision)


class World:
    def __init__(self, **options: Any) -> None:
        self.idp = Idp()
        self.users = FakeUsers()
        self.at = 500.0
        host = Host("authz")
        servicer = identity_servicer(self.idp, self.users, at=NOW)
        host.add(identity_pb2_grpc.add_IdentityServiceServicer_to_server, servicer)
        channel = host.channel(caller=Caller.CALLER_CATALOG)
        self.identity = RemoteIdentity(
            channel, clock=lambda: self.at, now=lambda: NOW + timedelta(seconds=self.at - 500), **options
        )

    async def ask(self, token: str = "ann", *, assumed_role: str = "") -> str:
        found = await self.identity.authenticate(RequestContext(authorization=token, assumed_role=assumed_role))
        return found.principal.user_id


async def test_a_token_is_verified_once_a_minute_and_each_is_its_own() -> None:
    world = World()
    assert [await world.ask() for _ in range(3)] == ["oidc~ann"] * 3
    assert await world.ask("bob") == "oidc~bob"
    assert world.idp.asked == 2
    world.at += 59.9
    await world.ask()
    assert world.idp.asked == 2
    world.at += 0.2
    await world.ask()
    assert world.idp.asked == 3


async def test_nothing_is_remembered_past_a_tokens_end() -> None:
    world = World()
    world.idp.lives = 10
    await world.ask()
    world.at += 9.9
    await world.ask()
    assert world.idp.asked == 1
    world.at += 0.1
    await world.ask()
    await world.ask()
    assert world.idp.asked == 3, "within the leeway after its end it is verified each time"


async def test_what_was_found_under_other_keys_is_forgotten() -> None:
    world = World()
    await world.ask("ann")
    world.idp.revision = "r2"
    await world.ask("bob")
    await world.ask("ann")
    assert world.idp.asked == 3
    await world.ask("ann")
    assert world.idp.asked == 3


async def test_a_token_s_user_is_recorded_once_and_each_token_s_own() -> None:
    world = World()
    for token in ("ann", "ann", "bob", "ann"):
        assert await world.identity.provision_user(Presented(token)) == f"oidc~{token}"
    assert world.idp.asked == 2
    assert set(world.users.rows) == {"oidc~ann", "oidc~bob"}


async def test_who_could_not_be_recorded_is_recorded_the_next_time() -> None:
    world = World()
    world.idp.refusal = Refusal(Reason.REASON_TOKEN_REFUSED, "no", cause="expired")
    with pytest.raises(Refusal):
        await world.identity.provision_user(Presented("ann"))
    world.idp.refusal = None
    assert await world.identity.provision_user(Presented("ann")) == "oidc~ann"


async def test_refusals_are_not_remembered() -> None:
    world = World()
    world.idp.refusal = Refusal(Reason.REASON_TOKEN_REFUSED, "no", cause="expired")
    for _ in range(2):
        with pytest.raises(Refusal):
            await world.ask()
    world.idp.refusal = None
    assert await world.ask() == "oidc~ann"
    assert world.idp.asked == 3


async def test_a_role_is_asked_for_each_time_and_never_answered_from_the_users_own_entry() -> None:
    world = World()
    await world.ask()
    for _ in range(2):
        with pytest.raises(Refusal) as refusal:
            await world.ask(assumed_role=ROLE)
        assert refusal.value.reason == Reason.REASON_ASSUMED_ROLE_UNKNOWN
    assert world.idp.asked == 3


async def test_who_asks_at_once_shares_one_question_and_one_who_leaves_does_not_end_it() -> None:
    world = World()
    world.idp.gate.clear()
    asking = [asyncio.create_task(world.ask()) for _ in range(100)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking[0].cancel()
    await asyncio.sleep(0)
    world.idp.gate.set()
    assert set(await asyncio.gather(*asking[1:])) == {"oidc~ann"}
    assert world.idp.asked == 1


async def test_a_shared_refusal_reaches_all_and_disturbs_nobody_when_all_have_left() -> None:
    world = World()
    world.idp.refusal = Refusal(Reason.REASON_TOKEN_REFUSED, "no", cause="expired")
    answers = await asyncio.gather(*(world.ask() for _ in range(5)), return_exceptions=True)
    assert {type(answer) for answer in answers} == {Refusal}
    complaints: list[dict[str, object]] = []
    gc.collect()  # what others left
    asyncio.get_running_loop().set_exception_handler(lambda _, complaint: complaints.append(complaint))
    world.idp.gate.clear()
    leaving = asyncio.create_task(world.ask())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    leaving.cancel()
    world.idp.gate.set()
    await asyncio.gather(leaving, return_exceptions=True)
    while world.identity._asking:
        await asyncio.sleep(0)
    gc.collect()
    asyncio.get_running_loop().set_exception_handler(None)
    assert complaints == []


async def test_what_is_remembered_is_bounded_and_holds_no_token() -> None:
    world = World(capacity=10)
    for number in range(50):
        await world.ask(f"secret-{number}")
    assert len(world.identity._remembered) == 10
    assert {len(key) for key in world.identity._remembered._values} == {32}
    asked = world.idp.asked
    await world.ask("secret-49")
    assert world.idp.asked == asked


async def test_an_open_server_is_asked_once_a_minute_whatever_tokens_come() -> None:
    world = World()
    world.idp.revision = "open"
    for number in range(20):
        found = await world.identity.authenticate(RequestContext(authorization=f"Bearer {number}"))
        assert found.principal == ANONYMOUS
    assert await world.identity.provision_user(Presented("")) is None
    assert world.idp.asked == 1
    world.at += 60
    world.idp.revision = "r1"
    assert await world.ask() == "oidc~ann"
    assert await world.ask("bob") == "oidc~bob"
    assert world.idp.asked == 3


async def test_an_open_server_still_refuses_roles() -> None:
    world = World()
    world.idp.revision = "open"
    await world.ask()
    with pytest.raises(Refusal):
        await world.ask(assumed_role=ROLE)


async def test_the_first_administrator_is_recorded_through_the_channel() -> None:
    world = World()
    world.users.rows.clear()
    world.idp.revision = "open"
    await world.identity.bootstrap_administrator(Presented(""), is_operator=False)
    assert world.users.first is not None


def test_what_a_request_presents_is_printed_without_its_token() -> None:
    presented = Presented("Bearer secret", "r", "t")
    assert repr(presented) == "Presented(request_id='r', traceparent='t')"
    assert dict(presented.__rich_repr__()) == {"request_id": "r", "traceparent": "t"}
