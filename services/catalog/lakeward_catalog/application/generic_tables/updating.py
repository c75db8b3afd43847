"""Changing what is recorded of a generic table, once per idempotency key, and what that replies."""

from __future__ import annotations

import dataclasses

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.generic_tables.kind import GenericTableUpdate
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.tabulars.committing import Commits
from lakeward_catalog.application.tabulars.loaded import Loaded
from lakeward_catalog.application.tabulars.reading import ReadTabular, TabularReads
from lakeward_catalog.domain.generic.metadata import GenericMetadata
from lakeward_catalog.domain.model import WarehouseId
from lakeward_catalog.domain.names import TabularIdent


class UpdateGenericTable(msgspec.Struct, frozen=True):
    """Record something else of a generic table.

    Attributes:
        document: what; it is read once the caller may write the table's data.
        if_match: tags of which one must still hold; none has to where there are none.
    """

    warehouse_id: WarehouseId
    ident: TabularIdent
    document: Payload
    if_match: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class GenericTableUpdates:
    """Changes what is recorded of generic tables."""

    once: Once
    commits: Commits[GenericMetadata]
    reads: TabularReads[GenericMetadata]

    async def __call__(self, command: UpdateGenericTable, *, caller: Caller) -> Loaded:
        """Record it.

        Raises:
            Refusal: what `Commits` raises, COMMIT_CONFLICT where no tag holds any more; IDEMPOTENCY_KEY_REUSED,
                REQUEST_IN_PROGRESS.
        """
        warehouse_id, ident = command.warehouse_id, command.ident
        said = {"namespace": ident.namespace.parts, "name": ident.name, "if-match": command.if_match}
        return await self.once(
            Keyed(of_warehouse(warehouse_id), "update-generic-table", said, command.document),
            caller=caller,
            do=lambda keeper: self._update(command, caller, keeper),
            again=lambda done: self.reads(ReadTabular(warehouse_id, ident, made=done["incarnation"]), caller=caller),
        )

    async def _update(self, command: UpdateGenericTable, caller: Caller, keeper: Keeper) -> Loaded:
        update = GenericTableUpdate(command.ident, command.document, if_match=command.if_match)
        (committed,) = await self.commits(command.warehouse_id, [update], caller=caller, keeper=keeper)
        return await self.commits.reply(committed, caller=caller)
