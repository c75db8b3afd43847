"""A process that serves, observed: its metrics on a port of their own, its spans on their way to a collector."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from lakeward_servicekit.settings.observability import MetricsSettings, Observability
from lakeward_servicekit.telemetry import runtime

_log: Final = logging.getLogger(__name__)


@asynccontextmanager
async def observed(settings: Observability, *, service: str, version: str, worker: int = 0) -> AsyncIterator[None]:
    """Say how this process is until the block ends. Around everything that it composes, so that a start is seen, too.

    Args:
        settings: see there.
        service: what it hosts: "catalog", or "all".
        version: of what it runs.
        worker: which of several processes of one host it is, from 0.
    """
    async with AsyncExitStack() as stack:
        if settings.metrics.enabled:
            await stack.enter_async_context(runtime.watched(service=service, version=version))
            _serve(settings.metrics, stack, worker)
        yield


def _serve(settings: MetricsSettings, stack: AsyncExitStack, worker: int) -> None:
    """Serve metrics. A port that is taken keeps nobody from serving tables: who asks for metrics finds that there are none."""
    # Imported here: nothing but this needs Prometheus's library.
    from lakeward_servicekit.telemetry.exposition import served  # noqa: PLC0415

    port = settings.port + worker if settings.port else 0
    try:
        port = stack.enter_context(served(settings.host, port))
    except OSError as error:
        _log.error(
            "metrics are not served; set LAKEKEEPER__METRICS__PORT to a port that is free",
            extra={"host": settings.host, "port": port, "cause": str(error)},
        )
    else:
        _log.info("serving metrics", extra={"host": settings.host, "port": port})
