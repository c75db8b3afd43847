"""Listings of the management API: which page is asked for. Without a size a page has as many entries as the server says."""

from __future__ import annotations

from typing import Final

from lakeward_gateway.query import PageSize, Query, Text
from lakeward_protocol.common.v1 import context_pb2

PAGE_TOKEN: Final = Text("pageToken", "From the page before; empty for the first.")
PAGE_SIZE: Final = PageSize("pageSize", "How many entries a page may have; cut to what the server allows.")
PARAMETERS: Final = (PAGE_TOKEN, PAGE_SIZE)


def page_of(query: Query) -> context_pb2.Page:
    """The page that a query asks for."""
    return context_pb2.Page(size=PAGE_SIZE.read(query), token=PAGE_TOKEN.read(query) or "")
