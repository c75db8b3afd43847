"""What a cascade takes out of one namespace, in one transaction, and what has to wait.

Without force nothing goes that is protected, or that is inside something protected, or next to it in the same cascade; and what
can be restored is, until its time is over: live tables and views are dropped as each of them would be, and the namespaces go when
none of them can come back. With force everything goes at once. Files go only where that is asked for, and never those of a table
that keeps its own (`gc.enabled=false`), which may be others' as well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime

from lakeward_catalog.application.announcements import Announcer, Occasion, TabularChange
from lakeward_catalog.application.changes import Change, Changes
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.garbage import Garbage
from lakeward_catalog.application.namespaces.dropping import check_protection, dropped_events
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.workers import GivenUp
from lakeward_catalog.domain.model import Namespace, State, Tabular, Warehouse
from lakeward_catalog.domain.tasks import NewTask, Queue, Task


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """How a cascade is made.

    Attributes:
        force: overrides protection and soft deletion.
        purge: files go too.
        again: it has dropped what it may before, and waits; what lives now, somebody restored or made since.
        task: that makes it.
        when: the occasion.
    """

    force: bool
    purge: bool
    again: bool
    task: Task
    when: Occasion


@dataclasses.dataclass(frozen=True, slots=True)
class Cascade:
    """Takes namespaces out with everything inside."""

    documents: Documents
    changes: Changes
    announcer: Announcer
    rules: Rules

    async def __call__(self, warehouse: Warehouse, namespace: Namespace, wish: Wish) -> datetime | None:
        """Take one out; answers when to come again, where something inside can be restored until then.

        What is gone already is no failure: an earlier attempt may have taken it.

        Raises:
            GivenUp: something is protected, or lives that was to be gone.
            Refusal: DATABASE_UNAVAILABLE, CONCURRENT_CHANGE.
        """
        garbage = Garbage(self.documents)
        return await garbage.settled(lambda: self._take_out(warehouse, namespace, wish, garbage))

    async def _take_out(
        self, warehouse: Warehouse, namespace: Namespace, wish: Wish, garbage: Garbage
    ) -> datetime | None:
        async with self.changes.change() as change:
            locked = await change.namespaces.lock(warehouse.warehouse_id, namespace.ident, exclusively=True)
            if locked is None or locked.namespace_id != namespace.namespace_id:
                return None
            contents = await change.namespaces.contents(warehouse.warehouse_id, namespace.namespace_id)
            if not await change.tasks.is_held(wish.task):
                return (
                    wish.when.at
                )  # another worker's, or to stop: nothing more is done, and the queue says what is recorded
            if not wish.force:
                check_protection(locked, contents)
            live = [each for each in contents.tabulars if each.state is State.LIVE]
            if live and wish.again:
                raise GivenUp(
                    f"{live[0].kind} {live[0].ident} was restored or made since; queue the drop again to drop it too"
                )
            restorable_for = None if wish.force else warehouse.restorable_for
            if restorable_for is not None and live:
                return await self._soften(change, warehouse, live, wish, garbage)
            waiting = [each for each in contents.tabulars if each.state is State.DROPPED and not wish.force]
            if waiting:
                if not wish.again:
                    await self._delete_live(change, warehouse, live, wish, garbage)
                return max(each.expires_at or wish.when.at for each in waiting)
            await self._purge(change, contents.tabulars, wish, garbage)
            await change.namespaces.delete(locked)
            told = {"purge": wish.purge, "force": wish.force, "soft": False}
            change.ledger.emit(
                *dropped_events(
                    self.announcer, wish.when, warehouse=warehouse, namespace=locked, contents=contents, told=told
                )
            )
            return None

    async def _soften(
        self,
        change: Change,
        warehouse: Warehouse,
        live: Sequence[Tabular],
        wish: Wish,
        garbage: Garbage,
    ) -> datetime:
        assert warehouse.restorable_for is not None, "then nothing is softened"
        until = wish.when.at + warehouse.restorable_for
        tasks: list[NewTask] = []
        for each in live:
            await change.tabulars.drop(each, at=wish.when.at, expires_at=until)
            task = NewTask.of(each, Queue.SOFT_DELETION, created_at=wish.when.at, scheduled_for=until)
            purge = wish.purge and not garbage.keeps(each)
            tasks.append(dataclasses.replace(task, purge=purge, parent_id=wish.task.task_id))
        await change.tasks.enqueue_all(tasks)
        self._tell(change, warehouse, live, wish, soft=True)
        return until

    async def _delete_live(
        self, change: Change, warehouse: Warehouse, live: Sequence[Tabular], wish: Wish, garbage: Garbage
    ) -> None:
        """Of a warehouse that keeps nothing it drops now, and has what it kept before."""
        await self._purge(change, live, wish, garbage)
        for each in live:
            await change.tabulars.delete(each)
        self._tell(change, warehouse, live, wish, soft=False)

    async def _purge(self, change: Change, tabulars: Sequence[Tabular], wish: Wish, garbage: Garbage) -> None:
        if not wish.purge:
            return
        at = wish.when.at + self.rules.purge_after
        tasks = [
            NewTask.of(each, Queue.TABULAR_PURGE, created_at=wish.when.at, scheduled_for=at)
            for each in tabulars
            if not garbage.keeps(each)
        ]
        await change.tasks.enqueue_all([dataclasses.replace(each, parent_id=wish.task.task_id) for each in tasks])

    def _tell(self, change: Change, warehouse: Warehouse, live: Sequence[Tabular], wish: Wish, *, soft: bool) -> None:
        told = {"purge": wish.purge, "force": wish.force, "soft": soft}
        change.ledger.emit(
            *(
                self.announcer.tabular(
                    TabularChange.DROPPED, each, wish.when, warehouse=warehouse, data=told, place=(index, len(live))
                )
                for index, each in enumerate(live)
            )
        )
