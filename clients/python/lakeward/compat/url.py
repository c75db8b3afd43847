"""Namespaces as the old functions take them: empty levels are left out."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from lakeward.names import SEPARATOR

NAMESPACE_SEPARATOR = SEPARATOR
NamespaceLike = str | Sequence[str]


def parse_namespace(namespace: NamespaceLike) -> tuple[str, ...]:
    """The levels of "ai.test", of ["ai", "test"], or of a text with U+001F between them."""
    if isinstance(namespace, str):
        namespace = namespace.split(SEPARATOR if SEPARATOR in namespace else ".")
    return tuple(level for level in namespace if level)


def join_namespace(namespace: NamespaceLike) -> str:
    """The levels with U+001F between them, as query parameters take it."""
    return SEPARATOR.join(parse_namespace(namespace))


def encode_namespace(namespace: NamespaceLike) -> str:
    """The same, quoted as a path takes it."""
    return quote(join_namespace(namespace), safe="")
