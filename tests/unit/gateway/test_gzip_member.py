from __future__ import annotations

import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st

from lakeward_gateway.gzip_member import concatenated_crc, gzip_member


def deflated(text: bytes) -> bytes:
    compressor = zlib.compressobj(6, zlib.DEFLATED, -15)
    return compressor.compress(text) + compressor.flush(zlib.Z_FULL_FLUSH)


def member_of(before: bytes, text: bytes, after: bytes) -> bytes:
    return gzip_member(before, deflated(text), after, crc32=zlib.crc32(text), size=len(text))


@given(st.binary(), st.binary(), st.binary())
def test_the_member_inflates_to_its_three_parts(before: bytes, text: bytes, after: bytes) -> None:
    assert gzip.decompress(member_of(before, text, after)) == before + text + after


@given(st.binary(), st.binary(max_size=5000), st.binary())
def test_it_is_one_member_with_nothing_after_it(before: bytes, text: bytes, after: bytes) -> None:
    inflater = zlib.decompressobj(31)
    assert inflater.decompress(member_of(before, text, after)) == before + text + after
    assert inflater.eof
    assert inflater.unused_data == b""


@given(st.sampled_from([0, 1, 0xFFFE, 0xFFFF, 0x10000, 0x1FFFE, 200_000]), st.sampled_from([0, 0xFFFF, 0x10000]))
def test_stored_parts_may_be_larger_than_a_stored_block(before_size: int, after_size: int) -> None:
    before, after = b"b" * before_size, b"a" * after_size
    assert gzip.decompress(member_of(before, b"{}", after)) == before + b"{}" + after


@given(st.binary(), st.binary(), st.integers(1, 300))
def test_the_crc_of_two_texts_is_computed_from_their_own(first: bytes, second: bytes, times: int) -> None:
    second *= times
    expected = zlib.crc32(first + second)
    assert concatenated_crc(zlib.crc32(first), zlib.crc32(second), len(second)) == expected


def test_a_wrong_crc_is_noticed_by_whoever_inflates() -> None:
    broken = gzip_member(b"a", deflated(b"text"), b"b", crc32=zlib.crc32(b"other"), size=4)
    try:
        gzip.decompress(broken)
    except gzip.BadGzipFile:
        return
    raise AssertionError("the checksum was not compared")
