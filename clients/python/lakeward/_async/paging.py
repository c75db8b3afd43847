"""Listings, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

from lakeward._twins import AsyncFetch
from lakeward.management.base import Model

_Page = TypeVar("_Page", bound=Model)


async def pages(fetch: AsyncFetch[_Page]) -> AsyncIterator[_Page]:
    """All pages of a listing, each when it is wanted.

    Args:
        fetch: asks for the page behind a token; None is the first.
    """
    token: str | None = None
    while True:
        page = await fetch(token)
        yield page
        token = getattr(page, "next_page_token", None)
        if not token:
            return
