"""Creating a tabular from a request: real at once, or staged until a commit with `assert-create`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Generic

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.opened import OpenedName
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.application.tabulars.kinds import M
from lakeward_catalog.application.tabulars.loaded import Loaded
from lakeward_catalog.application.tabulars.making import Making
from lakeward_catalog.application.tabulars.reading import ReadTabular, TabularReads
from lakeward_catalog.domain.model import WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent


@dataclasses.dataclass(frozen=True, slots=True)
class CreateTabular:
    """Create a table, view or generic table.

    Attributes:
        request: the document; it is read once the caller may create one here.
        deflated: the caller takes compressed metadata.
    """

    warehouse_id: WarehouseId
    namespace: NamespaceIdent
    request: Payload
    deflated: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class TabularCreations(Generic[M]):
    """Creates tabulars of one kind."""

    doors: Doors
    once: Once
    making: Making[M]
    reads: TabularReads[M]

    async def __call__(self, command: CreateTabular, *, caller: Caller) -> Loaded:
        """Create one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN; MALFORMED_DOCUMENT; what `Making` raises; what
                `ClientAccess.vend` raises.
        """
        keyed = Keyed(
            of_warehouse(command.warehouse_id),
            f"create-{self.making.kind.kind}",
            {"namespace": command.namespace.parts},
            command.request,
        )
        return await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._create(command, caller, keeper),
            again=lambda done: self._again(command, caller, done),
        )

    async def _create(self, command: CreateTabular, caller: Caller, keeper: Keeper) -> Loaded:
        making, kind = self.making, self.making.kind
        named = command.request.name
        opened = await self.doors.name(
            command.warehouse_id,
            TabularIdent(command.namespace, named),
            DEMANDS[kind.kind].create,
            caller=caller,
        )
        wanted = await command.request.read(kind.wanted)
        if wanted.name != named:
            opened = await self._look_again(opened, wanted.name)
        new = await making.plan(wanted, opened, command.request, caller=caller)
        given = await making.insert(new, caller=caller, keeper=keeper, gives=kind.gives_at_once(caller))
        return await kind.shown(new.made, given, caller=caller, deflated=command.deflated)

    async def _look_again(self, opened: OpenedName, name: str) -> OpenedName:
        """What has the name that only reading the document told."""
        ident = TabularIdent(opened.namespace.ident, name)
        located = await self.doors.tabulars.locate(opened.warehouse.warehouse_id, ident)
        return msgspec.structs.replace(opened, there=located.tabular)

    async def _again(self, command: CreateTabular, caller: Caller, done: Mapping[str, str]) -> Loaded:
        wanted = await command.request.read(self.making.kind.wanted)
        ident = TabularIdent(command.namespace, wanted.name)
        made = ReadTabular(command.warehouse_id, ident, deflated=command.deflated, made=done["incarnation"])
        return await self.reads(made, caller=caller)
