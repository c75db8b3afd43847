# made by tools/generate_client.py from what stands in _async; do not edit
"""Listings, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from lakeward._twins import Fetch
from lakeward.management.base import Model

_Page = TypeVar("_Page", bound=Model)


def pages(fetch: Fetch[_Page]) -> Iterator[_Page]:
    """All pages of a listing, each when it is wanted.

    Args:
        fetch: asks for the page behind a token; None is the first.
    """
    token: str | None = None
    while True:
        page = fetch(token)
        yield page
        token = getattr(page, "next_page_token", None)
        if not token:
            return
