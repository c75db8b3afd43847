"""Rights on generic tables under each engine, and pylakekeeper's client credentials against an identity provider."""

from __future__ import annotations

import asyncio
import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pylakekeeper import AuthError, Client, ClientCredentials, LakekeeperHTTPError, NotFoundError, StaticToken

from lakeward_components.oidc import SPARK
from tests.integration.permissions.conftest import BACKENDS, House, Houses
from tests.support.installations import compositions
from tests.support.tokens import signed_by
from tests.support.warehouses import make_namespace, told

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore::ResourceWarning")]

# What the founding document counts as sixteen, and what was added since, by name.
CATALOG = {
    "drop",
    "read_data",
    "write_data",
    "get_metadata",
    "rename",
    "include_in_list",
    "undrop",
    "get_tasks",
    "control_tasks",
}
CATALOG_SINCE = {"set_protection", "manage_tags", "read_grants"}
RIGHTS = {
    "read_assignments",
    "grant_pass_grants",
    "grant_manage_grants",
    "grant_describe",
    "grant_select",
    "grant_modify",
    "change_ownership",
}
RIGHTS_SINCE = {"grant_manage_tags"}
# What each grant gives of them.
DESCRIBE = {"get_metadata", "include_in_list", "get_tasks"}
SELECT = DESCRIBE | {"read_data"}
MODIFY = SELECT | {"write_data", "drop", "undrop", "rename", "set_protection", "control_tasks"}
GIVEN: Mapping[str, set[str]] = {
    "describe": DESCRIBE,
    "select": SELECT,
    "modify": MODIFY,
    "manage_tags": {"manage_tags"},
    "ownership": MODIFY,
}
assert len(CATALOG | RIGHTS) == 16


@pytest.fixture(scope="module", params=BACKENDS)
async def house(houses: Houses, request: pytest.FixtureRequest) -> House:
    return await houses(request.param, compositions()[0])


class Table:
    """A generic table of the test's own, in a namespace of its own."""

    def __init__(self, house: House, namespace: str, table_id: str) -> None:
        self.house, self.namespace, self.id = house, namespace, table_id
        warehouse = f"warehouse/{house.warehouse.id}"
        self.path = f"/lakekeeper/v1/{house.warehouse.id}/namespaces/{namespace}/generic-tables/vectors"
        self.place = f"{warehouse}/generic-table/{table_id}"

    async def ask(self, who: str, method: str, path: str, **members: Any) -> httpx.Response:
        async with self.house.client(who) as http:
            return await http.request(method, path, **members)

    async def actions(self, who: str) -> tuple[set[str], set[str]]:
        """What somebody may do with it, and with its grants."""
        catalog = told(await self.ask(who, "GET", f"/management/v1/{self.place}/actions")).json()
        rights = told(await self.ask(who, "GET", f"/management/v1/permissions/{self.place}/authorizer-actions")).json()
        return _words(catalog), _words(rights)


def _words(document: Mapping[str, Any]) -> set[str]:
    return {each["action"] if isinstance(each, dict) else each for each in document["allowed-actions"]}


@pytest.fixture
async def table(house: House) -> Table:
    async with house.client("admin") as http:
        namespace = await make_namespace(http, house.warehouse)
        path = f"/lakekeeper/v1/{house.warehouse.id}/namespaces/{namespace}/generic-tables"
        made = told(await http.post(path, json={"name": "vectors", "format": "lance"})).json()
    return Table(house, namespace, made["table"]["id"])


async def test_its_owner_has_each_of_the_permissions_by_name_and_no_other(table: Table) -> None:
    catalog, rights = await table.actions("admin")
    assert catalog == CATALOG | CATALOG_SINCE
    assert rights == RIGHTS | RIGHTS_SINCE


@pytest.mark.parametrize("grant", GIVEN)
async def test_each_grant_gives_its_permissions_and_no_other(table: Table, grant: str) -> None:
    who = f"grantee-{uuid4().hex[:8]}"
    await table.house.give(who, grant, table.place)
    if grant == "manage_tags":  # not to see it is to be told nothing of it
        await table.house.give(who, "describe", table.place)
        expected = GIVEN[grant] | DESCRIBE
    else:
        expected = GIVEN[grant]
    catalog, _ = await table.actions(who)
    assert catalog & CATALOG == expected & CATALOG
    assert catalog & {"set_protection", "manage_tags"} == expected & {"set_protection", "manage_tags"}


async def test_each_call_is_refused_to_who_lacks_its_right_and_hidden_from_who_sees_nothing(table: Table) -> None:
    reader, seer, stranger = (f"{name}-{uuid4().hex[:8]}" for name in ("reader", "seer", "stranger"))
    await table.house.give(reader, "select", table.place)
    await table.house.give(seer, "describe", table.place)
    loaded = told(await table.ask(reader, "GET", table.path)).json()
    assert loaded["storage-credentials"]
    bare = told(await table.ask(seer, "GET", table.path)).json()
    assert bare.keys() == {"table", "location"}
    assert (await table.ask(seer, "GET", f"{table.path}/credentials")).status_code == 404
    told(await table.ask(reader, "GET", f"{table.path}/credentials"))
    protection = f"/management/v1/{table.place}/protection"
    refused: tuple[tuple[str, str, Any], ...] = (
        ("POST", table.path, {"doc": "x"}),
        ("DELETE", table.path, None),
        ("PUT", f"{table.path}/versions/0", {"path": "a"}),
        ("POST", protection, {"protected": True}),
    )
    for method, path, body in refused:
        denied = await table.ask(reader, method, path, json=body)
        assert (denied.status_code, denied.json()["error"]["type"]) == (403, "GenericTableActionForbidden"), path
        assert (await table.ask(stranger, method, path, json=body)).status_code == 404
    await table.house.give(stranger, "describe", await table.house.namespace("sales"))
    # sees the warehouse by now, and nothing of this table
    hidden = await table.ask(stranger, "GET", table.path)
    absent = await table.ask(stranger, "GET", f"{table.path}-absent")
    assert hidden.json()["error"]["type"] == "NoSuchGenericTableException"
    assert hidden.text.replace("vectors", "x") == absent.text.replace("vectors-absent", "x")


async def test_who_loses_the_grant_is_handed_nothing_more_and_what_is_held_ends_when_it_says(table: Table) -> None:
    reader = f"reader-{uuid4().hex[:8]}"
    await table.house.give(reader, "select", table.place)
    held = told(await table.ask(reader, "GET", f"{table.path}/credentials")).json()
    (entry,) = held["storage-credentials"]
    # what the store will heed is in the session's token itself, whatever the properties beside it say
    payload = entry["config"]["s3.session-token"].split(".")[1]
    ends = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["exp"]
    assert ends == pytest.approx(int(entry["config"]["s3.session-token-expires-at-ms"]) / 1000, abs=2)
    assert 0 < ends - time.time() <= 3600
    await table.house.take(reader, "select", table.place)
    for path in (table.path, f"{table.path}/credentials", f"{table.path}/credentials?min-validity-ms=1"):
        assert (await table.ask(reader, "GET", path)).status_code == 404
    await table.house.give(reader, "describe", table.place)
    assert told(await table.ask(reader, "GET", table.path)).json().keys() == {"table", "location"}


async def test_a_namespaces_grant_reaches_every_generic_table_in_it_and_its_listing(table: Table) -> None:
    who = f"platform-{uuid4().hex[:8]}"
    listing = table.path.removesuffix("/vectors")
    assert (await table.ask(who, "GET", listing)).status_code == 404
    await table.house.give(who, "select", await table.house.namespace(table.namespace))
    found = told(await table.ask(who, "GET", listing)).json()["identifiers"]
    assert [(each["name"], each["format"], each["id"]) for each in found] == [("vectors", "lance", table.id)]
    catalog, _ = await table.actions(who)
    assert {"read_data", "get_metadata"} <= catalog
    assert not {"drop", "write_data"} & catalog


async def test_pylakekeeper_authenticates_with_client_credentials_and_with_a_token(table: Table) -> None:
    house = table.house
    await house.give("spark", "modify", table.place)
    engine = ClientCredentials(
        token_url=house.oidc.token_endpoint,
        client_id=SPARK.id,
        client_secret=SPARK.secret,
        scope="lakekeeper",
    )
    reader = f"reader-{uuid4().hex[:8]}"
    await house.give(reader, "select", table.place)

    def talk() -> None:
        url, warehouse = house.installation.url, house.warehouse.id
        with Client(base_url=url, warehouse=warehouse, auth=engine) as client:
            found = client.generic_tables.load(table.namespace, "vectors", vended=True)
            assert found.lance_storage_options["aws_session_token"]
        with Client(base_url=url, warehouse=warehouse, auth=StaticToken(signed_by(house.oidc, sub=reader))) as client:
            assert client.generic_tables.load(table.namespace, "vectors", vended=True).credentials
            with pytest.raises(LakekeeperHTTPError) as refused:
                client.generic_tables.drop(table.namespace, "vectors")
            assert refused.value.status_code == 403
        with (
            Client(base_url=url, warehouse=warehouse, auth=StaticToken(signed_by(house.oidc, sub="nobody"))) as client,
            pytest.raises(NotFoundError),
        ):
            client.generic_tables.load(table.namespace, "vectors")

        wrong = ClientCredentials(token_url=house.oidc.token_endpoint, client_id=SPARK.id, client_secret="wrong")
        with Client(base_url=url, warehouse=warehouse, auth=wrong) as client, pytest.raises(AuthError):
            client.generic_tables.load(table.namespace, "vectors")

    await asyncio.to_thread(talk)
