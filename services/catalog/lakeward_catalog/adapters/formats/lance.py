"""How much a Lance table holds: its newest manifest says so of each fragment.

A manifest's file ends with the manifest's place, two numbers of versions and "LANC"; the manifest begins with its length.
"""

from __future__ import annotations

import re
import struct
from typing import Final

from google.protobuf.message import DecodeError

from lakeward_catalog.adapters.formats.reading import TableFiles
from lakeward_catalog.application.payloads import beside
from lakeward_catalog.application.ports.measuring import Unreadable
from lakeward_catalog.domain.generic.measures import Measures
from lakeward_protocol.formats.v1 import lance_pb2

_NAME: Final = re.compile(r"_versions/([0-9]{1,20})\.manifest")
_VERSIONS: Final = 20_000
_MANIFEST: Final = 64 * 1024 * 1024  # bytes
_END: Final = struct.Struct("<QHH4s")
_LENGTH: Final = struct.Struct("<I")
_LAST: Final = (1 << 64) - 1
_NEWEST_FIRST: Final = 1 << 63  # names from here on count down from the last number that there is


async def measure(files: TableFiles) -> Measures | None:
    """Read the newest manifest.

    Raises:
        Unreadable: it is none, is over 64 MiB, or there are too many versions to find it among.
        Refusal: those of the store.
    """
    newest, path, size = -1, "", 0
    async for each, length in files.listed("_versions/", most=_VERSIONS):
        name = _NAME.fullmatch(each)
        if name is None:
            continue
        number = int(name[1])
        version = _LAST - number if number >= _NEWEST_FIRST else number
        if version > newest:
            newest, path, size = version, each, length
        if number >= _NEWEST_FIRST:
            break  # the first in the order of names is the newest
    if not path:
        return None
    manifest = await _manifest(files, path, size)
    return await beside(len(manifest), lambda: _measures(manifest, path))


async def _manifest(files: TableFiles, path: str, size: int) -> bytes:
    if not _END.size + _LENGTH.size <= size <= _MANIFEST:
        raise Unreadable(f"{path} has {size} bytes, which no manifest has that is read here")
    place, _, _, magic = _END.unpack(await files.part(path, size - _END.size, _END.size))
    if magic != b"LANC" or place + _LENGTH.size > size - _END.size:
        raise Unreadable(f"{path} is no manifest of Lance")
    content = await files.whole(path, size - _END.size, start=place)
    (length,) = _LENGTH.unpack_from(content)
    if _LENGTH.size + length > len(content):
        raise Unreadable(f"the manifest in {path} is cut short")
    return content[_LENGTH.size : _LENGTH.size + length]


def _measures(content: bytes, path: str) -> Measures:
    try:
        manifest = lance_pb2.LanceManifest.FromString(content)
    except DecodeError as error:
        raise Unreadable(f"the manifest in {path} can't be read") from error
    rows = sum(each.physical_rows - each.deletion_file.num_deleted_rows for each in manifest.fragments)
    sizes = {file.path: file.file_size_bytes for fragment in manifest.fragments for file in fragment.files}
    known = all(sizes.values())
    return Measures(
        version=manifest.version, rows=max(rows, 0), files=len(sizes), bytes=sum(sizes.values()) if known else None
    )
