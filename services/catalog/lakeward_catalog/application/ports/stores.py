"""Where rows are read. Stores answer from the primary, so that a caller sees every change that was acknowledged before it asked.

Writing goes through a `Change`, see `changes.py`. What is not there is None: only `doors.py` and the use cases word a refusal of
it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

import msgspec

from lakeward_catalog.domain.bodies import BodyPart
from lakeward_catalog.domain.generic.versions import TableVersion
from lakeward_catalog.domain.model import (
    Incarnation,
    Kind,
    MetadataId,
    Namespace,
    NamespaceId,
    Project,
    ProjectId,
    Server,
    Tabular,
    TabularId,
    TabularKey,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_locations import Location
from lakeward_servicekit.deflated import Deflated


class Located(msgspec.Struct, frozen=True):
    """What one point read finds on the way to a tabular.

    Attributes:
        warehouse: None where there is no warehouse of that id.
        namespace: None where the warehouse has no such namespace.
        tabular: None where the namespace has no such tabular that is live or staged.
    """

    warehouse: Warehouse | None
    namespace: Namespace | None
    tabular: Tabular | None


@dataclasses.dataclass(frozen=True, slots=True)
class Visibility:
    """What a listing may show.

    Attributes:
        everything: no filter; the sets are empty then.
        containers: namespaces below which everything shows.
        objects: single namespaces or incarnations that show.
        projects: single projects that show.
    """

    everything: bool
    containers: frozenset[UUID] = frozenset()
    objects: frozenset[UUID] = frozenset()
    projects: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True)
class After:
    """Where a page starts: behind the entry with this place in the order of a listing."""

    created_at: datetime
    id: UUID


class Listed(NamedTuple):
    """What a listing shows of a tabular, and its place in the order; a page has many.

    Attributes:
        format: of a generic table.
    """

    created_at: datetime
    incarnation: Incarnation
    name: str
    tabular_id: TabularId
    protected: bool
    format: str | None = None


class ListedNamespace(NamedTuple):
    """What a listing shows of a namespace, and its place in the order.

    Attributes:
        path: its parts, with the stored casing.
    """

    created_at: datetime
    namespace_id: NamespaceId
    path: Sequence[str]
    protected: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Deleted:
    """A tabular that was dropped and can be restored.

    Attributes:
        dropped_at: when; its place in the order, with its incarnation.
    """

    tabular: Tabular
    dropped_at: datetime


class ReadView(NamedTuple):
    """A live view, with its metadata document as it is stored."""

    view: Tabular
    document: Deflated


class Match(NamedTuple):
    """A tabular that a search found; `distance` from 0 to 1, None where an id was looked for."""

    tabular: TabularKey
    ident: TabularIdent
    distance: float | None


class ServerStore(Protocol):
    """The installation's row, and projects."""

    async def server(self) -> Server:
        """Raises Refusal INTERNAL where `migrate` never ran."""
        ...

    async def project(self, project_id: ProjectId) -> Project | None:
        """One project."""
        ...

    async def projects(self, visible: Visibility) -> Sequence[Project]:
        """Those that show, in no order."""
        ...


class WarehouseStore(Protocol):
    """The rows of warehouses."""

    async def find(self, warehouse_id: WarehouseId) -> Warehouse | None:
        """Active or not."""
        ...

    async def find_by_name(self, project_id: ProjectId, name: str) -> Warehouse | None:
        """By name, without case; active or not. Concurrent ones may share a statement, as `TabularStore.locate` does."""
        ...

    async def list(
        self,
        project_id: ProjectId,
        *,
        active: bool | None,
        visible: Visibility,
        after: str | None = None,
        limit: int | None = None,
    ) -> Sequence[Warehouse]:
        """By name key, behind the key `after`, at most `limit`; None: from the first, and all. `active` None: all."""
        ...

    def remembered(self, warehouse_id: WarehouseId, row_version: int) -> Warehouse | None:
        """The row in this version, from memory alone; None always may be the answer.

        It is given only while the primary showed it, in this version and no later one, less than half a minute ago: so long a
        change that another process made may go unnoticed.
        """
        ...


class NamespaceStore(Protocol):
    """The rows of namespaces."""

    async def find(self, warehouse_id: WarehouseId, ident: NamespaceIdent) -> tuple[Warehouse | None, Namespace | None]:
        """The warehouse and the namespace, either of which may be absent."""
        ...

    async def find_by_id(
        self, warehouse_id: WarehouseId, namespace_id: NamespaceId
    ) -> tuple[Warehouse | None, Namespace | None]:
        """As `find`, by the namespace's id."""
        ...

    async def children(
        self,
        warehouse_id: WarehouseId,
        parent: NamespaceId | None,
        *,
        visible: Visibility,
        after: After | None,
        limit: int,
    ) -> Sequence[ListedNamespace]:
        """Direct children in the order (created_at, namespace_id), at most `limit`.

        Not to be changed: others may get the same.
        """
        ...


class TabularStore(Protocol):
    """The rows of tabulars."""

    async def locate(self, warehouse_id: WarehouseId, ident: TabularIdent) -> Located:
        """One point read. Concurrent ones may share a statement, but none joins one that was sent before it began."""
        ...

    async def views(self, warehouse_id: WarehouseId, idents: Sequence[TabularIdent]) -> Sequence[ReadView | None]:
        """The live views of these names, in their order; None where there is none. One read, whatever it finds."""
        ...

    async def by_id(self, warehouse_id: WarehouseId, tabular_id: TabularId) -> Tabular | None:
        """Live, staged or dropped."""
        ...

    async def by_ids(self, warehouse_id: WarehouseId, tabular_ids: Collection[TabularId]) -> Sequence[Tabular]:
        """Those that are there, live, staged or dropped, in no order."""
        ...

    async def by_location(self, warehouse_id: WarehouseId, location: Location) -> Tabular | None:
        """The tabular, of any state, whose location is or contains this place."""
        ...

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
        """Live ones of a kind in the order (created_at, incarnation), at most `limit`. Costs what the page costs.

        Not to be changed: others may get the same.
        """
        ...

    async def of_formats(
        self, warehouse_id: WarehouseId, formats: Collection[str], *, after: UUID | None, limit: int
    ) -> Sequence[Tabular]:
        """Live generic tables of these formats, which are in lower case, in the order of incarnations, at most `limit`."""
        ...

    async def search(
        self, warehouse_id: WarehouseId, text: str | UUID, *, visible: Mapping[Kind, Visibility], limit: int
    ) -> Sequence[Match]:
        """Live ones that show and are like a text, which is folded as names are, the nearest first; at most `limit`.

        Where something is much like it, what is little like it is left out. Of very many that are about as much like it, the best
        need not be among those that are found, but for names that begin with the text.

        Of an id: the one that has it, or those that are directly inside of the namespace that has it.
        """
        ...

    async def counts(self, warehouse_id: WarehouseId) -> Mapping[Kind, int]:
        """How many live ones there are of each kind that has some."""
        ...

    async def deleted(
        self,
        warehouse_id: WarehouseId,
        namespace_id: NamespaceId | None,
        *,
        visible: Mapping[Kind, Visibility],
        after: After | None,
        limit: int,
    ) -> Sequence[Deleted]:
        """Dropped ones in the order (dropped_at, incarnation), at most `limit`.

        Args:
            warehouse_id: in which.
            namespace_id: only what was dropped from this one; None: from all.
            visible: of each kind that shows at all, what of it shows.
            after: behind this place.
            limit: at most so many.
        """
        ...


class VersionStore(Protocol):
    """Which writers of generic tables claimed which versions. Read from the primary: who reads behind a claim sees it."""

    async def find(self, tabular: Tabular, version: int | None) -> TableVersion | None:
        """One version; None: the latest."""
        ...

    async def list(self, tabular: Tabular, *, before: int | None, limit: int) -> Sequence[TableVersion]:
        """The latest first, at most `limit`; with `before`, those before it."""
        ...


class BodyStore(Protocol):
    """Metadata documents, by the commit that made them. A body never changes, so it may be cached by its id."""

    async def body(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> Sequence[BodyPart]:
        """The parts of one form. Raises LookupError where a later commit has replaced it: read the row again."""
        ...
