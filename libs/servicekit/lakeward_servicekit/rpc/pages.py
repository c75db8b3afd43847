"""Pages of listings as messages ask for them."""

from __future__ import annotations

from typing import Protocol

from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.paging import EVERYTHING, PageRequest


class _Listing(Protocol):
    """A request that asks for a page."""

    @property
    def page(self) -> context_pb2.Page: ...


def page_of(request: _Listing) -> PageRequest:
    """Which part of a listing is asked for."""
    page = request.page
    size = page.size if page.HasField("size") else None
    token = page.token if page.HasField("token") else None
    return EVERYTHING if size is None and token is None else PageRequest(size, token)
