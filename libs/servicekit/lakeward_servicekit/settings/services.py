"""Where services find each other, and how each proves itself to its peers."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.model import Contradiction, Settings, setting

_ED25519_BYTES: Final = 32


class PeerSettings(Settings):
    """Where peers are, as host:port."""

    catalog: str = setting(
        "CATALOG__ADDRESS",
        kinds.ENDPOINT,
        "127.0.0.1:8191",
        "Where peers find catalog.",
        family=Family.OURS,
        services=(Service.GATEWAY, Service.AUTHZ, Service.CLI),
    )
    authz: str = setting(
        "AUTHZ__ADDRESS",
        kinds.ENDPOINT,
        "127.0.0.1:8192",
        "Where peers find authz.",
        family=Family.OURS,
        services=(Service.GATEWAY, Service.CATALOG, Service.VENDING, Service.CLI),
    )
    vending: str = setting(
        "VENDING__ADDRESS",
        kinds.ENDPOINT,
        "127.0.0.1:8193",
        "Where peers find vending.",
        family=Family.OURS,
        services=(Service.GATEWAY, Service.CATALOG, Service.CLI),
    )


class TlsSettings(Settings):
    """TLS between services. Files are read when a listener or a channel is made."""

    cert_file: Path | None = setting(
        "TLS__CERT_FILE",
        kinds.PATH,
        None,
        "Certificate chain of this process, PEM; gRPC is served with TLS.",
        family=Family.OURS,
    )
    key_file: Path | None = setting("TLS__KEY_FILE", kinds.PATH, None, "Its private key, PEM.", family=Family.OURS)
    ca_file: Path | None = setting(
        "TLS__CA_FILE",
        kinds.PATH,
        None,
        "CA bundle that peers' certificates are verified with; calls use TLS.",
        family=Family.OURS,
    )
    client_ca_file: Path | None = setting(
        "TLS__CLIENT_CA_FILE",
        kinds.PATH,
        None,
        "CA bundle that callers' certificates must come from (mTLS).",
        family=Family.OURS,
    )

    def __post_init__(self) -> None:
        wrong: list[tuple[str, str]] = []
        if self.cert_file is None and self.key_file is not None:
            wrong.append(("TLS__CERT_FILE", "is missing; TLS__KEY_FILE is set and needs it"))
        if self.cert_file is not None and self.key_file is None:
            wrong.append(("TLS__KEY_FILE", "is missing; TLS__CERT_FILE is set and needs it"))
        if self.client_ca_file is not None and self.cert_file is None:
            wrong.append(
                ("TLS__CLIENT_CA_FILE", "is set without TLS__CERT_FILE, so no caller would be asked for anything")
            )
        for name in ("cert_file", "key_file", "ca_file", "client_ca_file"):
            path = getattr(self, name)
            if path is not None and not path.is_file():
                wrong.append((f"TLS__{name.upper()}", f"is {str(path)!r}, where there is no file"))
        if wrong:
            raise Contradiction(*wrong)

    @property
    def serves_tls(self) -> bool:
        """Whether this process's gRPC listener has a certificate."""
        return self.cert_file is not None


class WorkloadSettings(Settings):
    """How this process proves which service it is, and whose proofs it accepts."""

    private_key: SecretStr | None = setting(
        "WORKLOAD__PRIVATE_KEY",
        kinds.SECRET,
        None,
        "Ed25519 key this process proves itself with to its peers: PEM, or the 32 bytes in base64.",
        family=Family.OURS,
    )
    peers: tuple[tuple[str, str], ...] | None = setting(
        "WORKLOAD__PEERS",
        kinds.ID_PAIRS,
        None,
        "service:key pairs, a key being the 32 bytes of an Ed25519 public key in base64.",
        family=Family.OURS,
    )

    def __post_init__(self) -> None:
        wrong: list[tuple[str, str]] = []
        if self.private_key is not None and not _is_private(self.private_key.get_secret_value()):
            wrong.append(("WORKLOAD__PRIVATE_KEY", "is neither PEM nor 32 bytes in base64"))
        wrong.extend(
            ("WORKLOAD__PEERS", f"has a key for {service!r} that is not 32 bytes in base64")
            for service, key in self.peers or ()
            if len(_decoded(key)) != _ED25519_BYTES
        )
        if wrong:
            raise Contradiction(*wrong)

    @property
    def peer_keys(self) -> Mapping[str, bytes]:
        """Ed25519 public keys, 32 bytes each, by service."""
        return {service: _decoded(key) for service, key in self.peers or ()}


def _is_private(text: str) -> bool:
    return text.lstrip().startswith("-----BEGIN") or len(_decoded(text.strip())) == _ED25519_BYTES


def _decoded(text: str) -> bytes:
    standard = text.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""
