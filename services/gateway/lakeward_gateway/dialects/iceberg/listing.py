"""Listings: which page is asked for, and how a page is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lakeward_gateway.query import Flag, PageSize, Query, Text
from lakeward_protocol.catalog.v1 import tables_pb2, types_pb2, views_pb2
from lakeward_protocol.common.v1 import context_pb2

PAGE_TOKEN: Final = Text(
    "pageToken", "From the page before; empty for the first. Without it and without pageSize, everything comes at once."
)
PAGE_SIZE: Final = PageSize("pageSize", "How many entries a page may have; cut to what the server allows.")
RETURN_UUIDS: Final = Flag("returnUuids", "Whether the entries' ids come along, in their order.")
RETURN_PROTECTION: Final = Flag(
    "returnProtectionStatus", "Whether the entries' protection comes along, in their order."
)
PARAMETERS: Final = (PAGE_TOKEN, PAGE_SIZE, RETURN_UUIDS, RETURN_PROTECTION)


def page_of(query: Query) -> context_pb2.Page | None:
    """The page that a query asks for; None for everything."""
    token = PAGE_TOKEN.read(query)
    size = PAGE_SIZE.read(query)
    if token is None and size is None:
        return None
    return context_pb2.Page(size=size, token=token)


def tabulars_document(
    response: tables_pb2.ListTablesResponse | views_pb2.ListViewsResponse, *, with_ids: bool, with_protection: bool
) -> dict[str, Any]:
    """A page of tables or views."""
    namespace = list(response.namespace.parts)
    # a catalog of the release before says no names
    found = [{"namespace": namespace, "name": name} for name in response.names] or identifiers(response.identifiers)
    document: dict[str, Any] = {"identifiers": found}
    if with_ids:
        document["table-uuids"] = list(response.ids)
    if with_protection:
        document["protection-status"] = list(response.protection)
    if response.next_page_token:
        document["next-page-token"] = response.next_page_token
    return document


def identifiers(idents: Sequence[types_pb2.TabularIdent]) -> list[dict[str, Any]]:
    """Identifiers as documents write them."""
    return [{"namespace": list(ident.namespace.parts), "name": ident.name} for ident in idents]
