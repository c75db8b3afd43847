"""Commits to views: requirements checked, updates applied in a pure function, a file written, and the pointer compared and set.

Commits to one view queue in this process. A race with another process is run again on what won it, as long as the requirements
still hold. A new location moves the view's later metadata there and deletes nothing: earlier files are still what old readers and
the new metadata's own log may point to.
"""

from __future__ import annotations

import asyncio
import dataclasses
import weakref
from typing import Final

import msgspec

from lakeward_catalog.application.access import open_tabular
from lakeward_catalog.application.announcements import Announcer, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes, TabularCommit
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import OpenedTabular
from lakeward_catalog.application.idempotency import Keeper
from lakeward_catalog.application.metadata_files import take_back, to_the_end, write_metadata
from lakeward_catalog.application.outcomes import commit_arrived, never_happened
from lakeward_catalog.application.payloads import Payload, beside
from lakeward_catalog.application.placing import Place, check_place, parse_location, reserve
from lakeward_catalog.application.ports import ChangeGate, Clock, Files, Ids, TabularStore
from lakeward_catalog.application.views.shown import body_of
from lakeward_catalog.domain.bodies import Body
from lakeward_catalog.domain.iceberg.files import is_compressed, next_file
from lakeward_catalog.domain.iceberg.requests import parse_view_commit
from lakeward_catalog.domain.iceberg.views.commits import apply_to_view
from lakeward_catalog.domain.iceberg.views.metadata import ViewMetadata, parse_view
from lakeward_catalog.domain.model import Incarnation, Kind, MetadataId, Tabular, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.wording import no_such_tabular
from lakeward_locations.location import Location
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.errors import Reason, Refusal

_ATTEMPTS: Final = 4


@dataclasses.dataclass(frozen=True, slots=True)
class ViewChange:
    """A change of one view.

    Attributes:
        document: requirements and updates; they are read once the caller may commit to the view.
    """

    warehouse_id: WarehouseId
    ident: TabularIdent
    document: Payload


@dataclasses.dataclass(frozen=True, slots=True)
class Committed:
    """A view after a commit.

    Attributes:
        opened: the view with what the caller may do with it.
        text: its metadata document.
    """

    opened: OpenedTabular
    text: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class _Prepared:
    """A change, applied: what to write.

    Attributes:
        after: the view as it will be; the same as before where nothing changes.
        moves_to: the place that it takes; None where it stays.
    """

    opened: OpenedTabular
    after: Tabular
    text: bytes
    body: Body
    moves_to: Place | None
    document: bytes

    @property
    def changed(self) -> bool:
        return self.after.metadata_id != self.opened.tabular.metadata_id


class _LostRace(Exception):  # noqa: N818 - nobody but the retry loop sees it
    """Another commit won in the database."""


class ViewCommits:
    """Makes commits. One per process, because commits to one view wait for each other here."""

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

    async def __call__(self, change: ViewChange, *, caller: Caller, keeper: Keeper) -> Committed:
        """Change a view.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_VIEW, FORBIDDEN; COMMIT_CONFLICT; what `apply_to_view` raises; MALFORMED_LOCATION,
                LOCATION_NOT_ALLOWED, LOCATION_TAKEN; CHANGE_REFUSED; STORE_UNAVAILABLE, STORE_DENIED; COMMIT_STATE_UNKNOWN.
        """
        incarnation: Incarnation | None = None
        async with self._queues.setdefault((change.warehouse_id, change.ident.key), asyncio.Lock()):
            for _ in range(_ATTEMPTS):
                opened = await self._open(change, caller)
                if incarnation is not None and opened.tabular.incarnation != incarnation:
                    raise no_such_tabular(Kind.VIEW, change.ident)  # what the first attempt was about is gone
                incarnation = opened.tabular.incarnation
                try:
                    prepared = await self._prepare(opened, change)
                    await to_the_end(self._write(prepared, caller, keeper))
                except _LostRace:
                    continue
                return Committed(dataclasses.replace(opened, tabular=prepared.after), prepared.text)
        shown = str(change.ident)
        raise Refusal(
            Reason.REASON_COMMIT_CONFLICT,
            f"other commits to view {shown} kept winning; load it and commit again",
            object=shown,
            requirement="",
        )

    async def _open(self, change: ViewChange, caller: Caller) -> OpenedTabular:
        return await open_tabular(
            change.warehouse_id,
            change.ident,
            Kind.VIEW,
            Action.VIEW_COMMIT,
            caller=caller,
            authorizer=self._authorizer,
            tabulars=self._tabulars,
            asked=(Action.VIEW_SELECT,),
        )

    async def _prepare(self, opened: OpenedTabular, change: ViewChange) -> _Prepared:
        tabular = opened.tabular
        try:
            before = await self._documents.plain(tabular.warehouse_id, tabular.metadata_id, references=False)
        except LookupError:
            raise _LostRace from None  # another process has committed since the row was read
        request = await change.document.read(parse_view_commit)
        result = await beside(
            len(change.document),
            lambda: apply_to_view(
                parse_view(before),
                request.requirements,
                request.updates,
                object_name=str(tabular.ident),
                now_ms=int(self._clock.now().timestamp() * 1000),
            ),
        )
        location = _location(opened, result.metadata)
        metadata = msgspec.structs.replace(result.metadata, location=str(location))
        text = metadata.encode()
        if not result.changed or text == before:
            return _Prepared(opened, tabular, before, Body((), ()), None, change.document.raw)
        await self._gate.check(tabular=tabular.ident, old=lambda: before, proposed=lambda: text)
        after = dataclasses.replace(
            tabular,
            location=metadata.location,
            metadata_id=MetadataId(self._ids.uuid7()),
            metadata_location=next_file(
                metadata.location,
                tabular.metadata_location,
                file_uuid=str(self._ids.uuid7()),
                compressed=is_compressed(metadata.properties),
            ),
        )
        moves_to = Place(location, custom=True) if metadata.location != tabular.location else None
        return _Prepared(opened, after, text, body_of(text), moves_to, change.document.raw)

    async def _write(self, prepared: _Prepared, caller: Caller, keeper: Keeper) -> None:
        if not prepared.changed:
            if keeper.place is not None:
                async with self._changes.change() as change:
                    await keeper.keep(change, incarnation=prepared.after.incarnation)
            return
        warehouse, after, principal = prepared.opened.warehouse, prepared.after, caller.principal.key
        file = after.metadata_location
        assert file is not None
        try:
            if prepared.moves_to is not None:  # before a file is put there: it may be another's
                async with self._changes.change() as change:
                    await self._take(change, prepared)
            await write_metadata(self._files, warehouse, after, file, prepared.body, principal=principal)
            await self._swap(prepared, file, caller, keeper)
        except (Refusal, _LostRace) as failure:
            unknown = isinstance(failure, Refusal) and failure.reason == Reason.REASON_COMMIT_STATE_UNKNOWN
            if not unknown:
                await take_back(self._files, warehouse, after, [file], principal=principal)
                raise
            before = prepared.opened.tabular.metadata_id
            if not await commit_arrived(self._changes, after, before=before, unknown=failure):
                await take_back(self._files, warehouse, after, [file], principal=principal)
                raise never_happened() from failure

    async def _swap(self, prepared: _Prepared, file: str, caller: Caller, keeper: Keeper) -> None:
        before, after = prepared.opened.tabular, prepared.after
        moved = prepared.moves_to
        commit = TabularCommit(
            after.warehouse_id,
            after.incarnation,
            expected=before.metadata_id,
            metadata_id=after.metadata_id,
            metadata_location=file,
            body=prepared.body,
            location=None if moved is None else moved.location,
        )
        async with self._changes.change() as change:
            if moved is not None:
                await self._take(change, prepared)
            if await change.tabulars.commit([commit]):
                raise _LostRace
            change.ledger.emit(
                self._announcer.tabular(
                    TabularChange.COMMITTED,
                    after,
                    occasion(caller, self._clock.now()),
                    data={"previous-metadata-location": before.metadata_location},
                    request=prepared.document,
                )
            )
            await keeper.keep(change, incarnation=after.incarnation)

    async def _take(self, change: Change, prepared: _Prepared) -> None:
        assert prepared.moves_to is not None
        after = prepared.after
        await reserve(change, after.warehouse_id, prepared.moves_to, instead_of=after.incarnation)


def _location(opened: OpenedTabular, metadata: ViewMetadata) -> Location:
    """The location that a commit leaves its view with, in its one spelling.

    Raises:
        Refusal: MALFORMED_LOCATION, LOCATION_NOT_ALLOWED.
    """
    location = parse_location(metadata.location)
    if location != parse_location(opened.tabular.location):
        check_place(opened.warehouse, location)
    return location
