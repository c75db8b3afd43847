"""Compressed parts that stand side by side: held against zlib and gzip."""

from __future__ import annotations

import contextlib
import functools
import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_servicekit import deflated
from lakeward_servicekit.deflated import EMPTY, Deflated, deflate, gzip_file, inflate, join, joined_crc32

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


@given(st.lists(TEXTS, max_size=5))
def test_runs_of_parts_are_the_part_of_all_their_texts(runs: list[list[bytes]]) -> None:
    joined = join(*[[deflate(text) for text in run] for run in runs])
    whole = b"".join(text for run in runs for text in run)
    assert inflate(joined) == whole
    assert (joined.crc32, joined.size) == (zlib.crc32(whole), len(whole))


def test_what_stays_in_a_run_is_combined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    combined: list[int] = []

    def counted(first: int, second: int, second_size: int) -> int:
        combined.append(second_size)
        return joined_crc32(first, second, second_size)

    monkeypatch.setattr(deflated, "_joined_before", functools.lru_cache(counted))
    stays = [deflate(b"kept " * number) for number in range(1, 10)]
    for many in range(1, 10):
        join([deflate(b"head %d" % many)], stays[:many])
    assert combined == [part.size for part in stays[1:]]


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


@given(st.binary(max_size=20), st.integers(0, 70_000))
def test_checksums_combine_over_long_second_texts_too(first: bytes, size: int) -> None:
    second = b"\x00" * size
    assert joined_crc32(zlib.crc32(first), zlib.crc32(second), size) == zlib.crc32(first + second)


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


def file_of(before: bytes, text: bytes, after: bytes) -> bytes:
    return gzip_file(deflate(text), before=before, after=after)


@given(st.binary(), st.binary(), st.binary())
def test_the_member_inflates_to_its_three_parts(before: bytes, text: bytes, after: bytes) -> None:
    assert gzip.decompress(file_of(before, text, after)) == before + text + after


@given(st.binary(), st.binary(max_size=5000), st.binary())
def test_it_is_one_member_with_nothing_after_it(before: bytes, text: bytes, after: bytes) -> None:
    inflater = zlib.decompressobj(31)
    assert inflater.decompress(file_of(before, text, after)) == before + text + after
    assert inflater.eof
    assert inflater.unused_data == b""


@given(st.sampled_from([0, 1, 0xFFFE, 0xFFFF, 0x10000, 0x1FFFE, 200_000]), st.sampled_from([0, 0xFFFF, 0x10000]))
def test_stored_parts_may_be_larger_than_a_stored_block(before_size: int, after_size: int) -> None:
    before, after = b"b" * before_size, b"a" * after_size
    assert gzip.decompress(file_of(before, b"{}", after)) == before + b"{}" + after


@given(st.binary(), st.binary(), st.integers(1, 300))
def test_the_crc_of_two_texts_is_computed_from_their_own(first: bytes, second: bytes, times: int) -> None:
    second *= times
    expected = zlib.crc32(first + second)
    assert joined_crc32(zlib.crc32(first), zlib.crc32(second), len(second)) == expected


def test_a_wrong_crc_is_noticed_by_whoever_inflates() -> None:
    broken = gzip_file(Deflated(deflate(b"text").raw, zlib.crc32(b"other"), 4), before=b"a", after=b"b")
    try:
        gzip.decompress(broken)
    except gzip.BadGzipFile:
        return
    raise AssertionError("the checksum was not compared")
