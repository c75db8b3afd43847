"""A commit in the making: the table so far, and what the later updates and the end need to know of the earlier ones."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.snapshots import MAIN, Snapshot, SnapshotLogEntry
from lakeward_catalog.domain.iceberg.table import TableMetadata

LAST_ADDED: Final = -1  # an update's id that means "the one that this commit added last"


class Draft:
    """A working copy of a table's metadata; one commit owns it.

    Attributes:
        base: the table before the commit.
        table: the table so far.
        now_ms: the commit's time; never before the base's, so that the logs stay in order.
        allowed_format_versions: what the warehouse allows.
        object_name: the table's name, for messages.
        last_schema_id: the schema that `-1` means; None until one is added. Likewise for spec and order.
        added: snapshots of this commit, by id.
        became_current: snapshots that main was pointed to in this commit, in order.
        snapshots_removed: whether any was.
    """

    def __init__(
        self, base: TableMetadata, *, object_name: str, now_ms: int, allowed_format_versions: Collection[int]
    ) -> None:
        """Start from `base`."""
        self.base: Final = base
        self.table = base
        self.object_name: Final = object_name
        self.now_ms: Final = max(now_ms, base.last_updated_ms)
        self.allowed_format_versions: Final = allowed_format_versions
        self.last_schema_id: int | None = None
        self.last_spec_id: int | None = None
        self.last_order_id: int | None = None
        self.added: Final[dict[int, Snapshot]] = {}
        self.became_current: Final[list[int]] = []
        self.snapshots_removed = False
        self.snapshot_time: int | None = None

    def change(self, **members: object) -> None:
        """Replace members of the table so far."""
        self.table = msgspec.structs.replace(self.table, **members)

    def resolve(self, wanted: int, last: int | None, *, what: str) -> int:
        """The id that an update means, where -1 is the one added last.

        Raises:
            Invalid: -1, and this commit added none.
        """
        if wanted != LAST_ADDED:
            return wanted
        if last is None:
            raise Invalid("", f"-1 means the {what} that this commit added last, and it added none")
        return last

    def make_current(self, snapshot_id: int) -> None:
        """Point the table at a snapshot, and log it."""
        snapshot = self.added.get(snapshot_id)
        if snapshot is not None:
            time = snapshot.head.timestamp_ms
        else:
            time = self.now_ms if self.snapshot_time is None else self.snapshot_time
        entry = SnapshotLogEntry.at(snapshot_id=snapshot_id, timestamp_ms=time)
        self.became_current.append(snapshot_id)
        self.change(current_snapshot_id=snapshot_id, snapshot_log=self.table.snapshot_log.append(entry))

    def remove_ref(self, name: str) -> None:
        """Take a branch or tag away; main takes the current snapshot with it."""
        refs = {known: ref for known, ref in self.table.refs.items() if known != name}
        self.change(refs=refs)
        if name == MAIN:
            self.change(current_snapshot_id=None)
