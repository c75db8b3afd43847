"""What a snapshot of vending is made of: an event for each stored credential, and nothing of what it is."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_servicekit.events.acting import NOBODY
from lakeward_servicekit.events.cloud_events import Event, cloud_event
from lakeward_vending.application.announcements import SOURCE, STREAM, Known, stream_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from lakeward_servicekit.system import SystemIds


@dataclasses.dataclass(frozen=True, slots=True)
class SnapshotTeller:
    """Tells what is in a stream at a moment.

    Attributes:
        project_id: whose it is; None: the server's.
        at: the moment.
    """

    ids: SystemIds
    project_id: str | None
    at: datetime

    def begun(self) -> Event:
        """Whose it is."""
        return self._of_stream("snapshot", "snapshotVending", {"project-id": self.project_id})

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

    def completed(self, *, sequence: int, entities: int) -> Event:
        """The end: `entities` events came before, and the last event of the log whose change is in it is `sequence`."""
        data = {"sequence": sequence, "entities": entities}
        return self._of_stream("snapshot-completed", "completeVendingSnapshot", data)

    def _of_stream(self, verb: str, type_: str, data: Mapping[str, object]) -> Event:
        attributes = {} if self.project_id is None else {"projectid": self.project_id}
        return self._event(STREAM, verb, type_, subject=self.project_id or "server", attributes=attributes, data=data)

    def _event(
        self,
        kind: str,
        verb: str,
        type_: str,
        *,
        subject: str,
        attributes: Mapping[str, str],
        data: Mapping[str, object],
    ) -> Event:
        return cloud_event(
            event_id=self.ids.uuid7(),
            at=self.at,
            source=SOURCE,
            stream=stream_of(self.project_id),
            kind=kind,
            verb=verb,
            upstream_type=type_,
            subject=subject,
            actor=NOBODY,
            trace_id="",
            attributes=attributes,
            data=data,
        )
