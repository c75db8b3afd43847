"""Whether somebody who is known calls: asked before a request may cost much.

It decides nothing: the catalog authenticates every request by itself, and who may do what is not looked at here. But a body
beyond a few KB is held, and inflated, only for a caller that the catalog knows. Where no identity provider is configured the
catalog knows everybody, and the bounds on memory are what is left.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Final

from lakeward_protocol.catalog.v1 import server_pb2, server_pb2_grpc
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.keeping import Kept, Once

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
        self._clock: Final = clock
        self._known: Final = Kept[bytes, float](capacity)
        self._asking: Final = Once[bytes, None]()

    async def vouch(self, context: context_pb2.RequestContext) -> None:
        """Return where the catalog knows whose token it is.

        Raises:
            Refusal: TOKEN_MISSING, TOKEN_REFUSED, and whatever else the catalog refuses with.
        """
        digest = hashlib.sha256(context.authorization.encode()).digest()
        until = self._known.look(digest)
        if until is None or self._clock() >= until:
            await self._asking(digest, lambda: self._ask(digest, context))

    async def _ask(self, digest: bytes, context: context_pb2.RequestContext) -> None:
        # The token alone: whatever else is wrong with the request is told by what the request is for.
        asked = context_pb2.RequestContext(
            authorization=context.authorization, request_id=context.request_id, traceparent=context.traceparent
        )
        now = self._clock()
        await self._server.GetServerInfo(server_pb2.GetServerInfoRequest(context=asked))
        self._known.put(digest, now + _REMEMBERED_SECONDS)
