"""The tree of objects, by the catalog's word."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from lakeward_authz.application.permissions import TreeChange, TreeStore


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
