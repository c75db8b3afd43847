"""Changes: one transaction that holds the rows, the events, the tasks and the idempotency record, or none of them.

    async with changes.change() as change:
        tabular = await change.tabulars.lock(...)
        await change.tabulars.delete(tabular)
        change.ledger.emit(event)

Most changes are one commit, or one tabular that comes to be, with an event and nothing else. These have a method each.

What a change makes, moves and deletes, authz is told (`tree`): that is written with the rows, by whoever fills these roles, and
names the owner, who is whoever asks for the change. When a block has ended that made or moved something, authz knows of it, if
it decides by that and is there: the block's own outcome does not depend on it.

Every role raises Refusal DATABASE_UNAVAILABLE when the database can't be reached; that is not repeated below. A refusal leaves
the transaction rolled back: nothing may be called after one. What is locked or asked for and is not there is None: what that
means is the use case's to say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol
from uuid import UUID

import msgspec

from lakeward_catalog.application.ports.tags import TagChanges
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
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_catalog.domain.schedules import Cron
from lakeward_catalog.domain.tasks import Asked, NewTask, Owner, Queue, QueueConfig, Task
from lakeward_locations import Location
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.idempotency import KeyPlace, Remembered


class TabularCommit(msgspec.Struct, frozen=True):
    """A tabular's move from one metadata to the next.

    Attributes:
        expected: the metadata that must still be current.
        metadata_location: None for a kind whose metadata is in no file.
        kept_chunks: shared parts of `body` that the expected metadata's body has too, and so are stored already: their
            bytes need not be sent.
        location: set where a view moves.
    """

    warehouse_id: WarehouseId
    incarnation: Incarnation
    expected: MetadataId
    metadata_id: MetadataId
    metadata_location: str | None
    body: Body
    kept_chunks: frozenset[UUID] = frozenset()
    location: Location | None = None


class TabularInsert(msgspec.Struct, frozen=True):
    """A new tabular in a place that is its own.

    Attributes:
        listed_as: the format that listings tell of a generic table.
    """

    tabular: Tabular
    body: Body
    owner: Principal
    listed_as: str | None = None


class Stood(msgspec.Struct, frozen=True):
    """Where a tabular was when its pointer moved, which may not be where its committer found it."""

    namespace_id: NamespaceId
    ident: TabularIdent
    protected: bool


class Committed(msgspec.Struct, frozen=True):
    """What became of commits.

    Attributes:
        lost: those whose expected metadata was not current; where one lost, nothing was written for any.
        stood: the others, as they were from then until the end of the transaction; complete where none lost.
    """

    lost: Collection[Incarnation]
    stood: Mapping[Incarnation, Stood]


@dataclasses.dataclass(frozen=True, slots=True)
class Contents:
    """What is inside a namespace, at any depth."""

    namespaces: tuple[Namespace, ...]
    tabulars: tuple[Tabular, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class QueuedTask:
    """A task that has not ended well.

    Attributes:
        subject: what it is about; None where that is its owner.
        active: it waits or runs; else its last attempt failed.
    """

    task_id: UUID
    queue: Queue
    subject: UUID | None
    active: bool
    running: bool


class ServerChanges(Protocol):
    """The installation."""

    async def bootstrap(self, *, default_project: Project | None, owner: Principal) -> bool:
        """Close bootstrap and make the project where it is missing; False where it was closed already."""
        ...


class ProjectChanges(Protocol):
    """Projects."""

    async def insert(self, project: Project, *, owner: Principal) -> None:
        """Raises PROJECT_EXISTS."""

    async def lock(self, project_id: ProjectId) -> Project | None:
        """The row, held for update until the end."""
        ...

    async def rename(self, project_id: ProjectId, name: str) -> None:
        """Of a row that was locked."""

    async def delete(self, project_id: ProjectId) -> None:
        """Raises PROJECT_NOT_EMPTY while a warehouse is in it."""


class WarehouseChanges(Protocol):
    """Warehouses."""

    async def lock_place(self, place: str) -> None:
        """Let no other transaction change what lies at this place until this one ends."""

    async def at(self, place: str) -> Sequence[Warehouse]:
        """Warehouses of all projects whose storage is at this place, inactive ones too."""
        ...

    async def insert(self, warehouse: Warehouse, *, owner: Principal) -> None:
        """Raises WAREHOUSE_EXISTS, NO_SUCH_PROJECT."""

    async def lock(self, warehouse_id: WarehouseId) -> Warehouse | None:
        """The row, held for update until the end."""
        ...

    async def update(self, warehouse: Warehouse) -> Warehouse:
        """Store it as it is given. Raises CONCURRENT_CHANGE unless the stored row version is its, WAREHOUSE_EXISTS."""
        ...

    async def delete(self, warehouse_id: WarehouseId) -> None:
        """Raises WAREHOUSE_NOT_EMPTY while a namespace, or a task that waits or runs, refers to it; failed tasks go along."""


class NamespaceChanges(Protocol):
    """Namespaces."""

    async def lock(self, warehouse_id: WarehouseId, ident: NamespaceIdent, *, exclusively: bool) -> Namespace | None:
        """The row, held until the end: shared, so that it can't go, or for a change of its own."""
        ...

    async def insert(self, namespace: Namespace, *, owner: Principal) -> None:
        """Raises NAMESPACE_EXISTS, NO_SUCH_NAMESPACE (the parent went)."""

    async def set_properties(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        """Replace them; the row was locked."""

    async def set_protection(self, namespace: Namespace, *, protected: bool) -> None:
        """Raises CONCURRENT_CHANGE unless the row version is the given."""

    async def contents(self, warehouse_id: WarehouseId, namespace_id: NamespaceId) -> Contents:
        """Everything inside, at any depth; locked."""
        ...

    async def delete(self, namespace: Namespace) -> None:
        """The row and everything inside: namespaces, tabulars of every state, bodies."""

    async def begin_move(self, warehouse_id: WarehouseId) -> None:
        """Let no other namespace of the warehouse move until the end: two that move into each other would be a circle."""

    async def lock_tree(self, warehouse_id: WarehouseId, namespace_id: NamespaceId) -> Sequence[Namespace]:
        """The namespace and those inside, outermost first, held for a change of their names: nothing is made in them."""
        ...

    async def move(self, namespace: Namespace, *, parent_id: NamespaceId | None, ident: NamespaceIdent) -> None:
        """Hang it, with its tree that was locked, from a parent that was locked, under a path; ids and locations stay.

        Raises NAMESPACE_EXISTS, INVALID_NAMESPACE.
        """


class LocationChanges(Protocol):
    """The places of a warehouse's tabulars."""

    async def lock(self, warehouse_id: WarehouseId, *, exclusively: bool) -> None:
        """Hold the warehouse's locations: shared for the default layout, exclusively for custom ones, purge and register."""

    async def overlapping(
        self, warehouse_id: WarehouseId, location: Location, *, enclosed_too: bool, but_not: Incarnation | None = None
    ) -> Tabular | None:
        """A tabular, of any state, whose location is or contains this one, or with `enclosed_too` lies inside it."""
        ...

    async def purge_pending(self, warehouse_id: WarehouseId, location: Location) -> bool:
        """Whether files that overlap this location wait to be purged."""
        ...


class TabularChanges(Protocol):
    """Tabulars and their bodies."""

    async def insert(
        self, tabular: Tabular, body: Body, *, owner: Principal, looks: bool = False, listed_as: str | None = None
    ) -> None:
        """A staged row of the same name gives way. Holds the namespace, so that it can't go, and then the locations, shared.

        `listed_as` is the format that listings tell of a generic table.

        Raises TABULAR_EXISTS (name, or id), NO_SUCH_NAMESPACE, LOCATION_TAKEN (exactly this place, in a race). Where it `looks`,
        the end of the change raises LOCATION_TAKEN too, where this place lies in another's, of any state.
        """

    async def lock(
        self, warehouse_id: WarehouseId, ident: TabularIdent, kinds: Collection[Kind], *, states: Collection[State]
    ) -> Tabular | None:
        """The row, held for update."""
        ...

    async def lock_incarnation(self, warehouse_id: WarehouseId, incarnation: Incarnation) -> Tabular | None:
        """The row, of any state, held for update."""
        ...

    async def lock_incarnations(
        self, warehouse_id: WarehouseId, incarnations: Collection[Incarnation]
    ) -> Sequence[Tabular]:
        """The rows that are there, of any state, held for update; locked and answered in the order of incarnations."""
        ...

    async def commit(self, commits: Sequence[TabularCommit]) -> Committed:
        """Compare and set, in the order of incarnations.

        A staged one becomes live. Raises LOCATION_TAKEN where one moves to another's place.
        """
        ...

    async def rename(self, tabular: Tabular, *, namespace: Namespace, name: str) -> None:
        """A staged row of that name gives way. Raises TABULAR_EXISTS, CONCURRENT_CHANGE unless the row version is the given."""

    async def drop(self, tabular: Tabular, *, at: datetime, expires_at: datetime) -> None:
        """Soft: the name is free, the location is not. Raises CONCURRENT_CHANGE unless the row version is the given."""

    async def undrop(self, tabular: Tabular) -> None:
        """Make a dropped one live again. A staged row of its name gives way.

        Raises TABULAR_EXISTS, CONCURRENT_CHANGE unless the row version is the given.
        """

    async def set_protection(self, tabular: Tabular, *, protected: bool) -> None:
        """Of any state. Raises CONCURRENT_CHANGE unless the row version is the given."""

    async def delete(self, tabular: Tabular) -> None:
        """Row and bodies."""


class VersionChanges(Protocol):
    """Versions of generic tables. The table's row is held by whoever changes them."""

    async def latest(self, tabular: Tabular) -> TableVersion | None:
        """The latest, as it is now."""
        ...

    async def find(self, tabular: Tabular, version: int) -> TableVersion | None:
        """One, as it is now."""
        ...

    async def insert(self, tabular: Tabular, version: TableVersion) -> bool:
        """Store it; False where there is one of this number."""
        ...

    async def forget(self, tabular: Tabular, *, before: int) -> int:
        """Delete those before this one; the latest stays. How many were deleted."""
        ...


class Ledger(Protocol):
    """What a change leaves beside its rows, written just before the commit: when the rows that it tells of are locked."""

    def emit(self, *events: Event) -> None:
        """Tell of the change, in this order."""

    def remember(self, place: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        """Keep what a key did, once a transaction. An expired record counts as none.

        When the block ends, REQUEST_IN_PROGRESS is raised where another transaction kept the same key first; one that is about
        to is waited for.
        """


class TaskChanges(Protocol):
    """Queued work."""

    async def enqueue(self, task: NewTask) -> UUID:
        """Queue it; where an equal task (queue, owner, subject) waits or runs, answers that one's id."""
        ...

    async def enqueue_all(self, tasks: Sequence[NewTask]) -> None:
        """Queue all of them, but those that have an equal one."""

    async def cancel(
        self,
        queue: Queue,
        warehouse_id: WarehouseId,
        incarnations: Collection[Incarnation],
        *,
        at: datetime,
        message: str,
    ) -> None:
        """End what is queued about these tabulars, whatever its state; what a worker still makes of it counts no more."""

    async def lock(self, owner: Owner, task_ids: Collection[UUID]) -> Sequence[QueuedTask]:
        """Those of them that wait, run or failed, held until the end; locked and answered in the order of ids."""
        ...

    async def end(self, owner: Owner, task_ids: Collection[UUID], *, at: datetime, message: str) -> None:
        """As `cancel`, of tasks that were locked."""

    async def ask(self, owner: Owner, task_ids: Collection[UUID], asked: Asked) -> None:
        """Have the workers of those that run do something, once they ask; a stop is asked of nobody who is to cancel."""

    async def run(self, owner: Owner, task_ids: Collection[UUID], *, at: datetime, now: datetime) -> None:
        """Have attempts begin at a time: of what waits, of what failed, with all its attempts again, and of what did not stop.

        Raises CONCURRENT_CHANGE where something equal waits or runs already.
        """

    async def configure(self, owner: Owner, queue: Queue, config: QueueConfig, *, next_at: datetime | None) -> bool:
        """How a queue is set for an owner; False where it was so already.

        A queue that makes its own tasks makes the next one not after `next_at`, unless a schedule of its own says when.
        """
        ...

    async def schedule(self, project_id: ProjectId, queue: Queue, cron: Cron | None, *, next_at: datetime) -> bool:
        """When a queue of a project makes its tasks, and its next; None: as the queue has it. False where it was so already."""
        ...

    async def active(self, owner: Owner, queue: Queue, subject: UUID | None) -> UUID | None:
        """What waits or runs of a queue about this."""
        ...

    async def is_held(self, task: Task) -> bool:
        """Whether a claimed task is still its worker's; it stays so until the end, for who holds what it is about."""
        ...


class Change(Protocol):
    """One transaction, by noun. What is called on it happens together when it ends, or not at all."""

    @property
    def server(self) -> ServerChanges:
        """The installation."""
        ...

    @property
    def projects(self) -> ProjectChanges:
        """Projects."""
        ...

    @property
    def warehouses(self) -> WarehouseChanges:
        """Warehouses."""
        ...

    @property
    def namespaces(self) -> NamespaceChanges:
        """Namespaces."""
        ...

    @property
    def locations(self) -> LocationChanges:
        """The places of tabulars."""
        ...

    @property
    def tabulars(self) -> TabularChanges:
        """Tabulars."""
        ...

    @property
    def versions(self) -> VersionChanges:
        """Versions of generic tables."""
        ...

    @property
    def tags(self) -> TagChanges:
        """Tags, and what they are set on."""
        ...

    @property
    def ledger(self) -> Ledger:
        """Events, and what keys did."""
        ...

    @property
    def tasks(self) -> TaskChanges:
        """Queued work."""
        ...


class Changes(Protocol):
    """Where changes begin."""

    def change(self) -> AbstractAsyncContextManager[Change]:
        """A transaction that commits when the block ends and rolls back when it raises.

        Raises:
            Refusal: DATABASE_UNAVAILABLE where it surely did not commit; COMMIT_STATE_UNKNOWN where that is not known; then
                `current_metadata` tells, once the database answers.
        """
        ...

    async def commit(self, commit: TabularCommit, tell: Callable[[Stood], Event]) -> bool:
        """Make a change that is one commit and its event. It may share a transaction with others' that come at the same moment.

        Args:
            commit: that leaves its tabular where it is.
            tell: makes the event once the row is held, and with it where the tabular stands.

        Returns:
            False where the expected metadata was not current; nothing was written then.

        Raises:
            Refusal: as `change`.
        """
        ...

    async def insert(self, insert: TabularInsert, event: Event) -> None:
        """The same of one tabular that comes to be, as `TabularChanges.insert` has it where it looks.

        Raises:
            Refusal: as that and `change`.
        """
        ...

    async def current_metadata(self, warehouse_id: WarehouseId, incarnation: Incarnation) -> MetadataId | None:
        """What is current; None where the tabular is gone. For finding out an unknown outcome.

        Waits for a transaction that holds the row, which may be the very one whose answer was lost: what it says is final.
        """
        ...
