"""Whole directories to and from a table's place, many files at a time, with credentials that stay fresh.

    table = lake.warehouse("sales").generic.create("ai", "images", format="dataset", exist_ok=True)
    upload(Path("images"), table.access().obstore())

Needs `lakeward[obstore]`. What is large goes in parts, each with credentials of now, so an upload may take longer than they live.
"""

from __future__ import annotations

import io
import mimetypes
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from typing_extensions import Buffer

from lakeward.errors import ConfigurationError, LakewardError

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

    Store: TypeAlias = AzureStore | GCSStore | S3Store

# A part of each file and each of its requests is held in memory: 4 x 4 x 8 MiB.
_FILES: Final = 4
_REQUESTS: Final = 4
_PART: Final = 8 << 20
_CHUNK: Final = 1 << 20

Progress: TypeAlias = Callable[[int], None]
"""Told of bytes as they pass."""


@dataclass(frozen=True)
class Transfer:
    """One file.

    Attributes:
        file: on this machine.
        key: below the store's beginning.
        size: in bytes.
        modified: seconds since the epoch, of where it comes from.
    """

    file: Path
    key: str
    size: int
    modified: float


class TransferError(LakewardError):
    """A file could not be read, or written; those before it were."""


def uploads(source: Path, store: Store, to: str = "", *, resume: bool = False) -> Sequence[Transfer]:
    """What would be uploaded.

    Args:
        source: a file, or a directory, of which everything below it is meant; links to directories are not followed.
        store: that begins at the table's place.
        to: a directory below it; for one file its own key, unless it ends in a slash.
        resume: leave out what is there in the same size and no older.

    Raises:
        ConfigurationError: there is no such file.
    """
    if not source.exists():
        raise ConfigurationError(f"there is no {source}")
    if source.is_file():
        key = f"{to}{source.name}" if not to or to.endswith("/") else to
        found = [_local(source, key)]
    else:
        found = [_local(file, _joined(to, file.relative_to(source).as_posix())) for file in _below(source)]
    if not resume:
        return found
    there = _listed(store, to)
    return [each for each in found if not _is_there(each, there.get(each.key))]


def downloads(store: Store, of: str, target: Path, *, resume: bool = False) -> Sequence[Transfer]:
    """What would be downloaded.

    Args:
        store: that begins at the table's place.
        of: a key, or a directory, below it; "" for all.
        target: a directory, or for one file its own name if that is no directory.
        resume: leave out what an earlier download brought whole.

    Raises:
        ConfigurationError: there is nothing, or a key would lie outside of the target.
    """
    listed = _listed(store, of)
    if of and of in listed:
        into = target / PurePosixPath(of).name if target.is_dir() else target
        found = [Transfer(into, of, listed[of]["size"], listed[of]["last_modified"].timestamp())]
    else:
        found = [
            Transfer(
                _within(target, key.removeprefix(_joined(of, ""))), key, each["size"], each["last_modified"].timestamp()
            )
            for key, each in listed.items()
        ]
    if not found:
        raise ConfigurationError(f"there is nothing at {of or 'the place of the table'}")
    return [each for each in found if not (resume and _was_brought(each))]


def upload(what: Sequence[Transfer], store: Store, progress: Progress = lambda _: None) -> None:
    """Upload files.

    Raises:
        TransferError: one could not be; those that are whole by then are there.
    """
    _all(what, partial(_put, store=store, progress=progress))


def download(what: Sequence[Transfer], store: Store, progress: Progress = lambda _: None) -> None:
    """Download files; each has its name once it is whole.

    Raises:
        TransferError: one could not be; those that are whole by then are there.
    """
    _all(what, partial(_get, store=store, progress=progress))


def _all(what: Sequence[Transfer], one: Callable[[Transfer], None]) -> None:
    with ThreadPoolExecutor(_FILES, thread_name_prefix="lakeward-transfer") as threads:
        begun: list[Future[None]] = [threads.submit(one, each) for each in what]
        try:
            done, _ = wait(begun, return_when=FIRST_EXCEPTION)
            for each in done:
                each.result()
        finally:
            threads.shutdown(cancel_futures=True)


def _put(what: Transfer, *, store: Store, progress: Progress) -> None:
    import obstore  # noqa: PLC0415 - a library that not everybody has

    kind, _ = mimetypes.guess_type(what.file.name)
    try:
        with _Counted(what.file, progress) as file:
            obstore.put(
                store,
                what.key,
                file,
                attributes={"Content-Type": kind or "application/octet-stream"},
                chunk_size=_PART,
                max_concurrency=_REQUESTS,
            )
    except (OSError, obstore.exceptions.BaseError) as error:
        raise TransferError(f"{what.file} could not be uploaded to {what.key}: {_reason(error)}") from error


def _get(what: Transfer, *, store: Store, progress: Progress) -> None:
    import obstore  # noqa: PLC0415 - a library that not everybody has

    part = what.file.with_name(f".{what.file.name}.part")
    try:
        what.file.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            for chunk in obstore.get(store, what.key).stream(min_chunk_size=_CHUNK):
                file.write(chunk)
                progress(len(chunk))
        os.utime(part, (what.modified, what.modified))
        part.replace(what.file)
    except (OSError, obstore.exceptions.BaseError) as error:
        raise TransferError(f"{what.key} could not be downloaded to {what.file}: {_reason(error)}") from error
    finally:
        part.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    # What obstore says goes on with the whole of the store's answer.
    if "403" in str(error) or isinstance(error, PermissionError):
        return "it is refused; who may only read a table gets credentials that only read"
    return str(error).partition("\n")[0][:500]


class _Counted(io.FileIO):
    """A file that tells what is read of it."""

    def __init__(self, path: Path, progress: Progress) -> None:
        super().__init__(path)
        self._progress = progress

    def read(self, size: int | None = -1, /) -> Any:  # noqa: ANN401 - bytes, or None of what does not block
        found = super().read(-1 if size is None else size)
        self._progress(len(found or b""))
        return found

    def readinto(self, buffer: Buffer, /) -> Any:  # noqa: ANN401 - a number, or None of what does not block
        count = super().readinto(buffer)
        self._progress(count or 0)
        return count


def _below(source: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(source):
        folders.sort()
        for name in sorted(names):
            file = Path(folder, name)
            if file.is_file():
                yield file


def _local(file: Path, key: str) -> Transfer:
    told = file.stat()
    return Transfer(file, key, told.st_size, told.st_mtime)


def _listed(store: Store, prefix: str) -> Mapping[str, Mapping[str, Any]]:
    import obstore  # noqa: PLC0415 - a library that not everybody has

    try:
        below = {each["path"]: each for page in obstore.list(store, prefix.strip("/") or None) for each in page}
        if prefix and not below:
            # A listing has what is below a directory; a file is no directory.
            below = {prefix: obstore.head(store, prefix)}
    except FileNotFoundError:
        return {}
    except obstore.exceptions.BaseError as error:
        raise TransferError(f"what is at the table's place can't be listed: {_reason(error)}") from error
    return below


def _is_there(local: Transfer, there: Mapping[str, Any] | None) -> bool:
    return there is not None and there["size"] == local.size and there["last_modified"].timestamp() >= local.modified


def _was_brought(what: Transfer) -> bool:
    # A download gives a file its source's time at its end.
    if not what.file.is_file():
        return False
    told = what.file.stat()
    return told.st_size == what.size and int(told.st_mtime) == int(what.modified)


def _joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if folder.rstrip("/") else name


def _within(target: Path, key: str) -> Path:
    # Keys are what strangers called their files.
    parts = PurePosixPath(key).parts
    if not parts or ".." in parts or key.startswith("/") or "\\" in key or "\x00" in key:
        raise ConfigurationError(f"the key {key!r} names no file below a directory; nothing was downloaded")
    return target.joinpath(*parts)
