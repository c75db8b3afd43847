"""Where a consumer keeps how far it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Protocol

from lakeward.errors import ConfigurationError

BEGINNING: Final = "beginning"
"""Before all that is there: a snapshot comes first."""

NOW: Final = "now"
"""Behind all that happened so far."""

_LONGEST: Final = 200


class Position(Protocol):
    """Keeps a position. What was processed and not kept is read again; best, both are done in one transaction."""

    def load(self) -> str | None:
        """The one that was kept last; None where none was."""
        ...

    def keep(self, position: str) -> None:
        """Keep one; it is there when this returns."""
        ...


class HeldPosition:
    """A position in memory, for who keeps it elsewhere or not at all.

    Attributes:
        position: the one that was kept last.
    """

    def __init__(self, position: str = BEGINNING) -> None:
        """Begin behind `position`."""
        self.position: str = position

    def load(self) -> str | None:
        """See `Position`."""
        return self.position

    def keep(self, position: str) -> None:
        """See `Position`."""
        self.position = position


class FilePosition:
    """A position in a small file, which is replaced as a whole, so that a crash leaves the one before or the new one."""

    def __init__(self, path: str | os.PathLike[str], *, first: str = BEGINNING) -> None:
        """Keep it at `path`, whose folder is there; while there is no file, it is `first`."""
        self._path = Path(path)
        self._first = first

    def load(self) -> str | None:
        """See `Position`.

        Raises:
            ConfigurationError: the file is none of a position's.
        """
        try:
            with self._path.open(encoding="utf-8") as file:
                found = file.read(_LONGEST + 1).strip()
        except FileNotFoundError:
            return self._first
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{self._path} can't be read as a position: {error}") from error
        if not found or len(found) > _LONGEST or not found.isprintable() or " " in found:
            raise ConfigurationError(f"{self._path} holds no position; remove it to begin again, or name another file")
        return found

    def keep(self, position: str) -> None:
        """See `Position`.

        Raises:
            ConfigurationError: it can't be written.
        """
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
        try:
            with beside.open("w", encoding="utf-8") as file:
                file.write(position + "\n")
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
        except OSError as error:
            raise ConfigurationError(f"{self._path} can't be written: {error}") from error
