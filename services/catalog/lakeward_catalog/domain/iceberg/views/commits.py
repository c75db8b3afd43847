"""Creating a view's metadata, and applying a commit to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.invalid import invalid_metadata
from lakeward_catalog.domain.iceberg.properties import check_codec, check_keys
from lakeward_catalog.domain.iceberg.requests import CreateView
from lakeward_catalog.domain.iceberg.requirements import Requirement, check_view_requirements
from lakeward_catalog.domain.iceberg.schema import check_schema
from lakeward_catalog.domain.iceberg.updates import Update
from lakeward_catalog.domain.iceberg.views.metadata import ViewMetadata
from lakeward_catalog.domain.iceberg.views.updates import VIEW_UPDATES, ViewDraft
from lakeward_catalog.domain.iceberg.views.version import VersionLogEntry, ViewVersion, check_version
from lakeward_servicekit.errors import Reason, Refusal

HISTORY_ENTRIES: Final = "version.history.num-entries"
DEFAULT_HISTORY_ENTRIES: Final = 10
DROP_DIALECT_ALLOWED: Final = "replace.drop-dialect.allowed"


class ViewCommit(msgspec.Struct, frozen=True):
    """What a commit makes.

    Attributes:
        metadata: the view after it.
        changed: False where the updates changed nothing; then `metadata` is the base and no file need be written.
    """

    metadata: ViewMetadata
    changed: bool


def create_view(request: CreateView, *, view_uuid: str, location: str, now_ms: int) -> ViewMetadata:
    """The metadata of a new view: version 1, of now, with schema 0.

    Args:
        request: its version's id, time and schema id, and its `location`, are not read.
        view_uuid: the view's.
        location: where its metadata is; trailing slashes are dropped.
        now_ms: the time, in milliseconds since the epoch.

    Raises:
        Refusal: EMPTY_VIEW, INVALID_METADATA with the path in the request, PROPERTY_FORBIDDEN, UNSUPPORTED_COMPRESSION.
    """
    check_keys(request.properties)
    check_codec(request.properties)
    if not request.view_version.head.representations:
        raise Refusal(Reason.REASON_EMPTY_VIEW, "the view has no representation; it needs at least one")
    try:
        check_version(request.view_version)
    except Invalid as finding:
        raise invalid_metadata(finding.below("view-version")) from None
    try:
        check_schema(request.schema, format_version=None)
    except Invalid as finding:
        raise invalid_metadata(finding.below("schema")) from None
    version = request.view_version.with_members(version_id=1, timestamp_ms=now_ms, schema_id=0)
    return ViewMetadata(
        view_uuid=view_uuid,
        location=location.rstrip("/"),
        schemas=(request.schema.with_id(0),),
        current_version_id=1,
        versions=(version,),
        version_log=(VersionLogEntry.at(version_id=1, timestamp_ms=now_ms),),
        properties=dict(request.properties),
    )


def apply_to_view(
    base: ViewMetadata, requirements: Iterable[Requirement], updates: Iterable[Update], *, object_name: str, now_ms: int
) -> ViewCommit:
    """Check the requirements against the base, then apply the updates in order.

    A new location is only recorded; whether it is allowed and free is the caller's to ask.

    Raises:
        Refusal: COMMIT_CONFLICT, INVALID_UPDATE, EMPTY_VIEW, VIEW_DIALECT_DROPPED, ASSIGN_UUID_NOT_ALLOWED,
            INVALID_FORMAT_VERSION, PROPERTY_FORBIDDEN, UNSUPPORTED_COMPRESSION.
    """
    check_view_requirements(requirements, base, object_name=object_name)
    draft = ViewDraft(base)
    VIEW_UPDATES.apply(draft, updates, object_name=object_name)
    if draft.view is base:
        return ViewCommit(base, changed=False)
    _finish(draft, object_name=object_name, now_ms=now_ms)
    return ViewCommit(draft.view, changed=True)


def _finish(draft: ViewDraft, *, object_name: str, now_ms: int) -> None:
    view = draft.view
    if view.current_version_id != draft.base.current_version_id:
        _check_dialects(draft.base.current_version, view, object_name=object_name)
        version = view.current_version
        # A version made current again is current from now on, whenever it was written.
        time = version.head.timestamp_ms if version.version_id in draft.added else now_ms
        entry = VersionLogEntry.at(version_id=version.version_id, timestamp_ms=time)
        draft.change(version_log=(*view.version_log, entry))
    keep = _history_entries(view.properties)
    if len(view.versions) > keep:
        _expire(draft, keep)


def _check_dialects(before: ViewVersion, view: ViewMetadata, *, object_name: str) -> None:
    if view.properties.get(DROP_DIALECT_ALLOWED, "false").lower() == "true":
        return
    lost = sorted(before.dialects - view.current_version.dialects)
    if lost:
        raise Refusal(
            Reason.REASON_VIEW_DIALECT_DROPPED,
            f"the new version of {object_name} has no {', '.join(lost)} text, which the current one has; "
            f"add it, or set {DROP_DIALECT_ALLOWED} to true",
            dialect=lost[0],
        )


def _history_entries(properties: Mapping[str, str]) -> int:
    try:
        return max(1, int(properties.get(HISTORY_ENTRIES, DEFAULT_HISTORY_ENTRIES)))
    except ValueError:
        return DEFAULT_HISTORY_ENTRIES


def _expire(draft: ViewDraft, keep: int) -> None:
    view = draft.view
    kept_ids = {view.current_version_id, *draft.added}
    for version_id in sorted((version.version_id for version in view.versions), reverse=True):
        if len(kept_ids) >= keep:
            break
        kept_ids.add(version_id)
    log: list[VersionLogEntry] = []
    for entry in draft.view.version_log:
        if entry.head.version_id in kept_ids:
            log.append(entry)
        else:
            log.clear()  # history before a gap would claim that a version was current when it was not
    draft.change(
        versions=tuple(version for version in view.versions if version.version_id in kept_ids), version_log=tuple(log)
    )
