"""What people's logins leave behind, so that the next program need not ask them again: refresh tokens, and nothing else.

`LoginFile` is where they go unless a login is told otherwise. A keyring is as good a place: whatever has the three methods of
`Logins` may be given to a `DeviceFlow` or `BrowserLogin`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_LARGEST = 1024 * 1024  # bytes of the file
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Logins(Protocol):
    """Keeps refresh tokens, by a text that tells one login from another. None raises: a login is only asked for again."""

    def read(self, login: str) -> str | None:
        """What is kept; None for nothing."""
        ...

    def write(self, login: str, refresh_token: str) -> None:
        """Keep it, in place of what was."""

    def forget(self, login: str) -> None:
        """Keep nothing; what is not there counts as forgotten."""


class LoginsNotKeptWarning(UserWarning):
    """A login could not be kept, so it will be asked for again; the message says why."""


@dataclass(frozen=True)
class LoginFile:
    """A file that its owner alone may read: its mode is 0600, and one that others may read is not believed.

    Attributes:
        path: of the file; None: LAKEWARD_LOGINS, else lakeward/logins.json where the user keeps configuration.
    """

    path: Path | None = None

    @property
    def place(self) -> Path:
        """Where the file is."""
        if self.path is not None:
            return self.path
        given = os.environ.get("LAKEWARD_LOGINS")
        if given:
            return Path(given)
        home = os.environ.get("XDG_CONFIG_HOME")
        return (Path(home) if home else Path.home() / ".config") / "lakeward" / "logins.json"

    def read(self, login: str) -> str | None:
        """See `Logins`."""
        return self._all().get(login)

    def write(self, login: str, refresh_token: str) -> None:
        """See `Logins`."""
        self._put({**self._all(), login: refresh_token})

    def forget(self, login: str) -> None:
        """See `Logins`."""
        kept = self._all()
        if login in kept:
            self._put({other: token for other, token in kept.items() if other != login})

    def _all(self) -> dict[str, str]:
        try:
            with self.place.open("rb") as file:
                if not _is_ours(os.fstat(file.fileno())):
                    warnings.warn(
                        f"{self.place} may be read or was written by others, so no login is taken from it; "
                        "log in again, or make it yours alone",
                        LoginsNotKeptWarning,
                        stacklevel=2,
                    )
                    return {}
                told = json.loads(file.read(_LARGEST))
        except (OSError, RuntimeError, ValueError):  # RuntimeError: the user has no home
            return {}
        if not isinstance(told, dict):
            return {}
        return {login: token for login, token in told.items() if isinstance(token, str)}

    def _put(self, kept: dict[str, str]) -> None:
        try:
            place = self.place
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # made with mode 0600 under a name that nobody knows, and then put in the place at once
            descriptor, beside = tempfile.mkstemp(prefix=".logins-", dir=place.parent)
            try:
                with os.fdopen(descriptor, "w") as file:
                    json.dump(kept, file)
                Path(beside).replace(place)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(beside).unlink()
                raise
        except (OSError, RuntimeError) as error:
            warnings.warn(f"the login is not kept: {error}", LoginsNotKeptWarning, stacklevel=2)


def _is_ours(status: os.stat_result) -> bool:
    if os.name != "posix":  # modes say nothing there; a user's folders are the user's
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & _OTHERS


def name_of(*told: str | None) -> str:
    """A text that tells one login from another, and says neither where nor as whom."""
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
