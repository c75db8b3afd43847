from __future__ import annotations

import gzip
import zlib
from typing import Any

import pytest

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.domain.inflating import MAX_MEMBERS, inflate, is_gzip_name

TEXT = b"0123456789" * 1000


def refused(content: bytes, *, limit: int = 1_000_000) -> None:
    with pytest.raises(Refusal) as caught:
        inflate(content, limit=limit, location="s3://lake/t/x.gz")
    assert caught.value.reason == Reason.REASON_FILE_UNREADABLE
    assert caught.value.metadata == {"location": "s3://lake/t/x.gz"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t/metadata/00001-a.gz.metadata.json", True),
        ("t/metadata/v1.metadata.json.gz", True),
        ("t/metadata/00001-a.metadata.json", False),
        ("t/gz/metadata.json", False),
    ],
)
def test_a_name_says_whether_its_file_is_gzipped(name: str, expected: bool) -> None:
    assert is_gzip_name(name) is expected


def test_members_are_inflated_one_after_another_up_to_the_limit() -> None:
    content = gzip.compress(TEXT) + gzip.compress(TEXT)
    assert inflate(content, limit=len(TEXT) * 2, location="x") == TEXT * 2
    refused(content, limit=len(TEXT) * 2 - 1)


def test_a_bomb_is_refused_before_it_is_inflated() -> None:
    refused(gzip.compress(bytes(50_000_000)), limit=1000)


@pytest.mark.parametrize(
    "content",
    [b"", b"plain", gzip.compress(TEXT)[:-1], gzip.compress(TEXT) + b"x", gzip.compress(TEXT)[:20]],
    ids=["nothing", "no gzip", "all but a byte", "a gzip with a tail", "its beginning"],
)
def test_what_is_no_whole_gzip_is_refused(content: bytes) -> None:
    refused(content)


def test_a_changed_byte_is_noticed() -> None:
    content = bytearray(gzip.compress(TEXT))
    content[-6] ^= 1
    refused(bytes(content))


def test_a_file_of_blocks_is_inflated_across_the_pieces_that_it_is_read_in() -> None:
    blocks = [bytes([number % 251]) * (number * 37 % 5000) for number in range(500)]
    content = b"".join(gzip.compress(block, compresslevel=0) for block in blocks)
    assert len(content) > 2 * 64 * 1024
    assert inflate(content, limit=10_000_000, location="x") == b"".join(blocks)


def test_a_file_of_empty_members_is_refused_and_not_copied_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty-four MiB hold three million of them: copying the rest of the file at the end of each would never end."""
    content = gzip.compress(b"") * 50_000
    given: list[int] = []
    create = zlib.decompressobj

    class Counting:
        def __init__(self, **how: Any) -> None:
            self._inner = create(**how)

        def decompress(self, data: memoryview, most: int) -> bytes:
            given.append(len(data))
            return self._inner.decompress(data, most)

        def __getattr__(self, name: str) -> object:
            return getattr(self._inner, name)

    monkeypatch.setattr(zlib, "decompressobj", Counting)
    refused(content)
    assert sum(given) <= MAX_MEMBERS * 64 * 1024
