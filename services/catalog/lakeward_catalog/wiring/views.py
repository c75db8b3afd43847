"""Views."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.dropping import drop_tabular
from lakeward_catalog.application.listing import list_tabulars
from lakeward_catalog.application.renaming import rename_tabular
from lakeward_catalog.application.reports import check_tabular_exists
from lakeward_catalog.application.views.committing import ViewCommits
from lakeward_catalog.application.views.creating import create_view
from lakeward_catalog.application.views.loading import load_view
from lakeward_catalog.application.views.replacing import replace_view
from lakeward_catalog.roles import Roles
from lakeward_catalog.transport.views import ViewUseCases


def view_use_cases(roles: Roles) -> ViewUseCases:
    """Views."""
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
    return ViewUseCases(
        list=partial(
            list_tabulars,
            authorizer=roles.authorizer,
            namespaces=roles.namespaces,
            tabulars=roles.tabulars,
            rules=roles.rules,
        ),
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
        check_exists=partial(check_tabular_exists, authorizer=roles.authorizer, tabulars=roles.tabulars),
        commit=partial(
            replace_view,
            authorizer=roles.authorizer,
            tabulars=roles.tabulars,
            commits=commits,
            documents=roles.documents,
            access=roles.access,
            once=roles.once,
        ),
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
    )
