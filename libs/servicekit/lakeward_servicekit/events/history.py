"""Reading a stream of events in order: a snapshot of what is there, then the log, without a gap and without repetition.

A consumer keeps a position, and a server keeps nothing of it: each page can be asked for anywhere, and again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol
from uuid import UUID

from lakeward_servicekit.errors import Reason, Refusal, invalid_field
from lakeward_servicekit.events.positions import Beginning, LogPlace, Now, Position, SnapshotPlace
from lakeward_servicekit.events.relay import LoggedEvent
from lakeward_servicekit.events.tail import Tail

MOST_EVENTS: Final = 1000
MOST_BYTES: Final = 4 * 1024 * 1024
"""Of a page, beside its first event."""
LONGEST_WAIT: Final = timedelta(seconds=30)
_USUAL_EVENTS: Final = 100
_BEGINNINGS: Final = 3
"""Snapshots that are looked at for one beginning, each of which newer ones took the place of before it was read."""


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """What the log has of a stream.

    Attributes:
        oldest: the number of the oldest event that is kept; one more than `newest` where none is.
        newest: the number of the newest event there ever was; 0 for none.
    """

    oldest: int
    newest: int


class History(Protocol):
    """The log of events, for who reads it. All methods raise Refusal DATABASE_UNAVAILABLE."""

    async def span(self, stream: str) -> Span:
        """What there is of a stream; a stream that nobody wrote to is empty."""
        ...

    async def read(self, stream: str, *, after: int, limit: int, most_bytes: int) -> Sequence[LoggedEvent]:
        """Events behind a number, in order: at most `limit`, and beside the first one at most `most_bytes`.

        The first one is not `after + 1` where that was forgotten.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """What was there at one moment, as events.

    Attributes:
        sequence: the number of the last event of the log whose change is in it; each later one's is not.
        entries: how many there are.
        made_at: when that moment was.
    """

    snapshot_id: UUID
    sequence: int
    entries: int
    made_at: datetime


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """An event of a snapshot; its body is the CloudEvent."""

    kind: str
    verb: str
    body: bytes


class Snapshots(Protocol):
    """Snapshots of streams, kept for a while, so that each can be read in pages and by several."""

    async def current(self, stream: str) -> Snapshot:
        """One that is good to begin with, made where none is.

        Raises:
            Refusal: DATABASE_UNAVAILABLE; EVENTS_BEHIND; CONCURRENT_CHANGE, where asking again helps; and what is said where the
                stream's owner is gone.
        """
        ...

    async def find(self, stream: str, snapshot_id: UUID) -> Snapshot | None:
        """One of a stream's; None where it is not kept any more, or is another stream's."""
        ...

    async def read(self, snapshot_id: UUID, *, after: int, limit: int, most_bytes: int) -> Sequence[Entry]:
        """Events behind the entry of a number, in order, as `History.read` has them; none once it is not kept any more."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """Which part of a stream is wanted.

    Attributes:
        after: events behind this.
        limit: at most so many; 0: as many as is usual.
        wait: how long to wait for the first one, at the end.
        most_bytes: beside its first event it has at most so many, and `MOST_BYTES`.
    """

    after: Position
    limit: int = 0
    wait: timedelta = timedelta(0)
    most_bytes: int = MOST_BYTES


@dataclasses.dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event, and where a consumer is that has it; see `LoggedEvent` of the contract."""

    position: Position
    sequence: int
    snapshot: bool
    kind: str
    verb: str
    cloud_event: bytes
    written_at: datetime


@dataclasses.dataclass(frozen=True, slots=True)
class HistoryPage:
    """A part of a stream.

    Attributes:
        position: where the next part begins.
        newest: the number of the stream's newest event.
    """

    events: Sequence[PlacedEvent]
    position: Position
    newest: int


@dataclasses.dataclass(frozen=True, slots=True)
class _Room:
    """What a page has room for."""

    events: int
    most_bytes: int


@dataclasses.dataclass(frozen=True, slots=True)
class HistoryReads:
    """Reads streams; who may is decided before."""

    history: History
    snapshots: Snapshots
    tail: Tail

    async def __call__(self, stream: str, part: Part) -> HistoryPage:
        """A part of a stream of a name, which begins with a snapshot.

        Raises:
            Refusal: EVENTS_FORGOTTEN, which is never said of the beginning; CONCURRENT_CHANGE, where that is not kept for as long
                as its reading takes; INVALID_FIELD, for a position that the stream never reached; and what the parts raise.
        """
        room = _Room(min(part.limit or _USUAL_EVENTS, MOST_EVENTS), min(part.most_bytes, MOST_BYTES))
        if isinstance(part.after, Beginning):
            return await self._first(stream, room)
        place = LogPlace((await self.history.span(stream)).newest) if isinstance(part.after, Now) else part.after
        if isinstance(place, SnapshotPlace):
            snapshot = await self.snapshots.find(stream, place.snapshot_id)
            if snapshot is None or place.entry < snapshot.entries:
                told = None if snapshot is None else await self._of_snapshot(stream, snapshot, place.entry, room)
                if told is None:
                    raise _forgotten(stream, place, (await self.history.span(stream)).oldest)
                return told
            place = LogPlace(snapshot.sequence)
        page, wait = await self._of_log(stream, place, room), min(part.wait, LONGEST_WAIT)
        if page.events or wait <= timedelta(0):
            return page
        await self.tail.beyond(stream, place.sequence, at_most=wait)
        return await self._of_log(stream, place, room)

    async def _first(self, stream: str, room: _Room) -> HistoryPage:
        for _ in range(_BEGINNINGS):
            if page := await self._of_snapshot(stream, await self.snapshots.current(stream), 0, room):
                return page
        raise Refusal(
            Reason.REASON_CONCURRENT_CHANGE,
            f"snapshots of {stream} are replaced faster than one of them is read; ask for its beginning again",
            object=f"stream {stream}",
        )

    async def _of_snapshot(self, stream: str, snapshot: Snapshot, after: int, room: _Room) -> HistoryPage | None:
        """Events behind an entry; None where the snapshot is not kept any more."""
        entries = await self.snapshots.read(
            snapshot.snapshot_id, after=after, limit=room.events, most_bytes=room.most_bytes
        )
        if not entries:
            return None
        span = await self.history.span(stream)
        events = [
            PlacedEvent(
                position=_behind(snapshot, number),
                sequence=snapshot.sequence,
                snapshot=True,
                kind=entry.kind,
                verb=entry.verb,
                cloud_event=entry.body,
                written_at=snapshot.made_at,
            )
            for number, entry in enumerate(entries, after + 1)
        ]
        return HistoryPage(events, events[-1].position, span.newest)

    async def _of_log(self, stream: str, place: LogPlace, room: _Room) -> HistoryPage:
        after = place.sequence
        found = await self.history.read(stream, after=after, limit=room.events, most_bytes=room.most_bytes)
        span = await self.history.span(stream)
        if found and found[0].sequence != after + 1:
            raise _forgotten(stream, place, found[0].sequence)
        if not found and after > span.newest:
            raise invalid_field("after", after, f"at most {span.newest}, the number of the stream's newest event")
        if not found and after + 1 < span.oldest:
            raise _forgotten(stream, place, span.oldest)
        events = [
            PlacedEvent(
                position=LogPlace(each.sequence),
                sequence=each.sequence,
                snapshot=False,
                kind=each.event.kind,
                verb=each.event.verb,
                cloud_event=each.event.body,
                written_at=each.written_at,
            )
            for each in found
        ]
        return HistoryPage(events, events[-1].position if events else place, span.newest)


def _behind(snapshot: Snapshot, entry: int) -> Position:
    """Behind an entry; who has the last one goes on with the log."""
    if entry == snapshot.entries:
        return LogPlace(snapshot.sequence)
    return SnapshotPlace(snapshot.snapshot_id, entry)


def _forgotten(stream: str, place: LogPlace | SnapshotPlace, oldest: int) -> Refusal:
    return Refusal(
        Reason.REASON_EVENTS_FORGOTTEN,
        f"what is behind position {place} is not kept any more; the oldest event that is has the number {oldest}: begin again, "
        "from the position beginning",
        stream=stream,
        after=str(place),
        oldest=str(oldest),
    )
