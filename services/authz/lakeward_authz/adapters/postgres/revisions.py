"""The state of the grants, counted: caches are bound to it.

The count is a sum over a few rows, and a change adds to the row of its project, so changes of most projects do not wait for one
another. Nothing is counted when an object is made: nobody was told anything of it before.
"""

from __future__ import annotations

import zlib
from typing import Final

from lakeward_servicekit.postgres.pools import Connection

SHARDS: Final = 16
_BUMP: Final = "update revisions set revision = revision + 1 where shard = $1"


async def bump(connection: Connection, *project_ids: str) -> None:
    """Count a change of the projects' grants, in its transaction and at its end: the rows are held till then."""
    # in one order, so that of two changes of several projects neither waits for the other's row with its own held
    for shard in sorted({zlib.crc32(project_id.encode()) % SHARDS for project_id in project_ids}):
        await connection.execute(_BUMP, shard)
