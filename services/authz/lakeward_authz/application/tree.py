"""The tree of objects, by the catalog's word."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from lakeward_authz.application.permissions import TreeChange, TreeStore
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where objects are: a warehouse, or what a project holds beside its warehouses, whose id is NIL then."""

    project_id: str
    warehouse_id: UUID = NIL


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """Where an object is.

    Attributes:
        parent_id: the namespace that holds it; None at the top level and above.
        inactive: a warehouse that serves nobody now.
    """

    key: ObjectKey
    parent_id: UUID | None
    inactive: bool = False


class TreeListing(Protocol):
    """What there is in the tree. Both methods raise Refusal DATABASE_UNAVAILABLE."""

    async def places(self, *, after: Place | None, limit: int) -> Sequence[Place]:
        """Where there is anything, by project and warehouse, behind a place; at most `limit`. The server is nowhere."""
        ...

    async def objects(
        self, place: Place, *, after: ObjectKey | None, limit: int, ids: Sequence[UUID] = ()
    ) -> Sequence[Standing]:
        """What is in a place, by type and id, behind an object; at most `limit`, and where there are `ids` only those."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class TreeChanges:
    """Changes of one stream.

    Attributes:
        changes: with their sequences, which ascend.
    """

    stream: str
    changes: Sequence[tuple[int, TreeChange]]


@dataclasses.dataclass(frozen=True, slots=True)
class ApplyTreeChanges:
    """Follows what the catalog did."""

    tree: TreeStore

    async def __call__(self, command: TreeChanges) -> int:
        """The sequence of the stream's last change that was applied, now or before.

        Raises:
            Refusal: as `TreeStore.apply`.
        """
        return await self.tree.apply(command.stream, command.changes)
