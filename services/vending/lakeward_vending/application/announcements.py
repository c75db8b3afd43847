"""The events of stored credentials: which there are and what becomes of them, and nothing of what they are.

Each is in the stream of its project; in the server's, where that is not known. Payloads are messages of `lakeward.events.v1`.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.events.acting import actor
from lakeward_servicekit.events.cloud_events import Event, cloud_event
from lakeward_servicekit.events.streams import of_service
from lakeward_servicekit.telemetry.correlation import current

if TYPE_CHECKING:
    from uuid import UUID

    from lakeward_servicekit.system import SystemClock, SystemIds

STREAM: Final = "vending"
"""The server's; how those of projects begin."""
SOURCE: Final = "urn:lakeward:vending"


class CredentialChange(enum.Enum):
    """What happens to a credential: (verb, type)."""

    STORED = ("stored", "storeCredential")
    KEPT = ("kept", "keepCredential")
    FORGOTTEN = ("forgotten", "forgetCredential")
    REENCRYPTED = ("reencrypted", "reencryptCredential")
    MOVED = ("moved", "moveCredential")


@dataclasses.dataclass(frozen=True, slots=True)
class Known:
    """What is known of a credential that changes; None: that was not looked at.

    Attributes:
        warehouse_id: that it is of, or was stored for.
        project_id: for which it was stored.
        store: where it lies.
        key_id: the name of the key that it is encrypted with.
    """

    secret_id: UUID
    kind: str | None = None
    warehouse_id: UUID | None = None
    store: str | None = None
    key_id: str | None = None
    project_id: str | None = None

    @property
    def document(self) -> dict[str, object]:
        """As events say it."""
        return {
            "id": str(self.secret_id),
            "kind": self.kind,
            "warehouse-id": None if self.warehouse_id is None else str(self.warehouse_id),
            "store": self.store,
            "key-id": self.key_id,
        }

    @property
    def attributes(self) -> dict[str, str]:
        """What events of it are told by."""
        where = {"projectid": self.project_id, "warehouseid": self.warehouse_id}
        said = {name: str(value) for name, value in where.items() if value is not None}
        return {"credentialid": str(self.secret_id), **said}


@dataclasses.dataclass(frozen=True, slots=True)
class Announcer:
    """Makes events."""

    clock: SystemClock
    ids: SystemIds

    def credential(self, change: CredentialChange, known: Known, *, unused: bool | None = None) -> Event:
        """A credential changed; `unused` where it is gone."""
        verb, type_ = change.value
        correlation = current()
        return cloud_event(
            event_id=self.ids.uuid7(),
            at=self.clock.now(),
            source=SOURCE,
            stream=of_service(known.project_id, kind=STREAM),
            kind="credential",
            verb=verb,
            upstream_type=type_,
            subject=str(known.secret_id),
            actor=actor(),
            trace_id="background" if correlation is None else correlation.request_id,
            traceparent="" if correlation is None else correlation.traceparent,
            attributes=known.attributes,
            data={"credential": known.document, **({} if unused is None else {"unused": unused})},
        )
