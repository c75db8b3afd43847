"""The inline forms a value may have: `{key="v", "dotted.key"=[1, 2]}` and `["a", b]`.

They look like TOML and are not: a bare word is text, so `[oidc~alice]` holds one, and white space may break lines.
Nothing is guessed about types here; whoever asked for a number reads it from the text.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

Raw: TypeAlias = "str | list[Raw] | dict[str, Raw]"
"""A value as it was written: text, or the parts of an array or a table."""

_SPACE: Final = re.compile(r"\s*")
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]+")
_BARE: Final = re.compile(r"[^,\[\]{}\"\n]+")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f"}
_DEEPEST: Final = 16


def parse(text: str) -> Raw:
    """Parse a whole value that begins with "{", "[" or a double quote.

    Raises:
        ValueError: it is none of these, or is cut short; the message has the position.
    """
    value, end = _value(text, _skip(text, 0), 0)
    end = _skip(text, end)
    if end != len(text):
        raise ValueError(f"nothing may follow at position {end}")
    return value


def unquote(text: str) -> str:
    """The text inside the double quotes that enclose all of `text`; `text` itself where they don't."""
    quoted = _QUOTED.fullmatch(text.strip())
    return text if quoted is None else _unescape(quoted[1])


def _value(text: str, at: int, depth: int) -> tuple[Raw, int]:
    if depth > _DEEPEST:
        raise ValueError(f"nested deeper than {_DEEPEST} levels")
    opening = text[at : at + 1]
    if opening == "{":
        return _table(text, at + 1, depth)
    if opening == "[":
        return _array(text, at + 1, depth)
    if opening == '"':
        return _quoted(text, at)
    bare = _BARE.match(text, at)
    if bare is None or not bare[0].strip():
        raise ValueError(f"a value is missing at position {at}")
    return bare[0].strip(), bare.end()


def _table(text: str, at: int, depth: int) -> tuple[dict[str, Raw], int]:
    table: dict[str, Raw] = {}
    at = _skip(text, at)
    while text[at : at + 1] != "}":
        key, at = _key(text, at)
        if key in table:
            raise ValueError(f"the key {key!r} stands twice")
        table[key], at = _value(text, _skip(text, at), depth + 1)
        at = _separator(text, at, closing="}")
    return table, at + 1


def _key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] == '"':
        key, at = _quoted(text, at)
    else:
        word = _KEY.match(text, at)
        if word is None:
            raise ValueError(f"a key is missing at position {at}")
        key, at = word[0], word.end()
    at = _skip(text, at)
    if text[at : at + 1] != "=":
        raise ValueError(f'"=" is missing at position {at}, after the key {key!r}')
    return key, at + 1


def _array(text: str, at: int, depth: int) -> tuple[list[Raw], int]:
    items: list[Raw] = []
    at = _skip(text, at)
    while text[at : at + 1] != "]":
        item, at = _value(text, at, depth + 1)
        items.append(item)
        at = _separator(text, at, closing="]")
    return items, at + 1


def _separator(text: str, at: int, *, closing: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise ValueError(f'"," or "{closing}" is missing at position {at}')
    return at


def _quoted(text: str, at: int) -> tuple[str, int]:
    quoted = _QUOTED.match(text, at)
    if quoted is None:
        raise ValueError(f"the quote at position {at} is not closed")
    return _unescape(quoted[1]), quoted.end()


def _unescape(inner: str) -> str:
    return _ESCAPE.sub(lambda found: _character(found[1]), inner)


def _character(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPES.get(escape, "\\" + escape)


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()
