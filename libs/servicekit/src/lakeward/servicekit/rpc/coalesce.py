"""Calls that arrive together, sent as one.

Plain unary calls cost an HTTP/2 stream each; a batch costs one for all of its items. A call joins only a batch that has not
been sent, so an answer never comes from before its question.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Coalescer(Generic[Item, Answer]):
    """Gathers concurrent questions into batches, at most `in_flight` of them under way at once.

    The first question of a quiet moment is sent at once, alone; what arrives while batches are under way waits for the next.

    Args:
        ask: answers a batch: one answer for each item, in order; an answer that is an exception is raised for its item
            alone, and what `ask` itself raises is raised for all.
        max_items: items of a batch.
        in_flight: batches under way at once.
    """

    __slots__ = ("_ask", "_free", "_max_items", "_tasks", "_waiting")

    def __init__(
        self,
        ask: Callable[[Sequence[Item]], Awaitable[Sequence[Answer | Exception]]],
        *,
        max_items: int = 256,
        in_flight: int = 2,
    ) -> None:
        """Start empty; see the class."""
        self._ask = ask
        self._max_items = max_items
        self._free = in_flight
        self._waiting: list[tuple[Item, asyncio.Future[Answer]]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, item: Item) -> Answer:
        """The answer to one question.

        Raises:
            Exception: what `ask` raised or answered for this item.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        self._waiting.append((item, future))
        if self._free:
            self._free -= 1
            # one turn of the loop lets calls that are ready at the same moment join
            loop.call_soon(self._send)
        return await future

    def _send(self) -> None:
        batch = [entry for entry in self._waiting[: self._max_items] if not entry[1].done()]
        del self._waiting[: self._max_items]
        if not batch:
            self._free += 1
            return
        # a batch is nobody's in particular: neither the deadline nor the request of who came first is the others'
        task = asyncio.get_running_loop().create_task(self._run(batch), context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, batch: list[tuple[Item, asyncio.Future[Answer]]]) -> None:
        try:
            answers = await self._ask([item for item, _ in batch])
            for (_, future), answer in zip(batch, answers, strict=True):
                _settle(future, answer)
        except Exception as error:  # noqa: BLE001 - handed to every caller of the batch, who raise it
            for _, future in batch:
                _settle(future, error)
        finally:
            if self._waiting:
                self._send()
            else:
                self._free += 1


def _settle(future: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    if future.done():  # its caller was cancelled
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
