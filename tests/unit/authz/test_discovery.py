"""What a provider publishes is read within bounds: it is a peer, and a peer can be broken into."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from lakeward_authz.adapters.oidc import discovery, signing_keys
from lakeward_authz.adapters.oidc.discovery import ProviderUnreachable

URI = "https://idp.test"
NUMBERS = rsa.generate_private_key(65537, 2048).public_key().public_numbers()


def number(value: int) -> str:
    return base64.urlsafe_b64encode(value.to_bytes((value.bit_length() + 7) // 8)).rstrip(b"=").decode()


KEY = {"kty": "RSA", "kid": "k1", "n": number(NUMBERS.n), "e": number(NUMBERS.e)}
DOCUMENT = json.dumps({"issuer": URI, "jwks_uri": f"{URI}/keys"}).encode()


class Parts(httpx.AsyncByteStream):
    """A body in parts that are counted as they are taken."""

    def __init__(self, *parts: bytes) -> None:
        self.parts = parts
        self.taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self.parts:
            self.taken += 1
            yield part


async def read(answer: Callable[[httpx.Request], httpx.Response]) -> discovery.Published:
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        return await discovery.fetch(http, URI)


def publishing(document: bytes = DOCUMENT, keys: object = None) -> Callable[[httpx.Request], httpx.Response]:
    body = json.dumps({"keys": [KEY]} if keys is None else keys).encode()
    return lambda request: httpx.Response(200, stream=Parts(body if request.url.path == "/keys" else document))


async def test_a_provider_s_issuer_and_keys_are_read() -> None:
    published = await read(publishing())
    assert (published.issuer, list(published.keys)) == (URI, ["k1"])


async def test_a_compressed_answer_is_not_inflated() -> None:
    """A document of half a kilobyte that inflates to half a megabyte of the same: it is not even looked at."""
    bomb = gzip.compress(DOCUMENT + b" " * 500_000)
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["accept-encoding"])
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=Parts(bomb))

    with pytest.raises(ProviderUnreachable, match="compressed"):
        await read(answer)
    assert asked == ["identity"]


async def test_no_more_is_read_of_an_answer_than_may_be() -> None:
    endless = Parts(*[b" " * 65_536] * 1000)
    with pytest.raises(ProviderUnreachable, match="more than 1048576 bytes"):
        await read(lambda _: httpx.Response(200, stream=endless))
    assert endless.taken == 17


@pytest.mark.parametrize(
    "document",
    [
        b"[" * 500_000,
        b'{"issuer":' * 100_000,
        json.dumps({"issuer": "x" * 3000, "jwks_uri": f"{URI}/keys"}).encode(),
        json.dumps({"issuer": URI, "jwks_uri": "file:///etc/passwd"}).encode(),
        json.dumps({"issuer": URI, "jwks_uri": "http://idp.test/keys"}).encode(),
        b"[]",
    ],
    ids=lambda document: repr(document[:16]),
)
async def test_a_document_that_is_no_provider_s_is_refused(document: bytes) -> None:
    with pytest.raises(ProviderUnreachable):
        await read(publishing(document))


@pytest.mark.parametrize(
    "key",
    [
        KEY | {"kid": "k" * 1025},
        KEY | {"n": number((1 << 16_385) + 1)},
        KEY | {"n": number((1 << 1023) + 1)},
        KEY | {"d": "AQAB"},
    ],
    ids=["long name", "long", "short", "private"],
)
async def test_a_key_that_would_be_dear_or_prove_nothing_is_left_out(key: dict[str, str]) -> None:
    assert list(signing_keys.signing_keys({"keys": [key, KEY]})) == ["k1"]
    with pytest.raises(ProviderUnreachable, match="no key that can be used"):
        await read(publishing(keys={"keys": [key]}))


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/keys"])
async def test_nobody_is_sent_elsewhere_by_a_redirect(path: str) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        if request.url.path == path:
            return httpx.Response(302, headers={"location": "https://evil.test/keys"})
        return publishing()(request)

    with pytest.raises(ProviderUnreachable, match="answers 302"):
        await read(answer)
    assert not [url for url in asked if "evil" in url]
