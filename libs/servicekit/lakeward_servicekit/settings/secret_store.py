"""Where storage secrets are kept, and what encrypts them."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import functools
import hashlib
from typing import Final, Literal, Self

from pydantic import SecretStr, model_validator

from lakeward_servicekit.settings.known.database import PLACEHOLDER_KEY
from lakeward_servicekit.settings.model import Contradiction, Settings, named

KEY_BYTES: Final = 32
PASSPHRASE_ID: Final = "passphrase"  # noqa: S105 - the id of a key, not the key
_SALT: Final = b"lakeward secret store, key from PG_ENCRYPTION_KEY"
_PLACEHOLDERS: Final = frozenset(
    {"", "changeme", "change-me", "secret", PLACEHOLDER_KEY.lower(), PLACEHOLDER_KEY[1:-1].lower()}
)


@dataclasses.dataclass(frozen=True, slots=True)
class EncryptionKey:
    """A symmetric key of the ring.

    Attributes:
        id: stored beside what the key encrypted.
        key: 32 bytes; never shown.
    """

    id: str
    key: bytes = dataclasses.field(repr=False)


class SecretSettings(Settings):
    """The secret store. `key_ring` is what encrypts: the first key writes, every key reads."""

    backend: Literal["postgres", "kv2"] = named("SECRET_BACKEND")
    pg_encryption_key: SecretStr = named("PG_ENCRYPTION_KEY")
    encryption_keys: tuple[tuple[str, SecretStr], ...] | None = named("ENCRYPTION_KEYS")

    @model_validator(mode="after")
    def _usable(self) -> Self:
        if self.backend != "postgres":
            raise Contradiction(
                ("SECRET_BACKEND", f"is {self.backend!r}, which this build has no adapter for; use postgres")
            )
        if self.encryption_keys is None and not self._has_passphrase:
            raise Contradiction(
                (
                    "PG_ENCRYPTION_KEY",
                    "is unset or a placeholder; set it, or LAKEWARD__ENCRYPTION_KEYS, to something secret and keep a copy",
                )
            )
        wrong = [key_id for key_id, key in self.encryption_keys or () if _decoded(key.get_secret_value()) is None]
        if wrong:
            raise Contradiction(
                ("ENCRYPTION_KEYS", f"has a key that is not {KEY_BYTES} bytes in base64, at the ids {', '.join(wrong)}")
            )
        if PASSPHRASE_ID in dict(self.encryption_keys or ()):
            raise Contradiction(("ENCRYPTION_KEYS", f"uses the id {PASSPHRASE_ID!r}, which means PG_ENCRYPTION_KEY"))
        return self

    @functools.cached_property
    def key_ring(self) -> tuple[EncryptionKey, ...]:
        """The first key encrypts; all decrypt. A passphrase stays readable after keys took its place."""
        ring = [
            EncryptionKey(key_id, _decoded(key.get_secret_value()) or b"") for key_id, key in self.encryption_keys or ()
        ]
        if self._has_passphrase:
            ring.append(EncryptionKey(PASSPHRASE_ID, _derived(self.pg_encryption_key.get_secret_value())))
        return tuple(ring)

    @property
    def _has_passphrase(self) -> bool:
        return self.pg_encryption_key.get_secret_value().strip().lower() not in _PLACEHOLDERS


def _decoded(text: str) -> bytes | None:
    try:
        key = base64.b64decode(
            text + "=" * (-len(text) % 4), altchars=b"-_" if "-" in text or "_" in text else None, validate=True
        )
    except (binascii.Error, ValueError):
        return None
    return key if len(key) == KEY_BYTES else None


def _derived(passphrase: str) -> bytes:
    """A passphrase may be short, so a guess has to cost something: 16 MiB and some 40 ms."""
    return hashlib.scrypt(passphrase.encode(), salt=_SALT, n=2**14, r=8, p=1, dklen=KEY_BYTES)
