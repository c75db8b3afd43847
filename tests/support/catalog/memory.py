"""The catalog's stores in memory. Transactions run one after another, each on a copy that takes the original's place.

catalog = MemoryCatalog(clock=clock, ids=ids)
catalog.servers, .warehouses, .namespaces, .tabulars, .bodies, .idempotency, .changes
catalog.next_commit = Fate.LOST_AFTER     # the next transaction commits and its answer is lost
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

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
from lakeward_catalog.domain.bodies import BodyPart
from lakeward_catalog.domain.generic.versions import TableVersion
from lakeward_catalog.domain.model import (
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
from lakeward_locations import Location
from lakeward_servicekit.idempotency import KeyPlace, Remembered
from lakeward_servicekit.system import Clock, Ids
from tests.support.catalog.memory_changes import MemoryChanges
from tests.support.catalog.memory_rows import Fate, Rows, versions_of
from tests.support.catalog.memory_tags import MemoryTags
from tests.support.catalog.values import FreshIds, HeldClock

Row = TypeVar("Row", ListedNamespace, Listed, Deleted)


class MemoryCatalog:
    def __init__(self, *, clock: Clock | None = None, ids: Ids | None = None) -> None:
        self.clock = clock or HeldClock()
        self.ids = ids or FreshIds()
        self.rows = Rows(Server(self.ids.uuid4(), self.ids.uuid4(), bootstrapped=False))
        self.next_commit: Fate | None = None
        self.servers = MemoryServers(self)
        self.warehouses = MemoryWarehouses(self)
        self.unnamed_secrets = MemoryUnnamedSecrets(self)
        self.namespaces = MemoryNamespaces(self)
        self.tabulars = MemoryTabulars(self)
        self.bodies = MemoryBodies(self)
        self.versions = MemoryVersions(self)
        self.idempotency = MemoryIdempotency(self)
        self.changes = MemoryChanges(self)
        self.tags = MemoryTags(self)


class MemoryServers:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def server(self) -> Server:
        return self._catalog.rows.server

    async def project(self, project_id: ProjectId) -> Project | None:
        return self._catalog.rows.projects.get(project_id)

    async def projects(self, visible: Visibility) -> Sequence[Project]:
        every = self._catalog.rows.projects.values()
        return [each for each in every if visible.everything or each.project_id in visible.projects]


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

    async def list(
        self,
        project_id: ProjectId,
        *,
        active: bool | None,
        visible: Visibility,
        after: str | None = None,
        limit: int | None = None,
    ) -> Sequence[Warehouse]:
        shown = visible.containers | visible.objects
        found = [each for each in self._catalog.rows.warehouses.values() if each.project_id == project_id]
        found = [each for each in found if active is None or each.active is active]
        found = [each for each in found if after is None or name_key(each.name) > after]
        return sorted(
            (each for each in found if visible.everything or each.warehouse_id in shown),
            key=lambda each: name_key(each.name),
        )[:limit]

    def remembered(self, warehouse_id: WarehouseId, row_version: int) -> Warehouse | None:
        found = self._catalog.rows.warehouses.get(warehouse_id)
        return found if found is not None and found.row_version == row_version else None


class MemoryUnnamedSecrets:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def list(self, *, before: datetime, limit: int) -> Sequence[UUID]:
        left = sorted((since, secret_id) for secret_id, since in self._catalog.rows.unnamed_secrets.items())
        return [secret_id for since, secret_id in left if since < before][:limit]

    async def forgotten(self, secret_id: UUID) -> None:
        self._catalog.rows.unnamed_secrets.pop(secret_id, None)


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
        return _page([(each.created_at, each.incarnation, rows.listed(each)) for each in found], after, limit)

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
            found = [(0.0, 0.0, each) for each in live if text in {each.tabular_id, each.namespace_id}]
        else:
            found = [(*_distances(text, each.ident), each) for each in live]
        ordered = sorted(found, key=lambda entry: (*entry[:2], entry[2].ident.key))
        enough = next((most for most in (0.4, 0.7) if any(distance <= most for distance, *_ in ordered)), -1.0)
        return [
            Match(TabularKey(each.kind, each.tabular_id), each.ident, None if isinstance(text, UUID) else distance)
            for distance, _, each in ordered
            if distance <= enough
        ][:limit]

    async def of_formats(
        self, warehouse_id: WarehouseId, formats: Collection[str], *, after: UUID | None, limit: int
    ) -> Sequence[Tabular]:
        rows = self._catalog.rows
        found = [
            each
            for key, each in rows.tabulars.items()
            if (each.warehouse_id, each.state, each.kind) == (warehouse_id, State.LIVE, Kind.GENERIC_TABLE)
            and rows.formats[key].lower() in formats
            and (after is None or each.incarnation > after)
        ]
        return sorted(found, key=lambda each: each.incarnation)[:limit]

    async def counts(self, warehouse_id: WarehouseId) -> Mapping[Kind, int]:
        found = self._catalog.rows.tabulars.values()
        return Counter(each.kind for each in found if (each.warehouse_id, each.state) == (warehouse_id, State.LIVE))


def _distances(text: str, ident: TabularIdent) -> tuple[float, float]:
    """How much of a text neither a name nor any part of its path has, and how unlike it is to the name as a whole."""

    def threes(word: str) -> set[str]:
        padded = [f"  {part} " for part in re.findall(r"[^\W_]+", word)]
        return {part[place : place + 3] for part in padded for place in range(len(part) - 2)}

    sought, name = threes(text), threes(ident.name_key)
    others = [name, *(threes(each) for each in ident.namespace.key.split(SEPARATOR))]
    missing = 1 - max(len(sought & other) for other in others) / (len(sought) or 1)
    return missing, 1 - len(sought & name) / (len(sought | name) or 1)


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


class MemoryVersions:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def find(self, tabular: Tabular, version: int | None) -> TableVersion | None:
        there = versions_of(self._catalog.rows, tabular)
        return there.get(max(there, default=-1) if version is None else version)

    async def list(self, tabular: Tabular, *, before: int | None, limit: int) -> Sequence[TableVersion]:
        there = versions_of(self._catalog.rows, tabular)
        return [there[number] for number in sorted(there, reverse=True) if before is None or number < before][:limit]


def _page(found: list[tuple[datetime, UUID, Row]], after: After | None, limit: int) -> list[Row]:
    ordered = sorted(found, key=lambda entry: entry[:2])
    place = None if after is None else (after.created_at, after.id)
    return [entry[2] for entry in ordered if place is None or entry[:2] > place][:limit]
