from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.adapters.postgres.sealing import KeyRing, Sealed

ID = UUID(int=1)
RING = KeyRing({"new": b"n" * 32, "old": b"o" * 32})


@given(text=st.binary(max_size=200))
def test_what_is_sealed_opens_with_the_same_ring(text: bytes) -> None:
    sealed = RING.seal(text, secret_id=ID)
    assert sealed.key_id == "new"
    assert RING.open(sealed, secret_id=ID) == text


def test_two_seals_of_one_text_differ() -> None:
    assert RING.seal(b"x", secret_id=ID) != RING.seal(b"x", secret_id=ID)


@pytest.mark.parametrize(
    ("ring", "secret_id", "key_id"),
    [
        (RING, UUID(int=2), "new"),
        (KeyRing({"new": b"x" * 32}), ID, "new"),
        (KeyRing({"other": b"n" * 32}), ID, "new"),
    ],
)
def test_a_seal_opens_with_its_own_key_and_in_its_own_row_alone(ring: KeyRing, secret_id: UUID, key_id: str) -> None:
    with pytest.raises(Refusal) as caught:
        ring.open(RING.seal(b"x", secret_id=ID), secret_id=secret_id)
    assert (caught.value.reason, caught.value.metadata) == (Reason.REASON_SECRET_UNREADABLE, {"key_id": key_id})


@given(at=st.integers(0), bit=st.integers(0, 7))
def test_no_changed_bit_opens(at: int, bit: int) -> None:
    sealed = RING.seal(b"secret text", secret_id=ID)
    changed = bytearray(sealed.ciphertext)
    changed[at % len(changed)] ^= 1 << bit
    with pytest.raises(Refusal):
        RING.open(Sealed(sealed.key_id, sealed.nonce, bytes(changed)), secret_id=ID)


def test_a_ring_needs_a_key() -> None:
    with pytest.raises(ValueError, match="needs a key"):
        KeyRing({})
