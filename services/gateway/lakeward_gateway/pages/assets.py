"""Files that pages load, served as they are."""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from lakeward_gateway.encoding import GZIP
from lakeward_gateway.http import Header, Request, Response

_TYPES: Final[Mapping[str, bytes]] = {
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}
# For an hour nobody asks again, and then whether it has changed.
_COMMON: Final[Sequence[Header]] = (
    (b"cache-control", b"public, max-age=3600"),
    (b"vary", b"accept-encoding"),
    (b"x-content-type-options", b"nosniff"),
)


@dataclasses.dataclass(frozen=True, slots=True)
class _Contents:
    plain: bytes
    zipped: bytes
    tag: bytes


class Asset:
    """A file, read and compressed when it is first asked for, and then kept.

    Args:
        path: where it is; its suffix says what it is.
    """

    def __init__(self, path: Path) -> None:
        """See the class."""
        self._path: Final = path
        self._type: Final = _TYPES[path.suffix]
        self._reading: Final = asyncio.Lock()
        self._contents: _Contents | None = None

    async def answer(self, request: Request) -> Response:
        """The file; 304 where the client has it."""
        async with self._reading:
            contents = self._contents
            if contents is None:
                contents = self._contents = await asyncio.to_thread(_read, self._path)
        headers = (*_COMMON, (b"etag", contents.tag))
        if request.headers.get(b"if-none-match") == contents.tag:
            return Response(304, headers=headers)
        headers = (*headers, (b"content-type", self._type))
        if request.takes_gzip:
            return Response(200, headers=(*headers, GZIP), body=contents.zipped, encoded=True)
        return Response(200, headers=headers, body=contents.plain, encoded=True)


def packaged(package: str, name: str) -> Asset:
    """A file that a package ships; the package is not imported.

    Raises:
        FileNotFoundError: the package is not installed, or ships no such file.
    """
    found = importlib.util.find_spec(package)
    places = [] if found is None else found.submodule_search_locations or []
    for place in places:
        path = Path(place, name)
        if path.is_file():
            return Asset(path)
    raise FileNotFoundError(f"the package {package} with {name} is not installed; install lakeward-gateway whole")


def _read(path: Path) -> _Contents:
    plain = path.read_bytes()
    # weak, since it is one tag for both encodings
    tag = f'W/"{hashlib.sha256(plain).hexdigest()[:32]}"'.encode()
    return _Contents(plain, gzip.compress(plain, mtime=0), tag)
