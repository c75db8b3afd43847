"""Builds authz from its parts."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Final

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.role_membership import PostgresRoleMembership
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.adapters.postgres.snapshots import AuthzTold
from lakeward_authz.adapters.postgres.tree import PostgresTree
from lakeward_authz.adapters.postgres.tree_listing import PostgresTreeListing
from lakeward_authz.adapters.postgres.users import PostgresUsers
from lakeward_authz.application.announcements import STREAM
from lakeward_authz.application.appointing import Appointments
from lakeward_authz.application.caller import Caller
from lakeward_authz.application.deciding import RevisedAuthorizer
from lakeward_authz.application.directory_doors import DirectoryDoors
from lakeward_authz.application.identifying import Authenticate, Authenticator
from lakeward_authz.application.tree import ApplyTreeChanges
from lakeward_authz.application.users import BootstrapAdministrator, ProvisionUser
from lakeward_authz.authentication import open_authenticator
from lakeward_authz.authorization import Deciding, open_authorizer, openfga_drift
from lakeward_authz.directory import add_directory
from lakeward_authz.domain.bindings import Bindings
from lakeward_authz.domain.engines import EngineTokens
from lakeward_authz.granting import grant_servicer
from lakeward_authz.provisioning import add_provisioning
from lakeward_authz.settings import AuthzSettings, DecidingSettings
from lakeward_authz.synchronising import synchronised
from lakeward_authz.transport.callers import caller_of, project_id_of
from lakeward_authz.transport.decisions import DecisionServicer
from lakeward_authz.transport.identity import IdentityServicer
from lakeward_authz.transport.tree import TreeServicer
from lakeward_protocol.authz.v1 import (
    audit_pb2,
    audit_pb2_grpc,
    decisions_pb2_grpc,
    events_pb2,
    events_pb2_grpc,
    grants_pb2_grpc,
    identity_pb2_grpc,
    tree_pb2_grpc,
)
from lakeward_servicekit.audit.postgres import PostgresAudit
from lakeward_servicekit.audit.recording import Recorder
from lakeward_servicekit.audit.serving import AuditListings, auditing, recorder_of
from lakeward_servicekit.events.own_streams import OwnStreams, open_reads
from lakeward_servicekit.events.serving import relaying
from lakeward_servicekit.postgres.outgrown import counting
from lakeward_servicekit.postgres.plans import with_generic_plans, with_plans_by_keys
from lakeward_servicekit.postgres.pools import Pool, service_pool
from lakeward_servicekit.postgres.schemas import Needs, check_schema
from lakeward_servicekit.rpc import Host, Settle
from lakeward_servicekit.settings.authorization import AuthorizationSettings, EngineIdentity, TrustedEngine
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.system import SystemClock, SystemIds

_LOG: Final = logging.getLogger(__name__)
MIGRATIONS: Final = "lakeward_authz.adapters.postgres.migrations"
SCHEMA_NUMBER: Final = 13
# Users are written when they are first seen, so a few connections serve any load; the rest is the catalog's.
_CONNECTIONS: Final = 4
# A question is one statement, so few connections answer many; beside those that write.
_READING_CONNECTIONS: Final = 8


@asynccontextmanager
async def authz(settings: AuthzSettings, *, authorizer: RevisedAuthorizer | None = None) -> AsyncIterator[Host]:
    """Authz, ready to be called until the block ends.

    Args:
        settings: what it is told.
        authorizer: decides in place of the one that the settings name.

    Raises:
        SettingsError: a setting that this build can't honour.
        Refusal: IDENTITY_PROVIDER_UNAVAILABLE, where one is away that must be there; DATABASE_UNAVAILABLE.
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
    """
    async with AsyncExitStack() as stack:
        authenticator = await stack.enter_async_context(
            open_authenticator(settings.authentication, _engines(settings.authorization))
        )
        size = min(_CONNECTIONS, settings.postgres.write_pool_connections)
        changing = with_plans_by_keys(settings.postgres.write_url)
        pool = await stack.enter_async_context(service_pool(settings.postgres, "authz", url=changing, size=size))
        schema = settings.postgres.schema_of("authz")
        await check_schema(pool, Needs("authz", schema, SCHEMA_NUMBER, version("lakeward-authz")))
        planned = with_generic_plans(settings.postgres.write_url)
        reading = await stack.enter_async_context(
            service_pool(settings.postgres, "authz", url=planned, size=_READING_CONNECTIONS, use="decisions")
        )
        providers = settings.authentication.providers.items()
        bindings = Bindings(
            {key: frozenset(provider.projects) for key, provider in providers if provider.projects is not None}
        )
        deciding = (
            Deciding(authorizer)
            if authorizer is not None
            else await stack.enter_async_context(open_authorizer(settings.deciding, reading, bindings))
        )
        audit = _recorder(settings)
        outbox = Outbox(audits=audit is not None)
        identity = _identity(authenticator, pool, outbox, reading=reading)
        host = Host(
            "authz",
            settle=_settle(settings, identity.authenticate),
            read_only=settings.server.maintenance_mode == "read-only",
            reflects=True,
            audit=audit,
        )
        host.add(
            decisions_pb2_grpc.add_DecisionServiceServicer_to_server,
            DecisionServicer(deciding.authorizer, deciding.states, allows_everything=deciding.allows_everything),
        )
        tree = PostgresTree(pool, outbox)
        grants = PostgresGrants(pool, outbox, most_nested=settings.roles.max_nesting_depth)
        host.add(tree_pb2_grpc.add_TreeServiceServicer_to_server, _tree(tree, pool))
        host.add(identity_pb2_grpc.add_IdentityServiceServicer_to_server, identity)
        host.add(
            grants_pb2_grpc.add_GrantServiceServicer_to_server,
            grant_servicer(
                pool,
                tree,
                grants,
                settings.authorization,
                managed=settings.managed_providers,
                bindings=bindings,
                reading=reading,
                sizes=settings.pages.sizes,
            ),
        )
        roles = PostgresRoles(pool, tree)
        doors = DirectoryDoors(deciding.authorizer, roles, settings.managed_providers)
        records = PostgresAudit(pool)
        host.add(
            audit_pb2_grpc.add_AuditServiceServicer_to_server,
            AuditListings(doors, records, audit_pb2.ListAuditRecordsResponse),
        )
        ids = SystemIds()
        reads = await stack.enter_async_context(
            open_reads(pool, settings.postgres, "authz", tells=AuthzTold(ids), ids=ids)
        )
        host.add(
            events_pb2_grpc.add_EventServiceServicer_to_server,
            OwnStreams(
                STREAM, doors, reads, events_pb2.ReadEventsResponse, events_pb2.SubscribeResponse, project_id_of
            ),
        )
        add_directory(host, settings, pool, doors=doors, grants=grants)
        add_provisioning(host, settings.scim, pool, roles=roles, grants=grants, doors=doors)
        forgets = settings.server.maintenance_mode == "off"
        await stack.enter_async_context(auditing(settings.audit, audit, records, pool, forgets=forgets))
        await stack.enter_async_context(
            relaying(
                pool,
                settings.events,
                service="authz",
                schema=settings.postgres.schema_of("authz"),
                listen_at=settings.postgres.direct_url,
                tail=reads.tail,
            )
        )
        if settings.server.maintenance_mode == "off":
            await stack.enter_async_context(counting(pool))
        await stack.enter_async_context(synchronised(settings, pool, roles=roles, grants=grants))
        # Not the identity providers: tokens under known keys are verified while those are away.
        host.add_probe("database", pool.ping)
        for name, ping in deciding.probes.items():
            host.add_probe(name, ping)
        yield host


@asynccontextmanager
async def tree_alone(settings: PostgresSettings) -> AsyncIterator[Host]:
    """Authz's tree of objects and nothing else, for commands; others may serve meanwhile.

    Raises:
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE.
    """
    async with _checked_pool(settings, use="tree") as pool:
        host = Host("authz", reflects=False)
        host.add(tree_pb2_grpc.add_TreeServiceServicer_to_server, _tree(PostgresTree(pool, Outbox()), pool))
        yield host


async def verify_openfga(
    settings: DecidingSettings, postgres: PostgresSettings, *, repair: bool
) -> Sequence[str] | None:
    """What OpenFGA holds otherwise than authz's rows say; see `openfga_drift`. Others may serve meanwhile.

    Raises:
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE, AUTHORIZATION_UNAVAILABLE.
    """
    async with _checked_pool(postgres, use="openfga") as pool:
        return await openfga_drift(settings, pool, repair=repair)


@asynccontextmanager
async def appointments_alone(settings: PostgresSettings) -> AsyncIterator[Appointments]:
    """What appoints administrators and nothing else, for commands; others may serve meanwhile.

    Raises:
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE.
    """
    async with _checked_pool(settings, use="appointing") as pool:
        yield Appointments(PostgresGrants(pool, Outbox()))


@asynccontextmanager
async def _checked_pool(settings: PostgresSettings, *, use: str) -> AsyncIterator[Pool]:
    async with service_pool(settings, "authz", size=_CONNECTIONS, use=use) as pool:
        await check_schema(pool, Needs("authz", settings.schema_of("authz"), SCHEMA_NUMBER, version("lakeward-authz")))
        yield pool


def _tree(tree: PostgresTree, pool: Pool) -> TreeServicer:
    return TreeServicer(ApplyTreeChanges(tree), PostgresTreeListing(pool))


def _recorder(settings: AuthzSettings) -> Recorder | None:
    server = settings.server
    default_project = server.default_project_id if server.enable_default_project else ""
    return recorder_of(settings.audit, default_project=default_project)


def _settle(settings: AuthzSettings, authenticate: Authenticate) -> Settle[Caller]:
    server = settings.server
    default_project = server.default_project_id if server.enable_default_project else None
    return partial(caller_of, authenticate=authenticate, default_project=default_project)


def _identity(authenticator: Authenticator, pool: Pool, outbox: Outbox, *, reading: Pool) -> IdentityServicer:
    users, clock = PostgresUsers(pool, outbox), SystemClock()
    provision = ProvisionUser(users, clock)
    return IdentityServicer(
        authenticate=Authenticate(authenticator, PostgresRoleMembership(reading)),
        provision_user=provision,
        bootstrap_administrator=BootstrapAdministrator(provision, users, clock),
    )


def _engines(settings: AuthorizationSettings) -> list[EngineTokens]:
    return [tokens for name, engine in settings.trusted_engines.items() for tokens in _tokens_of(name, engine)]


def _tokens_of(name: str, engine: TrustedEngine) -> Iterator[EngineTokens]:
    # Who holds such a token reads as any owner that a view names: whom that concerns is to be found in the log.
    _LOG.info("views are read as their owners with tokens of the trusted engine %s, which is %s", name, engine.type)
    for provider_id, identity in engine.identities.items():
        yield _tokens(name, provider_id, identity)


def _tokens(engine: str, provider: str, identity: EngineIdentity) -> EngineTokens:
    return EngineTokens(engine, provider, frozenset(identity.audiences), frozenset(identity.subjects))
