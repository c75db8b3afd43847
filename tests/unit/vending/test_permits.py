from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from lakeward_protocol.vending.v1 import permits_pb2 as pb
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.permits import LIFETIME_SECONDS, PermitSigner, PermitVerifier, Seal, SealingSigner

SIGNER = PermitSigner(Ed25519PrivateKey.generate())
NOW = 1_800_000_000.0


def claims(**changes: object) -> pb.PermitClaims:
    made = pb.PermitClaims(
        warehouse_id=b"w" * 16,
        location="s3://lake/wh/t1",
        access=pb.ACCESS_READ,
        purpose=pb.PURPOSE_VEND,
        profile_sha256=b"p" * 32,
    )
    made.issued_at.FromSeconds(int(NOW))
    made.expires_at.FromSeconds(int(NOW + LIFETIME_SECONDS))
    for name, value in changes.items():
        if name.endswith("_at"):
            getattr(made, name).FromSeconds(value)
        else:
            setattr(made, name, value)
    return made


def verifier(now: float = NOW, *, keys: tuple[bytes, ...] = (SIGNER.public_key,)) -> PermitVerifier:
    return PermitVerifier(keys, now=lambda: now)


def cause(permit: pb.Permit, by: PermitVerifier | None = None) -> str:
    with pytest.raises(Refusal) as caught:
        (by or verifier()).verify(permit)
    assert caught.value.reason == Reason.REASON_PERMIT_REFUSED
    return caught.value.metadata["cause"]


def test_a_permit_says_what_was_signed() -> None:
    assert verifier().verify(SIGNER.sign(claims())) == claims()


def test_a_sealed_permit_holds_for_who_has_its_seal_and_for_nobody_else() -> None:
    seal = Seal()
    sealed = SealingSigner(Ed25519PrivateKey.generate(), seal).sign(claims())
    assert PermitVerifier([], seal=seal, now=lambda: NOW).verify(sealed) == claims()
    assert cause(sealed, PermitVerifier([], seal=Seal(), now=lambda: NOW)) == "forged"
    assert cause(sealed) == "unknown-key"


def test_a_seal_is_of_its_claims_alone() -> None:
    seal = Seal()
    sealed = SealingSigner(Ed25519PrivateKey.generate(), seal).sign(claims())
    other = claims(location="s3://lake/wh/t2").SerializeToString()
    for forged in (
        pb.Permit(claims=other, signature=sealed.signature, key_id=sealed.key_id),
        pb.Permit(claims=sealed.claims, signature=sealed.signature[:-1], key_id=sealed.key_id),
    ):
        assert cause(forged, PermitVerifier([], seal=seal, now=lambda: NOW)) == "forged"


def test_who_has_a_seal_takes_what_a_key_signed_only_by_that_key() -> None:
    permit = SIGNER.sign(claims())
    assert PermitVerifier([SIGNER.public_key], seal=Seal(), now=lambda: NOW).verify(permit) == claims()
    assert cause(permit, PermitVerifier([], seal=Seal(), now=lambda: NOW)) == "unknown-key"


def test_any_of_several_keys_holds() -> None:
    other = PermitSigner(Ed25519PrivateKey.generate())
    both = verifier(keys=(other.public_key, SIGNER.public_key))
    assert both.verify(SIGNER.sign(claims())) == both.verify(other.sign(claims()))


def test_no_permit_is_refused() -> None:
    assert cause(pb.Permit()) == "missing"


def test_a_permit_of_another_key_is_refused() -> None:
    assert cause(PermitSigner(Ed25519PrivateKey.generate()).sign(claims())) == "unknown-key"


def test_a_signature_by_another_key_under_the_catalog_s_id_is_forged() -> None:
    forged = PermitSigner(Ed25519PrivateKey.generate()).sign(claims())
    forged.key_id = SIGNER.sign(claims()).key_id
    assert cause(forged) == "forged"


def test_a_signature_over_bare_claims_is_forged() -> None:
    key = Ed25519PrivateKey.generate()
    permit = PermitSigner(key).sign(claims())
    permit.signature = key.sign(permit.claims)
    assert cause(permit, verifier(keys=(PermitSigner(key).public_key,))) == "forged"


@given(at=st.integers(0), bit=st.integers(0, 7))
def test_no_changed_bit_of_claims_or_signature_holds(at: int, bit: int) -> None:
    for field in ("claims", "signature"):
        permit = SIGNER.sign(claims())
        changed = bytearray(getattr(permit, field))
        changed[at % len(changed)] ^= 1 << bit
        setattr(permit, field, bytes(changed))
        assert cause(permit) == "forged"


@pytest.mark.parametrize(
    ("expected", "changes", "now"),
    [
        ("expired", {}, NOW + 60),
        ("not-yet-valid", {}, NOW - 11),
        ("too-long", {"expires_at": int(NOW) + 61}, NOW),
        ("too-long", {"expires_at": int(NOW) + 61, "purpose": pb.PURPOSE_SIGN}, NOW),
    ],
)
def test_a_permit_outside_of_its_time_is_refused(expected: str, changes: dict[str, object], now: float) -> None:
    assert cause(SIGNER.sign(claims(**changes)), verifier(now)) == expected


def test_a_permit_that_was_verified_once_still_expires() -> None:
    now = [NOW]
    checking = PermitVerifier((SIGNER.public_key,), now=lambda: now[0])
    permit = SIGNER.sign(claims())
    checking.verify(permit)
    now[0] += LIFETIME_SECONDS
    assert cause(permit, checking) == "expired"


def test_a_scope_s_signature_is_no_permit_s_and_a_permit_s_no_scope_s() -> None:
    permit = SIGNER.sign(claims())
    as_scope = SIGNER.sign_scope(permit.claims)
    assert cause(pb.Permit(claims=permit.claims, signature=as_scope, key_id=permit.key_id)) == "forged"
    assert not SIGNER.signed_scope(permit.claims, permit.signature)
    assert SIGNER.signed_scope(permit.claims, as_scope)
    assert not SIGNER.signed_scope(permit.claims + b"x", as_scope)
    assert not PermitSigner(Ed25519PrivateKey.generate()).signed_scope(permit.claims, as_scope)


@pytest.mark.parametrize("signature", [b"", b"short", b"x" * 64, b"x" * 65])
def test_bytes_that_are_no_signature_sign_nothing(signature: bytes) -> None:
    assert not SIGNER.signed_scope(b"message", signature)
