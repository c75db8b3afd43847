"""How alike a text is to one that people look for: by the trigrams that both have.

A word is padded with two blanks in front and one behind, so that its beginning counts most, as in pg_trgm. What is compared is
kept beside each row, so no extension of the database is needed.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MOST_FOUND: Final = 10
MOST_CHARACTERS: Final = 64
_WORD: Final = re.compile(r"\w+")
_LENGTH: Final = 3


def sought(text: str) -> str:
    """As much of a text as counts; no name has a NUL, which Postgres takes in no text."""
    return text.replace("\0", "")[:MOST_CHARACTERS]


def folded(text: str) -> str:
    """What a text compares as, whatever its case."""
    return unicodedata.normalize("NFC", text).casefold()


def trigrams(*texts: str | None) -> list[str]:
    """Of all words of the texts, each once, in their order."""
    found: set[str] = set()
    for text in texts:
        for word in _WORD.findall(folded(text or "")):
            padded = f"  {word} "
            found.update(padded[start : start + _LENGTH] for start in range(len(padded) - _LENGTH + 1))
    return sorted(found)
