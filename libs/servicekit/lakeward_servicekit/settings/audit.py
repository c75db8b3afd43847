"""What is recorded of who did or tried what."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.model import Contradiction, Settings, setting

_DECIDERS: Final = frozenset({Service.CATALOG, Service.AUTHZ, Service.VENDING})
_SHORTEST: Final = timedelta(days=1)


class AuditSettings(Settings, read_by=_DECIDERS):
    """The audit: its log lines and its table."""

    log_lines: bool = setting(
        "AUDIT__TRACING__ENABLED",
        kinds.BOOLEAN,
        "true",
        "Whether changes and refused requests are logged, by the logger lakeward.audit, whatever the level of the log is.",
    )
    records: str = setting(
        "AUDIT__RECORDS",
        kinds.word("off", "changes", "all"),
        "changes",
        "What is recorded: changes and refused requests, all requests, or nothing. What is logged follows it.",
        family=Family.OURS,
    )
    retention: timedelta = setting(
        "AUDIT__RETENTION",
        kinds.DURATION,
        "P90D",
        "How long records are kept in the table; at least a day.",
        family=Family.OURS,
    )

    def __post_init__(self) -> None:
        if self.retention < _SHORTEST:
            raise Contradiction(("AUDIT__RETENTION", f"is {self.retention}; it must be at least a day"))
