"""Tokens of the test identity provider, as engines and people get them."""

from __future__ import annotations

import functools
import time

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from lakeward_components.oidc import SERVICE, Client, OidcProvider, User
from tests.support.http import NOBODY


async def client_token(provider: OidcProvider, client: Client = SERVICE, **parameters: str) -> str:
    """An access token for the client itself; `parameters` such as `scope` and `resource` go along."""
    form = {"grant_type": "client_credentials", **parameters}
    return str((await _ask(provider, client, form))["access_token"])


async def user_token(provider: OidcProvider, user: User, client: Client = SERVICE) -> str:
    """An access token for a person, with claims `groups` and `roles`."""
    form = {"grant_type": "password", "username": user.name, "password": user.name, "scope": "openid profile email"}
    return str((await _ask(provider, client, form))["access_token"])


async def expiring_token(provider: OidcProvider, user: User, *, seconds: float) -> str:
    """An access token that ends after so many seconds; zero or less has ended already."""
    async with httpx.AsyncClient(verify=NOBODY, base_url=provider.issuer) as http:
        reply = await http.post(f"/api/users/{user.name}/token", json={"exp_minutes": seconds / 60})
    return str(reply.raise_for_status().json()["access_token"])


def signed_by(provider: OidcProvider, **changed: object) -> str:
    """A token with the provider's own signature over claims that it would never sign; `...` leaves a claim out."""
    assert provider.keys is not None, "the provider is another's, which signs for nobody else"
    now = int(time.time())
    every = {"iss": provider.issuer, "aud": provider.audience, "sub": "alice", "iat": now, "exp": now + 600, **changed}
    claims = {name: value for name, value in every.items() if value is not ...}
    kid = (provider.keys / "kid.txt").read_text(encoding="ascii").strip()
    private = _read((provider.keys / "rsa_private.pem").read_bytes())
    return jwt.encode(claims, private, algorithm="RS256", headers={"kid": kid})


@functools.cache
def _read(pem: bytes) -> RSAPrivateKey:
    """Once for each key: its numbers are proved to be primes, which takes a hundred times as long as to sign."""
    key = load_pem_private_key(pem, password=None)
    assert isinstance(key, RSAPrivateKey)
    return key


async def rotate_keys(provider: OidcProvider) -> None:
    """Sign with a new key from now on; the old one stays published."""
    async with httpx.AsyncClient(verify=NOBODY, base_url=provider.issuer) as http:
        (await http.post("/api/keys/rotate")).raise_for_status()


async def _ask(provider: OidcProvider, client: Client, form: dict[str, str]) -> dict[str, object]:
    basic = httpx.BasicAuth(client.id, client.secret) if client.method == "client_secret_basic" else None
    if basic is None:
        form = {**form, "client_id": client.id, "client_secret": client.secret}
    async with httpx.AsyncClient(verify=NOBODY, auth=basic) as http:
        reply = await http.post(provider.token_endpoint, data=form)
    answer: dict[str, object] = reply.raise_for_status().json()
    return answer
