"""Setting tags on things, and removing them."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import msgspec

from lakeward_catalog.application.announcements import Announcer, TagChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.tags.doors import OpenedTarget, TagDoors, TagTarget
from lakeward_catalog.domain.model import Tabular
from lakeward_catalog.domain.tags import (
    AppliedTag,
    NoSuchTagTarget,
    TagDefinition,
    TagPlace,
    TagScope,
    check_applicable,
    check_value_form,
    no_such_column,
)
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.system import Clock, Ids

T = TypeVar("T")

_ATTEMPTS: Final = 4


@dataclasses.dataclass(frozen=True, slots=True)
class SetTag:
    """Set a tag, by its name, on something; `value` None for a marker."""

    target: TagTarget
    tag: str
    value: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class RemoveTag:
    """Remove a tag, by its name, from something."""

    target: TagTarget
    tag: str


async def field_of(documents: Documents, table: Tabular, column: str) -> int:
    """The field id of a column in a table's current schema.

    Raises:
        Refusal: NO_SUCH_COLUMN.
        LookupError: a later commit has replaced the metadata; read the row again.
    """
    metadata = await documents.table(table.warehouse_id, table.metadata_id)
    field_id = metadata.current_schema.names.get(column)
    if field_id is None:
        raise no_such_column(column, table.tabular_id)
    return field_id


@dataclasses.dataclass(frozen=True, slots=True)
class TagAttachments:
    """Sets and removes tags. A column is the field that has its name while the change is made."""

    doors: TagDoors
    documents: Documents
    changes: Changes
    announcer: Announcer
    clock: Clock
    ids: Ids

    async def set(self, command: SetTag, *, caller: Caller) -> AppliedTag:
        """Set one. Where it is set with this value already nothing changes, and nobody is told.

        Raises:
            Refusal: INVALID_TAG_VALUE; NO_SUCH_TAG_TARGET, NO_SUCH_TAG_NAME, FORBIDDEN; TAG_SCOPE_NOT_ALLOWED, NO_SUCH_COLUMN;
                CONCURRENT_CHANGE.
        """
        if command.value is not None:
            check_value_form(command.value)
        at = self.clock.now()

        async def put(change: Change, opened: OpenedTarget, definition: TagDefinition, place: TagPlace) -> AppliedTag:
            attachment_id = self.ids.uuid7()
            try:
                applied, changed = await change.tags.put(
                    place, definition, command.value, attachment_id=attachment_id, at=at
                )
            except NoSuchTagTarget:
                raise opened.target.absent from None  # by what the caller wrote
            if changed:
                tagged, when = opened.tagged(place.field_id), occasion(caller, at)
                told = {"value": applied.value}
                change.ledger.emit(
                    self.announcer.tag(
                        TagChange.APPLIED, definition, tagged, when, warehouse=opened.warehouse, data=told
                    )
                )
            return applied

        def check(definition: TagDefinition) -> None:
            check_applicable(definition, command.target.scope, command.value)

        return await self._within(command.target, command.tag, put, caller=caller, check=check)

    async def remove(self, command: RemoveTag, *, caller: Caller) -> None:
        """Remove one. Where it is not set nothing changes, and nobody is told.

        Raises:
            Refusal: NO_SUCH_TAG_TARGET, NO_SUCH_TAG_NAME, FORBIDDEN; NO_SUCH_COLUMN; CONCURRENT_CHANGE.
        """

        async def take(change: Change, opened: OpenedTarget, definition: TagDefinition, place: TagPlace) -> None:
            if await change.tags.remove(place, definition.tag_id):
                tagged, when = opened.tagged(place.field_id), occasion(caller, self.clock.now())
                change.ledger.emit(
                    self.announcer.tag(TagChange.REMOVED, definition, tagged, when, warehouse=opened.warehouse)
                )

        await self._within(command.target, command.tag, take, caller=caller)

    async def _within(
        self,
        target: TagTarget,
        tag: str,
        work: Callable[[Change, OpenedTarget, TagDefinition, TagPlace], Awaitable[T]],
        *,
        caller: Caller,
        check: Callable[[TagDefinition], None] = lambda _: None,
    ) -> T:
        """Do something to a tag and its target in a change, once both are opened and the tag was checked."""
        for _ in range(_ATTEMPTS):
            opened, definition = await self.doors.managed(target, tag, caller=caller)
            check(definition)
            try:
                place = await self._place(opened)
            except LookupError:
                continue
            async with self.changes.change() as change:
                if await _is_current(change, opened):
                    return await work(change, opened, definition, place)
        raise too_busy(target)

    async def _place(self, opened: OpenedTarget) -> TagPlace:
        if opened.tabular is None or opened.target.column is None:
            return opened.place
        field_id = await field_of(self.documents, opened.tabular, opened.target.column)
        return msgspec.structs.replace(opened.place, field_id=field_id)


async def _is_current(change: Change, opened: OpenedTarget) -> bool:
    """Whether a column's table is as it was when its field was looked for; then it stays so until the change has ended."""
    if opened.tabular is None or opened.target.scope is not TagScope.COLUMN:
        return True
    held = await change.tabulars.lock_incarnation(opened.target.warehouse_id, opened.tabular.incarnation)
    if held is None:
        raise opened.target.absent
    return held.metadata_id == opened.tabular.metadata_id


def too_busy(target: TagTarget) -> Refusal:
    """The refusal where a table's metadata was never the one whose fields were just looked at."""
    return Refusal(
        Reason.REASON_CONCURRENT_CHANGE,
        f"table '{target.id}' was committed to again and again meanwhile; retry",
        object=f"table {target.id}",
    )
