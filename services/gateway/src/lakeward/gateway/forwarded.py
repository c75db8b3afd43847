"""Where links to this server begin: the outside base, from settings, from a trusted proxy's headers, or from Host."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from lakeward.servicekit.remembering import remembered

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_HOST: Final = re.compile(r"(?:[A-Za-z0-9._\-]+|\[[0-9A-Fa-f:.]+\])(?P<port>:[0-9]{1,5})?")
_PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9._~\-]+)*")
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
_FORWARDED: Final = (b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-port", b"x-forwarded-prefix")
# Characters: of an IPv6 address with its zone, and of a scheme with a host as long as DNS lets one be, and its port.
_MAX_ADDRESS: Final = 64
_MAX_HOST: Final = 270
_FORWARDED_NAMES: Final = frozenset(_FORWARDED)


class Links:
    """Finds the base of links for each request.

    Args:
        base_uri: always the base, where it is set.
        heed_forwarded: whether X-Forwarded-Host, -Proto, -Port and -Prefix count, where a trusted proxy sends them.
        trusted_proxies: networks whose word is believed.
    """

    def __init__(self, *, base_uri: str | None, heed_forwarded: bool, trusted_proxies: Sequence[Network]) -> None:
        """See the class."""
        self._fixed: Final = None if base_uri is None else base_uri.rstrip("/")
        self._heed: Final = heed_forwarded
        self._networks: Final = tuple(trusted_proxies)
        # one process sees few proxies and few names, so both answers are kept
        self._trusts: Final = remembered(entries=4096, longest=_MAX_ADDRESS)(self._is_trusted)
        self._of_host: Final = remembered(entries=1024, longest=_MAX_HOST)(_direct)

    def base(self, scheme: str, client: str | None, headers: Mapping[bytes, bytes]) -> str:
        """The base without a trailing slash; empty where nothing says what it is.

        Args:
            scheme: of the connection.
            client: the peer's address; None where it has none.
            headers: of the request, by lower-case name.
        """
        if self._fixed is not None:
            return self._fixed
        if self._heed and not _FORWARDED_NAMES.isdisjoint(headers) and self._trusts(client):
            return _forwarded(headers)
        return self._of_host(scheme, headers.get(b"host", b""))

    def _is_trusted(self, client: str | None) -> bool:
        try:
            address = ipaddress.ip_address(client or "")
        except ValueError:
            return False
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address.version == network.version and address in network for network in self._networks)


def _direct(scheme: str, host: bytes) -> str:
    name = host.decode("latin-1").strip()
    return f"{scheme}://{name}" if _HOST.fullmatch(name) else ""


def _forwarded(headers: Mapping[bytes, bytes]) -> str:
    """The base as the proxy that is nearest to the client saw it: the first of each header's values."""
    host, proto, port, prefix = (
        headers.get(name, b"").decode("latin-1").split(",", 1)[0].strip() for name in _FORWARDED
    )
    host = host or headers.get(b"host", b"").decode("latin-1").strip()
    scheme = proto.lower() if proto.lower() in _DEFAULT_PORTS else "https"
    match = _HOST.fullmatch(host)
    if match is None:
        return ""
    if match["port"] is None and port.isascii() and port.isdigit() and port != _DEFAULT_PORTS[scheme]:
        host = f"{host}:{int(port)}"
    prefix = prefix.rstrip("/")
    return f"{scheme}://{host}{prefix if _PREFIX.fullmatch(prefix) else ''}"
