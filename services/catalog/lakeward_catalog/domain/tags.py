"""Tags: what a project calls things. A definition says what may be called so, and which values go with it.

A definition only ever widens: a scope or an allowed value that it has once it has for good, so what was checked against an older
state of it holds for every later one.
"""

from __future__ import annotations

import dataclasses
import enum
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, NewType
from uuid import UUID

import msgspec

from lakeward_catalog.domain.model import Incarnation, Kind, NamespaceId, ProjectId, TabularId, WarehouseId
from lakeward_catalog.domain.names import name_key
from lakeward_servicekit.errors import Reason, Refusal

TagId = NewType("TagId", UUID)

MAX_NAME: Final = 256
MAX_VALUE: Final = 256
MAX_VALUES: Final = 1000
MAX_DESCRIPTION: Final = 10_000
_RESERVED: Final = frozenset({"system", "lakekeeper"})


class NoSuchTagTarget(Refusal):
    """What a tag is to be on is absent, hidden or elsewhere."""


class TagScope(enum.StrEnum):
    """What a tag may be set on, by the public API's words."""

    WAREHOUSE = "warehouse"
    NAMESPACE = "namespace"
    TABLE = "table"
    VIEW = "view"
    GENERIC_TABLE = "generic-table"
    COLUMN = "column"


TABULAR_SCOPES: Final[Mapping[TagScope, Kind]] = MappingProxyType(
    {TagScope.TABLE: Kind.TABLE, TagScope.VIEW: Kind.VIEW, TagScope.GENERIC_TABLE: Kind.GENERIC_TABLE}
)
"""Tabulars that tags are set on as a whole, by scope."""


class ValueKind(enum.StrEnum):
    """Which values a tag has where it is set, by the public API's words.

    MARKER: none. FREE_TEXT: any text. ENUMERATED: one of its definition's.
    """

    MARKER = "marker"
    FREE_TEXT = "free-text"
    ENUMERATED = "enumerated"


@dataclasses.dataclass(frozen=True, slots=True)
class TagDefinition:
    """A tag of a project.

    Attributes:
        scopes: in the order of `TagScope`; at least one.
        allowed_values: of an enumerated one, in the order in which they came.
        updated_at: None where nothing was changed.
    """

    project_id: ProjectId
    tag_id: TagId
    name: str
    description: str | None
    scopes: tuple[TagScope, ...]
    value_kind: ValueKind
    allowed_values: tuple[str, ...]
    created_at: datetime
    updated_at: datetime | None = None


class TagPlace(msgspec.Struct, frozen=True):
    """What a tag is set on, as it is stored.

    Attributes:
        namespace_id: of a namespace.
        incarnation: of a tabular, and of a column's table.
        field_id: of a column, which keeps it through renames.
    """

    scope: TagScope
    warehouse_id: WarehouseId
    namespace_id: NamespaceId | None = None
    incarnation: Incarnation | None = None
    field_id: int | None = None


class TaggedObject(msgspec.Struct, frozen=True):
    """What a tag is set on, as people call it.

    Attributes:
        id: a namespace's, or the public one of a tabular, and of a column's table; None for the warehouse itself.
    """

    scope: TagScope
    warehouse_id: WarehouseId
    id: NamespaceId | TabularId | None = None
    field_id: int | None = None


class AppliedTag(msgspec.Struct, frozen=True):
    """A tag on an object.

    Attributes:
        inherited_from: the warehouse or namespace that it is set on; None: the object itself.
    """

    tag_id: TagId
    name: str
    value: str | None
    created_at: datetime
    updated_at: datetime | None = None
    inherited_from: TaggedObject | None = None


class TagAttachment(msgspec.Struct, frozen=True):
    """A tag on one of the objects that it is set on; (created_at, attachment_id) is its place in the order."""

    attachment_id: UUID
    target: TaggedObject
    value: str | None
    created_at: datetime
    updated_at: datetime | None = None


def check_tag_name(name: str) -> None:
    """Whether a tag may be called this.

    Raises:
        Refusal: INVALID_TAG_NAME, RESERVED_TAG_NAME.
    """
    shown = name[:MAX_NAME]
    if (fault := _fault_of_name(name)) is not None:
        raise Refusal(Reason.REASON_INVALID_TAG_NAME, f"{shown!r} can't be a tag's name: {fault}", name=shown)
    if name_key(name).partition(".")[0] in _RESERVED:
        raise Refusal(
            Reason.REASON_RESERVED_TAG_NAME,
            f"tag name {shown!r} begins as those that are kept for the server; choose another first part",
            name=shown,
        )


def _fault_of_name(name: str) -> str | None:
    if not 1 <= len(name) <= MAX_NAME:
        return f"it has {len(name)} characters; 1 to {MAX_NAME} are right"
    if name != name.strip():
        return "it begins or ends with a space"
    if name.startswith(".") or name.endswith(".") or ".." in name:
        return "a part of it, between dots, is empty"
    return _fault_in(name)


def _fault_in(text: str, *, but: str = "") -> str | None:
    for character in text:
        if character not in but and unicodedata.category(character) in {"Cc", "Cn", "Cs"}:
            return f"it holds U+{ord(character):04X}, a control or unassigned character"
    return None


def check_value_form(value: str) -> None:
    """Whether this can be a tag's value at all.

    Raises:
        Refusal: INVALID_TAG_VALUE.
    """
    fault = (
        f"it has {len(value)} characters; at most {MAX_VALUE} are right" if len(value) > MAX_VALUE else _fault_in(value)
    )
    if fault is not None:
        raise _invalid_value(value, f"{value[:MAX_VALUE]!r} can't be a tag's value: {fault}")


def check_definition(definition: TagDefinition) -> None:
    """Whether a tag may be defined so.

    Raises:
        Refusal: INVALID_TAG_NAME, RESERVED_TAG_NAME, INVALID_TAG_VALUE, INVALID_TAG_DEFINITION.
    """
    check_tag_name(definition.name)
    description = definition.description or ""
    if len(description) > MAX_DESCRIPTION:
        raise _invalid("description", f"it has {len(description)} characters; at most {MAX_DESCRIPTION} are right")
    if (fault := _fault_in(description, but="\n\r\t")) is not None:
        raise _invalid("description", fault)
    if not definition.scopes:
        raise _invalid("scope", f"it is empty; name at least one of {', '.join(TagScope)}")
    for value in definition.allowed_values:
        check_value_form(value)
    if (fault := _fault_of_values(definition)) is not None:
        raise _invalid("allowed-values", fault)


def _fault_of_values(definition: TagDefinition) -> str | None:
    kind, values = definition.value_kind, definition.allowed_values
    if kind is not ValueKind.ENUMERATED:
        return f"a {kind} tag has none; leave them out" if values else None
    if not values or "" in values:
        return "an enumerated tag needs at least one, and none that is empty"
    if len(values) > MAX_VALUES:
        return f"there are {len(values)}; at most {MAX_VALUES} are right"
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        return f"{twice!r} is there twice; name each once"
    return None


def in_order(scopes: Sequence[TagScope]) -> tuple[TagScope, ...]:
    """Each once, in one order."""
    return tuple(scope for scope in TagScope if scope in scopes)


def widened(
    definition: TagDefinition, *, name: str, description: str | None, scopes: Sequence[TagScope], added: Sequence[str]
) -> TagDefinition:
    """A definition with another name, description and scopes, and with values added; what it can't be, it was not before.

    Raises:
        Refusal: as `check_definition`, and TAG_SCOPE_NARROWED.
    """
    missing = [scope for scope in definition.scopes if scope not in scopes]
    if missing and scopes:
        shown = ", ".join(missing)
        raise Refusal(
            Reason.REASON_TAG_SCOPE_NARROWED,
            f"tag {definition.name!r} may be set on: {shown}; name these too, for scopes can only be added",
            tag=definition.name,
            kinds=shown,
        )
    fresh = tuple(value for value in added if value not in definition.allowed_values)
    wider = dataclasses.replace(
        definition,
        name=name,
        description=description,
        scopes=in_order(scopes),
        allowed_values=definition.allowed_values + fresh,
    )
    check_definition(wider)
    return wider


def check_applicable(definition: TagDefinition, scope: TagScope, value: str | None) -> None:
    """Whether a tag may be set on a kind of object, with this value.

    Raises:
        Refusal: TAG_SCOPE_NOT_ALLOWED, INVALID_TAG_VALUE.
    """
    if scope not in definition.scopes:
        raise Refusal(
            Reason.REASON_TAG_SCOPE_NOT_ALLOWED,
            f"tag {definition.name!r} is for: {', '.join(definition.scopes)}; add {scope} to its scopes first",
            tag=definition.name,
            kind=scope.value,
        )
    if definition.value_kind is ValueKind.MARKER:
        if value is not None:
            raise _invalid_value(value, f"tag {definition.name!r} is a marker, which has no value; leave it out")
        return
    if value is None:
        raise _invalid_value("", f"tag {definition.name!r} needs a value; give one")
    check_value_form(value)
    if definition.value_kind is ValueKind.ENUMERATED and value not in definition.allowed_values:
        shown = ", ".join(map(repr, definition.allowed_values[:10]))
        raise _invalid_value(value, f"{value!r} is no value of tag {definition.name!r}; those are {shown}")


def _invalid(member: str, fault: str) -> Refusal:
    return Refusal(Reason.REASON_INVALID_TAG_DEFINITION, f"{member} can't be so: {fault}", member=member)


def _invalid_value(value: str, message: str) -> Refusal:
    return Refusal(Reason.REASON_INVALID_TAG_VALUE, message, value=value[:MAX_VALUE])


def no_such_tag(tag_id: object) -> Refusal:
    """The refusal of a tag that is absent, hidden or of another project, by the id of its definition."""
    shown = str(tag_id)
    return Refusal(Reason.REASON_NO_SUCH_TAG, f"there is no tag {shown!r} that you can see", tag=shown)


def no_such_tag_name(name: str) -> Refusal:
    """The refusal of a tag that is absent or hidden, by its name."""
    shown = name[:MAX_NAME]
    return Refusal(Reason.REASON_NO_SUCH_TAG_NAME, f"there is no tag {shown!r} that you can see", tag=shown)


def tag_exists(name: str) -> Refusal:
    """The refusal of a tag's name that is taken."""
    message = f"the project has a tag {name!r} already; names compare without case, choose another"
    return Refusal(Reason.REASON_TAG_EXISTS, message, tag=name)


def tag_in_use(tag_id: TagId) -> Refusal:
    """The refusal to delete a tag that is set on something."""
    shown = str(tag_id)
    return Refusal(
        Reason.REASON_TAG_IN_USE,
        f"tag {shown!r} is set on something, which may be a dropped table; list its attachments, and remove it there first",
        tag=shown,
    )


def no_such_target(kind: TagScope, named: object) -> NoSuchTagTarget:
    """The refusal of what a tag is to be on, absent, hidden or elsewhere, by what the caller wrote."""
    kind_shown, shown = "table" if kind is TagScope.COLUMN else kind.value, str(named)
    return NoSuchTagTarget(
        Reason.REASON_NO_SUCH_TAG_TARGET,
        f"there is no {kind_shown} {shown!r} here that you can see",
        kind=kind_shown,
        target=shown,
    )


def no_such_column(column: str, table: object) -> Refusal:
    """The refusal of a column that a table's current schema has not."""
    shown = column[:1000]
    return Refusal(
        Reason.REASON_NO_SUCH_COLUMN,
        f"table {str(table)!r} has no column {shown!r} in its current schema; parts of nested columns are joined by dots",
        column=shown,
        table=str(table),
    )
