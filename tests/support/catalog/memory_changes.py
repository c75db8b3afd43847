"""Changes of the catalog in memory: one transaction after another, each on a copy that takes the original's place."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from lakeward_catalog.application.changes import Change, Committed, Contents, Stood, TabularCommit, TabularInsert
from lakeward_catalog.application.placing import location_taken
from lakeward_catalog.application.refs import namespace_ref, tabular_ref, warehouse_ref
from lakeward_catalog.application.tree import PROJECTS, Gone, Made, Moved, Switched
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.generic.versions import TableVersion
from lakeward_catalog.domain.model import (
    Incarnation,
    Kind,
    MetadataId,
    Namespace,
    NamespaceId,
    Project,
    ProjectId,
    State,
    Tabular,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent, name_key
from lakeward_catalog.domain.tasks import Queue
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
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.idempotency import KeyPlace, Remembered
from lakeward_servicekit.postgres.failures import OutcomeUnknown
from lakeward_servicekit.system import Clock
from tests.support.catalog.memory_rows import Fate, Rows, versions_of
from tests.support.catalog.memory_tags import TagRowChanges, forget, stored_owner
from tests.support.catalog.memory_task_rows import TaskRowChanges

if TYPE_CHECKING:
    from tests.support.catalog.memory import MemoryCatalog


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

    async def commit(self, commit: TabularCommit, tell: Callable[[Stood], Event]) -> bool:
        async with self.change() as change:
            committed = await change.tabulars.commit([commit])
            if committed.lost:
                return False
            change.ledger.emit(tell(committed.stood[commit.incarnation]))
        return True

    async def insert(self, insert: TabularInsert, event: Event) -> None:
        async with self.change() as change:
            await change.tabulars.insert(
                insert.tabular, insert.body, owner=insert.owner, looks=True, listed_as=insert.listed_as
            )
            change.ledger.emit(event)

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
        self.rows.growth.append((PROJECTS, Made(ObjectRef.project(project.project_id), stored_owner(owner))))

    async def lock(self, project_id: ProjectId) -> Project | None:
        return self.rows.projects.get(project_id)

    async def rename(self, project_id: ProjectId, name: str) -> None:
        self.rows.projects[project_id] = dataclasses.replace(self.rows.projects[project_id], name=name)

    async def delete(self, project_id: ProjectId) -> None:
        if any(each.project_id == project_id for each in self.rows.warehouses.values()):
            raise project_not_empty(project_id)
        self.rows.projects.pop(project_id, None)
        for key in [key for key in self.rows.tags if key[0] == project_id]:
            del self.rows.tags[key]
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
        self.rows.grown(warehouse.warehouse_id, Made(warehouse_ref(warehouse), stored_owner(owner)))

    async def lock(self, warehouse_id: WarehouseId) -> Warehouse | None:
        return self.rows.warehouses.get(warehouse_id)

    async def update(self, warehouse: Warehouse) -> Warehouse:
        stored = self.rows.warehouses.get(warehouse.warehouse_id)
        if stored is None or stored.row_version != warehouse.row_version:
            raise Refusal(Reason.REASON_CONCURRENT_CHANGE, "changed meanwhile", object=f"warehouse {warehouse.name}")
        self._check_name(warehouse, warehouse.name)
        self._unname(stored, warehouse.storage.secret_id)
        changed = dataclasses.replace(warehouse, row_version=stored.row_version + 1, updated_at=self._clock.now())
        self.rows.warehouses[warehouse.warehouse_id] = changed
        if changed.active != stored.active:
            self.rows.grown(warehouse.warehouse_id, Switched(warehouse_ref(changed), changed.active))
        return changed

    def _unname(self, warehouse: Warehouse, instead: UUID | None) -> None:
        secret_id = warehouse.storage.secret_id
        if secret_id is not None and secret_id != instead:
            self.rows.unnamed_secrets[secret_id] = self._clock.now()

    def _check_name(self, warehouse: Warehouse, name: str) -> None:
        for other in self.rows.warehouses.values():
            if other.warehouse_id != warehouse.warehouse_id and (other.project_id, name_key(other.name)) == (
                warehouse.project_id,
                name_key(name),
            ):
                raise Refusal(Reason.REASON_WAREHOUSE_EXISTS, "the name is taken", warehouse=name)

    async def delete(self, warehouse_id: WarehouseId) -> None:
        inside = any(key[0] == warehouse_id for key in self.rows.namespaces)
        if inside or any(task.owner == warehouse_id for task in self.rows.tasks.values()):
            raise Refusal(Reason.REASON_WAREHOUSE_NOT_EMPTY, "not empty", warehouse=str(warehouse_id))
        gone = self.rows.warehouses.pop(warehouse_id, None)
        if gone is not None:
            forget(self.rows, warehouse_id=warehouse_id)
            self.rows.grown(warehouse_id, Gone(warehouse_ref(gone)))
            self._unname(gone, None)


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
        self.rows.grown(namespace.warehouse_id, Made(made, stored_owner(owner)))

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

    async def begin_move(self, warehouse_id: WarehouseId) -> None:
        """Transactions run one after another."""

    async def lock_tree(self, warehouse_id: WarehouseId, namespace_id: NamespaceId) -> Sequence[Namespace]:
        top = self.rows.namespaces.get((warehouse_id, namespace_id))
        return () if top is None else (top, *self.rows.below(top))

    async def move(self, namespace: Namespace, *, parent_id: NamespaceId | None, ident: NamespaceIdent) -> None:
        there = self.rows.namespace_at(namespace.warehouse_id, ident.key)
        if there is not None and there.namespace_id != namespace.namespace_id:
            raise namespace_exists(ident)
        depth = len(namespace.ident.parts)
        for each in (namespace, *self.rows.below(namespace)):
            path = NamespaceIdent((*ident.parts, *each.ident.parts[depth:]))
            above = parent_id if each is namespace else each.parent_id
            moved = dataclasses.replace(each, ident=path, parent_id=above, row_version=each.row_version + 1)
            self.rows.namespaces[each.warehouse_id, each.namespace_id] = moved
            for key, tabular in self.rows.tabulars.items():
                if (tabular.warehouse_id, tabular.namespace_id) == (each.warehouse_id, each.namespace_id):
                    name = TabularIdent(path, tabular.ident.name)
                    self.rows.tabulars[key] = dataclasses.replace(tabular, ident=name)
        if parent_id != namespace.parent_id:
            there_now = self.rows.namespaces[namespace.warehouse_id, namespace.namespace_id]
            warehouse = self.rows.warehouses[namespace.warehouse_id]
            self.rows.grown(namespace.warehouse_id, Moved(namespace_ref(warehouse, there_now)))

    async def delete(self, namespace: Namespace) -> None:
        contents = await self.contents(namespace.warehouse_id, namespace.namespace_id)
        for tabular in contents.tabulars:
            self._tabulars.remove(tabular)
        for gone in (namespace, *contents.namespaces):
            del self.rows.namespaces[gone.warehouse_id, gone.namespace_id]
            forget(self.rows, warehouse_id=gone.warehouse_id, namespace_id=gone.namespace_id)
        gone_ref = namespace_ref(self.rows.warehouses[namespace.warehouse_id], namespace)
        self.rows.grown(namespace.warehouse_id, Gone(gone_ref))


class _Locations:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    async def lock(self, warehouse_id: WarehouseId, *, exclusively: bool) -> None:
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
        purges = [task for task in self.rows.tasks.values() if task.owner == warehouse_id]
        folds = self.rows.warehouses[warehouse_id].storage.folds
        return any(
            task.queue is Queue.TABULAR_PURGE and Location.parse(task.location or "").overlaps(location, folded=folds)
            for task in purges
        )


class _Tabulars:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    async def insert(
        self, tabular: Tabular, body: Body, *, owner: Principal, looks: bool = False, listed_as: str | None = None
    ) -> None:
        place = Location.parse(tabular.location)
        if looks and await _Locations(self.rows).overlapping(tabular.warehouse_id, place, enclosed_too=False):
            raise location_taken(place)
        inside = self.rows.namespace_at(tabular.warehouse_id, tabular.ident.namespace.key)
        if inside is None or inside.namespace_id != tabular.namespace_id:
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
        self.rows.grown(tabular.warehouse_id, Made(self._ref(tabular), stored_owner(owner), tabular.tabular_id))
        if listed_as is not None:
            self.rows.formats[tabular.warehouse_id, tabular.incarnation] = listed_as

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

    async def commit(self, commits: Sequence[TabularCommit]) -> Committed:
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
        rows = [] if lost else [self.rows.tabulars[each.warehouse_id, each.incarnation] for each in commits]
        stood = {each.incarnation: Stood(each.namespace_id, each.ident, each.protected) for each in rows}
        return Committed(lost, stood)

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
        self.rows.formats.pop((tabular.warehouse_id, tabular.incarnation), None)
        self.rows.versions.pop((tabular.warehouse_id, tabular.incarnation), None)
        if gone is not None:
            forget(self.rows, warehouse_id=gone.warehouse_id, incarnation=gone.incarnation)
            del self.rows.bodies[gone.warehouse_id, gone.metadata_id]


class _Versions:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    async def latest(self, tabular: Tabular) -> TableVersion | None:
        return versions_of(self.rows, tabular).get(max(versions_of(self.rows, tabular), default=-1))

    async def find(self, tabular: Tabular, version: int) -> TableVersion | None:
        return versions_of(self.rows, tabular).get(version)

    async def insert(self, tabular: Tabular, version: TableVersion) -> bool:
        there = versions_of(self.rows, tabular)
        if version.version in there:
            return False
        self.rows.versions[tabular.warehouse_id, tabular.incarnation] = {**there, version.version: version}
        return True

    async def forget(self, tabular: Tabular, *, before: int) -> int:
        there = versions_of(self.rows, tabular)
        kept = {number: each for number, each in there.items() if number >= before or number == max(there)}
        self.rows.versions[tabular.warehouse_id, tabular.incarnation] = kept
        return len(there) - len(kept)


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
        self.versions = _Versions(self.rows)
        self.ledger = _Ledger(self.rows, catalog.clock)
        self.tasks = TaskRowChanges(self.rows, catalog.ids)
        self.tags = TagRowChanges(self.rows)


def _compared(rows: Rows, warehouse_id: WarehouseId, text: str) -> str:
    """A location's key, as it is compared in its warehouse."""
    location = Location.parse(text)
    return location.folded_key if rows.warehouses[warehouse_id].storage.folds else location.key
