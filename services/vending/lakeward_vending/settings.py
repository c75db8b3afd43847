"""What vending is told at start."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import functools
import hashlib
from datetime import timedelta
from typing import Final, Literal

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.kinds import Network
from lakeward_servicekit.settings.model import Contradiction, Settings, setting
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.server import ServerSettings
from lakeward_servicekit.settings.storage import SystemIdentitySettings

KEY_BYTES: Final = 32
PASSPHRASE_ID: Final = "passphrase"  # noqa: S105 - the id of a key, not the key
_SALT: Final = b"lakeward secret store, key from PG_ENCRYPTION_KEY"
_PLACEHOLDER: Final = "<This is unsafe, please set a proper key>"
_PLACEHOLDERS: Final = frozenset(
    {"", "changeme", "change-me", "secret", _PLACEHOLDER.lower(), _PLACEHOLDER[1:-1].lower()}
)
_VENDING: Final = frozenset({Service.VENDING})


class StorageSettings(SystemIdentitySettings, read_by=_VENDING):
    """What vending may do with storage: whose credentials, which addresses."""

    skip_validation: bool = setting(
        "SKIP_STORAGE_VALIDATION",
        kinds.BOOLEAN,
        "false",
        "Whether a warehouse's storage is accepted unseen; for tests.",
    )
    aws_direct_system_credentials: bool = setting(
        "S3_ENABLE_DIRECT_SYSTEM_CREDENTIALS",
        kinds.BOOLEAN,
        "false",
        "Whether they may use it without assuming a role.",
    )
    aws_external_id_required: bool = setting(
        "S3_REQUIRE_EXTERNAL_ID_FOR_SYSTEM_CREDENTIALS",
        kinds.BOOLEAN,
        "true",
        "Whether a role assumed with it needs an external id.",
    )
    deny_addresses: tuple[Network, ...] = setting(
        "STORAGE_DENY_ADDRESSES",
        kinds.NETWORKS,
        "169.254.0.0/16,fe80::/10,fd00:ec2::254/128,100.100.100.200/32",
        "Networks no store may lie in; the metadata services of clouds by default.",
        family=Family.OURS,
    )
    allow_addresses: tuple[Network, ...] = setting(
        "STORAGE_ALLOW_ADDRESSES",
        kinds.NETWORKS,
        "",
        "Networks a store may lie in though they are denied.",
        family=Family.OURS,
    )
    calls_per_store: int = setting(
        "STORAGE_CALLS_AT_ONCE",
        kinds.integer(minimum=1, maximum=512),
        "64",
        "Calls to one store at once, by one process; others have slots of their own.",
        family=Family.OURS,
    )
    failures_until_a_store_is_left_alone: int = setting(
        "STORAGE_BREAKER_FAILURES",
        kinds.integer(maximum=1000),
        "10",
        "Calls in a row, kept waiting for nothing, after which a store is left alone for 5 to 60 seconds; 0: never.",
        family=Family.OURS,
    )


class CacheSettings(Settings, read_by=_VENDING):
    """Caches. A credential's time to live of None means half its life, at most an hour."""

    credentials_enabled: bool = setting(
        "CACHE__STC__ENABLED", kinds.BOOLEAN, "true", "Whether vended credentials are cached."
    )
    credentials_capacity: int = setting(
        "CACHE__STC__CAPACITY", kinds.COUNT, "10000", "Most vended credentials in the cache."
    )
    credentials_time_to_live: timedelta | None = setting(
        "CACHE__STC__TIME_TO_LIVE_SECS", kinds.DURATION, None, "How long vended credentials stay cached."
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


class SecretSettings(Settings, read_by=_VENDING):
    """The secret store. `key_ring` is what encrypts: the first key writes, every key reads."""

    backend: Literal["postgres", "kv2"] = setting(
        "SECRET_BACKEND", kinds.word("postgres", "kv2"), "postgres", "Where storage secrets are kept."
    )
    pg_encryption_key: SecretStr = setting(
        "PG_ENCRYPTION_KEY",
        kinds.SECRET,
        _PLACEHOLDER,
        "Passphrase that storage secrets in Postgres are encrypted with. The default is refused.",
    )
    encryption_keys: tuple[tuple[str, SecretStr], ...] | None = setting(
        "ENCRYPTION_KEYS",
        kinds.SECRET_PAIRS,
        None,
        "Key ring of the secret store: id:key pairs, a key being 32 bytes in base64; the first one encrypts.",
        family=Family.OURS,
    )

    def __post_init__(self) -> None:
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


class VendingEndpoint(Settings, read_by={Service.VENDING, Service.CLI}):
    """Vending's own listener."""

    listen: str = setting(
        "VENDING__LISTEN", kinds.ENDPOINT, "127.0.0.1:8193", "Where vending serves gRPC.", family=Family.OURS
    )


@dataclasses.dataclass(frozen=True, slots=True)
class VendingSettings:
    """Everything that vending reads."""

    server: ServerSettings
    postgres: PostgresSettings
    secrets: SecretSettings
    storage: StorageSettings
    caches: CacheSettings


@dataclasses.dataclass(frozen=True)
class Alone:
    """Of a process that hosts vending alone."""

    joints: Joints
    endpoint: VendingEndpoint
    service: VendingSettings


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
