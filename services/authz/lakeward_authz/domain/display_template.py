"""A template of display names: `{claim.path}` stands for a claim, `{{` and `}}` for braces."""

from __future__ import annotations

import dataclasses
import re
from typing import Final, Self

from lakeward_authz.domain.claims import Claims, at_path

_TOKEN: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")
_PATH: Final = re.compile(r"[^\s.]+(\.[^\s.]+)*")


class MalformedTemplate(ValueError):  # noqa: N818 - it says what is the case
    """A template that can't be read."""


@dataclasses.dataclass(frozen=True, slots=True)
class DisplayTemplate:
    """A template that was read; `parse` makes it.

    Attributes:
        parts: literal texts and paths in turn; a path is in a tuple of its own.
    """

    parts: tuple[str | tuple[str], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a template.

        Raises:
            MalformedTemplate: a brace without its other half, or a placeholder that is no path of claims.
        """
        parts: list[str | tuple[str]] = []
        for found in _TOKEN.finditer(text):
            piece, path = found[0], found[1]
            if path is not None:
                if not _PATH.fullmatch(path):
                    raise MalformedTemplate(f"{piece!r} is no path of claims, as {{name}} or {{profile.name}} is")
                parts.append((path,))
            elif piece in "{}":
                raise MalformedTemplate(
                    f"there is a {piece!r} without its other half; write {piece * 2!r} for the character"
                )
            else:
                parts.append(piece[0] if piece in {"{{", "}}"} else piece)
        return cls(tuple(parts))

    def fill(self, claims: Claims) -> str | None:
        """The name for a token; None where a claim is missing or no text."""
        texts: list[str] = []
        for part in self.parts:
            value = at_path(claims, part[0]) if isinstance(part, tuple) else part
            if not isinstance(value, str):
                return None
            texts.append(value)
        return "".join(texts).strip() or None
