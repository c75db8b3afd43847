"""Creating a table: real at once, or staged until a commit with `assert-create`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from lakeward_catalog.application.access import open_namespace
from lakeward_catalog.application.announcements import Announcer, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import LIVE
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.metadata_files import take_back, to_the_end, write_metadata
from lakeward_catalog.application.outcomes import has_arrived
from lakeward_catalog.application.payloads import Payload, beside
from lakeward_catalog.application.placing import Place, choose_place, location_taken, not_empty, reserve
from lakeward_catalog.application.ports import ChangeGate, Clock, Files, Ids, NamespaceStore, Rules, TabularStore
from lakeward_catalog.application.ports_access import ClientAccess, Level
from lakeward_catalog.application.tables.loaded import Loaded, give_access
from lakeward_catalog.application.tables.replies import Created, created_reply, current_reply
from lakeward_catalog.application.tables.signer_scopes import SignerScopes
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.iceberg.creating import create_table as new_metadata
from lakeward_catalog.domain.iceberg.files import first_file, is_compressed
from lakeward_catalog.domain.iceberg.properties import choose_format_version
from lakeward_catalog.domain.iceberg.requests import parse_create_table
from lakeward_catalog.domain.iceberg.table import TableMetadata
from lakeward_catalog.domain.model import (
    Incarnation,
    Kind,
    MetadataId,
    Namespace,
    State,
    Tabular,
    TabularId,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent, check_new_name
from lakeward_catalog.domain.table_bodies import body_of
from lakeward_catalog.domain.wording import name_taken
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.errors import Reason, Refusal


@dataclasses.dataclass(frozen=True, slots=True)
class CreateTable:
    """Create a table.

    Attributes:
        request: the document; it is read once the caller may create a table here.
        deflated: the caller takes compressed metadata.
    """

    warehouse_id: WarehouseId
    namespace: NamespaceIdent
    request: Payload
    deflated: bool = False


async def create_table(
    command: CreateTable,
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
    rules: Rules,
) -> Loaded:
    """Make a table; its first metadata file is written before the row that points to it.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN; INVALID_TABULAR_NAME, TABULAR_EXISTS; INVALID_METADATA and the
            other reasons of the engine; MALFORMED_LOCATION, LOCATION_NOT_ALLOWED, LOCATION_TAKEN, LOCATION_NOT_EMPTY;
            MALFORMED_DOCUMENT, CHANGE_REFUSED; STORE_UNAVAILABLE, STORE_DENIED, what `ClientAccess.vend` raises;
            COMMIT_STATE_UNKNOWN.
    """

    async def do(keeper: Keeper) -> Loaded:
        created = await _create(
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
            rules=rules,
        )
        return await created_reply(created, caller=caller, documents=documents, clock=clock, deflated=command.deflated)

    async def again(done: Mapping[str, str]) -> Loaded:
        wanted = await command.request.read(parse_create_table)
        return await current_reply(
            command.warehouse_id,
            TabularIdent(command.namespace, wanted.name),
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

    keyed = Keyed(
        of_warehouse(command.warehouse_id), "create-table", {"namespace": command.namespace.parts}, command.request
    )
    return await once(keyed, caller=caller, do=do, again=again)


async def _create(
    command: CreateTable,
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
    rules: Rules,
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
    wanted, now = await command.request.read(parse_create_table), clock.now()
    check_new_name(wanted.name)
    ident = TabularIdent(namespace.ident, wanted.name)
    version = choose_format_version(
        wanted.properties, allowed=warehouse.allowed_format_versions, default=warehouse.default_format_version
    )
    uuid = ids.uuid7()
    place = choose_place(warehouse, namespace, wanted.location, name=wanted.name, uuid=uuid)
    metadata = await beside(
        len(command.request),
        lambda: new_metadata(
            wanted,
            table_uuid=str(uuid),
            location=str(place.location),
            format_version=version,
            now_ms=int(now.timestamp() * 1000),
        ),
    )
    there = (await tabulars.locate(command.warehouse_id, ident)).tabular
    if there is not None and there.state in LIVE:
        raise name_taken(Kind.TABLE, ident, by=there.kind)
    staged = None if there is None else there.incarnation
    if place.custom:  # else nothing can lie there but a custom one around it, which the transaction finds
        owner = await tabulars.by_location(command.warehouse_id, place.location)
        if owner is not None and owner.incarnation != staged:
            raise location_taken(place.location)
    if not await files.is_empty(warehouse, place.location, principal=caller.principal.key):
        raise not_empty(place.location)
    metadata_location = first_file(
        metadata.location, file_uuid=str(ids.uuid7()), compressed=is_compressed(metadata.properties)
    )
    tabular = Tabular(
        warehouse_id=warehouse.warehouse_id,
        incarnation=Incarnation(ids.uuid7()),
        tabular_id=TabularId(uuid),
        kind=Kind.TABLE,
        state=State.STAGED if wanted.stage_create else State.LIVE,
        namespace_id=namespace.namespace_id,
        ident=ident,
        location=metadata.location,
        metadata_id=MetadataId(ids.uuid7()),
        metadata_location=None if wanted.stage_create else metadata_location,
        protected=False,
        row_version=1,
        created_at=now,
        expires_at=now + rules.staged_for if wanted.stage_create else None,
    )
    await gate.check(tabular=ident, old=None, proposed=metadata.encode)
    # before anything is written: a table whose maker can't be given access is not made
    given = await give_access(warehouse, tabular, Level.READ_WRITE_DELETE, caller=caller, access=access, scopes=scopes)
    body = await beside(len(command.request), lambda: body_of(metadata))
    insertion = Insertion(
        warehouse, namespace, tabular, place, body, TabularChange.CREATED, command.request.raw, instead_of=staged
    )
    await to_the_end(
        insert(insertion, caller=caller, keeper=keeper, changes=changes, files=files, announcer=announcer, clock=clock)
    )
    keep_document(documents, tabular, metadata, body)
    return Created(warehouse, tabular, given)


@dataclasses.dataclass(frozen=True, slots=True)
class Insertion:
    """A tabular that is ready to be written: file, then row with its event.

    Attributes:
        request: JSON of what was asked for, for the event.
        data: what the event has to say beside ids and locations.
        instead_of: what had the name when the caller's request was looked at, and gives way with its place if it is staged.
    """

    warehouse: Warehouse
    namespace: Namespace
    tabular: Tabular
    place: Place
    body: Body
    change: TabularChange
    request: bytes | None
    data: Mapping[str, object] | None = None
    instead_of: Incarnation | None = None


async def insert(
    insertion: Insertion,
    *,
    caller: Caller,
    keeper: Keeper,
    changes: Changes,
    files: Files,
    announcer: Announcer,
    clock: Clock,
) -> None:
    """Write a new tabular's file and row. The file of a row that surely was not written is taken back.

    Raises:
        Refusal: LOCATION_TAKEN, TABULAR_EXISTS, NO_SUCH_NAMESPACE, REQUEST_IN_PROGRESS, COMMIT_STATE_UNKNOWN; what `Files.write`
            raises.
    """
    warehouse, tabular, principal = insertion.warehouse, insertion.tabular, caller.principal.key
    written: tuple[str, ...] = ()
    if tabular.metadata_location is not None:
        written = (tabular.metadata_location,)
        await write_metadata(files, warehouse, tabular, tabular.metadata_location, insertion.body, principal=principal)
    try:
        async with changes.change() as change:
            await change.namespaces.lock(warehouse.warehouse_id, insertion.namespace.ident, exclusively=False)
            given_way = await _gives_way(change, insertion)
            await reserve(change, warehouse.warehouse_id, insertion.place, instead_of=given_way)
            await change.tabulars.insert(tabular, insertion.body)
            change.ledger.emit(
                announcer.tabular(
                    insertion.change,
                    tabular,
                    occasion(caller, clock.now()),
                    data=insertion.data,
                    request=insertion.request,
                )
            )
            await keeper.keep(change, incarnation=tabular.incarnation)
    except Refusal as refusal:
        if refusal.reason != Reason.REASON_COMMIT_STATE_UNKNOWN:
            await take_back(files, warehouse, tabular, written, principal=principal)
            raise
        if not await has_arrived(changes, tabular):
            raise


async def _gives_way(change: Change, insertion: Insertion) -> Incarnation | None:
    """The staged row that the insert replaces; None where it is gone or its commit came first."""
    if insertion.instead_of is None:
        return None
    locked = await change.tabulars.lock_incarnation(insertion.warehouse.warehouse_id, insertion.instead_of)
    return insertion.instead_of if locked is not None and locked.state is State.STAGED else None


def keep_document(documents: Documents, tabular: Tabular, metadata: TableMetadata, body: Body) -> None:
    """Remember what was just written, so that the first load and commit need not read it."""
    documents.keep(tabular.metadata_id, metadata, body)
