"""What only a database knows, read for metrics now and then."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from lakeward_servicekit.errors import Refusal

_LOG: Final = logging.getLogger(__name__)
EVERY: Final = timedelta(seconds=15)
_REST: Final = 50  # times what a look took: nobody is kept from working by being counted


async def keep_looking(look: Callable[[], Awaitable[None]], *, what: str, every: timedelta = EVERY) -> None:
    """Look again and again, until cancelled.

    Args:
        look: reads, and tells; may raise Refusal.
        what: is read, for the log.
        every: how often, where a look is quick.
    """
    while True:
        began = time.perf_counter()
        try:
            await look()
        except Refusal as refused:
            _LOG.info("metrics were not brought up to date", extra={"metrics": what, "refusal": str(refused)})
        await asyncio.sleep(max(every.total_seconds(), _REST * (time.perf_counter() - began)))
