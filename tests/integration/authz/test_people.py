"""Users and roles over the public API, with authz as it is started: real rows, real tokens, an engine that decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.application.permissions import Grant
from lakeward_authz.bootstrap import MIGRATIONS, authz
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject, role_subject, user_subject
from lakeward_authz.settings import AuthzSettings
from lakeward_components.oidc import OidcProvider
from lakeward_gateway.bootstrap import gateway
from lakeward_gateway.peers import Peers
from lakeward_gateway.settings import GatewaySettings
from lakeward_protocol.authz.v1 import identity_pb2, identity_pb2_grpc, principals_pb2, tree_pb2, tree_pb2_grpc
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.rpc import Caller, Host, stub
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.provisioning import ScimSettings
from tests.support.tokens import signed_by
from tests.unit.gateway.fakes import Service, hosts, server_settings

pytestmark = pytest.mark.integration

PROJECT = "p"
ADMINISTRATOR = "root"


class People:
    """A public API over authz, and callers of it."""

    def __init__(self, client: httpx.AsyncClient, host: Host, oidc: OidcProvider, grants: PostgresGrants) -> None:
        self._client = client
        self._host = host
        self._oidc = oidc
        self.grants = grants
        self.groups: dict[str, list[str]] = {}

    def _token(self, who: str) -> str:
        claims = {"groups": self.groups[who]} if who in self.groups else {}
        return f"Bearer {signed_by(self._oidc, sub=who, name=who, **claims)}"

    async def call(
        self, who: str, method: str, path: str, body: object = None, *, project: str = PROJECT, **headers: str
    ) -> httpx.Response:
        sent = {"x-project-id": project, "authorization": self._token(who)}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self._client.request(method, f"/management/v1{path}", json=body, headers=sent)

    async def scim(
        self, who: str, method: str, path: str, body: object = None, *, project: str = PROJECT, **headers: str
    ) -> httpx.Response:
        """As an identity provider asks."""
        sent = {"x-project-id": project, "authorization": self._token(who), "content-type": "application/scim+json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self._client.request(method, f"/scim/v2{path}", json=body, headers=sent)

    async def told(self, who: str, method: str, path: str, body: object = None, **headers: str) -> Any:
        """The document of a reply that is no refusal."""
        response = await self.call(who, method, path, body, **headers)
        assert response.is_success, response.text
        return response.json() if response.content else None

    async def refused(self, who: str, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str]:
        """Status and word of a refusal."""
        response = await self.call(who, method, path, body, **headers)
        error = response.json()["error"]
        assert error["code"] == response.status_code
        return response.status_code, error["type"]

    async def bootstrap(self, who: str) -> None:
        identity: identity_pb2_grpc.IdentityServiceAsyncStub = stub(
            identity_pb2_grpc.IdentityServiceStub, self._host.channel(caller=Caller.CALLER_CATALOG)
        )
        context = RequestContext(authorization=self._token(who))
        await identity.BootstrapAdministrator(
            identity_pb2.BootstrapAdministratorRequest(context=context, is_operator=True)
        )

    async def make_projects(self, *names: str) -> None:
        tree: tree_pb2_grpc.TreeServiceAsyncStub = stub(
            tree_pb2_grpc.TreeServiceStub, self._host.channel(caller=Caller.CALLER_CATALOG)
        )
        for name in names:
            ref = principals_pb2.ObjectRef(kind=principals_pb2.OBJECT_KIND_PROJECT, project_id=name)
            change = tree_pb2.TreeChange(sequence=1, made=tree_pb2.ObjectMade(object=ref))
            await tree.ApplyTreeChanges(tree_pb2.ApplyTreeChangesRequest(stream=str(uuid4()), changes=[change]))

    async def give(self, subject: Subject, relation: str) -> None:
        """On the project."""
        key = ObjectKey("project", PROJECT)
        assert await self.grants.change(key, writes=[Grant(subject, relation)], deletes=[])


@asynccontextmanager
async def serving(database: str, oidc: OidcProvider, *, again: bool = False, **variables: str) -> AsyncIterator[People]:
    """Authz and the public API; `again`: over rows that another one has made."""
    await migrate(SecretStr(database), package=MIGRATIONS, schema="lakeward_authz")
    environ = {
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": database,
        "LAKEKEEPER__OPENID_PROVIDER_URI": oidc.issuer,
        "LAKEKEEPER__OPENID_AUDIENCE": oidc.audience,
        **variables,
    }
    _, catalog, vending = hosts(Service(), Service(), Service())
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(authz(load(AuthzSettings, environ).settings))
        peers = Peers(
            authz=host.channel(caller=Caller.CALLER_GATEWAY),
            catalog=catalog.channel(caller=Caller.CALLER_GATEWAY),
            vending=vending.channel(caller=Caller.CALLER_GATEWAY),
        )

        async def readiness() -> tuple[()]:
            return ()

        application = await stack.enter_async_context(
            gateway(
                GatewaySettings(server_settings(), load(ScimSettings, variables).settings),
                peers=peers,
                readiness=readiness,
            )
        )
        client = await stack.enter_async_context(
            httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://lake.test")  # type: ignore[arg-type]
        )
        pool = await stack.enter_async_context(
            open_pool(SecretStr(database), size=2, name="test", schema="lakeward_authz")
        )
        people = People(client, host, oidc, PostgresGrants(pool, Outbox()))
        await people.bootstrap(ADMINISTRATOR)
        if not again:
            await people.make_projects(PROJECT, "q")
        yield people


@pytest.fixture
def empty(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture
async def people(empty: str, oidc: OidcProvider) -> AsyncIterator[People]:
    async with serving(empty, oidc, LAKEKEEPER__AUTHZ_BACKEND="builtin") as made:
        yield made


async def test_people_record_themselves_and_only_administrators_record_list_and_delete_others(people: People) -> None:
    assert await people.refused("ann", "GET", "/whoami") == (404, "UserNotFound")
    assert (await people.told("ann", "POST", "/user", {}))["name"] == "ann"
    assert (await people.told("ann", "GET", "/whoami"))["is-instance-admin"] is False
    other = {"id": "oidc~bob", "name": "Bob", "user-type": "human"}
    assert await people.refused("ann", "POST", "/user", other) == (403, "ServerActionForbidden")
    assert await people.refused("ann", "GET", "/user") == (403, "ServerActionForbidden")
    assert await people.refused("ann", "DELETE", "/user/oidc~bob") == (403, "ServerActionForbidden")
    assert (await people.told(ADMINISTRATOR, "POST", "/user", other))["id"] == "oidc~bob"
    assert await people.refused(ADMINISTRATOR, "POST", "/user", other) == (409, "UserAlreadyExists")
    listed = await people.told(ADMINISTRATOR, "GET", "/user?pageSize=2")
    assert [user["id"] for user in listed["users"]] == ["oidc~ann", "oidc~bob"]
    rest = await people.told(ADMINISTRATOR, "GET", f"/user?pageToken={listed['next-page-token']}")
    assert ([user["id"] for user in rest["users"]], rest["next-page-token"]) == ([f"oidc~{ADMINISTRATOR}"], None)
    assert (await people.told("ann", "GET", "/user/oidc~bob"))["name"] == "Bob"
    found = await people.told("ann", "POST", "/search/user", {"search": "bo"})
    assert [user["id"] for user in found["users"]] == ["oidc~bob"]
    await people.told("ann", "PUT", "/user/oidc~ann", {"name": "Anna", "user-type": "human"})
    assert (await people.told("ann", "GET", "/whoami"))["name"] == "Anna"
    await people.told(ADMINISTRATOR, "DELETE", "/user/oidc~bob")
    assert await people.refused("ann", "GET", "/user/oidc~bob") == (404, "UserNotFound")
    assert await people.refused(ADMINISTRATOR, "DELETE", "/user/oidc~bob") == (404, "UserNotFound")


async def test_a_project_that_somebody_does_not_see_has_no_roles_for_them(people: People) -> None:
    role = await people.told(ADMINISTRATOR, "POST", "/role", {"name": "engineers"})
    path = f"/role/{role['id']}"
    for method, asked, body in (
        ("GET", "/role", None),
        ("POST", "/role", {"name": "mine"}),
        ("POST", "/search/role", {"search": "eng"}),
    ):
        assert await people.refused("ann", method, asked, body) == (404, "ProjectNotFound")
    absent = f"/role/{uuid4()}"
    for method, tail, body in (
        ("GET", "", None),
        ("POST", "", {"name": "mine"}),
        ("DELETE", "", None),
        ("PUT", "/source-system", {"provider-id": "oidc", "source-id": "x"}),
        ("GET", "/members", None),
        ("GET", "/members/transitive", None),
        ("GET", "/member-of", None),
        ("POST", "/members", {"members": []}),
        ("DELETE", "/members/user/oidc~ann", None),
    ):
        hidden = await people.refused("ann", method, path + tail, body)
        assert hidden == await people.refused("ann", method, absent + tail, body) == (404, "RoleNotFoundInProject")
    assert (await people.told("ann", "GET", f"{path}/metadata"))["name"] == "engineers"
    await people.give(user_subject("oidc~ann"), "describe")
    assert (await people.told("ann", "GET", path))["name"] == "engineers"
    assert await people.refused("ann", "DELETE", path) == (403, "RoleActionForbidden")
    assert await people.refused("ann", "POST", "/role", {"name": "mine"}) == (403, "ProjectActionForbidden")


async def test_who_makes_a_role_manages_it_though_the_project_shows_them_no_roles(people: People) -> None:
    await people.told("ann", "POST", "/user", {})
    await people.told("bob", "POST", "/user", {})
    await people.give(user_subject("oidc~ann"), "role_creator")
    role = await people.told("ann", "POST", "/role", {"name": "engineers"})
    path = f"/role/{role['id']}"
    assert await people.refused("ann", "GET", path) == (404, "RoleNotFoundInProject")
    assert (await people.told("ann", "POST", path, {"name": "builders"}))["name"] == "builders"
    await people.told("ann", "POST", f"{path}/members", {"members": [{"type": "user", "id": "oidc~bob"}]})
    assert await people.refused("bob", "DELETE", path) == (404, "RoleNotFoundInProject")
    await people.told("ann", "DELETE", path)


async def test_members_of_a_role_have_its_rights_act_as_it_and_lose_both_with_their_membership(people: People) -> None:
    for who in ("ann", "bob"):
        await people.told(who, "POST", "/user", {})
    inner = await people.told(ADMINISTRATOR, "POST", "/role", {"name": "inner"})
    outer = await people.told(ADMINISTRATOR, "POST", "/role", {"name": "outer"})
    await people.give(role_subject(UUID(outer["id"])), "describe")
    within = {"members": [{"type": "role", "id": inner["id"]}]}
    assert await people.told(ADMINISTRATOR, "POST", f"/role/{outer['id']}/members", within) == within
    members = {"members": [{"type": "user", "id": f"oidc~{who}"} for who in ("ann", "bob")]}
    await people.told(ADMINISTRATOR, "POST", f"/role/{inner['id']}/members", members)
    for who in ("ann", "bob"):
        assert len((await people.told(who, "GET", "/role"))["roles"]) == 2
        held = await people.told(who, "GET", f"/user/oidc~{who}/roles/transitive")
        assert [role["name"] for role in held["roles"]] == ["inner", "outer"]
        assert [r["name"] for r in (await people.told(who, "GET", f"/user/oidc~{who}/roles"))["roles"]] == ["inner"]
        acting = await people.told(who, "GET", "/role", x_assume_role=outer["id"])
        assert len(acting["roles"]) == 2
        assert (await people.told(who, "GET", "/whoami", x_assume_role=inner["id"]))["id"] == f"oidc~{who}"
    inside = await people.told("ann", "GET", f"/role/{outer['id']}/members/transitive")
    assert [(member["type"], member["name"]) for member in inside["members"]] == [
        ("role", "inner"),
        ("user", "ann"),
        ("user", "bob"),
    ]
    above = await people.told("ann", "GET", f"/role/{inner['id']}/member-of/transitive")
    assert [role["ident"] for role in above["roles"]] == [f"lakekeeper~{outer['id']}"]
    round_about = {"members": [{"type": "role", "id": outer["id"]}]}
    circle = await people.refused(ADMINISTRATOR, "POST", f"/role/{inner['id']}/members", round_about)
    assert circle == (409, "RoleMembershipCycle")

    await people.told(ADMINISTRATOR, "DELETE", f"/role/{inner['id']}/members/user/oidc~ann")
    await people.told(ADMINISTRATOR, "DELETE", "/user/oidc~bob")
    await people.told("bob", "POST", "/user", {})
    for who in ("ann", "bob"):
        assert await people.refused(who, "GET", "/role") == (404, "ProjectNotFound")
        assumed = await people.refused(who, "GET", "/whoami", x_assume_role=outer["id"])
        assert assumed == (403, "AssumeRoleForbidden")
        assert (await people.told(who, "GET", f"/user/oidc~{who}/roles/transitive"))["roles"] == []


async def test_a_role_that_is_deleted_takes_its_rights_along_and_nobody_acts_as_it(people: People) -> None:
    await people.told("ann", "POST", "/user", {})
    role = await people.told(ADMINISTRATOR, "POST", "/role", {"name": "engineers"})
    await people.give(role_subject(UUID(role["id"])), "describe")
    member = {"members": [{"type": "user", "id": "oidc~ann"}]}
    await people.told(ADMINISTRATOR, "POST", f"/role/{role['id']}/members", member)
    assert (await people.told("ann", "GET", "/role"))["roles"] == [role]
    await people.told(ADMINISTRATOR, "DELETE", f"/role/{role['id']}")
    assert await people.refused("ann", "GET", "/role") == (404, "ProjectNotFound")
    assert await people.refused("ann", "GET", "/whoami", x_assume_role=role["id"]) == (400, "InvalidAssumeRoleId")


async def test_one_key_makes_one_role_however_often_and_wherever_it_is_sent(people: People) -> None:
    key = "0198f2c0-0000-7000-8000-0000000000aa"
    replies = await asyncio.gather(
        *(people.told(ADMINISTRATOR, "POST", "/role", {"name": "once"}, idempotency_key=key) for _ in range(5))
    )
    assert len({reply["id"] for reply in replies}) == 1
    assert len((await people.told(ADMINISTRATOR, "GET", "/role"))["roles"]) == 1
    again = await people.refused(ADMINISTRATOR, "POST", "/role", {"name": "once"})
    assert again == (409, "RoleNameAlreadyExists")


async def test_where_everything_is_allowed_roles_are_kept_all_the_same(empty: str, oidc: OidcProvider) -> None:
    async with serving(empty, oidc, LAKEKEEPER__INSTANCE_ADMINS='["oidc~ann"]') as people:
        assert (await people.told("ann", "POST", "/user", {}))["id"] == "oidc~ann"
        assert (await people.told("ann", "GET", "/whoami"))["is-instance-admin"] is True
        role = await people.told("ann", "POST", "/role", {"name": "engineers", "provider-id": "oidc", "source-id": "e"})
        found = await people.told("bob", "GET", "/role?providerIds=oidc&sourceIds=e")
        assert found["roles"] == [role]
        nowhere = await people.refused("ann", "POST", "/role", {"name": "x"}, project="nowhere")
        assert nowhere == (404, "ProjectNotFound")
        actions = await people.told("bob", "GET", "/user/oidc~ann/actions")
        assert {each["action"] for each in actions["allowed-actions"]} == {
            "read",
            "update",
            "delete",
            "read_role_assignments",
        }


async def test_a_depth_that_is_configured_is_kept(empty: str, oidc: OidcProvider) -> None:
    async with serving(empty, oidc, LAKEKEEPER__ROLE__MAX_NESTING_DEPTH="1") as people:
        roles = [(await people.told("ann", "POST", "/role", {"name": f"r{number}"}))["id"] for number in range(3)]
        for outer, inner in ((0, 1), (1, 2)):
            body = {"members": [{"type": "role", "id": roles[inner]}]}
            response = await people.call("ann", "POST", f"/role/{roles[outer]}/members", body)
            words = response.json().get("error", {}).get("type")
            assert words == (None if outer == 0 else "RoleMembershipDepthExceeded")


async def test_a_group_of_the_token_is_the_role_that_is_bound_to_it(empty: str, oidc: OidcProvider) -> None:
    variables = {"LAKEKEEPER__AUTHZ_BACKEND": "builtin", "LAKEKEEPER__OPENID_ROLES_CLAIM": "groups"}
    async with serving(empty, oidc, **variables) as people:
        bound = {"name": "engineers", "provider-id": "oidc", "source-id": "eng"}
        role = await people.told(ADMINISTRATOR, "POST", "/role", bound)
        await people.give(role_subject(UUID(role["id"])), "describe")
        await people.told("ann", "POST", "/user", {})
        assert await people.refused("ann", "GET", "/role") == (404, "ProjectNotFound")
        people.groups["ann"] = ["eng", "others"]
        assert (await people.told("ann", "GET", "/role"))["roles"] == [role]
        acting = await people.told("ann", "GET", "/role", x_assume_role=role["id"])
        assert acting["roles"] == [role]
        # what a token says is not written down anywhere
        assert (await people.told("ann", "GET", "/user/oidc~ann/roles"))["roles"] == []
        people.groups["ann"] = ["others"]
        assert await people.refused("ann", "GET", "/role") == (404, "ProjectNotFound")
        people.groups["ann"] = ["eng"]
        elsewhere = {"provider-id": "oidc", "source-id": "elsewhere"}
        await people.told(ADMINISTRATOR, "PUT", f"/role/{role['id']}/source-system", elsewhere)
        assert await people.refused("ann", "GET", "/role") == (404, "ProjectNotFound")
