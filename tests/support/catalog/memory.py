"""The catalog's stores in memory. Transactions run one after another, each on a copy that takes the original's place.

catalog = MemoryCatalog(clock=clock, ids=ids)
catalog.servers, .warehouses, .namespaces, .tabulars, .bodies, .idempotency, .changes
catalog.next_commit = Fate.LOST_AFTER     # the next transaction commits and its answer is lost
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import enum
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from lakeward_catalog.application.changes import Change, Contents, TabularCommit
from lakeward_catalog.application.placing import location_taken
from lakeward_catalog.application.ports.stores import (
    After,
    Deleted,
    Listed,
    ListedNamespace,
    Located,
    Match,
    ReadView,
    Visibility,
)
from lakeward_catalog.application.ports.system import Clock, Ids
from lakeward_catalog.application.refs import namespace_ref, tabular_ref, warehouse_ref
from lakeward_catalog.application.tree import PROJECTS, Gone, Made, Moved, StreamId, TreeChange, stream_of
from lakeward_catalog.domain.bodies import Body, BodyPart
from lakeward_catalog.domain.events import Event
from lakeward_catalog.domain.model import (
    Incarnation,
    Kind,
    MetadataId,
    Namespace,
    NamespaceId,
    Project,
    ProjectId,
    Server,
    State,
    Tabular,
    TabularId,
    TabularKey,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import SEPARATOR, NamespaceIdent, TabularIdent, name_key
from lakeward_catalog.domain.tasks import NewTask, Queue
from lakeward_catalog.domain.wording import (
    name_taken_meanwhile,
    name_taken_since,
    namespace_exists,
    no_such_namespace,
    no_such_project,
    no_such_warehouse,
    project_exists,
    project_not_empty,
    uuid_taken,
)
from lakeward_locations import Location
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.idempotency import KeyPlace, Remembered
from lakeward_servicekit.postgres.failures import OutcomeUnknown
from tests.support.catalog.memory_task_rows import Attempt, Held, TaskRowChanges
from tests.support.catalog.values import FreshIds, HeldClock

Row = TypeVar("Row", ListedNamespace, Listed, Deleted)


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
    silences: dict[tuple[WarehouseId, Queue], timedelta | None] = dataclasses.field(default_factory=dict)
    dropped_at: dict[tuple[UUID, UUID], datetime] = dataclasses.field(default_factory=dict)
    growth: list[tuple[StreamId, TreeChange]] = dataclasses.field(default_factory=list)

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


class MemoryCatalog:
    def __init__(self, *, clock: Clock | None = None, ids: Ids | None = None) -> None:
        self.clock = clock or HeldClock()
        self.ids = ids or FreshIds()
        self.rows = Rows(Server(self.ids.uuid4(), bootstrapped=False))
        self.next_commit: Fate | None = None
        self.servers = MemoryServers(self)
        self.warehouses = MemoryWarehouses(self)
        self.namespaces = MemoryNamespaces(self)
        self.tabulars = MemoryTabulars(self)
        self.bodies = MemoryBodies(self)
        self.idempotency = MemoryIdempotency(self)
        self.changes = MemoryChanges(self)


class MemoryServers:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def server(self) -> Server:
        return self._catalog.rows.server

    async def project(self, project_id: ProjectId) -> Project | None:
        return self._catalog.rows.projects.get(project_id)

    async def projects(self) -> Sequence[Project]:
        return list(self._catalog.rows.projects.values())


class MemoryWarehouses:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def find(self, warehouse_id: WarehouseId) -> Warehouse | None:
        return self._catalog.rows.warehouses.get(warehouse_id)

    async def find_by_name(self, project_id: ProjectId, name: str) -> Warehouse | None:
        for warehouse in self._catalog.rows.warehouses.values():
            if warehouse.project_id == project_id and name_key(warehouse.name) == name_key(name):
                return warehouse
        return None

    async def list(self, project_id: ProjectId, *, active: bool | None, visible: Visibility) -> Sequence[Warehouse]:
        shown = visible.containers | visible.objects
        found = [each for each in self._catalog.rows.warehouses.values() if each.project_id == project_id]
        found = [each for each in found if active is None or each.active is active]
        return sorted(
            (each for each in found if visible.everything or each.warehouse_id in shown),
            key=lambda each: name_key(each.name),
        )

    def remembered(self, warehouse_id: WarehouseId, row_version: int) -> Warehouse | None:
        found = self._catalog.rows.warehouses.get(warehouse_id)
        return found if found is not None and found.row_version == row_version else None


class MemoryNamespaces:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def find(self, warehouse_id: WarehouseId, ident: NamespaceIdent) -> tuple[Warehouse | None, Namespace | None]:
        rows = self._catalog.rows
        return rows.warehouses.get(warehouse_id), rows.namespace_at(warehouse_id, ident.key)

    async def find_by_id(
        self, warehouse_id: WarehouseId, namespace_id: NamespaceId
    ) -> tuple[Warehouse | None, Namespace | None]:
        rows = self._catalog.rows
        return rows.warehouses.get(warehouse_id), rows.namespaces.get((warehouse_id, namespace_id))

    async def children(
        self,
        warehouse_id: WarehouseId,
        parent: NamespaceId | None,
        *,
        visible: Visibility,
        after: After | None,
        limit: int,
    ) -> Sequence[ListedNamespace]:
        rows = self._catalog.rows
        everything = visible.everything or rows.covered(warehouse_id, parent, visible.containers)
        shown = visible.containers | visible.objects
        found = [
            each
            for each in rows.namespaces.values()
            if (each.warehouse_id, each.parent_id) == (warehouse_id, parent)
            and (everything or each.namespace_id in shown)
        ]
        entries = [
            ListedNamespace(each.created_at, each.namespace_id, each.ident.parts, each.protected) for each in found
        ]
        return _page([(each.created_at, each.namespace_id, each) for each in entries], after, limit)


class MemoryTabulars:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def locate(self, warehouse_id: WarehouseId, ident: TabularIdent) -> Located:
        rows = self._catalog.rows
        warehouse = rows.warehouses.get(warehouse_id)
        return Located(
            warehouse, rows.namespace_at(warehouse_id, ident.namespace.key), rows.tabular_at(warehouse_id, ident)
        )

    async def views(self, warehouse_id: WarehouseId, idents: Sequence[TabularIdent]) -> Sequence[ReadView | None]:
        found: list[ReadView | None] = []
        for ident in idents:
            row = self._catalog.rows.tabular_at(warehouse_id, ident)
            is_view = row is not None and row.kind is Kind.VIEW and row.state is State.LIVE
            found.append(
                ReadView(row, self._catalog.rows.bodies[warehouse_id, row.metadata_id].whole)
                if row is not None and is_view
                else None
            )
        return found

    async def by_id(self, warehouse_id: WarehouseId, tabular_id: TabularId) -> Tabular | None:
        key = (warehouse_id, tabular_id)
        found = self._catalog.rows.tabulars.values()
        return next((each for each in found if (each.warehouse_id, each.tabular_id) == key), None)

    async def by_ids(self, warehouse_id: WarehouseId, tabular_ids: Collection[TabularId]) -> Sequence[Tabular]:
        found = self._catalog.rows.tabulars.values()
        return [each for each in found if each.warehouse_id == warehouse_id and each.tabular_id in tabular_ids]

    async def by_location(self, warehouse_id: WarehouseId, location: Location) -> Tabular | None:
        found = [each for each in self._catalog.rows.tabulars.values() if each.warehouse_id == warehouse_id]
        found = [each for each in found if Location.parse(each.location).contains(location)]
        return max(found, key=lambda each: len(each.location), default=None)

    async def list(
        self,
        warehouse_id: WarehouseId,
        namespace_id: NamespaceId,
        kind: Kind,
        *,
        visible: Visibility,
        after: After | None,
        limit: int,
    ) -> Sequence[Listed]:
        rows = self._catalog.rows
        everything = visible.everything or rows.covered(warehouse_id, namespace_id, visible.containers)
        wanted = (warehouse_id, namespace_id, kind, State.LIVE)
        found = [
            each
            for each in rows.tabulars.values()
            if (each.warehouse_id, each.namespace_id, each.kind, each.state) == wanted
            and (everything or each.incarnation in visible.objects)
        ]
        return _page([(each.created_at, each.incarnation, listed(each)) for each in found], after, limit)

    async def deleted(
        self,
        warehouse_id: WarehouseId,
        namespace_id: NamespaceId | None,
        *,
        visible: Mapping[Kind, Visibility],
        after: After | None,
        limit: int,
    ) -> Sequence[Deleted]:
        rows = self._catalog.rows
        found = [
            Deleted(each, rows.dropped_at[each.warehouse_id, each.incarnation])
            for each in rows.tabulars.values()
            if (each.warehouse_id, each.state) == (warehouse_id, State.DROPPED)
            and namespace_id in {None, each.namespace_id}
            and rows.shows(each, visible)
        ]
        return _page([(each.dropped_at, each.tabular.incarnation, each) for each in found], after, limit)

    async def search(
        self, warehouse_id: WarehouseId, text: str | UUID, *, visible: Mapping[Kind, Visibility], limit: int
    ) -> Sequence[Match]:
        rows = self._catalog.rows
        live = [
            each
            for each in rows.tabulars.values()
            if (each.warehouse_id, each.state) == (warehouse_id, State.LIVE) and rows.shows(each, visible)
        ]
        if isinstance(text, UUID):
            found = [(0.0, each) for each in live if text in {each.tabular_id, each.namespace_id}]
        else:
            found = [(_distance(text, each.ident), each) for each in live]
        ordered = sorted(found, key=lambda entry: (entry[0], entry[1].ident.key))
        return [
            Match(TabularKey(each.kind, each.tabular_id), each.ident, None if isinstance(text, UUID) else distance)
            for distance, each in ordered
            if distance < 0.8
        ][:limit]

    async def counts(self, warehouse_id: WarehouseId) -> Mapping[Kind, int]:
        found = self._catalog.rows.tabulars.values()
        return Counter(each.kind for each in found if (each.warehouse_id, each.state) == (warehouse_id, State.LIVE))


def _distance(text: str, ident: TabularIdent) -> float:
    """How unlike a text is to a name, or to the likest part of its path, by the share of threes of letters."""

    def threes(word: str) -> set[str]:
        padded = [f"  {part} " for part in re.findall(r"\w+", word)]
        return {part[place : place + 3] for part in padded for place in range(len(part) - 2)}

    sought = threes(text)
    others = [threes(each) for each in (ident.name_key, *ident.namespace.key.split(SEPARATOR))]
    return 1 - max(len(sought & other) / (len(sought | other) or 1) for other in others)


def listed(tabular: Tabular) -> Listed:
    return Listed(
        tabular.created_at, tabular.incarnation, tabular.ident.name, tabular.tabular_id, protected=tabular.protected
    )


class MemoryBodies:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def body(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> Sequence[BodyPart]:
        body = self._catalog.rows.bodies[warehouse_id, metadata_id]
        return body.references if references else body.everything


class MemoryIdempotency:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def find(self, scope: KeyPlace, *, now: datetime) -> Remembered | None:
        remembered, until = self._catalog.rows.keys.get(scope, (None, now))
        return remembered if until > now else None

    async def keep_refusal(self, scope: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        self._catalog.rows.keys.setdefault(scope, (remembered, until))


class MemoryChanges:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog
        self.turn = asyncio.Lock()

    @asynccontextmanager
    async def change(self) -> AsyncIterator[Change]:
        async with self.turn:
            change = MemoryChange(self._catalog)
            yield change
            change.ledger.flush()
            fate, self._catalog.next_commit = self._catalog.next_commit, None
            if fate is Fate.AWAY:
                raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "the database is away")
            if fate is not Fate.LOST_BEFORE:
                self._catalog.rows = change.rows
            if fate is not None:
                raise OutcomeUnknown

    async def current_metadata(self, warehouse_id: WarehouseId, incarnation: Incarnation) -> MetadataId | None:
        found = self._catalog.rows.tabulars.get((warehouse_id, incarnation))
        return None if found is None else found.metadata_id


class _Server:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    async def bootstrap(self, *, default_project: Project | None, owner: Principal) -> bool:
        if self.rows.server.bootstrapped:
            return False
        self.rows.server = dataclasses.replace(self.rows.server, bootstrapped=True)
        if default_project is not None and default_project.project_id not in self.rows.projects:
            await _Projects(self.rows).insert(default_project, owner=owner)
        return True


class _Projects:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    async def insert(self, project: Project, *, owner: Principal) -> None:
        if project.project_id in self.rows.projects:
            raise project_exists(project.project_id)
        self.rows.projects[project.project_id] = project
        self.rows.growth.append((PROJECTS, Made(ObjectRef.project(project.project_id), _owner(owner))))

    async def lock(self, project_id: ProjectId) -> Project | None:
        return self.rows.projects.get(project_id)

    async def rename(self, project_id: ProjectId, name: str) -> None:
        self.rows.projects[project_id] = dataclasses.replace(self.rows.projects[project_id], name=name)

    async def delete(self, project_id: ProjectId) -> None:
        if any(each.project_id == project_id for each in self.rows.warehouses.values()):
            raise project_not_empty(project_id)
        self.rows.projects.pop(project_id, None)
        self.rows.growth.append((PROJECTS, Gone(ObjectRef.project(project_id))))


class _Warehouses:
    def __init__(self, rows: Rows, clock: Clock) -> None:
        self.rows = rows
        self._clock = clock

    async def lock_place(self, place: str) -> None:
        """Transactions run one after another."""

    async def at(self, place: str) -> Sequence[Warehouse]:
        found = [each for each in self.rows.warehouses.values() if each.storage.place == place]
        return sorted(found, key=lambda each: each.warehouse_id)

    async def insert(self, warehouse: Warehouse, *, owner: Principal) -> None:
        if warehouse.project_id not in self.rows.projects:
            raise no_such_project(warehouse.project_id)
        self._check_name(warehouse, warehouse.name)
        self.rows.warehouses[warehouse.warehouse_id] = warehouse
        self.rows.grown(warehouse.warehouse_id, Made(warehouse_ref(warehouse), _owner(owner)))

    async def lock(self, warehouse_id: WarehouseId) -> Warehouse | None:
        return self.rows.warehouses.get(warehouse_id)

    async def update(self, warehouse: Warehouse) -> Warehouse:
        stored = self.rows.warehouses.get(warehouse.warehouse_id)
        if stored is None or stored.row_version != warehouse.row_version:
            raise Refusal(Reason.REASON_CONCURRENT_CHANGE, "changed meanwhile", object=f"warehouse {warehouse.name}")
        self._check_name(warehouse, warehouse.name)
        changed = dataclasses.replace(warehouse, row_version=stored.row_version + 1, updated_at=self._clock.now())
        self.rows.warehouses[warehouse.warehouse_id] = changed
        return changed

    def _check_name(self, warehouse: Warehouse, name: str) -> None:
        for other in self.rows.warehouses.values():
            if other.warehouse_id != warehouse.warehouse_id and (other.project_id, name_key(other.name)) == (
                warehouse.project_id,
                name_key(name),
            ):
                raise Refusal(Reason.REASON_WAREHOUSE_EXISTS, "the name is taken", warehouse=name)

    async def delete(self, warehouse_id: WarehouseId) -> None:
        inside = any(key[0] == warehouse_id for key in self.rows.namespaces)
        if inside or any(task.warehouse_id == warehouse_id for task in self.rows.tasks.values()):
            raise Refusal(Reason.REASON_WAREHOUSE_NOT_EMPTY, "not empty", warehouse=str(warehouse_id))
        gone = self.rows.warehouses.pop(warehouse_id, None)
        if gone is not None:
            self.rows.grown(warehouse_id, Gone(warehouse_ref(gone)))


class _Namespaces:
    def __init__(self, rows: Rows, tabulars: _Tabulars) -> None:
        self.rows = rows
        self._tabulars = tabulars

    async def lock(self, warehouse_id: WarehouseId, ident: NamespaceIdent, *, exclusively: bool) -> Namespace | None:
        del exclusively  # transactions run one after another
        return self.rows.namespace_at(warehouse_id, ident.key)

    async def insert(self, namespace: Namespace, *, owner: Principal) -> None:
        if namespace.warehouse_id not in self.rows.warehouses:
            raise no_such_warehouse(namespace.warehouse_id)
        if self.rows.namespace_at(namespace.warehouse_id, namespace.ident.key) is not None:
            raise namespace_exists(namespace.ident)
        if (
            namespace.parent_id is not None
            and (namespace.warehouse_id, namespace.parent_id) not in self.rows.namespaces
        ):
            raise no_such_namespace(namespace.ident.parent)
        self.rows.namespaces[namespace.warehouse_id, namespace.namespace_id] = namespace
        made = namespace_ref(self.rows.warehouses[namespace.warehouse_id], namespace)
        self.rows.grown(namespace.warehouse_id, Made(made, _owner(owner)))

    async def set_properties(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        key = (namespace.warehouse_id, namespace.namespace_id)
        stored = self.rows.namespaces[key]
        self.rows.namespaces[key] = dataclasses.replace(
            stored, properties=dict(properties), row_version=stored.row_version + 1
        )

    async def set_protection(self, namespace: Namespace, *, protected: bool) -> None:
        key = (namespace.warehouse_id, namespace.namespace_id)
        stored = self.rows.namespaces.get(key)
        if stored is None or stored.row_version != namespace.row_version:
            raise Refusal(Reason.REASON_CONCURRENT_CHANGE, "changed meanwhile", object=f"namespace {namespace.ident}")
        self.rows.namespaces[key] = dataclasses.replace(stored, protected=protected, row_version=stored.row_version + 1)

    async def contents(self, warehouse_id: WarehouseId, namespace_id: NamespaceId) -> Contents:
        top = self.rows.namespaces[warehouse_id, namespace_id]
        namespaces = self.rows.below(top)
        inside = {namespace_id, *(each.namespace_id for each in namespaces)}
        tabulars = [each for each in self.rows.tabulars.values() if each.warehouse_id == warehouse_id]
        found = sorted((each for each in tabulars if each.namespace_id in inside), key=lambda each: each.incarnation)
        return Contents(tuple(namespaces), tuple(found))

    async def delete(self, namespace: Namespace) -> None:
        contents = await self.contents(namespace.warehouse_id, namespace.namespace_id)
        for tabular in contents.tabulars:
            self._tabulars.remove(tabular)
        for gone in (namespace, *contents.namespaces):
            del self.rows.namespaces[gone.warehouse_id, gone.namespace_id]
        gone_ref = namespace_ref(self.rows.warehouses[namespace.warehouse_id], namespace)
        self.rows.grown(namespace.warehouse_id, Gone(gone_ref))


class _Locations:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    async def lock(self, warehouse_id: WarehouseId, *, exclusively: bool) -> None:
        """Transactions run one after another."""

    async def lock_inside(self, warehouse_id: WarehouseId, ident: NamespaceIdent) -> None:
        """Transactions run one after another."""

    async def overlapping(
        self, warehouse_id: WarehouseId, location: Location, *, enclosed_too: bool, but_not: Incarnation | None = None
    ) -> Tabular | None:
        for tabular in self.rows.tabulars.values():
            if tabular.warehouse_id != warehouse_id or tabular.incarnation == but_not:
                continue
            ours, theirs = (_compared(self.rows, warehouse_id, each) for each in (str(location), tabular.location))
            if ours.startswith(theirs) or (enclosed_too and theirs.startswith(ours)):
                return tabular
        return None

    async def purge_pending(self, warehouse_id: WarehouseId, location: Location) -> bool:
        purges = [task for task in self.rows.tasks.values() if task.warehouse_id == warehouse_id]
        folds = self.rows.warehouses[warehouse_id].storage.folds
        return any(
            task.queue is Queue.TABULAR_PURGE and Location.parse(task.location).overlaps(location, folded=folds)
            for task in purges
        )


class _Tabulars:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    async def insert(self, tabular: Tabular, body: Body, *, owner: Principal, looks: bool = False) -> None:
        place = Location.parse(tabular.location)
        if looks and await _Locations(self.rows).overlapping(tabular.warehouse_id, place, enclosed_too=False):
            raise location_taken(place)
        if (tabular.warehouse_id, tabular.namespace_id) not in self.rows.namespaces:
            raise no_such_namespace(tabular.ident.namespace)
        await self._make_way(tabular, tabular.ident)
        for other in self.rows.tabulars.values():
            if other.warehouse_id != tabular.warehouse_id:
                continue
            if other.tabular_id == tabular.tabular_id:
                raise uuid_taken(tabular.ident)
            if Location.parse(other.location).key == Location.parse(tabular.location).key:
                raise Refusal(Reason.REASON_LOCATION_TAKEN, "taken", location=tabular.location)
        self.rows.tabulars[tabular.warehouse_id, tabular.incarnation] = tabular
        self.rows.bodies[tabular.warehouse_id, tabular.metadata_id] = body
        self.rows.grown(tabular.warehouse_id, Made(self._ref(tabular), _owner(owner), tabular.tabular_id))

    def _ref(self, tabular: Tabular) -> ObjectRef:
        return tabular_ref(self.rows.warehouses[tabular.warehouse_id], tabular)

    async def _make_way(
        self, tabular: Tabular, ident: TabularIdent, *, taken: Callable[[object], Refusal] = name_taken_meanwhile
    ) -> None:
        """Let a staged row of this name go; refuse for any other."""
        other = self.rows.tabular_at(tabular.warehouse_id, ident)
        if other is None or other.incarnation == tabular.incarnation:
            return
        if other.state is not State.STAGED:
            raise taken(ident)
        await self.delete(other)

    async def lock(
        self, warehouse_id: WarehouseId, ident: TabularIdent, kinds: Collection[Kind], *, states: Collection[State]
    ) -> Tabular | None:
        namespace = self.rows.namespace_at(warehouse_id, ident.namespace.key)
        found = [
            each
            for each in self.rows.tabulars.values()
            if namespace is not None
            and (each.warehouse_id, each.namespace_id) == (warehouse_id, namespace.namespace_id)
            and each.ident.name_key == ident.name_key
            and each.kind in kinds
            and each.state in states
        ]
        return min(found, key=lambda each: each.state is State.DROPPED, default=None)

    async def lock_incarnation(self, warehouse_id: WarehouseId, incarnation: Incarnation) -> Tabular | None:
        return self.rows.tabulars.get((warehouse_id, incarnation))

    async def lock_incarnations(
        self, warehouse_id: WarehouseId, incarnations: Collection[Incarnation]
    ) -> Sequence[Tabular]:
        found = [self.rows.tabulars.get((warehouse_id, each)) for each in sorted(incarnations)]
        return [each for each in found if each is not None]

    async def commit(self, commits: Sequence[TabularCommit]) -> Collection[Incarnation]:
        def current(commit: TabularCommit) -> bool:
            found = self.rows.tabulars.get((commit.warehouse_id, commit.incarnation))
            return found is not None and found.state is not State.DROPPED and found.metadata_id == commit.expected

        lost = [commit.incarnation for commit in commits if not current(commit)]
        for commit in () if lost else commits:
            key = (commit.warehouse_id, commit.incarnation)
            stored = self.rows.tabulars[key]
            del self.rows.bodies[commit.warehouse_id, commit.expected]
            self.rows.bodies[commit.warehouse_id, commit.metadata_id] = commit.body
            self.rows.tabulars[key] = dataclasses.replace(
                stored,
                state=State.LIVE,
                expires_at=None,
                metadata_id=commit.metadata_id,
                metadata_location=commit.metadata_location,
                location=stored.location if commit.location is None else str(commit.location),
            )
        return lost

    async def rename(self, tabular: Tabular, *, namespace: Namespace, name: str) -> None:
        ident = TabularIdent(namespace.ident, name)
        await self._make_way(tabular, ident)
        self._replace(tabular, namespace_id=namespace.namespace_id, ident=ident)
        if namespace.namespace_id != tabular.namespace_id:
            there = dataclasses.replace(tabular, namespace_id=namespace.namespace_id)
            self.rows.grown(tabular.warehouse_id, Moved(self._ref(there)))

    async def drop(self, tabular: Tabular, *, at: datetime, expires_at: datetime) -> None:
        self._replace(tabular, state=State.DROPPED, expires_at=expires_at)
        self.rows.dropped_at[tabular.warehouse_id, tabular.incarnation] = at

    async def undrop(self, tabular: Tabular) -> None:
        await self._make_way(tabular, tabular.ident, taken=name_taken_since)
        self._replace(tabular, state=State.LIVE, expires_at=None)
        del self.rows.dropped_at[tabular.warehouse_id, tabular.incarnation]

    async def set_protection(self, tabular: Tabular, *, protected: bool) -> None:
        self._replace(tabular, protected=protected)

    def _replace(self, tabular: Tabular, **changes: object) -> None:
        key = (tabular.warehouse_id, tabular.incarnation)
        stored = self.rows.tabulars.get(key)
        if stored is None or stored.row_version != tabular.row_version:
            raise Refusal(Reason.REASON_CONCURRENT_CHANGE, "changed meanwhile", object=str(tabular.ident))
        self.rows.tabulars[key] = dataclasses.replace(
            stored,
            row_version=stored.row_version + 1,
            **changes,  # type: ignore[arg-type]  # fields of the row
        )

    async def delete(self, tabular: Tabular) -> None:
        self.remove(tabular)
        self.rows.grown(tabular.warehouse_id, Gone(self._ref(tabular)))

    def remove(self, tabular: Tabular) -> None:
        gone = self.rows.tabulars.pop((tabular.warehouse_id, tabular.incarnation), None)
        self.rows.dropped_at.pop((tabular.warehouse_id, tabular.incarnation), None)
        if gone is not None:
            del self.rows.bodies[gone.warehouse_id, gone.metadata_id]


class _Ledger:
    def __init__(self, rows: Rows, clock: Clock) -> None:
        self.rows = rows
        self._clock = clock
        self._record: tuple[KeyPlace, Remembered, datetime] | None = None

    def flush(self) -> None:
        if self._record is not None:
            scope, remembered, until = self._record
            if scope in self.rows.keys and self.rows.keys[scope][1] > self._clock.now():
                raise Refusal(Reason.REASON_REQUEST_IN_PROGRESS, "another came first", key=str(scope.key))
            self.rows.keys[scope] = (remembered, until)

    def emit(self, *events: Event) -> None:
        self.rows.events.extend(events)

    def remember(self, scope: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        self._record = (scope, remembered, until)


class MemoryChange:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self.rows = catalog.rows.copy()
        self.server = _Server(self.rows)
        self.projects = _Projects(self.rows)
        self.warehouses = _Warehouses(self.rows, catalog.clock)
        self.tabulars = _Tabulars(self.rows)
        self.namespaces = _Namespaces(self.rows, self.tabulars)
        self.locations = _Locations(self.rows)
        self.ledger = _Ledger(self.rows, catalog.clock)
        self.tasks = TaskRowChanges(self.rows, catalog.ids)


def _owner(principal: Principal) -> Principal | None:
    match principal.kind:
        case PrincipalKind.USER:
            return principal
        case PrincipalKind.ROLE:
            return Principal(PrincipalKind.ROLE, role_id=principal.role_id)
        case _:
            return None


def _page(found: list[tuple[datetime, UUID, Row]], after: After | None, limit: int) -> list[Row]:
    ordered = sorted(found, key=lambda entry: entry[:2])
    place = None if after is None else (after.created_at, after.id)
    return [entry[2] for entry in ordered if place is None or entry[:2] > place][:limit]


def _compared(rows: Rows, warehouse_id: WarehouseId, text: str) -> str:
    """A location's key, as it is compared in its warehouse."""
    location = Location.parse(text)
    return location.folded_key if rows.warehouses[warehouse_id].storage.folds else location.key
