"""The events of warehouses as an Iceberg table of Lakeward's own, each of them in it once.

rows      an event as a row
source    a warehouse's log, read from a number
table     the table: how far it holds, and how more is added
landing   what goes on: from the log into the table, batch by batch

`python -m lakeward_pipelines.audit sales --table ops.trail` is what docs/event-consumers.md shows.

Why the table says how far it is, and nothing beside it: a batch's rows and the number up to which the table holds are one
commit of Iceberg's, so a crash leaves both or neither (docs/adr/0052).
"""

from __future__ import annotations

from lakeward_pipelines.audit.landing import Bounds, Landing
from lakeward_pipelines.audit.source import EventsMissing, Log
from lakeward_pipelines.audit.table import MARK, AuditTable, Standing, TableUnfit, WrittenMeanwhile

__all__ = [
    "MARK",
    "AuditTable",
    "Bounds",
    "EventsMissing",
    "Landing",
    "Log",
    "Standing",
    "TableUnfit",
    "WrittenMeanwhile",
]
