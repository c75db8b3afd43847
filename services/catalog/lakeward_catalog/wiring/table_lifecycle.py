"""Which tables there are, and the ends of their lives."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.dropping import drop_tabular
from lakeward_catalog.application.listing import list_tabulars
from lakeward_catalog.application.renaming import rename_tabular
from lakeward_catalog.application.reports import check_tabular_exists, report_metrics
from lakeward_catalog.roles import Roles
from lakeward_catalog.transport.table_lifecycle import TableLifecycleUseCases


def table_lifecycle_use_cases(roles: Roles) -> TableLifecycleUseCases:
    """Which tables there are, and the ends of their lives."""
    return TableLifecycleUseCases(
        list=partial(
            list_tabulars,
            authorizer=roles.authorizer,
            namespaces=roles.namespaces,
            tabulars=roles.tabulars,
            rules=roles.rules,
        ),
        check_exists=partial(check_tabular_exists, authorizer=roles.authorizer, tabulars=roles.tabulars),
        drop=partial(
            drop_tabular,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            tabulars=roles.tabulars,
            documents=roles.documents,
            changes=roles.changes,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
            rules=roles.rules,
        ),
        rename=partial(
            rename_tabular,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            tabulars=roles.tabulars,
            changes=roles.changes,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
        ),
        report_metrics=partial(report_metrics, authorizer=roles.authorizer, tabulars=roles.tabulars),
    )
