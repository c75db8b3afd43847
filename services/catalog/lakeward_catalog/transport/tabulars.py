"""What the services of each kind of tabular do alike: list, look, drop and rename."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias, TypeVar

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.application.tabulars.dropping import DropTabular, TabularDrops
from lakeward_catalog.application.tabulars.listing import ListTabulars, TabularListings, TabularPage
from lakeward_catalog.application.tabulars.protecting import ProtectTabular, TabularProtections
from lakeward_catalog.application.tabulars.renaming import RenameTabular, TabularRenames
from lakeward_catalog.domain.model import Kind, Tabular
from lakeward_catalog.transport import decode, encode
from lakeward_catalog.transport.probing import looked_for
from lakeward_protocol.catalog.v1 import generic_tables_pb2, tables_pb2, types_pb2, views_pb2
from lakeward_servicekit.rpc.pages import page_of

ListRequest: TypeAlias = (
    tables_pb2.ListTablesRequest | views_pb2.ListViewsRequest | generic_tables_pb2.ListGenericTablesRequest
)
GetProtectionRequest: TypeAlias = (
    tables_pb2.GetTableProtectionRequest
    | views_pb2.GetViewProtectionRequest
    | generic_tables_pb2.GetGenericTableProtectionRequest
)
SetProtectionRequest: TypeAlias = (
    tables_pb2.SetTableProtectionRequest
    | views_pb2.SetViewProtectionRequest
    | generic_tables_pb2.SetGenericTableProtectionRequest
)
DropRequest: TypeAlias = (
    tables_pb2.DropTableRequest | views_pb2.DropViewRequest | generic_tables_pb2.DropGenericTableRequest
)
RenameRequest: TypeAlias = (
    tables_pb2.RenameTableRequest | views_pb2.RenameViewRequest | generic_tables_pb2.RenameGenericTableRequest
)
Listed = TypeVar("Listed", tables_pb2.ListTablesResponse, views_pb2.ListViewsResponse)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TabularMethods:
    """The methods of one kind's service that are those of every kind: its messages differ in their names alone."""

    kind: Kind
    doors: Doors
    listings: TabularListings
    drops: TabularDrops
    renames: TabularRenames
    protections: TabularProtections

    async def page(self, request: ListRequest, caller: Caller) -> TabularPage:
        """A page of a namespace's tabulars."""
        command = ListTabulars(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.namespace),
            self.kind,
            page_of(request),
        )
        return await self.listings(command, caller=caller)

    async def list(
        self, request: tables_pb2.ListTablesRequest | views_pb2.ListViewsRequest, response: Listed, caller: Caller
    ) -> Listed:
        """Fill the response with a page of a namespace's tabulars."""
        found = await self.page(request, caller)
        entries, namespace = found.page.entries, encode.namespace_ident(found.namespace)
        if request.with_names:
            response.namespace.CopyFrom(namespace)
            response.names.extend([listed.name for listed in entries])
        else:
            response.identifiers.extend(
                [types_pb2.TabularIdent(namespace=namespace, name=listed.name) for listed in entries]
            )
        response.next_page_token = found.page.next_token
        if request.with_ids:
            response.ids.extend([str(listed.tabular_id) for listed in entries])
        if request.with_protection:
            response.protection.extend([listed.protected for listed in entries])
        return response

    async def look(self, warehouse_id: str, ident: types_pb2.TabularIdent, caller: Caller) -> Tabular:
        """Whether it is there."""
        opened = await self.doors.tabular(
            decode.warehouse_id(warehouse_id),
            looked_for(self.kind, ident),
            self.kind,
            DEMANDS[self.kind].see,
            caller=caller,
        )
        return opened.tabular

    async def is_protected(self, request: GetProtectionRequest, caller: Caller) -> bool:
        """Whether it is protected from being dropped."""
        warehouse_id, tabular_id = decode.warehouse_id(request.warehouse_id), decode.tabular_id(request.tabular_id)
        needed = DEMANDS[self.kind].see
        _, tabular = await self.doors.tabular_by_id(warehouse_id, tabular_id, self.kind, needed, caller=caller)
        return tabular.protected

    async def protect(self, request: SetProtectionRequest, caller: Caller) -> bool:
        """Protect it from being dropped, or no longer; answers which."""
        command = ProtectTabular(
            decode.warehouse_id(request.warehouse_id),
            decode.tabular_id(request.tabular_id),
            self.kind,
            request.protected,
        )
        await self.protections(command, caller=caller)
        return command.protected

    async def drop(self, request: DropRequest, ident: types_pb2.TabularIdent, caller: Caller) -> None:
        """Take it out of its namespace."""
        command = DropTabular(
            decode.warehouse_id(request.warehouse_id),
            decode.tabular_ident(ident),
            self.kind,
            purge=request.purge if request.HasField("purge") else None,
            force=request.force,
        )
        await self.drops(command, caller=caller)

    async def rename(self, request: RenameRequest, caller: Caller) -> None:
        """Give it another name."""
        command = RenameTabular(
            decode.warehouse_id(request.warehouse_id),
            self.kind,
            decode.tabular_ident(request.source),
            decode.tabular_ident(request.destination),
        )
        await self.renames(command, caller=caller)
