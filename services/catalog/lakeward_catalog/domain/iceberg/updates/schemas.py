"""Updates of the table's schemas."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward_catalog.domain.iceberg.documents import Int, Invalid
from lakeward_catalog.domain.iceberg.draft import Draft
from lakeward_catalog.domain.iceberg.numbers import next_id
from lakeward_catalog.domain.iceberg.schema import Schema, check_schema
from lakeward_catalog.domain.iceberg.updates.update import Update, applies


class AddSchema(Update, frozen=True):
    """Add a schema; its own id is not used, and `last-column-id` is found here."""

    ACTION = "add-schema"
    schema: Schema
    last_column_id: Int | None = None


class SetCurrentSchema(Update, frozen=True):
    """Make a schema current; -1 is the one added last."""

    ACTION = "set-current-schema"
    schema_id: Int


class RemoveSchemas(Update, frozen=True):
    """Remove schemas."""

    ACTION = "remove-schemas"
    schema_ids: tuple[Int, ...]


def find_same(schemas: Sequence[Schema], schema: Schema) -> Schema | None:
    """The schema that says the same, if there is one."""
    return next((known for known in schemas if known.same_structure(schema)), None)


@applies(AddSchema)
def add_schema(draft: Draft, update: AddSchema) -> None:
    """A schema that says the same as an earlier one is that one; else the next id that this commit did not see."""
    table = draft.table
    known = find_same(table.schemas, update.schema)
    if known is not None:
        draft.last_schema_id = known.schema_id
        return
    check_schema(update.schema, format_version=table.format_version)
    _check_partition_names(draft, update.schema)
    used = [schema.schema_id for schema in (*draft.base.schemas, *table.schemas)]
    schema = update.schema.with_id(next_id(used, what="schema id"))
    draft.last_schema_id = schema.schema_id
    draft.change(
        schemas=(*table.schemas, schema), last_column_id=max(table.last_column_id, update.schema.highest_field_id)
    )


def _check_partition_names(draft: Draft, schema: Schema) -> None:
    partitions = {field.name for spec in draft.table.partition_specs for field in spec.fields}
    clashing = partitions & schema.names.keys()
    if not clashing:
        return
    seen = {name for known in draft.table.schemas for name in known.names}
    for name in sorted(clashing - seen):
        raise Invalid("schema", f"the new column {name!r} has the name of a partition field")


@applies(SetCurrentSchema)
def set_current_schema(draft: Draft, update: SetCurrentSchema) -> None:
    """It must exist; whether spec and order still fit it is asked at the end."""
    wanted = draft.resolve(update.schema_id, draft.last_schema_id, what="schema")
    if wanted not in [schema.schema_id for schema in draft.table.schemas]:
        raise Invalid("schema-id", f"schema {wanted} does not exist")
    if wanted != draft.table.current_schema_id:
        draft.change(current_schema_id=wanted)


@applies(RemoveSchemas)
def remove_schemas(draft: Draft, update: RemoveSchemas) -> None:
    """Not the current one; unknown ids are ignored."""
    if draft.table.current_schema_id in update.schema_ids:
        raise Invalid("schema-ids", f"schema {draft.table.current_schema_id} is the current one")
    kept = tuple(schema for schema in draft.table.schemas if schema.schema_id not in update.schema_ids)
    if len(kept) != len(draft.table.schemas):
        draft.change(schemas=kept)
        if draft.last_schema_id in update.schema_ids:
            draft.last_schema_id = None
