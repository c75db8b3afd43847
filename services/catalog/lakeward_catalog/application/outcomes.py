"""Changes whose outcome the database did not tell."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from typing import Final

from lakeward_catalog.application.changes import Changes
from lakeward_catalog.domain.model import MetadataId, Tabular
from lakeward_servicekit.errors import Reason, Refusal

LOOKS: Final = 6


@dataclasses.dataclass(frozen=True, slots=True)
class Outcomes:
    """Finds out what became of changes.

    Attributes:
        changes: where they were sent.
        looks: at a commit, at most.
        pause: between them, while the database is away.
    """

    changes: Changes
    looks: int = LOOKS
    pause: timedelta = timedelta(milliseconds=250)

    async def has_arrived(self, tabular: Tabular) -> bool:
        """Whether a new tabular, of unknown outcome, is seen to be there.

        False is no answer: the change may yet arrive, or the database can't be asked. So the outcome stays unknown, and whoever
        asked for the change is told that, not why this look failed.
        """
        try:
            current = await self.changes.current_metadata(tabular.warehouse_id, tabular.incarnation)
        except Refusal:
            return False
        return current == tabular.metadata_id

    async def commit_arrived(self, after: Tabular, *, before: MetadataId, unknown: Refusal) -> bool:
        """Find out whether a commit of unknown outcome moved its tabular: a look waits for whoever holds the row.

        Args:
            after: the tabular as it would be; of several that move in one transaction any one tells for all.
            before: where its pointer stood.
            unknown: why nothing is known.

        Returns:
            True where it did, False where surely nothing happened.

        Raises:
            Refusal: `unknown`, where the pointer went elsewhere, perhaps by way of ours, or the database stays away.
        """
        for look in range(self.looks):
            if look:
                await asyncio.sleep(self.pause.total_seconds())
            try:
                current = await self.changes.current_metadata(after.warehouse_id, after.incarnation)
            except Refusal:
                continue
            if current in {after.metadata_id, before}:
                return current == after.metadata_id
            break
        raise unknown


def never_happened() -> Refusal:
    """A commit that was cut off and is known to have done nothing."""
    return Refusal(
        Reason.REASON_DATABASE_UNAVAILABLE,
        "the database went away before the commit, which did not happen; retry",
    )
