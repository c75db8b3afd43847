"""Searching a warehouse's tables and views by name, whatever the case and in spite of typos, or by id."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.ports.stores import Match
from lakeward_catalog.application.tabulars.restoring import shown_of_each
from lakeward_catalog.domain.model import WarehouseId
from lakeward_catalog.domain.names import name_key
from lakeward_servicekit.authorization.actions import Action

MOST: Final = 10
LONGEST: Final = 64


@dataclasses.dataclass(frozen=True, slots=True)
class SearchTabulars:
    """Look for a text, of which the beginning counts, or for an id."""

    warehouse_id: WarehouseId
    search: str


@dataclasses.dataclass(frozen=True, slots=True)
class TabularSearches:
    """Finds live tables and views. What the caller may not see is left out before the best are chosen."""

    doors: Doors

    async def __call__(self, command: SearchTabulars, *, caller: Caller) -> Sequence[Match]:
        """The best matches, the nearest first.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE.
        """
        doors, warehouse_id = self.doors, command.warehouse_id
        opened = await doors.listing(warehouse_id, Action.WAREHOUSE_USE, caller=caller)
        visible = await shown_of_each(doors, opened, caller=caller)
        text = command.search[:LONGEST].strip()
        if not text:
            return ()
        sought: str | UUID = name_key(text)
        with contextlib.suppress(ValueError):
            sought = UUID(text)
        return await doors.tabulars.search(warehouse_id, sought, visible=visible, limit=MOST)
