"""Queued work: claimed under a fence, kept alive from outside, tried again with pauses, and never silently given up.

A task is claimed by one worker, which says from a timer of its own that it still works on it. A worker that stops saying so is
given up and the task is claimed again; that attempt counts. After the last attempt the task stays where people see it, as
failed, until someone has it run again.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, Protocol

from lakeward_catalog.application.announcements import Announcer, Occasion, TabularChange
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.ports.files import Files
from lakeward_catalog.application.ports.stores import WarehouseStore
from lakeward_catalog.application.ports.system import Clock
from lakeward_catalog.application.relay import Bell, retry_pause
from lakeward_catalog.domain.events import Actor
from lakeward_catalog.domain.model import State
from lakeward_catalog.domain.tasks import NewTask, Queue, Task
from lakeward_catalog.domain.wording import no_such_warehouse
from lakeward_locations import Location
from lakeward_servicekit.errors import Refusal

_LOG: Final = logging.getLogger("lakeward_catalog.workers")
_TRACE: Final = "background"  # in place of a request's id, in events


@dataclasses.dataclass(frozen=True, slots=True)
class Terms:
    """How a queue's tasks are worked on.

    Attributes:
        silence: after which a worker that says nothing is given up.
        attempts: how often a task is begun at most, given-up ones too.
        first_retry: pause after a failed attempt; doubled with each.
        last_retry: the longest pause.
        poll: how often an idle worker looks.
    """

    silence: timedelta
    attempts: int = 5
    first_retry: timedelta = timedelta(seconds=10)
    last_retry: timedelta = timedelta(hours=1)
    poll: timedelta = timedelta(seconds=10)


TERMS: Final[Mapping[Queue, Terms]] = {
    Queue.TABULAR_PURGE: Terms(silence=timedelta(minutes=5)),
    Queue.SOFT_DELETION: Terms(silence=timedelta(minutes=2)),
}


class TaskStore(Protocol):
    """Queued tasks, and the record of their attempts. All methods raise Refusal DATABASE_UNAVAILABLE."""

    async def claim(self, queue: Queue, *, now: datetime, silence: timedelta, attempts: int) -> Task | None:
        """Begin an attempt at the task that is due longest; None where none is due. No two claims get one task.

        A task whose worker has been silent for too long is due again; its attempt is recorded as failed. One that has
        had all its attempts is left as failed. A purge is left as failed too where a tabular, of any state, overlaps what it
        would delete; from the claim on, and until the task ends, `Change.purge_pending` keeps others from moving in there.
        """
        ...

    async def keep(self, task: Task, *, now: datetime, silence: timedelta, progress: int) -> bool:
        """Say that it is being worked on; False where it is another's by now, was cancelled, or is to be stopped.

        Args:
            task: as claimed.
            now: the time.
            silence: how long nothing more need be said; the task's own.
            progress: units of work done in this attempt, from its beginning.
        """
        ...

    async def finish(self, task: Task, *, now: datetime, message: str, progress: int) -> bool:
        """Record success and take it from the queue; False, and nothing recorded, where it is another's by now."""
        ...

    async def stopped(self, task: Task, *, now: datetime, progress: int, retry_at: datetime | None) -> None:
        """Record that it was stopped, where that was asked for: for another attempt at `retry_at`, or for good."""

    async def fail(self, task: Task, *, now: datetime, message: str, progress: int, retry_at: datetime | None) -> bool:
        """Record a failed attempt; due again at `retry_at`, or, without one, failed for good and visible. False as above."""
        ...


@dataclasses.dataclass(slots=True)
class Progress:
    """What an attempt has done so far; its handler counts, its heartbeat tells."""

    done: int = 0


Handler = Callable[[Task, Progress], Awaitable[str]]
"""Does a task's work and answers what it did, for people. It may be cancelled anywhere and begun again by another."""


@dataclasses.dataclass(frozen=True, slots=True)
class Worker:
    """Works on a queue; run as many side by side as there shall be workers.

    Attributes:
        handle: does the work of one task.
        bell: rings when a task may have become due.
        jitter: 0 to 1; spreads polls and retries.
    """

    queue: Queue
    tasks: TaskStore
    handle: Handler
    clock: Clock
    bell: Bell
    jitter: Callable[[], float]
    terms: Terms

    async def work(self) -> None:
        """Work until cancelled."""
        terms = self.terms
        while True:
            try:
                now = self.clock.now()
                task = await self.tasks.claim(self.queue, now=now, silence=terms.silence, attempts=terms.attempts)
                if task is not None:
                    await self.attempt(task)
                    continue
            except Refusal as refused:
                _LOG.warning("a queue can't be worked on", extra={"queue": self.queue.value, "refusal": str(refused)})
            await self.bell.wait(terms.poll * (1 + self.jitter() / 20))

    async def attempt(self, task: Task) -> None:
        """One attempt at a claimed task, kept alive while it runs; its outcome is recorded."""
        progress = Progress()
        extra = {"queue": task.queue.value, "task": str(task.task_id), "attempt": task.attempt}
        working = asyncio.ensure_future(self.handle(task, progress))
        keeping = asyncio.create_task(self._keep_alive(task, progress))
        try:
            await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                _LOG.warning("a task is not this worker's any more, or is to be stopped; it stops", extra=extra)
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
                now = self.clock.now()
                retry_at = self._retry_at(task, now)
                await self.tasks.stopped(task, now=now, progress=progress.done, retry_at=retry_at)
                return
            message = await working
        except Exception as failed:  # noqa: BLE001 - a background loop: whatever an attempt raises is its outcome
            told = str(failed) if isinstance(failed, Refusal) else f"{type(failed).__name__}: see the log"
            _LOG.warning("an attempt at a task failed", extra=extra, exc_info=not isinstance(failed, Refusal))
            now, done = self.clock.now(), progress.done
            await self.tasks.fail(task, now=now, message=told, progress=done, retry_at=self._retry_at(task, now))
        else:
            await self.tasks.finish(task, now=self.clock.now(), message=message, progress=progress.done)
            _LOG.info("a task is done", extra={**extra, "done": progress.done})
        finally:
            working.cancel()
            keeping.cancel()
            await asyncio.gather(working, keeping, return_exceptions=True)

    def _retry_at(self, task: Task, now: datetime) -> datetime | None:
        terms, attempt = self.terms, task.attempt - task.spent
        if attempt >= terms.attempts:
            return None
        pause = retry_pause(attempt, first=terms.first_retry, last=terms.last_retry, jitter=self.jitter())
        return now + timedelta(seconds=pause)

    async def _keep_alive(self, task: Task, progress: Progress) -> None:
        """Say that the task is being worked on; return when it is not ours any more."""
        silence = task.silence
        while True:
            await asyncio.sleep(silence.total_seconds() / 4)
            try:
                if not await self.tasks.keep(task, now=self.clock.now(), silence=silence, progress=progress.done):
                    return
            except Refusal as refused:  # there is time for some more tries before the silence is over
                _LOG.info(
                    "a task's heartbeat was not heard", extra={"task": str(task.task_id), "refusal": str(refused)}
                )


@dataclasses.dataclass(frozen=True, slots=True)
class Purges:
    """Deletes files of tabulars that are gone, a page at a time. What an earlier attempt deleted is simply not there."""

    warehouses: WarehouseStore
    files: Files

    async def __call__(self, task: Task, progress: Progress) -> str:
        """Delete every file of one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, STORE_UNAVAILABLE, STORE_DENIED.
        """
        warehouse = await self.warehouses.find(task.warehouse_id)
        if warehouse is None:
            raise no_such_warehouse(task.warehouse_id)
        location = Location.parse(task.location)
        nothing_left = False
        while not nothing_left:
            deleted, nothing_left = await self.files.purge_page(warehouse, task.incarnation, location)
            progress.done += deleted
        return "Purged tabular data"


@dataclasses.dataclass(frozen=True, slots=True)
class Expiries:
    """Deletes soft-deleted tabulars for good, and queues the purge of their files where the drop asked for it."""

    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, task: Task, progress: Progress) -> str:
        """Delete one."""
        async with self.changes.change() as change:
            tabular = await change.tabulars.lock_incarnation(task.warehouse_id, task.incarnation)
            # It may have been restored and dropped again, for another while.
            if tabular is None or tabular.state is not State.DROPPED or not await change.tasks.is_held(task):
                return "The tabular was restored, or is gone already"
            now = self.clock.now()
            await change.tabulars.delete(tabular)
            if task.purge:
                purge = NewTask.of(tabular, Queue.TABULAR_PURGE, created_at=now, scheduled_for=now)
                await change.tasks.enqueue(dataclasses.replace(purge, parent_id=task.task_id))
            when = Occasion(now, Actor(None), _TRACE)
            event = self.announcer.tabular(TabularChange.DROPPED, tabular, when, data={"expired": True})
            change.ledger.emit(event)
        progress.done += 1
        return "Deleted tabular"
