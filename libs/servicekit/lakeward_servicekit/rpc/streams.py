"""Methods whose answers go on and on: a call asks once, and is answered by messages until it has enough.

What a call of one answer has is kept: who may call, who it is for, what a failure looks like, and the audit. The user is settled
anew whenever the method asks, since a token ends and a right is taken away while a call is open. A message is made once the one
before was taken, so a slow reader holds its method back, and what is held of it is one message. Open calls have no deadline but
their caller's, are counted, and end between two messages when the server drains; who reads asks again from where it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc.call import Again, CallerValue, Settle
from lakeward_servicekit.rpc.methods import MethodRule
from lakeward_servicekit.rpc.origin import Audit
from lakeward_servicekit.rpc.pipeline import HANDLED, broken, not_for
from lakeward_servicekit.rpc.status import code_of

MOST_OPEN: Final = 256
"""Streams of a process that are open at once; each holds a message of a mebibyte at most, beside what gRPC buffers."""

StreamHandler = Callable[[Any, Again[object]], AsyncGenerator[Any, None]]


class StreamMethod:
    """A method of a servicer that answers by a stream, with what stands around it."""

    __slots__ = ("_audit", "_handler", "_named", "_settle", "rule")

    def __init__(
        self, rule: MethodRule, handler: StreamHandler, *, settle: Settle[object] | None, audit: Audit | None = None
    ) -> None:
        """Wrap `handler`; `settle` says who users are, and `audit` hears of their calls.

        Raises:
            ValueError: nothing settles who users are.
        """
        if settle is None:
            raise ValueError(f"{rule.path} acts for a user, and its host has nothing that settles who that is")
        self.rule: Final = rule
        self._handler: Final = handler
        self._settle: Final = settle
        self._audit: Final = audit
        _, service, name = rule.path.split("/")
        self._named: Final = (service, name)

    async def __call__(self, request: Any, caller: CallerValue) -> AsyncGenerator[Any, None]:  # noqa: ANN401 - any message of the contract
        """Answer one call; it has no span, which would last as long as the call is open.

        Raises:
            Refusal: always this, whatever went wrong inside.
        """
        code, user = "CANCELLED", None

        async def again() -> object:
            nonlocal user
            user = await self._settle(request.context)
            return user

        try:
            if caller not in self.rule.callers:
                raise not_for(caller, self.rule)
            async with aclosing(self._told(self._handler(request, again))) as answers:
                opened = False
                async for answer in answers:
                    if not opened and self._audit is not None and self._audit.reads:
                        self._audit.done(self.rule, request, user, None)  # most end by being left
                    opened = True
                    yield answer
            code = "OK"
        except Refusal as refusal:
            code = code_of(refusal).name
            if self._audit is not None:
                self._audit.refused(self.rule, request, user, refusal)
            raise
        finally:
            HANDLED.series(*self._named, code).value += 1

    async def _told(self, answers: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
        try:
            async with aclosing(answers):
                async for answer in answers:
                    yield answer
        except Refusal:
            raise
        except TimeoutError as error:
            raise Refusal(
                Reason.REASON_DEADLINE_EXCEEDED, f"{self.rule.path} was not done in time; ask again"
            ) from error
        except Exception as error:
            raise broken(self.rule) from error


class OpenStreams:
    """A server's open streams, until it drains."""

    def __init__(self, *, most: int = MOST_OPEN) -> None:
        """None is open; of more than `most` one more is refused."""
        self._most: Final = most
        self._open = 0
        self._waiting: Final[set[asyncio.Task[Any]]] = set()
        self._draining = False

    async def carry(self, messages: AsyncGenerator[Any, None], write: Callable[[Any], Awaitable[None]]) -> None:
        """Write a stream's messages by the task at hand, until it ends or the server drains; it is closed then.

        Raises:
            Refusal: OVERLOADED, and what the stream raises.
        """
        if self._open >= self._most:
            raise Refusal(
                Reason.REASON_OVERLOADED, f"{self._most} streams are open already; ask again later, or another server"
            )
        self._open += 1
        try:
            async with aclosing(messages):
                while not self._draining and (message := await self._next(messages)) is not None:
                    await write(message)
        finally:
            self._open -= 1

    async def _next(self, messages: AsyncGenerator[Any, None]) -> Any | None:  # noqa: ANN401 - any message of the contract
        """The next message; None: there is none, or the server drains.

        Only here is a stream broken off: gRPC never ends a call whose handler left a write under way, so that a server would
        wait for it as long as it waits for any.
        """
        task = asyncio.current_task()
        assert task is not None, "gRPC runs each handler as a task"
        self._waiting.add(task)
        try:
            return await anext(messages, None)
        except asyncio.CancelledError:
            if not self._draining:
                raise
            return None
        finally:
            self._waiting.discard(task)

    def end(self) -> None:
        """End those that are open, as if there was nothing more; open no others."""
        self._draining = True
        for task in self._waiting:
            task.cancel()
