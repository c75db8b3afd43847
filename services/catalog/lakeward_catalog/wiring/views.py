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
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.views import ViewUseCases


def view_use_cases(parts: Parts) -> ViewUseCases:
    """Views."""
    commits = ViewCommits(
        authorizer=parts.authorizer,
        tabulars=parts.tabulars,
        changes=parts.changes,
        files=parts.files,
        documents=parts.documents,
        gate=parts.gate,
        announcer=parts.announcer,
        clock=parts.clock,
        ids=parts.ids,
    )
    return ViewUseCases(
        list=partial(
            list_tabulars,
            authorizer=parts.authorizer,
            namespaces=parts.namespaces,
            tabulars=parts.tabulars,
            rules=parts.rules,
        ),
        create=partial(
            create_view,
            authorizer=parts.authorizer,
            namespaces=parts.namespaces,
            tabulars=parts.tabulars,
            changes=parts.changes,
            files=parts.files,
            documents=parts.documents,
            access=parts.access,
            gate=parts.gate,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
            ids=parts.ids,
        ),
        load=partial(
            load_view,
            authorizer=parts.authorizer,
            tabulars=parts.tabulars,
            documents=parts.documents,
            access=parts.access,
        ),
        check_exists=partial(check_tabular_exists, authorizer=parts.authorizer, tabulars=parts.tabulars),
        commit=partial(
            replace_view,
            authorizer=parts.authorizer,
            tabulars=parts.tabulars,
            commits=commits,
            documents=parts.documents,
            access=parts.access,
            once=parts.once,
        ),
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
    )
