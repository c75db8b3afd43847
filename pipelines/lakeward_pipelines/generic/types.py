"""Arrow's types as Spark takes them: what Spark has no type for becomes the nearest one that holds every value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import types

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    pa.null(): pa.string(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
}


def portable(schema: pa.Schema) -> pa.Schema:
    """The schema in types that Spark has.

    Raises:
        TypeError: a column has one for which Spark has nothing, as a time of day.
    """
    return pa.schema([_field(field, field.name) for field in schema])


def spark_schema(schema: pa.Schema) -> StructType:
    """A portable schema in Spark's words; a timestamp without a zone stays without one."""
    from pyspark.sql.pandas.types import from_arrow_type  # noqa: PLC0415 - heavy
    from pyspark.sql.types import StructField, StructType  # noqa: PLC0415 - heavy

    return StructType(
        [
            StructField(field.name, from_arrow_type(field.type, prefer_timestamp_ntz=True), nullable=True)
            for field in schema
        ]
    )


def arrow_schema(schema: StructType) -> pa.Schema:
    """A schema of Spark's in Arrow's words."""
    from pyspark.sql.pandas.types import to_arrow_type  # noqa: PLC0415 - heavy

    return pa.schema([pa.field(field.name, to_arrow_type(field.dataType), nullable=True) for field in schema.fields])


def _field(field: pa.Field, path: str) -> pa.Field:
    # Every column may be null: files come and go, and one that is older may lack what a newer one has.
    return pa.field(field.name, _type(field.type, path))


def _type(of: pa.DataType, path: str) -> pa.DataType:  # noqa: C901, PLR0911 - one line a kind of type
    if of in _WIDER:
        return _WIDER[of]
    if types.is_dictionary(of):
        return _type(of.value_type, path)
    if isinstance(of, pa.BaseExtensionType):
        return _type(of.storage_type, path)
    if types.is_timestamp(of):
        return pa.timestamp("us", tz=None if of.tz is None else "UTC")
    if types.is_duration(of):
        return pa.duration("us")
    if types.is_fixed_size_binary(of) and not types.is_decimal(of):
        return pa.binary()
    if types.is_list(of) or types.is_large_list(of) or types.is_fixed_size_list(of):
        return pa.list_(_field(of.value_field, f"{path}[]"))
    if types.is_map(of):
        return pa.map_(_type(of.key_type, f"{path} (its keys)"), _type(of.item_type, f"{path} (its values)"))
    if types.is_struct(of):
        return pa.struct([_field(each, f"{path}.{each.name}") for each in of])
    if types.is_decimal(of):
        return pa.decimal128(of.precision, of.scale)
    if types.is_time(of) or types.is_interval(of) or types.is_union(of):
        raise TypeError(f"Spark has no type for {path}, which is {of}; leave it out with `columns`")
    return of
