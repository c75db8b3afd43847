"""Builds authz from its parts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from lakeward_authz.adapters.allow_all import AllowAll
from lakeward_authz.adapters.postgres.users import PostgresUsers
from lakeward_authz.application.deciding import InstanceAdministrators, RevisedAuthorizer
from lakeward_authz.application.identifying import Authenticator, Everybody
from lakeward_authz.domain.display_template import DisplayTemplate, MalformedTemplate
from lakeward_authz.domain.engines import EngineTokens
from lakeward_authz.domain.provider_rules import ProviderRules
from lakeward_authz.settings import AuthzSettings
from lakeward_authz.transport.decisions import DecisionServicer
from lakeward_authz.transport.identity import IdentityServicer
from lakeward_protocol.authz.v1 import decisions_pb2_grpc, identity_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.postgres.schemas import Needs, check_schema
from lakeward_servicekit.rpc import Host
from lakeward_servicekit.settings.authentication import AuthenticationSettings, OpenIdProvider
from lakeward_servicekit.settings.authorization import BUILT, AuthorizationSettings, AuthzBackend
from lakeward_servicekit.settings.model import variable_of
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.problems import Problem, SettingsError

if TYPE_CHECKING:
    from lakeward_authz.adapters.oidc.provider import Provider

_log = logging.getLogger(__name__)

MIGRATIONS: Final = "lakeward_authz.adapters.postgres.migrations"
SCHEMA_NUMBER: Final = 1
# Users are written when they are first seen, so a few connections serve any load; the rest is the catalog's.
_CONNECTIONS: Final = 4


@asynccontextmanager
async def authz(
    settings: AuthzSettings, *, authorizer: RevisedAuthorizer | None = None, read_only: bool = False
) -> AsyncIterator[Host]:
    """Authz, ready to be called until the block ends.

    Args:
        settings: what it is told.
        authorizer: decides in place of the one that the settings name.
        read_only: whether mutations are refused, for maintenance.

    Raises:
        SettingsError: a setting that this build can't honour.
        Refusal: IDENTITY_PROVIDER_UNAVAILABLE, where one is away that must be there; DATABASE_UNAVAILABLE.
        SchemaMismatch: `lakeward migrate` did not run, or another release's did.
    """
    async with AsyncExitStack() as stack:
        decider = authorizer or _authorizer(settings.authorization)
        authenticator = await stack.enter_async_context(_authenticator(settings))
        pool = await stack.enter_async_context(_pool(settings.postgres))
        host = Host("authz", read_only=read_only, reflects=True)
        host.add(decisions_pb2_grpc.add_DecisionServiceServicer_to_server, DecisionServicer(decider))
        host.add(
            identity_pb2_grpc.add_IdentityServiceServicer_to_server,
            IdentityServicer(authenticator=authenticator, users=PostgresUsers(pool), now=lambda: datetime.now(UTC)),
        )
        # Not the identity providers: tokens under known keys are verified while those are away.
        host.add_probe("database", pool.ping)
        yield host


def _authorizer(settings: AuthorizationSettings) -> RevisedAuthorizer:
    backend = settings.backend
    if backend is not AuthzBackend.ALLOW_ALL:
        built = ", ".join(sorted(each.value for each in BUILT))
        raise _unusable("AUTHZ_BACKEND", f"is {backend.value!r}, which this build has no adapter for; it has {built}")
    everything = AllowAll()
    if not settings.instance_admins:
        return everything
    return InstanceAdministrators(everything, frozenset(settings.instance_admins))


@asynccontextmanager
async def _pool(settings: PostgresSettings) -> AsyncIterator[Pool]:
    schema = settings.schema_of("authz")
    async with open_pool(
        settings.write_url,
        size=min(_CONNECTIONS, settings.write_pool_connections),
        name="lakeward authz",
        schema=schema,
        root_cert=settings.ssl_root_cert,
        acquire_timeout=settings.acquire_timeout,
        max_lifetime=settings.connection_max_lifetime,
        test_before_acquire=settings.test_before_acquire,
        log_statements=settings.statement_logging,
    ) as pool:
        await check_schema(pool, Needs("authz", schema, SCHEMA_NUMBER, version("lakeward-authz")))
        yield pool


@asynccontextmanager
async def _authenticator(settings: AuthzSettings) -> AsyncIterator[Authenticator]:
    authentication = settings.authentication
    if authentication.kubernetes:
        raise _unusable(
            "ENABLE_KUBERNETES_AUTHENTICATION",
            "is true, and this build can't review Kubernetes tokens; set OPENID_PROVIDERS__<ID>__URI to the cluster's issuer",
        )
    rules = _rules(authentication)
    if not rules:
        _log.warning(
            "NOBODY IS ASKED WHO THEY ARE: no identity provider is configured, so every caller is anonymous and bearer "
            "tokens are ignored",
            extra={"cure": f"set {variable_of('OPENID_PROVIDER_URI')}"},
        )
        yield Everybody()
        return
    # Imported here: without a provider, a process needs neither the cryptography nor the HTTP library.
    import httpx  # noqa: PLC0415

    from lakeward_authz.adapters.oidc import discovery, provider, verifier  # noqa: PLC0415
    from lakeward_servicekit import tls  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(
            httpx.AsyncClient(verify=tls.shared_context(), timeout=discovery.SECONDS)
        )
        providers = [provider.Provider(each, partial(discovery.fetch, http, each.uri)) for each in rules]
        for each in providers:
            stack.push_async_callback(each.close)
        await asyncio.gather(*(_connect(each) for each in providers))
        for each in providers:
            stack.push_async_callback(_ended, asyncio.create_task(each.keep_fresh()))
        yield verifier.OidcAuthenticator(
            providers, engines=_engines(settings.authorization), now=lambda: datetime.now(UTC)
        )


async def _connect(provider: Provider) -> None:
    from lakeward_authz.adapters.oidc.discovery import ProviderUnreachable  # noqa: PLC0415 - see where it is called

    try:
        await provider.refresh()
    except ProviderUnreachable as error:
        if provider.rules.required_at_start:
            raise Refusal(
                Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE,
                f"the identity provider {provider.rules.id!r} must be there at start: {error}",
                provider=provider.rules.id,
            ) from error
        _log.warning(
            "serving without an identity provider until it can be reached; its users can't sign in",
            extra={"provider": provider.rules.id},
        )


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _rules(settings: AuthenticationSettings) -> list[ProviderRules]:
    return [_rules_of(provider_id, provider) for provider_id, provider in settings.providers.items()]


def _rules_of(provider_id: str, settings: OpenIdProvider) -> ProviderRules:
    assert settings.uri is not None, "settings demand it"
    template = settings.display_name_template
    try:
        parsed = None if template is None else DisplayTemplate.parse(template)
    except MalformedTemplate as error:
        first = provider_id == "oidc"
        name = "DISPLAY_NAME_TEMPLATE"
        name = f"OPENID_{name}" if first else f"OPENID_PROVIDERS__{provider_id.upper()}__{name}"
        raise _unusable(name, f"can't be read: {error}") from error
    return ProviderRules(
        id=provider_id,
        uri=settings.uri,
        audiences=None if settings.audience is None else frozenset(settings.audience),
        additional_issuers=frozenset(settings.additional_issuers or ()),
        scope=settings.scope,
        subject_claims=settings.subject_claims,
        roles_claim=settings.roles_claim,
        display_template=parsed,
        required_at_start=settings.require_connected_on_startup,
    )


def _engines(settings: AuthorizationSettings) -> list[EngineTokens]:
    return [
        EngineTokens(name, provider_id, frozenset(identity.audiences), frozenset(identity.subjects))
        for name, engine in settings.trusted_engines.items()
        for provider_id, identity in engine.identities.items()
    ]


def _unusable(name: str, why: str) -> SettingsError:
    return SettingsError([Problem(variable_of(name), why)])
