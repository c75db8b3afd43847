"""TLS: which certificates every outbound client trusts, and what a failed handshake means.

Trusted are the public roots and, beside them, what SSL_CERT_FILE and SSL_CERT_DIR hold, or the system's own store where
neither is set.

A certificate authority's own certificate used as a server's is refused everywhere, since the Rust clients refuse it too,
and half of a system that works is harder to put right than one that says what is wrong.
"""

from __future__ import annotations

import functools
import os
import re
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import certifi

_CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_BASIC_CONSTRAINTS: Final = bytes.fromhex("0603551d13")  # the identifier 2.5.29.19 in DER
_CRITICAL: Final = bytes.fromhex("0101ff")
_TRUE: Final = bytes.fromhex("0101ff")
_HOSTNAME_MISMATCH: Final = 62
_EXPIRED: Final = 10
_UNTRUSTED: Final = frozenset({18, 19, 20, 21})

_CA_CURE: Final = (
    "the server presents a certificate authority's own certificate (CA:TRUE) as its own (CaUsedAsEndEntity); issue it a "
    "certificate from that authority, with CA:FALSE and the host in subjectAltName, and put the authority's certificate "
    "into SSL_CERT_FILE"
)
_UNTRUSTED_CURE: Final = (
    "the server's certificate comes from an authority that is not trusted; put the authority's certificate into "
    "SSL_CERT_FILE or SSL_CERT_DIR"
)
_HOSTNAME_CURE: Final = (
    "the server's certificate is for another host; use the host that stands in it, or issue one whose subjectAltName has "
    "the host that is used"
)
_EXPIRED_CURE: Final = "the server's certificate has expired or is not valid yet; renew it, or set the clock"


class CaUsedAsEndEntity(ssl.SSLCertVerificationError):
    """A server's certificate is a certificate authority's own."""


class TlsSetupError(Exception):
    """SSL_CERT_FILE or SSL_CERT_DIR names something that can't be used."""


# What a client says in text when it has no error number to say it with; the words are those of rustls and OpenSSL.
_SIGNS: Final = (
    ("CaUsedAsEndEntity", _CA_CURE),
    ("UnknownIssuer", _UNTRUSTED_CURE),
    ("unable to get local issuer", _UNTRUSTED_CURE),
    ("self-signed certificate", _UNTRUSTED_CURE),
    ("self signed certificate", _UNTRUSTED_CURE),
    ("NotValidForName", _HOSTNAME_CURE),
    ("Hostname mismatch", _HOSTNAME_CURE),
    ("doesn't match", _HOSTNAME_CURE),
    ("IP address mismatch", _HOSTNAME_CURE),
    ("certificate not valid for name", _HOSTNAME_CURE),
    ("certificate expired", _EXPIRED_CURE),
    ("certificate has expired", _EXPIRED_CURE),
    ("ExpiredContext", _EXPIRED_CURE),
    ("NotValidYet", _EXPIRED_CURE),
)


def client_context(
    *,
    ca_file: str | None = None,
    cert_file: str | None = None,
    key_file: str | None = None,
    key_password: str | None = None,
    check_hostname: bool = True,
) -> ssl.SSLContext:
    """A context that verifies servers. Building one takes some 20 ms, so share it.

    Args:
        ca_file: PEM bundle that is trusted in place of everything else.
        cert_file: PEM chain to present, where the server asks for one.
        key_file: its key; in `cert_file` if None.
        key_password: of the key.
        check_hostname: False trusts any host whose certificate verifies (`sslmode=verify-ca`).

    Raises:
        TlsSetupError: a file is missing or holds no certificate.
    """
    context = _Context(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = check_hostname
    if ca_file is not None:
        context.load_verify_locations(cadata=_certificates_in(Path(ca_file)))
    else:
        context.load_verify_locations(cadata=_public())
        added = added_certificates()
        if added is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(cadata=added)
    if cert_file is not None:
        context.load_cert_chain(cert_file, key_file, key_password)
    return context


@functools.lru_cache(maxsize=4)
def _shared(_file: str | None, _directory: str | None) -> ssl.SSLContext:
    return client_context()


def shared_context() -> ssl.SSLContext:
    """The context that clients without wishes of their own share; made again when the environment has changed."""
    return _shared(*_environment())


def added_certificates() -> str | None:
    """What SSL_CERT_FILE and SSL_CERT_DIR hold, PEM; None where neither is set.

    A folder's files count whatever their names, hashed or not.

    Raises:
        TlsSetupError: what is named does not exist, can't be read, or holds no certificate.
    """
    file, directory = _environment()
    if file is None and directory is None:
        return None
    blocks = [] if file is None else [_certificates_in(Path(file), "SSL_CERT_FILE")]
    for folder in (directory or "").split(os.pathsep):
        if folder:
            blocks.extend(_folder(Path(folder)))
    return "\n".join(dict.fromkeys(blocks))


def explain(error: BaseException) -> str | None:
    """What a failed handshake means and how it is cured; None where `error` is about something else.

    Args:
        error: what a client raised; its causes are looked at as well.
    """
    for each in _causes(error):
        if isinstance(each, CaUsedAsEndEntity):
            return _CA_CURE
        if isinstance(each, ssl.SSLCertVerificationError):
            if each.verify_code == _HOSTNAME_MISMATCH:
                return _HOSTNAME_CURE
            if each.verify_code == _EXPIRED:
                return _EXPIRED_CURE
            if each.verify_code in _UNTRUSTED:
                return _UNTRUSTED_CURE
        text = str(each)
        for sign, cure in _SIGNS:
            if sign in text:
                return cure
    return None


def is_authority(certificate: bytes) -> bool:
    """Whether a certificate (DER) is a certificate authority's: basicConstraints with CA:TRUE."""
    at = certificate.find(_BASIC_CONSTRAINTS)
    if at < 0:
        return False
    rest = certificate[at + len(_BASIC_CONSTRAINTS) :]
    rest = rest.removeprefix(_CRITICAL)  # the extension's own flag
    # OCTET STRING (04, length) around SEQUENCE (30, length) around BOOLEAN, which is left out where it is false.
    return rest[:1] == b"\x04" and rest[2:3] == b"\x30" and rest[4:7] == _TRUE


class _Checked(ssl.SSLObject):
    """A connection over memory buffers, as asyncio and uvloop make it."""

    def do_handshake(self) -> None:
        super().do_handshake()
        _refuse_authority(self.getpeercert(binary_form=True))


class _CheckedSocket(ssl.SSLSocket):
    """A connection over a socket, as synchronous clients make it."""

    def do_handshake(self, block: bool = False) -> None:  # noqa: FBT001, FBT002 - the signature is the standard library's
        super().do_handshake(block)
        _refuse_authority(self.getpeercert(binary_form=True))


class _Context(ssl.SSLContext):
    sslobject_class = _Checked
    sslsocket_class = _CheckedSocket


def _refuse_authority(certificate: bytes | None) -> None:
    if certificate is not None and is_authority(certificate):
        raise CaUsedAsEndEntity(_CA_CURE)


def _environment() -> tuple[str | None, str | None]:
    return os.environ.get("SSL_CERT_FILE") or None, os.environ.get("SSL_CERT_DIR") or None


@functools.cache
def _public() -> str:
    return "\n".join(_CERTIFICATE.findall(Path(certifi.where()).read_text(encoding="ascii", errors="ignore")))


def _certificates_in(path: Path, source: str = "the CA file") -> str:
    try:
        found = _CERTIFICATE.findall(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as why:
        raise TlsSetupError(f"{source} names {str(path)!r}, which can't be read: {why.strerror}") from why
    if not found:
        raise TlsSetupError(f"{source} names {str(path)!r}, which holds no PEM certificate")
    return "\n".join(found)


def _folder(path: Path) -> Iterator[str]:
    try:
        files = sorted(each for each in path.iterdir() if each.is_file())
    except OSError as why:
        raise TlsSetupError(f"SSL_CERT_DIR names {str(path)!r}, which can't be read: {why.strerror}") from why
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        yield from _CERTIFICATE.findall(text)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    pending: list[object] = [error]
    while pending:
        each = pending.pop(0)
        if not isinstance(each, BaseException) or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        pending += [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]
        pending += getattr(each, "kwargs", {}).values()  # botocore keeps the cause there
