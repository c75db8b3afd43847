"""Making a tabular: its metadata file is written before the row that points to it, and row, event and key are one change."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from datetime import timedelta
from typing import Generic
from uuid import UUID

from lakeward_catalog.application.announcements import TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, TabularInsert
from lakeward_catalog.application.contracts.gate import changed_meanwhile
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper
from lakeward_catalog.application.metadata_files import take_back, write_metadata
from lakeward_catalog.application.opened import LIVE_OR_STAGED, OpenedName, OpenedTabular
from lakeward_catalog.application.payloads import Payload, beside
from lakeward_catalog.application.placing import Place, choose_place, location_taken, not_empty, reserve
from lakeward_catalog.application.ports.gates import ProposedChange
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.application.tabulars.kinds import Beginning, M, TabularKind, Wanted
from lakeward_catalog.application.tabulars.loaded import Given
from lakeward_catalog.application.tabulars.means import Means
from lakeward_catalog.application.tabulars.taken import refuse_taken
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.iceberg.files import first_file, is_compressed
from lakeward_catalog.domain.model import Incarnation, MetadataId, State, Tabular, TabularId
from lakeward_catalog.domain.names import TabularIdent, check_new_name
from lakeward_catalog.domain.wording import name_taken, no_such_namespace, unseen_name_taken
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import CommitStateUnknown, Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event


@dataclasses.dataclass(frozen=True, slots=True)
class New(Generic[M]):
    """A tabular that is ready to be written.

    Attributes:
        opened: where it goes.
        told: what its event says.
        request: JSON of what was asked for, for the event.
        writes: its metadata file is to be written, if it begins with one; a registered table's is there.
        leaves: what had the name when the request was looked at, and goes with its place: a staged row as long as it is
            staged, with `overwrites` a live one as well.
        pinned: contracts were asked about the metadata of what leaves, so no other may leave.
    """

    opened: OpenedName
    tabular: Tabular
    place: Place
    metadata: M
    body: Body
    told: TabularChange = TabularChange.CREATED
    request: bytes | None = None
    writes: bool = True
    leaves: Tabular | None = None
    overwrites: bool = False
    pinned: bool = False

    @property
    def made(self) -> OpenedTabular:
        """It, with all rights to its data: its maker has them."""
        tabular = self.tabular
        allowed = frozenset(DEMANDS[tabular.kind].data)
        return OpenedTabular(self.opened.warehouse, self.opened.namespace, tabular, allowed)


@dataclasses.dataclass(frozen=True, slots=True)
class Making(Generic[M]):
    """Makes tabulars of one kind.

    Attributes:
        staged_for: how long a staged one waits for its commit.
    """

    kind: TabularKind[M]
    doors: Doors
    means: Means
    staged_for: timedelta

    async def plan(self, wanted: Wanted[M], opened: OpenedName, document: Payload, *, caller: Caller) -> New[M]:
        """What to write for a request; `opened` has looked for the name that it wants.

        Raises:
            Refusal: INVALID_TABULAR_NAME, TABULAR_EXISTS; INVALID_METADATA and the other reasons of the kind's engine;
                MALFORMED_LOCATION, LOCATION_NOT_ALLOWED, LOCATION_TAKEN, LOCATION_NOT_EMPTY;
                PROPERTY_PROTECTED; CHANGE_REFUSED; STORE_UNAVAILABLE, STORE_DENIED.
        """
        warehouse, there, means = opened.warehouse, opened.there, self.means
        check_new_name(wanted.name)
        ident = TabularIdent(opened.namespace.ident, wanted.name)
        if there is not None and there.state is State.LIVE:
            await refuse_taken(
                self.doors,
                warehouse,
                there,
                seen=name_taken(self.kind.kind, ident, by=there.kind),
                unseen=lambda: unseen_name_taken(ident),
                caller=caller,
            )
        uuid, now = wanted.uuid or means.ids.uuid7(), means.clock.now()
        place = choose_place(warehouse, opened.namespace, wanted.location, name=wanted.name, uuid=uuid)
        principal = caller.principal.key
        occupied = (
            wanted.looks
            and place.custom
            and not await means.files.is_empty(warehouse, place.location, principal=principal)
        )
        beginning = Beginning(warehouse, ident, uuid, place.location, int(now.timestamp() * 1000), occupied)
        await means.starts.turn()
        metadata = await beside(len(document), lambda: wanted.build(beginning))
        if place.custom:  # else nothing can lie there but a custom one around it, which the transaction finds
            owner = await self.doors.tabulars.by_location(warehouse.warehouse_id, place.location)
            if owner is not None and (there is None or owner.incarnation != there.incarnation):
                raise location_taken(place.location)
        # A fresh UUID's place is empty, and whether the store is there its file finds out; one that is staged has none yet.
        fresh = wanted.uuid is None and not place.custom
        looked = wanted.alone and (wanted.staged or not fresh)
        if looked and not await means.files.is_empty(warehouse, place.location, principal=principal):
            raise not_empty(place.location)
        new = await self.ready(opened, ident, place, metadata, uuid=uuid, size=len(document), caller=caller)
        tabular = new.tabular
        if wanted.staged:
            expires_at = now + self.staged_for
            tabular = dataclasses.replace(tabular, state=State.STAGED, metadata_location=None, expires_at=expires_at)
        return dataclasses.replace(new, tabular=tabular, request=document.raw, leaves=there)

    async def ready(  # noqa: PLR0913 - a tabular's parts, each by its name
        self,
        opened: OpenedName,
        ident: TabularIdent,
        place: Place,
        metadata: M,
        *,
        uuid: UUID,
        size: int,
        caller: Caller,
        replaces: Tabular | None = None,
    ) -> New[M]:
        """What to write of metadata that came in a document of so many bytes: a live tabular, and its first file.

        Contracts are asked about it as about a change of what it `replaces`.

        Raises:
            Refusal: PROPERTY_PROTECTED, CHANGE_REFUSED, CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED.
        """
        self.kind.check_properties(metadata.properties, caller=caller)
        ids, location = self.means.ids, metadata.location.rstrip("/")
        proposed = ProposedChange(
            warehouse=opened.warehouse,
            operation=Operation.CREATE,
            principal=caller.who,
            namespace=ident.namespace,
            name=ident.name,
            kind=self.kind.kind,
            there=replaces,
            proposed=metadata.encode,
        )
        asked = await self.means.gate.check(proposed)
        tabular = Tabular(
            warehouse_id=opened.warehouse.warehouse_id,
            incarnation=Incarnation(ids.uuid7()),
            tabular_id=TabularId(uuid),
            kind=self.kind.kind,
            state=State.LIVE,
            namespace_id=opened.namespace.namespace_id,
            ident=ident,
            location=location,
            metadata_id=MetadataId(ids.uuid7()),
            metadata_location=self._first_file(metadata, location),
            protected=False,
            row_version=1,
            created_at=self.means.clock.now(),
            expires_at=None,
        )
        body = await beside(size, lambda: self.kind.body_of(metadata))
        return New(opened, tabular, place, metadata, body, pinned=asked)

    def _first_file(self, metadata: M, location: str) -> str | None:
        if not self.kind.filed:
            return None
        compressed = is_compressed(metadata.properties)
        return first_file(location, file_uuid=str(self.means.ids.uuid7()), compressed=compressed)

    async def insert(self, new: New[M], *, caller: Caller, keeper: Keeper, gives: bool = True) -> Given | None:
        """Write a new tabular's file and row. The file of a row that surely was not written is taken back.

        Args:
            new: see `plan`.
            caller: who makes it.
            keeper: keeps what its key did.
            gives: answer access to its files. Who can't be given it gets no tabular: no row is written before.

        Raises:
            Refusal: LOCATION_TAKEN, LOCATION_BEING_PURGED, TABULAR_EXISTS, TABULAR_PROTECTED, NO_SUCH_NAMESPACE,
                REQUEST_IN_PROGRESS, COMMIT_STATE_UNKNOWN; what `Files.write` and, where it gives, `ClientAccess.vend` raise.
        """
        given = await self.means.shield(self._insert(new, caller, keeper, gives=gives))
        self.kind.keep(new.tabular, new.metadata, new.body)
        return given

    async def _insert(self, new: New[M], caller: Caller, keeper: Keeper, *, gives: bool) -> Given | None:
        means, warehouse, tabular, principal = self.means, new.opened.warehouse, new.tabular, caller.principal.key
        given, written = await self._begin(new, caller, gives=gives)
        try:
            await self._write(new, caller, keeper)
        except CommitStateUnknown:
            if not await means.outcomes.has_arrived(tabular):
                raise
        except Refusal:
            await take_back(means.files, warehouse, tabular, written, principal=principal)
            raise
        return given

    async def _begin(self, new: New[M], caller: Caller, *, gives: bool) -> tuple[Given | None, tuple[str, ...]]:
        """What needs no row: access to the tabular's files, while its metadata file is written."""
        files, warehouse, tabular, principal = self.means.files, new.opened.warehouse, new.tabular, caller.principal.key
        if not new.writes or tabular.metadata_location is None:
            return await self._give(new, caller, gives=gives), ()
        written = (tabular.metadata_location,)
        given, wrote = await asyncio.gather(
            self._give(new, caller, gives=gives),
            write_metadata(files, warehouse, tabular, new.body, principal=principal),
            return_exceptions=True,
        )
        if isinstance(given, BaseException):
            if wrote is None:
                await take_back(files, warehouse, tabular, written, principal=principal)
            raise given
        if wrote is not None:
            raise wrote
        return given, written

    async def _give(self, new: New[M], caller: Caller, *, gives: bool) -> Given | None:
        return await self.kind.give(new.made, caller=caller) if gives else None

    async def _write(self, new: New[M], caller: Caller, keeper: Keeper) -> None:
        """The row and its event, and what the key did."""
        tabular, owner, listed = new.tabular, caller.principal, self.kind.format_of(new.metadata)
        fresh = new.leaves is None and not new.place.custom
        if fresh and keeper.place is None:
            insert = TabularInsert(tabular, new.body, owner, listed)
            await self.means.changes.insert(insert, *self._events(new, None, caller))
            return
        async with self.means.changes.change() as change:
            gone = None
            if fresh:
                await change.tabulars.insert(tabular, new.body, owner=owner, looks=True, listed_as=listed)
            else:
                gone = await _take_place(change, new, owner=owner, listed=listed)
            change.ledger.emit(*self._events(new, gone, caller))
            await keeper.keep(change, incarnation=tabular.incarnation)

    def _events(self, new: New[M], gone: Tabular | None, caller: Caller) -> Sequence[Event]:
        """What tells of it: one, or two where it took a live one's place."""
        announcer, when = self.means.announcer, occasion(caller, self.means.clock.now())
        warehouse, told, request = new.opened.warehouse, new.told, new.request
        if gone is None or gone.state is not State.LIVE:
            return [announcer.tabular(told, new.tabular, when, warehouse=warehouse, request=request, place=(0, 1))]
        data = {"purge": False, "overwritten": True}
        return [
            announcer.tabular(TabularChange.DROPPED, gone, when, warehouse=warehouse, data=data, place=(0, 2)),
            announcer.tabular(told, new.tabular, when, warehouse=warehouse, request=request, place=(1, 2)),
        ]


async def _take_place(change: Change, new: New[M], *, owner: Principal, listed: str | None) -> Tabular | None:
    """Insert a new tabular once nothing is in its way; what left for it is answered."""
    warehouse_id, namespace = new.tabular.warehouse_id, new.opened.namespace.ident
    held = await change.namespaces.lock(warehouse_id, namespace, exclusively=False)
    if held is None or held.namespace_id != new.tabular.namespace_id:
        raise no_such_namespace(namespace)  # what was decided on is gone, or has moved
    gone = await _make_room(change, new)
    await reserve(change, warehouse_id, new.place)
    await change.tabulars.insert(new.tabular, new.body, owner=owner, listed_as=listed)
    return gone


async def _make_room(change: Change, new: New[M]) -> Tabular | None:
    """Delete the row that leaves, as it is now that it is locked.

    None where what was looked at has left the name, or was committed to, meanwhile; whatever has the name since is not the
    caller's to remove, and the insert finds it there.
    """
    if new.leaves is None:
        return None
    locked = await change.tabulars.lock_incarnation(new.tabular.warehouse_id, new.leaves.incarnation)
    mine = LIVE_OR_STAGED if new.overwrites else {State.STAGED}
    if locked is None or locked.state not in mine or locked.ident.key != new.leaves.ident.key:
        return None
    if new.pinned and locked.metadata_id != new.leaves.metadata_id:
        raise changed_meanwhile(str(locked.ident))
    check_unprotected(locked)
    await change.tabulars.delete(locked)
    return locked


def check_unprotected(tabular: Tabular) -> None:
    """Whether a tabular may be overwritten.

    Raises:
        Refusal: TABULAR_PROTECTED.
    """
    if tabular.protected:
        shown = str(tabular.ident)
        raise Refusal(
            Reason.REASON_TABULAR_PROTECTED,
            f"{tabular.kind.noun} {shown} is protected; take its protection off before it is overwritten",
            tabular=shown,
        )
