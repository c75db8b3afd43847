"""A component's folder: held by one parent at a time, and remembering what was chosen for it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lakeward_components.errors import ComponentFailed, FolderInUse

_LOCK: Final = "lock"
_REMEMBERED: Final = "remembered.json"
_LOG: Final = "server.log"
_POLL_SECONDS: Final = 0.02
DYING_SECONDS: Final = 15.0


class HeldFolder:
    """A folder that this process holds until `release`, or until it and every server it started there are gone.

    The lock is an open file that servers inherit. So whoever holds it knows that no server of an earlier parent
    lives any more, and may remove what one left behind.

    Attributes:
        path: absolute.
    """

    def __init__(self, path: Path, lock: int) -> None:
        self.path: Final = path
        self._lock: int | None = lock

    @property
    def lock(self) -> int:
        """The file descriptor to hand to servers.

        Raises:
            ComponentFailed: the folder was released.
        """
        if self._lock is None:
            raise ComponentFailed(f"{self.path} is not held any more")
        return self._lock

    @property
    def log(self) -> Path:
        """Where the server's output goes."""
        return self.path / _LOG

    def remembered(self) -> dict[str, str | int]:
        """What `remember` kept: ports and secrets by name. Empty in a new folder.

        Raises:
            ComponentFailed: the file is there and isn't what `remember` wrote.
        """
        return remembered(self.path)

    def remember(self, values: Mapping[str, str | int]) -> None:
        """Keep the values for the next start."""
        self.write(_REMEMBERED, json.dumps(dict(values), indent=1, sort_keys=True))

    def write(self, name: str, text: str) -> Path:
        """Write a file, readable by us alone: the old one or the new one survives a crash, never half of one."""
        file = self.path / name
        fresh = file.with_name(f"{file.name}.new")
        fresh.unlink(missing_ok=True)  # its mode could be another
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        return fresh.replace(file)

    def release(self) -> None:
        """Give our share of the lock back; a server that still lives keeps its own. Again is a no-op."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remembered(path: Path) -> dict[str, str | int]:
    """What a folder's holder has remembered, or an earlier one; see `HeldFolder.remembered`."""
    file = path / _REMEMBERED
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ComponentFailed(f"{file} can't be read ({error}); restore it, or remove {path}") from error
    if not isinstance(kept, dict):
        raise ComponentFailed(f"{file} holds {type(kept).__name__}, not an object; restore it")
    return kept


async def hold(path: Path, *, dying_seconds: float = DYING_SECONDS) -> HeldFolder:
    """Make the folder if need be, and hold it.

    Others may pass through a folder that we make, since a server may have to run as another user, but not list it; what
    lies in it is readable by us, or by that server, alone.

    A holder that lives is an error at once. A holder that is gone may have left servers that are just dying: they are
    waited for.

    Args:
        path: of one component, or of all of them; each has a lock of its own.
        dying_seconds: how long servers of a dead parent may take to die.

    Raises:
        FolderInUse: another process holds it.
    """
    folder, descriptor = _open(path)
    deadline = time.monotonic() + dying_seconds
    while not _locked(descriptor):
        holder = _holder(descriptor)
        if (holder is not None and _lives(holder)) or time.monotonic() > deadline:
            os.close(descriptor)
            raise FolderInUse(folder, holder=holder)
        await asyncio.sleep(_POLL_SECONDS)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
    return HeldFolder(folder, descriptor)


def _open(path: Path) -> tuple[Path, int]:
    folder = path.resolve()
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    return folder, os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
            return False
        raise
    return True


def _holder(descriptor: int) -> int | None:
    with contextlib.suppress(ValueError):
        return int(os.pread(descriptor, 32, 0))
    return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with contextlib.suppress(OSError, IndexError):
        # A zombie holds nothing: it waits to be reaped. Its name may hold blanks and brackets, so split behind it.
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        return state not in {"Z", "X"}
    return True
