"""`python -m bench.events.untold serve`: `lakeward serve` whose catalog makes no event of a change and writes none.

Only what the outbox costs is measured against it. What the audit says of the change is written as ever, in the statement that
would write the event, too. The product has no such switch: three names are replaced here, in a process of its own, as
`tests.support.failpoint` replaces what it fails.
"""

from __future__ import annotations

from typing import Any, Final

from bench.watched import main
from lakeward_catalog.adapters.postgres import ledger
from lakeward_catalog.application import announcements
from lakeward_servicekit.events.cloud_events import About, Event

_WRITES_NOTHING: Final = "select {0}::uuid, {1}::text, {2}::text, {3}::text, {4}::bytea"
_WRITE_NOTHING: Final = "select {0}::uuid[], {1}::text[], {2}::text[], {3}::text[], {4}::bytea[]"


def _for_the_audit(**said: Any) -> Event:  # noqa: ANN401 - what `cloud_event` is told
    """In place of `cloud_event`: what the audit keeps of a change, and no body."""
    about = About(*(said[each] for each in ("upstream_type", "subject", "at", "actor", "trace_id", "attributes")))
    return Event(said["event_id"], said["stream"], said["kind"], said["verb"], b"", about)


if __name__ == "__main__":
    announcements.cloud_event = _for_the_audit  # type: ignore[attr-defined]
    ledger.TELL_ONE, ledger.TELL_SOME = _WRITES_NOTHING, _WRITE_NOTHING  # type: ignore[misc,attr-defined]
    main()
