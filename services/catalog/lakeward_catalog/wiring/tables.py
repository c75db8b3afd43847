"""Tables' metadata."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.tables.committing import TableCommits
from lakeward_catalog.application.tables.creating import create_table
from lakeward_catalog.application.tables.loading import load_credentials, load_table
from lakeward_catalog.application.tables.registering import register_table
from lakeward_catalog.application.tables.reporting import MetricsReports
from lakeward_catalog.application.tables.transactions import commit_table, commit_transaction
from lakeward_catalog.application.tables.unstaged import UnstagedCreation
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.tables import TableUseCases


def table_use_cases(parts: Parts) -> TableUseCases:
    """What is done with tables' metadata."""
    commits = TableCommits(
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
    return TableUseCases(
        load=partial(
            load_table,
            authorizer=parts.authorizer,
            tabulars=parts.tabulars,
            documents=parts.documents,
            access=parts.access,
            scopes=parts.scopes,
            clock=parts.clock,
        ),
        load_credentials=partial(
            load_credentials, authorizer=parts.authorizer, tabulars=parts.tabulars, access=parts.access
        ),
        create=partial(
            create_table,
            once=parts.once,
            authorizer=parts.authorizer,
            namespaces=parts.namespaces,
            tabulars=parts.tabulars,
            changes=parts.changes,
            files=parts.files,
            documents=parts.documents,
            access=parts.access,
            scopes=parts.scopes,
            gate=parts.gate,
            announcer=parts.announcer,
            clock=parts.clock,
            ids=parts.ids,
            rules=parts.rules,
        ),
        register=partial(
            register_table,
            once=parts.once,
            authorizer=parts.authorizer,
            namespaces=parts.namespaces,
            tabulars=parts.tabulars,
            changes=parts.changes,
            files=parts.files,
            documents=parts.documents,
            access=parts.access,
            scopes=parts.scopes,
            gate=parts.gate,
            announcer=parts.announcer,
            clock=parts.clock,
            ids=parts.ids,
        ),
        commit=partial(
            commit_table,
            once=parts.once,
            commits=commits,
            unstaged=UnstagedCreation(
                authorizer=parts.authorizer,
                namespaces=parts.namespaces,
                tabulars=parts.tabulars,
                changes=parts.changes,
                files=parts.files,
                documents=parts.documents,
                gate=parts.gate,
                announcer=parts.announcer,
                clock=parts.clock,
                ids=parts.ids,
            ),
            authorizer=parts.authorizer,
            tabulars=parts.tabulars,
            documents=parts.documents,
            clock=parts.clock,
        ),
        commit_transaction=partial(
            commit_transaction,
            once=parts.once,
            commits=commits,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
        ),
        report_metrics=MetricsReports(doors=parts.doors),
    )
