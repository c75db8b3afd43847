"""Claiming versions of a generic table: of two writers who want the next one, the first gets it.

The table's row is held while a claim looks for the latest, so claims of one table come one after another, in this process and in
others. What lies at a version's path nobody here looks at: a writer puts its file there before it claims.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from lakeward_catalog.application.announcements import Announcer, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.opened import OpenedTabular
from lakeward_catalog.application.ports.stores import VersionStore
from lakeward_catalog.domain.generic.versions import TableVersion, check_next, check_version, no_such_version
from lakeward_catalog.domain.model import Kind, State, Tabular, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.wording import no_such_tabular
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.system import Clock

MOST: Final = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class ClaimVersion:
    """Claim a version for a file."""

    warehouse_id: WarehouseId
    ident: TabularIdent
    version: int
    path: str
    size: int | None
    properties: dict[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class VersionClaims:
    """Gives versions to writers."""

    doors: Doors
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: ClaimVersion, *, caller: Caller) -> TableVersion:
        """The version, which is the caller's; the same claim again is answered as the first one was.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_GENERIC_TABLE, FORBIDDEN; INVALID_FIELD; TABLE_VERSION_TAKEN;
                COMMIT_STATE_UNKNOWN.
        """
        now = self.clock.now()
        wanted = TableVersion(command.version, command.path, command.size, command.properties, now)
        check_version(wanted)
        opened = await _opened(self.doors, command.warehouse_id, command.ident, Action.GENERIC_TABLE_WRITE_DATA, caller)
        async with self.changes.change() as change:
            tabular = await _held(change, opened.tabular)
            there = await change.versions.find(tabular, wanted.version)
            if there is not None and there.is_claim_of(wanted):
                return there
            latest = await change.versions.latest(tabular)
            check_next(wanted, latest, table=str(tabular.ident))
            stored = await change.versions.insert(tabular, wanted)
            assert stored, "the row is held, so nobody else claimed it since"
            told = {"table-version": wanted.version, "path": wanted.path}
            when, warehouse = occasion(caller, now), opened.warehouse
            change.ledger.emit(
                self.announcer.tabular(TabularChange.COMMITTED, tabular, when, warehouse=warehouse, data=told)
            )
        return wanted


@dataclasses.dataclass(frozen=True, slots=True)
class ReadVersions:
    """Read versions.

    Attributes:
        before: only those before this one; None: all.
        limit: at most MOST count.
    """

    warehouse_id: WarehouseId
    ident: TabularIdent
    before: int | None = None
    limit: int = 100


@dataclasses.dataclass(frozen=True, slots=True)
class VersionReads:
    """Reads versions."""

    doors: Doors
    versions: VersionStore

    async def __call__(self, command: ReadVersions, *, caller: Caller) -> Sequence[TableVersion]:
        """The latest first.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_GENERIC_TABLE, FORBIDDEN.
        """
        tabular = await self._open(command.warehouse_id, command.ident, caller)
        limit = min(max(command.limit, 1), MOST)
        return await self.versions.list(tabular, before=command.before, limit=limit)

    async def one(
        self, warehouse_id: WarehouseId, ident: TabularIdent, version: int | None, *, caller: Caller
    ) -> TableVersion:
        """One version; None: the latest.

        Raises:
            Refusal: as `__call__`; NO_SUCH_TABLE_VERSION.
        """
        tabular = await self._open(warehouse_id, ident, caller)
        found = await self.versions.find(tabular, version)
        if found is None:
            raise no_such_version(str(tabular.ident), version)
        return found

    async def _open(self, warehouse_id: WarehouseId, ident: TabularIdent, caller: Caller) -> Tabular:
        return (await _opened(self.doors, warehouse_id, ident, Action.GENERIC_TABLE_READ_DATA, caller)).tabular


@dataclasses.dataclass(frozen=True, slots=True)
class VersionRemovals:
    """Forgets versions; the latest stays."""

    doors: Doors
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, warehouse_id: WarehouseId, ident: TabularIdent, *, before: int, caller: Caller) -> None:
        """Forget those before a version.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_GENERIC_TABLE, FORBIDDEN.
        """
        opened = await _opened(self.doors, warehouse_id, ident, Action.GENERIC_TABLE_WRITE_DATA, caller)
        async with self.changes.change() as change:
            tabular = await _held(change, opened.tabular)
            if await change.versions.forget(tabular, before=before):
                when, warehouse, told = occasion(caller, self.clock.now()), opened.warehouse, {"before": before}
                change.ledger.emit(
                    self.announcer.tabular(
                        TabularChange.VERSIONS_FORGOTTEN, tabular, when, warehouse=warehouse, data=told
                    )
                )


async def _opened(
    doors: Doors, warehouse_id: WarehouseId, ident: TabularIdent, needed: Action, caller: Caller
) -> OpenedTabular:
    return await doors.tabular(warehouse_id, ident, Kind.GENERIC_TABLE, needed, caller=caller)


async def _held(change: Change, decided_on: Tabular) -> Tabular:
    """The row, as it is until the change ends.

    Raises:
        Refusal: NO_SUCH_GENERIC_TABLE where what was decided on is gone.
    """
    tabular = await change.tabulars.lock_incarnation(decided_on.warehouse_id, decided_on.incarnation)
    if tabular is None or tabular.state is not State.LIVE:
        raise no_such_tabular(Kind.GENERIC_TABLE, decided_on.ident)
    return tabular
