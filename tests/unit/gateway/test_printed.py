from __future__ import annotations

import pytest

from lakeward_gateway.printed import printed


@pytest.mark.parametrize(
    "name",
    [
        "ETag",
        "WWW-Authenticate",
        "Cache-Control",
        "Content-Type",
        "X-Request-Id",
        "Access-Control-Allow-Origin",
        "Strict-Transport-Security",
    ],
)
def test_a_name_is_printed_as_the_standards_do(name: str) -> None:
    assert (
        printed(f"HTTP/1.1 200 OK\r\n{name.lower()}: x\r\n\r\n".encode())
        == f"HTTP/1.1 200 OK\r\n{name}: x\r\n\r\n".encode()
    )


def test_values_and_what_follows_the_head_stay_as_they_are() -> None:
    rest = b'\r\n\r\n{"etag: x":\r\netag: y\r\n\r\n}'
    head = (
        b'HTTP/1.1 304 Not Modified\r\netag: "etag: A"\r\nvary: x-project-id, accept-encoding\r\nlocation: http://a/b:c'
    )
    assert (
        printed(head + rest)
        == head.replace(b"\r\netag", b"\r\nETag").replace(b"vary", b"Vary").replace(b"location", b"Location") + rest
    )


def test_a_reply_without_headers_stays_as_it_is() -> None:
    assert printed(b"HTTP/1.1 204 No Content\r\n\r\n") == b"HTTP/1.1 204 No Content\r\n\r\n"
