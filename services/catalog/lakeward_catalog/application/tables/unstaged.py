"""Making the table of a commit with `assert-create` that nobody staged, or whose staged row has expired since."""

from __future__ import annotations

import dataclasses
from uuid import UUID

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper
from lakeward_catalog.application.opened import OpenedTabular
from lakeward_catalog.application.tables.updates import read_update
from lakeward_catalog.application.tabulars.kinds import Beginning, TabularUpdate, Wanted
from lakeward_catalog.application.tabulars.making import Making
from lakeward_catalog.domain.iceberg.commits import build_table
from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.invalid import invalid_metadata
from lakeward_catalog.domain.iceberg.properties import check_version, choose_format_version
from lakeward_catalog.domain.iceberg.requests import CommitRequest
from lakeward_catalog.domain.iceberg.requirements import AssertCreate
from lakeward_catalog.domain.iceberg.table import TableMetadata
from lakeward_catalog.domain.iceberg.updates.snapshots import AddSnapshot
from lakeward_catalog.domain.iceberg.updates.table import AssignUuid, SetLocation, UpgradeFormatVersion
from lakeward_catalog.domain.model import WarehouseId
from lakeward_servicekit.authorization.actions import Action


@dataclasses.dataclass(frozen=True, slots=True)
class UnstagedCreations:
    """Makes tables of commits' updates alone."""

    doors: Doors
    making: Making[TableMetadata]

    async def __call__(
        self, warehouse_id: WarehouseId, update: TabularUpdate, *, caller: Caller, keeper: Keeper
    ) -> OpenedTabular | None:
        """Make one; the place that its updates name must be empty, unless they bring a snapshot, whose files lie there.

        Returns:
            The table; None where the commit does not say that there is none yet.

        Raises:
            Refusal: MALFORMED_DOCUMENT, UNKNOWN_UPDATE, UNKNOWN_REQUIREMENT, IDENTIFIER_MISMATCH; NO_SUCH_WAREHOUSE,
                NO_SUCH_NAMESPACE, FORBIDDEN; COMMIT_CONFLICT for any other requirement; what `Making` raises.
        """
        ident, request = await read_update(update)
        if not any(isinstance(requirement, AssertCreate) for requirement in request.requirements):
            return None
        making = self.making
        opened = await self.doors.name(warehouse_id, ident, Action.NAMESPACE_CREATE_TABLE, caller=caller)
        asked = _asked(request)
        wanted = Wanted(
            ident.name,
            lambda beginning: _first_metadata(request, asked, beginning),
            location=asked.location,
            uuid=asked.uuid,
            alone=not asked.brings_files,
        )
        new = await making.plan(wanted, opened, update.document, caller=caller)
        await making.insert(new, caller=caller, keeper=keeper, gives=False)
        return OpenedTabular(opened.warehouse, opened.namespace, new.tabular)  # as after a commit: its maker has access


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


def _first_metadata(request: CommitRequest, asked: _Asked, beginning: Beginning) -> TableMetadata:
    allowed, version = beginning.warehouse.allowed_format_versions, asked.format_version
    if version is None:
        version = choose_format_version({}, allowed=allowed, default=beginning.warehouse.default_format_version)
    else:
        check_version(version, allowed=allowed)
    return build_table(
        request,
        table_uuid=str(beginning.uuid),
        location=str(beginning.location),
        format_version=version,
        object_name=str(beginning.ident),
        now_ms=beginning.now_ms,
        allowed_format_versions=allowed,
    )


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
