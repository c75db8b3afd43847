"""Names of metadata files: `<location>/metadata/<NNNNN>-<uuid>[.gz].metadata.json`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from lakeward_catalog.domain.iceberg.properties import COMPRESSION_CODEC

FOLDER: Final = "metadata"
_NAME: Final = re.compile(r"(?P<counter>\d{1,18})-.{36}(?:\.[A-Za-z0-9]+)?\.metadata\.json")


def is_compressed(properties: Mapping[str, str]) -> bool:
    """Whether new metadata files are gzipped: unless the codec is `none`."""
    return properties.get(COMPRESSION_CODEC, "gzip") != "none"


def is_gzip_name(path: str) -> bool:
    """Whether a metadata file is to be read as gzip, by its name."""
    return path.endswith((".gz.metadata.json", ".metadata.json.gz"))


def first_file(location: str, *, file_uuid: str, compressed: bool) -> str:
    """The path of a table's or view's first metadata file."""
    return _path(location, counter=0, file_uuid=file_uuid, compressed=compressed)


def next_file(location: str, previous: str | None, *, file_uuid: str, compressed: bool) -> str:
    """The path after `previous`: one more than its counter, or 0 if it has none or there is no previous file."""
    counter = 0
    if previous is not None and (match := _NAME.fullmatch(previous.rsplit("/", 1)[-1])):
        counter = int(match["counter"]) + 1
    return _path(location, counter=counter, file_uuid=file_uuid, compressed=compressed)


def deletable(location: str, trimmed: Iterable[str]) -> tuple[str, ...]:
    """Those of the files that lie in the table's own metadata folder, by a plain name.

    A log that was registered can name any path; nothing outside the folder is ever the catalog's to delete.
    """
    folder = f"{location.rstrip('/')}/{FOLDER}/"
    return tuple(path for path in trimmed if path.startswith(folder) and _plain(path.removeprefix(folder)))


def _plain(name: str) -> bool:
    return bool(name) and name not in {".", ".."} and not re.search(r"[/\\%?#\x00-\x1f]", name)


def _path(location: str, *, counter: int, file_uuid: str, compressed: bool) -> str:
    suffix = ".gz" if compressed else ""
    return f"{location.rstrip('/')}/{FOLDER}/{counter:05d}-{file_uuid}{suffix}.metadata.json"
