"""What is kept for a while: in bounds, and made once however many ask for it.

    Kept    a map that is bounded by entries, by bytes or by both
    Once    one making a key, which all share who ask while it is under way
    Loaded  the two together: what is kept and young enough, else made once and kept

What a pure function makes of callers' text is `remembering`'s.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """Values by key; when they are too many or too large, those go that were used or put longest ago.

    A value that is good for a time alone says so itself: who reads it has the clock. `look` and `used` are built-in methods of
    what is underneath, so that what every request passes costs it no call of ours.

    Args:
        entries: how many are kept at most; None: any number.
        size: bytes of all values together; None: any.

    Attributes:
        look: what is kept under a key, or None; that it was looked at does not keep it longer.
        used: says that a key which is here was used just now, and so goes later than the others.
        hits: looks that found what was good, as whoever looks counts them: whether a value is good is theirs to say.
        misses: looks that did not.
    """

    __slots__ = ("__weakref__", "_entries", "_held", "_size", "_sizes", "_values", "hits", "look", "misses", "used")

    def __init__(self, entries: int | None = None, *, size: int | None = None) -> None:
        """Start empty; see the class."""
        self._entries: Final = entries
        self._size: Final = size
        self._values: Final[OrderedDict[Key, Value]] = OrderedDict()
        self._sizes: Final[dict[Key, int]] = {}
        self._held = 0
        self.hits = 0
        self.misses = 0
        self.look: Final[Callable[[Key], Value | None]] = self._values.get
        self.used: Final[Callable[[Key], None]] = self._values.move_to_end

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        """Whether something is kept under a key."""
        return key in self._values

    def get(self, key: Key) -> Value | None:
        """What is kept under a key, which is the last to go now; None where there is nothing."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: Key, value: Value, *, size: int = 0) -> None:
        """Keep a value of `size` bytes in place of what was there, unless it alone is over a half of all that may be held."""
        if key in self._values:
            self.discard(key)
        if self._size is not None:
            if size > self._size // 2:
                return
            self._sizes[key] = size
            self._held += size
            while self._held > self._size:
                self.discard(next(iter(self._values)))
        self._values[key] = value
        if self._entries is not None and len(self._values) > self._entries:
            self.discard(next(iter(self._values)))

    def discard(self, key: Key) -> None:
        """Forget what is kept under a key, if anything is."""
        self._values.pop(key, None)
        self._held -= self._sizes.pop(key, 0)


class Once(Generic[Key, Value]):
    """Makes a value once for all who ask for its key while it is being made.

    It goes on when who began it is cancelled. Nothing is kept: who asks when it has ended, well or not, begins another.
    """

    __slots__ = ("_making",)

    def __init__(self) -> None:
        """Nothing is under way."""
        self._making: Final[dict[Key, asyncio.Task[Value]]] = {}

    def __len__(self) -> int:
        """How many are being made."""
        return len(self._making)

    async def __call__(self, key: Key, make: Callable[[], Awaitable[Value]]) -> Value:
        """The value, by `make` or by another's who asked for the key before and has no answer yet.

        Raises:
            Whatever it raises.
        """
        making = self._making.get(key)
        if making is None:
            making = self._making[key] = asyncio.create_task(self._make(key, make))
            making.add_done_callback(_seen)
        return await asyncio.shield(making)

    async def _make(self, key: Key, make: Callable[[], Awaitable[Value]]) -> Value:
        try:
            return await make()
        finally:
            if self.is_current(key):
                del self._making[key]

    def is_current(self, key: Key) -> bool:
        """Whether the task at hand is the one that makes the key's value: false in one that was left behind."""
        return self._making.get(key) is asyncio.current_task()

    def leave(self, key: Key) -> None:
        """Let nobody else join what is under way for a key; those who did still get it."""
        self._making.pop(key, None)


def _seen(task: asyncio.Task[Value]) -> None:
    if not task.cancelled():
        task.exception()  # who waited has it; they may all have gone


class Loaded(Generic[Key, Value]):
    """Values by key for the time that each load says; those used longest ago go first when there are too many.

    Concurrent misses of one key share one load, which goes on when who began it is cancelled. Errors are not kept.

    Args:
        entries: most values.
        now: seconds on a clock that never goes back.

    Attributes:
        hits: values that were there and good.
        misses: values that were not.
    """

    __slots__ = ("__weakref__", "_kept", "_now", "_once", "hits", "misses")

    def __init__(self, entries: int, *, now: Callable[[], float] = time.monotonic) -> None:
        """Start empty; see the class."""
        self._now: Final = now
        self._kept: Final = Kept[Key, tuple[Value, float]](entries)
        self._once: Final = Once[Key, Value]()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        """How many are kept, those among them whose time is over and that nobody asked for since."""
        return len(self._kept)

    async def get(self, key: Key, load: Callable[[], Awaitable[tuple[Value, float]]]) -> Value:
        """The value of `key`.

        Args:
            key: whatever the value depends on, all of it.
            load: makes the value, and says for how many seconds from its end it is good; 0 or less keeps it from being kept.

        Raises:
            Whatever `load` raises.
        """
        kept = self._kept.look(key)
        if kept is not None and self._now() < kept[1]:
            self._kept.used(key)
            self.hits += 1
            return kept[0]
        self.misses += 1
        return await self._once(key, lambda: self._load(key, load))

    def discard(self, key: Key) -> None:
        """Forget a value; a load under way still ends in its callers, and is not kept."""
        self._kept.discard(key)
        self._once.leave(key)

    async def _load(self, key: Key, load: Callable[[], Awaitable[tuple[Value, float]]]) -> Value:
        value, seconds = await load()
        if seconds > 0 and self._once.is_current(key):
            self._kept.put(key, (value, self._now() + seconds))
        return value
