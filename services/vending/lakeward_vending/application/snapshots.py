"""What a snapshot of vending is made of: an event for each stored credential, and nothing of what it is."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from lakeward_servicekit.events.own_snapshots import OwnSnapshot
from lakeward_vending.application.announcements import STREAM, Known

if TYPE_CHECKING:
    from lakeward_servicekit.events.cloud_events import Event


@dataclasses.dataclass(frozen=True, slots=True)
class SnapshotTeller(OwnSnapshot):
    """Tells what is in a stream of vending's at a moment."""

    service: ClassVar[str] = STREAM

    def of_credential(self, known: Known, *, kept: bool) -> Event:
        """A credential; `kept` by a warehouse that refers to it."""
        data = {"credential": known.document, "kept": kept}
        return self._event(
            "credential",
            "snapshot",
            "snapshotCredential",
            subject=str(known.secret_id),
            attributes=known.attributes,
            data=data,
        )
