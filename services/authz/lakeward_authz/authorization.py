"""The part of the composition that says what callers may do: the engine that settings name."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from lakeward_authz.adapters.allow_all import AllowAll
from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.adapters.joined_rights import JoinedRights
from lakeward_authz.adapters.metered import Metered
from lakeward_authz.adapters.postgres.holders import Holders
from lakeward_authz.adapters.postgres.rights import PostgresRights
from lakeward_authz.adapters.postgres.visible_states import PostgresVisibleStates
from lakeward_authz.application.deciding import InstanceAdministrators, OwnProviders, RevisedAuthorizer, VisibleStates
from lakeward_authz.application.permissions import RightsTogether
from lakeward_authz.authentication import unusable
from lakeward_authz.domain.bindings import NONE, Bindings
from lakeward_authz.domain.permissions.lakeward import VERSION
from lakeward_authz.settings import DecidingSettings
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.settings.authorization import BUILT, AuthorizationSettings, AuthzBackend, OpenFgaSettings

if TYPE_CHECKING:
    from openfga_sdk.credentials import Credentials

    from lakeward_authz.adapters.openfga.connection import StoreAddress


@dataclasses.dataclass(frozen=True, slots=True)
class Deciding:
    """Who decides.

    Attributes:
        states: what sets of what shows depend on; None where nothing says.
        allows_everything: to everybody, whatever happens while the process runs.
        probes: what it can't decide without, by name, beside authz's database; each raises Refusal where it is away.
    """

    authorizer: RevisedAuthorizer
    states: VisibleStates | None = None
    allows_everything: bool = False
    probes: Mapping[str, Callable[[], Awaitable[None]]] = dataclasses.field(default_factory=dict)


@asynccontextmanager
async def open_authorizer(settings: DecidingSettings, pool: Pool, bindings: Bindings = NONE) -> AsyncIterator[Deciding]:
    """What decides, until the block ends. Nobody is waited for: what can't decide yet refuses to, and goes on trying.

    Args:
        settings: name the engine.
        pool: of authz's schema, on the primary; best one whose sessions plan once.
        bindings: which identity providers are a project's own.

    Raises:
        SettingsError: an engine or a model that this build does not serve.
    """
    async with AsyncExitStack() as stack:
        match settings.authorization.backend:
            case AuthzBackend.ALLOW_ALL:
                deciding = Deciding(AllowAll(), allows_everything=not bindings.projects)
            case AuthzBackend.BUILTIN:
                deciding = Deciding(Builtin(_rights(pool)), _states(settings, pool, bindings))
            case AuthzBackend.OPENFGA:
                deciding = await _openfga(settings.openfga, pool, stack)
                deciding = dataclasses.replace(deciding, states=_states(settings, pool, bindings))
            case backend:
                built = ", ".join(sorted(each.value for each in BUILT))
                raise unusable(
                    "AUTHZ_BACKEND", f"is {backend.value!r}, which this build does not serve; it serves {built}"
                )
        administered = _administered(deciding.authorizer, settings.authorization)
        bound = OwnProviders(administered, bindings) if bindings.projects else administered
        metered = Metered(bound, engine=settings.authorization.backend.value)
        yield dataclasses.replace(deciding, authorizer=metered)


async def migrate_openfga(settings: DecidingSettings) -> None:
    """Make the store and this release's model in it, where OpenFGA decides and they are not there yet. May be repeated.

    Raises:
        Refusal: AUTHORIZATION_UNAVAILABLE; nothing is waited for.
    """
    if settings.authorization.backend is not AuthzBackend.OPENFGA:
        return
    from lakeward_authz.adapters.openfga.connection import connected  # noqa: PLC0415 - see `_openfga`

    async with connected(address_of(settings.openfga)) as openfga:
        await openfga.migrate()


async def openfga_drift(settings: DecidingSettings, pool: Pool, *, repair: bool) -> Sequence[str] | None:
    """What OpenFGA holds otherwise than authz's rows say, each told; with `repair`, mended. None where it does not decide.

    Raises:
        Refusal: AUTHORIZATION_UNAVAILABLE, DATABASE_UNAVAILABLE.
    """
    if settings.authorization.backend is not AuthzBackend.OPENFGA:
        return None
    from lakeward_authz.adapters.openfga.connection import connected  # noqa: PLC0415 - see `_openfga`
    from lakeward_authz.adapters.openfga.feeding import Feeder  # noqa: PLC0415

    async with connected(address_of(settings.openfga)) as openfga:
        return [str(each) for each in await Feeder(pool, openfga).verify(repair=repair)]


async def _openfga(settings: OpenFgaSettings, pool: Pool, stack: AsyncExitStack) -> Deciding:
    # Imported here: who asks no OpenFGA needs neither its client nor that one's libraries.
    from lakeward_authz.adapters.openfga.connection import connected  # noqa: PLC0415
    from lakeward_authz.adapters.openfga.engine import OpenFgaEngine  # noqa: PLC0415
    from lakeward_authz.adapters.openfga.feeding import Feeder  # noqa: PLC0415

    openfga = await stack.enter_async_context(connected(address_of(settings)))
    feeder = Feeder(pool, openfga)
    await stack.enter_async_context(feeder.kept_up())
    engine = OpenFgaEngine(openfga, feeder, _rights(pool))
    return Deciding(engine, probes={"openfga": openfga.ping})


def address_of(settings: OpenFgaSettings) -> StoreAddress:
    """Where the store is, and how it is asked.

    Raises:
        SettingsError: a version of the model that this release does not ask by.
    """
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


def _rights(pool: Pool) -> RightsTogether:
    """What callers hold, asked together and remembered under the state of the grants."""
    return JoinedRights(PostgresRights(pool, holders=Holders(pool)))


def _states(settings: DecidingSettings, pool: Pool, bindings: Bindings) -> VisibleStates:
    """Of either engine: both read what shows from the rows, and the administrators and bindings are laid over it."""
    laid_over = (
        sorted(settings.authorization.instance_admins),
        sorted((provider, sorted(own)) for provider, own in bindings.projects.items()),
    )
    return PostgresVisibleStates(pool, PostgresRights(pool), Holders(pool), settings=repr(laid_over))


def _administered(authorizer: RevisedAuthorizer, settings: AuthorizationSettings) -> RevisedAuthorizer:
    """With the administrators of the instance laid over it."""
    if not settings.instance_admins:
        return authorizer
    return InstanceAdministrators(authorizer, frozenset(settings.instance_admins))
