from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.gateway.encoding import decoded, gzipped, inflated, takes_gzip
from lakeward.servicekit.errors import Reason, Refusal


@pytest.mark.parametrize("header", [b"gzip", b"GZIP", b"deflate, gzip;q=0.5", b"*", b"br;q=1.0, x-gzip", b"gzip;q=1"])
def test_a_client_that_accepts_gzip_gets_it(header: bytes) -> None:
    assert takes_gzip(header)


@pytest.mark.parametrize("header", [b"", b"identity", b"br", b"gzip;q=0", b"gzip;q=0.000, *", b"*;q=0", b"gzipped"])
def test_a_client_that_does_not_gets_the_plain_body(header: bytes) -> None:
    assert not takes_gzip(header)


@given(st.binary(max_size=4000))
async def test_a_gzipped_body_is_read_as_what_it_holds(body: bytes) -> None:
    assert await decoded(gzip.compress(body), b"gzip", limit=5000) == body


async def test_a_large_body_is_inflated_off_the_loop_alike() -> None:
    body = bytes(range(256)) * 4000
    assert await decoded(gzip.compress(body, 0), b"GZip", limit=len(body)) == body
    assert gzip.decompress(await gzipped(body)) == body
    compressor = zlib.compressobj(6, zlib.DEFLATED, -15)
    raw = compressor.compress(body) + compressor.flush(zlib.Z_FULL_FLUSH)
    assert await inflated(raw, size=len(body)) == body


@pytest.mark.parametrize("coding", [b"", b"identity", b" Identity "])
async def test_a_body_without_a_coding_is_left_alone(coding: bytes) -> None:
    assert await decoded(b"{}", coding, limit=1) == b"{}"


async def test_members_in_a_row_are_read_as_one_body() -> None:
    assert await decoded(gzip.compress(b"ab") + gzip.compress(b"cd"), b"gzip", limit=4) == b"abcd"


async def test_a_bomb_is_refused_before_it_is_inflated() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    with pytest.raises(Refusal) as refused:
        await decoded(bomb, b"gzip", limit=100_000)
    assert refused.value.reason == Reason.REASON_TOO_LARGE


async def test_thousands_of_empty_members_are_refused() -> None:
    with pytest.raises(Refusal) as refused:
        await decoded(gzip.compress(b"") * 5000, b"gzip", limit=100_000)
    assert refused.value.reason == Reason.REASON_MALFORMED_DOCUMENT


@pytest.mark.parametrize(
    "body", [b"not gzip", gzip.compress(b"cut off, in the middle")[:-9], gzip.compress(b"a") + b"tail"]
)
async def test_what_is_not_gzip_is_refused(body: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        await decoded(body, b"gzip", limit=1000)
    assert refused.value.reason == Reason.REASON_MALFORMED_DOCUMENT


async def test_another_coding_is_refused_by_its_name() -> None:
    with pytest.raises(Refusal) as refused:
        await decoded(b"", b"br", limit=1000)
    assert refused.value.reason == Reason.REASON_UNSUPPORTED_MEDIA_TYPE
