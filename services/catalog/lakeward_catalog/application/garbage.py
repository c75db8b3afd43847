"""Whether a table's files may be deleted with it: `gc.enabled` says no where they may be other tables' as well.

A generic table that was made over files that were there already keeps them, unless their deletion is asked for in so many words.

A table made by snapshot or migrate, or registered twice, shares its data files; whoever set the property knew. Iceberg's own
tools keep such files, and Spark refuses to purge.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

import msgspec

from lakeward_catalog.application.documents import Documents
from lakeward_catalog.domain.model import Kind, MetadataId, Tabular
from lakeward_catalog.domain.wording import purge_refused
from lakeward_servicekit.errors import Reason, Refusal

T = TypeVar("T")

GC_ENABLED: Final = "gc.enabled"
_ATTEMPTS: Final = 8


class _WithProperties(msgspec.Struct):
    properties: dict[str, str] = {}
    registered: bool = False


class _Unread(Exception):  # noqa: N818 - nobody but `settled` sees it
    """A transaction locked tables whose properties were not read."""

    def __init__(self, tabulars: Sequence[Tabular]) -> None:
        super().__init__()
        self.tabulars: Final = tabulars


class Garbage:
    """Knows which tables keep their files. One a request.

    Properties are read outside of the transaction that drops their table, since reading takes another connection; the
    transaction asks by the metadata that it has locked.
    """

    def __init__(self, documents: Documents) -> None:
        """Read from `documents`."""
        self._documents: Final = documents
        self._kept: Final[dict[MetadataId, bool]] = {}

    async def read(self, tabulars: Sequence[Tabular]) -> None:
        """Find out for those of these that have files of their own; one that was committed to since is asked about again."""
        for tabular in tabulars:
            if tabular.kind is Kind.VIEW:
                continue
            try:
                text = await self._documents.plain(tabular.warehouse_id, tabular.metadata_id, references=True)
            except LookupError:
                continue
            said = msgspec.json.decode(text, type=_WithProperties)
            if tabular.kind is Kind.TABLE:
                value = said.properties.get(GC_ENABLED, "true")
                self._kept[tabular.metadata_id] = value.lower() != "true"  # as Java reads a boolean
            else:
                self._kept[tabular.metadata_id] = said.registered

    async def settled(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Run a transaction that asks `keeps` or `check`; again, once more was read, where it found a table unread.

        Raises:
            Refusal: CONCURRENT_CHANGE where commits kept coming between.
        """
        shown = ""
        for _ in range(_ATTEMPTS):
            try:
                return await attempt()
            except _Unread as found:
                shown = str(found.tabulars[0].ident)
                await self.read(found.tabulars)
        raise Refusal(
            Reason.REASON_CONCURRENT_CHANGE, f"{shown!r} was committed to all the while; retry the drop", object=shown
        )

    def keeps(self, tabular: Tabular) -> bool:
        """Whether files of a tabular that the transaction holds stay where nothing was said of them; a view's never do."""
        if tabular.kind is Kind.VIEW:
            return False
        if tabular.metadata_id not in self._kept:
            raise _Unread([tabular])
        return self._kept[tabular.metadata_id]

    def check(self, tabulars: Sequence[Tabular]) -> None:
        """Whether these may be purged, as was asked for in so many words.

        Raises:
            Refusal: GC_DISABLED for the first that keeps its files.
        """
        unread = [each for each in tabulars if each.kind is Kind.TABLE and each.metadata_id not in self._kept]
        if unread:
            raise _Unread(unread)
        for tabular in tabulars:
            if tabular.kind is Kind.TABLE and self.keeps(tabular):
                raise purge_refused(tabular.ident)
