"""How much Delta tables hold whose log begins with a checkpoint, of each kind that there is."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeward_catalog.adapters.formats import delta_checkpoints
from lakeward_catalog.application.ports.measuring import Unreadable
from lakeward_catalog.domain.generic.measures import Measures
from tests.support.catalog.folders import HeldFiles, measured

pytestmark = pytest.mark.integration

LOG = "_delta_log"
VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
ADD = pa.struct(
    [
        pa.field("path", pa.string()),
        ("partitionValues", pa.map_(pa.string(), pa.string())),
        ("size", pa.int64()),
        ("stats", pa.string()),
        ("tags", pa.list_(pa.struct([("path", pa.string())]))),
        ("deletionVector", VECTOR),
    ]
)
PARSED = pa.struct(
    [("path", pa.string()), ("size", pa.int64()), ("stats_parsed", pa.struct([("numRecords", pa.int64())]))]
)
SIDECAR = pa.struct([("path", pa.string()), ("sizeInBytes", pa.int64())])


def rows(start: int, count: int) -> pa.Table:
    return pa.table({"id": range(start, start + count), "word": [f"a word {each}" for each in range(count)]})


def an_add(number: int, **more: Any) -> dict[str, Any]:
    """A file of 100 bytes and as many rows as its number."""
    stats = json.dumps({"numRecords": number, "minValues": {"id": number}})
    return {"path": f"part-{number}.parquet", "partitionValues": [("day", "1")], "size": 100, "stats": stats, **more}


def checkpoint(adds: list[Any], *, sidecars: list[str] = [], kind: Any = ADD, **options: Any) -> bytes:  # noqa: B006
    """Its other actions' rows are null in these columns."""
    table = pa.table(
        {
            "txn": pa.array([None, {"appId": "a"}] + [None] * (len(adds) + len(sidecars))),
            "add": pa.array([None, None, *adds, *([None] * len(sidecars))], kind),
            "sidecar": pa.array(
                [None] * (len(adds) + 2) + [{"path": each, "sizeInBytes": 1} for each in sidecars], SIDECAR
            ),
        }
    )
    written = io.BytesIO()
    pq.write_table(table, written, **options)
    return written.getvalue()


def commit(*actions: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(each) for each in actions).encode()


def named(version: int, rest: str) -> str:
    return f"{LOG}/{version:020}.{rest}"


async def test_what_deltalake_leaves_behind_a_checkpoint_is_counted_whole(tmp_path: Path) -> None:
    place = str(tmp_path / "t")
    for start in range(0, 60, 20):
        deltalake.write_deltalake(place, rows(start, 20), mode="append")
    deltalake.DeltaTable(place).create_checkpoint()
    deltalake.DeltaTable(place).delete("id < 25")
    deltalake.write_deltalake(place, rows(100, 7), mode="append")
    for version in range(3):
        (tmp_path / "t" / LOG / f"{version:020}.json").unlink()
    actions = pa.table(deltalake.DeltaTable(place).get_add_actions())
    found = await measured(HeldFiles.of(tmp_path / "t"), "delta")
    assert found == Measures(version=4, rows=42, files=actions.num_rows, bytes=sum(actions["size_bytes"].to_pylist()))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compression": "none"},
        {"compression": "gzip"},
        {"compression": "zstd"},
        {"compression": "brotli"},
        {"use_dictionary": False},
        {"data_page_version": "2.0"},
        {"data_page_version": "2.0", "use_dictionary": False, "compression": "zstd"},
        {"row_group_size": 3},
        {"data_page_size": 1, "write_batch_size": 2},
    ],
    ids=str,
)
async def test_a_checkpoint_is_read_however_it_was_written(options: dict[str, Any]) -> None:
    vector = {"storageType": "u", "pathOrInlineDv": "ab", "offset": 1, "sizeInBytes": 1, "cardinality": 4}
    adds = [an_add(number) for number in range(1, 40)]
    adds += [an_add(40, deletionVector=vector), an_add(40, deletionVector={**vector, "offset": 9})]
    gone = {"path": "part-40.parquet", "deletionVector": vector}
    files = HeldFiles(
        {
            named(7, "checkpoint.parquet"): checkpoint(adds, **options),
            named(7, "json"): b"no part of it any more",
            named(8, "json"): commit({"remove": gone}, {"remove": {"path": "part-1.parquet"}}, {"add": an_add(50)}),
        }
    )
    expected = Measures(version=8, rows=sum(range(2, 40)) + 36 + 50, files=40, bytes=4000)
    assert await measured(files, "delta") == expected


async def test_rows_come_from_parsed_statistics_where_there_are_no_others_and_are_unknown_where_one_has_none() -> None:
    adds = [{"path": f"{number}", "size": 10, "stats_parsed": {"numRecords": number}} for number in range(5)]
    files = HeldFiles({named(3, "checkpoint.parquet"): checkpoint(adds, kind=PARSED)})
    assert await measured(files, "delta") == Measures(version=3, rows=10, files=5, bytes=50)
    files = HeldFiles({named(3, "checkpoint.parquet"): checkpoint([*adds, {"path": "x", "size": 1}], kind=PARSED)})
    assert await measured(files, "delta") == Measures(version=3, rows=None, files=6, bytes=51)


async def test_parts_are_read_together_and_only_where_none_is_missing() -> None:
    adds = [an_add(number) for number in range(1, 7)]
    parts = {
        named(9, f"checkpoint.{part:010}.0000000003.parquet"): checkpoint(adds[2 * part - 2 : 2 * part])
        for part in (1, 2, 3)
    }
    older = {named(4, "checkpoint.parquet"): checkpoint([an_add(1)])}
    commits = {named(version, "json"): commit({"add": an_add(100 + version)}) for version in range(5, 10)}
    assert await measured(HeldFiles({**parts, **older, **commits}), "delta") == Measures(
        version=9, rows=21, files=6, bytes=600
    )
    del parts[named(9, "checkpoint.0000000002.0000000003.parquet")]
    assert await measured(HeldFiles({**parts, **older, **commits}), "delta") == Measures(
        version=9, rows=1 + sum(range(105, 110)), files=6, bytes=600
    )


@pytest.mark.parametrize("kind", ["json", "parquet", "classic"])
@pytest.mark.parametrize("path", ["{}", "s3://lake/t/_delta_log/_sidecars/{}", "..%2F_sidecars%2F{}"])
async def test_sidecars_have_the_files_of_a_checkpoint_of_the_second_kind(kind: str, path: str) -> None:
    names = [f"3a0d65cd-4056-49b8-937b-95f9e3ee90{number}.parquet" for number in (10, 11)]
    sidecars = {f"{LOG}/_sidecars/{name}": checkpoint([an_add(3 + at)]) for at, name in enumerate(names)}
    paths = [path.format(name) for name in names]
    manifest = checkpoint([], sidecars=paths)
    if kind == "json":
        listed = [{"sidecar": {"path": each, "sizeInBytes": 1}} for each in paths]
        manifest = commit({"checkpointMetadata": {"version": 5}}, *listed, {"add": an_add(9)})
    name = "checkpoint.parquet" if kind == "classic" else f"checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.{kind}"
    files = HeldFiles({named(5, name): manifest, **sidecars})
    own = 1 if kind == "json" else 0
    expected = Measures(version=5, rows=7 + 9 * own, files=2 + own, bytes=100 * (2 + own))
    assert await measured(files, "delta") == expected
    del files.files[f"{LOG}/_sidecars/{names[0]}"]
    with pytest.raises(Unreadable, match="a sidecar of its checkpoint is not there"):
        await measured(files, "delta")


async def test_a_log_with_a_gap_says_so_unless_its_last_version_has_a_sum() -> None:
    files = HeldFiles({named(version, "json"): commit({"add": an_add(1)}) for version in (3, 4)})
    with pytest.raises(Unreadable, match="no checkpoint stands for them"):
        await measured(files, "delta")
    files.files[named(4, "crc")] = b'{"tableSizeBytes": 300, "numFiles": 3, "numMetadata": 1}'
    assert await measured(files, "delta") == Measures(version=4, files=3, bytes=300)


@pytest.mark.parametrize("limit", ["_PACKED", "_UNPACKED", "_ROWS"])
async def test_no_more_is_read_than_there_is_room_for(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    adds = [an_add(number, stats=json.dumps({"numRecords": 1, "why": "x" * 10_000})) for number in range(200)]
    files = HeldFiles({named(1, "checkpoint.parquet"): checkpoint(adds)})
    assert await measured(files, "delta") == Measures(version=1, rows=200, files=200, bytes=20_000)
    monkeypatch.setattr(delta_checkpoints, limit, 150)
    with pytest.raises(Unreadable, match="than are read here"):
        await measured(files, "delta")


async def test_only_the_columns_that_are_needed_are_read() -> None:
    adds = [
        an_add(number, partitionValues=[(f"{number}", random.Random(number).randbytes(5000).hex())])
        for number in range(200)
    ]
    files = HeldFiles({named(1, "checkpoint.parquet"): checkpoint(adds)})
    await measured(files, "delta")
    assert files.read < 100_000
    assert len(files.files[named(1, "checkpoint.parquet")]) > 1_000_000


@pytest.mark.parametrize("options", [{}, {"data_page_version": "2.0", "use_dictionary": False}], ids=str)
async def test_broken_checkpoints_are_refused_and_nothing_else_is_raised(options: dict[str, Any]) -> None:
    chance = random.Random(11)
    whole = checkpoint([an_add(number) for number in range(1, 30)], **options)
    refused = 0
    for _ in range(250):
        broken = bytearray(whole)
        for _ in range(chance.choice((1, 3, 20))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        try:
            await measured(HeldFiles({named(1, "checkpoint.parquet"): bytes(broken)}), "delta")
        except Unreadable:
            refused += 1
    assert refused > 25
