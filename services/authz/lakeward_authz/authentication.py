"""The part of the composition that says who callers are: providers of identities, from their settings."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from lakeward_authz.application.identifying import Authenticator, Everybody, IdentityProvider, TrustedProviders
from lakeward_authz.domain.display_template import DisplayTemplate, MalformedTemplate
from lakeward_authz.domain.engines import EngineTokens
from lakeward_authz.domain.provider_rules import ProviderRules
from lakeward_authz.settings import AuthenticationSettings, OpenIdProvider
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.settings.model import variable_of
from lakeward_servicekit.settings.problems import Problem, SettingsError
from lakeward_servicekit.system import SystemClock

if TYPE_CHECKING:
    from lakeward_authz.adapters.kubernetes.cluster import Cluster
    from lakeward_authz.adapters.oidc.provider import Provider

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_authenticator(
    settings: AuthenticationSettings, engines: Sequence[EngineTokens]
) -> AsyncIterator[Authenticator]:
    """What says who callers are, until the block ends.

    Args:
        settings: which providers count, in the order in which they are asked.
        engines: tokens that are trusted engines'.

    Raises:
        SettingsError: a setting that can't be honoured.
        Refusal: IDENTITY_PROVIDER_UNAVAILABLE, where one is away that must be there at start.
    """
    if not settings.enabled:
        _log.warning(
            "NOBODY IS ASKED WHO THEY ARE: no identity provider is configured, so every caller is anonymous and bearer "
            "tokens are ignored",
            extra={"cure": f"set {variable_of('OPENID_PROVIDER_URI')}"},
        )
        yield Everybody()
        return
    rules = [_rules_of(provider_id, provider) for provider_id, provider in settings.providers.items()]
    _warn_of_any_audience(settings)
    async with AsyncExitStack() as stack:
        providers: list[IdentityProvider] = []
        if rules:
            providers += await stack.enter_async_context(_openid(rules, engines))
        if settings.kubernetes:
            providers += await stack.enter_async_context(_kubernetes(settings, engines))
        yield TrustedProviders(providers)


def _warn_of_any_audience(settings: AuthenticationSettings) -> None:
    """Upstream's defaults take tokens that were made for somebody else, who could use them here."""
    names = {
        provider_id: "OPENID_AUDIENCE"
        if provider_id == "oidc"
        else f"OPENID_PROVIDERS__{provider_id.upper()}__AUDIENCE"
        for provider_id, provider in settings.providers.items()
        if provider.audience is None
    }
    if settings.kubernetes and settings.kubernetes_audience is None:
        names["kubernetes"] = "KUBERNETES_AUTHENTICATION_AUDIENCE"
    for provider_id, name in names.items():
        _log.warning(
            "every token of an identity provider is taken, for whomever it was made",
            extra={"provider": provider_id, "cure": f"set {variable_of(name)}"},
        )


@asynccontextmanager
async def _openid(
    rules: Sequence[ProviderRules], engines: Sequence[EngineTokens]
) -> AsyncIterator[Sequence[IdentityProvider]]:
    # Imported here: without a provider, a process needs neither the cryptography nor the HTTP library.
    import httpx  # noqa: PLC0415

    from lakeward_authz.adapters.oidc import discovery, provider, verifier  # noqa: PLC0415
    from lakeward_servicekit import tls  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(
            httpx.AsyncClient(verify=tls.shared_context(), timeout=discovery.SECONDS, follow_redirects=False)
        )
        providers = [provider.Provider(each, partial(discovery.fetch, http, each.uri)) for each in rules]
        for each in providers:
            stack.push_async_callback(each.close)
        await asyncio.gather(*(_connect(each) for each in providers))
        for each in providers:
            stack.push_async_callback(_ended, asyncio.create_task(each.keep_fresh()))
        yield [verifier.OidcVerifier(each, engines=engines, clock=SystemClock()) for each in providers]


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


@asynccontextmanager
async def _kubernetes(
    settings: AuthenticationSettings, engines: Sequence[EngineTokens]
) -> AsyncIterator[Sequence[IdentityProvider]]:
    import httpx  # noqa: PLC0415 - as for OpenID

    from lakeward_authz.adapters.kubernetes import reviews, verifier  # noqa: PLC0415

    cluster = await _cluster(settings)
    audiences = None if settings.kubernetes_audience is None else frozenset(settings.kubernetes_audience)
    source = verifier.SubjectSource(settings.kubernetes_subject_source)
    rules = [verifier.KubernetesRules(audiences, None, source)]
    if settings.kubernetes_accept_legacy:
        rules.append(verifier.KubernetesRules(None, verifier.LEGACY_ISSUERS, source))
    async with httpx.AsyncClient(verify=_trusting(cluster), timeout=reviews.SECONDS, follow_redirects=False) as http:
        yield [
            verifier.KubernetesVerifier(
                each,
                reviews.RememberedReviews(reviews.TokenReviews(http, cluster, audiences=sorted(each.audiences or ()))),
                engines=engines,
                clock=SystemClock(),
            )
            for each in rules
        ]


async def _cluster(settings: AuthenticationSettings) -> Cluster:
    """The API server; its own token can be read."""
    from lakeward_authz.adapters.kubernetes.cluster import Cluster, NoCluster, OwnToken, own_cluster  # noqa: PLC0415

    ca_file, token_file = settings.kubernetes_ca_file, settings.kubernetes_token_file
    try:
        if settings.kubernetes_api_server is None:
            cluster = own_cluster(os.environ, ca_file=ca_file, token_file=token_file)
        else:
            assert ca_file is not None, "settings demand it"
            assert token_file is not None, "settings demand it"
            cluster = Cluster(settings.kubernetes_api_server.rstrip("/"), ca_file, token_file)
        await OwnToken(cluster.token_file).get()
    except NoCluster as error:
        raise unusable(
            "ENABLE_KUBERNETES_AUTHENTICATION",
            f"is true, and there is no cluster to ask: {error}; run in a pod with a service account, or set "
            f"{variable_of('KUBERNETES__API_SERVER')}, {variable_of('KUBERNETES__CA_FILE')} and "
            f"{variable_of('KUBERNETES__TOKEN_FILE')}",
        ) from error
    return cluster


def _trusting(cluster: Cluster) -> ssl.SSLContext:
    from lakeward_servicekit import tls  # noqa: PLC0415 - as for OpenID

    try:
        return tls.client_context(ca_file=str(cluster.ca_file))
    except tls.TlsSetupError as error:
        raise unusable(
            "ENABLE_KUBERNETES_AUTHENTICATION", f"is true, and the API server can't be known: {error}"
        ) from error


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _rules_of(provider_id: str, settings: OpenIdProvider) -> ProviderRules:
    assert settings.uri is not None, "settings demand it"
    template = settings.display_name_template
    try:
        parsed = None if template is None else DisplayTemplate.parse(template)
    except MalformedTemplate as error:
        first = provider_id == "oidc"
        name = "DISPLAY_NAME_TEMPLATE"
        name = f"OPENID_{name}" if first else f"OPENID_PROVIDERS__{provider_id.upper()}__{name}"
        raise unusable(name, f"can't be read: {error}") from error
    return ProviderRules(
        id=provider_id,
        uri=settings.uri,
        audiences=None if settings.audience is None else frozenset(settings.audience),
        additional_issuers=frozenset(settings.additional_issuers or ()),
        scope=settings.scope,
        subject_claims=settings.subject_claims,
        roles_claim=settings.roles_claim,
        display_template=parsed,
        leeway=settings.clock_leeway,
        required_at_start=settings.require_connected_on_startup,
    )


def unusable(name: str, why: str) -> SettingsError:
    """A setting that this process can't honour.

    Args:
        name: without prefix.
        why: goes on after the name, as in "is true, and ...".
    """
    return SettingsError([Problem(variable_of(name), why)])
