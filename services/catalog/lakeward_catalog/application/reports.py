"""Looking whether a table or view is there, and taking engines' reports about tables."""

from __future__ import annotations

import logging
from typing import Final

from lakeward_catalog.application.access import open_tabular
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.ports import TabularStore
from lakeward_catalog.domain.iceberg.documents import Invalid, read
from lakeward_catalog.domain.model import Kind, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.errors import Reason, Refusal

_log = logging.getLogger(__name__)
_SEE: Final = {Kind.TABLE: Action.TABLE_GET_METADATA, Kind.VIEW: Action.VIEW_GET_METADATA}
_MAX_LOGGED: Final = 16 * 1024


async def check_tabular_exists(
    warehouse_id: WarehouseId,
    ident: TabularIdent,
    kind: Kind,
    *,
    caller: Caller,
    authorizer: Authorizer,
    tabulars: TabularStore,
) -> None:
    """Whether it is there.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN.
    """
    await open_tabular(warehouse_id, ident, kind, _SEE[kind], caller=caller, authorizer=authorizer, tabulars=tabulars)


async def report_metrics(
    warehouse_id: WarehouseId,
    ident: TabularIdent,
    report: Payload,
    *,
    caller: Caller,
    authorizer: Authorizer,
    tabulars: TabularStore,
) -> None:
    """Log an engine's report on a scan or a commit; it is kept nowhere else.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE, FORBIDDEN, MALFORMED_DOCUMENT.
    """
    opened = await open_tabular(
        warehouse_id,
        ident,
        Kind.TABLE,
        Action.TABLE_GET_METADATA,
        caller=caller,
        authorizer=authorizer,
        tabulars=tabulars,
    )
    try:
        document = await report.read(read)
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
            "warehouse_id": str(warehouse_id),
            "table": str(opened.tabular.ident),
            "report_type": kind[:100],
            "report": report.raw[:_MAX_LOGGED].decode(errors="replace"),
        },
    )


def _malformed(path: str, fault: str) -> Refusal:
    where = f"{path} of the report" if path else "the report"
    return Refusal(Reason.REASON_MALFORMED_DOCUMENT, f"{where} can't be read: {fault}"[:500], path=path)
