"""The roles that the catalog's use cases need, and what each promises.

Reading roles answer from the primary, so that a caller sees every change that was acknowledged before it asked. Writing goes
through a `Change`, see `changes.py`. What is not there is None: only `doors.py` and the use cases word a refusal of it.
Every role raises Refusal DATABASE_UNAVAILABLE when the database can't be reached; that is not repeated below.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol
from uuid import UUID

from lakeward_catalog.domain.bodies import BodyPart
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
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
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


class Listed(NamedTuple):
    """What a listing shows of a tabular, and its place in the order; a page has many."""

    created_at: datetime
    incarnation: Incarnation
    name: str
    tabular_id: TabularId
    protected: bool


class ServerStore(Protocol):
    """The installation's row, and projects."""

    async def server(self) -> Server:
        """Raises Refusal INTERNAL where `migrate` never ran."""
        ...

    async def project(self, project_id: ProjectId) -> Project | None:
        """One project."""
        ...


class WarehouseStore(Protocol):
    """The rows of warehouses."""

    async def find(self, warehouse_id: WarehouseId) -> Warehouse | None:
        """Active or not."""
        ...

    async def find_by_name(self, project_id: ProjectId, name: str) -> Warehouse | None:
        """By name, without case; active or not."""
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
    ) -> Sequence[Listed]:
        """Live ones of a kind in the order (created_at, incarnation), at most `limit`. Costs what the page costs."""
        ...


class BodyStore(Protocol):
    """Metadata documents, by the commit that made them. A body never changes, so it may be cached by its id."""

    async def body(self, warehouse_id: WarehouseId, metadata_id: MetadataId, *, references: bool) -> Sequence[BodyPart]:
        """The parts of one form. Raises LookupError where a later commit has replaced it: read the row again."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class KeyPlace:
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

    async def find(self, place: KeyPlace, *, now: datetime) -> Remembered | None:
        """None for a key that is new or forgotten."""
        ...

    async def keep_refusal(self, place: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        """Remember a lasting refusal, which changed nothing and so has no transaction; an earlier record stays."""


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
