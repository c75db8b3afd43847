"""Reads what a provider publishes: its issuer, and through it its keys."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Final

import httpx

from lakeward_authz.adapters.oidc.signing_keys import SigningKey, signing_keys
from lakeward_servicekit import tls

_WELL_KNOWN: Final = ".well-known/openid-configuration"
_MAX_BYTES: Final = 1024 * 1024
SECONDS: Final = 10.0
# For all of a document: the client's own patience begins anew with each part that arrives.
_DOCUMENT_SECONDS: Final = 30.0
_MAX_ISSUER: Final = 2048


class ProviderUnreachable(Exception):  # noqa: N818 - it says what is the case
    """What a provider publishes can't be had, or can't be used; the message says why and what would help."""


@dataclasses.dataclass(frozen=True, slots=True)
class Published:
    """What a provider published.

    Attributes:
        issuer: `iss` of its tokens.
        keys: by `kid`.
        fingerprint: equal for equal issuer and keys.
    """

    issuer: str
    keys: Mapping[str, SigningKey]
    fingerprint: str


async def fetch(http: httpx.AsyncClient, uri: str) -> Published:
    """Read a provider's discovery document and the keys that it points to.

    Raises:
        ProviderUnreachable: either can't be had or used.
    """
    address = discovery_address(uri)
    document = await _json(http, address)
    issuer, keys_address = document.get("issuer"), document.get("jwks_uri")
    if not isinstance(issuer, str) or not 0 < len(issuer) <= _MAX_ISSUER:
        raise ProviderUnreachable(f"{address} names no issuer; it must be an OpenID discovery document")
    if not isinstance(keys_address, str) or not keys_address.startswith(("https://", "http://")):
        raise ProviderUnreachable(f"{address} names no jwks_uri; it must be an OpenID discovery document")
    if address.startswith("https://") and not keys_address.startswith("https://"):
        raise ProviderUnreachable(
            f"{address} names a jwks_uri without TLS, {keys_address[:200]}, where anybody on the way could put keys of theirs"
        )
    try:
        keys = signing_keys(await _json(http, keys_address))
    except ValueError as error:
        raise ProviderUnreachable(f"{keys_address} can't be used: {error}") from error
    digest = hashlib.sha256("\n".join([issuer, *sorted(key.thumbprint for key in keys.values())]).encode())
    return Published(issuer, keys, digest.hexdigest()[:16])


def discovery_address(uri: str) -> str:
    """Where a provider's discovery document is; `uri` may be that address already."""
    return uri if uri.endswith("/" + _WELL_KNOWN) else f"{uri.rstrip('/')}/{_WELL_KNOWN}"


async def _json(http: httpx.AsyncClient, address: str) -> Mapping[str, object]:
    try:
        async with asyncio.timeout(_DOCUMENT_SECONDS):
            body = await _body(http, address)
    except TimeoutError as error:
        raise ProviderUnreachable(f"{address} did not answer whole within {_DOCUMENT_SECONDS:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = tls.explain(error) or str(error) or type(error).__name__
        raise ProviderUnreachable(f"{address} can't be reached: {why}") from error
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProviderUnreachable(f"{address} answers no JSON") from error
    if not isinstance(document, dict):
        raise ProviderUnreachable(f"{address} answers no JSON object")
    return document


async def _body(http: httpx.AsyncClient, address: str) -> bytes:
    """The body as it comes over the wire: a part of a compressed one could inflate to a thousand times what is counted."""
    headers = {"accept": "application/json", "accept-encoding": "identity"}
    async with http.stream("GET", address, headers=headers) as response:
        if response.status_code != httpx.codes.OK:
            raise ProviderUnreachable(f"{address} answers {response.status_code} in place of 200")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ProviderUnreachable(f"{address} answers compressed, though it was asked not to")
        body = bytearray()
        async for part in response.aiter_raw():
            body += part
            if len(body) > _MAX_BYTES:
                raise ProviderUnreachable(f"{address} answers more than {_MAX_BYTES} bytes")
    return bytes(body)
