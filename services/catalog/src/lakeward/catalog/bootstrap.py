"""The catalog, built from its parts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from importlib.metadata import version
from typing import Final

from lakeward.catalog.adapters.gates import OpenGate
from lakeward.catalog.adapters.postgres.bell import PostgresBell
from lakeward.catalog.adapters.postgres.bodies import PostgresBodies
from lakeward.catalog.adapters.postgres.changes import PostgresChanges
from lakeward.catalog.adapters.postgres.coalescing import CoalescingTabulars
from lakeward.catalog.adapters.postgres.containers import Containers
from lakeward.catalog.adapters.postgres.idempotency import PostgresIdempotency
from lakeward.catalog.adapters.postgres.namespaces import PostgresNamespaces
from lakeward.catalog.adapters.postgres.tabulars import PostgresTabulars
from lakeward.catalog.adapters.postgres.warehouses import PostgresServer, PostgresWarehouses
from lakeward.catalog.adapters.signer_scopes import SignedScopes
from lakeward.catalog.adapters.system import SystemClock, SystemIds
from lakeward.catalog.adapters.vending.client_access import VendingAccess
from lakeward.catalog.adapters.vending.files import VendingFiles
from lakeward.catalog.adapters.vending.permits import Permits
from lakeward.catalog.adapters.vending.remembered import RememberedAccess
from lakeward.catalog.adapters.vending.storage import VendingStorage
from lakeward.catalog.application.announcements import Announcer
from lakeward.catalog.application.documents import Documents
from lakeward.catalog.application.idempotency import Once
from lakeward.catalog.application.ports import ChangeGate, Clock, Ids, Rules
from lakeward.catalog.application.server import Facts
from lakeward.catalog.background import CONNECTIONS, background
from lakeward.catalog.domain.model import ProjectId
from lakeward.catalog.domain.names import name_key
from lakeward.catalog.domain.tasks import Queue
from lakeward.catalog.roles import Roles
from lakeward.catalog.settings import CatalogSettings
from lakeward.catalog.wiring import add_servicers
from lakeward.servicekit.authorization.remote import RemoteAuthorizer
from lakeward.servicekit.authorization.remote_identity import RemoteIdentity
from lakeward.servicekit.permits import PermitSigner
from lakeward.servicekit.postgres.pools import Pool, open_pool
from lakeward.servicekit.postgres.schemas import Needs, check_schema
from lakeward.servicekit.rpc import Channel, Host
from lakeward.servicekit.settings.authorization import AuthzBackend
from lakeward.servicekit.settings.postgres import PostgresSettings

MIGRATIONS: Final = "lakeward.catalog.adapters.postgres.migrations"
SCHEMA_NUMBER: Final = 2
SERVICE: Final = "catalog"
# The public API's words for deciders.
_BACKENDS: Final = {
    AuthzBackend.ALLOW_ALL: "allow-all",
    AuthzBackend.OPENFGA: "openfga",
    AuthzBackend.CEDAR: "cedar",
}
STAGED_FOR: Final = timedelta(hours=24)


@asynccontextmanager
async def catalog(
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
        gate: asked before each change; None: nobody is.
        clock: the time; None: the machine's.
        ids: fresh ids; None: the machine's.

    Raises:
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE.
    """
    clock, ids = clock or SystemClock(), ids or SystemIds()
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(
            _pool(settings.postgres, settings.postgres.write_pool_connections, "serve")
        )
        await check_schema(
            pool, Needs(SERVICE, settings.postgres.schema_of(SERVICE), SCHEMA_NUMBER, version("lakeward-catalog"))
        )
        bell = PostgresBell(pool, channel=f"{settings.postgres.schema_of(SERVICE)}_events")
        roles = await _roles(
            settings,
            pool,
            bell,
            authz=authz,
            vending=vending,
            signer=signer,
            remote=remote,
            gate=gate or OpenGate(),
            clock=clock,
            ids=ids,
        )
        host = Host(SERVICE, read_only=settings.server.maintenance_mode == "read-only", reflects=True)
        host.add_probe("database", pool.ping)
        add_servicers(host, roles, _facts(settings))
        own = await stack.enter_async_context(_pool(settings.postgres, CONNECTIONS, "background"))
        await stack.enter_async_context(background(settings, roles, own, bell, holder=ids.uuid4()))
        yield host


def _pool(settings: PostgresSettings, size: int, use: str) -> AbstractAsyncContextManager[Pool]:
    return open_pool(
        settings.write_url,
        size=size,
        name=f"lakeward catalog {use}",
        schema=settings.schema_of(SERVICE),
        root_cert=settings.ssl_root_cert,
        acquire_timeout=settings.acquire_timeout,
        max_lifetime=settings.connection_max_lifetime,
        test_before_acquire=settings.test_before_acquire,
        log_statements=settings.statement_logging,
    )


async def _roles(
    settings: CatalogSettings,
    pool: Pool,
    bell: PostgresBell,
    *,
    authz: Channel,
    vending: Channel,
    signer: PermitSigner,
    remote: bool,
    gate: ChangeGate,
    clock: Clock,
    ids: Ids,
) -> Roles:
    rules = _rules(settings)
    servers, bodies = PostgresServer(pool), PostgresBodies(pool)
    server = await servers.server()
    permits, containers = Permits(signer, clock), Containers(pool)
    return Roles(
        identity=RemoteIdentity(authz),
        authorizer=RemoteAuthorizer(authz, coalesce=remote),
        servers=servers,
        warehouses=PostgresWarehouses(pool, containers),
        namespaces=PostgresNamespaces(pool),
        tabulars=CoalescingTabulars(PostgresTabulars(pool, containers)),
        bodies=bodies,
        changes=PostgresChanges(pool, clock=clock, ids=ids, told=bell.ring, changed=containers.keep),
        documents=Documents(bodies),
        files=VendingFiles(vending, permits),
        access=RememberedAccess(VendingAccess(vending, permits, ids), clock),
        scopes=SignedScopes(signer, clock),
        storage=VendingStorage(vending, permits),
        gate=gate,
        once=Once(store=PostgresIdempotency(pool), clock=clock, rules=rules),
        announcer=Announcer(source=f"lakeward://{server.server_id}", ids=ids),
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
        idempotency_lifetime=idempotency.lifetime if idempotency.enabled else None,
        idempotency_grace=idempotency.grace_period,
        page_size_default=server.pagination_size_default,
        page_size_max=server.pagination_size_max,
        default_project=ProjectId(server.default_project_id) if server.enable_default_project else None,
    )


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
