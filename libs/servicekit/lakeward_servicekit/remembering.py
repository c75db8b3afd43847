"""Remembers what pure functions made of callers' text, in memory that has a bound.

`functools.lru_cache` bounds how many answers it keeps and not how large they are: a thousand headers of 64 KiB are 64 MB that
are never given back, for nothing, since no honest client sends them again. Here what is longer than any honest text is worked
out each time and never kept. No function of callers' text is cached in another way; a test walks the product for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, TypeVar, TypeVarTuple
from uuid import UUID

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

# What an argument of a fixed size counts as.
_NUMBER: Final = 16
_TEXT: Final = (str, bytes)


def remembered(
    *, entries: int, longest: int
) -> Callable[[Callable[[*Arguments], Result]], Callable[[*Arguments], Result]]:
    """Keep a pure function's answers by its arguments, the newest ones, where the arguments are short.

    What a function raises is not kept. Its answers should not be larger than its arguments by more than a factor. At most
    `entries` * `longest` characters or bytes of arguments are held. Arguments are text, bytes, numbers, UUIDs, None, or tuples
    of these.

    Args:
        entries: answers that are kept.
        longest: characters or bytes of all arguments together; above it the function is called each time. Tuples count as what
            is in them.
    """

    def keeping(function: Callable[[*Arguments], Result]) -> Callable[[*Arguments], Result]:
        kept = functools.lru_cache(maxsize=entries)(function)

        @functools.wraps(function)
        def remembering(*arguments: *Arguments) -> Result:
            size = 0
            for argument in arguments:
                # every request comes by here a few times: what is usual is asked first, and in place
                size += len(argument) if isinstance(argument, _TEXT) else _size_of(argument)
            return kept(*arguments) if size <= longest else function(*arguments)

        return remembering

    return keeping


def _size_of(argument: object) -> int:
    if isinstance(argument, _TEXT):
        return len(argument)
    if isinstance(argument, tuple):
        return len(argument) + sum(_size_of(part) for part in argument)
    if argument is None or isinstance(argument, int | UUID):
        return _NUMBER
    raise TypeError(
        f"{type(argument).__name__} has no size that is known here; remember by text, bytes, numbers and UUIDs"
    )
