"""Resolves the hosts of stores, and admits those that the server may call."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

from lakeward_vending.application.refusals import StoreUnavailable
from lakeward_vending.domain.addresses import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakeward_vending.application.ports import Resolver
    from lakeward_vending.domain.addresses import Address, AddressRules

_PORTS: Final = {"http": 80, "https": 443}
_PATIENCE_SECONDS: Final = 5.0
_THREADS: Final = 32

_Found: TypeAlias = tuple[Any, Any, int, str, tuple[Any, ...]]


class SystemResolver:
    """The machine's own resolver.

    It holds a thread for as long as a name's servers keep it waiting, which may be longer than anybody here waits. So it has
    threads of its own, and a name holds one of them, however many ask for it.
    """

    def __init__(self) -> None:
        """Ask nothing yet."""
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="resolver")
        self._asked: dict[tuple[str, int], asyncio.Future[list[_Found]]] = {}

    def close(self) -> None:
        """Wait for nothing; who still asks gets no answer."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """The host's addresses, as `Resolver` says."""
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                found = await asyncio.shield(self._ask(host, port))
        except (OSError, TimeoutError, UnicodeError) as error:
            raise StoreUnavailable(f"the host {host} can't be resolved; check its name", store=host) from error
        texts = dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in found)
        return [ipaddress.ip_address(text) for text in texts]

    def _ask(self, host: str, port: int) -> asyncio.Future[list[_Found]]:
        asked = self._asked.get((host, port))
        if asked is None:
            loop = asyncio.get_running_loop()
            asked = loop.run_in_executor(self._threads, _addresses, host, port)
            self._asked[host, port] = asked
            asked.add_done_callback(lambda done: self._ended((host, port), done))
        return asked

    def _ended(self, question: tuple[str, int], answer: asyncio.Future[list[_Found]]) -> None:
        del self._asked[question]
        if not answer.cancelled():
            answer.exception()  # who waited has it; nobody may have waited


def _addresses(host: str, port: int) -> list[_Found]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


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
            StoreUnavailable: the host has no address.
            Refusal: ADDRESS_DENIED.
        """
        parts = urlsplit(url)
        host = parts.hostname or ""
        self._rules.check_host(host)
        if (address := literal(host)) is not None:
            return (address,)
        addresses = await self._resolver.resolve(host, parts.port or _PORTS.get(parts.scheme, 443))
        self._rules.check_addresses(addresses, host=host)
        return addresses
