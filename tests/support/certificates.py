"""Certificates for tests: an authority of one's own, and what it issues."""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority whose files lie in `folder`."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = _named(name)
        self._certificate = self._build(
            self._subject, self._key.public_key(), authority=True, hosts=("localhost", "127.0.0.1")
        )
        self.own = self._write(name, self._certificate, self._key)

    @property
    def certificate(self) -> Path:
        """What clients are to trust; used as a server's, it is the mistake that is named CaUsedAsEndEntity."""
        return self.own.certificate

    def issue(
        self, name: str = "leaf", *, hosts: tuple[str, ...] = ("localhost", "127.0.0.1"), expired: bool = False
    ) -> Pair:
        """A server's certificate for `hosts`."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._build(_named(name), key.public_key(), authority=False, hosts=hosts, expired=expired)
        return self._write(name, certificate, key)

    def _build(
        self,
        subject: x509.Name,
        public_key: ec.EllipticCurvePublicKey,
        *,
        authority: bool,
        hosts: tuple[str, ...],
        expired: bool = False,
    ) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        constraints = x509.BasicConstraints(ca=authority, path_length=None)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._subject)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 3 * _DAY)
            .not_valid_after(now - _DAY if expired else now + 3 * _DAY)
            .add_extension(constraints, critical=True)
            .add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _write(self, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
        pair = Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return pair


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
