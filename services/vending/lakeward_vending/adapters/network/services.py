"""Who may be called now: slots and a breaker for each service, within bounds for all of them.

Any user who may make a warehouse names a service, and it may hang, drip or vanish. So one service has a part of the slots; those
that did not answer lately share another part, however many they are; and one that fails again and again is left alone for a
while. What is remembered is bounded too.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from contextlib import ExitStack, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from lakeward_vending.adapters.network.breaker import Admission, Breaker
from lakeward_vending.adapters.network.refusals import LeftAlone

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

_log = logging.getLogger(__name__)

DEFAULT_PER_SERVICE: Final = 64
DEFAULT_FAILURES: Final = 10
AT_ONCE: Final = 512
# Of those, for all services together whose last call was not answered: the others never run out of slots by them.
UNPROVEN_AT_ONCE: Final = 128
WAITING_PER_SERVICE: Final = 512
WAIT_SECONDS: Final = 10.0
REMEMBERED: Final = 1024
# A failure that took less holds nobody up, as that of a port where nobody listens: it needs no breaker, and is over when it is
# over.
SLOW_SECONDS: Final = 1.0
# A caller that gives up after so long found the service failing, though it did not wait for the end.
_TELLING_SECONDS: Final = 5.0


class Closes(Protocol):
    """What is kept of a service between calls."""

    def close(self) -> None:
        """Let it go."""


Kept = TypeVar("Kept", bound=Closes)


class Service(Generic[Kept]):
    """One service, by scheme, host and port.

    Attributes:
        kept: whatever its caller keeps between calls.
    """

    def __init__(self, origin: str, kept: Kept, *, slots: int, failures: int) -> None:
        """Known, and not called yet."""
        self.origin: Final = origin
        self.kept: Final = kept
        self.slots: Final = asyncio.Semaphore(slots)
        self.breaker: Final = Breaker(failures)
        self.users = 0


class Outcome:
    """How a call ended, told by whoever made it."""

    def __init__(self) -> None:
        """Not known yet."""
        self.did_answer: bool | None = None

    def answered(self) -> None:
        """There was a reply, whatever it says."""
        self.did_answer = True

    def failed(self) -> None:
        """There was none, or none that could be read."""
        self.did_answer = False


class Services(Generic[Kept]):
    """The services that are called.

    Args:
        keep: makes what is kept of a new one.
        per_service: calls to one at once.
        failures: how many slow ones in a row open its breaker; 0: none do.
        wait_seconds: longest wait for a slot.
        remembered: most services that are remembered while they are not called.
        now: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        keep: Callable[[], Kept],
        *,
        per_service: int = DEFAULT_PER_SERVICE,
        failures: int = DEFAULT_FAILURES,
        wait_seconds: float = WAIT_SECONDS,
        remembered: int = REMEMBERED,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Know none; see the class."""
        self._keep = keep
        self._per_service = per_service
        self._failures = failures
        self._wait_seconds = wait_seconds
        self._remembered = remembered
        self._now = now
        self._all = asyncio.Semaphore(AT_ONCE)
        self._unproven = asyncio.Semaphore(UNPROVEN_AT_ONCE)
        self._services: dict[str, Service[Kept]] = {}

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._services)

    def close(self) -> None:
        """Let go of everything that is kept."""
        for service in self._services.values():
            service.kept.close()
        self._services.clear()

    @asynccontextmanager
    async def call(self, origin: str) -> AsyncIterator[tuple[Service[Kept], Outcome]]:
        """A slot for one call to a service. The block says how the call ended.

        Args:
            origin: as "https://s3.example.com"; lower case.

        Raises:
            LeftAlone: the breaker is open, or no slot became free in time.
        """
        service = self._known(origin)
        if service.users >= self._per_service + WAITING_PER_SERVICE:
            raise LeftAlone(origin, "is busy: too many calls wait for it already; retry, or see why it is slow")
        service.users += 1
        try:
            with ExitStack() as slots:
                self._check_rest(service)  # who waits behind a service that is left alone waits for nothing
                await self._take_slots(service, slots)
                probe = self._admit(service)
                outcome, begun = Outcome(), self._now()
                try:
                    yield service, outcome
                finally:
                    self._learn(service, outcome, probe=probe, took=self._now() - begun)
        finally:
            service.users -= 1
            self._forget_some()

    async def _take_slots(self, service: Service[Kept], slots: ExitStack) -> None:
        some_taken = service.slots.locked() or self._unproven.locked() or self._all.locked()
        try:
            # Where all are free nothing is waited for, and a timer costs more than they do.
            async with asyncio.timeout(self._wait_seconds) if some_taken else nullcontext():
                await _take(service.slots, slots)
                if not service.breaker.proven:
                    await _take(self._unproven, slots)
                await _take(self._all, slots)
        except TimeoutError as error:
            raise LeftAlone(
                service.origin,
                f"is busy: no slot for a call became free within {self._wait_seconds:g} s; retry, or see why it is slow",
            ) from error

    def _check_rest(self, service: Service[Kept]) -> None:
        if service.breaker.is_open and service.breaker.rests_for(self._now()) > 0:
            raise self._left_alone(service)

    def _admit(self, service: Service[Kept]) -> bool:
        """Whether this call is a probe."""
        admission = service.breaker.admit(self._now())
        if admission is Admission.RESTS:
            raise self._left_alone(service)
        return admission is Admission.PROBES

    def _left_alone(self, service: Service[Kept]) -> LeftAlone:
        seconds = math.ceil(service.breaker.rests_for(self._now())) or 1
        return LeftAlone(
            service.origin,
            f"did not answer and is left alone; it is tried again in {seconds} s. Check the endpoint, or retry then",
        )

    def _learn(self, service: Service[Kept], outcome: Outcome, *, probe: bool, took: float) -> None:
        breaker = service.breaker
        if outcome.did_answer:
            if breaker.answered():
                _log.info("a store answers again", extra={"store": service.origin})
            return
        patience = _TELLING_SECONDS if outcome.did_answer is None else SLOW_SECONDS
        if outcome.did_answer is False:
            breaker.proven = False
        if took < patience:
            if probe:
                breaker.give_up()
        elif breaker.failed(self._now(), probe=probe):
            seconds = breaker.rests_for(self._now())
            _log.warning(
                "a store does not answer and is left alone for a while",
                extra={"store": service.origin, "seconds": round(seconds), "probed": probe},
            )

    def _known(self, origin: str) -> Service[Kept]:
        service = self._services.pop(origin, None)
        if service is None:
            service = Service(origin, self._keep(), slots=self._per_service, failures=self._failures)
        self._services[origin] = service  # the last is the one that was called last
        return service

    def _forget_some(self) -> None:
        """Forget services that nobody calls, those first that were called longest ago."""
        surplus = len(self._services) - self._remembered
        if surplus <= 0:
            return
        for origin in [origin for origin, service in self._services.items() if not service.users][:surplus]:
            self._services.pop(origin).kept.close()


async def _take(slot: asyncio.Semaphore, slots: ExitStack) -> None:
    """Take one, which the stack gives back."""
    await slot.acquire()
    slots.callback(slot.release)
