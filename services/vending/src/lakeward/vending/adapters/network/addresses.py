"""Resolves the hosts of stores, and admits those that the server may call."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from lakeward.servicekit.errors import Reason, Refusal
from lakeward.vending.domain.addresses import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakeward.vending.application.ports import Resolver
    from lakeward.vending.domain.addresses import Address, AddressRules

_PORTS: Final = {"http": 80, "https": 443}
_PATIENCE_SECONDS: Final = 5.0


class SystemResolver:
    """The machine's own resolver."""

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """The host's addresses, as `Resolver` says."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, TimeoutError, UnicodeError) as error:
            raise Refusal(
                Reason.REASON_STORE_UNAVAILABLE, f"the host {host} can't be resolved; check its name", store=host
            ) from error
        texts = dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in found)
        return [ipaddress.ip_address(text) for text in texts]


class AddressGuard:
    """Admits hosts that no rule closes, by spelling and by every address they have now.

    Whoever opens the connection later asks the resolver again, and could be told another address; `calls` therefore connects
    to the addresses that were admitted.
    """

    def __init__(self, rules: AddressRules, resolver: Resolver) -> None:
        """Judge by `rules` what `resolver` finds."""
        self._rules = rules
        self._resolver = resolver

    async def admit(self, url: str) -> Sequence[Address]:
        """The addresses of a URL's host.

        Raises:
            Refusal: ADDRESS_DENIED, STORE_UNAVAILABLE.
        """
        parts = urlsplit(url)
        host = parts.hostname or ""
        self._rules.check_host(host)
        if (address := literal(host)) is not None:
            return (address,)
        addresses = await self._resolver.resolve(host, parts.port or _PORTS.get(parts.scheme, 443))
        self._rules.check_addresses(addresses, host=host)
        return addresses
