"""Calls that arrive together, sent as one.

Plain unary calls cost an HTTP/2 stream each; a batch costs one for all of its items. A call joins only a batch that has not
been sent, so an answer never comes from before its question.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Coalescer(Generic[Item, Answer]):
    """Gathers concurrent questions into batches, one under way at a time.

    The first question of a quiet moment is sent at once, alone; what arrives while a batch is under way waits for the next, so
    that batches grow with the load. A batch that takes long holds up nobody: the next one is sent beside it.

    Args:
        ask: answers a batch: one answer for each item, in order; an answer that is an exception is raised for its item
            alone, and what `ask` itself raises is raised for all.
        max_items: items of a batch.
        patience: seconds that a batch may keep the next one waiting.
    """

    __slots__ = ("_ask", "_holder", "_max_items", "_patience", "_tasks", "_waiting")

    def __init__(
        self,
        ask: Callable[[Sequence[Item]], Awaitable[Sequence[Answer | Exception]]],
        *,
        max_items: int = 256,
        patience: float = 0.01,
    ) -> None:
        """Start empty; see the class."""
        self._ask = ask
        self._max_items = max_items
        self._patience = patience
        self._waiting: list[tuple[Item, asyncio.Future[Answer]]] = []
        # what the next batch waits for: the turn of the loop that gathers it, or the batch before it
        self._holder: object | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, item: Item) -> Answer:
        """The answer to one question.

        Raises:
            Exception: what `ask` raised or answered for this item.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        self._waiting.append((item, future))
        if self._holder is None:
            # one turn of the loop lets calls that are ready at the same moment join
            self._holder = loop.call_soon(self._send)
        return await future

    def _send(self) -> None:
        self._holder = None
        batch: list[tuple[Item, asyncio.Future[Answer]]] = []
        while self._waiting and not batch:
            batch = [entry for entry in self._waiting[: self._max_items] if not entry[1].done()]
            del self._waiting[: self._max_items]
        if not batch:
            return
        loop = asyncio.get_running_loop()
        # a batch is nobody's in particular: neither the deadline nor the request of who came first is the others'
        task = loop.create_task(self._run(batch), context=contextvars.Context())
        self._tasks.add(task)
        self._holder = task
        task.add_done_callback(partial(self._ended, loop.call_later(self._patience, self._let_go, task)))

    def _ended(self, late: asyncio.TimerHandle, task: asyncio.Task[None]) -> None:
        late.cancel()
        self._tasks.discard(task)
        self._let_go(task)

    def _let_go(self, holder: object) -> None:
        """Let the next batch go, unless it waits for another one already."""
        if self._holder is holder:
            self._holder = None
            if self._waiting:
                self._send()

    async def _run(self, batch: list[tuple[Item, asyncio.Future[Answer]]]) -> None:
        try:
            answers = await self._ask([item for item, _ in batch])
            for (_, future), answer in zip(batch, answers, strict=True):
                _settle(future, answer)
        except Exception as error:  # noqa: BLE001 - handed to every caller of the batch, who raise it
            for _, future in batch:
                _settle(future, error)


def _settle(future: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    if future.done():  # its caller was cancelled
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
