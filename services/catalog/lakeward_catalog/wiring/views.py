"""Views."""

from __future__ import annotations

from functools import partial

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
        commit=partial(
            replace_view,
            authorizer=parts.authorizer,
            tabulars=parts.tabulars,
            commits=commits,
            documents=parts.documents,
            access=parts.access,
            once=parts.once,
        ),
    )
