from __future__ import annotations

import base64
import dataclasses
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from lakeward_protocol.common.v1.options_pb2 import (
    CALLER_AUTHZ,
    CALLER_CATALOG,
    CALLER_GATEWAY,
    CALLER_USER,
    CALLER_VENDING,
    Caller,
)
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc.client import WORKLOAD_KEY
from lakeward_servicekit.workload import (
    METADATA_KEY,
    SERVICES,
    WorkloadIdentity,
    WorkloadVerifier,
    caller_of_names,
    private_key_of,
)

NOW = 1_800_000_000.0


@dataclasses.dataclass
class Time:
    now: float = NOW

    def __call__(self) -> float:
        return self.now


def public(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


CATALOG_KEY = Ed25519PrivateKey.generate()
GATEWAY_KEY = Ed25519PrivateKey.generate()
PEERS = {"catalog": public(CATALOG_KEY), "gateway": public(GATEWAY_KEY)}


def verifier(time: Time | None = None) -> WorkloadVerifier:
    return WorkloadVerifier("authz", PEERS, now=time or Time())


def claims(**changed: object) -> dict[str, Any]:
    every = {"iss": "catalog", "aud": "authz", "iat": int(NOW), "exp": int(NOW) + 300, **changed}
    return {name: value for name, value in every.items() if value is not None}


def signed(key: Any = CATALOG_KEY, algorithm: str = "EdDSA", **changed: object) -> dict[str, str]:
    return {METADATA_KEY: jwt.encode(claims(**changed), key, algorithm=algorithm)}


def assert_refused(metadata: dict[str, str], *names: str, time: Time | None = None) -> Refusal:
    with pytest.raises(Refusal) as refused:
        verifier(time).caller_of(metadata, names)
    assert refused.value.reason == Reason.REASON_WORKLOAD_REFUSED
    return refused.value


def test_the_key_in_the_metadata_is_the_one_that_channels_send() -> None:
    assert METADATA_KEY == WORKLOAD_KEY


def test_every_caller_but_users_is_a_service() -> None:
    assert {*SERVICES.values(), CALLER_USER} == {value for value in Caller.values() if value}


def test_a_service_is_known_by_its_own_token() -> None:
    token = WorkloadIdentity("catalog", CATALOG_KEY, now=Time()).token_for("authz")
    assert verifier().caller_of({METADATA_KEY: token}, ()) == CALLER_CATALOG


def test_who_proves_nothing_is_a_user() -> None:
    assert verifier().caller_of({"authorization": "Bearer x"}, ("envoy", "10.0.0.1")) == CALLER_USER


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param(signed(aud="vending"), id="for another service"),
        pytest.param(signed(key=GATEWAY_KEY), id="signed by another service"),
        pytest.param(signed(iss="vending"), id="from a service without a configured key"),
        pytest.param(signed(iss="user"), id="from nobody"),
        pytest.param(signed(iat=int(NOW) - 400, exp=int(NOW) - 100), id="expired"),
        pytest.param(signed(iat=int(NOW) + 60), id="from the future"),
        pytest.param(signed(exp=int(NOW) + 301), id="good for too long"),
        pytest.param(signed(exp=None), id="without an end"),
        pytest.param(signed(iat=None), id="without a beginning"),
        pytest.param(signed(exp=float("inf")), id="an end that never comes"),
        pytest.param(signed(aud=None), id="for nobody"),
        pytest.param(signed(key="", algorithm="none"), id="unsigned"),
        pytest.param(signed(key=PEERS["catalog"], algorithm="HS256"), id="public key as an HMAC secret"),
        pytest.param({METADATA_KEY: ""}, id="empty"),
        pytest.param({METADATA_KEY: "a.b.c"}, id="no token"),
        pytest.param({METADATA_KEY: "é" * 3000}, id="oversize"),
    ],
)
def test_a_proof_that_does_not_hold_is_refused_rather_than_taken_for_a_users_call(metadata: dict[str, str]) -> None:
    token = metadata[METADATA_KEY]
    assert not token or token not in str(assert_refused(metadata))


def test_a_changed_token_is_refused() -> None:
    head, body, signature = signed()[METADATA_KEY].split(".")
    changed = ("A" if signature[0] != "A" else "B") + signature[1:]
    assert_refused({METADATA_KEY: f"{head}.{body}.{changed}"})


def test_a_token_is_minted_once_until_near_its_end_and_per_peer() -> None:
    time = Time()
    identity = WorkloadIdentity("catalog", CATALOG_KEY, now=time)
    first = identity.token_for("authz")
    time.now += 239
    assert identity.token_for("authz") == first
    assert identity.token_for("vending") != first
    time.now += 2
    assert identity.token_for("authz") != first


def test_a_verified_token_is_not_verified_again_and_ends_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    time = Time()
    accepting = verifier(time)
    metadata = signed()
    accepting.caller_of(metadata, ())
    monkeypatch.setattr(jwt, "decode", lambda *_, **__: pytest.fail("verified twice"))
    time.now += 299
    assert accepting.caller_of(metadata, ()) == CALLER_CATALOG
    monkeypatch.undo()
    time.now += 20
    with pytest.raises(Refusal, match="expired"):
        accepting.caller_of(metadata, ())


def test_the_cache_of_verified_tokens_is_bounded() -> None:
    time = Time()
    accepting = verifier(time)
    for number in range(1100):
        accepting.caller_of(signed(jti=str(number)), ())
    assert len(accepting._verified) <= 1024


@pytest.mark.parametrize(
    ("names", "caller"),
    [
        (("vending",), CALLER_VENDING),
        (("spiffe://lake.example.org/ns/prod/gateway", "10.0.0.7"), CALLER_GATEWAY),
        (("authz", "spiffe://lake/authz"), CALLER_AUTHZ),
        (("catalog.example.org", "not-catalog", "spiffe://catalog", "https://x/catalog"), None),
        ((), None),
    ],
)
def test_a_certificate_names_its_service_exactly_or_none(names: tuple[str, ...], caller: int | None) -> None:
    assert caller_of_names(names) == caller


def test_contradicting_proofs_are_refused() -> None:
    assert_refused({}, "catalog", "vending")
    assert_refused(signed(), "gateway")
    assert verifier().caller_of(signed(), ("catalog",)) == CALLER_CATALOG


def test_a_bad_token_is_refused_even_beside_a_good_certificate() -> None:
    assert_refused({METADATA_KEY: "a.b.c"}, "catalog")


def test_private_keys_come_as_pem_or_base64() -> None:
    pem = CATALOG_KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    raw = CATALOG_KEY.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    texts = [pem, base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode().rstrip("=") + "\n"]
    assert {public(private_key_of(text)) for text in texts} == {public(CATALOG_KEY)}


def test_a_key_of_another_algorithm_is_refused() -> None:
    rsa = generate_private_key(public_exponent=65537, key_size=2048)
    pem = rsa.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    with pytest.raises(ValueError, match="Ed25519"):
        private_key_of(pem)


def test_a_misspelt_service_stops_the_construction() -> None:
    with pytest.raises(ValueError, match="catalogue"):
        WorkloadVerifier("authz", {"catalogue": PEERS["catalog"]})
    with pytest.raises(ValueError, match="catalogue"):
        WorkloadIdentity("catalogue", CATALOG_KEY)
