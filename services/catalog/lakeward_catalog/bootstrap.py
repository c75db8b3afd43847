"""The catalog, built from its parts."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from typing import Final

from lakeward_catalog.adapters.authz_tree import RemoteTree
from lakeward_catalog.adapters.contracts.opening import open_checkers
from lakeward_catalog.adapters.formats import FormatReaders
from lakeward_catalog.adapters.postgres.bodies import PostgresBodies
from lakeward_catalog.adapters.postgres.changes import PostgresChanges
from lakeward_catalog.adapters.postgres.containers import Containers
from lakeward_catalog.adapters.postgres.endpoint_counts import PostgresCalls
from lakeward_catalog.adapters.postgres.idempotency import PostgresIdempotency
from lakeward_catalog.adapters.postgres.locating import Locating
from lakeward_catalog.adapters.postgres.namespaces import PostgresNamespaces
from lakeward_catalog.adapters.postgres.snapshots import CatalogTold
from lakeward_catalog.adapters.postgres.statistics import PostgresStatistics
from lakeward_catalog.adapters.postgres.table_versions import PostgresVersions
from lakeward_catalog.adapters.postgres.tabulars import PostgresTabulars
from lakeward_catalog.adapters.postgres.tags import PostgresTags
from lakeward_catalog.adapters.postgres.task_records import PostgresTaskRecords
from lakeward_catalog.adapters.postgres.tree_rows import PostgresTreeRows
from lakeward_catalog.adapters.postgres.tree_streams import PostgresTreeStreams
from lakeward_catalog.adapters.postgres.unnamed_secrets import PostgresUnnamedSecrets
from lakeward_catalog.adapters.postgres.upkeep import PostgresUpkeep
from lakeward_catalog.adapters.postgres.warehouses import PostgresServer, PostgresWarehouses
from lakeward_catalog.adapters.signer_scopes import SignedScopes
from lakeward_catalog.adapters.vending.client_access import VendingAccess
from lakeward_catalog.adapters.vending.files import VendingFiles
from lakeward_catalog.adapters.vending.permits import Permits
from lakeward_catalog.adapters.vending.remembered import RememberedAccess
from lakeward_catalog.adapters.vending.storage import VendingStorage
from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.application.contracts.gate import Checker, ContractGate
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.feeding import TreeFeed
from lakeward_catalog.application.foresight import Foresight
from lakeward_catalog.application.idempotency import Once
from lakeward_catalog.application.outcomes import Outcomes
from lakeward_catalog.application.ports.gates import ChangeGate
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.server import Facts
from lakeward_catalog.application.tree import TreeWatch
from lakeward_catalog.application.verifying import Difference, TreeVerification, Verified
from lakeward_catalog.background import CONNECTIONS, Bells, background
from lakeward_catalog.composition import add_servicers
from lakeward_catalog.domain.model import ProjectId, Server
from lakeward_catalog.domain.names import name_key
from lakeward_catalog.domain.tasks import Queue
from lakeward_catalog.domain.view_owners import OwnerProperties
from lakeward_catalog.parts import Parts
from lakeward_catalog.settings import CatalogSettings, IdentitySettings
from lakeward_catalog.transport.callers import caller_of
from lakeward_protocol.catalog.v1 import audit_pb2, audit_pb2_grpc
from lakeward_servicekit.audit.postgres import ADD_BY_WAREHOUSE, PostgresAudit
from lakeward_servicekit.audit.serving import AuditListings, auditing, recorder_of
from lakeward_servicekit.authorization.remote import RemoteAuthorizer
from lakeward_servicekit.authorization.remote_identity import RemoteIdentity
from lakeward_servicekit.events.bell import LocalBell, PostgresBell
from lakeward_servicekit.events.history import HistoryReads
from lakeward_servicekit.events.postgres_history import PostgresHistory
from lakeward_servicekit.events.postgres_snapshots import CONNECTIONS as SNAPSHOT_CONNECTIONS
from lakeward_servicekit.events.postgres_snapshots import PostgresSnapshots
from lakeward_servicekit.events.serving import channel_of, logged_channel_of
from lakeward_servicekit.events.tail import Tail
from lakeward_servicekit.permits import PermitSigner
from lakeward_servicekit.postgres.plans import with_generic_plans, with_plans_by_keys
from lakeward_servicekit.postgres.pools import Pool, service_pool
from lakeward_servicekit.postgres.schemas import Needs, check_schema
from lakeward_servicekit.rpc import Channel, Host
from lakeward_servicekit.settings.authorization import AuthzBackend, TrustedEngine
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.problems import Problem, SettingsError
from lakeward_servicekit.system import Clock, Ids, SystemClock, SystemIds

MIGRATIONS: Final = "lakeward_catalog.adapters.postgres.migrations"
SCHEMA_NUMBER: Final = 20
SERVICE: Final = "catalog"
# The public API's words for deciders.
_BACKENDS: Final = {
    AuthzBackend.ALLOW_ALL: "allow-all",
    AuthzBackend.BUILTIN: "builtin",
    AuthzBackend.OPENFGA: "openfga",
    AuthzBackend.CEDAR: "cedar",
}
STAGED_FOR: Final = timedelta(hours=24)


# Point reads that arrive together are one statement, so few connections do, however many requests are served.
_LOOKUP_CONNECTIONS: Final = 4
_VERIFYING_CONNECTIONS: Final = 2  # rows are held on one, and what is told meanwhile takes another


@dataclasses.dataclass(frozen=True, slots=True)
class Pools:
    """Ways to the database, by what goes there.

    Attributes:
        changes: to the primary; what has no pool of its own goes there too.
        lookups: to the primary, in sessions that plan once; point reads.
        listings: to where reads may lag behind.
        snapshots: to the primary, of snapshots for who reads events alone; one takes long.
    """

    changes: Pool
    lookups: Pool
    listings: Pool
    snapshots: Pool


@asynccontextmanager
async def catalog(  # noqa: PLR0913 - what comes from outside, each by its name
    settings: CatalogSettings,
    *,
    authz: Channel,
    vending: Channel,
    signer: PermitSigner,
    remote: bool,
    gate: ChangeGate | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> AsyncIterator[Host]:
    """The catalog, ready to be called until the block ends; then what it started has ended too, last part first.

    Args:
        settings: what it is told.
        authz: a channel to authz, to a pod or into this process.
        vending: a channel to vending.
        signer: signs permits with a key whose public half vending knows, and signer scopes; processes with one key read each
            other's scopes.
        remote: whether the channels leave this process; then questions to authz that arrive together are sent as one.
        gate: asked before each change; None: the contracts of the warehouse.
        clock: the time; None: the machine's.
        ids: fresh ids; None: the machine's.

    Raises:
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        SettingsError: the settings name another server than the database does.
        Refusal: DATABASE_UNAVAILABLE.
    """
    clock, ids = clock or SystemClock(), ids or SystemIds()
    async with AsyncExitStack() as stack:
        pools = await open_pools(settings.postgres, stack)
        await _check_schema(pools.changes, settings.postgres)
        schema = settings.postgres.schema_of(SERVICE)
        bell = PostgresBell(pools.changes, channel=channel_of(schema))
        bells = Bells(bell, PostgresBell(pools.changes, channel=logged_channel_of(schema)))
        # What is decided from the tree waits for the tree; the other backends know no difference.
        awaited = settings.authorization.backend is not AuthzBackend.ALLOW_ALL
        feed = TreeFeed(PostgresTreeStreams(pools.changes), RemoteTree(authz), LocalBell(), awaited=awaited)
        parts = await _parts(
            settings,
            pools,
            bell,
            feed,
            stack,
            authz=authz,
            vending=vending,
            signer=signer,
            remote=remote,
            gate=gate,
            checkers=await open_checkers(settings.contracts.checkers, stack),
            clock=clock,
            ids=ids,
        )
        audit = recorder_of(settings.audit, default_project=parts.rules.default_project or "")
        host = Host(
            SERVICE,
            settle=partial(caller_of, identity=parts.identity),
            read_only=settings.server.maintenance_mode == "read-only",
            reflects=True,
            audit=audit,
        )
        host.add_probe("database", pools.changes.ping)
        add_servicers(host, parts, _facts(settings))
        records = PostgresAudit(pools.changes, listings=pools.listings, adding=ADD_BY_WAREHOUSE)
        host.add(
            audit_pb2_grpc.add_AuditServiceServicer_to_server,
            AuditListings(parts.doors, records, audit_pb2.ListAuditRecordsResponse),
        )
        own = await stack.enter_async_context(
            service_pool(settings.postgres, SERVICE, size=CONNECTIONS, use="background")
        )
        forgets = settings.server.maintenance_mode == "off"
        await stack.enter_async_context(auditing(settings.audit, audit, records, own, forgets=forgets))
        await stack.enter_async_context(background(settings, parts, own, bells, feed, holder=ids.uuid4()))
        yield host


async def verify_tree(
    settings: PostgresSettings, *, authz: Channel, repair: bool, report: Callable[[Difference], None]
) -> Verified:
    """Compare what authz knows of objects with the catalog's rows, and with `repair` mend it; others may serve meanwhile.

    Args:
        settings: where the rows are.
        authz: a channel to authz.
        repair: tell authz of what it does not know as it is.
        report: told of each difference.

    Raises:
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE; SERVICE_UNAVAILABLE, where authz is away.
    """
    async with service_pool(settings, SERVICE, size=_VERIFYING_CONNECTIONS, use="verify") as pool:
        await _check_schema(pool, settings)
        tree = RemoteTree(authz)
        feed = TreeFeed(PostgresTreeStreams(pool), tree, LocalBell(), awaited=True)
        return await TreeVerification(PostgresTreeRows(pool), tree, feed, report)(repair=repair)


async def _check_schema(pool: Pool, settings: PostgresSettings) -> None:
    needs = Needs(SERVICE, settings.schema_of(SERVICE), SCHEMA_NUMBER, version("lakeward-catalog"))
    await check_schema(pool, needs)


def check_server_id(settings: IdentitySettings, server: Server) -> None:
    """Return where the settings name the server that this is, or none.

    Raises:
        SettingsError: they name another one, so this is another one's database.
    """
    if settings.server_id is not None and settings.server_id != server.server_id:
        raise SettingsError(
            [
                Problem(
                    "LAKEKEEPER__SERVER_ID",
                    f"is {settings.server_id}, and the server of this database is {server.server_id}; leave it out, or connect "
                    "to the database that is meant: an id is given by the first migration, and stays",
                )
            ]
        )


async def open_pools(settings: PostgresSettings, stack: AsyncExitStack) -> Pools:
    """The pools that serve requests, until the stack is closed."""
    planned, changing = with_generic_plans(settings.write_url), with_plans_by_keys(settings.write_url)
    listing = with_plans_by_keys(settings.read_url)
    return Pools(
        changes=await stack.enter_async_context(
            service_pool(settings, SERVICE, url=changing, size=settings.write_pool_connections, use="serve")
        ),
        lookups=await stack.enter_async_context(
            service_pool(settings, SERVICE, url=planned, size=_LOOKUP_CONNECTIONS, use="lookups")
        ),
        listings=await stack.enter_async_context(
            service_pool(settings, SERVICE, url=listing, size=settings.read_pool_connections, use="listings")
        ),
        snapshots=await stack.enter_async_context(
            service_pool(settings, SERVICE, size=SNAPSHOT_CONNECTIONS, use="snapshots")
        ),
    )


async def _parts(  # noqa: PLR0913 - as `catalog`, and what that opened
    settings: CatalogSettings,
    pools: Pools,
    bell: PostgresBell,
    watch: TreeWatch,
    stack: AsyncExitStack,
    *,
    authz: Channel,
    vending: Channel,
    signer: PermitSigner,
    remote: bool,
    gate: ChangeGate | None,
    checkers: Mapping[str, Checker],
    clock: Clock,
    ids: Ids,
) -> Parts:
    rules, pool, listings = _rules(settings), pools.changes, pools.listings
    servers, documents = PostgresServer(pool), Documents(PostgresBodies(pool))
    history = PostgresHistory(pool)
    server = await servers.server()
    check_server_id(settings.identity, server)
    upkeep = PostgresUpkeep(pool, ids=ids)
    permits, containers = Permits(signer, clock), Containers(pools.lookups)
    identity, locating = RemoteIdentity(authz), Locating(pools.lookups, containers)
    changes = PostgresChanges(
        pool,
        clock=clock,
        ids=ids,
        told=bell.ring,
        changed=containers.keep,
        watch=watch,
        audits=settings.audit.records != "off",
    )
    authorizer = RemoteAuthorizer(authz, coalesce=remote)
    tabulars = PostgresTabulars(pools.lookups, locating, listings=listings)
    doors = Doors(
        authorizer=authorizer,
        servers=servers,
        warehouses=PostgresWarehouses(pools.lookups, locating, containers, listings=listings),
        namespaces=PostgresNamespaces(pool, locating, listings=listings),
        tabulars=tabulars,
        default_project=rules.default_project,
        instance_admins=frozenset(settings.authorization.instance_admins),
        foresight=Foresight(authorizer, tabulars, is_known=lambda: authorizer.answers_at_once) if remote else None,
    )
    announcer = Announcer(source=f"lakeward://{server.server_id}", ids=ids)
    snapshots = PostgresSnapshots(pools.snapshots, tells=CatalogTold(announcer), ids=ids, moved=bell.ring)
    stack.push_async_callback(snapshots.close)
    files = VendingFiles(vending, permits)
    return Parts(
        identity=identity,
        registrar=identity,
        doors=doors,
        changes=changes,
        outcomes=Outcomes(changes),
        tags=PostgresTags(pool),
        task_records=PostgresTaskRecords(pool),
        versions=PostgresVersions(pool),
        upkeep=upkeep,
        schedules=upkeep,
        statistics=PostgresStatistics(listings),
        calls=PostgresCalls(pool, listings=listings),
        documents=documents,
        files=files,
        measuring=FormatReaders(files),
        access=RememberedAccess(VendingAccess(vending, permits, ids), clock),
        scopes=SignedScopes(signer, clock),
        storage=VendingStorage(vending, permits),
        unnamed_secrets=PostgresUnnamedSecrets(pool),
        gate=gate or ContractGate(documents, checkers),
        checkers=frozenset(checkers),
        once=Once(store=PostgresIdempotency(pool), clock=clock, rules=rules),
        announcer=announcer,
        history=HistoryReads(history, snapshots, Tail(history.newest)),
        clock=clock,
        ids=ids,
        rules=rules,
    )


def _rules(settings: CatalogSettings) -> Rules:
    server, idempotency = settings.server, settings.idempotency
    return Rules(
        reserved_namespaces=frozenset(name_key(name) for name in server.reserved_namespaces),
        staged_for=STAGED_FOR,
        purge_after=settings.tasks.purge_delay,
        restorable_by_default=settings.tasks.expiration_delay,
        idempotency_lifetime=idempotency.lifetime if idempotency.enabled else None,
        idempotency_grace=idempotency.grace_period,
        page_size_default=settings.pages.pagination_size_default,
        page_size_max=settings.pages.pagination_size_max,
        referenced_by_max=server.referenced_by_max_nesting_depth,
        owner_properties=OwnerProperties(
            {name: _owner_property(engine) for name, engine in settings.authorization.trusted_engines.items()}
        ),
        default_project=ProjectId(server.default_project_id) if server.enable_default_project else None,
    )


def _owner_property(engine: TrustedEngine) -> str:
    assert engine.owner_property is not None, "settings demand it"
    return engine.owner_property


def _facts(settings: CatalogSettings) -> Facts:
    storage = settings.storage
    return Facts(
        version=version("lakeward-catalog"),
        authz_backend=_BACKENDS[settings.authorization.backend],
        aws_system_identities=storage.aws_system_credentials,
        azure_system_identities=storage.azure_system_credentials,
        gcp_system_identities=storage.gcp_system_credentials,
        queues=tuple(sorted(queue.value for queue in Queue)),
    )
