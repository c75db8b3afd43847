"""The part of the composition that says what callers may do: the engine that settings name."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

from lakeward_authz.adapters.allow_all import AllowAll
from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.adapters.joined_rights import JoinedRights
from lakeward_authz.adapters.postgres.rights import PostgresRights
from lakeward_authz.application.deciding import InstanceAdministrators, RevisedAuthorizer
from lakeward_authz.authentication import unusable
from lakeward_authz.domain.permissions.lakeward import VERSION
from lakeward_authz.settings import DecidingSettings
from lakeward_servicekit.postgres.plans import with_generic_plans
from lakeward_servicekit.postgres.pools import Pool, service_pool
from lakeward_servicekit.settings.authorization import BUILT, AuthorizationSettings, AuthzBackend, OpenFgaSettings
from lakeward_servicekit.settings.postgres import PostgresSettings

if TYPE_CHECKING:
    from openfga_sdk.credentials import Credentials

    from lakeward_authz.adapters.openfga.connection import StoreAddress

# A question is one statement, so few connections answer many; beside those that write.
_CONNECTIONS: Final = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Deciding:
    """Who decides.

    Attributes:
        probes: what it can't decide without, by name, beside authz's database; each raises Refusal where it is away.
    """

    authorizer: RevisedAuthorizer
    probes: Mapping[str, Callable[[], Awaitable[None]]] = dataclasses.field(default_factory=dict)


@asynccontextmanager
async def open_authorizer(settings: DecidingSettings, postgres: PostgresSettings) -> AsyncIterator[Deciding]:
    """What decides, until the block ends. Nobody is waited for: what can't decide yet refuses to, and goes on trying.

    Raises:
        SettingsError: an engine or a model that this build does not serve.
    """
    async with AsyncExitStack() as stack:
        match settings.authorization.backend:
            case AuthzBackend.ALLOW_ALL:
                deciding = Deciding(AllowAll())
            case AuthzBackend.BUILTIN:
                deciding = Deciding(Builtin(JoinedRights(PostgresRights(await _decisions(postgres, stack)))))
            case AuthzBackend.OPENFGA:
                deciding = await _openfga(settings.openfga, await _decisions(postgres, stack), stack)
            case backend:
                built = ", ".join(sorted(each.value for each in BUILT))
                raise unusable(
                    "AUTHZ_BACKEND", f"is {backend.value!r}, which this build does not serve; it serves {built}"
                )
        yield dataclasses.replace(deciding, authorizer=_administered(deciding.authorizer, settings.authorization))


async def migrate_openfga(settings: DecidingSettings) -> None:
    """Make the store and this release's model in it, where OpenFGA decides and they are not there yet. May be repeated.

    Raises:
        Refusal: AUTHORIZATION_UNAVAILABLE; nothing is waited for.
    """
    if settings.authorization.backend is not AuthzBackend.OPENFGA:
        return
    from lakeward_authz.adapters.openfga.connection import connected  # noqa: PLC0415 - see `_openfga`

    async with connected(_address(settings.openfga)) as openfga:
        await openfga.migrate()


async def _decisions(postgres: PostgresSettings, stack: AsyncExitStack) -> Pool:
    planned = with_generic_plans(postgres.write_url)
    return await stack.enter_async_context(
        service_pool(postgres, "authz", url=planned, size=_CONNECTIONS, use="decisions")
    )


async def _openfga(settings: OpenFgaSettings, pool: Pool, stack: AsyncExitStack) -> Deciding:
    # Imported here: who asks no OpenFGA needs neither its client nor that one's libraries.
    from lakeward_authz.adapters.openfga.connection import connected  # noqa: PLC0415
    from lakeward_authz.adapters.openfga.engine import OpenFgaEngine  # noqa: PLC0415
    from lakeward_authz.adapters.openfga.feeding import Feeder  # noqa: PLC0415

    openfga = await stack.enter_async_context(connected(_address(settings)))
    feeder = Feeder(pool, openfga)
    await stack.enter_async_context(feeder.kept_up())
    return Deciding(OpenFgaEngine(openfga, feeder, JoinedRights(PostgresRights(pool))), {"openfga": openfga.ping})


def _address(settings: OpenFgaSettings) -> StoreAddress:
    from lakeward_authz.adapters.openfga.connection import StoreAddress  # noqa: PLC0415 - see `_openfga`

    assert settings.endpoint is not None, "settings demand it"
    pinned = settings.authorization_model_version
    if pinned is not None and pinned != VERSION:
        # Upstream takes any, and asks by its own version all the same.
        why = f"is {pinned}, and this release asks by version {VERSION} of its own model; unset it, or write that"
        raise unusable("OPENFGA__AUTHORIZATION_MODEL_VERSION", why)
    return StoreAddress(
        url=settings.endpoint.rstrip("/"),
        store=settings.store_name,
        prefix=settings.authorization_model_prefix,
        credentials=_credentials(settings),
        writes_model=pinned is None,
        patience=settings.timeout,
        most_checks=settings.max_batch_check_size,
    )


def _credentials(settings: OpenFgaSettings) -> Credentials | None:
    from openfga_sdk.credentials import CredentialConfiguration, Credentials  # noqa: PLC0415 - see `_openfga`

    if settings.client_id is not None:
        assert settings.client_secret is not None, "settings demand it"
        assert settings.token_endpoint is not None, "settings demand it"
        known = CredentialConfiguration(
            client_id=settings.client_id,
            client_secret=settings.client_secret.get_secret_value(),
            api_issuer=settings.token_endpoint,
            scopes=settings.scope,
        )
        return Credentials(method="client_credentials", configuration=known)
    if settings.api_key is not None:
        return Credentials(
            method="api_token", configuration=CredentialConfiguration(api_token=settings.api_key.get_secret_value())
        )
    return None


def _administered(authorizer: RevisedAuthorizer, settings: AuthorizationSettings) -> RevisedAuthorizer:
    """With the administrators of the instance laid over it."""
    if not settings.instance_admins:
        return authorizer
    return InstanceAdministrators(authorizer, frozenset(settings.instance_admins))
