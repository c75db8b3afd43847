"""Work that one process at a time may do: a lease with a fencing number.

Who holds the lease renews it from a task of its own while the work runs in another, so that work which blocks or waits
does not lose it. A holder that can't renew stops its work before the lease runs out. A clock that jumps or a process
that is paused can still make two believe that they hold it: what such work writes carries the fence, which grows with
each holder, and who stores it refuses a smaller one than it has seen.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol

from lakeward_servicekit.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_LOG: Final = logging.getLogger(__name__)
LIFETIME: Final = timedelta(seconds=15)
_RENEWALS: Final = 3  # in one lifetime, so that one that fails does not lose the lease
_MARGIN: Final = 0.8  # of the lifetime; after it the work is stopped, before anybody else may begin


@dataclasses.dataclass(frozen=True, slots=True)
class Lease:
    """A lease that was acquired.

    Attributes:
        name: what it is for: "outbox-sequencer".
        holder: who has it; unique for each process and attempt to hold.
        fence: larger than that of every earlier holder of this name.
    """

    name: str
    holder: str
    fence: int


class LeaseStore(Protocol):
    """The leases of one service. Time is the store's own, so holders' clocks need not agree."""

    async def acquire(self, name: str, *, holder: str, lifetime: timedelta) -> Lease | None:
        """Take a lease that nobody holds, or whose time ran out; None while another has it.

        The fence is larger than any that this name had before. A holder that asks again while it holds gets its own
        lease with the same fence and a new lifetime. Raises Refusal (DATABASE_UNAVAILABLE).
        """
        ...

    async def renew(self, lease: Lease, *, lifetime: timedelta) -> bool:
        """Hold on for another lifetime from now.

        False when the lease is another's by now, or was released; also when its time ran out, though nobody took it.
        Raises Refusal (DATABASE_UNAVAILABLE), after which the lease may have been renewed or not.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Let others have it at once; nothing happens where it is not held any more. Raises Refusal."""


async def hold(
    store: LeaseStore,
    name: str,
    work: Callable[[Lease], Awaitable[None]],
    *,
    holder: str,
    lifetime: timedelta = LIFETIME,
) -> bool:
    """Run `work` while the lease is held, if it can be had.

    Args:
        store: of the service that owns the work.
        name: of the lease.
        work: gets the lease, whose fence belongs into what it writes; cancelled when the lease is lost.
        holder: unique for this process.
        lifetime: after which others may take a lease that was not renewed.

    Returns:
        True when the work came to its own end; False when the lease was another's or was lost on the way.

    Raises:
        Refusal: the store was away when the lease was asked for.
        Exception: what `work` raised.
    """
    asked = asyncio.get_running_loop().time()
    lease = await store.acquire(name, holder=holder, lifetime=lifetime)
    if lease is None:
        return False
    _LOG.info("lease acquired", extra={"lease": name, "fence": lease.fence})
    working = asyncio.ensure_future(work(lease))
    renewing = asyncio.create_task(_renew(store, lease, lifetime, asked=asked))
    try:
        await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            _LOG.warning("lease lost; its work is stopped", extra={"lease": name, "fence": lease.fence})
            return False
        await working
        return True
    finally:
        await _end(working, renewing)
        await _release(store, lease)


async def keep_holding(
    store: LeaseStore,
    name: str,
    work: Callable[[Lease], Awaitable[None]],
    *,
    holder: str,
    lifetime: timedelta = LIFETIME,
    pause: Callable[[timedelta], Awaitable[None]] | None = None,
) -> None:
    """Hold the lease whenever it can be had, until cancelled; for loops that never end by themselves.

    Work that fails, and a store that is away, are logged, and after a pause everything begins anew.

    Args:
        store: see `hold`.
        name: see `hold`.
        work: see `hold`.
        holder: see `hold`.
        lifetime: see `hold`; the pause between two attempts is a third of it.
        pause: in place of asyncio.sleep.
    """
    wait = pause or _sleep
    while True:
        try:
            await hold(store, name, work, holder=holder, lifetime=lifetime)
        except Refusal as refused:
            _LOG.warning("background work was refused", extra={"lease": name, "refusal": str(refused)})
        except Exception:  # noqa: BLE001 - the loop of a background task goes on whatever one round of it raised
            _LOG.exception("background work failed", extra={"lease": name})
        await wait(lifetime / _RENEWALS)


async def _renew(store: LeaseStore, lease: Lease, lifetime: timedelta, *, asked: float) -> None:
    """Return when the lease is lost, or may be before another answer comes.

    Args:
        store: see `hold`.
        lease: what is held.
        lifetime: of the lease.
        asked: when it was asked for, by the loop's clock: its lifetime began no earlier.
    """
    loop = asyncio.get_running_loop()
    safe = lifetime.total_seconds() * _MARGIN
    try:
        while True:
            async with asyncio.timeout_at(asked + safe):
                await asyncio.sleep(lifetime.total_seconds() / _RENEWALS)
                now = loop.time()
                try:
                    if not await store.renew(lease, lifetime=lifetime):
                        return
                    asked = now
                except Refusal as refused:
                    _LOG.warning("a lease was not renewed", extra={"lease": lease.name, "refusal": str(refused)})
    except TimeoutError:
        return


async def _end(*tasks: asyncio.Future[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _release(store: LeaseStore, lease: Lease) -> None:
    try:
        await store.release(lease)
    except Refusal as refused:  # it runs out by itself
        _LOG.info("a lease was not released", extra={"lease": lease.name, "refusal": str(refused)})


async def _sleep(span: timedelta) -> None:
    await asyncio.sleep(span.total_seconds())
