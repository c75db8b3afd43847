"""Which tables there are, and the ends of their lives."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.dropping import drop_tabular
from lakeward_catalog.application.listing import list_tabulars
from lakeward_catalog.application.renaming import rename_tabular
from lakeward_catalog.application.reports import check_tabular_exists, report_metrics
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.table_lifecycle import TableLifecycleUseCases


def table_lifecycle_use_cases(parts: Parts) -> TableLifecycleUseCases:
    """Which tables there are, and the ends of their lives."""
    return TableLifecycleUseCases(
        list=partial(
            list_tabulars,
            authorizer=parts.authorizer,
            namespaces=parts.namespaces,
            tabulars=parts.tabulars,
            rules=parts.rules,
        ),
        check_exists=partial(check_tabular_exists, authorizer=parts.authorizer, tabulars=parts.tabulars),
        drop=partial(
            drop_tabular,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            tabulars=parts.tabulars,
            documents=parts.documents,
            changes=parts.changes,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
            rules=parts.rules,
        ),
        rename=partial(
            rename_tabular,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            tabulars=parts.tabulars,
            changes=parts.changes,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
        ),
        report_metrics=partial(report_metrics, authorizer=parts.authorizer, tabulars=parts.tabulars),
    )
