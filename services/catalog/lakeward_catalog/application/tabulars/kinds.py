"""A kind of tabular, as a strategy of the life cycle: what it reads, makes and replies differently from the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Generic, Protocol, TypeVar
from uuid import UUID

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.opened import OpenedTabular
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.placing import Place
from lakeward_catalog.application.tabulars.loaded import Given, Loaded
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.iceberg.requests import CommitRequest
from lakeward_catalog.domain.model import Kind, MetadataId, Tabular, Warehouse, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_locations import Location


class Metadata(Protocol):
    """A kind's metadata document: a frozen value."""

    @property
    def location(self) -> str:
        """Where the tabular lies."""
        ...

    @property
    def properties(self) -> Mapping[str, str]:
        """As they are set."""
        ...

    def encode(self) -> bytes:
        """The whole document as JSON."""
        ...


M = TypeVar("M", bound=Metadata)


class Beginning(msgspec.Struct, frozen=True):
    """What a first metadata is made with, beside what was asked for.

    Attributes:
        now_ms: the time, in milliseconds since the epoch.
        occupied: whether files lie at its location already; False where nobody looked.
    """

    warehouse: Warehouse
    ident: TabularIdent
    uuid: UUID
    location: Location
    now_ms: int
    occupied: bool = False


class Wanted(msgspec.Struct, Generic[M], frozen=True):
    """A tabular that is to be made, as a request asks for it.

    Attributes:
        build: makes its first metadata; raises the refusals of the kind's engine.
        location: None: as the warehouse lays it out.
        uuid: None: a fresh one.
        staged: it waits for its first commit.
        alone: nothing may lie at its location yet.
        looks: whether something lies at a location that was given is found out for `Beginning`.
    """

    name: str
    build: Callable[[Beginning], M]
    location: str | None = None
    uuid: UUID | None = None
    staged: bool = False
    alone: bool = True
    looks: bool = False


class TabularUpdate(msgspec.Struct, frozen=True):
    """A commit's part that is about one tabular.

    Attributes:
        ident: the tabular; while nothing is read, the path that the update came by.
        document: requirements and updates as they came, for reading them and for the event.
        request: the same, read; None until the caller may commit to the tabular. A transaction is read once its warehouse may be
            used, because its tables' names stand in it.
    """

    ident: TabularIdent
    document: Payload
    request: CommitRequest | None = None


class Applied(msgspec.Struct, Generic[M], frozen=True):
    """What an update makes of a tabular's metadata.

    Attributes:
        changed: False where it changes nothing; then no file need be written.
        trimmed: metadata files that fell out of the log.
        moves_to: the place that the tabular takes; None where it stays.
    """

    metadata: M
    changed: bool
    trimmed: tuple[str, ...] = ()
    moves_to: Place | None = None


class TabularKind(Protocol[M]):
    """Tables, views, or generic tables.

    Attributes:
        kind: which it is.
        filed: whether its metadata is written to a file beside the row.
        pinned: whether a commit that lost a race is about what it first found; else about whatever has the name then.
    """

    kind: ClassVar[Kind]
    filed: ClassVar[bool]
    pinned: ClassVar[bool]

    def wanted(self, body: bytes) -> Wanted[M]:
        """Read a create request. Raises MALFORMED_DOCUMENT."""
        ...

    def gives_at_once(self, caller: Caller) -> bool:
        """Whether a create answers access to the new one's files."""
        ...

    def format_of(self, metadata: M) -> str | None:
        """What a listing says of it beside its name; None for nothing."""
        ...

    def check_properties(self, keys: Iterable[str], *, caller: Caller) -> None:
        """Whether the caller may set these properties of a new one. Raises PROPERTY_PROTECTED."""
        ...

    async def open_to_commit(
        self, warehouse_id: WarehouseId, update: TabularUpdate, *, caller: Caller
    ) -> tuple[OpenedTabular, CommitRequest]:
        """What an update is of, decided on, and then the update, read; with the rights that its reply depends on.

        Raises NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN; MALFORMED_DOCUMENT, UNKNOWN_UPDATE,
        UNKNOWN_REQUIREMENT, IDENTIFIER_MISMATCH; PROPERTY_PROTECTED.
        """
        ...

    async def base(self, tabular: Tabular) -> M:
        """What a commit builds on. Raises LookupError where a later commit has replaced it: read the row again."""
        ...

    def apply(self, base: M, request: CommitRequest, opened: OpenedTabular, *, now_ms: int) -> Applied[M]:
        """Requirements checked, updates applied; pure. Raises COMMIT_CONFLICT and the other reasons of the kind's engine."""
        ...

    def body_of(self, metadata: M) -> Body:
        """The metadata as it is stored."""
        ...

    def shared_parts(self, base: M) -> frozenset[UUID]:
        """Parts of the base's body that the next one's may have too."""
        ...

    def columns_left(self, base: M, metadata: M) -> frozenset[int]:
        """Field ids that were in the base's current schema and are not in the next one's: what is said of them is forgotten."""
        ...

    def told_of(self, base: M, metadata: M) -> Mapping[str, object]:
        """What an event says of a commit, beside which files it led from and to and what was asked for."""
        ...

    def keep(self, tabular: Tabular, metadata: M, body: Body, *, instead_of: MetadataId | None = None) -> None:
        """Remember what was just written, and what it replaced: its reply shows it, and the next commit builds on it."""
        ...

    async def give(self, opened: OpenedTabular, *, caller: Caller) -> Given | None:
        """Access to its files, as far as was allowed; None for none. Raises what `ClientAccess.vend` raises."""
        ...

    async def shown(self, opened: OpenedTabular, given: Given | None, *, caller: Caller, deflated: bool) -> Loaded:
        """A reply about it. Raises LookupError where a later commit has replaced its metadata: read the row again."""
        ...
