"""What is wrong with a configuration, all of it at once."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_CODE: Final = 78  # EX_CONFIG of sysexits.h


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        variable: the environment variable as it was written, or should have been.
        message: what is wrong with it and what would be right; never a secret's value.
    """

    variable: str
    message: str

    def __str__(self) -> str:
        return f"{self.variable} {self.message}"


class SettingsError(Exception):
    """The configuration can't be used; the process ends with `EXIT_CODE`.

    Args:
        problems: everything that is wrong, at least one thing.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Refuse the configuration for `problems`."""
        self.problems: Final = tuple(dict.fromkeys(problems))
        count = len(self.problems)
        head = f"the configuration has {count} error{'s' if count > 1 else ''}:"
        super().__init__("\n".join([head, *(f"  {problem}" for problem in self.problems)]))
