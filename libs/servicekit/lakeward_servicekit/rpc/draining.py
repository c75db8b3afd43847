"""The end of a server: what is under way is answered, and nobody waits for longer than that."""

from __future__ import annotations

import asyncio
from typing import Final

import grpc.aio

DRAIN_SECONDS = 20.0
"""How long a server that ends waits for what is under way."""
SENDING_SECONDS = 5.0
"""How long, of these, nothing may happen: answers that are made are on their way meanwhile."""


class UnderWay:
    """The calls that handlers answer, while they do; for `with`."""

    def __init__(self) -> None:
        """None is answered yet."""
        self._count = self._begun = 0
        self._none: Final = asyncio.Event()
        self._none.set()

    def __enter__(self) -> None:
        """One more."""
        self._count += 1
        self._begun += 1
        self._none.clear()

    def __exit__(self, *_: object) -> None:
        """One less."""
        self._count -= 1
        if not self._count:
            self._none.set()

    async def quiet(self, seconds: float) -> None:
        """Return once there were none for so long."""
        begun = -1
        while begun != self._begun:
            await self._none.wait()
            begun = self._begun
            await asyncio.sleep(seconds)


async def stop(server: grpc.aio.Server, under_way: UnderWay) -> None:
    """Stop a server once all that is under way is answered.

    A call that arrives in the moment of the end can be lost within gRPC: no handler is told of it, and its client hears nothing
    for as long as the server is patient. So the patience is shorter once nothing is left that handlers were told of; a client
    that was not heard asks again.
    """
    stopping = asyncio.create_task(server.stop(DRAIN_SECONDS))
    quiet = asyncio.create_task(under_way.quiet(SENDING_SECONDS))
    try:
        await asyncio.wait({stopping, quiet}, return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done():
            await server.stop(None)
        await stopping
    finally:
        quiet.cancel()
        stopping.cancel()
