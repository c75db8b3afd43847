"""Where the services listen and find each other, and how each proves itself to its peers."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self

from pydantic import SecretStr, model_validator

from lakeward_servicekit.settings.model import Contradiction, Settings, named

_ED25519_BYTES: Final = 32


class CatalogEndpoint(Settings):
    """The catalog's own listener."""

    listen: str = named("CATALOG__LISTEN")


class AuthzEndpoint(Settings):
    """Authz's own listener."""

    listen: str = named("AUTHZ__LISTEN")


class VendingEndpoint(Settings):
    """Vending's own listener."""

    listen: str = named("VENDING__LISTEN")


class PeerSettings(Settings):
    """Where peers are, as host:port."""

    catalog: str = named("CATALOG__ADDRESS")
    authz: str = named("AUTHZ__ADDRESS")
    vending: str = named("VENDING__ADDRESS")


class TlsSettings(Settings):
    """TLS between services. Files are read when a listener or a channel is made."""

    cert_file: Path | None = named("TLS__CERT_FILE")
    key_file: Path | None = named("TLS__KEY_FILE")
    ca_file: Path | None = named("TLS__CA_FILE")
    client_ca_file: Path | None = named("TLS__CLIENT_CA_FILE")

    @model_validator(mode="after")
    def _whole(self) -> Self:
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
        return self

    @property
    def serves_tls(self) -> bool:
        """Whether this process's gRPC listener has a certificate."""
        return self.cert_file is not None

    @property
    def calls_with_tls(self) -> bool:
        """Whether this process's gRPC channels verify their peers."""
        return self.ca_file is not None


class WorkloadSettings(Settings):
    """How this process proves which service it is, and whose proofs it accepts."""

    private_key: SecretStr | None = named("WORKLOAD__PRIVATE_KEY")
    peers: tuple[tuple[str, str], ...] | None = named("WORKLOAD__PEERS")

    @model_validator(mode="after")
    def _usable(self) -> Self:
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
        return self

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
