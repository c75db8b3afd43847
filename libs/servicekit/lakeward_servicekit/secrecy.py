"""Text that nobody sees by accident."""

from __future__ import annotations

from typing import Final

MASK: Final = "**********"


class SecretStr:
    """A secret text: printed, logged or shown in a traceback, it is a mask. Whoever needs it has to say so."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        """Hide `secret`."""
        self._secret = secret

    def get_secret_value(self) -> str:
        """The text itself."""
        return self._secret

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        return MASK if self._secret else ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecretStr) and self._secret == other._secret

    def __hash__(self) -> int:
        return hash(self._secret)
