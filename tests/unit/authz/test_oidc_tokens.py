"""Tokens of all kinds against the verifier, with keys of our own."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from lakeward_authz.adapters.oidc.discovery import ProviderUnreachable, Published
from lakeward_authz.adapters.oidc.provider import Provider
from lakeward_authz.adapters.oidc.signing_keys import signing_keys
from lakeward_authz.adapters.oidc.verifier import OidcVerifier
from lakeward_authz.application.identifying import Identification, TrustedProviders
from lakeward_authz.domain.algorithms import ALGORITHMS
from lakeward_authz.domain.display_template import DisplayTemplate
from lakeward_authz.domain.engines import EngineTokens
from lakeward_authz.domain.provider_rules import ProviderRules
from lakeward_authz.domain.tokens import MAX_CHARACTERS
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.users import FixedClock

NOW = datetime(2026, 8, 1, tzinfo=UTC)
ISSUER = "https://idp.example.org/realm"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()


def jwk(name: str, **changed: object) -> dict[str, object]:
    made: dict[str, object]
    match name:
        case "rsa":
            made = dict(RSAAlgorithm.to_jwk(RSA.public_key(), as_dict=True))
        case "ec":
            made = dict(ECAlgorithm.to_jwk(EC.public_key(), as_dict=True))
        case _:
            made = dict(OKPAlgorithm.to_jwk(ED.public_key(), as_dict=True))
    made.pop("key_ops", None)
    return {**made, "kid": name, **changed}


KEYS = {"keys": [jwk("rsa", alg="RS256"), jwk("ec"), jwk("ed", use="sig")]}


def rules(provider_id: str = "oidc", **changed: object) -> ProviderRules:
    given: dict[str, Any] = {
        "id": provider_id,
        "uri": ISSUER,
        "audiences": frozenset({"lake", "lakehouse"}),
        "additional_issuers": frozenset(),
        "scope": None,
        "subject_claims": ("oid", "sub"),
        "roles_claim": "realm.roles",
        "display_template": DisplayTemplate.parse("{sub}!"),
        "leeway": timedelta(seconds=60),
        "required_at_start": True,
        **changed,
    }
    return ProviderRules(**given)


async def reached(its: ProviderRules, issuer: str = ISSUER, keys: object = KEYS) -> Provider:
    async def fetch() -> Published:
        return Published(issuer, signing_keys(keys), "fingerprint")

    provider = Provider(its, fetch)
    await provider.refresh()
    return provider


def unreached(its: ProviderRules) -> Provider:
    async def fetch() -> Published:
        raise ProviderUnreachable("it is down")

    return Provider(its, fetch)


async def authenticator(*providers: Provider, engines: tuple[EngineTokens, ...] = ()) -> TrustedProviders:
    given = providers or (await reached(rules()),)
    return TrustedProviders([OidcVerifier(each, engines=engines, clock=FixedClock(NOW)) for each in given])


def claims(**changed: object) -> dict[str, Any]:
    at = int(NOW.timestamp())
    every = {"iss": ISSUER, "aud": "lakehouse", "sub": "ann", "iat": at, "exp": at + 300, **changed}
    return {name: value for name, value in every.items() if value is not ...}


def signed(
    key: Any = RSA,
    algorithm: str = "RS256",
    *,
    kid: object = "rsa",
    headers: dict[str, object] | None = None,
    **changed: object,
) -> str:
    return jwt.encode(claims(**changed), key, algorithm=algorithm, headers={"kid": kid, **(headers or {})})


def raw(header: object, payload: object, signature: bytes = b"x") -> str:
    parts = [
        json.dumps(header).encode(),
        payload if isinstance(payload, bytes) else json.dumps(payload).encode(),
        signature,
    ]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


async def identify(token: str, *providers: Provider) -> Identification:
    return await (await authenticator(*providers)).identify(f"Bearer {token}")


async def refused(token: str, *providers: Provider) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        await identify(token, *providers)
    assert token not in str(refusal.value) or not token
    return refusal.value


async def test_a_good_token_says_who_calls() -> None:
    token = signed(aud=["other", "lake"], oid="o~1", name="Ann", realm={"roles": ["r1", 3, "r2"]})
    found = await identify(token)
    assert found.principal.user_id == "oidc~o~1"
    assert found.profile is not None
    assert (found.profile.name, found.principal.token_roles) == ("Ann", ("oidc~r1", "oidc~r2"))
    assert found.expires_at == datetime.fromtimestamp(NOW.timestamp() + 300, UTC)


@pytest.mark.parametrize(("key", "algorithm", "kid"), [(RSA, "RS256", "rsa"), (EC, "ES256", "ec"), (ED, "EdDSA", "ed")])
async def test_rsa_ec_and_ed25519_signatures_count(key: object, algorithm: str, kid: str) -> None:
    assert (await identify(signed(key, algorithm, kid=kid))).principal.user_id == "oidc~ann"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", " Bearer "])
async def test_the_schemes_case_does_not_matter(scheme: str) -> None:
    assert (await (await authenticator()).identify(f"{scheme} {signed()} ")).principal.user_id == "oidc~ann"


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer  ", "Basic YTpi", "Bearerx y", "x"])
async def test_no_bearer_token_is_told_from_a_bad_one(authorization: str) -> None:
    with pytest.raises(Refusal) as refusal:
        await (await authenticator()).identify(authorization)
    assert refusal.value.reason == Reason.REASON_TOKEN_MISSING


PUBLIC_PEM = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def hmac_with_the_public_key() -> str:
    # PyJWT refuses to sign so; a forger does not.
    unsigned = raw({"alg": "HS256", "kid": "rsa"}, claims(), b"").rstrip(".")
    mac = hmac.new(PUBLIC_PEM, unsigned.encode(), hashlib.sha256).digest()
    return f"{unsigned}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"


def tampered() -> str:
    head, _, signature = signed().split(".")
    body = base64.urlsafe_b64encode(json.dumps(claims(sub="root")).encode()).decode().rstrip("=")
    return f"{head}.{body}.{signature}"


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        pytest.param("2YotnFZFEjr1zCsicMWpAA", "malformed", id="opaque"),
        pytest.param("..", "malformed", id="empty parts"),
        pytest.param("a.b.c.d.e", "malformed", id="encrypted"),
        pytest.param(raw({"alg": "RS256", "kid": "rsa"}, ["a"]), "malformed", id="a payload that is no object"),
        pytest.param(raw({"alg": "RS256", "kid": "rsa"}, b"{" * 5000), "malformed", id="no JSON"),
        pytest.param(
            raw({"alg": "RS256", "kid": "rsa"}, b'{"a":' * 2000 + b"1" + b"}" * 2000), "malformed", id="deep nesting"
        ),
        pytest.param(
            raw({"alg": "RS256", "kid": "rsa"}, b'{"exp":' + b"9" * 9000 + b"}"), "malformed", id="a long number"
        ),
        pytest.param("a" * (MAX_CHARACTERS + 1), "too long", id="oversize"),
        pytest.param(raw({"alg": "none", "kid": "rsa"}, claims(), b""), "algorithm", id="unsigned"),
        pytest.param(raw({"alg": "NoNe", "kid": "rsa"}, claims(), b""), "algorithm", id="unsigned, in another case"),
        pytest.param(hmac_with_the_public_key(), "algorithm", id="public key as an HMAC secret"),
        pytest.param(raw({"alg": ["RS256"], "kid": "rsa"}, claims()), "algorithm", id="an algorithm that is no text"),
        pytest.param(raw({"kid": "rsa"}, claims()), "algorithm", id="no algorithm"),
        pytest.param(signed(algorithm="RS512"), "algorithm", id="an algorithm that is not the key's"),
        pytest.param(signed(algorithm="RS256", kid="ec"), "algorithm", id="an algorithm of another kind of key"),
        pytest.param(raw({"alg": "RS256", "kid": 4}, claims()), "malformed", id="a key name that is no text"),
        pytest.param(raw({"alg": "RS256"}, claims()), "key", id="no key name"),
        pytest.param(raw({"alg": "RS256", "kid": ""}, claims()), "key", id="an empty key name"),
        pytest.param(signed(kid="unknown"), "key", id="an unknown key"),
        pytest.param(signed(OTHER_RSA), "signature", id="signed by another"),
        pytest.param(tampered(), "signature", id="tampered"),
        pytest.param(raw({"alg": "RS256", "kid": "rsa"}, claims(), b""), "signature", id="without a signature"),
        pytest.param(signed(iss="https://evil.example.org"), "issuer", id="another issuer"),
        pytest.param(signed(iss=ISSUER + "/"), "issuer", id="nearly the issuer"),
        pytest.param(signed(iss=...), "issuer", id="no issuer"),
        pytest.param(
            raw({"alg": "RS256", "kid": "rsa"}, claims(iss=[ISSUER])), "issuer", id="an issuer that is no text"
        ),
        pytest.param(signed(aud="elsewhere"), "audience", id="another audience"),
        pytest.param(signed(aud=...), "audience", id="no audience"),
        pytest.param(
            raw({"alg": "RS256", "kid": "rsa"}, claims(aud={"lake": 1})), "audience", id="an audience of another type"
        ),
        pytest.param(signed(exp=int(NOW.timestamp()) - 61), "expired", id="expired"),
        pytest.param(signed(nbf=int(NOW.timestamp()) + 61), "not yet valid", id="not yet valid"),
        pytest.param(signed(exp=...), "exp", id="without an end"),
        pytest.param(signed(sub=...), "subject", id="without a subject"),
        pytest.param(signed(headers={"crit": ["exp"], "exp": 1}), "malformed", id="extensions that must be understood"),
    ],
)
async def test_a_bad_token_is_refused_with_its_cause(token: str, cause: str) -> None:
    refusal = await refused(token)
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_TOKEN_REFUSED, {"cause": cause})


async def test_a_header_can_bring_no_key_of_its_own() -> None:
    own = RSAAlgorithm.to_jwk(OTHER_RSA.public_key(), as_dict=True)
    token = signed(OTHER_RSA, headers={"jwk": own, "jku": "https://evil.example.org/keys", "x5u": "https://evil"})
    assert (await refused(token)).metadata == {"cause": "signature"}


async def test_a_subject_that_no_user_id_holds_is_refused_as_such() -> None:
    for subject in ("", "a\nb", "x" * 128):
        assert (await refused(signed(sub=subject))).reason == Reason.REASON_INVALID_USER_ID


async def test_the_scope_is_looked_at_where_one_is_required() -> None:
    provider = await reached(rules(scope="lakeward"))
    assert (await refused(signed(scope="openid"), provider)).metadata == {"cause": "scope"}
    assert (await identify(signed(scope="openid lakeward"), provider)).principal.user_id == "oidc~ann"


async def test_without_a_configured_audience_any_token_of_the_issuer_is_taken() -> None:
    provider = await reached(rules(audiences=None))
    assert (await identify(signed(aud=...), provider)).principal.user_id == "oidc~ann"
    assert (await identify(signed(aud=["x"]), provider)).principal.user_id == "oidc~ann"


async def test_an_additional_issuer_is_as_good() -> None:
    provider = await reached(rules(additional_issuers=frozenset({"https://sts.windows.net/t/"})))
    assert (await identify(signed(iss="https://sts.windows.net/t/"), provider)).principal.user_id == "oidc~ann"


async def test_the_first_provider_that_fits_has_the_only_say() -> None:
    without_key = await reached(rules("oidc"), keys={"keys": [jwk("ec")]})
    with_key = await reached(rules("second"))
    assert (await refused(signed(), without_key, with_key)).metadata == {"cause": "key"}
    assert (await identify(signed(), with_key, without_key)).principal.user_id == "second~ann"


async def test_two_providers_of_one_issuer_are_told_apart_by_audience() -> None:
    providers = [await reached(rules(name, audiences=frozenset({name}))) for name in ("first", "second")]
    assert (await identify(signed(aud="second"), *providers)).principal.user_id == "second~ann"
    assert (await refused(signed(aud="third"), *providers)).metadata == {"cause": "audience"}


async def test_a_token_of_a_provider_that_was_never_reached_is_not_refused_but_put_off() -> None:
    away = unreached(rules("away", uri="https://away.example.org/"))
    here = await reached(rules("here", uri=ISSUER))
    assert (await identify(signed(), away, here)).principal.user_id == "here~ann"
    for issuer in ("https://away.example.org", "https://away.example.org/", "https://who-knows.example.org"):
        refusal = await refused(signed(iss=issuer), here, away)
        assert (refusal.reason, refusal.metadata) == (
            Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE,
            {"provider": "away"},
        )


async def test_a_token_of_nobodys_is_told_whose_would_be_taken() -> None:
    first = await reached(rules("oidc", additional_issuers=frozenset({"https://alias.example.org"})))
    second = unreached(rules("second", uri="https://second.example.org", audiences=frozenset({"other"})))
    refusal = await refused(signed(iss="https://evil.example.org"), first, second)
    assert refusal.message == (
        "the bearer token is refused: its issuer 'https://evil.example.org' is not one that this server trusts: "
        f"https://alias.example.org or {ISSUER} (audience lake or lakehouse); https://second.example.org (audience other)"
    )


async def test_a_token_for_others_is_told_which_audience_its_issuer_would_have_to_name() -> None:
    first, second = await reached(rules()), await reached(rules("second", audiences=frozenset({"b"})), "https://b")
    refusal = await refused(signed(aud="elsewhere"), first, second)
    assert refusal.message.endswith(f"which takes tokens of {ISSUER} (audience lake or lakehouse)")


async def test_each_provider_has_a_leeway_of_its_own() -> None:
    strict = await reached(rules(leeway=timedelta(0)))
    generous = await reached(rules(leeway=timedelta(hours=1)))
    ended = signed(exp=int(NOW.timestamp()) - 60)
    assert (await refused(ended, strict)).metadata == {"cause": "expired"}
    assert (await identify(ended, generous)).principal.user_id == "oidc~ann"


async def test_engines_are_matched_by_the_verified_token() -> None:
    trino = EngineTokens("trino", "oidc", frozenset({"lake"}), frozenset())
    matched = await (await authenticator(engines=(trino,))).identify(f"Bearer {signed(aud='lake')}")
    assert matched.principal.engines == ("trino",)


async def test_the_revision_is_one_for_one_configuration_and_another_for_another() -> None:
    revisions = []
    for its in (rules(), rules(), rules(scope=""), rules(audiences=None)):
        token = signed(scope=" x")
        revisions.append((await identify(token, await reached(its))).revision)
    assert revisions[0] == revisions[1]
    assert len(set(revisions)) == 3


@pytest.mark.parametrize(
    "unusable",
    [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "x"},
        jwk("rsa", use="enc"),
        jwk("rsa", alg="HS256"),
        jwk("rsa", alg="none"),
        jwk("rsa", kid=None),
        jwk("rsa", n="AQ"),
        jwk("rsa", n=5),
        jwk("ec", crv="secp256k1"),
        jwk("ec", x="AA"),
        {**dict(RSAAlgorithm.to_jwk(RSA, as_dict=True)), "kid": "private"},
        "text",
        None,
    ],
)
def test_a_key_that_proves_nothing_is_left_out(unusable: object) -> None:
    assert set(signing_keys({"keys": [unusable, jwk("ed")]})) == {"ed"}


def test_short_rsa_keys_are_left_out() -> None:
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    listed = {**dict(RSAAlgorithm.to_jwk(short.public_key(), as_dict=True)), "kid": "short"}
    assert set(signing_keys({"keys": [listed, jwk("ed")]})) == {"ed"}


@pytest.mark.parametrize("document", [None, [], {}, {"keys": "text"}, {"keys": []}, {"keys": {"a": 1}}])
def test_a_document_without_usable_keys_is_no_key_set(document: object) -> None:
    with pytest.raises(ValueError, match="key"):
        signing_keys(document)


def test_no_symmetric_algorithm_counts() -> None:
    assert not {name for name in ALGORITHMS if name.startswith("HS") or name.lower() == "none"}
