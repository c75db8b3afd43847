from __future__ import annotations

import ipaddress

import pytest

from lakeward_gateway.forwarded import Links, Proxies

PROXIES = (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("fd00::/8"))


def base(
    headers: dict[str, str],
    *,
    client: str | None = "10.0.0.1",
    base_uri: str | None = None,
    heed: bool = True,
    scheme: str = "http",
) -> str:
    links = Links(base_uri=base_uri, proxies=Proxies(PROXIES, heed_forwarded=heed))
    return links.base(scheme, client, {name.encode(): value.encode("latin-1") for name, value in headers.items()})


def test_the_configured_base_wins_over_everything() -> None:
    headers = {"host": "a.test", "x-forwarded-host": "b.test"}
    assert base(headers, base_uri="https://lake.example.org/") == "https://lake.example.org"


def test_without_forwarded_headers_the_host_is_the_base() -> None:
    assert base({"host": "lake.test:8181"}) == "http://lake.test:8181"
    assert base({"host": "[::1]:8181"}, scheme="https") == "https://[::1]:8181"


def test_a_trusted_proxy_says_where_the_outside_is() -> None:
    headers = {"host": "pod", "x-forwarded-host": "lake.example.org", "x-forwarded-proto": "https"}
    assert base(headers) == "https://lake.example.org"
    assert base(headers, client="fd00::7") == "https://lake.example.org"
    assert base(headers, client="::ffff:10.1.2.3") == "https://lake.example.org"


@pytest.mark.parametrize("client", ["192.0.2.1", "::1", None, "not an address"])
def test_nobody_else_is_believed(client: str | None) -> None:
    headers = {"host": "lake.test", "x-forwarded-host": "evil.test", "x-forwarded-proto": "https"}
    assert base(headers, client=client) == "http://lake.test"


def test_forwarded_headers_can_be_switched_off() -> None:
    assert base({"host": "lake.test", "x-forwarded-host": "b.test"}, heed=False) == "http://lake.test"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"x-forwarded-host": "b.test"}, "https://b.test"),
        ({"x-forwarded-proto": "http"}, "http://pod"),
        ({"x-forwarded-host": "b.test", "x-forwarded-port": "8443"}, "https://b.test:8443"),
        ({"x-forwarded-host": "b.test", "x-forwarded-port": "443"}, "https://b.test"),
        ({"x-forwarded-host": "b.test:9", "x-forwarded-port": "8443"}, "https://b.test:9"),
        ({"x-forwarded-host": "b.test", "x-forwarded-prefix": "/lake/"}, "https://b.test/lake"),
        ({"x-forwarded-host": "b.test", "x-forwarded-prefix": "//evil"}, "https://b.test"),
        ({"x-forwarded-host": "b.test, inner.test", "x-forwarded-proto": "http, https"}, "http://b.test"),
        ({"x-forwarded-host": "b.test", "x-forwarded-port": "x"}, "https://b.test"),
    ],
)
def test_forwarded_headers_make_the_base_that_the_client_saw(headers: dict[str, str], expected: str) -> None:
    assert base({"host": "pod", **headers}) == expected


@pytest.mark.parametrize("host", ["", 'a"b', "a/b", "a b", "user@host", "a\x7f"])
def test_a_host_that_is_none_makes_no_base(host: str) -> None:
    assert base({"host": host}) == ""
    assert base({"x-forwarded-host": host or "/"}) == ""


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.5", None, "203.0.113.5"),
        ("203.0.113.5", "192.0.2.1", "203.0.113.5"),
        ("10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "198.51.100.7, 192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "192.0.2.1, 10.0.0.2, 10.0.0.3", "192.0.2.1"),
        ("10.0.0.1", "10.0.0.2", "10.0.0.1"),
        ("10.0.0.1", "2001:db8:0:7:1:2:3:4", "2001:db8:0:7::"),
        ("10.0.0.1", "x" * 70_000, "x" * 64),
        ("::ffff:203.0.113.5", None, "203.0.113.5"),
        (None, "192.0.2.1", ""),
    ],
)
def test_a_client_is_the_last_that_no_trusted_proxy_is(peer: str | None, forwarded: str | None, client: str) -> None:
    headers = {} if forwarded is None else {b"x-forwarded-for": forwarded.encode()}
    assert Proxies(PROXIES, heed_forwarded=True).client_of(peer, headers) == client


def test_where_forwarded_headers_do_not_count_the_peer_is_the_client() -> None:
    headers = {b"x-forwarded-for": b"192.0.2.1"}
    assert Proxies(PROXIES, heed_forwarded=False).client_of("10.0.0.1", headers) == "10.0.0.1"
