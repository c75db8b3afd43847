"""Encrypts secrets with AES-256-GCM under a ring of keys: the first one seals, each one opens what it sealed."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from lakeward_servicekit.errors import Reason, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from uuid import UUID

_NONCE_BYTES: Final = 12


@dataclasses.dataclass(frozen=True, slots=True)
class Sealed:
    """An encrypted text.

    Attributes:
        key_id: of the key that sealed it.
        nonce: 12 random bytes, of this text alone.
    """

    key_id: str
    nonce: bytes
    ciphertext: bytes


class KeyRing:
    """Keys by id.

    Args:
        keys: 32 bytes each, in order; the first one seals. At least one.
        random: gives that many random bytes.
    """

    def __init__(self, keys: Mapping[str, bytes], *, random: Callable[[int], bytes] = os.urandom) -> None:
        """Seal and open with `keys`; see the class."""
        if not keys:
            raise ValueError("a key ring needs a key")
        self.sealing_key_id: Final = next(iter(keys))
        self.key_ids: Final = tuple(keys)
        self._ciphers = {key_id: AESGCM(key) for key_id, key in keys.items()}
        self._random = random

    def seal(self, text: bytes, *, secret_id: UUID) -> Sealed:
        """Encrypt, so that it opens in the row of `secret_id` alone."""
        nonce = self._random(_NONCE_BYTES)
        ciphertext = self._ciphers[self.sealing_key_id].encrypt(nonce, text, secret_id.bytes)
        return Sealed(self.sealing_key_id, nonce, ciphertext)

    def open(self, sealed: Sealed, *, secret_id: UUID) -> bytes:
        """Decrypt.

        Raises:
            Refusal: SECRET_UNREADABLE: the key is not in the ring, or is another one of that id, or the row was changed.
        """
        cipher = self._ciphers.get(sealed.key_id)
        if cipher is None:
            raise _unreadable(sealed.key_id, "is not in the ring; put it back into LAKEWARD__ENCRYPTION_KEYS")
        try:
            return cipher.decrypt(sealed.nonce, sealed.ciphertext, secret_id.bytes)
        except InvalidTag as error:
            raise _unreadable(sealed.key_id, "is not the one that encrypted it, or the row was changed") from error


def _unreadable(key_id: str, fault: str) -> Refusal:
    return Refusal(
        Reason.REASON_SECRET_UNREADABLE, f"a storage secret can't be read: its key {key_id!r} {fault}", key_id=key_id
    )
