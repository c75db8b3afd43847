"""Workers that are killed at a step of their work, each a process of its own.

    python -m tests.support.catalog.killed_workers <database> <folder> <queue>:<step>[:<transaction>] ...

For each it forks a worker that claims the queue's next task, works on it as the product does, over the database and over files in
a folder, and is ended by SIGKILL when it comes to the step: of its first transaction, unless another one is named. It exits with
the number of those that were not.
"""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.application.changes import Change, Changes
from lakeward_catalog.application.tasks.queues import KINDS
from lakeward_catalog.application.tasks.queues.purging import Purges
from lakeward_catalog.application.tasks.queues.soft_deletion import Expiries
from lakeward_catalog.application.workers import Handler, Terms, Worker
from lakeward_catalog.domain.model import Incarnation, Warehouse
from lakeward_catalog.domain.tasks import Queue, Task
from lakeward_locations import Location
from tests.support.catalog.house import House
from tests.support.catalog.memory_events import QuietBell
from tests.support.catalog.stores import PostgresStores, catalog_pool
from tests.support.catalog.values import NOON, FreshIds

SOURCE = "lakeward://killed"


class Step(enum.Enum):
    """Where a worker is killed."""

    CLAIMED = "claimed"
    IN_ITS_TRANSACTION = "in-its-transaction"
    COMMITTED = "committed"
    A_PAGE_DELETED = "a-page-deleted"
    ALL_DELETED = "all-deleted"
    RECORDED = "recorded"


_CASCADE_STEPS = (
    (Step.CLAIMED, 1),
    *((step, number) for number in (1, 2, 3) for step in (Step.IN_ITS_TRANSACTION, Step.COMMITTED)),
    (Step.RECORDED, 1),
)
CASCADES = {Queue.NAMESPACE_DROP: (*_CASCADE_STEPS[:3], _CASCADE_STEPS[-1]), Queue.WAREHOUSE_DROP: _CASCADE_STEPS}
"""The drop of a namespace is one transaction; that of a warehouse one for each of its two, and one for itself."""
STEPS = {
    Queue.SOFT_DELETION: (Step.CLAIMED, Step.IN_ITS_TRANSACTION, Step.COMMITTED, Step.RECORDED),
    Queue.TABULAR_PURGE: (Step.CLAIMED, Step.A_PAGE_DELETED, Step.ALL_DELETED, Step.RECORDED),
}


class FolderFiles:
    """Files of purges, a page of two at a time; the location's last part is the folder's."""

    def __init__(self, folder: Path, dying: Dying | None = None) -> None:
        self._folder = folder
        self._dying = dying

    async def purge_page(self, warehouse: Warehouse, incarnation: Incarnation, location: Location) -> tuple[int, bool]:
        del warehouse, incarnation
        place = self._folder / str(location).rstrip("/").rpartition("/")[2]
        page = sorted(place.iterdir())[:2] if place.exists() else []
        for file in page:
            file.unlink()
        left = place.exists() and any(place.iterdir())
        if self._dying is not None and page:
            self._dying.at(Step.A_PAGE_DELETED if left else Step.ALL_DELETED)
        if not left:
            shutil.rmtree(place, ignore_errors=True)
        return len(page), not left


class Dying:
    """Kills this process at its step, of its `transaction`th transaction."""

    def __init__(self, step: Step, transaction: int = 1) -> None:
        self.step = step
        self.transaction = transaction

    def at(self, step: Step) -> None:
        if step is self.step:
            os.kill(os.getpid(), signal.SIGKILL)


class DyingChanges:
    """Changes whose process is killed before or after their commit."""

    def __init__(self, changes: Changes, dying: Dying) -> None:
        self._changes = changes
        self._dying = dying

    @asynccontextmanager
    async def change(self) -> AsyncIterator[Change]:
        async with self._changes.change() as change:
            yield change
            self._dying.transaction -= 1
            last = not self._dying.transaction
            if last and self._dying.step is Step.IN_ITS_TRANSACTION:
                await change.ledger.flush()  # type: ignore[attr-defined]  # everything is written, and nothing committed
            if last:
                self._dying.at(Step.IN_ITS_TRANSACTION)
        if last:
            self._dying.at(Step.COMMITTED)


class DyingTasks:
    """A queue whose worker is killed once it has claimed, or once its outcome is recorded."""

    def __init__(self, tasks: Any, dying: Dying) -> None:
        self._tasks = tasks
        self._dying = dying

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tasks, name)

    async def claim(self, queue: Queue, **terms: Any) -> Task | None:
        task: Task | None = await self._tasks.claim(queue, **terms)
        self._dying.at(Step.CLAIMED)
        return task

    async def finish(self, task: Task, **outcome: Any) -> bool:
        done: bool = await self._tasks.finish(task, **outcome)
        self._dying.at(Step.RECORDED)
        return done


def handler(queue: Queue, stores: PostgresStores, changes: Any, files: Any) -> Handler:
    """The product's own."""
    if queue in CASCADES:
        return KINDS[queue].make(dataclasses.replace(House(stores=stores).parts, changes=changes))
    if queue is Queue.TABULAR_PURGE:
        return Purges(stores.warehouses, files)
    return Expiries(stores.warehouses, changes, Announcer(source=SOURCE, ids=FreshIds()), stores.clock)


def worker(queue: Queue, stores: PostgresStores, tasks: Any, handle: Handler, terms: Terms) -> Worker:
    return Worker(queue, tasks, handle, stores.clock, QuietBell(1), lambda: 0.5, terms)


async def die(database: str, folder: Path, queue: Queue, step: Step, transaction: int) -> None:
    """Work on the next task, and be killed; returns where that did not happen."""
    dying = Dying(step, transaction)
    async with catalog_pool(database, size=3, migrated=True) as pool:
        stores = PostgresStores(pool)
        tasks, changes = DyingTasks(stores.tasks, dying), DyingChanges(stores.changes, dying)
        terms = Terms(silence=stores.clock.now() - NOON.replace(year=2025))
        task = await tasks.claim(queue, now=NOON, silence=terms.silence, attempts=5)
        if task is not None:
            handle = handler(queue, stores, changes, FolderFiles(folder, dying))
            await worker(queue, stores, tasks, handle, terms).attempt(task)


def main() -> int:
    """Kill a worker at each step that the command line names; how many were not killed."""
    database, folder, *wanted = sys.argv[1:]
    survived = 0
    for each in wanted:
        queue, step, transaction = f"{each}:1".split(":")[:3]
        child = os.fork()
        if not child:
            asyncio.run(die(database, Path(folder), Queue(queue), Step(step), int(transaction)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        survived += not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL)
    return survived


if __name__ == "__main__":
    sys.exit(main())
