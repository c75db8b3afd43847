"""Authz as it is composed, against a real identity provider and a real Postgres."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID

import httpx
import pytest

from lakeward_authz.application.permissions import Grant, Made
from lakeward_authz.bootstrap import MIGRATIONS, authz
from lakeward_authz.domain.permissions.objects import ObjectKey, user_subject
from lakeward_authz.settings import AuthzSettings
from lakeward_components import oidc as nanoidp
from lakeward_components.oidc import ALICE, BOB, SERVICE, OidcProvider
from lakeward_protocol.authz.v1 import identity_pb2 as pb
from lakeward_protocol.authz.v1 import identity_pb2_grpc
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome
from lakeward_servicekit.authorization.identity import Identified
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal, PrincipalKind, RoleId, UserId, user
from lakeward_servicekit.authorization.registrar import Presented
from lakeward_servicekit.authorization.remote import RemoteAuthorizer
from lakeward_servicekit.authorization.remote_identity import RemoteIdentity
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.postgres.schemas import SchemaMismatch
from lakeward_servicekit.rpc import Caller, Channel, connect
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.problems import SettingsError
from tests.support.authz_stores import opened
from tests.support.tokens import client_token, expiring_token, rotate_keys, signed_by, user_token

pytestmark = pytest.mark.integration

ROLE = "0198f2c0-0000-7000-8000-000000000001"


@pytest.fixture
async def database(postgres_url: str) -> str:
    await migrate(SecretStr(postgres_url), package=MIGRATIONS, schema="lakeward_authz")
    return postgres_url


def settings(database: str, **variables: str) -> AuthzSettings:
    environ = {f"LAKEKEEPER__{name}": value for name, value in variables.items()}
    return load(AuthzSettings, {"LAKEKEEPER__PG_DATABASE_URL_WRITE": database, **environ}).settings


def with_provider(database: str, provider: OidcProvider, **variables: str) -> AuthzSettings:
    return settings(database, OPENID_PROVIDER_URI=provider.issuer, OPENID_AUDIENCE=provider.audience, **variables)


@asynccontextmanager
async def serving(given: AuthzSettings) -> AsyncIterator[Channel]:
    async with authz(given) as host:
        yield host.channel(caller=Caller.CALLER_CATALOG)


async def identify(channel: Channel, token: str) -> Identified:
    return await RemoteIdentity(channel).authenticate(RequestContext(authorization=f"Bearer {token}"))


async def refused(channel: Channel, token: str) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        await identify(channel, token)
    assert not token or token not in str(refusal.value)
    return refusal.value


def part(document: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


async def test_people_and_programs_are_known_by_their_tokens(database: str, oidc: OidcProvider) -> None:
    async with serving(with_provider(database, oidc)) as channel:
        alice = await identify(channel, await user_token(oidc, ALICE))
        assert alice.principal == user("oidc~alice")
        assert alice.expires_at is not None
        assert alice.expires_at > datetime.now(UTC)
        service = await identify(channel, await client_token(oidc))
        assert service.principal == user(f"oidc~{SERVICE.id}")


async def test_over_the_wire_it_is_the_same(database: str, oidc: OidcProvider) -> None:
    class Catalog:
        def caller_of(self, *_: object) -> Caller.ValueType:
            return Caller.CALLER_CATALOG

    token = await user_token(oidc, ALICE)
    async with (
        authz(with_provider(database, oidc)) as host,
        host.serve("127.0.0.1:0", workloads=Catalog()) as port,
        connect(f"127.0.0.1:{port}", service="authz") as channel,
    ):
        assert (await identify(channel, token)).principal == user("oidc~alice")
        assert (await refused(channel, token[:-9] + "A" * 9)).metadata == {"cause": "signature"}
        warehouse = Demand(ObjectRef.project("p"), Action.PROJECT_CREATE_WAREHOUSE)
        authorizer = RemoteAuthorizer(channel, coalesce=True)
        assert list(await authorizer.decide(user("oidc~alice"), [warehouse])) == [Outcome.ALLOWED]


async def test_bad_tokens_are_refused_with_their_cause(database: str, oidc: OidcProvider) -> None:
    async with serving(with_provider(database, oidc)) as channel:
        good = await user_token(oidc, ALICE)
        head, body, signature = good.split(".")
        header = json.loads(base64.urlsafe_b64decode(head + "=="))
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        bad = {
            await expiring_token(oidc, ALICE, seconds=-300): "expired",
            await client_token(oidc, resource="https://elsewhere.example.org"): "audience",
            f"{part({**header, 'alg': 'none'})}.{body}.": "algorithm",
            f"{part({**header, 'alg': 'HS256'})}.{body}.{signature}": "algorithm",
            f"{part({**header, 'kid': 'made-up'})}.{body}.{signature}": "key",
            f"{head}.{part({**claims, 'sub': 'bob'})}.{signature}": "signature",
            f"{head}.{part({**claims, 'iss': 'https://evil.example.org'})}.{signature}": "issuer",
            "x" * 20_000: "too long",
            "opaque-value": "malformed",
        }
        causes = {token: (await refused(channel, token)).metadata["cause"] for token in bad}
        assert causes == bad
        assert (await refused(channel, "")).reason == Reason.REASON_TOKEN_MISSING


async def test_a_token_without_the_configured_subject_or_scope_is_refused(database: str, oidc: OidcProvider) -> None:
    token = await user_token(oidc, ALICE)
    async with serving(with_provider(database, oidc, OPENID_SUBJECT_CLAIM="employee_number")) as channel:
        assert (await refused(channel, token)).metadata == {"cause": "subject"}
    async with serving(with_provider(database, oidc, OPENID_SCOPE="lakekeeper")) as channel:
        assert (await refused(channel, token)).metadata == {"cause": "scope"}
        scoped = await client_token(oidc, scope="openid lakekeeper")
        assert (await identify(channel, scoped)).principal == user(f"oidc~{SERVICE.id}")


async def test_another_issuers_token_is_refused_and_a_second_provider_has_users_of_its_own(
    database: str, oidc: OidcProvider, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with nanoidp.running(tmp_path_factory.mktemp("second")) as second:
        token = await user_token(second, ALICE)
        async with serving(with_provider(database, oidc)) as channel:
            assert (await refused(channel, token)).metadata == {"cause": "issuer"}
        more = {
            "OPENID_PROVIDERS__SECOND__URI": f"{second.issuer}/",
            "OPENID_PROVIDERS__SECOND__AUDIENCE": second.audience,
        }
        async with serving(with_provider(database, oidc, **more)) as channel:
            assert (await identify(channel, token)).principal == user("second~alice")
            assert (await identify(channel, await user_token(oidc, ALICE))).principal == user("oidc~alice")


async def test_keys_rotate_under_running_sessions(database: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    async with (
        nanoidp.running(tmp_path_factory.mktemp("rotating")) as provider,
        serving(with_provider(database, provider)) as channel,
    ):
        before = await user_token(provider, ALICE)
        assert (await identify(channel, before)).principal == user("oidc~alice")
        await rotate_keys(provider)
        after = await user_token(provider, BOB)
        assert key_of(before) != key_of(after)
        assert (await identify(channel, after)).principal == user("oidc~bob")
        assert (await identify(channel, before)).principal == user("oidc~alice"), "the old key is still published"


def key_of(token: str) -> object:
    head = token.partition(".")[0]
    return json.loads(base64.urlsafe_b64decode(head + "=="))["kid"]


async def test_known_keys_outlive_their_provider_and_unknown_ones_are_put_off(
    database: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with nanoidp.running(tmp_path_factory.mktemp("going")) as provider:
        token = await user_token(provider, ALICE)
        async with serving(with_provider(database, provider)) as channel:
            await provider.stop()
            assert (await identify(channel, token)).principal == user("oidc~alice")
            _, body, signature = token.split(".")
            rotated = f"{part({'alg': 'RS256', 'kid': 'rotated'})}.{body}.{signature}"
            refusal = await refused(channel, rotated)
            assert refusal.reason == Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE


async def test_a_provider_that_is_away_stops_the_start_unless_it_may_come_later(
    database: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("late")
    provider = await nanoidp.start(folder)
    token = await user_token(provider, ALICE)
    await provider.stop()
    with pytest.raises(Refusal, match="must be there at start"):
        async with serving(with_provider(database, provider)):
            pass
    later = {
        "OPENID_PROVIDERS__LATE__URI": provider.issuer,
        "OPENID_PROVIDERS__LATE__AUDIENCE": provider.audience,
        "OPENID_PROVIDERS__LATE__REQUIRE_CONNECTED_ON_STARTUP": "false",
    }
    async with serving(settings(database, **later)) as channel:
        assert (await refused(channel, token)).reason == Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE
        port = httpx.URL(provider.issuer).port
        async with nanoidp.running(folder, port=port) as again:
            assert (await until_identified(channel, await user_token(again, ALICE))).principal == user("late~alice")


async def until_identified(channel: Channel, token: str) -> Identified:
    while True:
        try:
            return await identify(channel, token)
        except Refusal as refusal:
            if refusal.reason != Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE:
                raise


async def test_callers_are_recorded_and_one_is_the_first_administrator(database: str, oidc: OidcProvider) -> None:
    async with serving(with_provider(database, oidc)) as channel:
        identity = RemoteIdentity(channel)
        alice = Presented(f"Bearer {await user_token(oidc, ALICE)}", request_id="r")
        bob = Presented(f"Bearer {await user_token(oidc, BOB)}")
        assert await identity.provision_user(alice) == await identity.provision_user(alice) == "oidc~alice"
        await identity.bootstrap_administrator(bob, is_operator=False)
        await identity.bootstrap_administrator(bob, is_operator=False)
        with pytest.raises(Refusal) as refusal:
            await identity.bootstrap_administrator(alice, is_operator=False)
        assert refusal.value.reason == Reason.REASON_ALREADY_BOOTSTRAPPED


async def test_of_first_contacts_at_once_one_records_the_user(database: str, oidc: OidcProvider) -> None:
    request = pb.ProvisionUserRequest(context=RequestContext(authorization=f"Bearer {signed_by(oidc, sub='newcomer')}"))
    async with serving(with_provider(database, oidc)) as channel:
        stub = identity_pb2_grpc.IdentityServiceStub(channel)  # type: ignore[arg-type]
        answers = await asyncio.gather(*(stub.ProvisionUser(request) for _ in range(12)))
    assert {answer.user_id for answer in answers} == {"oidc~newcomer"}
    assert [answer.created for answer in answers].count(True) == 1


@pytest.mark.parametrize(
    ("claims", "recorded"),
    [
        ({"name": "Ann Lee", "email": "ann@x"}, ("Ann Lee", "ann@x", "human")),
        ({"given_name": "Ann", "family_name": "Lee", "upn": "ann@x"}, ("Ann Lee", "ann@x", "human")),
        ({"preferred_username": "ann@x"}, ("ann@x", "ann@x", "application")),
        ({"app_displayname": "Ingest", "client_id": "i"}, ("Ingest", None, "application")),
        ({"client_id": "i"}, (None, None, "application")),
        ({"idtyp": "app", "name": "Robot"}, ("Robot", None, "application")),
        ({"idtyp": "user"}, (None, None, "human")),
    ],
)
async def test_a_user_is_recorded_as_its_claims_have_it(
    database: str, oidc: OidcProvider, claims: dict[str, str], recorded: tuple[str | None, ...], unique_name: str
) -> None:
    token = signed_by(oidc, sub=unique_name, **claims)
    async with serving(with_provider(database, oidc)) as channel:
        await RemoteIdentity(channel).provision_user(Presented(f"Bearer {token}"))
    async with open_pool(SecretStr(database), size=1, name="test", schema="lakeward_authz") as pool:
        row = await pool.fetchrow("select name, email, kind from users where user_id = $1", f"oidc~{unique_name}")
    assert row is not None
    assert tuple(row) == recorded


async def test_a_member_acts_as_its_role_and_is_recorded_as_itself(database: str, oidc: OidcProvider) -> None:
    role = ObjectKey("role", "p", id=UUID(ROLE))
    async with opened(database) as stores:
        await stores.tree.apply("roles", [(1, Made(ObjectKey("project", "p"))), (2, Made(role))])
        write = Grant(user_subject("oidc~alice"), "assignee")
        await stores.grants.change(role, writes=[write], deletes=[])
        async with serving(with_provider(database, oidc, INSTANCE_ADMINS="[oidc~alice]")) as channel:
            identity = RemoteIdentity(channel)
            token = f"Bearer {await user_token(oidc, ALICE)}"
            asked = RequestContext(authorization=token, assumed_role=ROLE)
            found = await identity.authenticate(asked)
            assert found.principal == Principal(PrincipalKind.ROLE, UserId("oidc~alice"), RoleId(ROLE))
            assert await identity.provision_user(Presented(token)) == "oidc~alice"
            await stores.grants.change(role, writes=[], deletes=[write])
            with pytest.raises(Refusal) as refusal:
                await identity.authenticate(asked)
            assert refusal.value.reason == Reason.REASON_ROLE_NOT_ASSUMABLE


async def test_without_a_provider_every_bearer_is_ignored_and_the_log_says_so_loudly(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with serving(settings(database)) as channel:
            assert (await identify(channel, "dev")).principal == ANONYMOUS
    (warning,) = [record for record in caplog.records if "NOBODY IS ASKED" in record.message]
    assert "OPENID_PROVIDER_URI" in str(vars(warning)["cure"])


async def test_a_provider_whose_tokens_are_taken_for_any_audience_is_named_at_the_start(
    database: str, oidc: OidcProvider, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with serving(settings(database, OPENID_PROVIDER_URI=oidc.issuer)):
            pass
        async with serving(with_provider(database, oidc)):
            pass
    (warning,) = [record for record in caplog.records if "for whomever it was made" in record.message]
    assert vars(warning)["cure"] == "set LAKEKEEPER__OPENID_AUDIENCE"


@pytest.fixture
def empty_database(make_database: Callable[[], str]) -> str:
    return make_database()


async def test_a_schema_that_was_never_migrated_stops_the_start(empty_database: str) -> None:
    with pytest.raises(SchemaMismatch, match="lakeward migrate"):
        async with serving(settings(empty_database)):
            pass


@pytest.mark.parametrize(
    ("variables", "complaint"),
    [
        ({"AUTHZ_BACKEND": "openfga", "OPENFGA__ENDPOINT": "http://x:1"}, "AUTHZ_BACKEND"),
        ({"AUTHZ_BACKEND": "builtin"}, "AUTHZ_BACKEND"),
        ({"AUTHZ_BACKEND": "cedar"}, "AUTHZ_BACKEND"),
        ({"AUTHZ_BACKEND": "alow-all"}, "AUTHZ_BACKEND"),
        ({"ENABLE_KUBERNETES_AUTHENTICATION": "true"}, "there is no cluster to ask: this process runs in no pod"),
        ({"OPENID_PROVIDER_URI": "http://127.0.0.1:1", "OPENID_DISPLAY_NAME_TEMPLATE": "{a"}, "TEMPLATE"),
    ],
)
async def test_what_this_build_can_not_honour_stops_the_start(variables: dict[str, str], complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        async with serving(settings("postgresql://nobody@127.0.0.1:1/x", **variables)):
            pass
