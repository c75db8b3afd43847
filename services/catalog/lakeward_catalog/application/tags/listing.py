"""Seeing tags: of a thing, of a table's columns, and what one tag is set on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.paging import read_page
from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tags import EVERY_ATTACHMENT, AttachmentFilter
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.tags.attaching import field_of, too_busy
from lakeward_catalog.application.tags.doors import TagDoors, TagTarget
from lakeward_catalog.domain.model import TabularId, WarehouseId
from lakeward_catalog.domain.tags import AppliedTag, TagAttachment, TagId, TagScope
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.paging import EVERYTHING, Page, PageRequest

_ATTEMPTS: Final = 4


@dataclasses.dataclass(frozen=True, slots=True)
class ListTagAttachments:
    """List what a tag is set on."""

    tag_id: TagId
    which: AttachmentFilter = EVERY_ATTACHMENT
    page: PageRequest = EVERYTHING


@dataclasses.dataclass(frozen=True, slots=True)
class TagListings:
    """Lists tags of a thing, by name. A column has its own alone, whatever its table has."""

    doors: TagDoors
    documents: Documents

    async def __call__(self, target: TagTarget, *, effective: bool, caller: Caller) -> Sequence[AppliedTag]:
        """The tags of something.

        Args:
            target: of what.
            effective: with those of what it is in; of one tag the nearest.
            caller: who asks.

        Raises:
            Refusal: NO_SUCH_TAG_TARGET, FORBIDDEN, NO_SUCH_COLUMN; CONCURRENT_CHANGE.
        """
        for _ in range(_ATTEMPTS):
            opened = await self.doors.seen(target, caller=caller)
            if opened.tabular is None or target.column is None:
                return await self.doors.tags.on(opened.place, effective=effective)
            try:
                field_id = await field_of(self.documents, opened.tabular, target.column)
            except LookupError:
                continue
            place = msgspec.structs.replace(opened.place, field_id=field_id)
            return await self.doors.tags.on(place, effective=False)
        raise too_busy(target)

    async def of_columns(
        self, warehouse_id: WarehouseId, table_id: TabularId, *, caller: Caller
    ) -> Mapping[int, Sequence[AppliedTag]]:
        """The tags of a table's columns, by field id.

        Raises:
            Refusal: NO_SUCH_TAG_TARGET, FORBIDDEN.
        """
        target = TagTarget(TagScope.TABLE, warehouse_id, table_id)
        opened = await self.doors.seen(target, caller=caller)
        assert opened.tabular is not None, "a table was asked for"
        return await self.doors.tags.on_columns(warehouse_id, opened.tabular.incarnation)


@dataclasses.dataclass(frozen=True, slots=True)
class TagAttachmentListings:
    """Lists what a tag is set on, for its owners: they see that, whatever else they see of it."""

    doors: TagDoors
    rules: Rules

    async def __call__(self, command: ListTagAttachments, *, caller: Caller) -> Page[TagAttachment]:
        """A page of it.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_TAG, FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        found = await self.doors.definition(command.tag_id, Action.TAG_READ_ATTACHMENTS, caller=caller)
        return await read_page(
            command.page,
            listing=("tag-attachment", str(command.tag_id), repr(command.which), caller.principal.key),
            rules=self.rules,
            place=lambda attachment: After(attachment.created_at, attachment.attachment_id),
            read=lambda after, limit: self.doors.tags.attachments(
                found.project_id, found.tag_id, command.which, after=after, limit=limit
            ),
        )
