"""Files as they are: how many, how large, and of Parquet, by the footers, how many rows.

Names that begin with "." or "_" are no data, as engines have it.
"""

from __future__ import annotations

import asyncio
from typing import Final

from lakeward_catalog.adapters.formats import parquet
from lakeward_catalog.adapters.formats.reading import TableFiles
from lakeward_catalog.domain.generic.measures import Measures

_FILES: Final = 100_000
_FOOTERS: Final = 2_000
_AT_ONCE: Final = 8


async def measure(files: TableFiles) -> Measures | None:
    """Count and weigh; rows only where every file is Parquet, and there are not too many for a look at each.

    Raises:
        Unreadable: there are over 100,000 files; a Parquet file is none.
        Refusal: those of the store.
    """
    found = [(path, size) async for path, size in files.listed("", most=_FILES) if _is_data(path)]
    if not found:
        return None
    rows = None
    if len(found) <= _FOOTERS and all(path.lower().endswith(".parquet") for path, _ in found):
        rows = 0
        for start in range(0, len(found), _AT_ONCE):
            rows += sum(await asyncio.gather(*(parquet.rows(files, *each) for each in found[start : start + _AT_ONCE])))
    return Measures(rows=rows, files=len(found), bytes=sum(size for _, size in found))


def _is_data(path: str) -> bool:
    return not path.endswith("/") and not any(part.startswith((".", "_")) for part in path.split("/"))
