"""Tables' files in memory or in a folder, as the readers of formats ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lakeward_catalog.adapters.formats import FormatReaders
from lakeward_catalog.application.ports.measuring import Meant
from lakeward_catalog.domain.generic.measures import Measures
from lakeward_catalog.domain.model import Tabular, Warehouse
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.values import a_namespace, a_project, a_tabular, a_warehouse


class HeldFiles:
    """A `Source` of one table's files by path; counts the bytes that were read."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.read = 0

    @classmethod
    def of(cls, folder: Path) -> HeldFiles:
        found = (path for path in folder.rglob("*") if path.is_file())
        return cls({str(path.relative_to(folder)): path.read_bytes() for path in found})

    async def list_files(
        self, warehouse: Warehouse, tabular: Tabular, *, below: str, after: str, limit: int
    ) -> Sequence[tuple[str, int]]:
        paths = sorted(each for each in self.files if each.startswith(below) and each > after)
        return [(path, len(self.files[path])) for path in paths[:limit]]

    async def read_part(self, warehouse: Warehouse, tabular: Tabular, path: str, *, offset: int, length: int) -> bytes:
        if path not in self.files:
            raise Refusal(Reason.REASON_FILE_NOT_FOUND, f"there is no file {path}", location=path)
        part = self.files[path][offset : offset + length]
        self.read += len(part)
        return part


async def measured(files: HeldFiles, table_format: str) -> Measures | None:
    """What the readers say of a table of such files."""
    warehouse = a_warehouse(a_project())
    tabular = a_tabular(a_namespace(warehouse))
    return await FormatReaders(files).measure(Meant(warehouse, tabular, table_format))
