"""What tables of other formats than Iceberg say of themselves, each format a module. Their bytes come from vending.

Whoever may write a table wrote what is read here, so all of it is bounded, and nothing that reads it runs outside
of Python but what unpacks compressed pages, into as much room as it is given.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final

from lakeward_catalog.adapters.formats import delta, lance, plain_files
from lakeward_catalog.adapters.formats.reading import Source, TableFiles
from lakeward_catalog.application.ports.measuring import Meant
from lakeward_catalog.domain.generic.measures import Measures

_READERS: Final[Mapping[str, Callable[[TableFiles], Awaitable[Measures | None]]]] = MappingProxyType(
    {
        "delta": delta.measure,
        "lance": lance.measure,
        **dict.fromkeys(("parquet", "dataset", "csv", "json", "avro", "orc"), plain_files.measure),
    }
)


class FormatReaders:
    """`Measuring` of the formats that have a module here."""

    def __init__(self, source: Source) -> None:
        """Read from `source`."""
        self._source: Final = source

    @property
    def formats(self) -> frozenset[str]:
        """See `Measuring`."""
        return frozenset(_READERS)

    async def measure(self, meant: Meant) -> Measures | None:
        """See `Measuring`."""
        return await _READERS[meant.format.lower()](TableFiles(self._source, meant.warehouse, meant.tabular))
