"""How much tables hold that the formats' own libraries wrote, without these libraries."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import deltalake
import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeward_catalog.domain.generic.measures import Measures
from tests.support.catalog.folders import HeldFiles, measured

pytestmark = pytest.mark.integration


def rows(count: int) -> pa.Table:
    return pa.table({"id": range(count), "caption": [f"caption {each}" for each in range(count)]})


def parquet(count: int, **options: Any) -> bytes:
    written = io.BytesIO()
    pq.write_table(rows(count), written, **options)
    return written.getvalue()


@pytest.mark.parametrize("naming", [True, False], ids=["counted-down", "counted-up"])
async def test_a_lance_table_is_what_its_newest_version_has(tmp_path: Path, *, naming: bool) -> None:
    place = str(tmp_path / "t")
    lance.write_dataset(rows(100), place, enable_v2_manifest_paths=naming)
    for _ in range(10):
        lance.write_dataset(rows(5), place, mode="append")
    lance.dataset(place).delete("id < 3")
    found = await measured(HeldFiles.of(tmp_path / "t"), "lance")
    dataset = lance.dataset(place)
    sizes = [path.stat().st_size for path in (tmp_path / "t" / "data").iterdir()]
    assert dataset.version == 12
    assert found == Measures(version=12, rows=dataset.count_rows(), files=11, bytes=sum(sizes))


async def test_a_delta_table_is_what_its_log_leaves(tmp_path: Path) -> None:
    place = str(tmp_path / "t")
    for _ in range(4):
        deltalake.write_deltalake(place, rows(20), mode="append")
    table = deltalake.DeltaTable(place)
    table.delete("id < 5")
    table.optimize.compact()
    table = deltalake.DeltaTable(place)
    actions = pa.table(table.get_add_actions())
    found = await measured(HeldFiles.of(tmp_path / "t"), "delta")
    assert found == Measures(
        version=table.version(), rows=60, files=actions.num_rows, bytes=sum(actions["size_bytes"].to_pylist())
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"compression": "zstd"}, {"version": "1.0"}, {"row_group_size": 7}, {"write_statistics": False}],
    ids=str,
)
async def test_parquet_s_rows_are_read_from_its_footers(options: dict[str, Any]) -> None:
    files = HeldFiles({"day=1/a.parquet": parquet(40, **options), "day=2/b.parquet": parquet(2), "_metadata": b"x"})
    size = sum(len(content) for path, content in files.files.items() if path != "_metadata")
    assert await measured(files, "parquet") == Measures(rows=42, files=2, bytes=size)


async def test_of_a_large_file_only_the_end_is_read() -> None:
    columns = {f"column {each} of many": pa.array(range(200)) for each in range(2000)}
    written = io.BytesIO()
    pq.write_table(pa.table(columns), written, row_group_size=50)
    files = HeldFiles({"a.parquet": written.getvalue()})
    found = await measured(files, "dataset")
    assert found is not None
    assert found.rows == 200
    assert files.read < 1_200_000 < len(files.files["a.parquet"])


async def test_rows_are_not_known_where_not_all_is_parquet() -> None:
    files = HeldFiles({"a.parquet": parquet(3), "b.jpg": b"picture"})
    found = await measured(files, "dataset")
    assert found is not None
    assert (found.rows, found.files) == (None, 2)
