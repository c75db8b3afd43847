"""Updates of a view: four of its own, and five that tables have too, by a view's rules."""

from __future__ import annotations

from typing import Final

import msgspec

from lakeward_catalog.domain.iceberg.documents import Int, Invalid
from lakeward_catalog.domain.iceberg.numbers import next_id
from lakeward_catalog.domain.iceberg.properties import check_codec, check_keys
from lakeward_catalog.domain.iceberg.schema import check_schema
from lakeward_catalog.domain.iceberg.updates.schemas import AddSchema, find_same
from lakeward_catalog.domain.iceberg.updates.table import (
    AssignUuid,
    RemoveProperties,
    SetLocation,
    SetProperties,
    UpgradeFormatVersion,
    check_uuid,
)
from lakeward_catalog.domain.iceberg.updates.update import Update, Updates
from lakeward_catalog.domain.iceberg.validation import CLOCK_SKEW_MS
from lakeward_catalog.domain.iceberg.views.metadata import FORMAT_VERSION, ViewMetadata
from lakeward_catalog.domain.iceberg.views.version import ViewVersion, check_version
from lakeward_servicekit.errors import Reason, Refusal

LAST_ADDED: Final = -1


class AddViewVersion(Update, frozen=True):
    """Add a version; its own id is not used, and schema -1 is the one added last."""

    ACTION = "add-view-version"
    view_version: ViewVersion


class SetCurrentViewVersion(Update, frozen=True):
    """Make a version current; -1 is the one added last."""

    ACTION = "set-current-view-version"
    view_version_id: Int


class ViewDraft:
    """A working copy of a view's metadata; one commit owns it.

    Attributes:
        base: the view before the commit.
        view: the view so far.
        last_schema_id: the schema that -1 means; None until one is added. Likewise for the version.
        added: ids of versions that this commit added.
    """

    def __init__(self, base: ViewMetadata) -> None:
        """Start from `base`."""
        self.base: Final = base
        self.view = base
        self.last_schema_id: int | None = None
        self.last_version_id: int | None = None
        self.added: Final[set[int]] = set()

    def change(self, **members: object) -> None:
        """Replace members of the view so far."""
        self.view = msgspec.structs.replace(self.view, **members)


VIEW_UPDATES: Final = Updates[ViewDraft]()
applies: Final = VIEW_UPDATES.applies


@applies(AssignUuid)
def assign_uuid(draft: ViewDraft, update: AssignUuid) -> None:
    """Only the UUID that the view has."""
    check_uuid(draft.view.view_uuid, update.uuid)


@applies(UpgradeFormatVersion)
def upgrade_format_version(_: ViewDraft, update: UpgradeFormatVersion) -> None:
    """There is one version of the view format."""
    if update.format_version != FORMAT_VERSION:
        raise Refusal(
            Reason.REASON_INVALID_FORMAT_VERSION,
            f"view format version {update.format_version} is unknown; it must be 1",
            version=str(update.format_version),
        )


@applies(SetLocation)
def set_location(draft: ViewDraft, update: SetLocation) -> None:
    """Views may move; whether the place is allowed and free is the catalog's to ask. Trailing slashes are dropped."""
    location = update.location.rstrip("/")
    if not location:
        raise Invalid("location", "it is empty")
    if location != draft.view.location.rstrip("/"):
        draft.change(location=location)


@applies(SetProperties)
def set_properties(draft: ViewDraft, update: SetProperties) -> None:
    """Not those that would move files."""
    check_keys(update.updates)
    check_codec(update.updates)
    properties = {**draft.view.properties, **update.updates}
    if properties != draft.view.properties:
        draft.change(properties=properties)


@applies(RemoveProperties)
def remove_properties(draft: ViewDraft, update: RemoveProperties) -> None:
    """Unknown ones are ignored."""
    check_keys(update.removals)
    properties = {key: value for key, value in draft.view.properties.items() if key not in update.removals}
    if len(properties) != len(draft.view.properties):
        draft.change(properties=properties)


@applies(AddSchema)
def add_schema(draft: ViewDraft, update: AddSchema) -> None:
    """A schema that says the same as an earlier one is that one; else the next id."""
    known = find_same(draft.view.schemas, update.schema)
    if known is not None:
        draft.last_schema_id = known.schema_id
        return
    check_schema(update.schema, format_version=None)
    schema = update.schema.with_id(next_id([known.schema_id for known in draft.view.schemas], what="schema id"))
    draft.last_schema_id = schema.schema_id
    draft.change(schemas=(*draft.view.schemas, schema))


@applies(AddViewVersion)
def add_view_version(draft: ViewDraft, update: AddViewVersion) -> None:
    """A version that behaves as an earlier one is that one; else the next id."""
    version, view = update.view_version, draft.view
    if not version.head.representations:
        raise Refusal(Reason.REASON_EMPTY_VIEW, "the view version has no representation; it needs at least one")
    check_version(version)
    if version.head.schema_id == LAST_ADDED:
        if draft.last_schema_id is None:
            raise Invalid(
                "view-version.schema-id", "-1 means the schema that this commit added last, and it added none"
            )
        version = version.with_members(schema_id=draft.last_schema_id)
    if version.head.schema_id not in [schema.schema_id for schema in view.schemas]:
        raise Invalid("view-version.schema-id", f"schema {version.head.schema_id} does not exist")
    known = next((known for known in view.versions if known.behaves_as(version)), None)
    if known is not None:
        draft.last_version_id = known.version_id
        return
    newest = view.version_log[-1].head.timestamp_ms if view.version_log else 0
    if version.head.timestamp_ms < newest - CLOCK_SKEW_MS:
        raise Invalid(
            "view-version.timestamp-ms",
            f"{version.head.timestamp_ms} is more than a minute before the log, at {newest}",
        )
    version_id = next_id([known.version_id for known in view.versions], what="version id")
    draft.last_version_id = version_id
    draft.added.add(version_id)
    draft.change(versions=(*view.versions, version.with_members(version_id=version_id)))


@applies(SetCurrentViewVersion)
def set_current_view_version(draft: ViewDraft, update: SetCurrentViewVersion) -> None:
    """It must exist; the log is written when all updates are done."""
    wanted = update.view_version_id
    if wanted == LAST_ADDED:
        if draft.last_version_id is None:
            raise Invalid("view-version-id", "-1 means the version that this commit added last, and it added none")
        wanted = draft.last_version_id
    if wanted not in [version.version_id for version in draft.view.versions]:
        raise Invalid("view-version-id", f"version {wanted} does not exist")
    if wanted != draft.view.current_version_id:
        draft.change(current_version_id=wanted)
