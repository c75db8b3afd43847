"""Ports on loopback that nobody listens on, remembered where they can be."""

from __future__ import annotations

import random
import socket
from collections.abc import Sequence
from typing import Final

from lakeward_components.errors import ComponentFailed

LOOPBACK: Final = "127.0.0.1"
GRPC_OFFSET: Final = 10_000
# The kernel hands 32768 and above to outgoing connections; a port there may be taken at any moment. The upper bound
# leaves room for a twin GRPC_OFFSET above.
_LOWEST: Final = 10_200
_HIGHEST: Final = 22_700
_TRIES: Final = 200


def take(*, given: int | None, last: str | int | None, twin_offset: int = 0, avoid: Sequence[int] = ()) -> int:
    """A port that nobody listens on right now; another process may still take it before its server does.

    Args:
        given: the caller's wish; only this one will do. None leaves the choice to us.
        last: the one of the last run, taken when it is free.
        twin_offset: when not 0, the port this much above is free as well.
        avoid: ports that are spoken for, though nobody listens on them yet; their twins too.

    Raises:
        ComponentFailed: the given one is taken, or none was found.
    """
    spoken_for = {port + offset for port in avoid for offset in (0, twin_offset)}
    # Random, not counted up: several sessions that start at once look in different places.
    drawn = [random.randint(_LOWEST, _HIGHEST) for _ in range(_TRIES)]  # noqa: S311 - a port is no secret
    remembered = [] if last is None else [int(last)]
    for port in [given] if given is not None else remembered + drawn:
        wanted = {port, port + twin_offset}
        if not wanted & spoken_for and all(is_free(each) for each in wanted):
            return port
    if given is not None:
        raise ComponentFailed(f"port {given} of {LOOPBACK} is taken; choose another or stop what listens there")
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
