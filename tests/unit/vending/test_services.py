from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack

import pytest

from lakeward_servicekit.errors import Reason
from lakeward_vending.adapters.network import breaker as breaker_module
from lakeward_vending.adapters.network import services as services_module
from lakeward_vending.adapters.network.breaker import FIRST_REST_SECONDS, LONGEST_REST_SECONDS, Admission, Breaker
from lakeward_vending.adapters.network.refusals import LeftAlone
from lakeward_vending.adapters.network.services import Outcome, Services
from tests.support.vending.fakes import refusal_of

SICK, WELL = "http://sick.test:9000", "http://well.test:9000"


class Seconds:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Kept:
    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clock() -> Seconds:
    return Seconds()


def of(clock: Seconds, **bounds: object) -> Services[Kept]:
    return Services(Kept, now=clock, **bounds)  # type: ignore[arg-type] # as its arguments are


async def one(services: Services[Kept], origin: str = SICK, *, end: str | None) -> None:
    async with services.call(origin) as (_, outcome):
        if end == "answered":
            outcome.answered()
        elif end is not None:
            if end == "slow":
                services._now.now += services_module.SLOW_SECONDS  # type: ignore[attr-defined] # the test's own clock
            outcome.failed()


async def is_left_alone(services: Services[Kept], origin: str = SICK) -> bool:
    try:
        await one(services, origin, end=None)
    except LeftAlone:
        return True
    return False


async def opened(clock: Seconds, failures: int = 3, **bounds: object) -> Services[Kept]:
    services = of(clock, failures=failures, **bounds)
    for _ in range(failures):
        await one(services, end="slow")
    return services


# ---- the breaker -----------------------------------------------------------------------------------------------------


def test_a_breaker_opens_after_so_many_failures_in_a_row_and_an_answer_between_them_counts() -> None:
    breaker = Breaker(3)
    for _ in range(2):
        assert not breaker.failed(0, probe=False)
    breaker.answered()
    for _ in range(2):
        assert not breaker.failed(0, probe=False)
    assert breaker.failed(0, probe=False)
    assert breaker.admit(0) is Admission.RESTS


def test_after_a_rest_one_call_probes_and_its_answer_closes_the_breaker() -> None:
    breaker = Breaker(1)
    breaker.failed(0, probe=False)
    assert breaker.admit(FIRST_REST_SECONDS - 0.1) is Admission.RESTS
    assert breaker.admit(FIRST_REST_SECONDS) is Admission.PROBES
    assert breaker.admit(FIRST_REST_SECONDS) is Admission.RESTS
    assert breaker.answered()
    assert breaker.admit(FIRST_REST_SECONDS) is Admission.GOES


def test_each_failed_probe_doubles_the_rest_up_to_the_longest() -> None:
    breaker, now, rests = Breaker(1), 0.0, []
    breaker.failed(now, probe=False)
    for _ in range(7):
        rests.append(breaker.rests_for(now))
        now += breaker.rests_for(now)
        assert breaker.admit(now) is Admission.PROBES
        breaker.failed(now, probe=True)
    assert rests == [5, 10, 20, 40, 60, 60, 60]
    assert breaker_module.LONGEST_REST_SECONDS == LONGEST_REST_SECONDS == 60


def test_a_probe_that_tells_nothing_leaves_the_next_call_to_probe() -> None:
    breaker = Breaker(1)
    breaker.failed(0, probe=False)
    assert breaker.admit(9) is Admission.PROBES
    breaker.give_up()
    assert breaker.admit(9) is Admission.PROBES


def test_a_breaker_of_no_failures_never_opens() -> None:
    breaker = Breaker(0)
    assert not any(breaker.failed(0, probe=False) for _ in range(100))
    assert breaker.admit(0) is Admission.GOES


# ---- services --------------------------------------------------------------------------------------------------------


async def test_a_service_that_does_not_answer_is_left_alone_by_name_and_others_are_not(clock: Seconds) -> None:
    services = await opened(clock)
    refusal = await refusal_of(one(services, end=None))
    assert isinstance(refusal, LeftAlone)
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_STORE_UNAVAILABLE, {"store": SICK})
    assert f"{SICK} did not answer and is left alone; it is tried again in 5 s" in refusal.message
    await one(services, WELL, end="answered")


async def test_a_service_recovers_by_one_probe_and_each_change_is_logged(
    clock: Seconds, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, services_module.__name__)
    services = await opened(clock)
    clock.now += FIRST_REST_SECONDS
    async with services.call(SICK) as (_, outcome):
        assert await is_left_alone(services)  # one probes, the others go on being refused
        outcome.answered()
    await one(services, end="answered")
    told = [(record.message, getattr(record, "store", None)) for record in caplog.records]
    assert told == [
        ("a store does not answer and is left alone for a while", SICK),
        ("a store answers again", SICK),
    ]


async def test_failures_that_hold_nobody_up_are_told_each_time_and_open_nothing(clock: Seconds) -> None:
    """A store that is down refuses connections at once, and is to be there again as soon as it is up."""
    services = of(clock, failures=2)
    for _ in range(20):
        await one(services, end="refused")
    await one(services, end="answered")


async def test_a_probe_that_is_refused_at_once_leaves_the_next_call_to_probe(clock: Seconds) -> None:
    services = await opened(clock)
    clock.now += FIRST_REST_SECONDS
    await one(services, end="refused")
    await one(services, end="answered")
    assert not await is_left_alone(services)


async def given_up_after(patience: float, services: Services[Kept], clock: Seconds) -> None:
    async def call() -> None:
        async with services.call(SICK):
            clock.now += patience
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await call()


async def test_a_caller_that_gives_up_on_a_slow_service_has_found_it_failing(clock: Seconds) -> None:
    """Callers' patience may end before a call's own: without this a service that hangs would never be found out."""
    services = of(clock, failures=2)
    for patience in (0.1, 0.1, 0.1, 6.0, 6.0):
        assert not await is_left_alone(services)
        await given_up_after(patience, services, clock)
    assert await is_left_alone(services)


async def held(services: Services[Kept], origin: str, stack: AsyncExitStack, count: int) -> list[Outcome]:
    return [(await stack.enter_async_context(services.call(origin)))[1] for _ in range(count)]


async def test_a_service_has_its_slots_and_one_that_is_full_holds_nobody_else(clock: Seconds) -> None:
    services = of(clock, per_service=4, wait_seconds=0.01)
    async with AsyncExitStack() as stack:
        await held(services, SICK, stack, 4)
        assert (await refusal_of(one(services, end=None))).message.startswith(f"{SICK} is busy")
        await one(services, WELL, end="answered")
    await one(services, end="answered")


async def test_services_that_never_answered_leave_slots_to_those_that_do(
    clock: Seconds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services_module, "UNPROVEN_AT_ONCE", 6)
    services = of(clock, per_service=2, wait_seconds=0.01)
    await one(services, WELL, end="answered")
    async with AsyncExitStack() as stack:
        for number in range(3):
            await held(services, f"http://sick{number}.test", stack, 2)
        assert await is_left_alone(services, "http://sick4.test")
        await one(services, WELL, end="answered")


async def test_all_services_together_have_a_bound(clock: Seconds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services_module, "AT_ONCE", 3)
    services = of(clock, wait_seconds=0.01)
    for origin in (SICK, WELL):
        await one(services, origin, end="answered")
    async with AsyncExitStack() as stack:
        await held(services, SICK, stack, 3)
        assert await is_left_alone(services, WELL)
    await one(services, WELL, end="answered")


async def test_more_than_may_wait_are_refused_at_once(clock: Seconds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services_module, "WAITING_PER_SERVICE", 2)
    services = of(clock, per_service=1, wait_seconds=3600)
    async with AsyncExitStack() as stack:
        await held(services, SICK, stack, 1)
        waiting = [asyncio.create_task(one(services, end="answered")) for _ in range(2)]
        await asyncio.sleep(0)
        assert await is_left_alone(services)
    await asyncio.gather(*waiting)


async def test_who_waits_for_a_slot_when_the_breaker_opens_is_refused_then(clock: Seconds) -> None:
    services = of(clock, per_service=1, failures=1, wait_seconds=3600)
    async with services.call(SICK) as (_, outcome):
        waiting = [asyncio.create_task(is_left_alone(services)) for _ in range(5)]
        await asyncio.sleep(0)
        clock.now += services_module.SLOW_SECONDS
        outcome.failed()
    assert await asyncio.gather(*waiting) == [True] * 5


async def test_services_are_forgotten_beyond_a_bound_and_never_while_they_are_called(clock: Seconds) -> None:
    services = of(clock, remembered=3)
    kept: list[Kept] = []
    async with services.call(WELL) as (well, _):
        for number in range(50):
            async with services.call(f"http://{number}.test") as (service, _):
                kept.append(service.kept)
        assert len(services) == 3
        assert sum(not each.closed for each in kept) == 2
        assert not well.kept.closed
    services.close()
    assert all(each.closed for each in (*kept, well.kept))


async def test_no_call_leaves_a_slot_taken_however_it_ends(clock: Seconds) -> None:
    services = of(clock, per_service=1, failures=0, wait_seconds=0.01)
    for end in ("answered", "refused", "slow", None) * 3:
        await one(services, end=end)
    await given_up_after(1, services, clock)
    async with services.call(SICK):
        assert await is_left_alone(services)  # two calls have one slot
    await one(services, end="answered")
