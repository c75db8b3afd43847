"""Updates of the table itself: UUID, format version, location, properties."""

from __future__ import annotations

from lakeward_catalog.domain.iceberg.documents import Int, Invalid
from lakeward_catalog.domain.iceberg.draft import Draft
from lakeward_catalog.domain.iceberg.properties import RESERVED, check_codec, check_immutable, check_keys, check_version
from lakeward_catalog.domain.iceberg.updates.update import Update, applies
from lakeward_servicekit.errors import Reason, Refusal


class AssignUuid(Update, frozen=True):
    """Give the table its UUID; clients that create a table repeat the one they were given."""

    ACTION = "assign-uuid"
    uuid: str


class UpgradeFormatVersion(Update, frozen=True):
    """Raise the format version."""

    ACTION = "upgrade-format-version"
    format_version: Int


class SetLocation(Update, frozen=True):
    """Move the table or view."""

    ACTION = "set-location"
    location: str


class SetProperties(Update, frozen=True):
    """Set properties."""

    ACTION = "set-properties"
    updates: dict[str, str]


class RemoveProperties(Update, frozen=True):
    """Remove properties."""

    ACTION = "remove-properties"
    removals: tuple[str, ...]


def check_uuid(current: str, assigned: str) -> None:
    """Refuse another UUID than the one there is.

    Raises:
        Refusal: ASSIGN_UUID_NOT_ALLOWED.
    """
    if assigned.lower() != current.lower():
        raise Refusal(
            Reason.REASON_ASSIGN_UUID_NOT_ALLOWED,
            f"the UUID is {current} and never changes; {assigned[:100]!r} can't be assigned",
            uuid=assigned[:100],
        )


def check_not_reserved(keys: tuple[str, ...]) -> None:
    """Refuse keys that Iceberg derives from the metadata.

    Raises:
        Invalid: one of them is such a key.
    """
    for key in keys:
        if key in RESERVED:
            raise Invalid("", f"property {key!r} is reserved: it is derived from the metadata")


@applies(AssignUuid)
def assign_uuid(draft: Draft, update: AssignUuid) -> None:
    """Only the UUID that the table has."""
    check_uuid(draft.table.table_uuid, update.uuid)


@applies(UpgradeFormatVersion)
def upgrade_format_version(draft: Draft, update: UpgradeFormatVersion) -> None:
    """Up, never down; the same version is no change."""
    current, wanted = draft.table.format_version, update.format_version
    if wanted == current:
        return
    if 0 < wanted < current:
        raise Invalid("format-version", f"the table has format version {current}, which can't become {wanted} again")
    check_version(wanted, allowed=draft.allowed_format_versions)
    draft.change(format_version=wanted)


@applies(SetLocation)
def set_location(draft: Draft, update: SetLocation) -> None:
    """Only the location that the table has: tables never move."""
    if update.location != draft.table.location:
        raise Refusal(
            Reason.REASON_SET_LOCATION_NOT_ALLOWED,
            f"the table is at {draft.table.location} and never moves; {update.location[:500]!r} can't be set",
            location=update.location[:500],
        )


@applies(SetProperties)
def set_properties(draft: Draft, update: SetProperties) -> None:
    """Not reserved ones, not those that would move files, and not another encryption key."""
    check_not_reserved(tuple(update.updates))
    check_keys(update.updates)
    check_codec(update.updates)
    properties = {**draft.table.properties, **update.updates}
    check_immutable(draft.table.properties, properties)
    if properties != draft.table.properties:
        draft.change(properties=properties)


@applies(RemoveProperties)
def remove_properties(draft: Draft, update: RemoveProperties) -> None:
    """Unknown ones are ignored; for the others the rules of setting hold."""
    check_not_reserved(update.removals)
    check_keys(update.removals)
    properties = {key: value for key, value in draft.table.properties.items() if key not in update.removals}
    check_immutable(draft.table.properties, properties)
    if len(properties) != len(draft.table.properties):
        draft.change(properties=properties)
