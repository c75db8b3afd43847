"""What vending is told at start."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import functools
import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final, Literal

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.audit import AuditSettings
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.events import EventSettings
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
_PLACE: Final = re.compile(r"/*(?!data(/|$))(?!\.\.?(/|$))[^/\s]+(/+(?!\.\.?(/|$))[^/\s]+)*/*")


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


class Kv2Settings(Settings, read_by=_VENDING):
    """A KV v2 store of secrets, in OpenBao or Vault. Without a URL there is none."""

    kv2_url: str | None = setting("KV2__URL", kinds.HTTP_URL, None, "Address of the key-value store (OpenBao, Vault).")
    kv2_secret_mount: str | None = setting(
        "KV2__SECRET_MOUNT", kinds.TEXT, None, "Mount of its KV v2 engine, or a path in it: kv, or kv/data/iceberg."
    )
    kv2_user: str | None = setting("KV2__USER", kinds.TEXT, None, "User of its userpass login.")
    kv2_password: SecretStr | None = setting("KV2__PASSWORD", kinds.SECRET, None, "Password of its userpass login.")
    kv2_login: Literal["userpass", "token", "approle", "kubernetes"] = setting(
        "KV2__LOGIN",
        kinds.word("userpass", "token", "approle", "kubernetes"),
        "userpass",
        "How vending logs in to the key-value store.",
        family=Family.OURS,
    )
    kv2_login_mount: str | None = setting(
        "KV2__LOGIN_MOUNT", kinds.TEXT, None, "Mount of that login; if unset, its own name.", family=Family.OURS
    )
    kv2_token: SecretStr | None = setting(
        "KV2__TOKEN", kinds.SECRET, None, "Token, for the login by one.", family=Family.OURS
    )
    kv2_token_path: Path | None = setting(
        "KV2__TOKEN_PATH",
        kinds.PATH,
        None,
        "File that an agent keeps a token in, for the login by one; read again whenever one is needed.",
        family=Family.OURS,
    )
    kv2_role_id: str | None = setting(
        "KV2__ROLE_ID", kinds.TEXT, None, "Role of the AppRole login.", family=Family.OURS
    )
    kv2_secret_id: SecretStr | None = setting(
        "KV2__SECRET_ID", kinds.SECRET, None, "Secret id of the AppRole login.", family=Family.OURS
    )
    kv2_kubernetes_role: str | None = setting(
        "KV2__KUBERNETES_ROLE", kinds.TEXT, None, "Role of the Kubernetes login.", family=Family.OURS
    )
    kv2_kubernetes_token_path: Path = setting(
        "KV2__KUBERNETES_TOKEN_PATH",
        kinds.PATH,
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
        "File with the service account's token for the Kubernetes login; read at each login.",
        family=Family.OURS,
    )
    kv2_namespace: str | None = setting(
        "KV2__NAMESPACE",
        kinds.TEXT,
        None,
        "Namespace of logins and secrets; if unset, the root one.",
        family=Family.OURS,
    )
    kv2_ca_file: Path | None = setting(
        "KV2__CA_FILE",
        kinds.PATH,
        None,
        "CA bundle that the key-value store is verified with, in place of all else that is trusted.",
        family=Family.OURS,
    )
    kv2_timeout: timedelta = setting(
        "KV2__TIMEOUT",
        kinds.DURATION,
        "5s",
        "Longest wait for each step of a call to the key-value store.",
        family=Family.OURS,
    )

    def _kv2_problems(self) -> Iterator[tuple[str, str]]:
        if self.kv2_url is None:
            return
        needed: Mapping[str, object] = {"SECRET_MOUNT": self.kv2_secret_mount}
        match self.kv2_login:
            case "userpass":
                needed = {**needed, "USER": self.kv2_user, "PASSWORD": self.kv2_password}
            case "token":
                needed = {**needed, "TOKEN": self.kv2_token or self.kv2_token_path}
            case "approle":
                needed = {**needed, "ROLE_ID": self.kv2_role_id, "SECRET_ID": self.kv2_secret_id}
            case "kubernetes":
                needed = {**needed, "KUBERNETES_ROLE": self.kv2_kubernetes_role}
        for name, value in needed.items():
            if not (value.get_secret_value() if isinstance(value, SecretStr) else value):
                login = "" if name == "SECRET_MOUNT" else f" with the login {self.kv2_login}"
                yield f"KV2__{name}", f"is missing; KV2__URL is set and needs it{login}"
        if self.kv2_secret_mount and _PLACE.fullmatch(self.kv2_secret_mount) is None:
            yield (
                "KV2__SECRET_MOUNT",
                f"is {self.kv2_secret_mount!r}; it must be a mount such as kv, or a path such as kv/data/iceberg",
            )
        if self.kv2_timeout <= timedelta(0):
            yield "KV2__TIMEOUT", "must be longer than nothing"


class SecretSettings(Kv2Settings, read_by=_VENDING):
    """The secret store. `key_ring` is what encrypts in Postgres: the first key writes, every key reads."""

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
        wrong_store = [*self._kv2_problems()]
        if self.backend == "kv2" and self.kv2_url is None:
            wrong_store.append(("KV2__URL", "is missing; SECRET_BACKEND is kv2 and needs it"))
        if wrong_store:
            raise Contradiction(*wrong_store)
        if self.backend == "postgres" and self.encryption_keys is None and not self._has_passphrase:
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
        """The first key encrypts; all decrypt. A passphrase stays readable after keys took its place.

        Empty only where secrets are kept in a KV v2 store and nothing says with what those in Postgres were encrypted.
        """
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
    events: EventSettings
    audit: AuditSettings


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
