"""Compressed parts that stand side by side: held against zlib and gzip."""

from __future__ import annotations

import contextlib
import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_catalog.domain.bodies import (
    EMPTY,
    MAX_TEXT,
    Deflated,
    combine_crc32,
    deflate,
    gzip_file,
    inflate,
    join,
)
from lakeward_servicekit.errors import Reason, Refusal

TEXTS = st.lists(st.binary(max_size=400), max_size=8)
BOMB = 8 << 20


@given(st.binary(max_size=2000))
def test_a_part_inflates_to_its_text_by_zlib_and_by_us(text: bytes) -> None:
    part = deflate(text)
    assert inflate(part) == text
    assert zlib.decompressobj(-zlib.MAX_WBITS).decompress(part.raw) == text
    assert (part.crc32, part.size) == (zlib.crc32(text), len(text))


@given(TEXTS)
def test_parts_side_by_side_are_the_part_of_their_texts(texts: list[bytes]) -> None:
    joined = join([deflate(text) for text in texts])
    whole = b"".join(texts)
    assert inflate(joined) == whole
    assert (joined.crc32, joined.size) == (zlib.crc32(whole), len(whole))


@given(TEXTS)
def test_a_gzip_file_is_one_member_that_gzip_reads(texts: list[bytes]) -> None:
    content = gzip_file(join([deflate(text) for text in texts]))
    assert gzip.decompress(content) == b"".join(texts)
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert member.decompress(content) == b"".join(texts)
    assert (member.eof, member.unused_data) == (True, b"")


def test_parts_whose_checksums_are_not_combined_make_a_file_that_gzip_refuses() -> None:
    parts = [deflate(b"first"), deflate(b"second")]
    raw = b"".join(part.raw for part in parts)
    with pytest.raises(gzip.BadGzipFile):
        gzip.decompress(gzip_file(Deflated(raw, parts[0].crc32 ^ parts[1].crc32, 11)))


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_checksums_combine_as_if_the_texts_were_one(first: bytes, second: bytes) -> None:
    assert combine_crc32(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)


@given(st.binary(max_size=20), st.integers(0, 70_000))
def test_checksums_combine_over_long_second_texts_too(first: bytes, size: int) -> None:
    second = b"\x00" * size
    assert combine_crc32(zlib.crc32(first), zlib.crc32(second), size) == zlib.crc32(first + second)


def test_nothing_is_no_part_and_adds_nothing() -> None:
    assert deflate(b"") is EMPTY
    assert join([]) == EMPTY
    assert inflate(EMPTY) == b""


@pytest.mark.parametrize(
    "part",
    [
        Deflated(deflate(b"text").raw, zlib.crc32(b"text"), 3),
        Deflated(deflate(b"text").raw, zlib.crc32(b"text"), 5),
        Deflated(deflate(b"text").raw, zlib.crc32(b"test"), 4),
    ],
    ids=["longer than said", "shorter than said", "another checksum"],
)
def test_a_part_that_is_not_what_it_says_is_no_text(part: Deflated) -> None:
    with pytest.raises(ValueError, match="does not inflate"):
        inflate(part)


def test_a_part_that_says_it_is_too_long_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        inflate(Deflated(b"", 0, MAX_TEXT + 1))
    assert (refused.value.reason, refused.value.metadata["limit"]) == (Reason.REASON_TOO_LARGE, str(MAX_TEXT))


def _peak(part: Deflated) -> int:
    tracemalloc.start()
    try:
        with contextlib.suppress(ValueError):
            inflate(part)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_part_is_not_inflated_further_than_it_says() -> None:
    text = bytes(BOMB)
    honest = deflate(text)
    del text
    assert _peak(Deflated(honest.raw, honest.crc32, 1000)) < 1 << 20
    assert _peak(honest) > BOMB, "without a size to stop at, all of it is there"
