"""What proxies say: where links to this server begin, and which client a request comes from."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from lakeward_servicekit.remembering import remembered

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_HOST: Final = re.compile(r"(?:[A-Za-z0-9._\-]+|\[[0-9A-Fa-f:.]+\])(?P<port>:[0-9]{1,5})?")
_PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9._~\-]+)*")
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
_FORWARDED: Final = (b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-port", b"x-forwarded-prefix")
# Characters: of an IPv6 address with its zone, and of a scheme with a host as long as DNS lets one be, and its port.
_MAX_ADDRESS: Final = 64
_MAX_HOST: Final = 270
# Bytes of X-Forwarded-For that are looked at, from its end.
_MAX_FORWARDED_FOR: Final = 1024
_FORWARDED_NAMES: Final = frozenset(_FORWARDED)


class Proxies:
    """Knows proxies that are believed, and clients behind them.

    Args:
        networks: that they are in.
        heed_forwarded: whether X-Forwarded headers count, where one of them sends them.
    """

    def __init__(self, networks: Sequence[Network], *, heed_forwarded: bool) -> None:
        """See the class."""
        self._networks: Final = tuple(networks)
        self._heed: Final = heed_forwarded
        # one process sees few proxies
        self.trusts: Final = remembered(entries=4096, longest=_MAX_ADDRESS)(self._is_trusted)

    def heeds(self, peer: str | None) -> bool:
        """Whether X-Forwarded headers of a peer count."""
        return self._heed and self.trusts(peer)

    def client_of(self, peer: str | None, headers: Mapping[bytes, bytes]) -> str:
        """Whom a request comes from: the peer, or the last in X-Forwarded-For that is no proxy; as `site` says it.

        Args:
            peer: address of the connection's other end; None where it has none.
            headers: of the request, by lower-case name.
        """
        forwarded = headers.get(b"x-forwarded-for")
        if forwarded is None or not self.heeds(peer):
            return site(peer)
        said = forwarded[-_MAX_FORWARDED_FOR:].decode("latin-1").split(",")
        return site(next((hop for hop in map(str.strip, reversed(said)) if not self.trusts(hop)), peer))

    def address_of(self, peer: str | None, headers: Mapping[bytes, bytes]) -> str:
        """As `client_of`, and the whole address."""
        forwarded = headers.get(b"x-forwarded-for")
        if forwarded is None or not self.heeds(peer):
            return (peer or "")[:_MAX_ADDRESS]
        said = forwarded[-_MAX_FORWARDED_FOR:].decode("latin-1").split(",")
        hop = next((hop for hop in map(str.strip, reversed(said)) if not self.trusts(hop)), peer)
        return "" if _address(hop) is None else (hop or "")[:_MAX_ADDRESS]

    def _is_trusted(self, peer: str | None) -> bool:
        address = _address(peer)
        return any(
            address is not None and address.version == network.version and address in network
            for network in self._networks
        )


@remembered(entries=4096, longest=_MAX_ADDRESS)
def site(peer: str | None) -> str:
    """What tells clients apart: an IPv4 address, or the 64 bits of an IPv6 address that a site is given at least."""
    address = _address(peer)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Address(int(address) >> 64 << 64))
    return (peer or "")[:_MAX_ADDRESS] if address is None else str(address)


def _address(text: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text or "")
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


class Links:
    """Finds the base of links for each request.

    Args:
        base_uri: always the base, where it is set.
        proxies: that X-Forwarded-Host, -Proto, -Port and -Prefix are believed from.
    """

    def __init__(self, *, base_uri: str | None, proxies: Proxies) -> None:
        """See the class."""
        self._fixed: Final = None if base_uri is None else base_uri.rstrip("/")
        self._proxies: Final = proxies
        # one process sees few names
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
        if not _FORWARDED_NAMES.isdisjoint(headers) and self._proxies.heeds(client):
            return _forwarded(headers)
        return self._of_host(scheme, headers.get(b"host", b""))


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
