"""What a client hears whose token is not taken: which status, and a challenge that says what is wrong with it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from uuid import uuid4

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.tree import PostgresTree
from lakeward_authz.application.permissions import Grant, Made
from lakeward_authz.domain.permissions.objects import ObjectKey, user_subject
from lakeward_components.oidc import OidcProvider
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.secrecy import SecretStr
from tests.integration.security.conftest import Place
from tests.support.http import NOBODY
from tests.support.tokens import signed_by

pytestmark = pytest.mark.integration

PATHS = ("catalog/v1/config?warehouse=none", "management/v1/info", "management/v1/warehouse")
STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
MISSING = 'Bearer realm="lakeward"'


def unsigned(token: str, **changed: object) -> str:
    """A token's header and claims with the header changed, and what came before the signature."""
    head, body, _ = token.split(".")
    header = {**json.loads(base64.urlsafe_b64decode(head + "==")), **changed}
    return f"{base64.urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip('=')}.{body}"


def forged_by_hmac(oidc: OidcProvider) -> str:
    assert oidc.keys is not None
    public = (oidc.keys / "rsa_public.pem").read_bytes()
    signing = unsigned(signed_by(oidc), alg="HS256")
    mac = hmac.new(public, signing.encode(), hashlib.sha256).digest()
    return f"{signing}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"


def by_a_stranger(oidc: OidcProvider) -> str:
    good = signed_by(oidc)
    claims = jwt.decode(good, options={"verify_signature": False})
    return jwt.encode(claims, STRANGER, algorithm="RS256", headers={"kid": jwt.get_unverified_header(good)["kid"]})


def in_seconds(seconds: int) -> int:
    return int(time.time()) + seconds


BAD: dict[str, tuple[Callable[[OidcProvider], str], str]] = {
    "wrong signature": (by_a_stranger, "its signature does not hold"),
    "alg=none": (lambda oidc: unsigned(signed_by(oidc), alg="none") + ".", "its algorithm 'none' is none of"),
    "HMAC with the public key": (forged_by_hmac, "its algorithm 'HS256' is none of"),
    "expired": (lambda oidc: signed_by(oidc, exp=in_seconds(-120)), "it is expired; get a new one"),
    "not yet valid": (lambda oidc: signed_by(oidc, nbf=in_seconds(120)), "it is not valid yet"),
    "no end": (lambda oidc: signed_by(oidc, exp=...), "it has no claim exp"),
    "other audience": (lambda oidc: signed_by(oidc, aud="elsewhere"), "which takes tokens of http://127.0.0.1:"),
    "other issuer": (lambda oidc: signed_by(oidc, iss="https://evil.example.org"), "not one that this server trusts"),
    "unknown kid": (lambda oidc: unsigned(signed_by(oidc), kid="made-up") + ".AAAA", "publishes no key 'made-up'"),
    "huge token": (lambda oidc: signed_by(oidc, padding="x" * 20_000), "at most 16384 are read"),
    "opaque token": (lambda _: "2YotnFZFEjr1zCsicMWpAA", "it is no JWT"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("path", PATHS)
async def test_a_token_that_does_not_hold_is_told_so_in_the_challenge(
    place: Place, oidc: OidcProvider, kind: str, path: str
) -> None:
    make, why = BAD[kind]
    token = make(oidc)
    async with httpx.AsyncClient(verify=NOBODY, base_url=place.installation.url) as http:
        reply = await http.get(path, headers={"authorization": f"Bearer {token}"})
    assert (reply.status_code, reply.json()["error"]["type"]) == (401, "AuthenticationFailed")
    challenge = reply.headers["www-authenticate"]
    assert challenge.startswith('Bearer realm="lakeward", error="invalid_token", error_description="')
    assert why in challenge
    assert why in reply.json()["error"]["message"]
    assert token not in reply.text + str(reply.headers)


async def test_the_same_claims_signed_by_the_provider_for_this_server_and_now_are_taken(
    place: Place, oidc: OidcProvider
) -> None:
    """The twin: each bad token differs from this one in what it is named for alone."""
    async with httpx.AsyncClient(verify=NOBODY, base_url=place.installation.url) as http:
        for token in (signed_by(oidc), signed_by(oidc, exp=in_seconds(-30)), signed_by(oidc, nbf=in_seconds(30))):
            reply = await http.get("management/v1/info", headers={"authorization": f"Bearer {token}"})
            assert reply.status_code == 200


@pytest.mark.parametrize("scheme", ["Basic {}", "DPoP {}", "Token {}", "Negotiate {}", "{}", "Bearer"])
async def test_another_scheme_is_no_token_at_all(place: Place, scheme: str) -> None:
    async with httpx.AsyncClient(verify=NOBODY, base_url=place.installation.url) as http:
        for path in PATHS:
            reply = await http.get(path, headers={"authorization": scheme.format(place.token)})
            assert (reply.status_code, reply.json()["error"]["type"]) == (401, "MissingAuthorizationHeader")
            assert reply.headers["www-authenticate"] == MISSING


async def test_of_two_authorization_headers_neither_is_believed(place: Place, oidc: OidcProvider) -> None:
    good, other = f"Bearer {place.token}", f"Bearer {signed_by(oidc, sub='bob')}"
    async with httpx.AsyncClient(verify=NOBODY, base_url=place.installation.url) as http:
        for both in ((good, other), (other, good), (good, good), (good, "Basic x")):
            reply = await http.get("management/v1/info", headers=[("authorization", each) for each in both])
            assert reply.status_code == 400
            assert reply.headers["www-authenticate"].startswith(
                'Bearer realm="lakeward", error="invalid_request", error_description="authorization stands more than once'
            )


async def test_a_role_is_assumed_by_who_holds_it_and_by_nobody_else(place: Place, oidc: OidcProvider) -> None:
    role = ObjectKey("role", f"p-{uuid4()}", id=uuid4())
    async with open_pool(SecretStr(place.database), size=1, name="test", schema="lakeward_authz") as pool:
        made = [(1, Made(ObjectKey("project", role.project_id))), (2, Made(role))]
        outbox = Outbox()
        assert await PostgresTree(pool, outbox).apply(f"a test {role.id}", made) == 2
        alice = Grant(user_subject("oidc~alice"), "assignee")
        assert await PostgresGrants(pool, outbox).change(role, writes=[alice], deletes=[])
    async with httpx.AsyncClient(verify=NOBODY, base_url=place.installation.url) as http:
        for named, assumed, status, word in (
            ("alice", str(role.id), 200, None),
            ("alice", str(role.id).upper(), 200, None),
            ("bob", str(role.id), 403, "AssumeRoleForbidden"),
            (f"role:{role.id}", str(role.id), 403, "AssumeRoleForbidden"),
            ("alice", str(uuid4()), 400, "InvalidAssumeRoleId"),
            ("alice", "admin", 400, "InvalidRoleIdError"),
        ):
            headers = {"authorization": f"Bearer {signed_by(oidc, sub=named)}", "x-assume-role": assumed}
            reply = await http.get("management/v1/warehouse", headers=headers)
            assert (reply.status_code, reply.json().get("error", {}).get("type")) == (status, word)
