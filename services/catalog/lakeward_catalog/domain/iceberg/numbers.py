"""The numbers of metadata: 32 and 64 bits wide, as the specification has them and every reader takes them.

What a request brings is bounded by its type. What the engine makes of several numbers is bounded here: metadata with a number
beyond its type could be written and never be read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lakeward_catalog.domain.iceberg.documents import Invalid

INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1


def next_id(ids: Iterable[int], *, what: str) -> int:
    """The id after the highest of some; 0 without any.

    Raises:
        Invalid: the highest is the last that there is.
    """
    highest = max(ids, default=-1)
    if highest >= INT_MAX:
        raise Invalid("", f"there is no {what} after {highest}, which is in use")
    return highest + 1


def sum_of(first: int, second: int, *, path: str, what: str) -> int:
    """Two 64-bit numbers together.

    Raises:
        Invalid: the sum is not one, at `path`.
    """
    if first + second > LONG_MAX:
        raise Invalid(path, f"{second} makes {what} {first + second}; it must stay within {LONG_MAX}")
    return first + second
