"""Tables, as a kind of tabular."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from functools import partial
from typing import ClassVar, Final
from uuid import UUID

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.opened import LIVE_OR_STAGED, OpenedTabular
from lakeward_catalog.application.tables import etags
from lakeward_catalog.application.tables.giving import AccessGiving, level_of
from lakeward_catalog.application.tables.updates import read_update, table_of_branch
from lakeward_catalog.application.tabulars.kinds import Applied, Beginning, TabularUpdate, Wanted
from lakeward_catalog.application.tabulars.loaded import Given, Loaded
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.iceberg.commits import apply_to_table
from lakeward_catalog.domain.iceberg.creating import create_table
from lakeward_catalog.domain.iceberg.properties import choose_format_version
from lakeward_catalog.domain.iceberg.requests import CommitRequest, CreateTable, parse_create_table
from lakeward_catalog.domain.iceberg.snapshots import summary_of
from lakeward_catalog.domain.iceberg.table import TableMetadata
from lakeward_catalog.domain.model import Kind, MetadataId, State, Tabular, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.table_bodies import body_of, shared_ids
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.deflated import Deflated
from lakeward_servicekit.errors import NoSuchTable
from lakeward_servicekit.system import Clock

_NONE_LEFT: Final[frozenset[int]] = frozenset()
_NOTHING: Final[Mapping[str, object]] = {}


@dataclasses.dataclass(frozen=True, slots=True)
class Tables:
    """`TabularKind` of Iceberg tables."""

    doors: Doors
    documents: Documents
    give_access: AccessGiving
    clock: Clock
    kind: ClassVar[Kind] = Kind.TABLE
    filed: ClassVar[bool] = True
    pinned: ClassVar[bool] = False

    def wanted(self, body: bytes) -> Wanted[TableMetadata]:
        """See `TabularKind`."""
        request = parse_create_table(body)
        build = partial(_first_metadata, request)
        return Wanted(request.name, build, location=request.location, staged=request.stage_create)

    def gives_at_once(self, caller: Caller) -> bool:
        """See `TabularKind`."""
        del caller
        return True

    def format_of(self, metadata: TableMetadata) -> str | None:
        """See `TabularKind`."""
        del metadata
        return None

    def check_properties(self, keys: Iterable[str], *, caller: Caller) -> None:
        """See `TabularKind`: no property of a table is anybody's own."""
        del keys, caller

    async def open_to_commit(
        self, warehouse_id: WarehouseId, update: TabularUpdate, *, caller: Caller
    ) -> tuple[OpenedTabular, CommitRequest]:
        """See `TabularKind`; a path that is no table may be a branch of one."""
        ident = update.ident
        try:
            opened = await self._open(warehouse_id, ident, caller)
        except NoSuchTable as absent:
            whole = table_of_branch(ident)
            if update.request is not None or whole is None:
                raise
            try:
                opened = await self._open(warehouse_id, whole, caller)
            except NoSuchTable:
                raise absent from None
            ident = whole
        named, request = await read_update(update)
        if named is not ident and named.key != ident.key:
            opened = await self._open(warehouse_id, named, caller)
        return opened, request

    async def _open(self, warehouse_id: WarehouseId, ident: TabularIdent, caller: Caller) -> OpenedTabular:
        return await self.doors.tabular(
            warehouse_id, ident, Kind.TABLE, Action.TABLE_COMMIT, caller=caller, states=LIVE_OR_STAGED
        )

    async def base(self, tabular: Tabular) -> TableMetadata:
        """See `TabularKind`."""
        return await self.documents.table(tabular.warehouse_id, tabular.metadata_id)

    def apply(
        self, base: TableMetadata, request: CommitRequest, opened: OpenedTabular, *, now_ms: int
    ) -> Applied[TableMetadata]:
        """See `TabularKind`."""
        tabular = opened.tabular
        result = apply_to_table(
            base,
            request.requirements,
            request.updates,
            object_name=str(tabular.ident),
            now_ms=now_ms,
            previous_file=tabular.metadata_location,
            staged=tabular.state is State.STAGED,
            allowed_format_versions=opened.warehouse.allowed_format_versions,
        )
        return Applied(result.metadata, result.changed, result.trimmed)

    def body_of(self, metadata: TableMetadata) -> Body:
        """See `TabularKind`."""
        return body_of(metadata)

    def shared_parts(self, base: TableMetadata) -> frozenset[UUID]:
        """See `TabularKind`."""
        return shared_ids(base)

    def columns_left(self, base: TableMetadata, metadata: TableMetadata) -> frozenset[int]:
        """See `TabularKind`."""
        before, after = base.current_schema, metadata.current_schema
        if before is after or before.encoded == after.encoded:
            return _NONE_LEFT
        return frozenset(before.columns.keys() - after.columns.keys())

    def told_of(self, base: TableMetadata, metadata: TableMetadata) -> Mapping[str, object]:
        """See `TabularKind`: the snapshot that became current, where one did."""
        current_id = metadata.current_snapshot_id
        if current_id is None or current_id == base.current_snapshot_id:
            return _NOTHING
        snapshot = metadata.snapshots.find(current_id)
        return _NOTHING if snapshot is None else {"snapshot": summary_of(snapshot)}

    def keep(
        self, tabular: Tabular, metadata: TableMetadata, body: Body, *, instead_of: MetadataId | None = None
    ) -> None:
        """See `TabularKind`."""
        self.documents.keep(tabular.metadata_id, body, metadata, instead_of=instead_of)

    async def give(self, opened: OpenedTabular, *, caller: Caller) -> Given | None:
        """See `TabularKind`."""
        level = level_of(opened.allowed)
        return None if level is None else await self.give_access(opened, level, caller=caller)

    async def shown(self, opened: OpenedTabular, given: Given | None, *, caller: Caller, deflated: bool) -> Loaded:
        """See `TabularKind`; a staged one has neither file nor tag yet."""
        tabular = opened.tabular
        metadata = await self.text(tabular, deflated=deflated)
        staged, location = tabular.state is State.STAGED, tabular.metadata_location
        if given is None:
            shape = etags.shape_of(opened, None, caller, references=False)
            etag = "" if staged else etags.tag(shape, expires_at=None, now=self.clock.now())
            return Loaded(etag, location, metadata)
        shape = etags.shape_of(opened, given.level, caller, references=False)
        etag = "" if staged else etags.tag(shape, expires_at=given.expires_at, now=self.clock.now())
        return Loaded(etag, location, metadata, given.config, given.credentials)

    async def text(self, tabular: Tabular, *, references: bool = False, deflated: bool) -> Deflated | bytes:
        """A table's metadata in the form that the caller takes; with `references`, only snapshots of branches and tags.

        Raises:
            LookupError: a later commit has replaced it.
        """
        read = self.documents.deflated if deflated else self.documents.plain
        return await read(tabular.warehouse_id, tabular.metadata_id, references=references)


def _first_metadata(request: CreateTable, beginning: Beginning) -> TableMetadata:
    warehouse = beginning.warehouse
    return create_table(
        request,
        table_uuid=str(beginning.uuid),
        location=str(beginning.location),
        format_version=choose_format_version(
            request.properties, allowed=warehouse.allowed_format_versions, default=warehouse.default_format_version
        ),
        now_ms=beginning.now_ms,
    )
