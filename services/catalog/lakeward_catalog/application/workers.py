"""Queued work: claimed under a fence, kept alive from outside, tried again with pauses, and never silently given up.

A task is claimed by one worker, which says from a timer of its own that it still works on it. A worker that stops saying so is
given up and the task is claimed again; that attempt counts. After the last attempt the task stays where people see it, as
failed, until someone has it run again.

Where tasks take next to no time, a worker claims several and records what came of them together: each trip to the database, and
each commit, serves all. It learns how many by how long they take, so that it holds what it will have done in a moment; what it
has not begun by then it gives back. Only first attempts are claimed so: a task whose worker went is claimed alone from then on,
and takes no other one with it a second time.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any, Final, Protocol

from lakeward_catalog.domain.tasks import Queue, Task
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.events.relay import Bell, retry_pause
from lakeward_servicekit.system import Clock
from lakeward_servicekit.telemetry.metrics import LONG, Histogram

_LOG: Final = logging.getLogger("lakeward_catalog.workers")
_MOST_AT_ONCE: Final = 64
# How long what was claimed together may take, and how much of that lets a worker claim more.
_A_MOMENT: Final = timedelta(seconds=0.2)
_QUICK: Final = _A_MOMENT / 4
_SETTLED_WITHIN: Final = 2.0  # seconds, when the process ends
ATTEMPTS: Final = Histogram(
    "lakeward_task_attempt_seconds",
    "How long attempts at tasks took; `outcome` is `success`, `failed`, `given_up` (never tried again), `postponed` (more is to "
    "be done) or `stopped` (asked to, or taken by another worker).",
    ("queue", "outcome"),
    bounds=LONG,
)


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


class TaskStore(Protocol):
    """Queued tasks, and the record of their attempts. All methods raise Refusal DATABASE_UNAVAILABLE."""

    async def claim(self, queue: Queue, *, now: datetime, silence: timedelta, attempts: int) -> Task | None:
        """Begin an attempt at the task that is due longest; None where none is due. No two claims get one task.

        A warehouse that has queued more than one task a second stands in line behind itself, so that others need not wait for
        all of it. A task whose worker has been silent for too long is due again; its attempt is recorded as failed. One that has
        had all its attempts is left as failed. A purge is left as failed too where a tabular, of any state, overlaps what it
        would delete; from the claim on, and until the task ends, `Change.purge_pending` keeps others from moving in there.
        """
        ...

    async def claim_several(self, queue: Queue, *, now: datetime, silence: timedelta, most: int) -> Sequence[Task]:
        """Begin the first attempts at those of whom it is the turn, in that order, up to one that needs a look by `claim`.

        Empty where nothing is due, where the next one was begun before, and for queues whose tasks are looked at one by one.
        """
        ...

    async def give_back(self, tasks: Sequence[Task], *, now: datetime) -> None:
        """Undo the claim of tasks that were not begun: no attempt was made. Those that are to stop have stopped."""

    async def finish_all(self, ended: Sequence[Ended]) -> None:
        """`finish` each, in one change; those that are another's by now are left to it."""

    async def keep(
        self, task: Task, *, now: datetime, silence: timedelta, progress: int, total: int | None = None
    ) -> bool:
        """Say that it is being worked on; False where it is another's by now, was cancelled, or is to be stopped.

        Args:
            task: as claimed.
            now: the time.
            silence: how long nothing more need be said; the task's own.
            progress: units of work done in this attempt, from its beginning.
            total: of which that is a part; None where nobody knows.
        """
        ...

    async def finish(self, task: Task, *, now: datetime, message: str, progress: int) -> bool:
        """Record success and take it from the queue; False, and nothing recorded, where it is another's by now."""
        ...

    async def stopped(self, task: Task, *, now: datetime, progress: int, retry_at: datetime | None) -> None:
        """Record that it was stopped, where that was asked for: for another attempt at `retry_at`, or for good."""

    async def postpone(self, task: Task, again: Again, *, progress: int) -> bool:
        """Let it wait; no attempt is recorded. False where it is another's by now, or was to stop."""
        ...

    async def fail(self, task: Task, *, now: datetime, message: str, progress: int, retry_at: datetime | None) -> bool:
        """Record a failed attempt; due again at `retry_at`, or, without one, failed for good and visible. False as above.

        One that is to be cancelled is not made again: it is recorded as cancelled.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """A success that is to be recorded; `message` and `progress` as in `TaskStore.finish`."""

    task: Task
    at: datetime
    message: str
    progress: int


@dataclasses.dataclass(slots=True)
class Progress:
    """What an attempt has done so far, and of how much where that is known; its handler counts, its heartbeat tells."""

    done: int = 0
    total: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Again:
    """The task goes on at a time, with all its attempts: it waits for something.

    Attributes:
        message: for what, for people.
        plan: what it has to know then.
    """

    at: datetime
    message: str
    plan: Mapping[str, Any]


class GivenUp(Exception):  # noqa: N818 - an outcome
    """No further attempt can do better: the task has failed, and says why."""


Handler = Callable[[Task, Progress], Awaitable[str | Again]]
"""Does a task's work and answers what it did, for people. It may be cancelled anywhere and begun again by another."""


@dataclasses.dataclass(slots=True)
class _Batch:
    """What was claimed together: what is not begun yet, and what succeeded and is not recorded yet.

    `relieved` says that it has taken too long, and that both are seen to.
    """

    waiting: deque[Task]
    ended: list[Ended] = dataclasses.field(default_factory=list)
    relieved: bool = False

    async def take(self, ended: Ended) -> None:
        self.ended.append(ended)


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
        most, loop = 1, asyncio.get_running_loop()
        while True:
            try:
                began = loop.time()
                if tasks := await self._claimed(most):
                    if len(tasks) == 1:
                        await self.attempt(tasks[0])
                    else:
                        await self._work_off(tasks)
                    quick = loop.time() - began < _QUICK.total_seconds()
                    most = min(most * 2, _MOST_AT_ONCE) if quick else max(most // 4, 1)
                    continue
            except Refusal as refused:
                _LOG.warning("a queue can't be worked on", extra={"queue": self.queue.value, "refusal": str(refused)})
            await self.bell.wait(self.terms.poll * (1 + self.jitter() / 20))

    async def _claimed(self, most: int) -> Sequence[Task]:
        terms, now = self.terms, self.clock.now()
        if most > 1:
            several = await self.tasks.claim_several(self.queue, now=now, silence=terms.silence, most=most)
            if several:
                return several
        task = await self.tasks.claim(self.queue, now=now, silence=terms.silence, attempts=terms.attempts)
        return () if task is None else (task,)

    async def _work_off(self, tasks: Sequence[Task]) -> None:
        """One attempt at each, one after another, for a moment; the rest is given back."""
        loop, batch = asyncio.get_running_loop(), _Batch(deque(tasks))
        # Nobody says of those that wait that they are worked on: they are begun, or given back, long before that is missed.
        moment = min(_A_MOMENT, min(task.silence for task in tasks) / 4).total_seconds()
        until = loop.time() + moment
        relief = asyncio.create_task(self._relieve(batch, moment))
        try:
            while batch.waiting and loop.time() < until:
                await self._carry_out(batch.waiting.popleft(), batch.take)
        except (asyncio.CancelledError, Refusal):
            with contextlib.suppress(
                Refusal, TimeoutError
            ):  # else they are given up when they have been silent for too long
                async with asyncio.timeout(_SETTLED_WITHIN):
                    await self._settle(batch)
            raise
        finally:
            if not batch.relieved:
                relief.cancel()
            await asyncio.wait({relief})
        await self._settle(batch)

    async def _relieve(self, batch: _Batch, moment: float) -> None:
        """Let nothing wait for a task that takes longer than all were thought to take."""
        await asyncio.sleep(moment)
        batch.relieved = True
        try:
            await self._settle(batch)
        except Refusal as refused:
            _LOG.info("tasks were not given back", extra={"queue": self.queue.value, "refusal": str(refused)})

    async def _settle(self, batch: _Batch) -> None:
        """Record what succeeded, and give back what waits."""
        ended, waiting = [*batch.ended], [*batch.waiting]
        batch.ended.clear()
        batch.waiting.clear()
        if ended:
            await self.tasks.finish_all(ended)
            for each in ended:
                _tell_done(each)
        if waiting:
            await self.tasks.give_back(waiting, now=self.clock.now())

    async def attempt(self, task: Task) -> None:
        """One attempt at a claimed task, kept alive while it runs; its outcome is recorded."""
        await self._carry_out(task, self._finish)

    async def _finish(self, ended: Ended) -> None:
        await self.tasks.finish(ended.task, now=ended.at, message=ended.message, progress=ended.progress)
        _tell_done(ended)

    async def _carry_out(self, task: Task, succeeded: Callable[[Ended], Awaitable[None]]) -> None:
        """One attempt; what else than success comes of it is recorded here."""
        progress = Progress()
        extra = _named(task)
        began, came_of_it = perf_counter(), "stopped"
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
            outcome = await working
        except GivenUp as given:
            came_of_it = "given_up"
            now, told = self.clock.now(), str(given)
            await self.tasks.fail(task, now=now, message=told, progress=progress.done, retry_at=None)
            _LOG.warning("a task was given up", extra={**extra, "cause": told})
        except Exception as failed:  # noqa: BLE001 - a background loop: whatever an attempt raises is its outcome
            came_of_it = "failed"
            told = str(failed) if isinstance(failed, Refusal) else f"{type(failed).__name__}: see the log"
            _LOG.warning("an attempt at a task failed", extra=extra, exc_info=not isinstance(failed, Refusal))
            now, done = self.clock.now(), progress.done
            await self.tasks.fail(task, now=now, message=told, progress=done, retry_at=self._retry_at(task, now))
        else:
            if isinstance(outcome, Again):
                came_of_it = "postponed"
                await self._postpone(task, outcome, progress)
                return
            came_of_it = "success"
            await succeeded(Ended(task, self.clock.now(), outcome, progress.done))
        finally:
            ATTEMPTS.series(task.queue.value, came_of_it).observe(perf_counter() - began)
            working.cancel()
            keeping.cancel()
            await asyncio.gather(working, keeping, return_exceptions=True)

    async def _postpone(self, task: Task, again: Again, progress: Progress) -> None:
        if not await self.tasks.postpone(task, again, progress=progress.done):
            await self.tasks.stopped(task, now=self.clock.now(), progress=progress.done, retry_at=again.at)

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
                done, total = progress.done, progress.total
                if not await self.tasks.keep(task, now=self.clock.now(), silence=silence, progress=done, total=total):
                    return
            except Refusal as refused:  # there is time for some more tries before the silence is over
                _LOG.info(
                    "a task's heartbeat was not heard", extra={"task": str(task.task_id), "refusal": str(refused)}
                )


def _named(task: Task) -> dict[str, object]:
    """A task, in the fields of a line of the log."""
    return {"queue": task.queue.value, "task": str(task.task_id), "attempt": task.attempt}


def _tell_done(ended: Ended) -> None:
    _LOG.info("a task is done", extra={**_named(ended.task), "done": ended.progress})
