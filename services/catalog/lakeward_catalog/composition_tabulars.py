"""The use cases of tables and views, built from the catalog's parts."""

from __future__ import annotations

from lakeward_catalog.application.tables.committing import TableCommits, TableTransactions
from lakeward_catalog.application.tables.giving import AccessGiving
from lakeward_catalog.application.tables.kind import Tables
from lakeward_catalog.application.tables.loading import CredentialLoads, TableLoads
from lakeward_catalog.application.tables.registering import TableRegistrations
from lakeward_catalog.application.tables.reporting import MetricsReports
from lakeward_catalog.application.tables.signing import StorageSignings
from lakeward_catalog.application.tables.unstaged import UnstagedCreations
from lakeward_catalog.application.tabulars.committing import Commits
from lakeward_catalog.application.tabulars.creating import TabularCreations
from lakeward_catalog.application.tabulars.dropping import TabularDrops
from lakeward_catalog.application.tabulars.kinds import M, TabularKind
from lakeward_catalog.application.tabulars.listing import TabularListings
from lakeward_catalog.application.tabulars.looking import TabularLooks
from lakeward_catalog.application.tabulars.making import Making
from lakeward_catalog.application.tabulars.means import Means
from lakeward_catalog.application.tabulars.queueing import Queues
from lakeward_catalog.application.tabulars.reading import TabularReads
from lakeward_catalog.application.tabulars.renaming import TabularRenames
from lakeward_catalog.application.views.committing import ViewCommits
from lakeward_catalog.application.views.kind import Views
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.tables import TableUseCases
from lakeward_catalog.transport.tabulars import LifeCycle
from lakeward_catalog.transport.views import ViewUseCases


def life_cycle(parts: Parts) -> LifeCycle:
    """What is done with tables and views alike."""
    return LifeCycle(
        list=TabularListings(doors=parts.doors, rules=parts.rules),
        look=TabularLooks(doors=parts.doors),
        drop=TabularDrops(
            doors=parts.doors,
            documents=parts.documents,
            changes=parts.changes,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
            rules=parts.rules,
        ),
        rename=TabularRenames(
            doors=parts.doors,
            changes=parts.changes,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
        ),
    )


def table_use_cases(parts: Parts) -> TableUseCases:
    """What is done with tables."""
    doors, once = parts.doors, parts.once
    giving = AccessGiving(access=parts.access, scopes=parts.scopes)
    tables = Tables(doors=doors, documents=parts.documents, give_access=giving, clock=parts.clock)
    reads, making, commits = TabularReads(doors=doors, kind=tables), _making(parts, tables), _commits(parts, tables)
    return TableUseCases(
        load=TableLoads(tables=tables),
        load_credentials=CredentialLoads(doors=doors, access=parts.access),
        create=TabularCreations(doors=doors, once=once, making=making, reads=reads),
        register=TableRegistrations(doors=doors, once=once, making=making, reads=reads),
        commit=TableCommits(
            doors=doors, once=once, commits=commits, unstaged=UnstagedCreations(doors=doors, making=making)
        ),
        commit_transaction=TableTransactions(doors=doors, once=once, commits=commits),
        report_metrics=MetricsReports(doors=doors),
    )


def view_use_cases(parts: Parts) -> ViewUseCases:
    """What is done with views."""
    doors, once = parts.doors, parts.once
    views = Views(doors=doors, documents=parts.documents, access=parts.access)
    reads = TabularReads(doors=doors, kind=views)
    return ViewUseCases(
        load=reads,
        create=TabularCreations(doors=doors, once=once, making=_making(parts, views), reads=reads),
        commit=ViewCommits(once=once, commits=_commits(parts, views), reads=reads),
    )


def signing(parts: Parts) -> StorageSignings:
    """What signs storage requests."""
    return StorageSignings(doors=parts.doors, access=parts.access, scopes=parts.scopes)


def _making(parts: Parts, kind: TabularKind[M]) -> Making[M]:
    return Making(kind=kind, tabulars=parts.doors.tabulars, means=_means(parts), staged_for=parts.rules.staged_for)


def _commits(parts: Parts, kind: TabularKind[M]) -> Commits[M]:
    return Commits(kind=kind, queues=Queues(), means=_means(parts))


def _means(parts: Parts) -> Means:
    return Means(
        files=parts.files,
        changes=parts.changes,
        outcomes=parts.outcomes,
        gate=parts.gate,
        announcer=parts.announcer,
        clock=parts.clock,
        ids=parts.ids,
        shield=parts.shield,
    )
