"""A table's place as a file system of Arrow's in which each request, not each file, has credentials of now.

A large file is read for longer than credentials live. Arrow's own S3 file system takes keys once; here every range that is read
and every part that is written asks obstore, whose provider is the client's.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

import obstore
import pyarrow as pa
from pyarrow import fs

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

_READ_AHEAD: Final = 8 << 20  # bytes of a file that are read front to back
_PART: Final = 8 << 20  # bytes of a multipart upload's parts


def filesystem(store: S3Store | AzureStore | GCSStore) -> fs.PyFileSystem:
    """A file system whose paths begin where the store does.

    Args:
        store: that begins at a table's place.
    """
    return fs.PyFileSystem(_Handler(store))


class _Handler(fs.FileSystemHandler):  # type: ignore[misc] # pyarrow has no types
    """What Arrow asks of a file system, as far as tables need it. There are no directories: keys only look like paths."""

    def __init__(self, store: S3Store | AzureStore | GCSStore) -> None:
        self._store = store

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Handler) and self._store == other._store

    def __hash__(self) -> int:
        return id(self._store)

    def get_type_name(self) -> str:
        return "lakeward"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: Sequence[str]) -> list[fs.FileInfo]:
        return [self._info(path) for path in paths]

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        prefix = f"{selector.base_dir.strip('/')}/" if selector.base_dir.strip("/") else None
        return [
            fs.FileInfo(found["path"], fs.FileType.File, size=found["size"], mtime=found["last_modified"])
            for page in obstore.list(self._store, prefix=prefix)
            for found in page
            if selector.recursive or "/" not in found["path"].removeprefix(prefix or "")
        ]

    def open_input_file(self, path: str) -> pa.PythonFile:
        return pa.PythonFile(_Ranges(self._store, path), mode="r")

    def open_input_stream(self, path: str) -> pa.PythonFile:
        return pa.PythonFile(io.BufferedReader(_Ranges(self._store, path), _READ_AHEAD), mode="r")

    def open_output_stream(self, path: str, metadata: Any) -> pa.PythonFile:  # noqa: ANN401, ARG002 - Arrow's signature
        return pa.PythonFile(_Parts(self._store, path), mode="w")

    def delete_file(self, path: str) -> None:
        obstore.delete(self._store, path)

    def create_dir(self, path: str, recursive: bool) -> None:  # noqa: FBT001 - Arrow's signature
        """Nothing: a key needs no directory."""

    def open_append_stream(self, path: str, metadata: Any) -> NoReturn:  # noqa: ANN401 - Arrow's signature
        self._refuse(path, metadata)

    def delete_dir(self, path: str) -> NoReturn:
        self._refuse(path)

    def delete_dir_contents(self, path: str, missing_dir_ok: bool) -> NoReturn:  # noqa: FBT001 - Arrow's signature
        self._refuse(path, missing_dir_ok)

    def delete_root_dir_contents(self) -> NoReturn:
        self._refuse("")

    def move(self, src: str, dest: str) -> NoReturn:
        self._refuse(src, dest)

    def copy_file(self, src: str, dest: str) -> NoReturn:
        self._refuse(src, dest)

    def _info(self, path: str) -> fs.FileInfo:
        try:
            found = obstore.head(self._store, path)
        except FileNotFoundError:
            return fs.FileInfo(path, fs.FileType.NotFound)
        return fs.FileInfo(path, fs.FileType.File, size=found["size"], mtime=found["last_modified"])

    @staticmethod
    def _refuse(*asked: object) -> NoReturn:
        raise NotImplementedError(f"a table's files are written once and deleted one by one; asked for {asked}")


class _Ranges(io.RawIOBase):
    """A file that is read by ranges, each in a request of its own."""

    def __init__(self, store: S3Store | AzureStore | GCSStore, path: str) -> None:
        self._store = store
        self._path = path
        self._size = obstore.head(store, path)["size"]
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def size(self) -> int:
        """Bytes of the file."""
        return self._size

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence] + offset
        return self._at

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - whatever holds bytes
        into = memoryview(buffer).cast("B")
        end = min(self._at + len(into), self._size)
        if end <= self._at:
            return 0
        got = memoryview(obstore.get_range(self._store, self._path, start=self._at, end=end))
        into[: len(got)] = got
        self._at += len(got)
        return len(got)


class _Parts(io.RawIOBase):
    """A file that is written in parts, each in a request of its own; it is there once it is closed.

    What was sent of one that nobody closes is an unfinished upload, which a store's own rules remove.
    """

    def __init__(self, store: S3Store | AzureStore | GCSStore, path: str) -> None:
        self._writer = obstore.open_writer(store, path, buffer_size=_PART)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 - whatever holds bytes
        # A copy: obstore keeps what it is given until it is sent, and Arrow's writers use their buffers again.
        return self._writer.write(bytes(data))

    def close(self) -> None:
        if not self.closed:
            try:
                self._writer.close()
            finally:
                super().close()

    def __del__(self) -> None:
        """Nothing: Python's files close themselves here, and half a file would be there."""
