"""Commits: requirements checked, updates applied in a pure function, a file written, and the pointer compared and set.

Commits to one tabular queue in this process, so that none writes a file for a race that it must lose here; a race with another
process is run again on what won it, as long as the requirements still hold. From the first file on, a commit goes on though its
caller is gone. When the outcome is not known it is read back; if that fails too, the files stay and the caller is told so.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import Final, Generic, TypeVar

import msgspec

from lakeward_catalog.application.announcements import Occasion, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Stood, TabularCommit
from lakeward_catalog.application.idempotency import Keeper, Keyed, of_warehouse
from lakeward_catalog.application.metadata_files import forget_trimmed, take_back, write_metadata
from lakeward_catalog.application.opened import OpenedTabular
from lakeward_catalog.application.outcomes import never_happened
from lakeward_catalog.application.payloads import Payload, beside
from lakeward_catalog.application.placing import Place, reserve
from lakeward_catalog.application.ports.gates import ProposedChange
from lakeward_catalog.application.tabulars.kinds import Applied, M, TabularKind, TabularUpdate
from lakeward_catalog.application.tabulars.loaded import Loaded
from lakeward_catalog.application.tabulars.means import Means
from lakeward_catalog.application.tabulars.queueing import Queues
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.iceberg.files import is_compressed, next_file
from lakeward_catalog.domain.iceberg.requests import CommitRequest
from lakeward_catalog.domain.model import Kind, MetadataId, State, Tabular, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.wording import no_such_tabular
from lakeward_servicekit.errors import CommitStateUnknown, Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event

T = TypeVar("T")

_ATTEMPTS: Final = 4
_WRITERS: Final = 8
_NO_BODY: Final = Body((), ())


class CommitTabular(msgspec.Struct, frozen=True):
    """Commit to one table, view or generic table.

    Attributes:
        path: what the commit came by: the tabular, or for a table a branch of it.
        document: requirements and updates; they are read once the caller may commit.
        deflated: the caller takes compressed metadata.
    """

    warehouse_id: WarehouseId
    path: TabularIdent
    document: Payload
    deflated: bool = False

    def keyed(self, kind: Kind) -> Keyed:
        """As idempotency keys tell requests apart."""
        parameters: dict[str, object] = {"namespace": self.path.namespace.parts, "name": self.path.name}
        return Keyed(of_warehouse(self.warehouse_id), f"commit-{kind}", parameters, self.document)


class _Prepared(msgspec.Struct, Generic[M], frozen=True):
    """An update, applied: what to write.

    Attributes:
        before: the tabular, and what its committer may do with it.
        after: as it will be; as it was where nothing changes.
        document: the request, for the event.
    """

    before: OpenedTabular
    base: M
    result: Applied[M]
    after: Tabular
    body: Body
    document: bytes


class _LostRace(Exception):  # noqa: N818 - nobody but the retry loop sees it
    """Another commit won in the database."""


@dataclasses.dataclass(frozen=True, slots=True)
class Commits(Generic[M]):
    """Makes commits to tabulars of one kind."""

    kind: TabularKind[M]
    queues: Queues
    means: Means

    async def __call__(
        self, warehouse_id: WarehouseId, updates: Sequence[TabularUpdate], *, caller: Caller, keeper: Keeper
    ) -> Sequence[OpenedTabular]:
        """Update tabulars, all or none.

        Args:
            warehouse_id: of all of them.
            updates: no two of one tabular. One that is not read yet is read once its tabular is found and decided on.
            caller: who commits.
            keeper: keeps what the idempotency key did.

        Returns:
            The tabulars as they are now, in the order of the updates.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN; COMMIT_CONFLICT; INVALID_UPDATE and the other
                reasons of the kind's engine; LOCATION_TAKEN, LOCATION_BEING_PURGED; CHANGE_REFUSED, CONTRACT_VIOLATED,
                CONTRACT_CHECK_FAILED; STORE_UNAVAILABLE, STORE_DENIED; COMMIT_STATE_UNKNOWN.
        """
        first: Sequence[OpenedTabular] = ()
        async with self.queues.turn([(warehouse_id, *update.ident.key) for update in updates]):
            for _ in range(_ATTEMPTS):
                opened = await _all([self.kind.open_to_commit(warehouse_id, each, caller=caller) for each in updates])
                if self.kind.pinned:
                    first = _checked_pins(first, [each for each, _ in opened])
                await self.means.starts.turn()  # they were found by one statement, all of those that came together
                try:
                    now = self.means.clock.now()
                    prepared = [
                        await self._apply(each, request, update.document.raw, now)
                        for (each, request), update in zip(opened, updates, strict=True)
                    ]
                    await self.means.shield(self._write(prepared, caller, keeper))
                except _LostRace:
                    continue
                return [msgspec.structs.replace(entry.before, tabular=entry.after) for entry in prepared]
        raise _too_busy(updates)

    async def reply(self, committed: OpenedTabular, *, caller: Caller, deflated: bool = False) -> Loaded:
        """What a commit led to.

        Raises:
            Refusal: COMMIT_STATE_UNKNOWN.
        """
        try:
            given = await self.kind.give(committed, caller=caller)
            return await self.kind.shown(committed, given, caller=caller, deflated=deflated)
        except (Refusal, LookupError) as failure:
            # It did happen, so nothing that keeps its reply from being made may read as if it had not.
            shown = str(committed.tabular.ident)
            raise Refusal(
                Reason.REASON_COMMIT_STATE_UNKNOWN,
                f"the commit to {shown} was made, but what it led to can't be shown now; load the {self.kind.kind.noun}",
                object=shown,
            ) from failure

    async def _apply(
        self, opened: OpenedTabular, request: CommitRequest, document: bytes, now: datetime
    ) -> _Prepared[M]:
        kind, tabular, size = self.kind, opened.tabular, len(document)
        try:
            base = await kind.base(tabular)
        except LookupError:
            raise _LostRace from None  # another process has committed since the row was read
        now_ms = int(now.timestamp() * 1000)
        result = await beside(size, lambda: kind.apply(base, request, opened, now_ms=now_ms))
        if not result.changed:
            return _Prepared(opened, base, result, tabular, _NO_BODY, document)
        metadata = result.metadata
        after = dataclasses.replace(
            tabular,
            state=State.LIVE,
            location=tabular.location if result.moves_to is None else metadata.location,
            metadata_id=MetadataId(self.means.ids.uuid7()),
            metadata_location=self._next_file(tabular, metadata),
            expires_at=None,
        )
        body = await beside(size, lambda: kind.body_of(metadata))
        return _Prepared(opened, base, result, after, body, document)

    def _next_file(self, tabular: Tabular, metadata: M) -> str | None:
        if not self.kind.filed:
            return None
        return next_file(
            metadata.location,
            tabular.metadata_location,
            file_uuid=str(self.means.ids.uuid7()),
            compressed=is_compressed(metadata.properties),
        )

    async def _write(self, prepared: Sequence[_Prepared[M]], caller: Caller, keeper: Keeper) -> None:
        means, principal = self.means, caller.principal.key
        changed = [entry for entry in prepared if entry.result.changed]
        if not changed:
            await self._keep_key(prepared, keeper)
            return
        for entry in changed:
            # what is looked at is what the pointer is compared with: who loses the race is asked again
            staged, ident = entry.before.tabular.state is State.STAGED, entry.after.ident
            await means.gate.check(
                ProposedChange(
                    warehouse=entry.before.warehouse,
                    operation=Operation.CREATE if staged else Operation.COMMIT,
                    principal=caller.who,
                    namespace=ident.namespace,
                    name=ident.name,
                    kind=self.kind.kind,
                    there=None if staged else entry.before.tabular,
                    old=None if staged else entry.base.encode,
                    proposed=entry.result.metadata.encode,
                )
            )
        try:
            await self._put_files(changed, principal)
            await self._swap(changed, caller, keeper)
        except CommitStateUnknown as unknown:
            first = changed[0]
            before = first.before.tabular.metadata_id
            if not await means.outcomes.commit_arrived(first.after, before=before, unknown=unknown):
                await self._take_back(changed, principal)
                raise never_happened() from unknown
        except (Refusal, _LostRace):
            await self._take_back(changed, principal)
            raise
        for entry in changed:
            result, after = entry.result, entry.after
            self.kind.keep(after, result.metadata, entry.body, instead_of=entry.before.tabular.metadata_id)
            if result.trimmed:
                forget_trimmed(
                    means.files,
                    entry.before.warehouse,
                    after,
                    result.trimmed,
                    result.metadata.properties,
                    principal=principal,
                )

    async def _keep_key(self, prepared: Sequence[_Prepared[M]], keeper: Keeper) -> None:
        """Remember a commit that changes nothing; there is nothing to find out where that is not known to have happened."""
        if keeper.place is None:
            return
        try:
            async with self.means.changes.change() as change:
                await keeper.keep(change, incarnation=prepared[0].after.incarnation if prepared else "")
        except CommitStateUnknown:
            pass

    async def _put_files(self, changed: Sequence[_Prepared[M]], principal: str) -> None:
        for entry in changed:
            if entry.result.moves_to is not None:  # before a file is put there: it may be another's
                async with self.means.changes.change() as change:
                    await _take(change, entry.after, entry.result.moves_to)
        if not self.kind.filed:
            return
        if len(changed) == 1:
            await self._put(changed[0], principal)
            return
        turns = asyncio.Semaphore(_WRITERS)

        async def put(entry: _Prepared[M]) -> None:
            async with turns:
                await self._put(entry, principal)

        await _all([put(entry) for entry in changed])

    async def _put(self, entry: _Prepared[M], principal: str) -> None:
        await write_metadata(self.means.files, entry.before.warehouse, entry.after, entry.body, principal=principal)

    async def _swap(self, changed: Sequence[_Prepared[M]], caller: Caller, keeper: Keeper) -> None:
        left = [self.kind.columns_left(entry.base, entry.result.metadata) for entry in changed]
        if len(changed) == 1 and keeper.place is None and changed[0].result.moves_to is None and not left[0]:
            await self._swap_alone(changed[0], caller)
            return
        async with self.means.changes.change() as change:
            for entry in changed:
                if entry.result.moves_to is not None:
                    await _take(change, entry.after, entry.result.moves_to)
            committed = await change.tabulars.commit([self._pointer(entry) for entry in changed])
            if committed.lost:
                raise _LostRace
            for entry, columns in zip(changed, left, strict=True):
                if columns:
                    await change.tags.leave_columns(entry.after.warehouse_id, entry.after.incarnation, columns)
            when, count = occasion(caller, self.means.clock.now()), len(changed)
            change.ledger.emit(
                *[
                    self._event(entry, committed.stood[entry.after.incarnation], when, place=(index, count))
                    for index, entry in enumerate(changed)
                ]
            )
            await keeper.keep(change, incarnation=changed[0].after.incarnation)

    async def _swap_alone(self, entry: _Prepared[M], caller: Caller) -> None:
        def tell(stood: Stood) -> Event:
            return self._event(entry, stood, occasion(caller, self.means.clock.now()), place=(0, 1))

        if not await self.means.changes.commit(self._pointer(entry), tell):
            raise _LostRace

    def _event(self, entry: _Prepared[M], stood: Stood, when: Occasion, *, place: tuple[int, int]) -> Event:
        return self.means.announcer.tabular(
            TabularChange.COMMITTED,
            _where_it_stood(entry.after, stood),
            when,
            warehouse=entry.before.warehouse,
            data={
                "previous-metadata-location": entry.before.tabular.metadata_location,
                **self.kind.told_of(entry.base, entry.result.metadata),
            },
            request=entry.document,
            place=place,
        )

    def _pointer(self, entry: _Prepared[M]) -> TabularCommit:
        """The pointer's move."""
        after, moves_to = entry.after, entry.result.moves_to
        return TabularCommit(
            after.warehouse_id,
            after.incarnation,
            expected=entry.before.tabular.metadata_id,
            metadata_id=after.metadata_id,
            metadata_location=after.metadata_location,
            body=entry.body,
            kept_chunks=self.kind.shared_parts(entry.base),
            location=None if moves_to is None else moves_to.location,
        )

    async def _take_back(self, changed: Sequence[_Prepared[M]], principal: str) -> None:
        for entry in changed:
            written = entry.after.metadata_location
            await take_back(
                self.means.files,
                entry.before.warehouse,
                entry.after,
                [] if written is None else [written],
                principal=principal,
            )


def _where_it_stood(tabular: Tabular, stood: Stood) -> Tabular:
    """A tabular under the name that it had at its commit's place among the changes."""
    return dataclasses.replace(tabular, namespace_id=stood.namespace_id, ident=stood.ident, protected=stood.protected)


async def _take(change: Change, tabular: Tabular, place: Place) -> None:
    await reserve(change, tabular.warehouse_id, place, instead_of=tabular.incarnation)


def _checked_pins(first: Sequence[OpenedTabular], opened: Sequence[OpenedTabular]) -> Sequence[OpenedTabular]:
    """What the first attempt found, as long as the later ones find the same; else it is gone."""
    for was, now in zip(first, opened, strict=False):
        if was.tabular.incarnation != now.tabular.incarnation:
            raise no_such_tabular(was.tabular.kind, was.tabular.ident)
    return first or opened


def _too_busy(updates: Sequence[TabularUpdate]) -> Refusal:
    shown = ", ".join(str(update.ident) for update in updates[:3])
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
