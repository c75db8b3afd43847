"""A text that must not be seen."""

from __future__ import annotations

import hmac
from typing import Final


class Secret:
    """A secret that masks itself wherever it is shown; only `reveal` gives it out."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Hold `value`."""
        self._value: Final = value

    def reveal(self) -> str:
        """The secret itself: for the one call that needs it, never for a message or a log."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __repr__(self) -> str:
        return "Secret(****)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret is not pickled")
