"""How many connections there are, in all and of one client, and which of them gives way to a new one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Protocol

from lakeward_gateway.forwarded import Proxies, site

# Connections beyond the bound that are kept for as long as telling them so takes, as a part of the bound; further ones are cut.
_TOLD_PART: Final = 0.25


class Connection(Protocol):
    """One of them."""

    @property
    def idle_since(self) -> float | None:
        """When it last did something, on the loop's clock; None while it waits for an answer."""
        ...

    @property
    def was_used(self) -> bool:
        """Whether a request came over it, whole."""
        ...

    def give_way(self) -> None:
        """Close: nothing is under way."""


class Connections:
    """Admits connections. For one too many, that which has been idle for longest is closed; where none is idle, it is refused.

    Args:
        total: connections at once.
        per_client: of one address, which trusted proxies are not held to.
        proxies: known by their addresses.
    """

    def __init__(self, *, total: int, per_client: int, proxies: Proxies) -> None:
        """See the class."""
        self.total: int = total
        self._per_client: Final = per_client
        self._proxies: Final = proxies
        self._clients: Final[dict[Connection, str | None]] = {}
        self._of_client: Final[dict[str, set[Connection]]] = {}
        self._told = 0

    def __len__(self) -> int:
        """How many are admitted."""
        return len(self._clients)

    def admit(self, connection: Connection, peer: str | None) -> str | None:
        """Count a new connection.

        Args:
            connection: made just now.
            peer: address of its other end; None where it has none.

        Returns:
            None; or why it is refused, and then it is not counted.
        """
        client = None if peer is None or self._proxies.trusts(peer) else site(peer)
        if client is not None:
            others = self._of_client.get(client, ())
            if len(others) >= self._per_client and not self._made_room(others):
                return (
                    f"{self._per_client} connections of your address are in use, and more are not taken; "
                    f"close some, or have LAKEWARD__MAX_CONNECTIONS_PER_CLIENT raised"
                )
        if len(self._clients) >= self.total and not self._made_room(self._clients):
            return f"{self.total} connections are in use, and more are not taken; retry after a pause"
        self._clients[connection] = client
        if client is not None:
            self._of_client.setdefault(client, set()).add(connection)
        return None

    def remove(self, connection: Connection) -> None:
        """Count a connection no longer, if it is counted."""
        client = self._clients.pop(connection, None)
        if client is not None:
            left = self._of_client[client]
            left.discard(connection)
            if not left:
                del self._of_client[client]

    def tell(self) -> bool:
        """Whether one that is refused can be told why; `told` follows. Else it is cut."""
        if self._told >= max(1, int(self.total * _TOLD_PART)):
            return False
        self._told += 1
        return True

    def told(self) -> None:
        """One that was refused is gone."""
        self._told -= 1

    def _made_room(self, among: Collection[Connection]) -> bool:
        idle = [(other.was_used, since, other) for other in among if (since := other.idle_since) is not None]
        if not idle:
            return False
        # first those over which nobody ever asked anything
        _, _, longest = min(idle, key=lambda each: each[:2])
        self.remove(longest)
        longest.give_way()
        return True
