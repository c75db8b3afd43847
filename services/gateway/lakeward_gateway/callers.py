"""Whether somebody who is known calls: asked before a request may cost much.

It decides nothing: the catalog authenticates every request by itself, and who may do what is not looked at here. But a body
beyond a few KB is held, and inflated, only for a caller that the catalog knows. Where no identity provider is configured the
catalog knows everybody, and the bounds on memory are what is left.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from lakeward_protocol.catalog.v1 import server_pb2, server_pb2_grpc
from lakeward_protocol.common.v1 import context_pb2

_REMEMBERED_SECONDS: Final = 60.0
_CAPACITY: Final = 10_000


class Callers:
    """Asks the catalog whether it knows a token, and remembers for a minute that it did; by the token's hash.

    Args:
        server: of the catalog.
        capacity: tokens that are remembered at most.
        clock: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        server: server_pb2_grpc.ServerServiceAsyncStub,
        *,
        capacity: int = _CAPACITY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """See the class."""
        self._server: Final = server
        self._capacity: Final = capacity
        self._clock: Final = clock
        self._known: Final[OrderedDict[bytes, float]] = OrderedDict()
        self._asking: Final[dict[bytes, asyncio.Task[None]]] = {}

    async def vouch(self, context: context_pb2.RequestContext) -> None:
        """Return where the catalog knows whose token it is.

        Raises:
            Refusal: TOKEN_MISSING, TOKEN_REFUSED, and whatever else the catalog refuses with.
        """
        digest = hashlib.sha256(context.authorization.encode()).digest()
        until = self._known.get(digest)
        if until is not None and self._clock() < until:
            return
        asking = self._asking.get(digest)
        if asking is None:
            asking = self._asking[digest] = asyncio.create_task(self._ask(digest, context))
            asking.add_done_callback(_seen)
        # who goes away does not take the answer from the others that wait for it
        await asyncio.shield(asking)

    async def _ask(self, digest: bytes, context: context_pb2.RequestContext) -> None:
        # The token alone: whatever else is wrong with the request is told by what the request is for.
        asked = context_pb2.RequestContext(
            authorization=context.authorization, request_id=context.request_id, traceparent=context.traceparent
        )
        now = self._clock()
        try:
            await self._server.GetServerInfo(server_pb2.GetServerInfoRequest(context=asked))
        finally:
            del self._asking[digest]
        self._known[digest] = now + _REMEMBERED_SECONDS
        self._known.move_to_end(digest)
        if len(self._known) > self._capacity:
            self._known.popitem(last=False)


def _seen(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.exception()  # who waited has it; they may all have gone
