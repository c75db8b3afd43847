"""Generic tables, as a kind of tabular.

Their document is in the database alone: no file of the catalog's lies among their files. So making one touches no store, except
to look whether files lie at a place that was given.
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
from lakeward_catalog.application.tables.giving import AccessGiving, is_client_managed, level_of
from lakeward_catalog.application.tabulars.kinds import Applied, Beginning, TabularUpdate, Wanted
from lakeward_catalog.application.tabulars.loaded import Given, Loaded
from lakeward_catalog.domain.bodies import Body, BodyPart
from lakeward_catalog.domain.generic.metadata import CreateGenericTable, GenericMetadata, parse_create, parse_generic
from lakeward_catalog.domain.generic.updates import AssertState, apply_to_generic, parse_update
from lakeward_catalog.domain.iceberg.requests import CommitRequest
from lakeward_catalog.domain.model import Kind, MetadataId, Tabular, WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.deflated import deflate
from lakeward_servicekit.errors import Reason, Refusal


class GenericTableUpdate(TabularUpdate, frozen=True):
    """An update of a generic table.

    Attributes:
        if_match: tags of which one must still hold; none has to where there are none.
    """

    if_match: tuple[str, ...] = ()


def tag_of(tabular: Tabular) -> str:
    """Names the state of what is recorded of a generic table: its document, name and protection, and no access to its files."""
    return f'"lwg1.{tabular.metadata_id.hex}.{tabular.row_version}"'


@dataclasses.dataclass(frozen=True, slots=True)
class GenericTables:
    """`TabularKind` of generic tables.

    Attributes:
        registers: what is made of one is what lies at a place already: one has to be given, and files have to be there.
    """

    doors: Doors
    documents: Documents
    give_access: AccessGiving
    registers: bool = False
    kind: ClassVar[Kind] = Kind.GENERIC_TABLE
    filed: ClassVar[bool] = False
    pinned: ClassVar[bool] = True

    def wanted(self, body: bytes) -> Wanted[GenericMetadata]:
        """See `TabularKind`; files may lie at the place that is given."""
        request = parse_create(body)
        if self.registers and request.location is None:
            raise _nothing_there("", "say by base-location where the files are that become a generic table")
        build = partial(_first_metadata, request, registers=self.registers)
        return Wanted(request.name, build, location=request.location, alone=False, looks=True)

    def gives_at_once(self, caller: Caller) -> bool:
        """See `TabularKind`: where it says how it may reach files; else no store need be there until it loads what it made."""
        return bool(caller.delegation) and not is_client_managed(caller.delegation)

    def format_of(self, metadata: GenericMetadata) -> str | None:
        """See `TabularKind`."""
        return metadata.format

    def check_properties(self, keys: Iterable[str], *, caller: Caller) -> None:
        """See `TabularKind`: nothing is read into them."""
        del keys, caller

    async def open_to_commit(
        self, warehouse_id: WarehouseId, update: TabularUpdate, *, caller: Caller
    ) -> tuple[OpenedTabular, CommitRequest]:
        """See `TabularKind`."""
        opened = await self.doors.tabular(
            warehouse_id, update.ident, Kind.GENERIC_TABLE, Action.GENERIC_TABLE_WRITE_DATA, caller=caller
        )
        request = await update.document.read(parse_update)
        if isinstance(update, GenericTableUpdate) and update.if_match:
            request = msgspec.structs.replace(request, requirements=(AssertState(update.if_match),))
        return opened, request

    async def base(self, tabular: Tabular) -> GenericMetadata:
        """See `TabularKind`."""
        text = await self._text(tabular)
        return await beside(len(text), lambda: parse_generic(text))

    def apply(
        self, base: GenericMetadata, request: CommitRequest, opened: OpenedTabular, *, now_ms: int
    ) -> Applied[GenericMetadata]:
        """See `TabularKind`."""
        del now_ms
        tabular = opened.tabular
        made = apply_to_generic(base, request, tag=tag_of(tabular), object_name=str(tabular.ident))
        return Applied(made, made != base)

    def body_of(self, metadata: GenericMetadata) -> Body:
        """See `TabularKind`."""
        return body_of(metadata)

    def shared_parts(self, base: GenericMetadata) -> frozenset[UUID]:
        """See `TabularKind`."""
        del base
        return frozenset()

    def columns_left(self, base: GenericMetadata, metadata: GenericMetadata) -> frozenset[int]:
        """See `TabularKind`: its columns have no ids, so nothing is said of them."""
        del base, metadata
        return frozenset()

    def told_of(self, base: GenericMetadata, metadata: GenericMetadata) -> Mapping[str, object]:
        """See `TabularKind`: its data is not the catalog's."""
        del base, metadata
        return {}

    def keep(
        self, tabular: Tabular, metadata: GenericMetadata, body: Body, *, instead_of: MetadataId | None = None
    ) -> None:
        """See `TabularKind`; it is not kept as a value."""
        del metadata, instead_of
        self.documents.keep(tabular.metadata_id, body)

    async def give(self, opened: OpenedTabular, *, caller: Caller) -> Given | None:
        """See `TabularKind`."""
        level = level_of(opened.allowed)
        return None if level is None else await self.give_access(opened, level, caller=caller)

    async def shown(self, opened: OpenedTabular, given: Given | None, *, caller: Caller, deflated: bool) -> Loaded:
        """See `TabularKind`; never compressed: the document is a part of the reply's."""
        del caller, deflated
        tabular = opened.tabular
        text, tag = await self._text(tabular), tag_of(tabular)
        if given is None:
            return Loaded(tag, None, text, tabular=tabular)
        return Loaded(tag, None, text, given.config, given.credentials, tabular, given.expires_at)

    async def _text(self, tabular: Tabular) -> bytes:
        return await self.documents.plain(tabular.warehouse_id, tabular.metadata_id, references=False)


def body_of(metadata: GenericMetadata) -> Body:
    """The document as it is stored: one part, which is all of it in both forms."""
    parts = (BodyPart(None, deflate(metadata.encode())),)
    return Body(parts, parts)


def _first_metadata(request: CreateGenericTable, beginning: Beginning, *, registers: bool) -> GenericMetadata:
    location = str(beginning.location).rstrip("/")
    if registers and not beginning.occupied:
        raise _nothing_there(location, "nothing lies there to be registered; create the table instead")
    return GenericMetadata(
        format=request.format,
        location=location,
        doc=request.doc,
        properties=request.properties,
        schema=request.schema,
        statistics=request.statistics,
        registered=beginning.occupied,
    )


def _nothing_there(location: str, cure: str) -> Refusal:
    shown = location[:500]
    return Refusal(Reason.REASON_LOCATION_EMPTY, f"location {shown!r}: {cure}", location=shown)
