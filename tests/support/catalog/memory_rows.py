"""What the catalog's stores in memory hold, and what becomes of the next transaction."""

from __future__ import annotations

import copy
import dataclasses
import enum
from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

from lakeward_catalog.application.ports.stores import (
    Listed,
    Visibility,
)
from lakeward_catalog.application.ports.upkeep import Hour
from lakeward_catalog.application.tree import StreamId, TreeChange, stream_of
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.generic.versions import TableVersion
from lakeward_catalog.domain.model import (
    Kind,
    Namespace,
    Project,
    ProjectId,
    Server,
    State,
    Tabular,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import SEPARATOR, TabularIdent
from lakeward_catalog.domain.schedules import Timetable
from lakeward_catalog.domain.tags import TagDefinition, TagId, TagPlace
from lakeward_catalog.domain.tasks import NewTask, Owner, Queue, QueueConfig
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.idempotency import KeyPlace, Remembered
from tests.support.catalog.memory_tags import Attached
from tests.support.catalog.memory_task_rows import Attempt, Held


class Fate(enum.Enum):
    """What becomes of the next transaction that would commit."""

    AWAY = "the database is away; nothing happened"
    LOST_BEFORE = "nothing happened, and nobody knows"
    LOST_AFTER = "it happened, and nobody knows"


@dataclasses.dataclass
class Rows:
    """Everything that is stored."""

    server: Server
    projects: dict[ProjectId, Project] = dataclasses.field(default_factory=dict)
    warehouses: dict[WarehouseId, Warehouse] = dataclasses.field(default_factory=dict)
    namespaces: dict[tuple[UUID, UUID], Namespace] = dataclasses.field(default_factory=dict)
    tabulars: dict[tuple[UUID, UUID], Tabular] = dataclasses.field(default_factory=dict)
    bodies: dict[tuple[UUID, UUID], Body] = dataclasses.field(default_factory=dict)
    keys: dict[KeyPlace, tuple[Remembered, datetime]] = dataclasses.field(default_factory=dict)
    events: list[Event] = dataclasses.field(default_factory=list)
    tasks: dict[UUID, NewTask] = dataclasses.field(default_factory=dict)
    queued: dict[UUID, NewTask] = dataclasses.field(default_factory=dict)
    held: dict[UUID, Held] = dataclasses.field(default_factory=dict)
    attempts: list[Attempt] = dataclasses.field(default_factory=list)
    configs: dict[tuple[Owner, Queue], QueueConfig] = dataclasses.field(default_factory=dict)
    timetables: dict[tuple[Owner, Queue], Timetable] = dataclasses.field(default_factory=dict)
    hours: dict[WarehouseId, dict[datetime, Hour]] = dataclasses.field(default_factory=dict)
    calls: dict[tuple[ProjectId, datetime, str, int, WarehouseId | None], tuple[int, datetime, datetime | None]] = (
        dataclasses.field(default_factory=dict)
    )
    dropped_at: dict[tuple[UUID, UUID], datetime] = dataclasses.field(default_factory=dict)
    formats: dict[tuple[UUID, UUID], str] = dataclasses.field(default_factory=dict)
    versions: dict[tuple[UUID, UUID], dict[int, TableVersion]] = dataclasses.field(default_factory=dict)
    growth: list[tuple[StreamId, TreeChange]] = dataclasses.field(default_factory=list)
    tags: dict[tuple[ProjectId, TagId], TagDefinition] = dataclasses.field(default_factory=dict)
    unnamed_secrets: dict[UUID, datetime] = dataclasses.field(default_factory=dict)
    tagged: dict[tuple[TagPlace, TagId], Attached] = dataclasses.field(default_factory=dict)

    def copy(self) -> Rows:
        return Rows(**{field.name: copy.copy(getattr(self, field.name)) for field in dataclasses.fields(self)})

    def grown(self, warehouse_id: WarehouseId, change: TreeChange) -> None:
        """Remember what a warehouse's stream is to tell."""
        self.growth.append((stream_of(warehouse_id), change))

    def namespace_at(self, warehouse_id: UUID, key: str) -> Namespace | None:
        found = (each for each in self.namespaces.values() if each.warehouse_id == warehouse_id)
        return next((each for each in found if each.ident.key == key), None)

    def tabular_at(self, warehouse_id: UUID, ident: TabularIdent) -> Tabular | None:
        namespace = self.namespace_at(warehouse_id, ident.namespace.key)
        if namespace is None:
            return None
        for tabular in self.tabulars.values():
            inside = (tabular.warehouse_id, tabular.namespace_id) == (warehouse_id, namespace.namespace_id)
            if inside and tabular.ident.name_key == ident.name_key and tabular.state is not State.DROPPED:
                return tabular
        return None

    def below(self, namespace: Namespace) -> list[Namespace]:
        start = namespace.ident.key + SEPARATOR
        inside = [each for each in self.namespaces.values() if each.warehouse_id == namespace.warehouse_id]
        return sorted((each for each in inside if each.ident.key.startswith(start)), key=lambda each: each.ident.key)

    def listed(self, tabular: Tabular) -> Listed:
        """What a listing shows of it."""
        return listed(tabular)._replace(format=self.formats.get((tabular.warehouse_id, tabular.incarnation)))

    def covered(self, warehouse_id: UUID, namespace_id: UUID | None, containers: Collection[UUID]) -> bool:
        """Whether everything directly inside shows, because the namespace or one above it is a container."""
        while namespace_id is not None:
            if namespace_id in containers:
                return True
            namespace_id = self.namespaces[warehouse_id, namespace_id].parent_id
        return False

    def shows(self, tabular: Tabular, visible: Mapping[Kind, Visibility]) -> bool:
        shown = visible.get(tabular.kind)
        return shown is not None and (
            shown.everything
            or tabular.incarnation in shown.objects
            or self.covered(tabular.warehouse_id, tabular.namespace_id, shown.containers)
        )


def listed(tabular: Tabular) -> Listed:
    return Listed(
        tabular.created_at, tabular.incarnation, tabular.ident.name, tabular.tabular_id, protected=tabular.protected
    )


def versions_of(rows: Rows, tabular: Tabular) -> dict[int, TableVersion]:
    return rows.versions.get((tabular.warehouse_id, tabular.incarnation), {})
