"""Authz with an engine that decides: as it is started, by its methods, on a real Postgres and a real OpenFGA."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.application.permissions import Grant
from lakeward_authz.bootstrap import MIGRATIONS, authz
from lakeward_authz.domain.permissions.objects import ObjectKey, user_subject
from lakeward_authz.settings import AuthzSettings
from lakeward_components import openfga as openfga_component
from lakeward_components.oidc import OidcProvider
from lakeward_components.openfga import OpenFgaServer
from lakeward_protocol.authz.v1 import identity_pb2, identity_pb2_grpc, principals_pb2, tree_pb2, tree_pb2_grpc
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import user
from lakeward_servicekit.authorization.remote import RemoteAuthorizer
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.rpc import Caller, Host, stub
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.problems import SettingsError
from tests.support.proxy import Line, proxy
from tests.support.tokens import signed_by

pytestmark = pytest.mark.integration

PROJECT, WAREHOUSE = "p", UUID("0198f2c0-0000-7000-8000-0000000000aa")
NAMESPACE = ObjectRef.namespace(PROJECT, WAREHOUSE, UUID(int=1), parent_id=None)
TABLE = ObjectRef.table(PROJECT, WAREHOUSE, UUID(int=2), namespace_id=UUID(int=1))
TABLE_KEY = ObjectKey("table", PROJECT, WAREHOUSE, UUID(int=2))
READ = Demand(TABLE, Action.TABLE_READ_DATA)
SELECT = Grant(user_subject("oidc~bob"), "select")


class Deciding:
    """Authz that runs, and what a test does with it and behind its back."""

    def __init__(self, host: Host, pool: Pool, oidc: OidcProvider) -> None:
        self.host = host
        self.grants = PostgresGrants(pool, Outbox())
        self._oidc = oidc
        self._channel = host.channel(caller=Caller.CALLER_CATALOG)
        self._authorizer = RemoteAuthorizer(self._channel, coalesce=False)

    async def may_read(self) -> bool:
        """Bob, the table."""
        return (await self.decide("bob", READ)) == (Outcome.ALLOWED,)

    async def decide(self, who: str, *demands: Demand) -> tuple[Outcome, ...]:
        return tuple(await self._authorizer.decide(user(f"oidc~{who}"), demands))

    async def bootstrap(self, who: str, *, is_operator: bool = False) -> None:
        identity: identity_pb2_grpc.IdentityServiceAsyncStub = stub(
            identity_pb2_grpc.IdentityServiceStub, self._channel
        )
        context = RequestContext(authorization=f"Bearer {signed_by(self._oidc, sub=who)}")
        await identity.BootstrapAdministrator(
            identity_pb2.BootstrapAdministratorRequest(context=context, is_operator=is_operator)
        )

    async def make(self, *refs: ObjectRef, owner: str | None = None) -> None:
        """Tell of objects that were made, each in a stream of its own."""
        tree: tree_pb2_grpc.TreeServiceAsyncStub = stub(tree_pb2_grpc.TreeServiceStub, self._channel)
        for ref in refs:
            made = tree_pb2.ObjectMade(
                object=principals_pb2.ObjectRef(
                    kind=int(ref.kind),  # type: ignore[arg-type]
                    project_id=ref.project_id,
                    warehouse_id=ref.warehouse_id,
                    id=ref.id,
                    parent_id=ref.parent_id,
                ),
                public_id=ref.id if ref.kind is ObjectKind.TABLE else b"",
            )
            if owner is not None:
                made.owner.kind = principals_pb2.PRINCIPAL_KIND_USER
                made.owner.user_id = f"oidc~{owner}"
            change = tree_pb2.TreeChange(sequence=1, made=made)
            told = tree_pb2.ApplyTreeChangesRequest(stream=str(uuid4()), changes=[change])
            assert (await tree.ApplyTreeChanges(told)).applied == 1


WORLD = (ObjectRef.project(PROJECT), ObjectRef.warehouse(PROJECT, WAREHOUSE), NAMESPACE, TABLE)
Variables = dict[str, str]


@pytest.fixture
def empty(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture
async def database(empty: str) -> str:
    await migrate(SecretStr(empty), package=MIGRATIONS, schema="lakeward_authz")
    return empty


def settings(database: str, oidc: OidcProvider, **variables: str) -> AuthzSettings:
    environ = {
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": database,
        "LAKEKEEPER__OPENID_PROVIDER_URI": oidc.issuer,
        "LAKEKEEPER__OPENID_AUDIENCE": oidc.audience,
        "LAKEWARD__OPENFGA__TIMEOUT": "20s",
        **variables,
    }
    return load(AuthzSettings, environ).settings


def builtin() -> Variables:
    return {"LAKEKEEPER__AUTHZ_BACKEND": "builtin"}


def by_openfga(server: OpenFgaServer, *, line: Line | None = None, store: str = "") -> Variables:
    return {
        "LAKEKEEPER__AUTHZ_BACKEND": "openfga",
        "LAKEKEEPER__OPENFGA__ENDPOINT": server.url if line is None else line.instead_of(server.url),
        "LAKEKEEPER__OPENFGA__API_KEY": server.api_key,
        "LAKEKEEPER__OPENFGA__STORE_NAME": store or str(uuid4()),
    }


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Variables:
    """The settings of the engine that a test is run with."""
    return builtin() if request.param == "builtin" else by_openfga(request.getfixturevalue("openfga_server"))


both = pytest.mark.parametrize("backend", ["builtin", "openfga"], indirect=True)


@asynccontextmanager
async def deciding(database: str, oidc: OidcProvider, **variables: str) -> AsyncIterator[Deciding]:
    async with (
        open_pool(SecretStr(database), size=2, name="test", schema="lakeward_authz") as pool,
        authz(settings(database, oidc, **variables)) as host,
    ):
        yield Deciding(host, pool, oidc)


async def until(fact: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what comes by itself."""
    async with asyncio.timeout(60):
        while not await fact():
            await asyncio.sleep(0.05)


async def answers(given: Deciding, expected: bool) -> bool:
    """Whether it is decided yet if Bob may read; never otherwise than expected."""
    try:
        found = await given.may_read()
    except Refusal as refusal:
        if refusal.reason != Reason.REASON_AUTHORIZATION_UNAVAILABLE:
            raise
        return False
    assert found == expected
    return True


async def refused(asked: Awaitable[object]) -> Reason.ValueType:
    with pytest.raises(Refusal) as refusal:
        await asked
    return refusal.value.reason


@both
async def test_nobody_has_a_right_before_the_first_administrator_who_then_has_it_at_once(
    database: str, oidc: OidcProvider, backend: Variables
) -> None:
    create = Demand(SERVER, Action.SERVER_CREATE_PROJECT)
    async with deciding(database, oidc, **backend) as given:
        assert await given.decide("alice", create) == (Outcome.HIDDEN,)
        await given.bootstrap("alice")
        assert await given.decide("alice", create) == (Outcome.ALLOWED,)
        assert await given.decide("bob", create) == (Outcome.HIDDEN,)
        assert await refused(given.bootstrap("bob")) == Reason.REASON_ALREADY_BOOTSTRAPPED
        assert await given.decide("bob", create) == (Outcome.HIDDEN,)


@both
async def test_of_two_who_would_be_the_first_administrator_one_is(
    database: str, oidc: OidcProvider, backend: Variables
) -> None:
    create = Demand(SERVER, Action.SERVER_CREATE_PROJECT)
    async with deciding(database, oidc, **backend) as given:
        ends = await asyncio.gather(given.bootstrap("alice"), given.bootstrap("bob"), return_exceptions=True)
        assert [each.reason for each in ends if isinstance(each, Refusal)] == [Reason.REASON_ALREADY_BOOTSTRAPPED]
        assert ends.count(None) == 1
        (won,) = [who for who, end in zip(("alice", "bob"), ends, strict=True) if end is None]
        (lost,) = {"alice", "bob"} - {won}
        assert await given.decide(won, create) == (Outcome.ALLOWED,)
        assert await given.decide(lost, create) == (Outcome.HIDDEN,)


@both
async def test_an_operator_reaches_what_an_administrator_does_not(
    database: str, oidc: OidcProvider, backend: Variables
) -> None:
    async with deciding(database, oidc, **backend) as given:
        await given.bootstrap("alice", is_operator=True)
        await given.make(*WORLD)
        assert await given.decide("alice", READ) == (Outcome.ALLOWED,)


@both
async def test_an_administrator_of_the_server_reads_no_data_and_owners_use_what_they_made_at_once(
    database: str, oidc: OidcProvider, backend: Variables
) -> None:
    async with deciding(database, oidc, **backend) as given:
        await given.bootstrap("alice")
        await given.make(*WORLD[:3])
        await given.make(TABLE, owner="bob")
        assert await given.decide("alice", READ) == (Outcome.HIDDEN,)
        drop = Demand(TABLE, Action.TABLE_DROP)
        assert await given.decide("bob", READ, drop) == (Outcome.ALLOWED, Outcome.ALLOWED)
        sees, makes = Demand(NAMESPACE, Action.NAMESPACE_GET_METADATA), Demand(NAMESPACE, Action.NAMESPACE_CREATE_TABLE)
        assert await given.decide("bob", sees, makes) == (Outcome.ALLOWED, Outcome.DENIED)


@both
async def test_administrators_of_the_instance_are_laid_over_the_engine(
    database: str, oidc: OidcProvider, backend: Variables
) -> None:
    async with deciding(database, oidc, **backend, LAKEKEEPER__INSTANCE_ADMINS='["oidc~alice"]') as given:
        await given.make(*WORLD)
        assert await given.decide("alice", Demand(TABLE, Action.TABLE_DROP), READ) == (Outcome.ALLOWED, Outcome.DENIED)


@both
async def test_what_is_taken_is_refused_by_the_very_next_question(
    database: str, oidc: OidcProvider, backend: Variables
) -> None:
    async with AsyncExitStack() as stack:
        replicas = [await stack.enter_async_context(deciding(database, oidc, **backend)) for _ in range(3)]
        first = replicas[0]
        await first.make(*WORLD)
        asking = asyncio.Event()

        async def ask_all_the_time(replica: Deciding) -> None:
            while not asking.is_set():
                await replica.may_read()

        loops = [asyncio.create_task(ask_all_the_time(replica)) for replica in replicas]
        for _ in range(5):
            await first.grants.change(TABLE_KEY, writes=[SELECT], deletes=[])
            assert [await replica.may_read() for replica in replicas] == [True] * 3
            await first.grants.change(TABLE_KEY, writes=[], deletes=[SELECT])
            assert [await replica.may_read() for replica in replicas] == [False] * 3
        asking.set()
        await asyncio.gather(*loops)


async def test_with_openfga_away_at_the_start_nothing_is_decided_until_it_is_there(
    database: str, oidc: OidcProvider, openfga_server: OpenFgaServer
) -> None:
    where = urlsplit(openfga_server.url)
    async with proxy(str(where.hostname), int(where.port or 0)) as line:
        await line.refuse()
        async with deciding(database, oidc, **by_openfga(openfga_server, line=line)) as given:
            assert await refused(given.may_read()) == Reason.REASON_AUTHORIZATION_UNAVAILABLE
            assert dict(await given.host.probe()) == {"database": True, "openfga": False}
            await given.make(*WORLD)
            await given.grants.change(TABLE_KEY, writes=[SELECT], deletes=[])
            assert await refused(given.may_read()) == Reason.REASON_AUTHORIZATION_UNAVAILABLE
            await line.accept()
            assert await given.may_read()
            assert dict(await given.host.probe()) == {"database": True, "openfga": True}


@pytest.mark.parametrize("fault", ["slow", "down"])
async def test_while_openfga_fails_nothing_is_decided_and_what_was_taken_meanwhile_is_gone_after(
    database: str, oidc: OidcProvider, openfga_server: OpenFgaServer, fault: str
) -> None:
    where = urlsplit(openfga_server.url)
    async with proxy(str(where.hostname), int(where.port or 0)) as line:
        variables = by_openfga(openfga_server, line=line) | {"LAKEWARD__OPENFGA__TIMEOUT": "2s"}
        async with deciding(database, oidc, **variables) as given:
            await given.make(*WORLD)
            await given.grants.change(TABLE_KEY, writes=[SELECT], deletes=[])

            await until(lambda: answers(given, True))
            if fault == "slow":
                line.pause()
            else:
                await line.refuse()
            assert await refused(given.may_read()) == Reason.REASON_AUTHORIZATION_UNAVAILABLE
            await given.grants.change(TABLE_KEY, writes=[], deletes=[SELECT])
            assert await refused(given.may_read()) == Reason.REASON_AUTHORIZATION_UNAVAILABLE
            if fault == "slow":
                line.resume()
            else:
                await line.accept()

            await until(lambda: answers(given, False))


async def test_an_openfga_that_forgot_everything_is_told_again(
    database: str, oidc: OidcProvider, tmp_path: Path, openfga_server: OpenFgaServer
) -> None:
    del openfga_server  # it is built by now
    server = await openfga_component.start(tmp_path)
    try:
        async with deciding(database, oidc, **by_openfga(server)) as given:
            await given.make(*WORLD)
            await given.grants.change(TABLE_KEY, writes=[SELECT], deletes=[])
            assert await given.may_read()
            await server.stop(gracefully=False)
            again = await openfga_component.start(tmp_path)
            assert again.url == server.url
            server = again

            await until(lambda: answers(given, True))
            await given.grants.change(TABLE_KEY, writes=[], deletes=[SELECT])
            await until(lambda: answers(given, False))
    finally:
        await server.stop(gracefully=False)


@pytest.mark.parametrize("age", ["0 hours", "2 hours"])
async def test_what_is_taken_under_another_engine_is_not_given_any_more_when_openfga_decides_again(
    database: str, oidc: OidcProvider, openfga_server: OpenFgaServer, age: str
) -> None:
    by_store = by_openfga(openfga_server)
    async with deciding(database, oidc, **by_store) as given:
        await given.make(*WORLD)
        await given.grants.change(TABLE_KEY, writes=[SELECT], deletes=[])
        assert await given.may_read()
    async with open_pool(SecretStr(database), size=1, name="test", schema="lakeward_authz") as pool:
        await pool.execute(f"update openfga_feeds set wanted_at = wanted_at - interval '{age}'")
    async with deciding(database, oidc, **builtin()) as given:
        await given.grants.change(TABLE_KEY, writes=[], deletes=[SELECT])
    async with deciding(database, oidc, **by_store) as given:
        assert not await given.may_read()


async def test_a_process_whose_store_is_not_the_one_that_is_fed_decides_nothing_new(
    database: str, oidc: OidcProvider, openfga_server: OpenFgaServer
) -> None:
    async with deciding(database, oidc, **by_openfga(openfga_server)) as first:
        await first.make(*WORLD)
        await first.grants.change(TABLE_KEY, writes=[SELECT], deletes=[])
        assert await first.may_read()
        async with deciding(database, oidc, **by_openfga(openfga_server)) as second:
            assert await second.may_read()
            assert await first.may_read()  # it remembers what it heard while nothing was taken since
            await second.grants.change(TABLE_KEY, writes=[], deletes=[SELECT])
            assert not await second.may_read()
            assert await refused(first.may_read()) == Reason.REASON_AUTHORIZATION_UNAVAILABLE


async def test_a_pinned_model_of_another_version_stops_the_start_and_one_of_ours_is_not_written(
    database: str, oidc: OidcProvider, openfga_server: OpenFgaServer
) -> None:
    variables = by_openfga(openfga_server)
    pinned = "LAKEKEEPER__OPENFGA__AUTHORIZATION_MODEL_VERSION"
    with pytest.raises(SettingsError, match=f"{pinned} is 4.9, and this release asks by version 1.0"):
        async with deciding(database, oidc, **variables, **{pinned: "4.9"}):
            pass
    async with deciding(database, oidc, **variables, **{pinned: "1.0"}) as given:
        assert await refused(given.may_read()) == Reason.REASON_AUTHORIZATION_UNAVAILABLE
        async with deciding(database, oidc, **variables) as writing:
            assert not await writing.may_read()
        assert not await given.may_read()
