"""Registering a table: a metadata file that exists becomes a table. The right to is decided before the file is read."""

from __future__ import annotations

import dataclasses
from uuid import UUID

from lakeward_catalog.application.announcements import TabularChange
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.opened import OpenedName
from lakeward_catalog.application.payloads import beside
from lakeward_catalog.application.placing import Place, check_inside, check_place, location_taken, parse_location
from lakeward_catalog.application.refs import tabular_ref
from lakeward_catalog.application.tabulars.loaded import Loaded
from lakeward_catalog.application.tabulars.making import Making, New, check_unprotected
from lakeward_catalog.application.tabulars.reading import ReadTabular, TabularReads
from lakeward_catalog.application.tabulars.taken import refuse_taken
from lakeward_catalog.domain.iceberg.reading import register_table
from lakeward_catalog.domain.iceberg.table import TableMetadata
from lakeward_catalog.domain.model import Kind, State, Tabular, Warehouse, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent, check_new_name
from lakeward_catalog.domain.wording import name_taken, unseen_name_taken
from lakeward_locations import Location
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Need
from lakeward_servicekit.errors import (
    FileNotFound,
    FileUnreadable,
    InvalidMetadata,
    MalformedDocument,
    Reason,
    Refusal,
)


@dataclasses.dataclass(frozen=True, slots=True)
class RegisterTable:
    """Take a metadata file as a table.

    Attributes:
        overwrite: a table of this name leaves the catalog; its files stay.
        deflated: the caller takes compressed metadata.
    """

    warehouse_id: WarehouseId
    namespace: NamespaceIdent
    name: str
    metadata_location: str
    overwrite: bool = False
    deflated: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class TableRegistrations:
    """Makes tables of metadata files."""

    doors: Doors
    once: Once
    making: Making[TableMetadata]
    reads: TabularReads[TableMetadata]

    async def __call__(self, command: RegisterTable, *, caller: Caller) -> Loaded:
        """Make a table of a metadata file.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN; INVALID_TABULAR_NAME, TABULAR_EXISTS, TABULAR_PROTECTED;
                LOCATION_NOT_ALLOWED, LOCATION_TAKEN, LOCATION_BEING_PURGED; INVALID_METADATA_FILE; CHANGE_REFUSED;
                STORE_UNAVAILABLE, STORE_DENIED, what `ClientAccess.vend` raises; COMMIT_STATE_UNKNOWN.
        """
        parameters: dict[str, object] = {
            "namespace": command.namespace.parts,
            "name": command.name,
            "metadata-location": command.metadata_location,
            "overwrite": command.overwrite,
        }
        ident = TabularIdent(command.namespace, command.name)
        return await self.once(
            Keyed(of_warehouse(command.warehouse_id), "register-table", parameters),
            caller=caller,
            do=lambda keeper: self._register(command, caller, keeper),
            again=lambda done: self.reads(
                ReadTabular(command.warehouse_id, ident, deflated=command.deflated, made=done["incarnation"]),
                caller=caller,
            ),
        )

    async def _register(self, command: RegisterTable, caller: Caller, keeper: Keeper) -> Loaded:
        kind = self.making.kind
        opened = await self.doors.name(
            command.warehouse_id,
            TabularIdent(command.namespace, command.name),
            Action.NAMESPACE_CREATE_TABLE,
            caller=caller,
        )
        new = await self._plan(command, opened, caller)
        given = await self.making.insert(new, caller=caller, keeper=keeper)
        return await kind.shown(new.made, given, caller=caller, deflated=command.deflated)

    async def _plan(self, command: RegisterTable, opened: OpenedName, caller: Caller) -> New[TableMetadata]:
        """What to write; its file is there."""
        warehouse = opened.warehouse
        check_new_name(command.name)
        ident = TabularIdent(opened.namespace.ident, command.name)
        replaced = await self._replaced(command, opened, ident, caller)
        file = parse_location(command.metadata_location)
        check_inside(warehouse, file)
        owner = await self.doors.tabulars.by_location(warehouse.warehouse_id, file)
        if owner is not None and (replaced is None or owner.incarnation != replaced.incarnation):
            raise location_taken(file)  # before the read: what another's file holds is not the caller's to learn
        metadata, size = await self._read(warehouse, file, caller)
        place = Place(parse_location(metadata.location), custom=True)
        check_place(warehouse, place.location)
        new = await self.making.ready(
            opened,
            ident,
            place,
            metadata,
            uuid=_uuid_of(metadata, file),
            size=size,
            caller=caller,
            replaces=_live(replaced),
        )
        return dataclasses.replace(
            new,
            tabular=dataclasses.replace(new.tabular, metadata_location=command.metadata_location),
            told=TabularChange.REGISTERED,
            writes=False,
            leaves=replaced,
            overwrites=True,
        )

    async def _replaced(
        self, command: RegisterTable, opened: OpenedName, ident: TabularIdent, caller: Caller
    ) -> Tabular | None:
        """The table that has to leave; None where the name is free.

        Raises:
            Refusal: TABULAR_EXISTS where it may not be overwritten, is not seen or is a view; FORBIDDEN; TABULAR_PROTECTED.
        """
        there = opened.there
        if there is None or (there.state is State.STAGED and not command.overwrite):
            return None
        if not command.overwrite or there.kind is not Kind.TABLE:
            await refuse_taken(
                self.doors,
                opened.warehouse,
                there,
                seen=name_taken(Kind.TABLE, ident, by=there.kind),
                unseen=lambda: unseen_name_taken(ident),
                caller=caller,
            )
        drop = Demand(tabular_ref(opened.warehouse, there), Action.TABLE_DROP)
        await self.doors.decide(caller, [Need(drop, lambda: unseen_name_taken(ident))])
        check_unprotected(there)
        return there

    async def _read(self, warehouse: Warehouse, file: Location, caller: Caller) -> tuple[TableMetadata, int]:
        """What a file holds, and of how many bytes it is."""
        means, folder = self.making.means, Location.parse(str(file).rpartition("/")[0])
        uuid, allowed = str(means.ids.uuid7()), warehouse.allowed_format_versions
        try:
            content = await means.files.read(warehouse, str(file), within=folder, principal=caller.principal.key)
            metadata = await beside(
                len(content), lambda: register_table(content, fresh_uuid=uuid, allowed_format_versions=allowed)
            )
        except (FileNotFound, FileUnreadable, InvalidMetadata, MalformedDocument) as unusable:
            raise Refusal(
                Reason.REASON_INVALID_METADATA_FILE,
                f"{file} can't be registered: {unusable.message}",
                location=str(file),
            ) from unusable
        return metadata, len(content)


def _live(replaced: Tabular | None) -> Tabular | None:
    return replaced if replaced is not None and replaced.state is State.LIVE else None


def _uuid_of(metadata: TableMetadata, file: Location) -> UUID:
    try:
        return UUID(metadata.table_uuid)
    except ValueError:
        raise Refusal(
            Reason.REASON_INVALID_METADATA_FILE,
            f"{file} can't be registered: its table-uuid {metadata.table_uuid[:100]!r} is not a UUID",
            location=str(file),
        ) from None
