"""Changing what is recorded of a generic table: what an update says, and what it makes of the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from lakeward_catalog.domain.generic.metadata import GenericMetadata, checked_document, read_as
from lakeward_catalog.domain.iceberg.documents import malformed
from lakeward_catalog.domain.iceberg.requests import CommitRequest
from lakeward_catalog.domain.iceberg.requirements import Requirement
from lakeward_catalog.domain.iceberg.updates.update import Update
from lakeward_catalog.domain.wording import requirement_failed

ANY: Final = "*"


class AssertState(Requirement, frozen=True):
    """What is recorded is still what one of these tags names."""

    TYPE = "if-match"
    tags: tuple[str, ...]


class Record(Update, frozen=True, kw_only=True):
    """Record something else. What is None stays; of `doc`, `schema` and `statistics`, "" takes away what was there."""

    ACTION = "record"
    set_properties: Mapping[str, str] = {}
    remove_properties: Sequence[str] = ()
    doc: str | None = None
    schema: bytes | None = None
    statistics: bytes | None = None


class _Update(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    set_properties: dict[str, str] | None = None
    remove_properties: list[str] | None = None
    doc: str | msgspec.UnsetType | None = msgspec.UNSET
    schema: msgspec.Raw = msgspec.Raw()
    statistics: msgspec.Raw = msgspec.Raw()


def parse_update(body: bytes) -> CommitRequest:
    """Read an update.

    Raises:
        Refusal: MALFORMED_DOCUMENT, with the path, for what the table has not or never changes as well; TOO_LARGE.
    """
    asked = read_as(body, _Update)
    setting, removing = asked.set_properties or {}, asked.remove_properties or []
    both = sorted(setting.keys() & set(removing))
    if both:
        raise malformed("remove-properties", f"{both[0][:200]!r} is to be set as well; say one of the two")
    return CommitRequest(
        None,
        (),
        (
            Record(
                set_properties=setting,
                remove_properties=tuple(removing),
                doc=None if asked.doc is msgspec.UNSET else asked.doc or "",
                schema=_given("schema", asked.schema),
                statistics=_given("statistics", asked.statistics),
            ),
        ),
    )


def _given(what: str, given: msgspec.Raw) -> bytes | None:
    return checked_document(what, given) if bytes(given) else None


def apply_to_generic(base: GenericMetadata, request: CommitRequest, *, tag: str, object_name: str) -> GenericMetadata:
    """The document after an update.

    Args:
        base: as it is recorded.
        request: as `parse_update` reads it, with `AssertState` where the caller required a state.
        tag: names the state of `base`.
        object_name: what is updated, for the refusal.

    Raises:
        Refusal: COMMIT_CONFLICT.
    """
    for requirement in request.requirements:
        assert isinstance(requirement, AssertState), "nothing else is required of a generic table"
        if ANY not in requirement.tags and tag not in {each.removeprefix("W/") for each in requirement.tags}:
            shown = ", ".join(requirement.tags)[:300]
            raise requirement_failed(object_name, requirement.TYPE, f"its tag is {tag} by now, and not {shown}")
    made = base
    for update in request.updates:
        assert isinstance(update, Record), "a generic table has no other update"
        made = _recorded(made, update)
    return made


def _recorded(base: GenericMetadata, update: Record) -> GenericMetadata:
    removed = set(update.remove_properties)
    kept = {key: value for key, value in base.properties.items() if key not in removed}
    return msgspec.structs.replace(
        base,
        properties={**kept, **update.set_properties},
        doc=base.doc if update.doc is None else update.doc or None,
        schema=base.schema if update.schema is None else update.schema,
        statistics=base.statistics if update.statistics is None else update.statistics,
    )
