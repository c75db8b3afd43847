"""From the log into the table, batch by batch."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lakeward.errors import LakewardError, RefusedError, UnreachableError
from lakeward.retrying import REPEATED
from lakeward_pipelines.audit.source import Log
from lakeward_pipelines.audit.table import MARK, AuditTable, Standing, WrittenMeanwhile

if TYPE_CHECKING:
    from lakeward.events import Event

_WAIT_MS: Final = 15_000
_POLL_SECONDS: Final = 1.0
_AWAY_SECONDS: Final = 2.0
_TRIES: Final = 10


@dataclass(frozen=True)
class Bounds:
    """How large a batch gets, which is one commit.

    Attributes:
        events: at most so many.
        size: characters of payloads after which it is full.
        seconds: how long it waits for more behind its first event.
    """

    events: int = 10_000
    size: int = 32 << 20
    seconds: float = 30.0


@dataclass
class _Batch:
    """Events that follow on what the table holds.

    Attributes:
        events: by the ids of their warehouses, in order.
        count: how many they are.
        size: characters of them, about.
        since: when the first came that is worth a commit, on the monotonic clock; None: there is none yet.
    """

    events: dict[str, list[Event]] = field(default_factory=dict)
    count: int = 0
    size: int = 0
    since: float | None = None

    def take(self, warehouse: str, few: Sequence[Event]) -> None:
        """Take what a log said."""
        if not few:
            return
        self.events.setdefault(warehouse, []).extend(few)
        self.count += len(few)
        self.size += sum(len(str(event.data)) for event in few)
        if self.since is None and not all(is_of_an_audit(event) for event in few):
            self.since = time.monotonic()

    def last(self, warehouse: str, else_: int) -> int:
        """The number of the last one of a warehouse."""
        few = self.events.get(warehouse)
        return few[-1].sequence if few else else_


def is_of_an_audit(event: Event) -> bool:
    """Whether it tells of a commit to an audit table, this one or another's."""
    snapshot = event.data.get("snapshot")
    summary = snapshot.get("summary") if isinstance(snapshot, Mapping) else None
    return isinstance(summary, Mapping) and any(str(name).startswith(MARK) for name in summary)


@dataclass(frozen=True)
class Landing:
    """Lands what warehouses tell in one table.

    The table's own commits are events too, and have rows like all others. They alone are no reason for a commit, unless they
    fill a batch: else each commit would bring the next one, for ever, and two audits of one warehouse would keep each other busy.

    Attributes:
        table: it is there.
        logs: of those warehouses.
        bounds: of a batch.
        over_holes: where events are not kept any more that the table lacks, go on with the oldest one there is; its numbers
            show the hole.
    """

    table: AuditTable
    logs: Sequence[Log]
    bounds: Bounds = field(default_factory=Bounds)
    over_holes: bool = False

    def once(self) -> int:
        """Land what there is now, and no more.

        Returns:
            How many events were added.

        Raises:
            EventsMissing: some are not kept any more.
            LakewardError: the server can't be asked.
            WrittenMeanwhile: others write to the table all the time.
        """
        until = {log.warehouse_id: log.newest() for log in self.logs}
        added = 0
        while count := self._step(until):
            added += count
        return added

    def follow(self) -> None:
        """Land what there is and what comes, for ever. While the server can't be reached it is asked again.

        Raises:
            EventsMissing: some are not kept any more.
            LakewardError: the server refuses.
            WrittenMeanwhile: others write to the table all the time.
        """
        while True:
            try:
                for log in self.logs:
                    log.newest()  # whether the server is there is better asked here: Spark's errors of it are many
                self._step(None)
            except (RefusedError, UnreachableError) as error:
                if not _passes(error):
                    raise
                time.sleep(_AWAY_SECONDS)

    def _step(self, until: Mapping[str, int] | None) -> int:
        for tried in range(1, _TRIES + 1):
            standing = self.table.standing([log.warehouse_id for log in self.logs])
            batch = self._collected(standing, until)
            if batch.since is None and not self._is_full(batch):
                return 0
            try:
                self.table.add(batch.events, since=standing)
            except WrittenMeanwhile:
                if tried == _TRIES:
                    raise
            else:
                return batch.count
        raise AssertionError("the last try ends otherwise")

    def _collected(self, standing: Standing, until: Mapping[str, int] | None) -> _Batch:
        """What follows on the table; without an end, it waits until that is worth a commit and is full or old."""
        batch = _Batch()
        begun = {log.warehouse_id: self._begun(log, standing) for log in self.logs}
        while not self._is_full(batch):
            before = batch.count
            for log in self.logs:
                after = batch.last(log.warehouse_id, begun[log.warehouse_id])
                room = self.bounds.events - batch.count
                if until is not None:
                    room = min(room, until[log.warehouse_id] - after)
                if room > 0:
                    batch.take(log.warehouse_id, log.read(after, limit=room, wait_ms=self._patience(batch, until)))
            if batch.count == before if until is not None else self._is_due(batch):
                break
            if batch.count == before and len(self.logs) > 1:
                time.sleep(_POLL_SECONDS)
        return batch

    def _begun(self, log: Log, standing: Standing) -> int:
        known = standing.sequences.get(log.warehouse_id)
        # Without a number of its own the table begins with the oldest event that is kept.
        return known if known is not None and not self.over_holes else log.kept_behind(known or 0)

    def _is_full(self, batch: _Batch) -> bool:
        return batch.count >= self.bounds.events or batch.size >= self.bounds.size

    def _patience(self, batch: _Batch, until: Mapping[str, int] | None) -> int:
        if until is not None or len(self.logs) > 1:
            return 0
        if batch.since is None:
            return _WAIT_MS
        left = self.bounds.seconds - (time.monotonic() - batch.since)
        return max(0, min(_WAIT_MS, int(left * 1000)))

    def _is_due(self, batch: _Batch) -> bool:
        return batch.since is not None and time.monotonic() - batch.since >= self.bounds.seconds


def _passes(error: LakewardError) -> bool:
    return not isinstance(error, RefusedError) or error.status in REPEATED
