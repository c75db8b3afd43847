"""Views, as a kind of tabular.

A new location moves a view's later metadata there and deletes nothing: earlier files are still what old readers and the new
metadata's own log may point to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from functools import partial
from typing import ClassVar
from uuid import UUID

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.opened import OpenedTabular
from lakeward_catalog.application.payloads import beside
from lakeward_catalog.application.placing import Place, check_place, parse_location
from lakeward_catalog.application.ports.access import Access, ClientAccess
from lakeward_catalog.application.tabulars.kinds import Applied, Beginning, TabularUpdate, Wanted
from lakeward_catalog.application.tabulars.loaded import Given, Loaded
from lakeward_catalog.domain.bodies import Body, BodyPart
from lakeward_catalog.domain.iceberg.requests import CommitRequest, CreateView, parse_create_view, parse_view_commit
from lakeward_catalog.domain.iceberg.updates.table import RemoveProperties, SetProperties
from lakeward_catalog.domain.iceberg.views.commits import apply_to_view, create_view
from lakeward_catalog.domain.iceberg.views.metadata import ViewMetadata, parse_view
from lakeward_catalog.domain.model import Kind, MetadataId, Tabular, WarehouseId
from lakeward_catalog.domain.view_owners import OwnerProperties
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.deflated import deflate


@dataclasses.dataclass(frozen=True, slots=True)
class Views:
    """`TabularKind` of Iceberg views."""

    doors: Doors
    documents: Documents
    access: ClientAccess
    owners: OwnerProperties
    kind: ClassVar[Kind] = Kind.VIEW
    filed: ClassVar[bool] = True
    pinned: ClassVar[bool] = True

    def wanted(self, body: bytes) -> Wanted[ViewMetadata]:
        """See `TabularKind`; its directory need not be empty."""
        request = parse_create_view(body)
        return Wanted(request.name, partial(_first_metadata, request), location=request.location, alone=False)

    def gives_at_once(self, caller: Caller) -> bool:
        """See `TabularKind`."""
        del caller
        return True

    def format_of(self, metadata: ViewMetadata) -> str | None:
        """See `TabularKind`."""
        del metadata
        return None

    def check_properties(self, keys: Iterable[str], *, caller: Caller) -> None:
        """See `TabularKind`: what says as whom a view is read is its engine's to set."""
        self.owners.check_change(keys, caller.principal.engines)

    async def open_to_commit(
        self, warehouse_id: WarehouseId, update: TabularUpdate, *, caller: Caller
    ) -> tuple[OpenedTabular, CommitRequest]:
        """See `TabularKind`."""
        opened = await self.doors.tabular(
            warehouse_id, update.ident, Kind.VIEW, Action.VIEW_COMMIT, caller=caller, asked=(Action.VIEW_SELECT,)
        )
        request = await update.document.read(parse_view_commit)
        self.check_properties(_changed_properties(request), caller=caller)
        return opened, request

    async def base(self, tabular: Tabular) -> ViewMetadata:
        """See `TabularKind`."""
        text = await self._text(tabular)
        return await beside(len(text), lambda: parse_view(text))

    def apply(
        self, base: ViewMetadata, request: CommitRequest, opened: OpenedTabular, *, now_ms: int
    ) -> Applied[ViewMetadata]:
        """See `TabularKind`; a location is kept in its one spelling. Raises MALFORMED_LOCATION, LOCATION_NOT_ALLOWED too."""
        tabular = opened.tabular
        result = apply_to_view(
            base, request.requirements, request.updates, object_name=str(tabular.ident), now_ms=now_ms
        )
        location = parse_location(result.metadata.location)
        if location != parse_location(tabular.location):
            check_place(opened.warehouse, location)
        metadata = msgspec.structs.replace(result.metadata, location=str(location))
        changed = result.changed and metadata.encode() != base.encode()
        moves_to = Place(location, custom=True) if metadata.location != tabular.location else None
        return Applied(metadata, changed, moves_to=moves_to)

    def body_of(self, metadata: ViewMetadata) -> Body:
        """See `TabularKind`: it is small and has no snapshots, so one part, in both forms."""
        parts = (BodyPart(None, deflate(metadata.encode())),)
        return Body(parts, parts)

    def shared_parts(self, base: ViewMetadata) -> frozenset[UUID]:
        """See `TabularKind`."""
        del base
        return frozenset()

    def columns_left(self, base: ViewMetadata, metadata: ViewMetadata) -> frozenset[int]:
        """See `TabularKind`: nothing is said of a view's columns."""
        del base, metadata
        return frozenset()

    def told_of(self, base: ViewMetadata, metadata: ViewMetadata) -> Mapping[str, object]:
        """See `TabularKind`: a view has no snapshots."""
        del base, metadata
        return {}

    def keep(
        self, tabular: Tabular, metadata: ViewMetadata, body: Body, *, instead_of: MetadataId | None = None
    ) -> None:
        """See `TabularKind`; it is not kept as a value."""
        del metadata, instead_of
        self.documents.keep(tabular.metadata_id, body)

    async def give(self, opened: OpenedTabular, *, caller: Caller) -> Given | None:
        """See `TabularKind`: who may read through it may read its location.

        The credential is among the client properties alone; replies about views have no `storage-credentials`.
        """
        if Action.VIEW_SELECT not in opened.allowed:
            return None
        vended = await self.access.vend(
            opened.warehouse,
            opened.tabular,
            Access.READ,
            delegation=caller.delegation,
            principal=opened.reader(caller).key,
        )
        return Given(Access.READ, vended.config)

    async def shown(self, opened: OpenedTabular, given: Given | None, *, caller: Caller, deflated: bool) -> Loaded:
        """See `TabularKind`; without a tag, and never compressed."""
        del caller, deflated
        text = await self._text(opened.tabular)
        return Loaded("", opened.tabular.metadata_location, text, None if given is None else given.config)

    async def _text(self, tabular: Tabular) -> bytes:
        return await self.documents.plain(tabular.warehouse_id, tabular.metadata_id, references=False)


def _changed_properties(request: CommitRequest) -> Iterable[str]:
    """The properties that a commit sets or removes."""
    for update in request.updates:
        if isinstance(update, SetProperties):
            yield from update.updates
        elif isinstance(update, RemoveProperties):
            yield from update.removals


def _first_metadata(request: CreateView, beginning: Beginning) -> ViewMetadata:
    return create_view(
        request, view_uuid=str(beginning.uuid), location=str(beginning.location), now_ms=beginning.now_ms
    )
