"""What a snapshot of a warehouse is made of: an event for each thing that is there."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Final

from lakeward_catalog.application.announcements import (
    Announcer,
    NamespaceChange,
    Occasion,
    TabularChange,
    TagChange,
    WarehouseChange,
)
from lakeward_catalog.domain.model import Namespace, State, Tabular, Warehouse
from lakeward_catalog.domain.tags import TagDefinition, TaggedObject
from lakeward_servicekit.events.acting import NOBODY
from lakeward_servicekit.events.cloud_events import Event

SNAPSHOT_STATES: Final = frozenset({State.LIVE, State.DROPPED})
"""Of tabulars; what waits for its first commit is seen by nobody."""


@dataclasses.dataclass(frozen=True, slots=True)
class SnapshotTeller:
    """Tells what is in a warehouse at a moment.

    Attributes:
        warehouse: as it is then.
        at: the moment.
    """

    announcer: Announcer
    warehouse: Warehouse
    at: datetime

    def of_warehouse(self) -> Event:
        """The warehouse itself."""
        return self.announcer.warehouse(WarehouseChange.SNAPSHOT, self.warehouse, self._when)

    def of_namespace(self, namespace: Namespace) -> Event:
        """A namespace in it."""
        return self.announcer.namespace(NamespaceChange.SNAPSHOT, namespace, self._when, warehouse=self.warehouse)

    def of_tabular(self, tabular: Tabular) -> Event:
        """A tabular in it, of `SNAPSHOT_STATES`."""
        return self.announcer.tabular(
            TabularChange.SNAPSHOT,
            tabular,
            self._when,
            warehouse=self.warehouse,
            data={"dropped": tabular.state is State.DROPPED},
        )

    def of_tag(self, definition: TagDefinition, target: TaggedObject, value: str | None) -> Event:
        """A tag on something in it."""
        return self.announcer.tag(
            TagChange.SNAPSHOT, definition, target, self._when, warehouse=self.warehouse, data={"value": value}
        )

    def completed(self, *, sequence: int, entities: int) -> Event:
        """The end: `entities` events came before, and the last event of the log whose change is in it is `sequence`."""
        return self.announcer.warehouse(
            WarehouseChange.SNAPSHOT_COMPLETED,
            self.warehouse,
            self._when,
            data={"sequence": sequence, "entities": entities},
        )

    @property
    def _when(self) -> Occasion:
        return Occasion(self.at, NOBODY, "")
