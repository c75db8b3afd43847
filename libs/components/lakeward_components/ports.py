"""Ports on loopback that nobody listens on, remembered where they can be.

A port that was drawn is leased until this process ends: no other process of this machine's user draws it, in whatever
checkout, though nothing listens there yet or for a while. So several runs, and several servers of one, may start at once.
"""

from __future__ import annotations

import fcntl
import functools
import os
import random
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lakeward_components.errors import ComponentFailed

LOOPBACK: Final = "127.0.0.1"
GRPC_OFFSET: Final = 10_000
# The kernel hands 32768 and above to outgoing connections; a port there may be taken at any moment. The upper bound
# leaves room for a twin GRPC_OFFSET above.
_LOWEST: Final = 10_200
_HIGHEST: Final = 22_700
_TRIES: Final = 200
_OURS: Final[set[int]] = set()


def take(*, given: int | None, last: str | int | None, twin_offset: int = 0, avoid: Sequence[int] = ()) -> int:
    """A port that nobody listens on right now, and that nobody else draws; a stranger may still take it.

    Args:
        given: the caller's wish; only this one will do. None leaves the choice to us.
        last: the one of the last run, taken when it is free.
        twin_offset: when not 0, the port this much above is free as well.
        avoid: ports that are spoken for, though nobody listens on them yet; their twins too.

    Raises:
        ComponentFailed: the given one is taken, or none was found.
    """
    spoken_for = {port + offset for port in avoid for offset in (0, twin_offset)}

    def free(port: int) -> bool:
        wanted = {port, port + twin_offset}
        return not wanted & spoken_for and all(is_free(each) for each in wanted)

    if given is not None:
        if free(given):
            return given  # it may be leased by whoever gives it
        raise ComponentFailed(f"port {given} of {LOOPBACK} is taken; choose another or stop what listens there")
    if last is not None and free(int(last)) and _leased(int(last), twin_offset):
        return int(last)
    for _ in range(_TRIES):
        # Random, not counted up: several sessions that start at once look in different places.
        port = random.randint(_LOWEST, _HIGHEST)  # noqa: S311 - a port is no secret
        # What we drew before is spoken for while its server is away as well.
        if not {port, port + twin_offset} & _OURS and free(port) and _leased(port, twin_offset):
            return port
    raise ComponentFailed(f"no free port on {LOOPBACK} between {_LOWEST} and {_HIGHEST}")


def is_free(port: int) -> bool:
    """Whether a server could listen on the port of loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as candidate:
        # As servers do: connections of an earlier server that linger in TIME_WAIT don't count.
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind((LOOPBACK, port))
            candidate.listen(1)
        except OSError:
            return False
    return True


def _leased(port: int, twin_offset: int) -> bool:
    """Lease a port and its twin until this process ends; False where another process has one of them."""
    wanted = {port, port + twin_offset}
    try:
        for each in wanted:
            # A byte a port: such locks are a process's own, end with it however it ends, and no child inherits them.
            fcntl.lockf(_leases(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, each)
    except (BlockingIOError, PermissionError):  # which of them is the system's choice
        return False
    _OURS.update(wanted)
    return True


@functools.cache
def _leases() -> int:
    """A descriptor that stays open, since to close any of the file would end all of our leases."""
    path = Path(tempfile.gettempdir()) / f"lakeward-ports-{os.getuid()}"
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise ComponentFailed(f"{path}, where ports are leased, can't be opened ({error}); remove it") from error
