"""One read for all who ask for an equal thing at one moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Final, Generic, TypeVar

from lakeward_servicekit.coalescing import Coalescer

Asked = TypeVar("Asked", bound=Hashable)
Result = TypeVar("Result")


class SharedReads(Generic[Asked, Result]):
    """Reads of what is the same to everybody who asks for it.

    Of one thing one read is under way at a time; whoever asks for it meanwhile shares the next one, so that no answer is older
    than its question, and a crowd that wants one thing reads it a few times and not each for itself. Others go their own way.

    Args:
        read: reads what is asked for; its answer is nobody's to change.
    """

    def __init__(self, read: Callable[[Asked], Awaitable[Result]]) -> None:
        """Read by `read`."""
        self._read: Final = read
        self._rounds: Final[dict[Asked, Coalescer[None, Result]]] = {}

    @property
    def busy(self) -> bool:
        """Whether anything is being read; of all else nothing is kept."""
        return bool(self._rounds)

    async def __call__(self, asked: Asked) -> Result:
        """What was read of one thing."""
        rounds = self._rounds.get(asked)
        if rounds is None:
            # What is asked is the same for all of its rounds: there it needs no name, which would be hashed and compared again.
            rounds = self._rounds[asked] = Coalescer(self._reading(asked), max_items=1, patience=None, alike=True)
        try:
            return await rounds(None)
        finally:
            if rounds.idle and self._rounds.get(asked) is rounds:
                del self._rounds[asked]

    def _reading(self, asked: Asked) -> Callable[[Sequence[None]], Awaitable[Sequence[Result]]]:
        async def reading(_: Sequence[None]) -> Sequence[Result]:
            return [await self._read(asked)]

        return reading
