"""Making the table of a commit with `assert-create` that nobody staged, or whose staged row has expired since."""

from __future__ import annotations

import dataclasses
from uuid import UUID

from lakeward_catalog.application.access import open_namespace
from lakeward_catalog.application.announcements import Announcer, TabularChange
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import LIVE
from lakeward_catalog.application.idempotency import Keeper
from lakeward_catalog.application.metadata_files import to_the_end
from lakeward_catalog.application.placing import choose_place, location_taken, not_empty
from lakeward_catalog.application.ports import ChangeGate, Clock, Files, Ids, NamespaceStore, TabularStore
from lakeward_catalog.application.tables.changes import TableChange
from lakeward_catalog.application.tables.creating import Insertion, insert, keep_document
from lakeward_catalog.domain.iceberg.commits import build_table
from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.files import first_file, is_compressed
from lakeward_catalog.domain.iceberg.invalid import invalid_metadata
from lakeward_catalog.domain.iceberg.properties import check_version, choose_format_version
from lakeward_catalog.domain.iceberg.requests import CommitRequest
from lakeward_catalog.domain.iceberg.requirements import AssertCreate
from lakeward_catalog.domain.iceberg.updates.snapshots import AddSnapshot
from lakeward_catalog.domain.iceberg.updates.table import AssignUuid, SetLocation, UpgradeFormatVersion
from lakeward_catalog.domain.model import Incarnation, Kind, MetadataId, State, Tabular, TabularId, WarehouseId
from lakeward_catalog.domain.names import TabularIdent, check_new_name
from lakeward_catalog.domain.table_bodies import body_of
from lakeward_catalog.domain.wording import name_taken
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer


def creates(change: TableChange) -> bool:
    """Whether a commit that was read says that there is no such table yet."""
    return any(isinstance(requirement, AssertCreate) for requirement in _read(change).requirements)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UnstagedCreation:
    """Makes a table of a commit's updates alone."""

    authorizer: Authorizer
    namespaces: NamespaceStore
    tabulars: TabularStore
    changes: Changes
    files: Files
    documents: Documents
    gate: ChangeGate
    announcer: Announcer
    clock: Clock
    ids: Ids

    async def __call__(
        self, warehouse_id: WarehouseId, change: TableChange, *, caller: Caller, keeper: Keeper
    ) -> Tabular:
        """Make it; the place that its updates name must be empty, unless they bring a snapshot, whose files lie there.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN; TABULAR_EXISTS, INVALID_TABULAR_NAME; COMMIT_CONFLICT for
                any other requirement; INVALID_METADATA, INVALID_UPDATE and the other reasons of the engine; MALFORMED_LOCATION,
                LOCATION_NOT_ALLOWED, LOCATION_TAKEN, LOCATION_NOT_EMPTY; CHANGE_REFUSED; STORE_UNAVAILABLE, STORE_DENIED;
                COMMIT_STATE_UNKNOWN.
        """
        opened = await open_namespace(
            warehouse_id,
            change.ident.namespace,
            Action.NAMESPACE_CREATE_TABLE,
            caller=caller,
            authorizer=self.authorizer,
            namespaces=self.namespaces,
        )
        warehouse, namespace, now = opened.warehouse, opened.namespace, self.clock.now()
        ident = TabularIdent(namespace.ident, change.ident.name)
        there = (await self.tabulars.locate(warehouse_id, ident)).tabular
        if there is not None and there.state in LIVE:
            raise name_taken(Kind.TABLE, ident, by=there.kind)
        check_new_name(ident.name)
        request = _read(change)
        asked = _asked(request)
        if asked.format_version is not None:
            check_version(asked.format_version, allowed=warehouse.allowed_format_versions)
        uuid = asked.uuid or self.ids.uuid7()
        place = choose_place(warehouse, namespace, asked.location, name=ident.name, uuid=uuid)
        metadata = build_table(
            request,
            table_uuid=str(uuid),
            location=str(place.location),
            format_version=asked.format_version
            or choose_format_version(
                {}, allowed=warehouse.allowed_format_versions, default=warehouse.default_format_version
            ),
            object_name=str(ident),
            now_ms=int(now.timestamp() * 1000),
            allowed_format_versions=warehouse.allowed_format_versions,
        )
        owner = await self.tabulars.by_location(warehouse_id, place.location) if place.custom else None
        if owner is not None:
            raise location_taken(place.location)
        principal = caller.principal.key
        if not asked.brings_files and not await self.files.is_empty(warehouse, place.location, principal=principal):
            raise not_empty(place.location)
        await self.gate.check(tabular=ident, old=None, proposed=metadata.encode)
        tabular = Tabular(
            warehouse_id=warehouse_id,
            incarnation=Incarnation(self.ids.uuid7()),
            tabular_id=TabularId(uuid),
            kind=Kind.TABLE,
            state=State.LIVE,
            namespace_id=namespace.namespace_id,
            ident=ident,
            location=metadata.location,
            metadata_id=MetadataId(self.ids.uuid7()),
            metadata_location=first_file(
                metadata.location, file_uuid=str(self.ids.uuid7()), compressed=is_compressed(metadata.properties)
            ),
            protected=False,
            row_version=1,
            created_at=now,
            expires_at=None,
        )
        body = body_of(metadata)
        writing = insert(
            Insertion(warehouse, namespace, tabular, place, body, TabularChange.CREATED, change.document.raw),
            caller=caller,
            keeper=keeper,
            changes=self.changes,
            files=self.files,
            announcer=self.announcer,
            clock=self.clock,
        )
        await to_the_end(writing)
        keep_document(self.documents, tabular, metadata, body)
        return tabular


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    """What the updates say of the table as a whole; of two that say it, the later.

    Attributes:
        format_version: what it begins with; later ones upgrade it.
        brings_files: a snapshot comes with it.
    """

    uuid: UUID | None
    location: str | None
    format_version: int | None
    brings_files: bool


def _read(change: TableChange) -> CommitRequest:
    assert change.request is not None, "the change was read before"
    return change.request


def _asked(request: CommitRequest) -> _Asked:
    uuid = location = version = None
    for update in request.updates:
        match update:
            case AssignUuid(uuid=text):
                uuid = _uuid(text)
            case SetLocation(location=text):
                location = text
            case UpgradeFormatVersion(format_version=wanted) if version is None:
                version = wanted
            case _:
                pass
    brings_files = any(isinstance(update, AddSnapshot) for update in request.updates)
    return _Asked(uuid, location, version, brings_files)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise invalid_metadata(Invalid("updates", f"assign-uuid: {text[:100]!r} is not a UUID")) from None
