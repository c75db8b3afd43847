"""What the two clients have otherwise, under names that their source can share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from threading import Lock
from typing import TypeVar
from uuid import UUID

from anyio import Lock as AsyncLock
from anyio import to_thread

from lakeward.credentials import Credentials
from lakeward.credentials.shapes import Shapes
from lakeward.management.base import Model

_Made = TypeVar("_Made")
_Page = TypeVar("_Page", bound=Model)

AsyncFetch = Callable[["str | None"], Awaitable[_Page]]
"""Asks for the page behind a token; None is the first."""

Fetch = Callable[["str | None"], _Page]
"""The same, at once."""

AsyncIdOf = Callable[["str | UUID"], Awaitable[str]]
"""Knows the id of what is given by name or id."""

IdOf = Callable[["str | UUID"], str]
"""The same, at once."""


async def in_thread_async(function: Callable[[], _Made]) -> _Made:
    """What a function that waits makes, while others go on."""
    return await to_thread.run_sync(function)


def in_thread(function: Callable[[], _Made]) -> _Made:
    """The same, at once."""
    return function()


AsyncHandOut = Callable[[], Awaitable[Credentials]]
"""Asks for credentials."""

HandOut = Callable[[], Credentials]
"""The same, at once."""


class AsyncSource:
    """Of credentials that are awaited: what libraries take is made of them, once they are there."""


Source = Shapes
"""Of credentials that are there at once, so that libraries may come back for them."""

__all__ = [
    "AsyncFetch",
    "AsyncHandOut",
    "AsyncIdOf",
    "AsyncLock",
    "AsyncSource",
    "Fetch",
    "HandOut",
    "IdOf",
    "Lock",
    "Source",
    "in_thread",
    "in_thread_async",
]
