"""Telling authz of what changed: at once, by the process that made the change, and behind that by a loop in every process.

Any number of processes may tell of one stream at the same time: what is sent is the same under one number, and authz counts each
number once. So a crash anywhere, and an answer that is lost, cost a repetition and nothing else.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from typing import Final, Protocol

from lakeward_catalog.application.tree import PROJECTS, Answer, Numbered, StreamId, Tree, TreeStreams
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.relay import Bell, retry_pause

_LOG: Final = logging.getLogger("lakeward_catalog.feeding")
BATCH: Final = 1000
"""Changes in one call; authz takes no more."""


class RungBell(Bell, Protocol):
    """A bell within the process."""

    def ring(self) -> None:
        """Let the next wait, or the one that is going on, return."""


@dataclasses.dataclass(frozen=True, slots=True)
class FeedPace:
    """How changes are told.

    Attributes:
        patience: the longest that a maker waits until authz knows what it made.
        poll: how long nothing is looked at without a bell.
        gather: how long changes gather before they are told, where nobody waits for them.
        streams: told of at once.
        first_retry: after a failure; doubled with each in a row.
        last_retry: the longest pause.
    """

    patience: timedelta = timedelta(seconds=5)
    poll: timedelta = timedelta(seconds=5)
    gather: timedelta = timedelta(seconds=1)
    streams: int = 4
    first_retry: timedelta = timedelta(milliseconds=250)
    last_retry: timedelta = timedelta(seconds=30)


class TreeFeed:
    """Tells authz of the tree's changes, and its makers when they may use what they made. One a process."""

    def __init__(
        self, streams: TreeStreams, tree: Tree, bell: RungBell, *, awaited: bool, pace: FeedPace | None = None
    ) -> None:
        """Tell `tree` of what is in `streams`.

        Args:
            streams: what is to be told.
            tree: who is told.
            bell: wakes the loop of this process.
            awaited: whether decisions are made from the tree; else nobody waits, and changes may gather.
            pace: of the loop.
        """
        self._streams: Final = streams
        self._tree: Final = tree
        self._bell: Final = bell
        self._awaited: Final = awaited
        self._pace: Final = pace or FeedPace()
        self._rounds: Final[dict[StreamId, Coalescer[StreamId, None]]] = {}
        # what authz said and nobody has noted: the next look at the stream does it on its way
        self._answers: Final[dict[StreamId, Answer]] = {}

    @property
    def telling(self) -> Collection[StreamId]:
        """Streams that are told of now; of others nothing is kept but what their next look notes."""
        return self._rounds.keys()

    async def grown(self, streams: Collection[StreamId], *, awaited: bool) -> None:
        """See `TreeWatch`. The change stands whatever becomes of this: what authz was not told now it is told later."""
        if not (self._awaited and awaited):
            self._bell.ring()
            return
        try:
            async with asyncio.timeout(self._pace.patience.total_seconds()):
                for stream in streams:
                    await self.delivered(stream)
        except (Refusal, TimeoutError) as late:
            self._bell.ring()
            _LOG.warning(
                "authz does not know yet of what was made", extra={"streams": _names(streams), "cause": str(late)}
            )

    async def delivered(self, stream: StreamId) -> None:
        """Return once authz has applied everything that was committed to the stream before this call.

        Raises:
            Refusal: DATABASE_UNAVAILABLE; what `Tree.apply` raises.
        """
        round_of = self._rounds.get(stream)
        if round_of is None:
            # One round at a time, however long it takes: two would send the same.
            round_of = self._rounds[stream] = Coalescer(self._deliver, max_items=1, alike=True, patience=None)
        try:
            await round_of(stream)
        finally:
            if round_of.idle and self._rounds.get(stream) is round_of:
                del self._rounds[stream]

    async def run(self, *, jitter: Callable[[], float]) -> None:
        """Tell of whatever is pending, in all streams, until cancelled. `jitter`: 0 to 1; spreads retries."""
        pace, failures = self._pace, 0
        while True:
            if await self._deliver_all():
                failures = 0
                await self._bell.wait(pace.poll)
                if not self._awaited:
                    await asyncio.sleep(pace.gather.total_seconds())
                continue
            failures += 1
            await asyncio.sleep(retry_pause(failures, first=pace.first_retry, last=pace.last_retry, jitter=jitter()))

    async def _deliver_all(self) -> bool:
        """Whether all that was pending was told."""
        turns = asyncio.Semaphore(self._pace.streams)

        async def deliver(stream: StreamId) -> bool:
            async with turns:
                try:
                    await self.delivered(stream)
                except Refusal as away:
                    _LOG.warning(
                        "authz was not told of changes; they wait", extra={"stream": str(stream), "cause": str(away)}
                    )
                    return False
            return True

        try:
            pending = await self._streams.pending()
        except Refusal as away:
            _LOG.warning("what authz is to be told can't be read", extra={"cause": str(away)})
            return False
        return all(await asyncio.gather(*map(deliver, pending)))

    async def _deliver(self, streams: Sequence[StreamId]) -> Sequence[None]:
        for stream in streams:
            await self._deliver_stream(stream)
        return [None] * len(streams)

    async def _deliver_stream(self, stream: StreamId) -> None:
        """Tell of everything that is there when this begins."""
        limit, suspect = BATCH, 0
        while True:
            batch = await self._streams.take(stream, self._answers.pop(stream, None), limit=BATCH)
            if not batch.changes:
                return
            if stream != PROJECTS and batch.base == 0:
                await self.delivered(PROJECTS)  # the warehouse is made in a project
            sent = batch.changes[:limit]
            try:
                applied = await self._tree.apply(stream, sent)
            except Refusal as refused:
                if refused.reason != Reason.REASON_INVALID_FIELD:
                    raise
                if len(sent) > 1:
                    limit = len(sent) // 2
                elif suspect != sent[0].sequence:
                    suspect = sent[0].sequence  # what it was read with may have changed since
                else:
                    await self._pass_over(stream, sent[0], refused)
                continue
            limit = BATCH
            self._answers[stream] = Answer(batch.base, applied)
            # Further than that was another process, or is an authz that something else was told: the next look finds out.
            if applied == batch.changes[-1].sequence and not batch.more:
                return

    async def _pass_over(self, stream: StreamId, change: Numbered, refused: Refusal) -> None:
        """Let the stream go on, since one change that can't be must not keep all others from authz."""
        _LOG.error(
            "authz can't apply a change: its tree differs from the catalog's; run `lakeward authz verify --repair`",
            extra={
                "stream": str(stream),
                "sequence": change.sequence,
                "change": repr(change.change),
                "cause": str(refused),
            },
        )
        await self._streams.pass_over(stream, change.sequence)


def _names(streams: Collection[StreamId]) -> str:
    return ", ".join("projects" if stream == PROJECTS else str(stream) for stream in streams)
