"""What nobody needs any more goes, a few rows at a time."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, Protocol

from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.leases import Lease
from lakeward_servicekit.system import Clock

_LOG: Final = logging.getLogger("lakeward_catalog.sweeping")
SWEEPER: Final = "sweeper"


class Leftovers(Protocol):
    """What can be swept. Each method answers how many rows went, at most `limit`; locked rows wait for the next round."""

    async def expired_staged(self, *, now: datetime, limit: int) -> int:
        """Staged tabulars whose commit did not come in time."""
        ...

    async def forgotten_keys(self, *, now: datetime, limit: int) -> int:
        """Records of idempotency keys that have expired."""
        ...

    async def old_attempts(self, *, before: datetime, limit: int) -> int:
        """Records of attempts that ended before this, of what is no project's any more."""
        ...

    async def old_counts(self, *, before: datetime, limit: int) -> int:
        """Counts of requests, of hours that ended before this."""
        ...

    async def old_events(self, *, days: int) -> int:
        """Events that were logged more than `days` days ago; answers how many days went."""
        ...

    async def old_snapshots(self, *, before: datetime, limit: int) -> int:
        """Snapshots, for who reads events from the beginning, that were made before this."""
        ...


class ForgetSecrets(Protocol):
    """`Secrets.forget_left`."""

    async def __call__(self, *, before: datetime, limit: int) -> int:
        """See there."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Retention:
    """How long things are kept.

    Attributes:
        events: whole days, 1 to 14.
        snapshots: from which events are read.
        attempts: of tasks that are no project's any more.
        counts: of requests.
        keys_within: the longest that one round of sweeping keys of idempotency takes; the next one goes on.
        every: how often is swept.
        rows: in one statement.
        secrets: that no warehouse names any more; who made it so forgets them, and is left this time for it.
    """

    events: int = 7
    snapshots: timedelta = timedelta(days=1)
    attempts: timedelta = timedelta(days=90)
    counts: timedelta = timedelta(days=90)
    keys_within: timedelta = timedelta(seconds=30)
    every: timedelta = timedelta(minutes=1)
    rows: int = 1000
    secrets: timedelta = timedelta(minutes=1)


async def sweep(
    _lease: Lease, *, leftovers: Leftovers, secrets: ForgetSecrets, clock: Clock, retention: Retention
) -> None:
    """Sweep again and again, until cancelled.

    Args:
        _lease: of `SWEEPER`; two that sweep at once would only be in each other's way.
        leftovers: what is swept.
        secrets: forgets those that no warehouse names.
        clock: the time.
        retention: how long things are kept.
    """
    while True:
        await sweep_once(leftovers=leftovers, secrets=secrets, clock=clock, retention=retention)
        await asyncio.sleep(retention.every.total_seconds())


async def sweep_once(*, leftovers: Leftovers, secrets: ForgetSecrets, clock: Clock, retention: Retention) -> None:
    """Sweep everything that is to be swept now; what can't be swept does not keep the rest."""
    now, rows = clock.now(), retention.rows

    async def staged() -> int:
        return await leftovers.expired_staged(now=now, limit=rows)

    async def keys() -> int:
        return await leftovers.forgotten_keys(now=now, limit=rows)

    async def attempts() -> int:
        return await leftovers.old_attempts(before=now - retention.attempts, limit=rows)

    async def counts() -> int:
        return await leftovers.old_counts(before=now - retention.counts, limit=rows)

    async def snapshots() -> int:
        return rows * await leftovers.old_snapshots(before=now - retention.snapshots, limit=1)  # each has many

    async def unnamed_secrets() -> int:
        return await secrets(before=now - retention.secrets, limit=rows)

    async def events() -> int:
        return 0 if await leftovers.old_events(days=retention.events) == 0 else rows

    for what, within in (
        (staged, None),
        (keys, retention.keys_within),
        (attempts, None),
        (counts, None),
        (events, None),
        (snapshots, None),
        (unnamed_secrets, None),
    ):
        await _all_of(what, rows=rows, within=within)


async def _all_of(what: Callable[[], Awaitable[int]], *, rows: int, within: timedelta | None) -> None:
    try:
        async with asyncio.timeout(None if within is None else within.total_seconds()):
            while await what() >= rows:
                pass
    except TimeoutError:
        _LOG.warning("sweeping was stopped, and goes on in the next round", extra={"what": what.__name__})
    except Refusal as refused:
        _LOG.warning("something was not swept", extra={"what": what.__name__, "refusal": str(refused)})
