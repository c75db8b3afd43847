"""Builds vending from its parts."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from lakeward_protocol.vending.v1 import audit_pb2, audit_pb2_grpc, events_pb2, events_pb2_grpc, vending_pb2_grpc
from lakeward_servicekit.audit.postgres import PostgresAudit
from lakeward_servicekit.audit.serving import AuditListings, auditing, recorder_of
from lakeward_servicekit.authorization.remote import RemoteAuthorizer
from lakeward_servicekit.authorization.remote_identity import RemoteIdentity
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.events.own_streams import OwnStreams, open_reads
from lakeward_servicekit.events.serving import relaying
from lakeward_servicekit.postgres.pools import Pool, service_pool
from lakeward_servicekit.postgres.schemas import Needs, check_schema
from lakeward_servicekit.rpc import Host
from lakeward_servicekit.settings.problems import Problem, SettingsError
from lakeward_servicekit.system import SystemClock, SystemIds
from lakeward_vending.adapters.caching.backends import LONGEST
from lakeward_vending.adapters.caching.secrets import CachedSecrets
from lakeward_vending.adapters.network.addresses import AddressGuard, SystemResolver
from lakeward_vending.adapters.network.calls import Connections, HttpCalls
from lakeward_vending.adapters.network.services import Services
from lakeward_vending.adapters.postgres import migrations
from lakeward_vending.adapters.postgres.sealing import KeyRing
from lakeward_vending.adapters.postgres.secrets import PostgresSecrets
from lakeward_vending.adapters.postgres.snapshots import VendingTold
from lakeward_vending.adapters.s3.backend import S3Backend
from lakeward_vending.adapters.s3.cached import CachedS3
from lakeward_vending.adapters.s3.kind import S3Kind
from lakeward_vending.application.announcements import STREAM
from lakeward_vending.application.client_access import AccessVends, RequestSignatures
from lakeward_vending.application.doors import Doors
from lakeward_vending.application.files import (
    EmptinessChecks,
    FileDeletions,
    FileListings,
    FileReads,
    FileWrites,
    PagePurges,
    PartReads,
)
from lakeward_vending.application.places import PlaceClaims, PlaceReleases
from lakeward_vending.application.profiles import ProfileNormalisations
from lakeward_vending.application.secrets import (
    CredentialStagings,
    SecretBindings,
    SecretDeletions,
    SecretMoves,
    SecretReencryptions,
    StagedSweeps,
)
from lakeward_vending.application.storages import Kinds, Storages
from lakeward_vending.application.validation import StorageValidations
from lakeward_vending.domain.addresses import AddressRules
from lakeward_vending.domain.s3.system_identity import SystemIdentityRules
from lakeward_vending.transport import decode
from lakeward_vending.transport.access import VendingServicer
from lakeward_vending.transport.callers import caller_of
from lakeward_vending.transport.files import FileServicer
from lakeward_vending.transport.storage import StorageServicer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from uuid import UUID

    from lakeward_servicekit.audit.recording import Recorder
    from lakeward_servicekit.permits import PermitVerifier
    from lakeward_servicekit.rpc import Channel, Settle
    from lakeward_servicekit.settings.postgres import PostgresSettings
    from lakeward_servicekit.system import Clock, Ids
    from lakeward_vending.adapters.postgres.secrets import Kept
    from lakeward_vending.application.caller import Caller
    from lakeward_vending.application.ports import StorageKind
    from lakeward_vending.settings import SecretSettings, StorageSettings, VendingSettings

_log = logging.getLogger(__name__)

SERVICE: Final = "vending"
MIGRATIONS: Final = migrations.__name__
# Secrets are cached, so a few connections serve any load; the rest is the catalog's.
_CONNECTIONS: Final = 4
_SWEEP_SECONDS: Final = 600.0


@asynccontextmanager
async def vending(
    settings: VendingSettings,
    *,
    authz: Channel,
    verifier: PermitVerifier,
    remote: bool,
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> AsyncIterator[Host]:
    """Vending, ready to be called until the block ends; then what it started has ended too, last part first.

    Args:
        settings: what it is told.
        authz: a channel to authz, to a pod or into this process.
        verifier: knows the public half of the catalog's key.
        remote: whether the channel leaves this process; then questions that arrive together are sent as one.
        clock: the time; None: the machine's.
        ids: fresh ids; None: the machine's.

    Raises:
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        SettingsError: the key that encrypts was retired.
        Refusal: DATABASE_UNAVAILABLE.
    """
    clock, ids = clock or SystemClock(), ids or SystemIds()
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(_pool(settings.postgres))
        audit = _recorder(settings)
        keeps = settings.secrets.backend
        secrets = await stack.enter_async_context(
            _secrets(pool, settings.secrets, keeps=keeps, audits=audit is not None)
        )
        await _check_key(secrets)
        store = CachedSecrets(secrets)
        s3 = _s3(settings, stack, clock=clock, ids=ids)
        # another storage kind is another folder of adapters and another line here
        kinds = Kinds({"s3": s3, "stackit": s3})
        storages = Storages(store, kinds)
        host = Host(
            SERVICE,
            settle=_settle(settings, authz),
            read_only=settings.server.maintenance_mode == "read-only",
            audit=audit,
        )
        host.add_probe("database", pool.ping)
        skip = settings.storage.skip_validation
        authorizer = RemoteAuthorizer(authz, coalesce=remote)
        host.add(
            vending_pb2_grpc.add_VendingServiceServicer_to_server,
            VendingServicer(verifier, vend_access=AccessVends(storages), sign_request=RequestSignatures(storages)),
        )
        host.add(
            vending_pb2_grpc.add_FileServiceServicer_to_server,
            FileServicer(
                verifier,
                read_file=FileReads(storages),
                write_file=FileWrites(storages),
                delete_files=FileDeletions(storages),
                check_empty=EmptinessChecks(storages),
                purge_page=PagePurges(storages),
                list_files=FileListings(storages),
                read_part=PartReads(storages),
            ),
        )
        host.add(
            vending_pb2_grpc.add_StorageServiceServicer_to_server,
            StorageServicer(
                verifier,
                stage_credential=CredentialStagings(authorizer, store, clock, ids),
                keep_secret=SecretBindings(store, clock),
                forget_secret=SecretDeletions(store),
                normalise_profile=ProfileNormalisations(store, kinds, _address_rules(settings.storage)),
                validate_storage=StorageValidations(storages, clock, ids, skip=skip),
                claim_place=PlaceClaims(storages, skip=skip),
                release_place=PlaceReleases(storages, skip=skip),
            ),
        )
        doors, records = Doors(authorizer), PostgresAudit(pool)
        names = SystemIds()
        reads = await stack.enter_async_context(
            open_reads(pool, settings.postgres, SERVICE, tells=VendingTold(names), ids=names)
        )
        host.add(
            audit_pb2_grpc.add_AuditServiceServicer_to_server,
            AuditListings(doors, records, audit_pb2.ListAuditRecordsResponse),
        )
        host.add(
            events_pb2_grpc.add_EventServiceServicer_to_server,
            OwnStreams(
                STREAM, doors, reads, events_pb2.ReadEventsResponse, events_pb2.SubscribeResponse, decode.project
            ),
        )
        forgets = settings.server.maintenance_mode == "off"
        await stack.enter_async_context(auditing(settings.audit, audit, records, pool, forgets=forgets))
        await stack.enter_async_context(
            relaying(
                pool,
                settings.events,
                service=SERVICE,
                schema=settings.postgres.schema_of(SERVICE),
                listen_at=settings.postgres.direct_url,
                tail=reads.tail,
            )
        )
        stack.push_async_callback(_ended, asyncio.create_task(_keep_sweeping(StagedSweeps(store, clock))))
        yield host


@asynccontextmanager
async def _pool(settings: PostgresSettings) -> AsyncIterator[Pool]:
    async with service_pool(settings, SERVICE, size=min(_CONNECTIONS, settings.write_pool_connections)) as pool:
        needs = Needs(SERVICE, settings.schema_of(SERVICE), migrations.NEEDED, version("lakeward-vending"))
        await check_schema(pool, needs)
        yield pool


async def reencrypt(postgres: PostgresSettings, ring: SecretSettings, *, audits: bool) -> int:
    """Encrypt every secret in Postgres with the ring's first key; how many had another. Then older keys can be taken away.

    Where it `audits`, each is recorded. May run while others serve, once they have the new ring; may be repeated.

    Raises:
        SettingsError: no key is set.
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE, or SECRET_UNREADABLE where a key is gone already.
    """
    async with _pool(postgres) as pool, _secrets(pool, ring, keeps="postgres", audits=audits) as secrets:
        return await SecretReencryptions(secrets)()


async def move_secrets(
    postgres: PostgresSettings, settings: SecretSettings, *, to: Kept, audits: bool
) -> tuple[int, Sequence[UUID]]:
    """Bring every secret to Postgres or to the KV v2 store: how many were moved, and the ids of those that were not found.

    Where it `audits`, each is recorded. May run while others serve, once they can use both; may be repeated.

    Raises:
        SettingsError: the settings don't have what it takes.
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE, SECRET_STORE_UNAVAILABLE, or SECRET_UNREADABLE.
    """
    async with _pool(postgres) as pool, _secrets(pool, settings, keeps=to, audits=audits) as secrets:
        return await SecretMoves(secrets)()


@asynccontextmanager
async def _secrets(
    pool: Pool, settings: SecretSettings, *, keeps: Kept, audits: bool
) -> AsyncIterator[PostgresSecrets]:
    """The secret store, which keeps new secrets where it is told and reads those of both places.

    Raises:
        SettingsError: what that takes is not set.
    """
    ring = KeyRing({key.id: key.key for key in settings.key_ring}) if settings.key_ring else None
    if keeps == "postgres" and ring is None:
        raise SettingsError([Problem("LAKEWARD__ENCRYPTION_KEYS", "is unset, and secrets in Postgres need it")])
    if settings.kv2_url is None:
        if keeps == "kv2":
            raise SettingsError([Problem("LAKEKEEPER__KV2__URL", "is unset, and secrets in a KV v2 store need it")])
        yield PostgresSecrets(pool, ring, keeps=keeps, audits=audits)
        return
    from lakeward_vending.adapters.kv2.opening import opened  # noqa: PLC0415 - the HTTP library, where it is needed

    async with opened(settings) as vault:
        yield PostgresSecrets(pool, ring, vault=vault, keeps=keeps, audits=audits)


async def _check_key(secrets: PostgresSecrets) -> None:
    if await secrets.key_retired():
        raise SettingsError(
            [
                Problem(
                    "LAKEWARD__ENCRYPTION_KEYS",
                    "begins with a key that a rotation has retired; put the one first that `lakeward secrets rotate` had first",
                )
            ]
        )


def _s3(settings: VendingSettings, stack: AsyncExitStack, *, clock: Clock, ids: Ids) -> StorageKind:
    resolver = SystemResolver()
    stack.callback(resolver.close)
    guard = AddressGuard(_address_rules(settings.storage), resolver)
    per_service, failures = settings.storage.calls_per_store, settings.storage.failures_until_a_store_is_left_alone
    calls = HttpCalls(guard, Services(Connections, per_service=per_service, failures=failures))
    stack.callback(calls.close)
    rules, caches = _identity_rules(settings.storage), settings.caches
    stores = CachedS3(
        S3Backend(calls=calls, guard=guard, rules=rules, clock=clock, ids=ids),
        clock=clock,
        capacity=caches.credentials_capacity if caches.credentials_enabled else 0,
        longest=caches.credentials_time_to_live or LONGEST,
    )
    return S3Kind(stores, rules, clock)


def _address_rules(settings: StorageSettings) -> AddressRules:
    return AddressRules(denied=settings.deny_addresses, allowed=settings.allow_addresses)


def _identity_rules(settings: StorageSettings) -> SystemIdentityRules:
    return SystemIdentityRules(
        aws=settings.aws_system_credentials,
        aws_direct=settings.aws_direct_system_credentials,
        aws_external_id_required=settings.aws_external_id_required,
    )


def _recorder(settings: VendingSettings) -> Recorder | None:
    server = settings.server
    return recorder_of(
        settings.audit, default_project=server.default_project_id if server.enable_default_project else ""
    )


def _settle(settings: VendingSettings, authz: Channel) -> Settle[Caller]:
    server = settings.server
    default_project = server.default_project_id if server.enable_default_project else None
    return partial(caller_of, identity=RemoteIdentity(authz), default_project=default_project)


async def _keep_sweeping(sweep: StagedSweeps) -> None:
    """Sweep what was staged and never kept, now and then.

    It takes no lease: two that sweep at once skip each other's rows, and a row is either old enough or not.
    """
    while True:
        try:
            while swept := await sweep():
                _log.info("staged secrets were swept", extra={"count": swept})
        except Refusal as refused:
            _log.warning("staged secrets were not swept", extra={"refusal": str(refused)})
        except Exception:  # noqa: BLE001 - the loop of a background task goes on whatever one round of it raised
            _log.exception("staged secrets were not swept")
        await asyncio.sleep(_SWEEP_SECONDS)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
