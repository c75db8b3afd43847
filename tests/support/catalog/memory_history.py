"""The catalog's events for who reads them, over rows in memory: what was written is in the log at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING
from uuid import UUID

from lakeward_catalog.application.announcements import SERVER_STREAM, Announcer
from lakeward_catalog.application.snapshots import (
    SNAPSHOT_STATES,
    KeptQueue,
    ProjectTeller,
    ServerTeller,
    WarehouseTeller,
)
from lakeward_catalog.domain.model import ProjectId, WarehouseId
from lakeward_catalog.domain.tags import TaggedObject
from lakeward_catalog.domain.tasks import Owner, QueueConfig
from lakeward_catalog.domain.wording import no_such_project, no_such_warehouse
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.history import Entry, HistoryReads, Snapshot, Span
from lakeward_servicekit.events.relay import LoggedEvent
from lakeward_servicekit.events.streams import of_project
from lakeward_servicekit.events.tail import Tail
from tests.support.catalog.values import NOON

if TYPE_CHECKING:
    from tests.support.catalog.memory import MemoryCatalog


class MemoryHistory:
    """`History`; `forgotten` says up to which number a stream's events are not kept any more."""

    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog
        self.forgotten: dict[str, int] = {}

    def _all(self, stream: str) -> list[LoggedEvent]:
        own = (event for event in self._catalog.rows.events if event.stream == stream)
        return [LoggedEvent(number, event, NOON) for number, event in enumerate(own, 1)]

    async def span(self, stream: str) -> Span:
        return Span(self.forgotten.get(stream, 0) + 1, len(self._all(stream)))

    async def read(self, stream: str, *, after: int, limit: int, most_bytes: int) -> Sequence[LoggedEvent]:
        found = self._all(stream)[max(after, self.forgotten.get(stream, 0)) :][:limit]
        return found[: _fitting([len(each.event.body) for each in found], most_bytes)]

    async def newest(self, streams: Collection[str]) -> Mapping[str, int]:
        return {stream: len(self._all(stream)) for stream in streams}


class MemorySnapshots:
    """`Snapshots`, each made anew."""

    def __init__(self, catalog: MemoryCatalog, history: MemoryHistory, announcer: Announcer) -> None:
        self._catalog, self._history, self._announcer = catalog, history, announcer
        self.kept: dict[UUID, tuple[str, Snapshot, list[Entry]]] = {}

    async def current(self, stream: str) -> Snapshot:
        sequence = (await self._history.span(stream)).newest
        bodies = [Entry(event.kind, event.verb, event.body) for event in self._told(stream, sequence)]
        made = Snapshot(self._catalog.ids.uuid7(), sequence, len(bodies), NOON)
        self.kept[made.snapshot_id] = stream, made, bodies
        return made

    async def find(self, stream: str, snapshot_id: UUID) -> Snapshot | None:
        of, found, _ = self.kept.get(snapshot_id, ("", None, []))
        return found if of == stream else None

    async def read(self, snapshot_id: UUID, *, after: int, limit: int, most_bytes: int) -> Sequence[Entry]:
        _, _, entries = self.kept.get(snapshot_id, ("", None, []))
        found = entries[after:][:limit]
        return found[: _fitting([len(each.body) for each in found], most_bytes)]

    def _told(self, stream: str, sequence: int) -> Sequence[Event]:
        if stream == SERVER_STREAM:
            server = ServerTeller(self._announcer, NOON)
            told = [server.of_server(bootstrapped=self._catalog.rows.server.bootstrapped)]
            return [*told, server.completed(sequence=sequence, entities=len(told))]
        if stream.startswith(of_project("")):
            return self._of_project(ProjectId(stream.removeprefix(of_project(""))), sequence)
        return self._of_warehouse(WarehouseId(UUID(stream)), sequence)

    def _of_project(self, project_id: ProjectId, sequence: int) -> Sequence[Event]:
        rows = self._catalog.rows
        project = rows.projects.get(project_id)
        if project is None:
            raise no_such_project(project_id)
        teller = ProjectTeller(self._announcer, project, NOON)
        told = [teller.of_project(), *map(teller.of_queue, self._queues(project_id))]
        told += [teller.of_tag_definition(each) for (of, _), each in rows.tags.items() if of == project_id]
        return [*told, teller.completed(sequence=sequence, entities=len(told))]

    def _queues(self, owner: Owner) -> Iterator[KeptQueue]:
        rows = self._catalog.rows
        for of, queue in sorted({*rows.configs, *rows.timetables}, key=lambda each: each[1].value):
            config = rows.configs.get((of, queue), QueueConfig())
            timetable = rows.timetables.get((of, queue))
            cron = None if timetable is None else timetable.cron
            periods = (config.silence, config.every, config.kept_for)
            if of == owner and (cron is not None or any(each is not None for each in periods)):
                yield KeptQueue(
                    queue.value, *periods, *((None, None) if cron is None else (cron.expression, cron.zone))
                )

    def _of_warehouse(self, warehouse_id: WarehouseId, sequence: int) -> Sequence[Event]:
        rows = self._catalog.rows
        warehouse = rows.warehouses.get(warehouse_id)
        if warehouse is None:
            raise no_such_warehouse(warehouse_id)
        teller = WarehouseTeller(self._announcer, warehouse, NOON)
        told = [teller.of_warehouse(), *map(teller.of_queue, self._queues(warehouse_id))]
        inside = [each for each in rows.namespaces.values() if each.warehouse_id == warehouse_id]
        told += [teller.of_namespace(each) for each in sorted(inside, key=lambda each: each.ident.key)]
        tabulars = [
            each
            for each in rows.tabulars.values()
            if each.warehouse_id == warehouse_id and each.state in SNAPSHOT_STATES
        ]
        told += map(teller.of_tabular, tabulars)
        public = {each.incarnation: each.tabular_id for each in tabulars}
        for (place, tag_id), attached in rows.tagged.items():
            if place.warehouse_id != warehouse_id or (place.incarnation and place.incarnation not in public):
                continue
            on = place.namespace_id if place.incarnation is None else public[place.incarnation]
            target = TaggedObject(place.scope, warehouse_id, on, place.field_id)
            told.append(teller.of_tag(rows.tags[warehouse.project_id, tag_id], target, attached.value))
        return [*told, teller.completed(sequence=sequence, entities=len(told))]


def memory_history(catalog: MemoryCatalog, announcer: Announcer) -> HistoryReads:
    history = MemoryHistory(catalog)
    return HistoryReads(history, MemorySnapshots(catalog, history, announcer), Tail(history.newest))


def _fitting(sizes: Sequence[int], most_bytes: int) -> int:
    return max(1, sum(total <= most_bytes for total in accumulate(sizes)))
