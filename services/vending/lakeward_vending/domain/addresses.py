"""Which addresses the server will call because a user's profile names them.

Whoever creates a warehouse names an endpoint, so without this a user could have the server ask its own cloud for the
server's identity. Link-local and metadata addresses are never stores; what else is closed is for the operator to say.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from lakeward_servicekit.errors import Reason, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_NEVER: Final[tuple[Network, ...]] = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",  # "this host": reaches loopback past a rule that names loopback
        "::/128",
        "169.254.0.0/16",  # link-local; AWS, Azure, Google and others serve metadata there
        "fe80::/10",
        "100.100.100.200/32",  # Alibaba's metadata
        "168.63.129.16/32",  # Azure's platform channel
        "192.0.0.192/32",  # Oracle's metadata
        "fd00:ec2::/32",  # AWS's metadata over IPv6
        "fd20:ce::/32",  # Google's metadata over IPv6
        "224.0.0.0/4",  # multicast
        "ff00::/8",
        "255.255.255.255/32",
    )
)
_METADATA_HOSTS: Final = frozenset({"metadata", "metadata.google.internal", "metadata.goog", "instance-data"})
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_IPV4_COMPATIBLE_END: Final = 0xFFFF_FFFF
_NUMERIC: Final = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)\Z")


@dataclasses.dataclass(frozen=True, slots=True)
class AddressRules:
    """Networks that the operator closes, beside those that are always closed.

    Attributes:
        denied: networks, as in 10.0.0.0/8; empty by default, since stores of one's own live at private addresses.
        allowed: networks that are open though they lie in a denied one; what is always closed stays so.
    """

    denied: tuple[Network, ...] = ()
    allowed: tuple[Network, ...] = ()

    def check_host(self, host: str) -> None:
        """Refuse a host by its spelling; what it resolves to is for `check_addresses`.

        Raises:
            Refusal: ADDRESS_DENIED.
        """
        bare = host.strip("[]").lower().rstrip(".")
        if bare in _METADATA_HOSTS:
            raise denied(host)
        address = literal(bare)
        if address is not None:
            self.check_addresses((address,), host=host)
        elif all(_NUMERIC.match(label) for label in bare.split(".")):
            # "2852039166", "0xa9.254.1": resolvers read these as addresses, each in its own way
            raise denied(host)

    def check_addresses(self, addresses: Iterable[Address], *, host: str) -> None:
        """Refuse a host one of whose addresses is closed: a client may pick any of them.

        Raises:
            Refusal: ADDRESS_DENIED.
        """
        for address in addresses:
            for form in _forms(address):
                if _lies_in(form, _NEVER) or (_lies_in(form, self.denied) and not _lies_in(form, self.allowed)):
                    raise denied(host if host == str(address) else f"{host} ({address})")


def literal(host: str) -> Address | None:
    """The address that a host spells out in the standard form, or None."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def denied(address: str) -> Refusal:
    """The refusal of an address."""
    shown = address[:200]
    return Refusal(
        Reason.REASON_ADDRESS_DENIED,
        f"{shown} can't be a store: the server does not call this address",
        address=shown,
    )


def _lies_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks if network.version == address.version)


def _forms(address: Address) -> Iterable[Address]:
    yield address
    if isinstance(address, ipaddress.IPv6Address):
        for inner in (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())):
            if inner is not None:
                yield inner
        if address in _NAT64:
            yield ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if 1 < int(address) <= _IPV4_COMPATIBLE_END:  # the old form ::a.b.c.d; ::1 is loopback
            yield ipaddress.IPv4Address(int(address))
