"""How much a JSON document holds, told from its bytes before anything is made of them.

A parser makes objects as it reads, so thirty megabytes of `{},{},…` are gigabytes before anybody can refuse them. What bounds a
document here makes nothing of it: it looks at pieces of a fixed size, drops what stands in strings, and counts what is left.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Final

_PIECE: Final = 2**18  # bytes that are looked at in one go: what a count may take at once, in memory and in time
_BRACKETS: Final = b"[]{}"
# an opening bracket is a step up and a closing one a step down, as signed bytes
_STEPS: Final = bytes.maketrans(_BRACKETS, bytes([1, 0xFF, 1, 0xFF]))
_NOT_BRACKETS: Final = bytes(set(range(256)) - set(_BRACKETS))
_NO_STRUCTURE: Final = bytes(set(range(256)) - set(_BRACKETS) - set(b',"'))


@dataclasses.dataclass(frozen=True, slots=True)
class JsonLimits:
    """What a document may hold; each number is still allowed.

    Attributes:
        depth: levels of objects and arrays, one inside the other. `{}` has one.
        containers: objects and arrays.
        values: members and elements of all of them together. An empty object or array counts as if it had one.
    """

    depth: int
    containers: int
    values: int


# Of one request, and more than any that is meant well: a schema of two thousand columns is two thousand containers and twelve
# thousand values, a snapshot is two and thirty, and thirty nested struct types are about a hundred levels; PyIceberg can't read
# many more. To parse the most takes half a second in one piece.
REQUEST_LIMITS: Final = JsonLimits(depth=100, containers=400_000, values=1_250_000)


class BeyondLimits(ValueError):  # noqa: N818 - a finding about a document; the caller decides which refusal it becomes
    """A document holds more than is allowed. The text says what and how much: "it has more than 100 levels of nesting"."""


def check_json(document: bytes, limits: JsonLimits) -> None:
    """Whether a document may be parsed. Nothing else is checked: what is not JSON can pass, and is the parser's to refuse.

    What holds for a document holds for what a parser has made of it where it stops, if it is not JSON after all.

    Args:
        document: UTF-8, of any length. What it takes is far less than parsing would: time in proportion to the length, and
            memory for a piece of it.
        limits: what it may hold.

    Raises:
        BeyondLimits: it holds more.
    """
    if len(document) <= limits.values and document.count(b"[") + document.count(b"{") <= min(
        limits.depth, limits.containers
    ):
        return  # the usual request: too few brackets, strings included, to be wrong in any way
    start = depth = containers = values = 0
    in_string = False
    while start < len(document):
        piece = _piece(document, start)
        start += len(piece)
        if b"\\" in piece:  # in pairs first: the quote behind an even run of them ends its string
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        # two quotes with nothing between them that counts leave what is behind them inside or outside, as it was
        parts = piece.translate(None, _NO_STRUCTURE).replace(b'""', b"").split(b'"')
        outside = b"".join(parts[in_string::2])
        in_string ^= len(parts) % 2 == 0
        steps = outside.translate(_STEPS, _NOT_BRACKETS)
        opened = steps.count(1)
        containers += opened
        values += opened + outside.count(b",")
        if depth + opened > limits.depth:
            highest = max(itertools.accumulate(memoryview(steps).cast("b"), initial=depth))
            if highest > limits.depth:
                raise BeyondLimits(f"it has more than {limits.depth} levels of nesting")
        if containers > limits.containers:
            raise BeyondLimits(f"it has more than {limits.containers} objects and arrays")
        if values > limits.values:
            raise BeyondLimits(f"it has more than {limits.values} members and elements")
        depth += 2 * opened - len(steps)


def _piece(document: bytes, start: int) -> bytes:
    """The next bytes to look at, never ending between a backslash and what it escapes."""
    piece = document[start : start + _PIECE]
    backslashes = len(piece) - len(piece.rstrip(b"\\"))
    return piece[:-1] if backslashes % 2 and len(piece) == _PIECE else piece
