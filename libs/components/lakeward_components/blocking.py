"""The doors of the components for code without an event loop: scripts, benchmarks, fixtures.

with blocking.running(postgres.running(folder)) as server:
    ...
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run to the end on a loop of its own, and leave the thread's current loop as it was, which asyncio.run does not.

    Raises:
        RuntimeError: called from inside a running loop; await instead.
    """
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


@contextmanager
def running(component: AbstractAsyncContextManager[Result]) -> Iterator[Result]:
    """Enter and leave a component's `running`. Servers belong to no loop, so two may be used."""
    server = run(_enter(component))
    try:
        yield server
    finally:
        run(_leave(component))


async def _enter(component: AbstractAsyncContextManager[Result]) -> Result:
    return await component.__aenter__()


async def _leave(component: AbstractAsyncContextManager[Result]) -> None:
    await component.__aexit__(None, None, None)
