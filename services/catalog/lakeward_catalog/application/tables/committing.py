"""Commits: requirements checked, updates applied in a pure function, a file written, and the pointer compared and set.

Commits to one table queue in this process, so that none writes a file for a race that it must lose here; a race with another
process is run again on what won it, as long as the requirements still hold. From the first file on, a commit goes on though its
caller is gone. When the outcome is not known it is read back; if that fails too, the files stay and the caller is told so.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import weakref
from collections.abc import AsyncIterator, Awaitable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from lakeward_catalog.application.access import open_tabular
from lakeward_catalog.application.announcements import Announcer, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes, TabularCommit
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import LIVE_OR_STAGED, OpenedTabular
from lakeward_catalog.application.idempotency import Keeper
from lakeward_catalog.application.metadata_files import forget_trimmed, take_back, to_the_end, write_metadata
from lakeward_catalog.application.outcomes import commit_arrived, never_happened
from lakeward_catalog.application.payloads import beside
from lakeward_catalog.application.ports import ChangeGate, Clock, Files, Ids, TabularStore
from lakeward_catalog.application.tables.changes import TableChange, read_change, table_of_branch
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.iceberg.commits import TableCommit, apply_to_table
from lakeward_catalog.domain.iceberg.files import is_compressed, next_file
from lakeward_catalog.domain.iceberg.table import TableMetadata
from lakeward_catalog.domain.model import Kind, MetadataId, State, Tabular, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.table_bodies import body_of, shared_ids
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.errors import Reason, Refusal

T = TypeVar("T")

_ATTEMPTS: Final = 4
_WRITERS: Final = 8


@dataclasses.dataclass(frozen=True, slots=True)
class _Prepared:
    """A change, applied: what to write.

    Attributes:
        tabular: as it will be.
    """

    opened: OpenedTabular
    result: TableCommit
    base: TableMetadata
    tabular: Tabular
    body: Body
    document: bytes

    @property
    def commit(self) -> TabularCommit:
        """The pointer's move."""
        assert self.tabular.metadata_location is not None
        return TabularCommit(
            self.tabular.warehouse_id,
            self.tabular.incarnation,
            expected=self.opened.tabular.metadata_id,
            metadata_id=self.tabular.metadata_id,
            metadata_location=self.tabular.metadata_location,
            body=self.body,
            kept_chunks=shared_ids(self.base),
        )


class _LostRace(Exception):  # noqa: N818 - nobody but the retry loop sees it
    """Another commit won in the database."""


class TableCommits:
    """Makes commits. One per process, because commits to one table wait for each other here."""

    def __init__(
        self,
        *,
        authorizer: Authorizer,
        tabulars: TabularStore,
        changes: Changes,
        files: Files,
        documents: Documents,
        gate: ChangeGate,
        announcer: Announcer,
        clock: Clock,
        ids: Ids,
    ) -> None:
        """Fill the roles."""
        self._authorizer: Final = authorizer
        self._tabulars: Final = tabulars
        self._changes: Final = changes
        self._files: Final = files
        self._documents: Final = documents
        self._gate: Final = gate
        self._announcer: Final = announcer
        self._clock: Final = clock
        self._ids: Final = ids
        self._queues: Final[weakref.WeakValueDictionary[object, asyncio.Lock]] = weakref.WeakValueDictionary()

    async def __call__(
        self, warehouse_id: WarehouseId, changes: Sequence[TableChange], *, caller: Caller, keeper: Keeper
    ) -> Sequence[Tabular]:
        """Change tables, all or none.

        Args:
            warehouse_id: of all of them.
            changes: no two of one table. One that is not read yet is read once its table is found and decided on.
            caller: who commits.
            keeper: keeps what the idempotency key did.

        Returns:
            The tables as they are now, in the order of the changes.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE, FORBIDDEN; COMMIT_CONFLICT; INVALID_UPDATE and the other reasons of the
                engine; CHANGE_REFUSED; STORE_UNAVAILABLE, STORE_DENIED; COMMIT_STATE_UNKNOWN.
        """
        async with self._queued(warehouse_id, changes):
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    prepared = await self._prepare(warehouse_id, changes, caller)
                    await to_the_end(self._write(prepared, caller, keeper))
                except _LostRace:
                    if attempt == _ATTEMPTS:
                        raise _too_busy(changes) from None
                    continue
                return [entry.tabular for entry in prepared]
        raise AssertionError("the loop returns or raises")

    @contextlib.asynccontextmanager
    async def _queued(self, warehouse_id: WarehouseId, changes: Sequence[TableChange]) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            for key in sorted({change.ident.key for change in changes}):  # one order, so that no two wait in a circle
                lock = self._queues.setdefault((warehouse_id, key), asyncio.Lock())
                await stack.enter_async_context(lock)
            yield

    async def _prepare(
        self, warehouse_id: WarehouseId, changes: Sequence[TableChange], caller: Caller
    ) -> Sequence[_Prepared]:
        opened = await _all([self._open(warehouse_id, change, caller) for change in changes])
        now = self._clock.now()
        return [await self._apply(entry, change, now) for entry, change in opened]

    async def _open(
        self, warehouse_id: WarehouseId, change: TableChange, caller: Caller
    ) -> tuple[OpenedTabular, TableChange]:
        """The table of a change, decided on, and then the change, read."""

        async def table(ident: TabularIdent) -> OpenedTabular:
            return await open_tabular(
                warehouse_id,
                ident,
                Kind.TABLE,
                Action.TABLE_COMMIT,
                caller=caller,
                authorizer=self._authorizer,
                tabulars=self._tabulars,
                states=LIVE_OR_STAGED,
            )

        try:
            opened = await table(change.ident)
        except Refusal as absent:
            whole = table_of_branch(change.ident)
            if change.request is not None or whole is None or absent.reason != Reason.REASON_NO_SUCH_TABLE:
                raise
            try:
                opened = await table(whole)
            except Refusal as refusal:
                raise absent if refusal.reason == Reason.REASON_NO_SUCH_TABLE else refusal from None
        read = await read_change(change)
        if read.ident.key != opened.tabular.ident.key:
            opened = await table(read.ident)
        return opened, read

    async def _apply(self, opened: OpenedTabular, change: TableChange, now: datetime) -> _Prepared:
        tabular, request = opened.tabular, change.request
        assert request is not None
        try:
            base = await self._documents.table(tabular.warehouse_id, tabular.metadata_id)
        except LookupError:
            raise _LostRace from None  # another process has committed since the row was read
        result = await beside(
            len(change.document),
            lambda: apply_to_table(
                base,
                request.requirements,
                request.updates,
                object_name=str(tabular.ident),
                now_ms=int(now.timestamp() * 1000),
                previous_file=tabular.metadata_location,
                staged=tabular.state is State.STAGED,
                allowed_format_versions=opened.warehouse.allowed_format_versions,
            ),
        )
        if not result.changed:
            return _Prepared(opened, result, base, tabular, Body((), ()), change.document.raw)
        location = next_file(
            result.metadata.location,
            tabular.metadata_location,
            file_uuid=str(self._ids.uuid7()),
            compressed=is_compressed(result.metadata.properties),
        )
        after = dataclasses.replace(
            tabular,
            state=State.LIVE,
            metadata_id=MetadataId(self._ids.uuid7()),
            metadata_location=location,
            expires_at=None,
        )
        body = await beside(len(change.document), lambda: body_of(result.metadata))
        return _Prepared(opened, result, base, after, body, change.document.raw)

    async def _write(self, prepared: Sequence[_Prepared], caller: Caller, keeper: Keeper) -> None:
        changed = [entry for entry in prepared if entry.result.changed]
        for entry in changed:
            await self._gate.check(
                tabular=entry.tabular.ident,
                old=None if entry.opened.tabular.state is State.STAGED else entry.base.encode,
                proposed=entry.result.metadata.encode,
            )
        principal = caller.principal.key
        try:
            await self._put_files(changed, principal)
            await self._swap(prepared, changed, caller, keeper)
        except (Refusal, _LostRace) as failure:
            unknown = isinstance(failure, Refusal) and failure.reason == Reason.REASON_COMMIT_STATE_UNKNOWN
            if not unknown:
                await self._take_back(changed, principal)
                raise
            if changed:  # else there is nothing to find out: only the key may have been kept
                first = changed[0]
                if not await commit_arrived(
                    self._changes, first.tabular, before=first.opened.tabular.metadata_id, unknown=failure
                ):
                    await self._take_back(changed, principal)
                    raise never_happened() from failure
        for entry in changed:
            self._documents.keep(entry.tabular.metadata_id, entry.result.metadata, entry.body)
            forget_trimmed(
                self._files,
                entry.opened.warehouse,
                entry.tabular,
                entry.result.trimmed,
                entry.result.metadata.properties,
                principal=principal,
            )

    async def _put_files(self, changed: Sequence[_Prepared], principal: str) -> None:
        turns = asyncio.Semaphore(_WRITERS)

        async def put(entry: _Prepared) -> None:
            assert entry.tabular.metadata_location is not None
            async with turns:
                await write_metadata(
                    self._files,
                    entry.opened.warehouse,
                    entry.tabular,
                    entry.tabular.metadata_location,
                    entry.body,
                    principal=principal,
                )

        await _all([put(entry) for entry in changed])

    async def _swap(
        self, prepared: Sequence[_Prepared], changed: Sequence[_Prepared], caller: Caller, keeper: Keeper
    ) -> None:
        if not changed and keeper.place is None:
            return
        async with self._changes.change() as change:
            if changed:
                if await change.tabulars.commit([entry.commit for entry in changed]):
                    raise _LostRace
                when = occasion(caller, self._clock.now())
                change.ledger.emit(
                    *[
                        self._announcer.tabular(
                            TabularChange.COMMITTED,
                            entry.tabular,
                            when,
                            data={"previous-metadata-location": entry.opened.tabular.metadata_location},
                            request=entry.document,
                            index=index,
                            count=len(changed),
                        )
                        for index, entry in enumerate(changed)
                    ]
                )
            await keeper.keep(change, incarnation=prepared[0].tabular.incarnation if prepared else "")

    async def _take_back(self, changed: Sequence[_Prepared], principal: str) -> None:
        for entry in changed:
            assert entry.tabular.metadata_location is not None
            await take_back(
                self._files,
                entry.opened.warehouse,
                entry.tabular,
                [entry.tabular.metadata_location],
                principal=principal,
            )


def _too_busy(changes: Sequence[TableChange]) -> Refusal:
    shown = ", ".join(str(change.ident) for change in changes[:3])
    return Refusal(
        Reason.REASON_COMMIT_CONFLICT,
        f"other commits to {shown} kept winning; load it and commit again",
        object=shown,
        requirement="",
    )


async def _all(work: Sequence[Awaitable[T]]) -> Sequence[T]:
    """The results in order; the first failure, in order, once all have ended."""
    if len(work) == 1:
        return [await work[0]]
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
