"""Commits to one table and to several, once per idempotency key, and what they reply."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors, OpenedTabular
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.tables.unstaged import UnstagedCreations, creates
from lakeward_catalog.application.tables.updates import read_update, updates_of
from lakeward_catalog.application.tabulars.committing import Commits, CommitTabular
from lakeward_catalog.application.tabulars.kinds import TabularUpdate
from lakeward_catalog.application.tabulars.loaded import Loaded
from lakeward_catalog.application.tabulars.reading import check_same
from lakeward_catalog.domain.iceberg.table import TableMetadata
from lakeward_catalog.domain.model import Kind, WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import NoSuchTable


@dataclasses.dataclass(frozen=True, slots=True)
class TableCommits:
    """Makes commits to one table."""

    doors: Doors
    once: Once
    commits: Commits[TableMetadata]
    unstaged: UnstagedCreations

    async def __call__(self, command: CommitTabular, *, caller: Caller) -> Loaded:
        """Update one table; where there is none and the commit says so, the commit makes it.

        Raises:
            Refusal: as `Commits`, and as `UnstagedCreations`; IDEMPOTENCY_KEY_REUSED, REQUEST_IN_PROGRESS.
        """
        return await self.once(
            command.keyed(Kind.TABLE),
            caller=caller,
            do=lambda keeper: self._commit(command, caller, keeper),
            again=lambda done: self._again(command, caller, done),
        )

    async def _commit(self, command: CommitTabular, caller: Caller, keeper: Keeper) -> Loaded:
        update = TabularUpdate(command.path, command.document)
        try:
            (committed,) = await self.commits(command.warehouse_id, [update], caller=caller, keeper=keeper)
        except NoSuchTable:
            # Who gets here may use the warehouse. Whether they mean to create the table, only the document says.
            made = await self._made(command.warehouse_id, await read_update(update), caller, keeper)
            if made is None:
                raise
            committed = made
        return await self.commits.reply(committed, caller=caller, deflated=command.deflated)

    async def _made(
        self, warehouse_id: WarehouseId, update: TabularUpdate, caller: Caller, keeper: Keeper
    ) -> OpenedTabular | None:
        """The table that a commit made where there was none; None where it does not say that it does."""
        if update.request is None or not creates(update.request):
            return None
        return await self.unstaged(warehouse_id, update, update.request, caller=caller, keeper=keeper)

    async def _again(self, command: CommitTabular, caller: Caller, done: Mapping[str, str]) -> Loaded:
        kind, ident = self.commits.kind, (await read_update(TabularUpdate(command.path, command.document))).ident
        opened = await self.doors.tabular(command.warehouse_id, ident, Kind.TABLE, Action.TABLE_COMMIT, caller=caller)
        check_same(opened.tabular, ident, made=done["incarnation"])
        return await kind.shown(opened, None, caller=caller, deflated=command.deflated)


@dataclasses.dataclass(frozen=True, slots=True)
class CommitTransaction:
    """Commit to several tables, all or none.

    Attributes:
        document: their updates; it is read once the caller may use the warehouse.
    """

    warehouse_id: WarehouseId
    document: Payload


@dataclasses.dataclass(frozen=True, slots=True)
class TableTransactions:
    """Makes commits to several tables."""

    doors: Doors
    once: Once
    commits: Commits[TableMetadata]

    async def __call__(self, command: CommitTransaction, *, caller: Caller) -> None:
        """Update them; no table at all succeeds.

        Raises:
            Refusal: as `TableCommits`; TOO_MANY_TABLES, IDENTIFIER_REQUIRED, IDENTIFIERS_NOT_UNIQUE.
        """
        await self.once(
            Keyed(of_warehouse(command.warehouse_id), "commit-transaction", {}, command.document),
            caller=caller,
            do=lambda keeper: self._commit(command, caller, keeper),
            again=lambda _: self.doors.still_used(command.warehouse_id, caller=caller),
        )

    async def _commit(self, command: CommitTransaction, caller: Caller, keeper: Keeper) -> None:
        await self.doors.still_used(command.warehouse_id, caller=caller)
        if updates := await updates_of(command.document):
            await self.commits(command.warehouse_id, updates, caller=caller, keeper=keeper)
