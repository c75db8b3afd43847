"""What a snapshot of a stream is made of: an event for each thing that is there."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta
from typing import Final

from lakeward_catalog.application.announcements import (
    Announcer,
    NamespaceChange,
    Occasion,
    ProjectChange,
    ServerChange,
    TabularChange,
    TagChange,
    TagDefinitionChange,
    WarehouseChange,
)
from lakeward_catalog.domain.model import Namespace, Project, State, Tabular, Warehouse
from lakeward_catalog.domain.tags import TagDefinition, TaggedObject
from lakeward_servicekit.events.acting import NOBODY
from lakeward_servicekit.events.cloud_events import Event

SNAPSHOT_STATES: Final = frozenset({State.LIVE, State.DROPPED})
"""Of tabulars; what waits for its first commit is seen by nobody."""


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseTeller:
    """Tells what is in a warehouse at a moment.

    Attributes:
        warehouse: as it is then.
        at: the moment.
    """

    announcer: Announcer
    warehouse: Warehouse
    at: datetime

    def of_warehouse(self) -> Event:
        """The warehouse itself."""
        contracts = {"contracts": self.warehouse.contracts}
        return self.announcer.warehouse(WarehouseChange.SNAPSHOT, self.warehouse, self._when, data=contracts)

    def of_queue(self, kept: KeptQueue) -> Event:
        """A queue of its tasks that is set otherwise than queues are."""
        return self.announcer.warehouse(
            WarehouseChange.QUEUE_SNAPSHOT, self.warehouse, self._when, data={"settings": kept.document}
        )

    def of_namespace(self, namespace: Namespace) -> Event:
        """A namespace in it."""
        return self.announcer.namespace(NamespaceChange.SNAPSHOT, namespace, self._when, warehouse=self.warehouse)

    def of_tabular(self, tabular: Tabular) -> Event:
        """A tabular in it, of `SNAPSHOT_STATES`."""
        return self.announcer.tabular(
            TabularChange.SNAPSHOT,
            tabular,
            self._when,
            warehouse=self.warehouse,
            data={"dropped": tabular.state is State.DROPPED},
        )

    def of_tag(self, definition: TagDefinition, target: TaggedObject, value: str | None) -> Event:
        """A tag on something in it."""
        return self.announcer.tag(
            TagChange.SNAPSHOT, definition, target, self._when, warehouse=self.warehouse, data={"value": value}
        )

    def completed(self, *, sequence: int, entities: int) -> Event:
        """The end: `entities` events came before, and the last event of the log whose change is in it is `sequence`."""
        return self.announcer.warehouse(
            WarehouseChange.SNAPSHOT_COMPLETED,
            self.warehouse,
            self._when,
            data={"sequence": sequence, "entities": entities},
        )

    @property
    def _when(self) -> Occasion:
        return _moment(self.at)


@dataclasses.dataclass(frozen=True, slots=True)
class KeptQueue:
    """How a queue of tasks is set; None: as the queue has it."""

    queue: str
    silence: timedelta | None
    cleanup_period: timedelta | None
    retention_period: timedelta | None
    cron: str | None
    time_zone: str | None

    @property
    def document(self) -> dict[str, object]:
        """As events say it."""
        return {
            "queue": self.queue,
            "max-seconds-since-last-heartbeat": _seconds(self.silence),
            "cleanup-period-seconds": _seconds(self.cleanup_period),
            "retention-period-seconds": _seconds(self.retention_period),
            "cron": self.cron,
            "time-zone": self.time_zone,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class ProjectTeller:
    """Tells what is in a project at a moment, its warehouses aside.

    Attributes:
        project: as it is then.
        at: the moment.
    """

    announcer: Announcer
    project: Project
    at: datetime

    def of_project(self) -> Event:
        """The project itself."""
        return self.announcer.project(ProjectChange.SNAPSHOT, self.project, _moment(self.at))

    def of_queue(self, kept: KeptQueue) -> Event:
        """A queue of its tasks that is set otherwise than queues are."""
        return self.announcer.project(
            ProjectChange.QUEUE_SNAPSHOT, self.project, _moment(self.at), data={"settings": kept.document}
        )

    def of_tag_definition(self, definition: TagDefinition) -> Event:
        """What may be set as a tag in it."""
        return self.announcer.tag_definition(TagDefinitionChange.SNAPSHOT, definition, _moment(self.at))

    def completed(self, *, sequence: int, entities: int) -> Event:
        """The end: `entities` events came before, and the last event of the log whose change is in it is `sequence`."""
        return self.announcer.project(
            ProjectChange.SNAPSHOT_COMPLETED,
            self.project,
            _moment(self.at),
            data={"sequence": sequence, "entities": entities},
        )


@dataclasses.dataclass(frozen=True, slots=True)
class ServerTeller:
    """Tells what there is of the installation itself at a moment."""

    announcer: Announcer
    at: datetime

    def of_server(self, *, bootstrapped: bool) -> Event:
        """The server."""
        return self.announcer.server(ServerChange.SNAPSHOT, _moment(self.at), data={"bootstrapped": bootstrapped})

    def completed(self, *, sequence: int, entities: int) -> Event:
        """The end: `entities` events came before, and the last event of the log whose change is in it is `sequence`."""
        data = {"sequence": sequence, "entities": entities}
        return self.announcer.server(ServerChange.SNAPSHOT_COMPLETED, _moment(self.at), data=data)


def _moment(at: datetime) -> Occasion:
    return Occasion(at, NOBODY, "")


def _seconds(span: timedelta | None) -> int | None:
    return None if span is None else int(span.total_seconds())
