"""The whole catalog in memory: its use cases and servicers over stores, files, vending and authz that tests hold in their hands.

house = await a_house()                        # a project, warehouse "demo", namespace "sales", table "orders", view "recent"
await house.namespaces.DropNamespace(...)      # stubs over an in-process channel
house.authorizer.replace(...)                  # who may what
house.catalog.rows                             # what is stored
house.files.stored, house.judge.kept, house.access.vended
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakeward_catalog.adapters.formats import FormatReaders
from lakeward_catalog.adapters.signer_scopes import SignedScopes
from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.application.contracts.gate import Checker, ContractGate
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.foresight import Foresight
from lakeward_catalog.application.idempotency import Once
from lakeward_catalog.application.metadata_files import to_the_end
from lakeward_catalog.application.outcomes import Outcomes
from lakeward_catalog.application.ports.gates import CheckerAway, Question
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.server import Facts
from lakeward_catalog.application.tabulars.means import Shield
from lakeward_catalog.composition import add_servicers
from lakeward_catalog.domain.model import (
    NIL_PROJECT,
    Kind,
    Namespace,
    Project,
    Tabular,
    WarehouseId,
)
from lakeward_catalog.domain.tasks import Queue
from lakeward_catalog.domain.view_owners import OwnerProperties
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.callers import caller_of
from lakeward_protocol.catalog.v1 import (
    audit_pb2,
    audit_pb2_grpc,
    cascades_pb2_grpc,
    contracts_pb2_grpc,
    events_pb2_grpc,
    generic_table_versions_pb2_grpc,
    generic_tables_pb2,
    generic_tables_pb2_grpc,
    namespaces_pb2,
    namespaces_pb2_grpc,
    project_tasks_pb2_grpc,
    server_pb2_grpc,
    signing_pb2_grpc,
    statistics_pb2_grpc,
    tables_pb2,
    tables_pb2_grpc,
    tabulars_pb2,
    tabulars_pb2_grpc,
    tags_pb2,
    tags_pb2_grpc,
    tasks_pb2_grpc,
    types_pb2,
    views_pb2,
    views_pb2_grpc,
    warehouses_pb2,
    warehouses_pb2_grpc,
)
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.audit.postgres import Wanted
from lakeward_servicekit.audit.records import AuditRecord
from lakeward_servicekit.audit.serving import AuditListings
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.permits import PermitSigner
from lakeward_servicekit.rpc import Caller, Host
from lakeward_servicekit.system import Ids
from tests.support.catalog.fakes import CountedIds, CountingAccess, MemoryFiles, PlainJudge, TokenIdentity
from tests.support.catalog.memory import MemoryCatalog
from tests.support.catalog.memory_calls import MemoryCalls
from tests.support.catalog.memory_history import memory_history
from tests.support.catalog.memory_tasks import MemoryTaskRecords, MemoryUpkeep
from tests.support.catalog.values import FreshIds, HeldClock
from tests.support.deciding import Rule, TableAuthorizer

if TYPE_CHECKING:
    from tests.support.catalog.stores import Stores  # which needs a database's driver

ADMINISTRATOR: Final = "oidc~root"
ANYTHING: Final = Rule(allows=True)
SCHEMA: Final = {
    "type": "struct",
    "schema-id": 0,
    "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}],
}


RULES: Final = Rules(
    reserved_namespaces=frozenset({"forbidden"}),
    staged_for=timedelta(days=1),
    purge_after=timedelta(minutes=1),
    restorable_by_default=timedelta(days=3),
    idempotency_lifetime=timedelta(minutes=30),
    idempotency_grace=timedelta(minutes=5),
    page_size_default=100,
    page_size_max=1000,
    referenced_by_max=10,
    owner_properties=OwnerProperties({"trino": "trino.run-as-owner", "dremio": "dremio.owner"}),
    default_project=NIL_PROJECT,
)


class ScriptedChecker:
    """Answers each question with the next of `answers`, and with no objection once they are used up."""

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.answers: list[str | CheckerAway | None] = []

    async def objection(self, question: Question) -> str | None:
        self.asked.append(question)
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, CheckerAway):
            raise answer
        return answer


class NoRecords:
    """An audit of nothing; that of Postgres has a suite of its own."""

    async def read(self, wanted: Wanted, *, limit: int) -> Sequence[AuditRecord]:
        del wanted, limit
        return []


class House:
    def __init__(
        self,
        *,
        rules: Rules = RULES,
        shares: House | None = None,
        stores: Stores | None = None,
        shield: Shield = to_the_end,
        foresees: bool = False,
    ) -> None:
        """One process of the catalog.

        Args:
            shares: another one, over whose database, store, vending and key this is.
            stores: rows are there, not in memory.
            foresees: asks authz as it does over a wire.
        """
        self.clock, self.rules = HeldClock(), rules
        self.ids: Ids = CountedIds()
        self.catalog = MemoryCatalog(clock=self.clock, ids=self.ids)
        self.identity = TokenIdentity()
        self.authorizer = TableAuthorizer(ANYTHING)
        self.files, self.access, self.judge = MemoryFiles(), CountingAccess(), PlainJudge()
        self.signer = PermitSigner(Ed25519PrivateKey.generate())
        self.warehouse_id = ""
        if shares is not None:
            self.clock, self.ids, self.catalog = shares.clock, shares.ids, shares.catalog
            self.files, self.access, self.judge = shares.files, shares.access, shares.judge
            self.signer, self.warehouse_id = shares.signer, shares.warehouse_id
        if stores is not None:
            self.clock, self.ids = stores.clock, FreshIds()  # the rows of other houses stay
        rows: MemoryCatalog | Stores = stores or self.catalog
        doors = Doors(
            authorizer=self.authorizer,
            servers=rows.servers,
            warehouses=rows.warehouses,
            namespaces=rows.namespaces,
            tabulars=rows.tabulars,
            default_project=rules.default_project,
            instance_admins=frozenset({ADMINISTRATOR}),
            foresight=Foresight(self.authorizer, rows.tabulars) if foresees else None,
        )
        documents, self.checker = Documents(rows.bodies), ScriptedChecker()
        upkeep = MemoryUpkeep(self.catalog) if stores is None else stores.upkeep
        announcer = Announcer(source="lakeward://test", ids=self.ids)
        self.parts = Parts(
            identity=self.identity,
            registrar=self.identity,
            doors=doors,
            changes=rows.changes,
            outcomes=Outcomes(rows.changes, pause=timedelta()),
            tags=rows.tags,
            task_records=MemoryTaskRecords(rows) if isinstance(rows, MemoryCatalog) else rows.task_records,
            versions=rows.versions,
            upkeep=upkeep,
            schedules=upkeep,
            statistics=upkeep,
            calls=MemoryCalls(self.catalog) if stores is None else stores.calls,
            documents=documents,
            files=self.files,
            measuring=FormatReaders(self.files),
            access=self.access,
            scopes=SignedScopes(self.signer, self.clock),
            storage=self.judge,
            unnamed_secrets=rows.unnamed_secrets,
            gate=ContractGate(
                documents,
                {"approval": Checker(self.checker), "lenient": Checker(self.checker, fails_open=True)},
            ),
            checkers=frozenset({"approval", "lenient"}),
            once=Once(store=rows.idempotency, clock=self.clock, rules=rules, twin_wait=timedelta(milliseconds=50)),
            announcer=announcer,
            history=memory_history(self.catalog, announcer),
            clock=self.clock,
            ids=self.ids,
            rules=rules,
            shield=shield,
        )
        self.host = Host("catalog", settle=partial(caller_of, identity=self.identity))
        facts = Facts(
            version="0.1.0",
            authz_backend="table",
            aws_system_identities=False,
            azure_system_identities=False,
            gcp_system_identities=False,
            queues=("tabular_purge", "soft_deletion"),
        )
        add_servicers(self.host, self.parts, facts)
        self.host.add(
            audit_pb2_grpc.add_AuditServiceServicer_to_server,
            AuditListings(doors, NoRecords(), audit_pb2.ListAuditRecordsResponse),
        )
        channel: Any = self.host.channel(caller=Caller.CALLER_GATEWAY)
        self.server: Any = server_pb2_grpc.ServerServiceStub(channel)
        self.warehouses: Any = warehouses_pb2_grpc.WarehouseServiceStub(channel)
        self.namespaces: Any = namespaces_pb2_grpc.NamespaceServiceStub(channel)
        self.views: Any = views_pb2_grpc.ViewServiceStub(channel)
        self.generic_tables: Any = generic_tables_pb2_grpc.GenericTableServiceStub(channel)
        self.versions: Any = generic_table_versions_pb2_grpc.GenericTableVersionServiceStub(channel)
        self.tables: Any = tables_pb2_grpc.TableServiceStub(channel)
        self.tabulars: Any = tabulars_pb2_grpc.TabularServiceStub(channel)
        self.tasks: Any = tasks_pb2_grpc.TaskServiceStub(channel)
        self.tags: Any = tags_pb2_grpc.TagServiceStub(channel)
        self.project_tasks: Any = project_tasks_pb2_grpc.ProjectTaskServiceStub(channel)
        self.contracts: Any = contracts_pb2_grpc.ContractServiceStub(channel)
        self.cascades: Any = cascades_pb2_grpc.CascadeServiceStub(channel)
        self.statistics: Any = statistics_pb2_grpc.StatisticsServiceStub(channel)
        self.events_service: Any = events_pb2_grpc.EventServiceStub(channel)
        self.signing: Any = signing_pb2_grpc.SigningServiceStub(channel)

    def events(self) -> list[str]:
        """Types of the events that were written, in order."""
        return [json.loads(event.body)["type"] for event in self.catalog.rows.events]

    def event(self, index: int = -1) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.catalog.rows.events[index].body)
        return document

    def make_project(self, project_id: str = NIL_PROJECT) -> None:
        project = Project(NIL_PROJECT if project_id == NIL_PROJECT else type(NIL_PROJECT)(project_id), "a project")
        self.catalog.rows.projects[project.project_id] = project

    def change_warehouse(self, **changes: Any) -> None:
        """Change the warehouse's row behind the use cases' back."""
        warehouses = self.catalog.rows.warehouses
        key = WarehouseId(UUID(self.warehouse_id))
        warehouses[key] = dataclasses.replace(warehouses[key], **changes)

    def change_namespace(self, *path: str, **changes: Any) -> None:
        namespace = self.namespace(*path)
        key = (namespace.warehouse_id, namespace.namespace_id)
        self.catalog.rows.namespaces[key] = dataclasses.replace(namespace, **changes)

    def change_tabular(self, name: str, **changes: Any) -> None:
        tabular = self.tabular(name)
        key = (tabular.warehouse_id, tabular.incarnation)
        self.catalog.rows.tabulars[key] = dataclasses.replace(tabular, **changes)

    def namespace(self, *path: str) -> Namespace:
        return next(each for each in self.catalog.rows.namespaces.values() if each.ident.parts == path)

    def tabular(self, name: str) -> Tabular:
        return next(each for each in self.catalog.rows.tabulars.values() if each.ident.name == name)

    def task_id(self, queue: Queue) -> str:
        """Of the one task of a queue, whatever became of it."""
        (task_id,) = (each for each, task in self.catalog.rows.queued.items() if task.queue is queue)
        return str(task_id)

    async def make_warehouse(self, name: str = "demo", *, base: str = "s3://lake/demo", **profile: Any) -> str:
        response = await self.warehouses.CreateWarehouse(
            warehouses_pb2.CreateWarehouseRequest(
                name=name,
                storage_profile=json.dumps({"base": base, **profile}).encode(),
                secret_id=str(self.ids.uuid4()),
            )
        )
        return str(response.warehouse.warehouse_id)

    async def make_namespace(self, *path: str, **properties: str) -> namespaces_pb2.Namespace:
        response = await self.namespaces.CreateNamespace(
            namespaces_pb2.CreateNamespaceRequest(
                warehouse_id=self.warehouse_id, ident=ident(*path), properties=properties
            )
        )
        created: namespaces_pb2.Namespace = response.namespace
        return created

    async def drop_namespace(self, *path: str) -> None:
        await self.namespaces.DropNamespace(
            namespaces_pb2.DropNamespaceRequest(warehouse_id=self.warehouse_id, ident=ident(*path))
        )

    async def make_table(self, *path: str, **members: Any) -> types_pb2.LoadedTabular:
        response = await self.tables.CreateTable(
            tables_pb2.CreateTableRequest(
                warehouse_id=self.warehouse_id, namespace=ident(*path[:-1]), body=table_body(path[-1], **members)
            )
        )
        created: types_pb2.LoadedTabular = response.table
        return created

    async def make_tag(self, name: str, *scopes: str, values: Sequence[str] = (), kind: str = "") -> str:
        """The id of a tag for these kinds: enumerated where it has values, else of any text, unless its kind is said."""
        kind = kind or ("enumerated" if values else "free_text")
        response = await self.tags.CreateTagDefinition(
            tags_pb2.CreateTagDefinitionRequest(
                name=name,
                scopes=[tags_pb2.TagScope.Value(f"TAG_SCOPE_{scope.upper()}") for scope in scopes],
                value_kind=tags_pb2.TagValueKind.Value(f"TAG_VALUE_KIND_{kind.upper()}"),
                allowed_values=values,
            )
        )
        return str(response.definition.tag_id)

    def tag_target(self, scope: str, which: object = "", *, column: str = "") -> tags_pb2.TagTarget:
        return tags_pb2.TagTarget(
            scope=tags_pb2.TagScope.Value(f"TAG_SCOPE_{scope.upper()}"),
            warehouse_id=self.warehouse_id,
            id=str(which),
            column=column,
        )

    async def make_view(self, *path: str, **members: Any) -> types_pb2.LoadedTabular:
        response = await self.views.CreateView(
            views_pb2.CreateViewRequest(
                warehouse_id=self.warehouse_id, namespace=ident(*path[:-1]), body=view_body(path[-1], **members)
            )
        )
        created: types_pb2.LoadedTabular = response.view
        return created

    async def make_generic(self, *path: str, **members: Any) -> generic_tables_pb2.LoadedGenericTable:
        response = await self.generic_tables.CreateGenericTable(
            generic_tables_pb2.CreateGenericTableRequest(
                warehouse_id=self.warehouse_id, namespace=ident(*path[:-1]), body=generic_body(path[-1], **members)
            )
        )
        created: generic_tables_pb2.LoadedGenericTable = response.table
        return created


async def a_house(**options: Any) -> House:
    house = House(**options)
    house.make_project()
    house.warehouse_id = await house.make_warehouse()
    await house.make_namespace("sales")
    await house.make_table("sales", "orders")
    await house.make_view("sales", "recent")
    return house


def ident(*parts: str) -> types_pb2.NamespaceIdent:
    return types_pb2.NamespaceIdent(parts=parts)


def tabular(*path: str) -> types_pb2.TabularIdent:
    return types_pb2.TabularIdent(namespace=ident(*path[:-1]), name=path[-1])


def tabular_ref(kind: Kind, tabular_id: object) -> tabulars_pb2.TabularRef:
    return tabulars_pb2.TabularRef(
        kind=tabulars_pb2.TabularKind.Value(f"TABULAR_KIND_{kind.name}"), tabular_id=str(tabular_id)
    )


def context(**members: Any) -> context_pb2.RequestContext:
    return context_pb2.RequestContext(**members)


def table_body(name: str, **members: Any) -> bytes:
    return json.dumps({"name": name, "schema": SCHEMA, **members}).encode()


def view_body(name: str, **members: Any) -> bytes:
    return json.dumps(
        {"name": name, "schema": SCHEMA, "view-version": view_version(), "properties": {}, **members}
    ).encode()


def generic_body(name: str, **members: Any) -> bytes:
    return json.dumps({"name": name, "format": "lance", **members}).encode()


def view_version(sql: str = "select 1", **members: Any) -> dict[str, Any]:
    return {
        "version-id": 1,
        "schema-id": 0,
        "timestamp-ms": 1,
        "summary": {},
        "default-namespace": ["sales"],
        "representations": [{"type": "sql", "sql": sql, "dialect": "spark"}],
        **members,
    }


def commit_body(*updates: Mapping[str, Any], requirements: Sequence[Mapping[str, Any]] = ()) -> bytes:
    return json.dumps({"requirements": list(requirements), "updates": list(updates)}).encode()


async def refusal_of(call: Any) -> Refusal:
    """The refusal that a call ends with."""
    try:
        await call
    except Refusal as refusal:
        return refusal
    raise AssertionError("the call was not refused")
