"""Builds vending from its parts."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from lakeward_protocol.vending.v1 import vending_pb2_grpc
from lakeward_servicekit.authorization.remote import RemoteAuthorizer
from lakeward_servicekit.authorization.remote_identity import RemoteIdentity
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.postgres.pools import Pool, service_pool
from lakeward_servicekit.postgres.schemas import Needs, check_schema
from lakeward_servicekit.rpc import Host
from lakeward_servicekit.system import SystemClock, SystemIds
from lakeward_vending.adapters.caching.backends import LONGEST, CachedBackend
from lakeward_vending.adapters.caching.secrets import CachedSecrets
from lakeward_vending.adapters.network.addresses import AddressGuard, SystemResolver
from lakeward_vending.adapters.network.calls import Connections, HttpCalls
from lakeward_vending.adapters.network.services import Services
from lakeward_vending.adapters.postgres import migrations
from lakeward_vending.adapters.postgres.sealing import KeyRing
from lakeward_vending.adapters.postgres.secrets import PostgresSecrets
from lakeward_vending.adapters.s3.backend import S3Backend
from lakeward_vending.application import files, secrets
from lakeward_vending.application.marking_places import claim_place, release_place
from lakeward_vending.application.normalise_profile import normalise_profile
from lakeward_vending.application.sign_request import sign_request
from lakeward_vending.application.storages import Backends
from lakeward_vending.application.validate_storage import validate_storage
from lakeward_vending.application.vend_access import vend_access
from lakeward_vending.domain.addresses import AddressRules
from lakeward_vending.domain.system_identity import SystemIdentityRules
from lakeward_vending.transport.access import VendingServicer
from lakeward_vending.transport.callers import caller_of
from lakeward_vending.transport.files import FileServicer
from lakeward_vending.transport.storage import StorageServicer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from lakeward_servicekit.permits import PermitVerifier
    from lakeward_servicekit.rpc import Channel, Settle
    from lakeward_servicekit.settings.postgres import PostgresSettings
    from lakeward_vending.application.caller import Caller
    from lakeward_vending.application.ports import Clock, Ids, SecretStore, StorageBackend
    from lakeward_vending.settings import CacheSettings, SecretSettings, StorageSettings, VendingSettings

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
        Refusal: DATABASE_UNAVAILABLE.
    """
    clock, ids = clock or SystemClock(), ids or SystemIds()
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(_pool(settings.postgres))
        store = CachedSecrets(_secrets(pool, settings.secrets))
        s3 = _s3(settings, stack, clock=clock, ids=ids)
        # another storage kind is another folder of adapters and another line here
        backends = Backends({"s3": s3, "stackit": s3})
        host = Host(SERVICE, settle=_settle(settings, authz), read_only=settings.server.maintenance_mode == "read-only")
        host.add_probe("database", pool.ping)
        _add_access(host, verifier, store, backends, clock)
        _add_files(host, verifier, store, backends)
        _add_storage(
            host, settings, authz, verifier, store=store, backends=backends, remote=remote, clock=clock, ids=ids
        )
        stack.push_async_callback(_ended, asyncio.create_task(_keep_sweeping(store, clock)))
        yield host


@asynccontextmanager
async def _pool(settings: PostgresSettings) -> AsyncIterator[Pool]:
    async with service_pool(settings, SERVICE, size=min(_CONNECTIONS, settings.write_pool_connections)) as pool:
        needs = Needs(SERVICE, settings.schema_of(SERVICE), migrations.NEEDED, version("lakeward-vending"))
        await check_schema(pool, needs)
        yield pool


async def reencrypt(postgres: PostgresSettings, ring: SecretSettings) -> int:
    """Encrypt every secret with the ring's first key; how many had another. Then older keys can be taken away.

    May run while others serve, once they have the new ring; may be repeated.

    Raises:
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
        Refusal: DATABASE_UNAVAILABLE, or SECRET_UNREADABLE where a key is gone already.
    """
    async with _pool(postgres) as pool:
        return await secrets.reencrypt_secrets(secrets=_secrets(pool, ring))


def _secrets(pool: Pool, settings: SecretSettings) -> SecretStore:
    return PostgresSecrets(pool, KeyRing({key.id: key.key for key in settings.key_ring}))


def _s3(settings: VendingSettings, stack: AsyncExitStack, *, clock: Clock, ids: Ids) -> StorageBackend:
    resolver = SystemResolver()
    stack.callback(resolver.close)
    guard = AddressGuard(_address_rules(settings.storage), resolver)
    calls = HttpCalls(guard, _services(settings.storage))
    stack.callback(calls.close)
    backend = S3Backend(calls=calls, guard=guard, rules=_identity_rules(settings.storage), clock=clock, ids=ids)
    return _cached(backend, settings.caches, clock)


def _services(settings: StorageSettings) -> Services[Connections]:
    return Services(
        Connections, per_service=settings.calls_per_store, failures=settings.failures_until_a_store_is_left_alone
    )


def _cached(backend: StorageBackend, settings: CacheSettings, clock: Clock) -> StorageBackend:
    return CachedBackend(
        backend,
        clock=clock,
        capacity=settings.credentials_capacity if settings.credentials_enabled else 0,
        longest=settings.credentials_time_to_live or LONGEST,
    )


def _address_rules(settings: StorageSettings) -> AddressRules:
    return AddressRules(denied=settings.deny_addresses, allowed=settings.allow_addresses)


def _identity_rules(settings: StorageSettings) -> SystemIdentityRules:
    return SystemIdentityRules(
        aws=settings.aws_system_credentials,
        aws_direct=settings.aws_direct_system_credentials,
        aws_external_id_required=settings.aws_external_id_required,
    )


def _settle(settings: VendingSettings, authz: Channel) -> Settle[Caller]:
    server = settings.server
    default_project = server.default_project_id if server.enable_default_project else None
    return partial(caller_of, identity=RemoteIdentity(authz), default_project=default_project)


def _add_access(host: Host, verifier: PermitVerifier, store: SecretStore, backends: Backends, clock: Clock) -> None:
    servicer = VendingServicer(
        verifier=verifier,
        vend_access=partial(vend_access, secrets=store, backends=backends),
        sign_request=partial(sign_request, secrets=store, backends=backends, clock=clock),
    )
    host.add(vending_pb2_grpc.add_VendingServiceServicer_to_server, servicer)


def _add_files(host: Host, verifier: PermitVerifier, store: SecretStore, backends: Backends) -> None:
    servicer = FileServicer(
        verifier=verifier,
        read_file=partial(files.read_file, secrets=store, backends=backends),
        write_file=partial(files.write_file, secrets=store, backends=backends),
        delete_files=partial(files.delete_files, secrets=store, backends=backends),
        is_empty=partial(files.is_empty, secrets=store, backends=backends),
        purge_page=partial(files.purge_page, secrets=store, backends=backends),
    )
    host.add(vending_pb2_grpc.add_FileServiceServicer_to_server, servicer)


def _add_storage(
    host: Host,
    settings: VendingSettings,
    authz: Channel,
    verifier: PermitVerifier,
    *,
    store: SecretStore,
    backends: Backends,
    remote: bool,
    clock: Clock,
    ids: Ids,
) -> None:
    servicer = StorageServicer(
        verifier=verifier,
        stage_credential=partial(
            secrets.stage_credential,
            authorizer=RemoteAuthorizer(authz, coalesce=remote),
            secrets=store,
            clock=clock,
            ids=ids,
        ),
        keep_secret=partial(secrets.keep_secret, secrets=store, clock=clock),
        forget_secret=partial(secrets.forget_secret, secrets=store),
        normalise_profile=partial(
            normalise_profile,
            secrets=store,
            addresses=_address_rules(settings.storage),
            identities=_identity_rules(settings.storage),
        ),
        validate_storage=partial(
            validate_storage,
            skip=settings.storage.skip_validation,
            secrets=store,
            backends=backends,
            clock=clock,
            ids=ids,
        ),
        claim_place=partial(claim_place, skip=settings.storage.skip_validation, secrets=store, backends=backends),
        release_place=partial(release_place, skip=settings.storage.skip_validation, secrets=store, backends=backends),
    )
    host.add(vending_pb2_grpc.add_StorageServiceServicer_to_server, servicer)


async def _keep_sweeping(store: SecretStore, clock: Clock) -> None:
    """Sweep what was staged and never kept, now and then.

    It takes no lease: two that sweep at once skip each other's rows, and a row is either old enough or not.
    """
    while True:
        try:
            while swept := await secrets.sweep_staged(secrets=store, clock=clock):
                _log.info("staged secrets were swept", extra={"count": swept})
        except Refusal as refused:
            _log.warning("staged secrets were not swept", extra={"refusal": str(refused)})
        except Exception:  # noqa: BLE001 - the loop of a background task goes on whatever one round of it raised
            _log.exception("staged secrets were not swept")
        await asyncio.sleep(_SWEEP_SECONDS)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
