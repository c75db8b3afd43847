"""Making a view."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from uuid import UUID

from lakeward_catalog.application.access import open_namespace
from lakeward_catalog.application.announcements import Announcer, TabularChange
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.metadata_files import to_the_end
from lakeward_catalog.application.payloads import Payload, beside
from lakeward_catalog.application.placing import choose_place
from lakeward_catalog.application.ports import ChangeGate, Clock, Files, Ids, NamespaceStore, TabularStore
from lakeward_catalog.application.ports_access import ClientAccess
from lakeward_catalog.application.tables.creating import Insertion, insert
from lakeward_catalog.application.tables.loaded import Loaded
from lakeward_catalog.application.views.loading import load_view
from lakeward_catalog.application.views.shown import body_of, show
from lakeward_catalog.domain.iceberg.files import first_file, is_compressed
from lakeward_catalog.domain.iceberg.requests import parse_create_view
from lakeward_catalog.domain.iceberg.views.commits import create_view as new_metadata
from lakeward_catalog.domain.model import Incarnation, Kind, MetadataId, State, Tabular, TabularId, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent, check_new_name
from lakeward_catalog.domain.wording import name_taken
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer


@dataclasses.dataclass(frozen=True, slots=True)
class CreateView:
    """Make a view.

    Attributes:
        request: the document; it is read once the caller may create a view here.
    """

    warehouse_id: WarehouseId
    namespace: NamespaceIdent
    request: Payload


async def create_view(
    command: CreateView,
    *,
    caller: Caller,
    authorizer: Authorizer,
    namespaces: NamespaceStore,
    tabulars: TabularStore,
    changes: Changes,
    files: Files,
    documents: Documents,
    access: ClientAccess,
    gate: ChangeGate,
    once: Once,
    announcer: Announcer,
    clock: Clock,
    ids: Ids,
) -> Loaded:
    """Make it; its metadata file is written before the row that points to it. Its directory need not be empty.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN; MALFORMED_DOCUMENT, INVALID_TABULAR_NAME, TABULAR_EXISTS;
            EMPTY_VIEW, INVALID_METADATA, PROPERTY_FORBIDDEN, UNSUPPORTED_COMPRESSION; MALFORMED_LOCATION, LOCATION_NOT_ALLOWED,
            LOCATION_TAKEN; CHANGE_REFUSED; STORE_UNAVAILABLE, STORE_DENIED; COMMIT_STATE_UNKNOWN.
    """

    async def create(keeper: Keeper) -> Loaded:
        insertion, text = await _prepare(
            command,
            caller=caller,
            authorizer=authorizer,
            namespaces=namespaces,
            tabulars=tabulars,
            gate=gate,
            clock=clock,
            ids=ids,
        )
        writing = insert(
            insertion, caller=caller, keeper=keeper, changes=changes, files=files, announcer=announcer, clock=clock
        )
        await to_the_end(writing)
        # who made a view may read through it
        return await show(insertion.warehouse, insertion.tabular, text, may_read=True, caller=caller, access=access)

    async def again(kept: Mapping[str, str]) -> Loaded:
        wanted = await command.request.read(parse_create_view)
        return await load_view(
            command.warehouse_id,
            TabularIdent(command.namespace, wanted.name),
            caller=caller,
            authorizer=authorizer,
            tabulars=tabulars,
            documents=documents,
            access=access,
            incarnation=Incarnation(UUID(kept["incarnation"])),
        )

    keyed = Keyed(
        of_warehouse(command.warehouse_id), "create-view", {"namespace": command.namespace.parts}, command.request
    )
    return await once(keyed, caller=caller, do=create, again=again)


async def _prepare(
    command: CreateView,
    *,
    caller: Caller,
    authorizer: Authorizer,
    namespaces: NamespaceStore,
    tabulars: TabularStore,
    gate: ChangeGate,
    clock: Clock,
    ids: Ids,
) -> tuple[Insertion, bytes]:
    """What to write, and the document as text. Nothing is changed yet."""
    opened = await open_namespace(
        command.warehouse_id,
        command.namespace,
        Action.NAMESPACE_CREATE_VIEW,
        caller=caller,
        authorizer=authorizer,
        namespaces=namespaces,
    )
    warehouse, namespace = opened.warehouse, opened.namespace
    wanted, now = await command.request.read(parse_create_view), clock.now()
    check_new_name(wanted.name)
    ident, uuid = TabularIdent(namespace.ident, wanted.name), ids.uuid7()
    place = choose_place(warehouse, namespace, wanted.location, name=wanted.name, uuid=uuid)
    metadata = await beside(
        len(command.request),
        lambda: new_metadata(
            wanted, view_uuid=str(uuid), location=str(place.location), now_ms=int(now.timestamp() * 1000)
        ),
    )
    there = (await tabulars.locate(command.warehouse_id, ident)).tabular
    if there is not None and there.state is State.LIVE:
        raise name_taken(Kind.VIEW, ident, by=there.kind)
    await gate.check(tabular=ident, old=None, proposed=metadata.encode)
    tabular = Tabular(
        warehouse_id=warehouse.warehouse_id,
        incarnation=Incarnation(ids.uuid7()),
        tabular_id=TabularId(uuid),
        kind=Kind.VIEW,
        state=State.LIVE,
        namespace_id=namespace.namespace_id,
        ident=ident,
        location=metadata.location,
        metadata_id=MetadataId(ids.uuid7()),
        metadata_location=first_file(
            metadata.location, file_uuid=str(ids.uuid7()), compressed=is_compressed(metadata.properties)
        ),
        protected=False,
        row_version=1,
        created_at=now,
        expires_at=None,
    )
    text = metadata.encode()
    insertion = Insertion(
        warehouse, namespace, tabular, place, body_of(text), TabularChange.CREATED, request=command.request.raw
    )
    return insertion, text
