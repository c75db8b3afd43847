"""What each service's snapshot of a stream of its own begins and ends with."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from lakeward_servicekit.events.acting import NOBODY
from lakeward_servicekit.events.cloud_events import Event, cloud_event
from lakeward_servicekit.events.streams import of_service
from lakeward_servicekit.system import Ids

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclasses.dataclass(frozen=True, slots=True)
class OwnSnapshot:
    """Tells what is in a stream at a moment; a service adds what is in its own.

    Attributes:
        service: as its streams are called.
        project_id: whose it is; None: the server's.
        at: the moment.
    """

    service: ClassVar[str]

    ids: Ids
    project_id: str | None
    at: datetime

    def begun(self) -> Event:
        """Whose it is."""
        return self._of_stream("snapshot", f"snapshot{self.service.capitalize()}", {"project-id": self.project_id})

    def completed(self, *, sequence: int, entities: int) -> Event:
        """The end: `entities` events came before, and the last event of the log whose change is in it is `sequence`."""
        data = {"sequence": sequence, "entities": entities}
        return self._of_stream("snapshot-completed", f"complete{self.service.capitalize()}Snapshot", data)

    def _of_stream(self, verb: str, type_: str, data: Mapping[str, object]) -> Event:
        subject, attributes = (
            ("server", {}) if self.project_id is None else (self.project_id, {"projectid": self.project_id})
        )
        return self._event(self.service, verb, type_, subject=subject, attributes=attributes, data=data)

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
            source=f"urn:lakeward:{self.service}",
            stream=of_service(self.project_id, kind=self.service),
            kind=kind,
            verb=verb,
            upstream_type=type_,
            subject=subject,
            actor=NOBODY,
            trace_id="",
            attributes=attributes,
            data=data,
        )
