"""Recording how much generic tables hold, as their files say it.

Writers of other formats commit without the catalog, so nothing tells it when a table has grown: it looks, once a day. Only
statistics that are nobody's, or were recorded here, are replaced, and only where they say something else by now. A table that
can't be read gets that recorded once, and holds up no other one.
"""

from __future__ import annotations

import dataclasses
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import msgspec

from lakeward_catalog.application.announcements import Announcer, Occasion, TabularChange
from lakeward_catalog.application.changes import Changes, TabularCommit
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.generic_tables.kind import body_of
from lakeward_catalog.application.ports.measuring import Meant, Measuring, Unreadable
from lakeward_catalog.application.ports.stores import Visibility
from lakeward_catalog.application.tasks.kinds import QueueKind
from lakeward_catalog.application.workers import Again, Progress, Terms
from lakeward_catalog.domain.generic.measures import Measures, may_record, recorded
from lakeward_catalog.domain.generic.metadata import GenericMetadata, parse_generic
from lakeward_catalog.domain.model import MetadataId, State, Tabular, Warehouse
from lakeward_catalog.domain.tasks import Level, Queue, Task
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Actor
from lakeward_servicekit.system import Clock, Ids

_LOG: Final = logging.getLogger("lakeward_catalog.generic_statistics")
_PAGE: Final = 50
_TRACE: Final = "background"  # in place of a request's id, in events
_WAREHOUSE, _AFTER, _COUNTS = "warehouse", "after", "counts"  # of a task's plan
_RECORDED, _SAME, _UNREADABLE, _AWAY = "recorded", "same", "unreadable", "away"


@dataclasses.dataclass(frozen=True, slots=True)
class GenericStatistics:
    """Measures a project's generic tables, a page in each turn; a later attempt goes on behind the last page."""

    doors: Doors
    changes: Changes
    documents: Documents
    measuring: Measuring
    announcer: Announcer
    clock: Clock
    ids: Ids

    async def __call__(self, task: Task, progress: Progress) -> str | Again:
        """Measure a page of tables; answers where the next one begins."""
        counts = Counter[str](task.plan.get(_COUNTS, {}))
        progress.done = counts.total()
        last = task.plan.get(_WAREHOUSE)
        for warehouse in await self._warehouses(task):
            here = str(warehouse.warehouse_id)
            if last is not None and here < last:
                continue
            after = UUID(task.plan[_AFTER]) if here == last else None
            page = await self.doors.tabulars.of_formats(
                warehouse.warehouse_id, self.measuring.formats, after=after, limit=_PAGE
            )
            if page:
                seen = await self._measured(warehouse, page, task, counts, progress)
                plan = {_WAREHOUSE: here, _AFTER: str(seen.incarnation), _COUNTS: dict(counts)}
                return Again(self.clock.now(), _shown(counts), plan)
        return _shown(counts)

    async def _warehouses(self, task: Task) -> Sequence[Warehouse]:
        found = await self.doors.warehouses.list(task.project_id, active=True, visible=Visibility(everything=True))
        return sorted(found, key=lambda each: str(each.warehouse_id))

    async def _measured(
        self, warehouse: Warehouse, page: Sequence[Tabular], task: Task, counts: Counter[str], progress: Progress
    ) -> Tabular:
        """Measure them; answers the last that was looked at, or to be passed over."""
        for index, tabular in enumerate(page):
            try:
                counts[await self._measure(warehouse, tabular, task)] += 1
            except _StoreAway as away:
                told = {"warehouse_id": str(warehouse.warehouse_id), "refusal": str(away)}
                _LOG.warning("tables were not measured, their store did not answer", extra=told)
                counts[_AWAY] += len(page) - index
                break
            finally:
                progress.done = counts.total()
        return page[-1]

    async def _measure(self, warehouse: Warehouse, tabular: Tabular, task: Task) -> str:
        try:
            text = await self.documents.plain(tabular.warehouse_id, tabular.metadata_id, references=False)
        except LookupError:  # it was changed since the page was read
            return _SAME
        base = parse_generic(text)
        if not may_record(base.statistics):
            return _SAME
        try:
            measures = await self.measuring.measure(Meant(warehouse, tabular, base.format))
        except Unreadable as unreadable:
            measures = Measures.failed(str(unreadable))
        except Refusal as refused:
            if refused.reason is Reason.REASON_DATABASE_UNAVAILABLE:
                raise
            raise _StoreAway(str(refused)) from refused
        if measures is None:
            return _SAME
        statistics = recorded(measures, base.statistics, at=self.clock.now())
        if statistics == base.statistics:
            return _SAME
        made = msgspec.structs.replace(base, statistics=statistics)
        if not await self._record(warehouse, tabular, made, task):
            return _SAME
        return _RECORDED if measures.error is None else _UNREADABLE

    async def _record(self, warehouse: Warehouse, tabular: Tabular, made: GenericMetadata, task: Task) -> bool:
        """False where the table was changed meanwhile, or the task is another worker's.

        No contract is asked: what the files hold is so, and nobody's wish.
        """
        body = body_of(made)
        async with self.changes.change() as change:
            row = await change.tabulars.lock_incarnation(tabular.warehouse_id, tabular.incarnation)
            if row is None or row.state is not State.LIVE or row.metadata_id != tabular.metadata_id:
                return False
            if not await change.tasks.is_held(task):
                return False
            after = dataclasses.replace(row, metadata_id=MetadataId(self.ids.uuid7()))
            commit = TabularCommit(
                row.warehouse_id,
                row.incarnation,
                expected=row.metadata_id,
                metadata_id=after.metadata_id,
                metadata_location=None,
                body=body,
            )
            if (await change.tabulars.commit([commit])).lost:
                return False
            change.ledger.emit(
                self.announcer.tabular(
                    TabularChange.COMMITTED,
                    after,
                    Occasion(self.clock.now(), Actor(None), _TRACE),
                    warehouse=warehouse,
                    data={"previous-metadata-location": None},
                    request=msgspec.json.encode({"statistics": msgspec.Raw(made.statistics)}),
                )
            )
        return True


class _StoreAway(Exception):  # noqa: N818 - it says what happened
    """The warehouse's store does not answer, or refuses: no other of its tables is tried."""


def _shown(counts: Mapping[str, Any]) -> str:
    said = f"Recorded {counts[_RECORDED]} tables anew, {counts[_SAME]} stay as they are"
    if counts[_UNREADABLE]:
        said += f"; {counts[_UNREADABLE]} can't be read, as their statistics say"
    if counts[_AWAY]:
        said += f"; {counts[_AWAY]} were not reached"
    return said


KIND: Final = QueueKind(
    queue=Queue.GENERIC_STATISTICS,
    level=Level.PROJECT,
    terms=Terms(silence=timedelta(minutes=5)),
    make=lambda tools: GenericStatistics(
        tools.doors,
        tools.changes,
        tools.documents,
        tools.measuring,
        tools.announcer,
        tools.clock,
        tools.ids,
    ),
    cancelled="Cancelled; the next one comes at its time",
    every=timedelta(days=1),
)
