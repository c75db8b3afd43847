"""The files below one table's place, read some at a time and not without end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final, Protocol

from lakeward_catalog.application.ports.measuring import Unreadable
from lakeward_catalog.domain.model import Tabular, Warehouse
from lakeward_servicekit.errors import Reason, Refusal

PART: Final = 8 * 1024 * 1024  # bytes, of one call
_PAGE: Final = 1000


class Source(Protocol):
    """Tables' files. Both methods raise the store's refusals."""

    async def list_files(
        self, warehouse: Warehouse, tabular: Tabular, *, below: str, after: str, limit: int
    ) -> Sequence[tuple[str, int]]:
        """Paths below the table's place that begin with `below`, behind `after`, in their order, with sizes."""
        ...

    async def read_part(self, warehouse: Warehouse, tabular: Tabular, path: str, *, offset: int, length: int) -> bytes:
        """Fewer bytes where the file ends. Raises Refusal FILE_NOT_FOUND, MALFORMED_LOCATION too."""
        ...


class TableFiles:
    """One table's files, by their paths below its place."""

    def __init__(self, source: Source, warehouse: Warehouse, tabular: Tabular) -> None:
        """Of this table."""
        self._source: Final = source
        self._warehouse: Final = warehouse
        self._tabular: Final = tabular

    async def listed(self, below: str, *, most: int) -> AsyncIterator[tuple[str, int]]:
        """Paths that begin with `below`, with sizes, in the order of their bytes.

        Raises:
            Unreadable: there are more than `most`.
        """
        after, count = "", 0
        while True:
            page = await self._source.list_files(
                self._warehouse, self._tabular, below=below, after=after, limit=min(_PAGE, most + 1 - count)
            )
            for path, size in page:
                count += 1
                if count > most:
                    raise Unreadable(f"there are over {most} files in {below or 'it'}")
                yield path, size
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    async def part(self, path: str, offset: int, length: int) -> bytes:
        """Exactly these bytes; at most `PART`.

        Raises:
            Unreadable: the file is not there any more, is shorter, or has a name that no location has.
        """
        try:
            content = await self._source.read_part(
                self._warehouse, self._tabular, path, offset=offset, length=max(length, 1)
            )
        except Refusal as refused:
            if refused.reason in {Reason.REASON_FILE_NOT_FOUND, Reason.REASON_MALFORMED_LOCATION}:
                raise Unreadable(f"{path} can't be read: {refused}") from refused
            raise
        if len(content) < length:
            raise Unreadable(f"{path} is shorter than it was listed")
        return content[:length]

    async def whole(self, path: str, size: int, *, start: int = 0) -> bytes:
        """A file of this size, from `start` on.

        Raises:
            Unreadable: as `part`.
        """
        parts = [await self.part(path, offset, min(PART, size - offset)) for offset in range(start, size, PART)]
        return b"".join(parts)
