"""Files that are not what their table's format has: refused with what is wrong, whatever they hold."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_catalog.application.ports.measuring import Unreadable
from lakeward_catalog.domain.generic.measures import Measures
from lakeward_protocol.formats.v1 import lance_pb2
from tests.support.catalog.folders import HeldFiles, measured

_VERSION = b"\x15\x02"  # field 1, an i32
_COLUMNS = b"\x19\x1c\x48\x01a\x00"  # field 2, a list of one struct with a name
_ROWS = b"\x16\x54"  # field 3, an i64: 42


def footer(content: bytes, *, magic: bytes = b"PAR1", length: int | None = None) -> bytes:
    stated = len(content) if length is None else length
    return b"PAR1" + content + stated.to_bytes(4, "little") + magic


async def test_a_footer_s_third_field_is_the_number_of_rows() -> None:
    files = HeldFiles({"a.parquet": footer(_VERSION + _COLUMNS + _ROWS + b"\x00")})
    assert await measured(files, "parquet") == Measures(rows=42, files=1, bytes=len(files.files["a.parquet"]))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PAR1",
        footer(b""),
        footer(_VERSION + _COLUMNS),
        footer(_VERSION + _COLUMNS + b"\x00"),
        footer(_VERSION + _COLUMNS + _ROWS, magic=b"PARE"),
        footer(_VERSION + _COLUMNS + _ROWS, length=2**32 - 1),
        footer(_VERSION + _COLUMNS + b"\x16\x53"),
        footer(_VERSION + b"\x19" + b"\x19" * 200_000),
        footer(_VERSION + b"\x19\xfc\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
        footer(_VERSION + b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
        footer(_VERSION + b"\x16" + b"\xff" * 100),
        footer(b"\x0e"),
    ],
)
async def test_what_is_no_parquet_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(Unreadable, match=r"a\.parquet"):
        await measured(HeldFiles({"a.parquet": content}), "parquet")


@given(st.binary(max_size=300))
async def test_no_footer_does_anything_else_than_to_be_refused(content: bytes) -> None:
    try:
        found = await measured(HeldFiles({"a.parquet": footer(content)}), "parquet")
    except Unreadable:
        return
    assert found is not None
    assert found.rows is not None
    assert found.rows >= 0


def manifest(content: bytes, *, place: int = 0, length: int | None = None, magic: bytes = b"LANC") -> bytes:
    stated = len(content) if length is None else length
    return struct.pack("<I", stated) + content + struct.pack("<QHH4s", place, 0, 2, magic)


_FRAGMENT = lance_pb2.LanceFragment(
    files=[lance_pb2.LanceDataFile(path="a", file_size_bytes=10)],
    physical_rows=7,
    deletion_file=lance_pb2.LanceDeletionFile(num_deleted_rows=2),
)
_MANIFEST = lance_pb2.LanceManifest(version=3, fragments=[_FRAGMENT]).SerializeToString()


async def test_a_lance_manifest_counts_rows_that_are_not_deleted() -> None:
    files = HeldFiles({"_versions/3.manifest": manifest(_MANIFEST), "_versions/2.manifest": b"", "_versions/x": b""})
    assert await measured(files, "lance") == Measures(version=3, rows=5, files=1, bytes=10)


async def test_the_newest_of_lance_s_versions_is_read_whichever_way_they_are_counted() -> None:
    down = {f"_versions/{2**64 - 1 - each}.manifest": b"" for each in range(1, 50)}
    files = HeldFiles({**down, f"_versions/{2**64 - 1 - 50}.manifest": manifest(_MANIFEST)})
    assert (await measured(files, "lance")) == Measures(version=3, rows=5, files=1, bytes=10)
    up = {f"_versions/{each}.manifest": b"" for each in range(1, 50)}
    files = HeldFiles({**up, "_versions/50.manifest": manifest(_MANIFEST)})
    assert (await measured(files, "lance")) == Measures(version=3, rows=5, files=1, bytes=10)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        manifest(_MANIFEST, magic=b"PAR1"),
        manifest(_MANIFEST, place=10_000),
        manifest(_MANIFEST, place=2**64 - 1),
        manifest(_MANIFEST, length=2**32 - 1),
        manifest(b"\xff" * 50),
    ],
)
async def test_what_is_no_manifest_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(Unreadable, match=r"_versions/3\.manifest"):
        await measured(HeldFiles({"_versions/3.manifest": content}), "lance")


def log(*versions: list[dict[str, object]]) -> HeldFiles:
    return HeldFiles(
        {
            f"_delta_log/{number:020}.json": "\n".join(json.dumps(action) for action in actions).encode()
            for number, actions in enumerate(versions)
        }
    )


def add(path: str, rows: int | None = 1, **members: object) -> dict[str, object]:
    stats = None if rows is None else json.dumps({"numRecords": rows})
    return {"add": {"path": path, "size": 10, "stats": stats, "dataChange": True, **members}}


def remove(path: str, **members: object) -> dict[str, object]:
    return {"remove": {"path": path, **members}}


async def test_a_delta_file_is_gone_once_it_was_removed() -> None:
    files = log([{"protocol": {}}, add("a", 5), add("b", 6)], [remove("a"), add("c", 7)])
    assert await measured(files, "delta") == Measures(version=1, rows=13, files=2, bytes=20)


async def test_a_deletion_vector_takes_a_file_s_place_in_one_version() -> None:
    vector = {"storageType": "u", "pathOrInlineDv": "x", "offset": 1, "sizeInBytes": 4, "cardinality": 2}
    files = log([add("a", 5)], [add("a", 5, deletionVector=vector), remove("a")])
    assert await measured(files, "delta") == Measures(version=1, rows=3, files=1, bytes=10)


async def test_rows_are_not_known_where_a_file_does_not_say_how_many_it_has() -> None:
    assert await measured(log([add("a", 5), add("b", None)]), "delta") == Measures(version=0, files=2, bytes=20)


@pytest.mark.parametrize("content", [b"no json", b'{"add": {"path": 1}}', b"[]", b"\xff"])
async def test_a_delta_log_that_is_none_says_where(content: bytes) -> None:
    with pytest.raises(Unreadable, match=r"_delta_log/0+\.json"):
        await measured(HeldFiles({f"_delta_log/{0:020}.json": content}), "delta")


async def test_a_table_with_a_hole_in_its_log_is_not_summed_up() -> None:
    files = log([add("a")], [add("b")], [add("c")])
    del files.files[f"_delta_log/{1:020}.json"]
    with pytest.raises(Unreadable, match="no checkpoint stands for them"):
        await measured(files, "delta")


@pytest.mark.parametrize("table_format", ["delta", "lance", "parquet", "CSV"])
async def test_where_nothing_was_written_nothing_is_said(table_format: str) -> None:
    assert await measured(HeldFiles({}), table_format) is None
