"""Tables' metadata."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.tables.committing import TableCommits
from lakeward_catalog.application.tables.creating import create_table
from lakeward_catalog.application.tables.loading import load_credentials, load_table
from lakeward_catalog.application.tables.registering import register_table
from lakeward_catalog.application.tables.transactions import commit_table, commit_transaction
from lakeward_catalog.application.tables.unstaged import UnstagedCreation
from lakeward_catalog.roles import Roles
from lakeward_catalog.transport.tables import TableUseCases


def table_use_cases(roles: Roles) -> TableUseCases:
    """What is done with tables' metadata."""
    commits = TableCommits(
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
    return TableUseCases(
        load=partial(
            load_table,
            authorizer=roles.authorizer,
            tabulars=roles.tabulars,
            documents=roles.documents,
            access=roles.access,
            scopes=roles.scopes,
            clock=roles.clock,
        ),
        load_credentials=partial(
            load_credentials, authorizer=roles.authorizer, tabulars=roles.tabulars, access=roles.access
        ),
        create=partial(
            create_table,
            once=roles.once,
            authorizer=roles.authorizer,
            namespaces=roles.namespaces,
            tabulars=roles.tabulars,
            changes=roles.changes,
            files=roles.files,
            documents=roles.documents,
            access=roles.access,
            scopes=roles.scopes,
            gate=roles.gate,
            announcer=roles.announcer,
            clock=roles.clock,
            ids=roles.ids,
            rules=roles.rules,
        ),
        register=partial(
            register_table,
            once=roles.once,
            authorizer=roles.authorizer,
            namespaces=roles.namespaces,
            tabulars=roles.tabulars,
            changes=roles.changes,
            files=roles.files,
            documents=roles.documents,
            access=roles.access,
            scopes=roles.scopes,
            gate=roles.gate,
            announcer=roles.announcer,
            clock=roles.clock,
            ids=roles.ids,
        ),
        commit=partial(
            commit_table,
            once=roles.once,
            commits=commits,
            unstaged=UnstagedCreation(
                authorizer=roles.authorizer,
                namespaces=roles.namespaces,
                tabulars=roles.tabulars,
                changes=roles.changes,
                files=roles.files,
                documents=roles.documents,
                gate=roles.gate,
                announcer=roles.announcer,
                clock=roles.clock,
                ids=roles.ids,
            ),
            authorizer=roles.authorizer,
            tabulars=roles.tabulars,
            documents=roles.documents,
            clock=roles.clock,
        ),
        commit_transaction=partial(
            commit_transaction,
            once=roles.once,
            commits=commits,
            authorizer=roles.authorizer,
            warehouses=roles.warehouses,
        ),
    )
