"""Taking engines' reports about tables."""

from __future__ import annotations

import dataclasses
import logging
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.domain.iceberg.documents import Invalid, read
from lakeward_catalog.domain.model import Kind, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal

_log = logging.getLogger(__name__)
_MAX_LOGGED: Final = 16 * 1024


@dataclasses.dataclass(frozen=True, slots=True)
class ReportMetrics:
    """Take an engine's report on a scan or a commit."""

    warehouse_id: WarehouseId
    ident: TabularIdent
    report: Payload


@dataclasses.dataclass(frozen=True, slots=True)
class MetricsReports:
    """Logs engines' reports; they are kept nowhere else."""

    doors: Doors

    async def __call__(self, command: ReportMetrics, *, caller: Caller) -> None:
        """Log one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE, FORBIDDEN, MALFORMED_DOCUMENT.
        """
        opened = await self.doors.tabular(
            command.warehouse_id, command.ident, Kind.TABLE, Action.TABLE_GET_METADATA, caller=caller
        )
        try:
            document = await command.report.read(read)
        except Invalid as finding:
            raise _malformed("", finding.message) from None
        if not isinstance(document, dict):
            raise _malformed("", "it is not an object")
        kind = document.get("report-type")
        if not isinstance(kind, str):
            raise _malformed("report-type", "it is not a text")
        _log.info(
            "an engine reported metrics",
            extra={
                "warehouse_id": str(command.warehouse_id),
                "table": str(opened.tabular.ident),
                "report_type": kind[:100],
                "report": command.report.raw[:_MAX_LOGGED].decode(errors="replace"),
            },
        )


def _malformed(path: str, fault: str) -> Refusal:
    where = f"{path} of the report" if path else "the report"
    return Refusal(Reason.REASON_MALFORMED_DOCUMENT, f"{where} can't be read: {fault}"[:500], path=path)
