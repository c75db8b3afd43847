"""Service accounts' tokens, reviewed by a real Kubernetes API server."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lakeward_authz.adapters.kubernetes import reviews
from lakeward_authz.bootstrap import MIGRATIONS, authz
from lakeward_authz.settings import AuthzSettings
from lakeward_components.oidc import ALICE, OidcProvider
from lakeward_protocol.authz.v1 import identity_pb2 as pb
from lakeward_protocol.authz.v1 import identity_pb2_grpc
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.identity import Identified
from lakeward_servicekit.authorization.principals import user
from lakeward_servicekit.authorization.remote_identity import RemoteIdentity
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.rpc import Caller, Channel
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.problems import SettingsError
from tests.support import kubernetes as clusters
from tests.support import kubernetes_build
from tests.support.kubernetes import ISSUER, Kubernetes, ServiceAccount
from tests.support.tokens import user_token

pytestmark = pytest.mark.integration

AUDIENCE = "lakeward"


@pytest.fixture(scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kubernetes]:
    programs = kubernetes_build.programs()
    if programs is None:
        pytest.skip(
            f"no Kubernetes API server here, so service accounts were NOT tested; run `make kubernetes`, or name a folder with "
            f"{kubernetes_build.API_SERVER} and {kubernetes_build.ETCD} in {kubernetes_build.VARIABLE}"
        )
    async with clusters.running(tmp_path_factory.mktemp("kubernetes"), programs=programs) as running:
        yield running


@pytest.fixture(scope="module")
async def own_token(cluster: Kubernetes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file with authz's own token, of an account that may review."""
    account = await cluster.account("authz")
    await cluster.let_review(account)
    file = tmp_path_factory.mktemp("authz") / "token"
    file.write_text(await cluster.token(account, ISSUER), encoding="ascii")
    return file


@pytest.fixture
async def account(cluster: Kubernetes, unique_name: str) -> ServiceAccount:
    return await cluster.account(unique_name)


@pytest.fixture(scope="module")
async def database(postgres_url: str) -> str:
    await migrate(SecretStr(postgres_url), package=MIGRATIONS, schema="lakeward_authz")
    return postgres_url


def settings(database: str, cluster: Kubernetes, own_token: Path, **variables: str) -> AuthzSettings:
    environ = {
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": database,
        "LAKEKEEPER__ENABLE_KUBERNETES_AUTHENTICATION": "true",
        "LAKEKEEPER__KUBERNETES_AUTHENTICATION_AUDIENCE": AUDIENCE,
        "LAKEWARD__KUBERNETES__API_SERVER": cluster.address,
        "LAKEWARD__KUBERNETES__CA_FILE": str(cluster.ca_file),
        "LAKEWARD__KUBERNETES__TOKEN_FILE": str(own_token),
        **{f"LAKEKEEPER__{name}": value for name, value in variables.items()},
    }
    return load(AuthzSettings, {name: value for name, value in environ.items() if value}).settings


@asynccontextmanager
async def serving(given: AuthzSettings) -> AsyncIterator[Channel]:
    async with authz(given) as host:
        yield host.channel(caller=Caller.CALLER_CATALOG)


async def identify(channel: Channel, token: str) -> Identified:
    return await RemoteIdentity(channel).authenticate(RequestContext(authorization=f"Bearer {token}"))


async def refused(channel: Channel, token: str) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        await identify(channel, token)
    assert token not in str(refusal.value)
    return refusal.value


async def test_a_service_account_is_an_application_known_by_its_uid_and_recorded_by_its_name(
    database: str, cluster: Kubernetes, own_token: Path, account: ServiceAccount
) -> None:
    token = await cluster.token(account, AUDIENCE)
    async with serving(settings(database, cluster, own_token)) as channel:
        found = await identify(channel, token)
        assert found.principal == user(f"kubernetes~{account.uid}")
        assert found.display_name == account.username
        assert found.expires_at is not None
        request = pb.ProvisionUserRequest(context=RequestContext(authorization=f"Bearer {token}"))
        assert (await identity_pb2_grpc.IdentityServiceStub(channel).ProvisionUser(request)).created  # type: ignore[arg-type]
    async with open_pool(SecretStr(database), size=1, name="test", schema="lakeward_authz") as pool:
        row = await pool.fetchrow("select name, kind from users where user_id = $1", f"kubernetes~{account.uid}")
    assert row is not None
    assert tuple(row) == (account.username, "application")


async def test_a_service_account_is_known_by_its_name_where_that_is_configured(
    database: str, cluster: Kubernetes, own_token: Path, account: ServiceAccount
) -> None:
    by_name = settings(database, cluster, own_token, KUBERNETES_AUTHENTICATION_SUBJECT_SOURCE="username")
    async with serving(by_name) as channel:
        found = await identify(channel, await cluster.token(account, AUDIENCE))
    assert found.principal == user(f"kubernetes~{account.username}")


async def test_a_token_for_another_audience_is_nobodys_and_is_told_whose_would_be_taken(
    database: str, cluster: Kubernetes, own_token: Path, account: ServiceAccount
) -> None:
    async with serving(settings(database, cluster, own_token)) as channel:
        refusal = await refused(channel, await cluster.token(account, "elsewhere"))
    assert refusal.metadata == {"cause": "issuer"}
    assert "service accounts of the Kubernetes cluster (audience lakeward)" in refusal.message


async def test_without_an_audience_every_token_of_the_cluster_for_itself_is_taken_and_no_other(
    database: str, cluster: Kubernetes, own_token: Path, account: ServiceAccount
) -> None:
    async with serving(settings(database, cluster, own_token, KUBERNETES_AUTHENTICATION_AUDIENCE="")) as channel:
        own = await identify(channel, await cluster.token(account, ISSUER))
        assert own.principal == user(f"kubernetes~{account.uid}")
        assert (await refused(channel, await cluster.token(account, "elsewhere"))).metadata == {"cause": "review"}


async def test_a_forged_token_is_refused_by_the_cluster(
    database: str, cluster: Kubernetes, own_token: Path, account: ServiceAccount
) -> None:
    head, body, signature = (await cluster.token(account, AUDIENCE)).split(".")
    other = (await cluster.token(await cluster.account(f"{account.name}-other"), AUDIENCE)).split(".")[1]
    async with serving(settings(database, cluster, own_token)) as channel:
        for forged in (f"{head}.{other}.{signature}", f"{head}.{body}.{'A' * len(signature)}"):
            assert (await refused(channel, forged)).metadata == {"cause": "review"}


async def test_a_removed_accounts_token_is_refused_as_soon_as_it_is_asked_about_again(
    database: str, cluster: Kubernetes, own_token: Path, account: ServiceAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "REMEMBERED_SECONDS", 0.0)
    token = await cluster.token(account, AUDIENCE)
    async with serving(settings(database, cluster, own_token)) as channel:
        assert (await identify(channel, token)).principal == user(f"kubernetes~{account.uid}")
        await cluster.remove(account)
        # The API server itself remembers that a token held, for seconds.
        refusal = await until_refused(channel, token)
    assert refusal.metadata == {"cause": "review"}


async def until_refused(channel: Channel, token: str) -> Refusal:
    while True:
        try:
            await identify(channel, token)
        except Refusal as refusal:
            return refusal


async def test_an_old_token_from_a_secret_is_taken_only_where_that_is_configured(
    database: str, cluster: Kubernetes, own_token: Path, account: ServiceAccount
) -> None:
    token = await cluster.legacy_token(account)
    async with serving(settings(database, cluster, own_token)) as channel:
        assert (await refused(channel, token)).metadata == {"cause": "issuer"}
    accepting = settings(database, cluster, own_token, KUBERNETES_AUTHENTICATION_ACCEPT_LEGACY_SERVICEACCOUNT="true")
    async with serving(accepting) as channel:
        found = await identify(channel, token)
        assert (found.principal, found.expires_at) == (user(f"kubernetes~{account.uid}"), None)
        assert (await identify(channel, await cluster.token(account, AUDIENCE))).principal == found.principal


async def test_who_may_not_review_tells_the_operator_the_cure_and_the_caller_to_retry(
    database: str,
    cluster: Kubernetes,
    account: ServiceAccount,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    file = tmp_path / "token"
    file.write_text(await cluster.token(account, ISSUER), encoding="ascii")
    async with serving(settings(database, cluster, file)) as channel:
        with caplog.at_level(logging.WARNING):
            refusal = await refused(channel, await cluster.token(account, AUDIENCE))
    assert refusal.reason == Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE
    assert any("system:auth-delegator" in str(vars(record).get("why")) for record in caplog.records)


async def test_a_new_own_token_is_found_once_the_old_one_is_not_taken_any_more(
    database: str, cluster: Kubernetes, account: ServiceAccount, tmp_path: Path
) -> None:
    reviewer = await cluster.account(f"{account.name}-authz")
    await cluster.let_review(reviewer)
    file = tmp_path / "token"
    file.write_text("worn.out.token", encoding="ascii")
    token = await cluster.token(account, AUDIENCE)
    async with serving(settings(database, cluster, file)) as channel:
        refusal = await refused(channel, token)
        assert refusal.reason == Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE
        file.write_text(await cluster.token(reviewer, ISSUER), encoding="ascii")
        assert (await identify(channel, token)).principal == user(f"kubernetes~{account.uid}")


async def test_people_and_service_accounts_sign_in_side_by_side(
    database: str, cluster: Kubernetes, own_token: Path, account: ServiceAccount, oidc: OidcProvider
) -> None:
    both = settings(
        database, cluster, own_token, OPENID_PROVIDER_URI=oidc.issuer, OPENID_AUDIENCE=json.dumps(oidc.audience)
    )
    async with serving(both) as channel:
        assert (await identify(channel, await user_token(oidc, ALICE))).principal == user("oidc~alice")
        found = await identify(channel, await cluster.token(account, AUDIENCE))
        assert found.principal == user(f"kubernetes~{account.uid}")


async def test_a_cluster_whose_own_token_or_authority_can_not_be_read_stops_the_start(
    database: str, cluster: Kubernetes, own_token: Path, tmp_path: Path
) -> None:
    for variable, value in (
        ("LAKEWARD__KUBERNETES__TOKEN_FILE", tmp_path / "nowhere"),
        ("LAKEWARD__KUBERNETES__CA_FILE", own_token),
    ):
        environ = {
            "LAKEKEEPER__PG_DATABASE_URL_WRITE": database,
            "LAKEKEEPER__ENABLE_KUBERNETES_AUTHENTICATION": "true",
            "LAKEWARD__KUBERNETES__API_SERVER": cluster.address,
            "LAKEWARD__KUBERNETES__CA_FILE": str(cluster.ca_file),
            "LAKEWARD__KUBERNETES__TOKEN_FILE": str(own_token),
            variable: str(value),
        }
        with pytest.raises(SettingsError, match="ENABLE_KUBERNETES_AUTHENTICATION is true, and"):
            async with serving(load(AuthzSettings, environ).settings):
                pass
