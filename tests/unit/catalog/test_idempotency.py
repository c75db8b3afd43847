from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.transport.callers import caller_of
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.idempotency import KeyPlace, Remembered
from tests.support.catalog.fakes import TokenIdentity
from tests.support.catalog.house import RULES, refusal_of
from tests.support.catalog.memory import MemoryCatalog
from tests.support.catalog.values import FreshIds, HeldClock


def a_keyed(method: str = "drop", body: bytes = b"", **parameters: object) -> Keyed:
    return Keyed("warehouse/w", method, parameters, Payload(body))


async def a_caller(key: UUID | str | None = None, *, user: str = "oidc~anna") -> Caller:
    context = context_pb2.RequestContext(authorization=user, idempotency_key="" if key is None else str(key))
    return await caller_of(context, identity=TokenIdentity())


class Counter:
    """A keyed change that counts how often it was made."""

    def __init__(self, *, rules: Rules = RULES, twin_wait: timedelta = timedelta(seconds=5)) -> None:
        self.clock = HeldClock()
        self.catalog = MemoryCatalog(clock=self.clock, ids=FreshIds())
        self.once = Once(store=self.catalog.idempotency, clock=self.clock, rules=rules, twin_wait=twin_wait)
        self.made = 0
        self.refuses: Refusal | None = None
        self.running = asyncio.Event()
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def __call__(self, keyed: Keyed | None = None, *, caller: Caller) -> str:
        return await self.once(keyed or a_keyed(), caller=caller, do=self.do, again=self.again)

    async def do(self, keeper: Keeper) -> str:
        self.running.set()
        await self.go_on.wait()
        async with self.catalog.changes.change() as change:
            self.made += 1
            if self.refuses is not None:
                raise self.refuses
            await keeper.keep(change, number=str(self.made))
        return f"made {self.made}"

    async def again(self, kept: Mapping[str, str]) -> str:
        return f"made {kept['number']} before"


async def test_without_a_key_each_call_is_its_own() -> None:
    counter, caller = Counter(), await a_caller()
    assert [await counter(caller=caller), await counter(caller=caller)] == ["made 1", "made 2"]


async def test_under_one_key_a_change_is_made_once() -> None:
    counter, caller = Counter(), await a_caller(uuid4())
    assert [await counter(caller=caller), await counter(caller=caller)] == ["made 1", "made 1 before"]


async def test_keys_are_ignored_where_they_are_switched_off() -> None:
    rules = dataclasses.replace(RULES, idempotency_lifetime=None)
    counter, caller = Counter(rules=rules), await a_caller(uuid4())
    assert [await counter(caller=caller), await counter(caller=caller)] == ["made 1", "made 2"]


async def test_one_key_of_two_principals_is_two_keys() -> None:
    counter, key = Counter(), uuid4()
    await counter(caller=await a_caller(key))
    assert await counter(caller=await a_caller(key, user="oidc~ben")) == "made 2"


@pytest.mark.parametrize(
    "other",
    [a_keyed("rename"), a_keyed(name="t"), a_keyed(body=b'{"a": 1}')],
    ids=["method", "parameters", "body"],
)
async def test_a_key_is_refused_for_another_request(other: Keyed) -> None:
    counter, caller = Counter(), await a_caller(uuid4())
    await counter(caller=caller)
    assert (await refusal_of(counter(other, caller=caller))).reason == Reason.REASON_IDEMPOTENCY_KEY_REUSED


async def test_the_order_of_members_and_spaces_do_not_make_another_request() -> None:
    first, second = (
        a_keyed(body=b'{"a": [1, {"x": 1, "y": 2}], "b": 2}'),
        a_keyed(body=b'{"b":2,"a":[1,{"y":2,"x":1}]}'),
    )
    assert await first.fingerprint() == await second.fingerprint()
    assert await first.fingerprint() != await a_keyed(body=b'{"a": [{"x": 1, "y": 2}, 1], "b": 2}').fingerprint()


async def test_large_integers_are_told_apart_by_a_fingerprint() -> None:
    first, second = (a_keyed(body=json.dumps({"id": 2**62 + n}).encode()) for n in (0, 1))
    assert await first.fingerprint() != await second.fingerprint()


async def test_a_key_is_forgotten_after_its_lifetime_and_grace() -> None:
    counter, caller = Counter(), await a_caller(uuid4())
    await counter(caller=caller)
    counter.clock.advance(timedelta(minutes=34))
    assert await counter(caller=caller) == "made 1 before"
    counter.clock.advance(timedelta(minutes=1))
    assert await counter(caller=caller) == "made 2"


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal(Reason.REASON_NAMESPACE_EXISTS, "it is there", namespace="ns"),
        Refusal(Reason.REASON_NO_SUCH_TABLE, "it is not there", table="ns.t"),
        Refusal(Reason.REASON_TABULAR_PROTECTED, "it is protected", tabular="ns.t"),
        Refusal(Reason.REASON_INVALID_UPDATE, "it can't be", action="set-location"),
    ],
    ids=lambda refusal: str(refusal.reason),
)
async def test_a_lasting_refusal_is_the_answer_to_its_key(refusal: Refusal) -> None:
    counter, caller = Counter(), await a_caller(uuid4())
    counter.refuses = refusal
    first = await refusal_of(counter(caller=caller))
    counter.refuses = None
    second = await refusal_of(counter(caller=caller))
    assert (second.reason, second.message, second.metadata) == (first.reason, first.message, first.metadata)
    assert counter.made == 1


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "it is away"),
        Refusal(Reason.REASON_INTERNAL, "a bug", error_id="1"),
        Refusal(Reason.REASON_COMMIT_STATE_UNKNOWN, "who knows", object="ns.t"),
        Refusal(Reason.REASON_COMMIT_CONFLICT, "lost", object="ns.t", requirement=""),
        Refusal(Reason.REASON_FORBIDDEN, "you may not", kind="table", action="drop"),
        Refusal(Reason.REASON_NO_SUCH_WAREHOUSE, "you may not see it", warehouse="w"),
        Refusal(Reason.REASON_STORE_UNAVAILABLE, "it is away", store="s3"),
    ],
    ids=lambda refusal: str(refusal.reason),
)
async def test_a_refusal_that_a_retry_could_turn_is_not_kept(refusal: Refusal) -> None:
    counter, caller = Counter(), await a_caller(uuid4())
    counter.refuses = refusal
    await refusal_of(counter(caller=caller))
    counter.refuses = None
    assert await counter(caller=caller) == "made 2"


async def test_a_twin_in_this_process_waits_and_is_answered_from_the_first() -> None:
    counter, caller = Counter(), await a_caller(uuid4())
    counter.go_on.clear()
    first = asyncio.ensure_future(counter(caller=caller))
    await counter.running.wait()
    second = asyncio.ensure_future(counter(caller=caller))
    counter.go_on.set()
    assert [await first, await second] == ["made 1", "made 1 before"]


async def test_a_twin_that_waits_too_long_is_told_that_the_first_is_running() -> None:
    counter, caller = Counter(twin_wait=timedelta(milliseconds=1)), await a_caller(uuid4())
    counter.go_on.clear()
    first = asyncio.ensure_future(counter(caller=caller))
    await counter.running.wait()
    assert (await refusal_of(counter(caller=caller))).reason == Reason.REASON_REQUEST_IN_PROGRESS
    counter.go_on.set()
    assert await first == "made 1"


async def test_a_twin_goes_ahead_when_the_first_was_cancelled() -> None:
    counter, caller = Counter(), await a_caller(uuid4())
    counter.go_on.clear()
    first = asyncio.ensure_future(counter(caller=caller))
    await counter.running.wait()
    second = asyncio.ensure_future(counter(caller=caller))
    first.cancel()
    counter.go_on.set()
    assert await second == "made 1"


async def test_a_twin_of_another_process_that_came_first_is_what_the_second_answers_from() -> None:
    counter, caller = Counter(), await a_caller(uuid4())
    twin = Counter()
    twin.catalog = counter.catalog
    twin.once = Once(store=counter.catalog.idempotency, clock=counter.clock, rules=RULES)
    counter.go_on.clear()
    slow = asyncio.ensure_future(counter(caller=caller))
    await counter.running.wait()
    assert await twin(caller=caller) == "made 1"
    counter.go_on.set()
    assert await slow == "made 1 before"


async def test_who_trips_over_what_its_twin_made_is_answered_like_it() -> None:
    counter, caller = Counter(), await a_caller(uuid4())
    twin = Counter()
    twin.catalog = counter.catalog
    twin.once = Once(store=counter.catalog.idempotency, clock=counter.clock, rules=RULES)
    counter.go_on.clear()
    counter.refuses = Refusal(Reason.REASON_NAMESPACE_EXISTS, "the twin made it", namespace="ns")
    slow = asyncio.ensure_future(counter(caller=caller))
    await counter.running.wait()
    await twin(caller=caller)
    counter.go_on.set()
    assert await slow == "made 1 before"


async def test_a_key_that_is_not_a_uuid_is_refused() -> None:
    assert (await refusal_of(a_caller("not-a-uuid"))).reason == Reason.REASON_IDEMPOTENCY_KEY_INVALID


async def test_a_record_holds_no_more_than_ids() -> None:
    counter, key = Counter(), uuid4()
    await counter(caller=await a_caller(key))
    remembered = await counter.catalog.idempotency.find(
        KeyPlace("warehouse/w", "oidc~anna", key), now=counter.clock.now()
    )
    assert remembered == Remembered(await a_keyed().fingerprint(), b'{"done":{"number":"1"}}')
