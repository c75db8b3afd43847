"""What request bodies take of this process, from their first byte until their request has its answer.

Every byte of a body that is held is counted, inflated ones as they appear. What does not fit is refused as overload, so that
however many bodies come, and however small they were when they were sent, the process stays within its bounds. Small bodies keep
a part of the room to themselves, and no client gets all of the rest: who sends little is served while somebody sends too much.
"""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.errors import Reason, Refusal

# A body up to here is small: it may use all of the room, and who sends it need not be known yet.
SMALL: Final = 64 * 1024
_LARGE_PART: Final = 0.75
_ONE_CLIENTS_PART: Final = 0.5


class BodyMemory:
    """The room for bodies.

    Args:
        total: bytes of all bodies at once; at least a third more than `largest`.
        largest: bytes of the largest body that is taken at all.
    """

    def __init__(self, *, total: int, largest: int) -> None:
        """See the class."""
        self._for_large: Final = max(int(total * _LARGE_PART), largest)
        self._for_one: Final = max(int(self._for_large * _ONE_CLIENTS_PART), largest)
        self._total: Final = max(total, int(self._for_large / _LARGE_PART))
        self._held = 0
        self._held_large = 0
        self._held_by_client: Final[dict[str, int]] = {}

    @property
    def held(self) -> int:
        """Bytes of all bodies that are held now."""
        return self._held

    @property
    def scarce(self) -> bool:
        """Whether more than half of the room is taken."""
        return 2 * self._held > self._total

    def holding(self) -> Holding:
        """What one request holds: nothing yet."""
        return Holding(self)

    def take(self, size: int, client: str | None) -> None:
        """Count bytes of one body.

        Args:
            size: bytes.
            client: whose body it is; None for a small one.

        Raises:
            Refusal: OVERLOADED, and nothing is counted.
        """
        if self._held + size > self._total:
            raise _full("request bodies that are under way fill the memory for them")
        if client is not None:
            of_client = self._held_by_client.get(client, 0) + size
            if of_client > self._for_one:
                raise _full(
                    "the bodies of your requests that are under way fill what one address may use of the memory for them"
                )
            if self._held_large + size > self._for_large:
                raise _full("large request bodies that are under way fill the memory for them")
            self._held_large += size
            self._held_by_client[client] = of_client
        self._held += size

    def give_back(self, size: int, client: str | None) -> None:
        """Count bytes no longer; as they were taken."""
        self._held -= size
        if client is not None:
            self._held_large -= size
            left = self._held_by_client[client] - size
            if left:
                self._held_by_client[client] = left
            else:
                del self._held_by_client[client]


class Holding:
    """What one request holds of the room. Plain slots: one is made for every request with a body."""

    __slots__ = ("_client", "_memory", "size")

    def __init__(self, memory: BodyMemory) -> None:
        """See the class."""
        self._memory: Final = memory
        self._client: str | None = None
        self.size = 0

    @property
    def is_large(self) -> bool:
        """Whether it is counted as its client's."""
        return self._client is not None

    def enlarge(self, client: str) -> None:
        """Count it as its client's, so that it may grow beyond `SMALL`.

        Raises:
            Refusal: OVERLOADED.
        """
        self._memory.give_back(self.size, None)
        held, self.size = self.size, 0
        self._memory.take(held, client)
        self._client, self.size = client, held

    def take(self, size: int) -> None:
        """Hold more.

        Raises:
            Refusal: OVERLOADED.
        """
        self._memory.take(size, self._client)
        self.size += size

    def give_back(self, size: int) -> None:
        """Hold less."""
        self._memory.give_back(size, self._client)
        self.size -= size

    def release(self) -> None:
        """Hold nothing any more: the request has its answer."""
        if self.size:
            self._memory.give_back(self.size, self._client)
            self.size = 0


def _full(what: str) -> Refusal:
    return Refusal(Reason.REASON_OVERLOADED, f"{what}; retry after a pause")
