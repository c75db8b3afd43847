"""Pages of the management API's listings: a hundred entries where no size is asked for."""

from __future__ import annotations

from typing import Final

from lakeward_gateway.query import PageSize, Query, Text
from lakeward_protocol.common.v1 import context_pb2

TOKEN: Final = Text("pageToken", "From the page before; left out for the first.")
SIZE: Final = PageSize("pageSize", "How many entries a page may have; cut to what the server allows.")
PARAMETERS: Final = (TOKEN, SIZE)


def page_of(query: Query) -> context_pb2.Page:
    """The page that a query asks for."""
    return context_pb2.Page(size=SIZE.read(query), token=TOKEN.read(query) or "")
