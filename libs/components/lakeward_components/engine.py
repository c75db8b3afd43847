"""Whether a container engine can be had: Docker's daemon answers, and testcontainers is installed to drive it."""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import socket
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

_DEFAULT: Final = "unix:///var/run/docker.sock"
_SECONDS: Final = 1.0
_HTTP_OK: Final = 200


def answers(environment: Mapping[str, str]) -> bool:
    """Whether containers can be started from here: asked of the daemon itself, since a client alone proves nothing.

    Args:
        environment: `DOCKER_HOST` counts, as `unix://path` or `tcp://host:port`; other forms are not asked.
    """
    if importlib.util.find_spec("testcontainers") is None:
        return False
    with contextlib.suppress(OSError, http.client.HTTPException):
        return _ping(environment.get("DOCKER_HOST") or _DEFAULT)
    return False


def _ping(host: str) -> bool:
    where = urlsplit(host)
    connection = http.client.HTTPConnection(where.hostname or "localhost", where.port or 2375, timeout=_SECONDS)
    if where.scheme == "unix":
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.sock.settimeout(_SECONDS)
    elif where.scheme not in {"tcp", "http"}:
        return False
    try:
        if where.scheme == "unix":
            connection.sock.connect(where.path)
        connection.request("GET", "/_ping")
        return connection.getresponse().status == _HTTP_OK
    finally:
        connection.close()
