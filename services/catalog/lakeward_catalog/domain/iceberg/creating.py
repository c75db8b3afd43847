"""Building the first metadata of a table from a create request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.fresh import with_fresh_ids
from lakeward_catalog.domain.iceberg.invalid import invalid_metadata
from lakeward_catalog.domain.iceberg.partitioning import FIRST_FIELD_ID, PartitionSpec, check_spec
from lakeward_catalog.domain.iceberg.properties import FORMAT_VERSION, RESERVED, check_codec, check_keys
from lakeward_catalog.domain.iceberg.requests import CreateTable
from lakeward_catalog.domain.iceberg.schema import check_schema
from lakeward_catalog.domain.iceberg.sorting import UNSORTED_ID, SortOrder, check_order
from lakeward_catalog.domain.iceberg.table import TableMetadata

T = TypeVar("T")


def create_table(
    request: CreateTable, *, table_uuid: str, location: str, format_version: int, now_ms: int
) -> TableMetadata:
    """The metadata of a new table, with ids of its own: columns from 1, partition fields from 1000.

    Args:
        request: its ids only say what refers to what; its `location` is not read.
        table_uuid: the table's.
        location: where the table is; trailing slashes are dropped.
        format_version: see `choose_format_version`.
        now_ms: the time, in milliseconds since the epoch.

    Raises:
        Refusal: INVALID_METADATA with the path in the request; PROPERTY_FORBIDDEN, UNSUPPORTED_COMPRESSION.
    """
    properties = {key: value for key, value in request.properties.items() if key != FORMAT_VERSION}
    check_keys(properties)
    check_codec(properties)
    for key in RESERVED & properties.keys():
        raise invalid_metadata(Invalid(f"properties.{key}", "it is reserved: it is derived from the metadata"))
    try:
        schema, ids = with_fresh_ids(request.schema)
        _at("schema", lambda: check_schema(schema, format_version=format_version))
        spec = request.partition_spec or PartitionSpec.unpartitioned()
        new_ids = [FIRST_FIELD_ID + index for index in range(len(spec.fields))]
        spec = spec.rewritten(
            spec_id=0, field_ids=new_ids, source=lambda old: ids.resolve(old, path="partition-spec.fields.source-id")
        )
        _at("partition-spec", lambda: check_spec(spec, schema, format_version=format_version))
        order = request.write_order or SortOrder.unsorted()
        order = order.rewritten(
            order_id=1 if order.fields else UNSORTED_ID,
            source=lambda old: ids.resolve(old, path="write-order.fields.source-id"),
        )
        _at("write-order", lambda: check_order(order, schema))
    except Invalid as finding:
        raise invalid_metadata(finding) from None
    return TableMetadata(
        format_version=format_version,
        table_uuid=table_uuid,
        location=location.rstrip("/"),
        last_updated_ms=now_ms,
        last_column_id=ids.last,
        schemas=(schema,),
        current_schema_id=0,
        partition_specs=(spec,),
        default_spec_id=0,
        last_partition_id=spec.last_field_id,
        sort_orders=(order,),
        default_sort_order_id=order.order_id,
        properties=properties,
    )


def _at(path: str, check: Callable[[], T]) -> T:
    try:
        return check()
    except Invalid as finding:
        raise finding.below(path) from None
