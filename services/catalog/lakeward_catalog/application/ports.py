"""The roles that the catalog's use cases need, and what each promises.

Reading roles answer from the primary, so that a caller sees every change that was acknowledged before it asked. Writing goes
through a `Change`: one transaction that holds the rows, the events, the tasks and the idempotency record, or none of them.
Every role raises Refusal DATABASE_UNAVAILABLE when the database can't be reached; that is not repeated below.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

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
    Storage,
    Tabular,
    TabularId,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_catalog.domain.tasks import NewTask
from lakeward_locations import Location
from lakeward_servicekit.deflated import Deflated


@dataclasses.dataclass(frozen=True, slots=True)
class Located:
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
    """

    everything: bool
    containers: frozenset[UUID] = frozenset()
    objects: frozenset[UUID] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True)
class After:
    """Where a page starts: behind the entry with this place in the order of a listing."""

    created_at: datetime
    id: UUID


class ServerStore(Protocol):
    """The installation's row, and projects."""

    async def server(self) -> Server:
        """Raises Refusal INTERNAL where `migrate` never ran."""
        ...

    async def project(self, project_id: ProjectId) -> Project:
        """Raises NO_SUCH_PROJECT."""
        ...


class WarehouseStore(Protocol):
    """The rows of warehouses."""

    async def find(self, warehouse_id: WarehouseId) -> Warehouse:
        """Active or not. Raises NO_SUCH_WAREHOUSE."""
        ...

    async def find_by_name(self, project_id: ProjectId, name: str) -> Warehouse:
        """By name, without case; active or not. Raises NO_SUCH_WAREHOUSE with the name."""
        ...

    async def list(self, project_id: ProjectId, *, active: bool | None, visible: Visibility) -> Sequence[Warehouse]:
        """By name key; `active` None: all."""
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

    async def children(
        self,
        warehouse_id: WarehouseId,
        parent: NamespaceId | None,
        *,
        visible: Visibility,
        after: After | None,
        limit: int,
    ) -> Sequence[Namespace]:
        """Direct children in the order (created_at, namespace_id), at most `limit`."""
        ...


class TabularStore(Protocol):
    """The rows of tabulars."""

    async def locate(self, warehouse_id: WarehouseId, ident: TabularIdent) -> Located:
        """One point read. Concurrent ones may share a statement, but none joins one that was sent before it began."""
        ...

    async def by_id(self, warehouse_id: WarehouseId, tabular_id: TabularId) -> Tabular | None:
        """Live, staged or dropped."""
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
    ) -> Sequence[Tabular]:
        """Live ones of a kind in the order (created_at, incarnation), at most `limit`. Costs what the page costs."""
        ...


class BodyStore(Protocol):
    """Metadata documents, by the commit that made them. A body never changes, so it may be cached by its id."""

    async def body(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> Sequence[BodyPart]:
        """The parts of one form. Raises LookupError where a later commit has replaced it: read the row again."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Scope:
    """Where an idempotency key counts: in one warehouse or project, for one principal."""

    owner: str
    principal: str
    key: UUID


@dataclasses.dataclass(frozen=True, slots=True)
class Remembered:
    """What a key did.

    Attributes:
        fingerprint: SHA-256 over method, idents and canonical JSON.
        outcome: JSON: ids of what was made, or a refusal's reason, message and metadata. Never a credential.
    """

    fingerprint: bytes
    outcome: bytes


class IdempotencyStore(Protocol):
    """What idempotency keys did, while they are remembered."""

    async def find(self, scope: Scope, *, now: datetime) -> Remembered | None:
        """None for a key that is new or forgotten."""
        ...

    async def keep_refusal(self, scope: Scope, remembered: Remembered, *, until: datetime) -> None:
        """Remember a lasting refusal, which changed nothing and so has no transaction; an earlier record stays."""


@dataclasses.dataclass(frozen=True, slots=True)
class TabularCommit:
    """A tabular's move from one metadata to the next.

    Attributes:
        expected: the metadata that must still be current.
        kept_chunks: shared parts of `body` that the expected metadata's body has too, and so are stored already: their
            bytes need not be sent.
        location: set where a view moves.
    """

    warehouse_id: WarehouseId
    incarnation: Incarnation
    expected: MetadataId
    metadata_id: MetadataId
    metadata_location: str
    body: Body
    kept_chunks: frozenset[UUID] = frozenset()
    location: Location | None = None


class Change(Protocol):
    """One transaction. What is called on it happens together when it ends, or not at all.

    Refusals leave the transaction rolled back: nothing may be called after one.
    """

    async def emit(self, *events: Event) -> None:
        """Write events, in this order, just before the commit: when the rows that they tell of are locked."""

    async def enqueue(self, task: NewTask) -> UUID:
        """Queue work; where an equal task (queue, incarnation) waits or runs, answers that one's id."""
        ...

    async def remember(self, scope: Scope, remembered: Remembered, *, until: datetime) -> None:
        """Keep what a key did, once a transaction.

        Raises REQUEST_IN_PROGRESS, at the latest when the block ends, where another transaction kept the same key first; one
        that is about to is waited for. An expired record counts as none.
        """

    # -- server and projects

    async def bootstrap(self, *, default_project: Project | None) -> bool:
        """Close bootstrap and make the project where it is missing; False where it was closed already."""
        ...

    # -- warehouses

    async def lock_storage_place(self, place: str) -> None:
        """Let no other transaction change what lies at this place until this one ends."""

    async def warehouses_at(self, place: str) -> Sequence[Warehouse]:
        """Warehouses of all projects whose storage is at this place, inactive ones too."""
        ...

    async def insert_warehouse(self, warehouse: Warehouse) -> None:
        """Raises WAREHOUSE_EXISTS, NO_SUCH_PROJECT."""

    async def lock_warehouse(self, warehouse_id: WarehouseId) -> Warehouse:
        """The row, held for update until the end. Raises NO_SUCH_WAREHOUSE."""
        ...

    async def update_warehouse(
        self,
        warehouse: Warehouse,
        *,
        name: str | None = None,
        active: bool | None = None,
        storage: Storage | None = None,
    ) -> Warehouse:
        """Change what is given. Raises CONCURRENT_CHANGE unless the stored row version is the given one, WAREHOUSE_EXISTS."""
        ...

    async def delete_warehouse(self, warehouse_id: WarehouseId) -> None:
        """Raises WAREHOUSE_NOT_EMPTY while a namespace, or a task that waits or runs, refers to it; failed tasks go along."""

    # -- namespaces

    async def lock_namespace(self, warehouse_id: WarehouseId, ident: NamespaceIdent, *, exclusively: bool) -> Namespace:
        """The row, held until the end: shared, so that it can't go, or for a change of its own. Raises NO_SUCH_NAMESPACE."""
        ...

    async def insert_namespace(self, namespace: Namespace) -> None:
        """Raises NAMESPACE_EXISTS, NO_SUCH_NAMESPACE (the parent went)."""

    async def set_namespace_properties(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        """Replace them; the row was locked."""

    async def contents(self, warehouse_id: WarehouseId, namespace_id: NamespaceId) -> Contents:
        """Everything inside, at any depth; locked."""
        ...

    async def delete_namespace(self, namespace: Namespace) -> None:
        """The row and everything inside: namespaces, tabulars of every state, bodies."""

    # -- tabulars

    async def lock_locations(self, warehouse_id: WarehouseId, *, exclusively: bool) -> None:
        """Hold the warehouse's locations: shared for the default layout, exclusively for custom ones, purge and register."""

    async def overlapping(
        self, warehouse_id: WarehouseId, location: Location, *, enclosed_too: bool, but_not: Incarnation | None = None
    ) -> Tabular | None:
        """A tabular, of any state, whose location is or contains this one, or with `enclosed_too` lies inside it."""
        ...

    async def purge_pending(self, warehouse_id: WarehouseId, location: Location) -> bool:
        """Whether files that overlap this location wait to be purged."""
        ...

    async def insert_tabular(self, tabular: Tabular, body: Body) -> None:
        """A staged row of the same name gives way.

        Raises TABULAR_EXISTS (name, or id), NO_SUCH_NAMESPACE, LOCATION_TAKEN (exactly this place, in a race).
        """

    async def lock_tabular(
        self, warehouse_id: WarehouseId, ident: TabularIdent, kinds: Collection[Kind], *, states: Collection[State]
    ) -> Tabular:
        """The row, held for update. Raises NO_SUCH_TABLE or NO_SUCH_VIEW, by the first of `kinds`."""
        ...

    async def lock_incarnation(self, warehouse_id: WarehouseId, incarnation: Incarnation) -> Tabular | None:
        """The row, of any state, held for update; None where it is gone."""
        ...

    async def commit_tabulars(self, commits: Sequence[TabularCommit]) -> Collection[Incarnation]:
        """Compare and set, in the order of incarnations. Answers those that lost; then nothing was written for any.

        A staged one becomes live. Raises LOCATION_TAKEN where one moves to another's place.
        """
        ...

    async def rename_tabular(self, tabular: Tabular, *, namespace: Namespace, name: str) -> None:
        """A staged row of that name gives way. Raises TABULAR_EXISTS, CONCURRENT_CHANGE unless the row version is the given."""

    async def drop_tabular(self, tabular: Tabular, *, at: datetime, expires_at: datetime) -> None:
        """Soft: the name is free, the location is not. Raises CONCURRENT_CHANGE unless the row version is the given."""

    async def delete_tabular(self, tabular: Tabular) -> None:
        """Row and bodies."""


@dataclasses.dataclass(frozen=True, slots=True)
class Contents:
    """What is inside a namespace, at any depth."""

    namespaces: tuple[Namespace, ...]
    tabulars: tuple[Tabular, ...]


class Changes(Protocol):
    """Where changes begin."""

    def change(self) -> AbstractAsyncContextManager[Change]:
        """A transaction that commits when the block ends and rolls back when it raises.

        Raises:
            Refusal: DATABASE_UNAVAILABLE where it surely did not commit; COMMIT_STATE_UNKNOWN where that is not known; then
                `current_metadata` tells, once the database answers.
        """
        ...

    async def current_metadata(self, warehouse_id: WarehouseId, incarnation: Incarnation) -> MetadataId | None:
        """What is current; None where the tabular is gone. For finding out an unknown outcome.

        Waits for a transaction that holds the row, which may be the very one whose answer was lost: what it says is final.
        """
        ...


class Files(Protocol):
    """Metadata files, through vending. Every call is within a permit for the tabular's own location."""

    async def read(self, warehouse: Warehouse, location: str, *, within: Location, principal: str) -> bytes:
        """Inflated where the name says gzip. Raises FILE_NOT_FOUND, FILE_UNREADABLE, STORE_UNAVAILABLE, STORE_DENIED."""
        ...

    async def write(
        self, warehouse: Warehouse, tabular: Tabular, location: str, text: Deflated, *, principal: str
    ) -> None:
        """A new file, gzip where the name says so. Raises FILE_EXISTS, STORE_UNAVAILABLE, STORE_DENIED."""

    async def delete(self, warehouse: Warehouse, tabular: Tabular, locations: Sequence[str], *, principal: str) -> None:
        """By name; absent ones count as deleted. Raises STORE_UNAVAILABLE, STORE_DENIED."""

    async def is_empty(self, warehouse: Warehouse, location: Location, *, principal: str) -> bool:
        """Whether nothing lies below. Raises STORE_UNAVAILABLE, STORE_DENIED."""
        ...

    async def purge_page(self, warehouse: Warehouse, incarnation: Incarnation, location: Location) -> tuple[int, bool]:
        """Delete a page; (how many, whether nothing is left). Raises STORE_UNAVAILABLE, STORE_DENIED."""
        ...


class ChangeGate(Protocol):
    """Asked before a change is written: a data contract's chance to refuse it."""

    async def check(
        self, *, tabular: TabularIdent, old: Callable[[], bytes] | None, proposed: Callable[[], bytes]
    ) -> None:
        """The metadata before and after, as JSON once they are called; `old` is None for a new tabular.

        Raises CHANGE_REFUSED.
        """


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """In UTC, with its time zone."""
        ...


class Ids(Protocol):
    """Fresh identifiers."""

    def uuid7(self) -> UUID:
        """Ordered by the time it is made."""
        ...

    def uuid4(self) -> UUID:
        """Random."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    """What settings say about the use cases' own decisions.

    Attributes:
        reserved_namespaces: name keys beside those that always are reserved.
        staged_for: how long a staged create waits for its commit.
        purge_after: how long a drop's files are left alone, for engines that delete them too.
        idempotency_lifetime: how long a key is remembered; None: keys are ignored.
        page_size_default: entries of a page whose size is not given.
        page_size_max: the most entries of a page.
        referenced_by_max: the most views that a load may say it was led by.
        default_project: None where no default project is on.
    """

    reserved_namespaces: frozenset[str]
    staged_for: timedelta
    purge_after: timedelta
    idempotency_lifetime: timedelta | None
    idempotency_grace: timedelta
    page_size_default: int
    page_size_max: int
    referenced_by_max: int
    default_project: ProjectId | None
