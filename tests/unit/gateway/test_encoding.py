from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_gateway.encoding import Inflating, gzipped, inflated, is_gzip, takes_gzip
from lakeward_servicekit.deflated import deflate
from lakeward_servicekit.errors import Reason, Refusal


def unzipped(*pieces: bytes, size: int = 65_536) -> bytes:
    """What pieces of a gzipped body hold, a step at a time."""
    inflating = Inflating()
    steps = []
    for piece in pieces:
        inflating.feed(piece)
        while step := inflating.step(size):
            assert len(step) <= size
            steps.append(step)
    inflating.finish()
    return b"".join(steps)


@pytest.mark.parametrize("header", [b"gzip", b"GZIP", b"deflate, gzip;q=0.5", b"*", b"br;q=1.0, x-gzip", b"gzip;q=1"])
def test_a_client_that_accepts_gzip_gets_it(header: bytes) -> None:
    assert takes_gzip(header)


@pytest.mark.parametrize("header", [b"", b"identity", b"br", b"gzip;q=0", b"gzip;q=0.000, *", b"*;q=0", b"gzipped"])
def test_a_client_that_does_not_gets_the_plain_body(header: bytes) -> None:
    assert not takes_gzip(header)


@given(st.binary(max_size=4000), st.integers(1, 4000))
def test_a_gzipped_body_is_read_as_what_it_holds(body: bytes, cut: int) -> None:
    zipped = gzip.compress(body)
    assert unzipped(zipped) == body
    assert unzipped(zipped[:cut], zipped[cut:]) == body


@pytest.mark.parametrize("size", [7_777, 65_536, 1_048_576])
async def test_a_large_body_is_inflated_in_steps(size: int) -> None:
    body = bytes(range(256)) * 20_000
    zipped = gzip.compress(body, 0)
    pieces = [zipped[at : at + 65_536] for at in range(0, len(zipped), 65_536)]
    assert unzipped(*pieces, size=size) == body
    assert gzip.decompress(await gzipped(body)) == body
    assert await inflated(deflate(body)) == body


@pytest.mark.parametrize("coding", [b"", b"identity", b" Identity "])
def test_a_body_without_a_coding_is_left_alone(coding: bytes) -> None:
    assert not is_gzip(coding)


@pytest.mark.parametrize("coding", [b"gzip", b"GZip", b" x-gzip"])
def test_gzip_is_known_by_its_names(coding: bytes) -> None:
    assert is_gzip(coding)


def test_members_in_a_row_are_read_as_one_body() -> None:
    assert unzipped(gzip.compress(b"ab") + gzip.compress(b"cd")) == b"abcd"
    assert unzipped(gzip.compress(b"ab"), gzip.compress(b"cd")) == b"abcd"


def test_nothing_is_no_gzip_that_breaks_off() -> None:
    assert unzipped() == b""


@pytest.mark.parametrize("size", [7_777, 65_536, 1_048_576])
def test_what_inflates_to_more_than_a_hundred_times_its_size_is_refused_early(size: int) -> None:
    bomb = gzip.compress(b"{}," * 11_000_000)
    with pytest.raises(Refusal) as refused:
        unzipped(bomb, size=size)
    assert refused.value.reason == Reason.REASON_TOO_LARGE
    assert int(refused.value.metadata["limit"]) == 100 * len(bomb)


def test_a_small_body_may_repeat_itself() -> None:
    body = b" " * 1_000_000
    assert unzipped(gzip.compress(body)) == body


def test_thousands_of_empty_members_are_refused() -> None:
    with pytest.raises(Refusal) as refused:
        unzipped(gzip.compress(b"") * 5000)
    assert refused.value.reason == Reason.REASON_MALFORMED_DOCUMENT


@pytest.mark.parametrize(
    "body",
    [b"not gzip", gzip.compress(b"cut off, in the middle")[:-9], gzip.compress(b"a") + b"tail"],
    ids=["no gzip", "half a gzip", "a gzip with a tail"],
)
def test_what_is_not_gzip_is_refused(body: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        unzipped(body)
    assert refused.value.reason == Reason.REASON_MALFORMED_DOCUMENT


def test_another_coding_is_refused_by_its_name() -> None:
    with pytest.raises(Refusal) as refused:
        is_gzip(b"br")
    assert refused.value.reason == Reason.REASON_UNSUPPORTED_MEDIA_TYPE
