"""What a job tells the person who watches it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TextIO

_BAR: Final = 30


class Report:
    """Writes steps, progress and small tables to a stream, line by line.

    Args:
        stream: a terminal or a file.
    """

    def __init__(self, stream: TextIO) -> None:
        """Write to `stream`; see the class."""
        self._stream = stream

    def step(self, title: str) -> None:
        """A heading."""
        self.say(f"\n== {title}")

    def say(self, text: str) -> None:
        """A line."""
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def progress(self, done: int, of: int, note: str) -> None:
        """A bar that is `done` parts of `of` long."""
        filled = _BAR * done // of
        self.say(f"[{'#' * filled}{'.' * (_BAR - filled)}] {100 * done // of:3d} %  {done:,} of {of:,}  {note}")

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Rows under their columns' names."""
        cells = [[_shown(value) for value in row] for row in (columns, *rows)]
        widths = [max(len(row[number]) for row in cells) for number in range(len(columns))]
        self.say(f"{title}:")
        for row in cells:
            self.say("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def _shown(value: object) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
