from __future__ import annotations

import pytest

from lakeward_catalog.domain.iceberg import deletable, first_file, is_compressed, is_gzip_name, next_file

ID = "0198c0de-0000-7000-8000-000000000001"
LOCATION = "s3://bucket/t"


def test_the_first_file_counts_from_0() -> None:
    assert first_file(LOCATION, file_uuid=ID, compressed=False) == f"{LOCATION}/metadata/00000-{ID}.metadata.json"
    assert (
        first_file(LOCATION + "/", file_uuid=ID, compressed=True) == f"{LOCATION}/metadata/00000-{ID}.gz.metadata.json"
    )


@pytest.mark.parametrize(
    ("previous", "counter"),
    [
        (f"{LOCATION}/metadata/00000-{ID}.metadata.json", "00001"),
        (f"{LOCATION}/metadata/00041-{ID}.gz.metadata.json", "00042"),
        (f"s3://elsewhere/99999-{ID}.metadata.json", "100000"),
        (f"{LOCATION}/metadata/v3.metadata.json", "00000"),
        (f"{LOCATION}/metadata/00007-short.metadata.json", "00000"),
        (f"{LOCATION}/metadata/00007-{ID}.json", "00000"),
        (None, "00000"),
    ],
)
def test_the_next_file_counts_on_from_a_name_it_understands(previous: str | None, counter: str) -> None:
    path = next_file(LOCATION, previous, file_uuid=ID, compressed=False)
    assert path == f"{LOCATION}/metadata/{counter}-{ID}.metadata.json"


def test_files_are_compressed_unless_the_codec_is_none() -> None:
    assert is_compressed({})
    assert is_compressed({"write.metadata.compression-codec": "gzip"})
    assert not is_compressed({"write.metadata.compression-codec": "none"})


def test_a_gzipped_file_is_known_by_its_name() -> None:
    assert is_gzip_name("a/00000-x.gz.metadata.json")
    assert is_gzip_name("a/v1.metadata.json.gz")
    assert not is_gzip_name("a/00000-x.metadata.json")


@pytest.mark.parametrize(
    "path",
    [
        "s3://bucket/t2/metadata/a.json",
        "s3://bucket/t/metadata2/a.json",
        "s3://bucket/t/metadata/../data/a.parquet",
        "s3://bucket/t/metadata/sub/a.json",
        "s3://bucket/t/metadata/%2e%2e",
        "s3://bucket/t/metadata/..",
        "s3://bucket/t/metadata/a.json?versionId=1",
        "s3://bucket/t/metadata/",
        "s3a://bucket/t/metadata/a.json",
        "/t/metadata/a.json",
    ],
)
def test_a_logged_file_outside_the_tables_metadata_folder_is_never_deleted(path: str) -> None:
    assert deletable(LOCATION, [path]) == ()


def test_a_logged_file_in_the_tables_metadata_folder_may_be_deleted() -> None:
    own = f"{LOCATION}/metadata/00000-{ID}.metadata.json"
    assert deletable(LOCATION + "/", [own, "s3://foreign/x"]) == (own,)
