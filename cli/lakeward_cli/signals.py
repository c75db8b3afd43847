"""Waiting to be told to stop."""

from __future__ import annotations

import asyncio
import signal


async def told_to_stop() -> None:
    """Return at the first SIGINT or SIGTERM; a second one is not caught, and ends the process at once."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    caught = (signal.SIGINT, signal.SIGTERM)
    for number in caught:
        loop.add_signal_handler(number, told.set)
    try:
        await told.wait()
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
