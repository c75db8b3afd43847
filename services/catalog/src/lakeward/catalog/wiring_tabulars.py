"""Use cases of views, and of tables' names and ends, with their roles filled."""

from __future__ import annotations

from functools import partial

from lakeward.catalog.application.dropping import drop_tabular
from lakeward.catalog.application.listing import list_tabulars
from lakeward.catalog.application.renaming import rename_tabular
from lakeward.catalog.application.reports import check_tabular_exists, report_metrics
from lakeward.catalog.application.views.committing import ViewCommits
from lakeward.catalog.application.views.creating import create_view
from lakeward.catalog.application.views.loading import load_view
from lakeward.catalog.application.views.replacing import replace_view
from lakeward.catalog.roles import Roles
from lakeward.catalog.transport.table_lifecycle import TableLifecycleUseCases
from lakeward.catalog.transport.views import ViewServicer, ViewUseCases


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
            changes=roles.changes,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
        ),
        rename=partial(
            rename_tabular,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
            namespaces=roles.namespaces,
            tabulars=roles.tabulars,
            changes=roles.changes,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
        ),
        report_metrics=partial(report_metrics, authorizer=roles.authorizer, tabulars=roles.tabulars),
    )


def view_servicer(roles: Roles) -> ViewServicer:
    """Iceberg views."""
    lifecycle = table_lifecycle_use_cases(roles)  # a name is a name, whatever has it
    commits = ViewCommits(
        authorizer=roles.authorizer,
        tabulars=roles.tabulars,
        changes=roles.changes,
        files=roles.files,
        documents=roles.documents,
        gate=roles.gate,
        announcer=roles.announcer,
        clock=roles.clock,
        ids=roles.ids,
    )
    use_cases = ViewUseCases(
        list=lifecycle.list,
        check_exists=lifecycle.check_exists,
        drop=lifecycle.drop,
        rename=lifecycle.rename,
        create=partial(
            create_view,
            authorizer=roles.authorizer,
            namespaces=roles.namespaces,
            tabulars=roles.tabulars,
            changes=roles.changes,
            files=roles.files,
            documents=roles.documents,
            access=roles.access,
            gate=roles.gate,
            once=roles.once,
            announcer=roles.announcer,
            clock=roles.clock,
            ids=roles.ids,
        ),
        load=partial(
            load_view,
            authorizer=roles.authorizer,
            tabulars=roles.tabulars,
            documents=roles.documents,
            access=roles.access,
        ),
        commit=partial(
            replace_view,
            authorizer=roles.authorizer,
            tabulars=roles.tabulars,
            commits=commits,
            documents=roles.documents,
            access=roles.access,
            once=roles.once,
        ),
    )
    return ViewServicer(roles.identity, use_cases)
