"""What tasks of Spark read and write, over a store in memory."""

from __future__ import annotations

import gc
import secrets
from collections.abc import Iterator
from typing import Any

import obstore
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from obstore.store import MemoryStore
from pyarrow import fs

from lakeward_pipelines.generic import files, store, types
from lakeward_pipelines.generic.files import Selection, Split

ROWS = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]})


@pytest.fixture
def place() -> Any:
    return store.filesystem(MemoryStore())


def put(place: Any, path: str, kind: str, rows: pa.Table = ROWS) -> None:
    files.write(place, path, kind, rows.schema, iter(rows.to_batches()))


EVERYTHING = Selection()


def read(place: Any, kind: str, selection: Selection = EVERYTHING) -> list[dict[str, Any]]:
    found = files.found(place, kind)
    packed = [split.packed() for split in files.splits(found, selection)]
    return [
        row
        for each in packed
        for batch in files.batches(place, Split.unpacked(each), kind, found.schema, selection)
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_what_is_written_is_read_with_its_folders_as_columns(place: Any, kind: str) -> None:
    put(place, f"day=1/part.{kind}", kind)
    put(place, f"day=2/part.{kind}", kind)
    obstore.put(place.handler._store, "_SUCCESS", b"no rows")
    wanted = Selection(("day", "id"), (pc.field("day") == 2) & (pc.field("id") > 1))
    assert read(place, kind, wanted) == [{"day": 2, "id": 2}, {"day": 2, "id": 3}]
    assert len(files.splits(files.found(place, kind), wanted)) == 1
    assert len(read(place, kind)) == 6


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
@pytest.mark.parametrize("size", [10, 9 << 20], ids=["within_a_part", "beyond_a_part"])
def test_a_file_that_an_error_ends_is_not_there(place: Any, kind: str, size: int) -> None:
    rows = pa.record_batch({"value": [secrets.token_hex(size // 2)]})

    def fails() -> Iterator[pa.RecordBatch]:
        yield rows
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        files.write(place, f"part.{kind}", kind, rows.schema, fails())
    gc.collect()
    assert list(obstore.list(place.handler._store)) == []


def test_a_place_without_files_is_told_as_such(place: Any) -> None:
    with pytest.raises(FileNotFoundError, match="no csv file"):
        files.found(place, "csv")


def test_a_file_is_read_range_by_range_from_anywhere(place: Any) -> None:
    obstore.put(place.handler._store, "a/b", bytes(range(100)))
    with place.open_input_file("a/b") as file:
        assert (file.size(), file.read_at(3, 97), file.read_at(10, 99)) == (100, b"abc", b"c")
        file.seek(10)
        assert file.read(2) == bytes([10, 11])
    assert [each.path for each in place.get_file_info(fs.FileSelector("a"))] == ["a/b"]
    assert place.get_file_info("a/c").type == fs.FileType.NotFound


def test_each_type_becomes_one_that_spark_has_and_holds_all_values() -> None:
    schema = pa.schema(
        {
            "vector": pa.list_(pa.float16(), 3),
            "count": pa.uint64(),
            "kind": pa.dictionary(pa.int8(), pa.large_string()),
            "bytes": pa.large_binary(),
            "digest": pa.binary(16),
            "moment": pa.timestamp("ns"),
            "instant": pa.timestamp("ms", "Europe/Vienna"),
            "nested": pa.struct({"a": pa.list_(pa.uint8())}),
            "price": pa.decimal128(10, 2),
        }
    )
    assert types.portable(schema) == pa.schema(
        {
            "vector": pa.list_(pa.float32()),
            "count": pa.decimal128(20, 0),
            "kind": pa.string(),
            "bytes": pa.binary(),
            "digest": pa.binary(),
            "moment": pa.timestamp("us"),
            "instant": pa.timestamp("us", "UTC"),
            "nested": pa.struct({"a": pa.list_(pa.int16())}),
            "price": pa.decimal128(10, 2),
        }
    )


def test_a_type_that_spark_has_not_is_refused_with_the_columns_name() -> None:
    with pytest.raises(TypeError, match=r"nested\.at, which is time64"):
        types.portable(pa.schema({"nested": pa.struct({"at": pa.time64("us")})}))
