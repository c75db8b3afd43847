"""Snapshots of streams that have one event each, which says which stream it is of."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid5

from lakeward_servicekit.events.history import Entry, Snapshot
from tests.support.catalog.values import NOON

_NAMES = UUID("0198e000-0000-7000-8000-000000000000")


class NamedSnapshots:
    """`Snapshots`, each of the state behind the first event of the log."""

    def __init__(self) -> None:
        self._streams: dict[UUID, str] = {}

    async def current(self, stream: str) -> Snapshot:
        snapshot_id = uuid5(_NAMES, stream)
        self._streams[snapshot_id] = stream
        return Snapshot(snapshot_id, 1, 1, NOON)

    async def find(self, stream: str, snapshot_id: UUID) -> Snapshot | None:
        found = await self.current(stream)
        return found if found.snapshot_id == snapshot_id else None

    async def read(self, snapshot_id: UUID, *, after: int, limit: int, most_bytes: int) -> Sequence[Entry]:
        del limit, most_bytes
        return [Entry("authz", "snapshot-completed", self._streams[snapshot_id].encode())][after:]
