"""Where the API server is, and what this process proves itself to it with."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

# Where the kubelet puts them into every pod, and puts a new token there before the old one ends.
_POD: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TOKEN_SECONDS: Final = 60.0


class NoCluster(Exception):  # noqa: N818 - it says what is the case
    """There is no cluster to ask; the message says what is missing."""


@dataclasses.dataclass(frozen=True, slots=True)
class Cluster:
    """An API server.

    Attributes:
        address: "https://host:port", without a closing slash.
        ca_file: PEM that its certificate is verified with.
        token_file: this process's own token.
    """

    address: str
    ca_file: Path
    token_file: Path


def own_cluster(environ: Mapping[str, str], *, ca_file: Path | None, token_file: Path | None) -> Cluster:
    """The cluster that this process runs in.

    Args:
        environ: variables, of which the kubelet sets KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.
        ca_file: in place of the pod's.
        token_file: in place of the pod's.

    Raises:
        NoCluster: it runs in none.
    """
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise NoCluster("this process runs in no pod: KUBERNETES_SERVICE_HOST is not set")
    shown = f"[{host}]" if ":" in host else host
    return Cluster(f"https://{shown}:{port}", ca_file or _POD / "ca.crt", token_file or _POD / "token")


class OwnToken:
    """This process's own token, as the file holds it now or did a minute ago.

    Args:
        file: holds it.
        now: seconds on a clock that never goes back.
    """

    def __init__(self, file: Path, *, now: Callable[[], float] = time.monotonic) -> None:
        """Read nothing yet; see the class."""
        self._file = file
        self._now = now
        self._text = ""
        self._read_at = -float("inf")

    async def get(self, *, fresh: bool = False) -> str:
        """The token; with `fresh`, as the file holds it now.

        Raises:
            NoCluster: the file can't be read, or is empty.
        """
        if fresh or self._now() - self._read_at >= _TOKEN_SECONDS:
            try:
                text = (await asyncio.to_thread(self._file.read_text, encoding="ascii")).strip()
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else "it is no text"
                raise NoCluster(f"the token file {self._file} can't be read: {why}") from error
            if not text:
                raise NoCluster(f"the token file {self._file} is empty")
            self._text, self._read_at = text, self._now()
        return self._text
