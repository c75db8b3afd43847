"""Which characters a location's segments may hold.

Stores take almost any byte in a key, but logs, engines and people do not: what can't be seen, or is read as structure
by some client, is refused.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import unquote_to_bytes

_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})
# Letters and marks by category that nevertheless show nothing: fillers, the grapheme joiner, variation selectors.
_HIDDEN: Final = frozenset(
    chr(code)
    for code in (
        0x034F,
        0x115F,
        0x1160,
        0x17B4,
        0x17B5,
        0x2800,
        0x3164,
        0xFFA0,
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    )
)
_PLAIN: Final = re.compile(r"[ -~]*\Z")
_PATTERN: Final = re.compile(r"[*?]|\$\{")
_ESCAPE: Final = re.compile(rb"%[0-9A-Fa-f]{2}")
_DOTS: Final = frozenset({b".", b".."})
# Nearly every segment: nothing in it has a meaning anywhere, but for dots alone.
is_sound: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_.=-]+").fullmatch
"""Whether a segment is one of nearly all, which mean nothing but themselves anywhere; `segment_fault` judges the others."""
_MAX_DECODINGS: Final = 8
_CONTROL: Final = re.compile(rb"[\x00-\x1f\x7f]")


def hidden_character(text: str) -> str | None:
    """The first control, format, unassigned or otherwise invisible character, or None."""
    if _PLAIN.match(text):
        return None
    for character in text:
        if character in _HIDDEN or unicodedata.category(character) in _HIDDEN_CATEGORIES:
            return character
    return None


def pattern_mark(text: str) -> str | None:
    """What stores' policies read as a pattern or a variable rather than as itself: "*", "?" or "${"; None where nothing is.

    AWS knows escapes for them. Other stores deny what is escaped so, or take the mark inside for a mark, so nothing new is put at
    a place that has one.
    """
    found = _PATTERN.search(text)
    return None if found is None else found[0]


def segment_fault(segment: str) -> str | None:
    """Why a segment can't stand in a location, in words that finish "a segment that …"; None when it can.

    Percent-escapes are taken literally by object stores, yet some client or proxy on the way decodes them, and some
    decode twice. So a segment must stay one harmless segment however often it is decoded.
    """
    raw = segment.encode()
    for _ in range(_MAX_DECODINGS):
        if (fault := _raw_fault(raw)) is not None or not _ESCAPE.search(raw):
            return fault
        raw = unquote_to_bytes(raw)
    return "is escaped again and again"


def _raw_fault(raw: bytes) -> str | None:
    if not raw:
        return "is empty"
    if raw in _DOTS:
        return "is or decodes to a dot segment"
    if b"/" in raw:
        return "holds a slash of its own, or an encoded one"
    if b"\\" in raw:
        return "holds a backslash, or an encoded one"
    if _CONTROL.search(raw):
        return "holds an encoded control character"
    return None
