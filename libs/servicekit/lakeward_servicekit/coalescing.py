"""Questions that arrive together, asked as one.

A statement or a call costs little more for many questions than for one; so what is asked at one moment shares one. A question
joins only a batch that has not been sent, so an answer never comes from before its question. While as many batches as are allowed
are under way the next one fills up: the busier it is, the less each question costs.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
from collections.abc import Awaitable, Callable, Collection, Hashable, Sequence
from itertools import islice
from typing import Final, Generic, TypeAlias, TypeVar

from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.telemetry import spans

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Coalescer(Generic[Item, Answer]):
    """Gathers concurrent questions into batches.

    The first question of a quiet moment is sent when the turn of the loop ends that it came in, with all that came in it.

    Args:
        ask: answers a batch: one answer for each item, in order; an answer that is an exception is raised for its item
            alone, and what `ask` itself raises is raised for all. It runs for nobody in particular: neither the deadline nor the
            request of who came first is the others'.
        max_items: items of a batch.
        at_once: batches under way, before the next has to wait.
        patience: seconds after which a batch counts no more, so that one that takes long holds up nobody; None: it always counts.
        alike: whether items that are equal share an answer; they are hashable then.
        beside: whether what is under way may be asked again beside that. Else it waits for that to be answered, unless others
            that are new take it along: a crowd that asks one thing would only be cut into smaller parts.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[Item]], Awaitable[Sequence[Answer | Exception]]],
        *,
        max_items: int = 256,
        at_once: int = 1,
        patience: float | None = 0.01,
        alike: bool = False,
        beside: bool = True,
    ) -> None:
        """Start empty; see the class."""
        self._ask: Final = ask
        self._max_items: Final = max_items
        self._at_once: Final = at_once
        self._patience: Final = patience
        self._alike: Final = alike
        self._beside: Final = beside
        # by the item itself or its identity, for as long as it waits: the item, and who waits for its answer
        self._waiting: Final[dict[Hashable, tuple[Item, list[asyncio.Future[Answer]]]]] = {}
        self._senders: Final[dict[_Sender, asyncio.Task[None]]] = {}
        self._askers: Final = spans.Askers()
        self._under_way = 0
        self._gathering = False  # whether a sender has yet to begin

    def __call__(self, item: Item) -> asyncio.Future[Answer]:
        """The answer to one question, to be awaited; it raises what `ask` raised, or answered for this item."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        name = item if self._alike else id(item)
        if spans.recording:
            self._askers.add(name)
        asked = self._waiting.get(name)
        if asked is not None:
            asked[1].append(answer)
            return answer
        self._waiting[name] = (item, [answer])
        if self._under_way < self._at_once and not self._gathering and (self._beside or not self._is_asked(name)):
            self._begin()
        return answer

    @property
    def idle(self) -> bool:
        """Whether nothing waits and no batch is under way, as it is when the last caller goes on with its answer."""
        return not (self._waiting or self._senders)

    def _begin(self) -> None:
        self._under_way += 1
        self._gathering = True
        sender = _Sender()
        # The task first runs after every caller that is ready now has had its turn.
        task = asyncio.get_running_loop().create_task(self._send(sender), context=contextvars.Context())
        self._senders[sender] = task

    async def _send(self, sender: _Sender) -> None:
        """Send one batch after the other while there are questions, and until one of them takes too long."""
        self._gathering = False
        try:
            while self._waiting and sender.counts:
                batch = self._taken()
                if self._waiting and self._under_way < self._at_once and not self._gathering:
                    self._begin()  # more came at one moment than go into a batch
                if batch:
                    if not self._beside:
                        sender.names = {item for item, _ in batch}
                    await self._answer(batch, sender)
        finally:
            # Here and not when the task is collected: a caller in between would count on a sender that has ended.
            self._under_way -= sender.counts
            del self._senders[sender]

    def _is_asked(self, name: Hashable) -> bool:
        """Whether it is under way with one who will go on with what waits."""
        return any(sender.counts and name in sender.names for sender in self._senders)

    def _taken(self) -> _Batch[Item, Answer]:
        """The questions that waited longest, as many as go into a batch, without those whose callers have all gone."""
        batch: _Batch[Item, Answer] = []
        for name in list(islice(self._waiting, self._max_items)):
            question = self._waiting.pop(name)
            for answer in question[1]:
                if not answer.done():
                    batch.append(question)
                    break
        return batch

    async def _answer(self, batch: _Batch[Item, Answer], sender: _Sender) -> None:
        late = None
        if self._patience is not None:
            late = asyncio.get_running_loop().call_later(self._patience, self._give_up, sender)
        items, callers = zip(*batch, strict=True)
        try:
            answers = await (self._ask_traced(items) if spans.recording else self._ask(items))
            for waiting, found in zip(callers, answers, strict=True):
                if isinstance(found, Exception):
                    _fail([waiting], found)
                    continue
                for answer in waiting:
                    if not answer.done():  # else its caller was cancelled
                        answer.set_result(found)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is each caller's, and the next batch goes on
            _fail(callers, error)
        except BaseException:
            _fail(callers, asyncio.CancelledError())
            raise
        finally:
            if late is not None:
                late.cancel()

    async def _ask_traced(self, items: Sequence[Item]) -> Sequence[Answer | Exception]:
        """Ask within the trace of who asked first, linked to the others'."""
        askers = self._askers.take(items if self._alike else [*map(id, items)])
        with spans.batch("asked together", askers):
            return await self._ask(items)

    def _give_up(self, sender: _Sender) -> None:
        """Count no more on one whose batch takes long; what waits goes beside it."""
        sender.counts = False
        self._under_way -= 1
        if self._waiting and not self._gathering:
            self._begin()


_Batch: TypeAlias = list[tuple[Item, list[asyncio.Future[Answer]]]]


class _Sender:
    """One who sends.

    Attributes:
        counts: among those that are under way.
        names: what it sent, where that matters.
    """

    counts = True
    names: Collection[object] = ()


def _fail(callers: Sequence[Sequence[asyncio.Future[Answer]]], error: BaseException) -> None:
    alone = sum(map(len, callers)) == 1
    for waiting in callers:
        for answer in waiting:
            if not answer.done():
                # A refusal that is raised in many places would gather all their tracebacks.
                answer.set_exception(copy.copy(error) if isinstance(error, Refusal) and not alone else error)
