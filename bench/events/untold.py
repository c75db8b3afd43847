"""`python -m bench.events.untold serve`: `lakeward serve` whose catalog makes no event of a change and writes none.

Only what the outbox costs is measured against it. The product has no such switch: the two names are replaced here, in a process
of its own, as `tests.support.failpoint` replaces what it fails.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from bench.watched import main
from lakeward_catalog.adapters.postgres.ledger import PostgresLedger
from lakeward_catalog.application import announcements
from lakeward_servicekit.events.cloud_events import Event

_NOTHING: Final = Event(UUID(int=0), "", "", "", b"")


def _no_event(**_said: object) -> Event:
    return _NOTHING


def _tell_nobody(self: PostgresLedger, *events: Event) -> None:
    """In place of `PostgresLedger.emit`."""


if __name__ == "__main__":
    announcements.cloud_event = _no_event  # type: ignore[attr-defined]
    PostgresLedger.emit = _tell_nobody  # type: ignore[method-assign]
    main()
