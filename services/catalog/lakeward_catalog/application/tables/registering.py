"""Registering a table: a metadata file that exists becomes a table. The right to is decided before the file is read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final
from uuid import UUID

from lakeward_catalog.application.access import open_namespace, open_tabular
from lakeward_catalog.application.announcements import Announcer, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import LIVE_OR_STAGED
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.metadata_files import to_the_end
from lakeward_catalog.application.outcomes import has_arrived
from lakeward_catalog.application.payloads import beside
from lakeward_catalog.application.placing import (
    Place,
    check_inside,
    check_place,
    location_taken,
    parse_location,
    reserve,
)
from lakeward_catalog.application.ports import ChangeGate, Clock, Files, Ids, NamespaceStore, TabularStore
from lakeward_catalog.application.ports_access import ClientAccess, Level
from lakeward_catalog.application.tables.creating import Insertion, keep_document
from lakeward_catalog.application.tables.loaded import Loaded, give_access
from lakeward_catalog.application.tables.replies import Created, created_reply, current_reply
from lakeward_catalog.application.tables.signer_scopes import SignerScopes
from lakeward_catalog.domain.iceberg.reading import register_table as read_metadata
from lakeward_catalog.domain.iceberg.table import TableMetadata
from lakeward_catalog.domain.model import (
    Incarnation,
    Kind,
    MetadataId,
    State,
    Tabular,
    TabularId,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent, check_new_name
from lakeward_catalog.domain.table_bodies import body_of
from lakeward_catalog.domain.wording import name_taken
from lakeward_locations import Location
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.errors import Reason, Refusal


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


async def register_table(
    command: RegisterTable,
    *,
    caller: Caller,
    once: Once,
    authorizer: Authorizer,
    namespaces: NamespaceStore,
    tabulars: TabularStore,
    changes: Changes,
    files: Files,
    documents: Documents,
    access: ClientAccess,
    scopes: SignerScopes,
    gate: ChangeGate,
    announcer: Announcer,
    clock: Clock,
    ids: Ids,
) -> Loaded:
    """Make a table of a metadata file.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN; INVALID_TABULAR_NAME, TABULAR_EXISTS, TABULAR_PROTECTED;
            LOCATION_NOT_ALLOWED, LOCATION_TAKEN, LOCATION_BEING_PURGED; INVALID_METADATA_FILE; CHANGE_REFUSED;
            STORE_UNAVAILABLE, STORE_DENIED, what `ClientAccess.vend` raises; COMMIT_STATE_UNKNOWN.
    """

    async def do(keeper: Keeper) -> Loaded:
        created = await _register(
            command,
            caller=caller,
            keeper=keeper,
            authorizer=authorizer,
            namespaces=namespaces,
            tabulars=tabulars,
            changes=changes,
            files=files,
            documents=documents,
            access=access,
            scopes=scopes,
            gate=gate,
            announcer=announcer,
            clock=clock,
            ids=ids,
        )
        return await created_reply(created, caller=caller, documents=documents, clock=clock, deflated=command.deflated)

    async def again(done: Mapping[str, str]) -> Loaded:
        return await current_reply(
            command.warehouse_id,
            TabularIdent(command.namespace, command.name),
            caller=caller,
            authorizer=authorizer,
            tabulars=tabulars,
            documents=documents,
            access=access,
            scopes=scopes,
            clock=clock,
            deflated=command.deflated,
            made=done["incarnation"],
        )

    parameters: dict[str, object] = {
        "namespace": command.namespace.parts,
        "name": command.name,
        "metadata-location": command.metadata_location,
        "overwrite": command.overwrite,
    }
    keyed = Keyed(of_warehouse(command.warehouse_id), "register-table", parameters)
    return await once(keyed, caller=caller, do=do, again=again)


async def _register(
    command: RegisterTable,
    *,
    caller: Caller,
    keeper: Keeper,
    authorizer: Authorizer,
    namespaces: NamespaceStore,
    tabulars: TabularStore,
    changes: Changes,
    files: Files,
    documents: Documents,
    access: ClientAccess,
    scopes: SignerScopes,
    gate: ChangeGate,
    announcer: Announcer,
    clock: Clock,
    ids: Ids,
) -> Created:
    opened = await open_namespace(
        command.warehouse_id,
        command.namespace,
        Action.NAMESPACE_CREATE_TABLE,
        caller=caller,
        authorizer=authorizer,
        namespaces=namespaces,
    )
    warehouse, namespace = opened.warehouse, opened.namespace
    check_new_name(command.name)
    ident = TabularIdent(namespace.ident, command.name)
    replaced = await _replaced(command, ident, caller=caller, authorizer=authorizer, tabulars=tabulars)
    file = parse_location(command.metadata_location)
    check_inside(warehouse, file)
    owner = await tabulars.by_location(command.warehouse_id, file)
    if owner is not None and (replaced is None or owner.incarnation != replaced.incarnation):
        raise location_taken(file)  # before the read: what another's file holds is not the caller's to learn
    metadata = await _read(warehouse, file, files=files, ids=ids, principal=caller.principal.key)
    location = parse_location(metadata.location)
    check_place(warehouse, location)
    await gate.check(tabular=ident, old=None, proposed=metadata.encode)
    tabular = Tabular(
        warehouse_id=warehouse.warehouse_id,
        incarnation=Incarnation(ids.uuid7()),
        tabular_id=TabularId(_uuid_of(metadata, file)),
        kind=Kind.TABLE,
        state=State.LIVE,
        namespace_id=namespace.namespace_id,
        ident=ident,
        location=metadata.location.rstrip("/"),
        metadata_id=MetadataId(ids.uuid7()),
        metadata_location=command.metadata_location,
        protected=False,
        row_version=1,
        created_at=clock.now(),
        expires_at=None,
    )
    # before anything is written: a table whose maker can't be given access is not made
    given = await give_access(warehouse, tabular, Level.READ_WRITE_DELETE, caller=caller, access=access, scopes=scopes)
    body = body_of(metadata)
    insertion = Insertion(
        warehouse, namespace, tabular, Place(location, custom=True), body, TabularChange.REGISTERED, request=None
    )
    await to_the_end(
        _insert(insertion, replaced, caller=caller, keeper=keeper, changes=changes, announcer=announcer, clock=clock)
    )
    keep_document(documents, tabular, metadata, body)
    return Created(warehouse, tabular, given)


async def _replaced(
    command: RegisterTable, ident: TabularIdent, *, caller: Caller, authorizer: Authorizer, tabulars: TabularStore
) -> Tabular | None:
    """The table that has to leave; None where the name is free.

    Raises:
        Refusal: TABULAR_EXISTS where it may not be overwritten or is a view; NO_SUCH_TABLE, FORBIDDEN; TABULAR_PROTECTED.
    """
    there = (await tabulars.locate(command.warehouse_id, ident)).tabular
    if there is None or (there.state is State.STAGED and not command.overwrite):
        return None
    if not command.overwrite or there.kind is not Kind.TABLE:
        raise name_taken(Kind.TABLE, ident, by=there.kind)
    opened = await open_tabular(
        command.warehouse_id,
        ident,
        Kind.TABLE,
        Action.TABLE_DROP,
        caller=caller,
        authorizer=authorizer,
        tabulars=tabulars,
        states=LIVE_OR_STAGED,
    )
    _check_unprotected(opened.tabular)
    return opened.tabular


def _check_unprotected(tabular: Tabular) -> None:
    if tabular.protected:
        raise Refusal(
            Reason.REASON_TABULAR_PROTECTED,
            f"table {tabular.ident} is protected; take its protection off before it is overwritten",
            tabular=str(tabular.ident),
        )


async def _read(warehouse: Warehouse, file: Location, *, files: Files, ids: Ids, principal: str) -> TableMetadata:
    folder = Location.parse(str(file).rpartition("/")[0])
    try:
        content = await files.read(warehouse, str(file), within=folder, principal=principal)
        uuid, allowed = str(ids.uuid7()), warehouse.allowed_format_versions
        return await beside(
            len(content), lambda: read_metadata(content, fresh_uuid=uuid, allowed_format_versions=allowed)
        )
    except Refusal as refusal:
        if refusal.reason not in _UNUSABLE:
            raise
        raise Refusal(
            Reason.REASON_INVALID_METADATA_FILE,
            f"{file} can't be registered: {refusal.message}",
            location=str(file),
        ) from refusal


_UNUSABLE: Final = frozenset(
    {
        Reason.REASON_FILE_NOT_FOUND,
        Reason.REASON_FILE_UNREADABLE,
        Reason.REASON_INVALID_METADATA,
        Reason.REASON_MALFORMED_DOCUMENT,
    }
)


def _uuid_of(metadata: TableMetadata, file: Location) -> UUID:
    try:
        return UUID(metadata.table_uuid)
    except ValueError:
        raise Refusal(
            Reason.REASON_INVALID_METADATA_FILE,
            f"{file} can't be registered: its table-uuid {metadata.table_uuid[:100]!r} is not a UUID",
            location=str(file),
        ) from None


async def _insert(
    insertion: Insertion,
    replaced: Tabular | None,
    *,
    caller: Caller,
    keeper: Keeper,
    changes: Changes,
    announcer: Announcer,
    clock: Clock,
) -> None:
    warehouse_id, tabular = insertion.warehouse.warehouse_id, insertion.tabular
    try:
        async with changes.change() as change:
            await change.namespaces.lock(warehouse_id, insertion.namespace.ident, exclusively=False)
            gone = await _take_out(change, tabular, replaced)
            await reserve(change, warehouse_id, insertion.place)
            await change.tabulars.insert(tabular, insertion.body)
            when, count = occasion(caller, clock.now()), 2 if gone else 1
            if gone is not None:
                data = {"purge": False, "overwritten": True}
                change.ledger.emit(
                    announcer.tabular(TabularChange.DROPPED, gone, when, data=data, index=0, count=count)
                )
            change.ledger.emit(announcer.tabular(insertion.change, tabular, when, index=count - 1, count=count))
            await keeper.keep(change, incarnation=tabular.incarnation)
    except Refusal as refusal:
        if refusal.reason != Reason.REASON_COMMIT_STATE_UNKNOWN:
            raise
        if not await has_arrived(changes, tabular):
            raise


async def _take_out(change: Change, tabular: Tabular, replaced: Tabular | None) -> Tabular | None:
    """Delete the row that is overwritten, as it is now that it is locked.

    None where what was decided on has left the name meanwhile; whatever took the name since is not the caller's to remove, and
    the insert finds it there.
    """
    if replaced is None:
        return None
    locked = await change.tabulars.lock_incarnation(tabular.warehouse_id, replaced.incarnation)
    if locked is None or locked.state not in LIVE_OR_STAGED or locked.ident.key != replaced.ident.key:
        return None
    _check_unprotected(locked)
    await change.tabulars.delete(locked)
    return locked if locked.state is State.LIVE else None
