"""gRPC's health service, which looks when it is asked.

Whoever is told "serving" sends calls at once, so an answer from before the question is worth nothing: a service that it needs may
have gone since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from grpc_health.v1 import health, health_pb2

_WATCH_SECONDS: Final = 2.0
_health: Any = health  # its aio half is there at run time only


class Checks(_health.aio.HealthServicer):  # type: ignore[misc]  # it has no types
    """The health service of one host.

    Args:
        probe: whether each thing that serving needs is there, by name.
        services: the names that may be asked for, beside the empty one for all.
    """

    def __init__(self, probe: Callable[[], Awaitable[Mapping[str, bool]]], services: Sequence[str]) -> None:
        """Answer for `services`; see the class."""
        super().__init__()
        self._probe = probe
        self._services = services
        self._looking: asyncio.Task[None] | None = None

    async def Check(self, request: Any, context: Any) -> Any:  # noqa: ANN401, N802 - a generated signature
        """How it is now."""
        if self._looking is None:  # those who ask at one moment share the look
            self._looking = asyncio.create_task(self.look())
            self._looking.add_done_callback(self._looked)
        await asyncio.shield(self._looking)
        return await super().Check(request, context)

    async def watch(self) -> None:
        """Look now and then, for those who are told of changes."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            await self.look()

    async def look(self) -> None:
        """See how it is, and tell those who watch."""
        serving = all((await self._probe()).values())
        states = health_pb2.HealthCheckResponse
        for service in ("", *self._services):
            await self.set(service, states.SERVING if serving else states.NOT_SERVING)

    def _looked(self, looking: asyncio.Task[None]) -> None:
        self._looking = None
        if not looking.cancelled():
            looking.exception()  # it was raised for each who asked
