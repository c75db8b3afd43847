"""Where tags are kept: definitions of projects, and what they are set on in warehouses.

What a tag is set on goes with it: a warehouse, namespace or tabular that is deleted takes its tags along, and a dropped tabular
keeps them until it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.domain.model import Incarnation, ProjectId, WarehouseId
from lakeward_catalog.domain.tags import AppliedTag, TagAttachment, TagDefinition, TagId, TagPlace, TagScope
from lakeward_servicekit.authorization.principals import Principal


@dataclasses.dataclass(frozen=True, slots=True)
class AttachmentFilter:
    """Which attachments are asked for; None: whichever.

    Attributes:
        value: exactly this one.
        created_after: then or later.
        created_before: then or earlier.
    """

    value: str | None = None
    scope: TagScope | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    warehouse_id: WarehouseId | None = None


EVERY_ATTACHMENT: Final = AttachmentFilter()


class TagStore(Protocol):
    """The rows of tags, read from the primary."""

    async def find(self, project_id: ProjectId, tag_id: TagId) -> TagDefinition | None:
        """One definition."""
        ...

    async def find_by_name(self, project_id: ProjectId, name: str) -> TagDefinition | None:
        """One definition, by its name without case."""
        ...

    async def list(self, project_id: ProjectId, *, after: After | None, limit: int) -> Sequence[TagDefinition]:
        """Definitions in the order (created_at, tag_id), at most `limit`."""
        ...

    async def attachments(
        self, project_id: ProjectId, tag_id: TagId, which: AttachmentFilter, *, after: After | None, limit: int
    ) -> Sequence[TagAttachment]:
        """What a tag is set on, in the order (created_at, attachment_id), at most `limit`."""
        ...

    async def on(self, place: TagPlace, *, effective: bool) -> Sequence[AppliedTag]:
        """Tags of an object, by name; with `effective` also those of what it is in, of one tag the nearest."""
        ...

    async def on_columns(
        self, warehouse_id: WarehouseId, incarnation: Incarnation
    ) -> Mapping[int, Sequence[AppliedTag]]:
        """Tags of a table's columns, by field id and name."""
        ...


class TagChanges(Protocol):
    """Tags, as changes of a transaction."""

    async def insert(self, definition: TagDefinition, *, owner: Principal) -> None:
        """Raises TAG_EXISTS, NO_SUCH_PROJECT."""

    async def lock(self, project_id: ProjectId, tag_id: TagId) -> TagDefinition | None:
        """The definition, held for update until the end."""
        ...

    async def update(self, definition: TagDefinition) -> None:
        """Store one that was locked as it is given. Raises TAG_EXISTS."""

    async def delete(self, definition: TagDefinition) -> None:
        """Raises TAG_IN_USE while it is set on anything."""

    async def put(
        self, place: TagPlace, definition: TagDefinition, value: str | None, *, attachment_id: UUID, at: datetime
    ) -> tuple[AppliedTag, bool]:
        """Set a tag, and whether that changed anything.

        Raises NO_SUCH_TAG_NAME where the definition is gone, NoSuchTagTarget where what it was to be on is.
        """
        ...

    async def remove(self, place: TagPlace, tag_id: TagId) -> bool:
        """Whether it was set."""
        ...

    async def leave_columns(
        self, warehouse_id: WarehouseId, incarnation: Incarnation, field_ids: Collection[int]
    ) -> None:
        """Forget the tags of columns that are no more; the table's row is held by this transaction."""
