"""Calls that stay open: one question after the other, each answered before the next is sent.

A call that gRPC makes and ends for one question costs five times what a question costs that goes over a call which is there. So
questions of methods whose rule lets calls stay open, and which are asked for nobody in particular, go over lanes. What a call of
its own would keep is kept:

- Deadlines: each question has one, on both sides.
- Proofs: the token that opened a lane is looked at for each question, as for each call. A lane is left after some seconds, long
  before its token ends.
- Balancing: lanes are taken in turns, and each new one goes where the channel's balancing sends a call.
- Refusals: one ends the lane, with the status and details that it would end a call with.
- Peers that go away: a question whose lane broke is asked again by a call of its own, which is why only what changes nothing goes
  over lanes. A peer that drains ends its lanes between two questions.

Question and answer are one batch of gRPC's core, which wakes its poller and our loop once; `write` and `read` wake both twice.
Its Python has no method for that, so this is said to the core itself, as gRPC's own methods do (ADR 60).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import grpc.aio
from grpc._cython import cygrpc  # type: ignore[attr-defined]  # it is no part of what is typed

SPREAD: Final = 4
"""Lanes of a method of a channel, open at once."""
LASTS_SECONDS: Final = 5.0

_CORE: Final[Any] = cygrpc
_NO_FLAGS: Final = 0

_Stream: TypeAlias = "grpc.aio.StreamStreamCall[bytes, bytes]"


class Lanes:
    """The lanes of one method of a channel.

    Args:
        open_stream: makes a call that stays open, of bytes.
        read: makes a message of an answer's bytes.
        is_answer: whether an error is what the peer answered a question, rather than the loss of one.
    """

    def __init__(
        self,
        open_stream: Callable[[], _Stream],
        *,
        read: Callable[[bytes], Any],
        is_answer: Callable[[grpc.aio.AioRpcError], bool],
    ) -> None:
        """None is open yet."""
        self._read: Final = read
        self._open_stream: Final = open_stream
        self._is_answer: Final = is_answer
        self._idle: Final[deque[_Lane]] = deque()
        self._open = 0

    async def ask(self, sent: bytes, *, seconds: float) -> Any | None:  # noqa: ANN401 - any message of the contract
        """What a question is answered; None where no lane could carry it, so that it goes by a call of its own.

        Raises:
            grpc.aio.AioRpcError: what the peer answered instead.
            TimeoutError: no answer came in so many seconds.
        """
        lane = self._taken()
        if lane is None:
            return None
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        answer: Any = grpc.aio.EOF
        try:
            answer = await lane.answer(sent, until, loop)
        except grpc.aio.AioRpcError as error:
            if self._is_answer(error):
                raise
            return None
        finally:
            if lane.old or answer is grpc.aio.EOF:
                self._leave(lane)
            else:
                self._idle.append(lane)
        return None if answer is grpc.aio.EOF else self._read(answer)

    def _taken(self) -> _Lane | None:
        """The one whose turn it is; None where all carry a question."""
        if self._open == SPREAD:
            return self._idle.popleft() if self._idle else None
        lane = _Lane(self._open_stream())
        self._open += 1
        lane.end = asyncio.get_running_loop().call_later(LASTS_SECONDS, self._retire, lane)
        return lane

    def _retire(self, lane: _Lane) -> None:
        """One that carries nothing is left now, another one once its question is answered."""
        lane.old = True
        if lane in self._idle:
            self._idle.remove(lane)
            self._leave(lane)

    def _leave(self, lane: _Lane) -> None:
        self._open -= 1
        if lane.end is not None:
            lane.end.cancel()
        lane.keep_until_ended()
        lane.stream.cancel()


class _Lane:
    __slots__ = ("_asking", "_connected", "_late", "end", "old", "stream")

    def __init__(self, stream: _Stream) -> None:
        self.stream: Final = stream
        self.end: asyncio.TimerHandle | None = None
        self.old = False
        self._asking: tuple[object, ...] = ()
        self._connected = False
        self._late = False

    async def answer(self, sent: bytes, until: float, loop: asyncio.AbstractEventLoop) -> Any:  # noqa: ANN401 - bytes or EOF
        """What a question is answered by the peer's next message; `grpc.aio.EOF` where it ended the call.

        Raises:
            grpc.aio.AioRpcError: how the call ended.
            TimeoutError: it was not answered until then, by the loop's clock.
        """
        if self.stream.done():
            return grpc.aio.EOF  # the peer ended it while nothing was asked
        if not self._connected:
            async with asyncio.timeout_at(until):
                await self.stream.wait_for_connection()
            self._connected = True
        receiving = _CORE.ReceiveMessageOperation(_NO_FLAGS)
        # The core writes into them until the batch ends, even where nobody waits for that any more: see `keep_until_ended`.
        asking = self._asking = (_CORE.SendMessageOperation(sent, _NO_FLAGS), receiving)
        # What ends late is the call, and so the batch.
        end = loop.call_at(until, self._give_up)
        try:
            await _CORE.execute_batch(self.stream._cython_call, asking, loop)  # type: ignore[attr-defined]  # noqa: SLF001 - see the module
        except _CORE.InternalError:
            pass  # the call ended, and tells below how
        finally:
            end.cancel()
        self._asking = ()
        answer = receiving.message()
        if answer is not None:
            return answer
        if self._late:
            raise TimeoutError
        return await self.stream.read()

    def keep_until_ended(self) -> None:
        """Hold what the core may still write into, for as long as the call goes on."""
        if self._asking:
            self.stream.add_done_callback(self._let_go)

    def _let_go(self, _: object) -> None:
        self._asking = ()

    def _give_up(self) -> None:
        self._late = True
        self.stream.cancel()


class Questions:
    """The questions that a server's open calls carry, until it drains."""

    def __init__(self) -> None:
        """Nobody waits for one yet."""
        self._waiting: Final[set[asyncio.Task[Any]]] = set()
        self._draining = asyncio.Event()

    async def next(self, context: grpc.aio.ServicerContext[Any, Any]) -> Any:  # noqa: ANN401 - any message of the contract
        """The next question of a call, or `grpc.aio.EOF`: its client will ask nothing more, or is to ask elsewhere."""
        if self._draining.is_set():
            return grpc.aio.EOF
        task = asyncio.current_task()
        assert task is not None, "gRPC runs each handler as a task"
        self._waiting.add(task)
        try:
            return await context.read()
        except asyncio.CancelledError:
            if self._draining.is_set():
                return grpc.aio.EOF
            raise
        finally:
            self._waiting.discard(task)

    def end(self) -> None:
        """End the calls that carry none now, and the others once they have answered."""
        self._draining.set()
        for task in self._waiting:
            task.cancel()
