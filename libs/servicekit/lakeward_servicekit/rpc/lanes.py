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
So are an answer and the next question, at the other end. gRPC's Python has no method for that, so this is said to the core, as
its own methods do (ADR 60).
"""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import grpc.aio
from grpc._cython import cygrpc  # type: ignore[attr-defined]  # it is no part of what is typed

SPREAD: Final = 4
"""Lanes of a method of a channel, open at once."""
LASTS_SECONDS: Final = 5.0

_CORE: Final[Any] = cygrpc
_NO_FLAGS: Final = 0
# A batch holds the answer until the next question, which may come seconds later: one of many bytes is sent by itself.
_HELD_BYTES: Final = 256 * 1024
_LEFT_SECONDS: Final = 60.0

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
        self._idle: Final[deque[Lane]] = deque()
        self._open = 0

    async def ask(self, sent: bytes, *, seconds: float) -> tuple[Any, Lane] | None:
        """What a question is answered, and over which lane; None where none could carry it, so that it goes by a call of its own.

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
        return None if answer is grpc.aio.EOF else (self._read(answer), lane)

    def _taken(self) -> Lane | None:
        """The one whose turn it is; None where all carry a question."""
        if self._open == SPREAD:
            return self._idle.popleft() if self._idle else None
        lane = Lane(self._open_stream())
        self._open += 1
        lane.end = asyncio.get_running_loop().call_later(LASTS_SECONDS, self._retire, lane)
        return lane

    def _retire(self, lane: Lane) -> None:
        """One that carries nothing is left now, another one once its question is answered."""
        lane.old = True
        if lane in self._idle:
            self._idle.remove(lane)
            self._leave(lane)

    def _leave(self, lane: Lane) -> None:
        self._open -= 1
        if lane.end is not None:
            lane.end.cancel()
        lane.keep_until_ended()
        lane.stream.cancel()


class Lane:
    """One call that stays open."""

    __slots__ = ("_asking", "_connected", "_late", "end", "old", "stream")

    def __init__(self, stream: _Stream) -> None:
        """Nothing was asked yet."""
        self.stream: Final = stream
        self.end: asyncio.TimerHandle | None = None
        self.old = False
        self._asking: tuple[object, ...] = ()
        self._connected = False
        self._late = False

    @property
    def is_open(self) -> bool:
        """Whether its peer is there, as far as is known, and it is not left, as it is after `LASTS_SECONDS`."""
        return not self.old and not self.stream.done()

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

    async def wait(self, question: Awaitable[Any], *operations: object) -> Any:  # noqa: ANN401 - bytes, EOF or nothing
        """What came, or `grpc.aio.EOF` where the server drains; `operations` are those of a batch, which may be left then."""
        task = asyncio.current_task()
        assert task is not None, "gRPC runs each handler as a task"
        self._waiting.add(task)
        try:
            return await question
        except asyncio.CancelledError:
            # The core writes into them until the batch ends, which the end of the call sees to: a timer holds them beyond that.
            asyncio.get_running_loop().call_later(_LEFT_SECONDS, _let_go, operations)
            if self._draining.is_set():
                return grpc.aio.EOF
            raise
        finally:
            self._waiting.discard(task)

    @property
    def draining(self) -> bool:
        """Whether no call is to carry another question."""
        return self._draining.is_set()

    def end(self) -> None:
        """End the calls that carry none now, and the others once they have answered."""
        self._draining.set()
        for task in self._waiting:
            task.cancel()


class Asked:
    """The questions of one call, where they are answered.

    After the last one comes `grpc.aio.EOF`: its client will ask nothing more, or is to ask elsewhere.
    """

    __slots__ = ("_call", "_context", "_questions", "_read", "_write")

    def __init__(
        self,
        questions: Questions,
        context: grpc.aio.ServicerContext[Any, Any],
        *,
        read: Callable[[bytes], Any],
        write: Callable[[Any], bytes],
    ) -> None:
        """Those of one call.

        Args:
            questions: the server's.
            context: the call's, whose messages are bytes.
            read: makes a question of its bytes.
            write: makes bytes of an answer.
        """
        self._questions: Final = questions
        self._context: Final = context
        self._read: Final = read
        self._write: Final = write
        self._call: Any | None = None

    async def first(self) -> Any:  # noqa: ANN401 - any message of the contract
        """The first question."""
        if self._questions.draining:
            return grpc.aio.EOF
        return self._question(await self._questions.wait(self._context.read()))

    async def next(self, answer: Any) -> Any:  # noqa: ANN401 - any message of the contract
        """Answer the last question; the next one."""
        sent = self._write(answer)
        del answer
        if self._call is None or len(sent) > _HELD_BYTES or self._questions.draining:
            # The first answer opens the call's own way back, too.
            await self._context.write(sent)
            del sent
            self._call = _call_of(self._context)
            return await self.first()
        sending, receiving = _CORE.SendMessageOperation(sent, _NO_FLAGS), _CORE.ReceiveMessageOperation(_NO_FLAGS)
        del sent
        batch = _CORE.execute_batch(self._call, (sending, receiving), asyncio.get_running_loop())
        try:
            if await self._questions.wait(batch, sending, receiving) is grpc.aio.EOF:
                return grpc.aio.EOF
        except _CORE.InternalError:
            pass  # the client went away, and so asks nothing more
        return self._question(receiving.message())

    def _question(self, received: Any) -> Any:  # noqa: ANN401 - bytes, EOF or nothing; a message of the contract
        return grpc.aio.EOF if received is None or received is grpc.aio.EOF else self._read(received)


def _let_go(operations: object) -> None:
    """Nobody needs them any more."""
    del operations


def _call_of(context: grpc.aio.ServicerContext[Any, Any]) -> Any | None:  # noqa: ANN401 - it is no part of what is typed
    """What the core knows a call by that is answered; None where this gRPC hides it better."""
    for held in gc.get_referents(context):
        if isinstance(held, _CORE.GrpcCallWrapper):
            return held
    return None
