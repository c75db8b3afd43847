"""Changes whose outcome the database did not tell."""

from __future__ import annotations

from lakeward_catalog.application.ports import Changes
from lakeward_catalog.domain.model import Tabular
from lakeward_servicekit.errors import Refusal


async def has_arrived(changes: Changes, tabular: Tabular) -> bool:
    """Whether a tabular's change, of unknown outcome, is seen to have happened.

    False is no answer: the change may yet arrive, or the database can't be asked. So the outcome stays unknown, and whoever
    asked for the change is told that, not why this look failed.
    """
    try:
        current = await changes.current_metadata(tabular.warehouse_id, tabular.incarnation)
    except Refusal:
        return False
    return current == tabular.metadata_id
