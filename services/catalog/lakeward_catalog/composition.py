"""The catalog's services, built from its parts: which use case needs what is said here and nowhere else."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.calls import CallStatistics
from lakeward_catalog.application.cascading.queueing import TreeDrops
from lakeward_catalog.application.config import ClientConfigs
from lakeward_catalog.application.contracts.setting import ContractSettings
from lakeward_catalog.application.generic_tables.kind import GenericTables
from lakeward_catalog.application.generic_tables.loading import GenericCredentialLoads
from lakeward_catalog.application.generic_tables.updating import GenericTableUpdates
from lakeward_catalog.application.generic_tables.versions import VersionClaims, VersionReads, VersionRemovals
from lakeward_catalog.application.history import EventReadings
from lakeward_catalog.application.namespaces.creating import NamespaceCreations
from lakeward_catalog.application.namespaces.dropping import NamespaceDrops
from lakeward_catalog.application.namespaces.listing import NamespaceListings
from lakeward_catalog.application.namespaces.moving import NamespaceMoves
from lakeward_catalog.application.namespaces.properties import PropertiesUpdates
from lakeward_catalog.application.namespaces.protecting import NamespaceProtections
from lakeward_catalog.application.naming import NameLookups
from lakeward_catalog.application.projects import ProjectCreations, ProjectDeletions, ProjectListings, ProjectRenames
from lakeward_catalog.application.server import Facts, ServerBootstrap
from lakeward_catalog.application.tables.committing import TableCommits, TableTransactions
from lakeward_catalog.application.tables.giving import AccessGiving
from lakeward_catalog.application.tables.kind import Tables
from lakeward_catalog.application.tables.loading import CredentialLoads, TableLoads
from lakeward_catalog.application.tables.registering import TableRegistrations
from lakeward_catalog.application.tables.reporting import MetricsReports
from lakeward_catalog.application.tables.signing import StorageSignings
from lakeward_catalog.application.tables.unstaged import UnstagedCreations
from lakeward_catalog.application.tabulars.chains import ViewChains
from lakeward_catalog.application.tabulars.committing import Commits
from lakeward_catalog.application.tabulars.creating import TabularCreations
from lakeward_catalog.application.tabulars.dropping import TabularDrops
from lakeward_catalog.application.tabulars.listing import TabularListings
from lakeward_catalog.application.tabulars.making import Making
from lakeward_catalog.application.tabulars.means import Means
from lakeward_catalog.application.tabulars.protecting import TabularProtections
from lakeward_catalog.application.tabulars.queueing import Queues
from lakeward_catalog.application.tabulars.reading import TabularReads
from lakeward_catalog.application.tabulars.renaming import TabularRenames
from lakeward_catalog.application.tabulars.restoring import DeletedListings, TabularUndrops
from lakeward_catalog.application.tabulars.searching import TabularSearches
from lakeward_catalog.application.tags.attaching import TagAttachments
from lakeward_catalog.application.tags.defining import (
    TagDefinitionCreations,
    TagDefinitionDeletions,
    TagDefinitionListings,
    TagDefinitionUpdates,
)
from lakeward_catalog.application.tags.doors import TagDoors
from lakeward_catalog.application.tags.listing import TagAttachmentListings, TagListings
from lakeward_catalog.application.tasks.controlling import TaskControls
from lakeward_catalog.application.tasks.reading import TaskListings, TaskViews
from lakeward_catalog.application.tasks.setting import QueueSchedules, QueueSettings, TaskSchedulings
from lakeward_catalog.application.views.committing import ViewCommits
from lakeward_catalog.application.views.kind import Views
from lakeward_catalog.application.warehouses.changing import (
    DropRetentions,
    FormatVersionPolicies,
    WarehouseDeletions,
    WarehouseEdits,
    WarehouseManagers,
    WarehouseProtections,
    WarehouseRenames,
    WarehouseSwitches,
)
from lakeward_catalog.application.warehouses.counting import WarehouseStatistics
from lakeward_catalog.application.warehouses.creating import WarehouseCreations
from lakeward_catalog.application.warehouses.listing import WarehouseListings
from lakeward_catalog.application.warehouses.places import Places
from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.application.warehouses.storage import StorageReplacements
from lakeward_catalog.application.warehouses.validating import WarehouseChecks
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.cascades import CascadeServicer
from lakeward_catalog.transport.contracts import ContractServicer
from lakeward_catalog.transport.events import EventServicer
from lakeward_catalog.transport.generic_table_versions import GenericTableVersionServicer
from lakeward_catalog.transport.generic_tables import GenericTableServicer
from lakeward_catalog.transport.names import NameServicer
from lakeward_catalog.transport.namespaces import NamespaceServicer
from lakeward_catalog.transport.project_tasks import ProjectTaskServicer
from lakeward_catalog.transport.server import ServerServicer
from lakeward_catalog.transport.signing import SigningServicer
from lakeward_catalog.transport.statistics import StatisticsServicer
from lakeward_catalog.transport.tables import TableServicer
from lakeward_catalog.transport.tabular_service import TabularServicer
from lakeward_catalog.transport.tabulars import TabularMethods
from lakeward_catalog.transport.tags import TagServicer
from lakeward_catalog.transport.tasks import TaskServicer
from lakeward_catalog.transport.views import ViewServicer
from lakeward_catalog.transport.warehouses import WarehouseServicer
from lakeward_protocol.catalog.v1 import (
    cascades_pb2_grpc,
    contracts_pb2_grpc,
    events_pb2_grpc,
    generic_table_versions_pb2_grpc,
    generic_tables_pb2_grpc,
    names_pb2_grpc,
    namespaces_pb2_grpc,
    project_tasks_pb2_grpc,
    server_pb2_grpc,
    signing_pb2_grpc,
    statistics_pb2_grpc,
    tables_pb2_grpc,
    tabulars_pb2_grpc,
    tags_pb2_grpc,
    tasks_pb2_grpc,
    views_pb2_grpc,
    warehouses_pb2_grpc,
)
from lakeward_servicekit.rpc import Host


def add_servicers(host: Host, parts: Parts, facts: Facts) -> None:
    """Host every service of the catalog."""
    host.add(
        server_pb2_grpc.add_ServerServiceServicer_to_server,
        _server(parts, facts),
    )
    host.add(
        warehouses_pb2_grpc.add_WarehouseServiceServicer_to_server,
        _warehouses(parts),
    )
    host.add(
        namespaces_pb2_grpc.add_NamespaceServiceServicer_to_server,
        _namespaces(parts),
    )
    host.add(
        tables_pb2_grpc.add_TableServiceServicer_to_server,
        _tables(parts),
    )
    host.add(
        views_pb2_grpc.add_ViewServiceServicer_to_server,
        _views(parts),
    )
    host.add(
        generic_tables_pb2_grpc.add_GenericTableServiceServicer_to_server,
        _generic_tables(parts),
    )
    host.add(
        generic_table_versions_pb2_grpc.add_GenericTableVersionServiceServicer_to_server,
        _versions(parts),
    )
    host.add(
        tabulars_pb2_grpc.add_TabularServiceServicer_to_server,
        _tabulars_of_every_kind(parts),
    )
    host.add(names_pb2_grpc.add_NameServiceServicer_to_server, NameServicer(NameLookups(parts.doors.tabulars)))
    host.add(
        tasks_pb2_grpc.add_TaskServiceServicer_to_server,
        _tasks(parts),
    )
    host.add(tags_pb2_grpc.add_TagServiceServicer_to_server, _tags(parts))
    host.add(
        project_tasks_pb2_grpc.add_ProjectTaskServiceServicer_to_server,
        _tasks_of_projects(parts),
    )
    events = EventServicer(read=EventReadings(parts.doors, parts.history))
    host.add(events_pb2_grpc.add_EventServiceServicer_to_server, events)
    cascades = TreeDrops(parts.doors, parts.changes, parts.once, parts.clock, parts.gate)
    host.add(cascades_pb2_grpc.add_CascadeServiceServicer_to_server, CascadeServicer(drops=cascades))
    host.add(contracts_pb2_grpc.add_ContractServiceServicer_to_server, _contracts(parts))
    host.add(statistics_pb2_grpc.add_StatisticsServiceServicer_to_server, _statistics(parts))
    host.add(
        signing_pb2_grpc.add_SigningServiceServicer_to_server,
        SigningServicer(sign=StorageSignings(parts.doors, parts.access, parts.scopes)),
    )


def _contracts(parts: Parts) -> ContractServicer:
    edits = WarehouseEdits(parts.doors, parts.changes, parts.announcer, parts.clock)
    return ContractServicer(doors=parts.doors, set=ContractSettings(parts.doors, edits, parts.checkers))


def _statistics(parts: Parts) -> StatisticsServicer:
    return StatisticsServicer(
        calls=parts.calls,
        see=CallStatistics(parts.doors, parts.calls, parts.clock),
        default_project=parts.rules.default_project,
    )


def _tabulars_of_every_kind(parts: Parts) -> TabularServicer:
    doors, changes, announcer, clock = parts.doors, parts.changes, parts.announcer, parts.clock
    return TabularServicer(
        deleted=DeletedListings(doors, parts.rules),
        search=TabularSearches(doors),
        undrop=TabularUndrops(doors, changes, parts.once, announcer, clock, parts.gate),
    )


def _tasks(parts: Parts) -> TaskServicer:
    doors, records, changes = parts.doors, parts.task_records, parts.changes
    announcer, clock = parts.announcer, parts.clock
    return TaskServicer(
        list=TaskListings(doors, records, parts.rules),
        view=TaskViews(doors, records),
        control=TaskControls(doors, changes, records, parts.once, announcer, clock, parts.gate),
        queues=QueueSettings(doors, changes, records, announcer, clock),
    )


def _tags(parts: Parts) -> TagServicer:
    doors, tags, changes, once = TagDoors(parts.doors, parts.tags), parts.tags, parts.changes, parts.once
    announcer, clock, ids, rules = parts.announcer, parts.clock, parts.ids, parts.rules
    return TagServicer(
        doors=doors,
        define=TagDefinitionCreations(parts.doors, tags, changes, once, announcer, clock, ids),
        list_definitions=TagDefinitionListings(parts.doors, tags, rules),
        update=TagDefinitionUpdates(doors, changes, announcer, clock),
        delete=TagDefinitionDeletions(doors, changes, once, announcer, clock),
        list_attachments=TagAttachmentListings(doors, rules),
        attachments=TagAttachments(doors, parts.documents, changes, announcer, clock, ids),
        list=TagListings(doors, parts.documents),
    )


def _tasks_of_projects(parts: Parts) -> ProjectTaskServicer:
    doors, records, changes = parts.doors, parts.task_records, parts.changes
    announcer, clock = parts.announcer, parts.clock
    return ProjectTaskServicer(
        doors=doors,
        list=TaskListings(doors, records, parts.rules),
        view=TaskViews(doors, records),
        control=TaskControls(doors, changes, records, parts.once, announcer, clock, parts.gate),
        queues=QueueSettings(doors, changes, records, announcer, clock),
        schedules=QueueSchedules(doors, changes, records, announcer, clock),
        schedule=TaskSchedulings(doors, changes, parts.once, clock),
    )


def _server(parts: Parts, facts: Facts) -> ServerServicer:
    doors, changes, announcer, clock = parts.doors, parts.changes, parts.announcer, parts.clock
    return ServerServicer(
        doors=doors,
        bootstrap=ServerBootstrap(doors, parts.registrar, changes, announcer, clock, parts.rules),
        facts=facts,
        list_projects=ProjectListings(doors),
        create_project=ProjectCreations(doors, changes, parts.once, announcer, clock, parts.ids),
        rename_project=ProjectRenames(doors, changes, announcer, clock),
        delete_project=ProjectDeletions(doors, changes, parts.once, announcer, clock),
    )


def _warehouses(parts: Parts) -> WarehouseServicer:
    doors, changes, once, judge = parts.doors, parts.changes, parts.once, parts.storage
    announcer, clock, ids = parts.announcer, parts.clock, parts.ids
    places, secrets = Places(doors, judge, clock), Secrets(judge, doors.warehouses, parts.unnamed_secrets)
    edits = WarehouseEdits(doors, changes, announcer, clock)
    return WarehouseServicer(
        doors=doors,
        config=ClientConfigs(doors, parts.registrar, parts.rules),
        create=WarehouseCreations(doors, changes, judge, places, secrets, once, announcer, clock, ids),
        list=WarehouseListings(doors, parts.rules),
        rename=WarehouseRenames(doors, edits),
        switch=WarehouseSwitches(doors, edits),
        protect=WarehouseProtections(doors, edits),
        keep_dropped=DropRetentions(doors, edits),
        allow_format_versions=FormatVersionPolicies(doors, edits),
        manage=WarehouseManagers(doors, edits),
        delete=WarehouseDeletions(doors, edits, places, secrets, once),
        replace_storage=StorageReplacements(doors, changes, judge, places, secrets, announcer, clock),
        statistics=WarehouseStatistics(doors, parts.statistics, parts.rules, clock),
        checks=WarehouseChecks(doors, changes, judge, places, clock, ids),
        restorable_by_default=parts.rules.restorable_by_default,
    )


def _namespaces(parts: Parts) -> NamespaceServicer:
    doors, changes, once, rules = parts.doors, parts.changes, parts.once, parts.rules
    announcer, clock = parts.announcer, parts.clock
    return NamespaceServicer(
        doors=doors,
        list=NamespaceListings(doors, rules),
        create=NamespaceCreations(doors, changes, once, announcer, clock, parts.ids, rules, parts.gate),
        update_properties=PropertiesUpdates(doors, changes, once, announcer, clock, parts.gate),
        protect=NamespaceProtections(doors, changes, announcer, clock),
        drop=NamespaceDrops(doors, parts.documents, changes, once, announcer, clock, rules, parts.gate),
        move=NamespaceMoves(doors, changes, once, announcer, clock, rules, parts.gate),
    )


def _tabulars(parts: Parts, kind: Kind) -> TabularMethods:
    doors, changes, once, rules = parts.doors, parts.changes, parts.once, parts.rules
    announcer, clock = parts.announcer, parts.clock
    return TabularMethods(
        kind=kind,
        doors=doors,
        listings=TabularListings(doors, rules),
        drops=TabularDrops(doors, parts.documents, changes, once, announcer, clock, rules, parts.gate),
        renames=TabularRenames(doors, changes, once, announcer, clock, parts.gate),
        protections=TabularProtections(doors, changes, announcer, clock),
    )


def _tables(parts: Parts) -> TableServicer:
    doors, once, means = parts.doors, parts.once, _means(parts)
    tables = Tables(doors, parts.documents, AccessGiving(parts.access, parts.scopes), parts.clock)
    chains = _chains(parts)
    reads, commits = TabularReads(chains, tables), Commits(tables, Queues(), means)
    making = Making(tables, doors, means, parts.rules.staged_for)
    return TableServicer(
        tabulars=_tabulars(parts, Kind.TABLE),
        load=TableLoads(tables, chains),
        load_credentials=CredentialLoads(chains, parts.access),
        create=TabularCreations(doors, once, making, reads),
        register=TableRegistrations(doors, once, making, reads),
        commit=TableCommits(doors, once, commits, UnstagedCreations(doors, making)),
        commit_transaction=TableTransactions(doors, once, commits),
        report_metrics=MetricsReports(doors),
        referenced_by_max=parts.rules.referenced_by_max,
    )


def _views(parts: Parts) -> ViewServicer:
    doors, once, means = parts.doors, parts.once, _means(parts)
    views = Views(doors, parts.documents, parts.access, parts.rules.owner_properties)
    reads, commits = TabularReads(_chains(parts), views), Commits(views, Queues(), means)
    making = Making(views, doors, means, parts.rules.staged_for)
    return ViewServicer(
        tabulars=_tabulars(parts, Kind.VIEW),
        create=TabularCreations(doors, once, making, reads),
        load=reads,
        commit=ViewCommits(once, commits, reads),
        referenced_by_max=parts.rules.referenced_by_max,
    )


def _generic_tables(parts: Parts) -> GenericTableServicer:
    doors, once, means = parts.doors, parts.once, _means(parts)
    kind = GenericTables(doors, parts.documents, AccessGiving(parts.access, parts.scopes))
    registering = dataclasses.replace(kind, registers=True)
    chains = _chains(parts)
    reads, commits = TabularReads(chains, kind), Commits(kind, Queues(), means)
    making, taking = (Making(each, doors, means, parts.rules.staged_for) for each in (kind, registering))
    return GenericTableServicer(
        tabulars=_tabulars(parts, Kind.GENERIC_TABLE),
        create=TabularCreations(doors, once, making, reads),
        register=TabularCreations(doors, once, taking, reads),
        load=reads,
        load_credentials=GenericCredentialLoads(chains, parts.access),
        update=GenericTableUpdates(once, commits, reads),
        referenced_by_max=parts.rules.referenced_by_max,
    )


def _versions(parts: Parts) -> GenericTableVersionServicer:
    doors, changes = parts.doors, parts.changes
    return GenericTableVersionServicer(
        claim=VersionClaims(doors, changes, parts.announcer, parts.clock),
        read=VersionReads(doors, parts.versions),
        forget=VersionRemovals(doors, changes, parts.announcer, parts.clock),
    )


def _chains(parts: Parts) -> ViewChains:
    return ViewChains(parts.doors, parts.rules.owner_properties)


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
        starts=parts.starts,
    )
