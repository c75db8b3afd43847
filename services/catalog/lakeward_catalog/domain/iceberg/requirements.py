"""Requirements of a commit: what the writer believed about the table or view when it prepared its updates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, Self

import msgspec

from lakeward_catalog.domain.iceberg.documents import Int, Invalid, JsonObject, Long, convert
from lakeward_catalog.domain.iceberg.table import TableMetadata
from lakeward_catalog.domain.iceberg.views.metadata import ViewMetadata
from lakeward_catalog.domain.wording import requirement_failed
from lakeward_servicekit.errors import Reason, Refusal


class Requirement(msgspec.Struct, frozen=True, rename="kebab"):
    """A statement about the base that must hold."""

    TYPE: ClassVar[str]

    @classmethod
    def from_wire(cls, value: JsonObject) -> Self:
        """Read it from a request.

        Raises:
            Invalid: a member is missing or has the wrong type.
        """
        return convert(value, cls)


class TableRequirement(Requirement, frozen=True):
    """A statement about a table."""

    def contradiction(self, base: TableMetadata) -> str | None:
        """What stands against it in the base, beginning with Iceberg's words for it; None where it holds."""
        raise NotImplementedError


class AssertCreate(TableRequirement, frozen=True):
    """The table does not exist yet."""

    TYPE = "assert-create"

    def contradiction(self, base: TableMetadata) -> str | None:
        """Always contradicted: there is a base."""
        return f"table already exists: expected none, found one with UUID {base.table_uuid}"


class AssertTableUuid(TableRequirement, frozen=True):
    """The table is the one that the writer means."""

    TYPE = "assert-table-uuid"
    uuid: str

    def contradiction(self, base: TableMetadata) -> str | None:
        """Compares without case."""
        return _differs("UUID does not match", base.table_uuid.lower(), self.uuid.lower())


class AssertRefSnapshotId(TableRequirement, frozen=True):
    """A branch or tag points where the writer saw it point; null: it does not exist."""

    TYPE = "assert-ref-snapshot-id"
    ref: str
    snapshot_id: Long | None = None

    def contradiction(self, base: TableMetadata) -> str | None:
        """Compares with the reference, or its absence."""
        ref, shown = base.refs.get(self.ref), self.ref[:100]
        if ref is None:
            return _differs(f"branch or tag {shown} is missing", None, self.snapshot_id)
        what = "was created concurrently" if self.snapshot_id is None else "has changed"
        return _differs(f"{ref.head.type} {shown} {what}", ref.snapshot_id, self.snapshot_id)


class AssertLastAssignedFieldId(TableRequirement, frozen=True):
    """No column was added since."""

    TYPE = "assert-last-assigned-field-id"
    last_assigned_field_id: Int

    def contradiction(self, base: TableMetadata) -> str | None:
        """Compares with last-column-id."""
        return _differs("last assigned field id changed", base.last_column_id, self.last_assigned_field_id)


class AssertCurrentSchemaId(TableRequirement, frozen=True):
    """The current schema is the one that the writer saw."""

    TYPE = "assert-current-schema-id"
    current_schema_id: Int

    def contradiction(self, base: TableMetadata) -> str | None:
        """Compares with current-schema-id."""
        return _differs("current schema changed", base.current_schema_id, self.current_schema_id)


class AssertLastAssignedPartitionId(TableRequirement, frozen=True):
    """No partition field was added since."""

    TYPE = "assert-last-assigned-partition-id"
    last_assigned_partition_id: Int

    def contradiction(self, base: TableMetadata) -> str | None:
        """Compares with last-partition-id."""
        return _differs("last assigned partition id changed", base.last_partition_id, self.last_assigned_partition_id)


class AssertDefaultSpecId(TableRequirement, frozen=True):
    """The default partition spec is the one that the writer saw."""

    TYPE = "assert-default-spec-id"
    default_spec_id: Int

    def contradiction(self, base: TableMetadata) -> str | None:
        """Compares with default-spec-id."""
        return _differs("default partition spec changed", base.default_spec_id, self.default_spec_id)


class AssertDefaultSortOrderId(TableRequirement, frozen=True):
    """The default sort order is the one that the writer saw."""

    TYPE = "assert-default-sort-order-id"
    default_sort_order_id: Int

    def contradiction(self, base: TableMetadata) -> str | None:
        """Compares with default-sort-order-id."""
        return _differs("default sort order changed", base.default_sort_order_id, self.default_sort_order_id)


class AssertViewUuid(Requirement, frozen=True):
    """The view is the one that the writer means."""

    TYPE = "assert-view-uuid"
    uuid: str

    def contradiction(self, base: ViewMetadata) -> str | None:
        """Compares without case."""
        return _differs("view UUID does not match", base.view_uuid.lower(), self.uuid.lower())


TABLE_REQUIREMENTS: Final[Mapping[str, type[TableRequirement]]] = {
    kind.TYPE: kind
    for kind in (
        AssertCreate,
        AssertTableUuid,
        AssertRefSnapshotId,
        AssertLastAssignedFieldId,
        AssertCurrentSchemaId,
        AssertLastAssignedPartitionId,
        AssertDefaultSpecId,
        AssertDefaultSortOrderId,
    )
}
VIEW_REQUIREMENTS: Final[Mapping[str, type[AssertViewUuid]]] = {AssertViewUuid.TYPE: AssertViewUuid}


def read_requirement(value: JsonObject) -> Requirement:
    """Read one requirement of a table.

    Raises:
        Invalid: malformed.
        Refusal: UNKNOWN_REQUIREMENT.
    """
    return _kind(value, TABLE_REQUIREMENTS).from_wire(value)


def read_view_requirement(value: JsonObject) -> Requirement:
    """Read one requirement of a view.

    Raises:
        Invalid: malformed.
        Refusal: UNKNOWN_REQUIREMENT.
    """
    return _kind(value, VIEW_REQUIREMENTS).from_wire(value)


def check_table_requirements(
    requirements: Iterable[Requirement], base: TableMetadata, *, object_name: str, staged: bool
) -> None:
    """Hold every requirement against the base.

    A staged table does not exist yet: `assert-create` holds for it, and nothing else does.

    Raises:
        Refusal: COMMIT_CONFLICT for the first that does not hold; UNKNOWN_REQUIREMENT for a view's.
    """
    for requirement in requirements:
        if not isinstance(requirement, TableRequirement):
            raise _unknown(requirement.TYPE, TABLE_REQUIREMENTS)
        if staged:
            if not isinstance(requirement, AssertCreate):
                raise requirement_failed(object_name, requirement.TYPE, "table does not exist yet")
            continue
        found = requirement.contradiction(base)
        if found is not None:
            raise requirement_failed(object_name, requirement.TYPE, found)


def check_view_requirements(requirements: Iterable[Requirement], base: ViewMetadata, *, object_name: str) -> None:
    """Hold every requirement against the base.

    Raises:
        Refusal: COMMIT_CONFLICT for the first that does not hold; UNKNOWN_REQUIREMENT for a table's.
    """
    for requirement in requirements:
        if not isinstance(requirement, AssertViewUuid):
            raise _unknown(requirement.TYPE, VIEW_REQUIREMENTS)
        found = requirement.contradiction(base)
        if found is not None:
            raise requirement_failed(object_name, requirement.TYPE, found)


def conflict(object_name: str, requirement: str, found: str) -> Refusal:
    """The refusal of a commit that stopped to fit the table; a fresh read and a retry can win."""
    return Refusal(
        Reason.REASON_COMMIT_CONFLICT,
        f"the commit to {object_name} conflicts, {requirement}: {found}; load it and commit again",
        object=object_name,
        requirement=requirement,
    )


def _differs(what: str, found: object, expected: object) -> str | None:
    return None if found == expected else f"{what}: expected {_shown(expected)}, found {_shown(found)}"


def _shown(value: object) -> str:
    return "none" if value is None else str(value)[:100]


K = type[TableRequirement] | type[AssertViewUuid]


def _kind(value: JsonObject, known: Mapping[str, type[TableRequirement]] | Mapping[str, type[AssertViewUuid]]) -> K:
    name = value.get("type")
    if not isinstance(name, str):
        raise Invalid("type", "it is missing; it must be the requirement's type")
    kind = known.get(name)
    if kind is None:
        raise _unknown(name, known)
    return kind


def _unknown(name: str, known: Mapping[str, type[TableRequirement]] | Mapping[str, type[AssertViewUuid]]) -> Refusal:
    return Refusal(
        Reason.REASON_UNKNOWN_REQUIREMENT,
        f"requirement {name[:100]!r} is unknown; known are {', '.join(known)}",
        type=name[:100],
    )
