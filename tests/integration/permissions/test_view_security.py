"""A trusted engine reads through views as their owners, and nobody else does; under each engine that decides, over HTTP."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from tests.integration.permissions.conftest import House
from tests.support.warehouses import SCHEMA, make_namespace, make_table, tables_of, told

pytestmark = pytest.mark.integration

OWNER = "trino.run-as-owner"
VENDED = {"x-iceberg-access-delegation": "vended-credentials"}


@dataclasses.dataclass(frozen=True)
class Ground:
    """A namespace of the test's own with the table `t`.

    Attributes:
        maker: the engine, by a token that may make views here.
        reader: the engine, by a token that was given nothing.
        anne: a name that nobody else has.
    """

    house: House
    namespace: str
    maker: httpx.AsyncClient
    reader: httpx.AsyncClient
    anne: str
    bert: str

    @property
    def table(self) -> str:
        return f"{tables_of(self.house.warehouse, self.namespace)}/t"

    @property
    def views(self) -> str:
        return f"{self.house.warehouse.path}/namespaces/{self.namespace}/views"

    def chain(self, *views: str) -> Mapping[str, str]:
        """As Iceberg's Java client writes it: each view encoded, and then the query."""
        return {"referenced-by": ",".join(quote(f"{self.namespace}\x1f{view}", safe="") for view in views)}

    async def make_view(self, name: str, **properties: str) -> str:
        """A view, and where rights on it are given."""
        made: Any = told(await create(self.maker, self.views, name, properties)).json()
        return f"warehouse/{self.house.warehouse.id}/view/{made['metadata']['view-uuid']}"

    async def load(self, *views: str, who: httpx.AsyncClient | None = None, **headers: str) -> httpx.Response:
        return await (who or self.reader).get(self.table, params=self.chain(*views), headers={**VENDED, **headers})


async def create(http: httpx.AsyncClient, views: str, name: str, properties: Mapping[str, str]) -> httpx.Response:
    version = {
        "version-id": 1,
        "schema-id": 0,
        "timestamp-ms": 1,
        "summary": {},
        "default-namespace": ["n"],
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "trino"}],
    }
    body = {"name": name, "schema": SCHEMA, "view-version": version, "properties": dict(properties)}
    return await http.post(views, json=body)


def refused(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["type"]


NO_VIEW, NO_TABLE = (404, "NoSuchViewException"), (404, "NoSuchTableException")


@pytest.fixture
async def ground(house: House) -> AsyncIterator[Ground]:
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(house.client(who)) for who in ("trino", "trino-for-readers")]
        admin = await stack.enter_async_context(house.client("admin"))
        namespace = await make_namespace(admin, house.warehouse)
        await make_table(admin, house.warehouse, namespace, "t")
        await house.give("trino", "create", await house.namespace(namespace))
        people = [f"{name}-{uuid4().hex[:8]}" for name in ("anne", "bert")]
        yield Ground(house, namespace, *clients, *people)


async def test_an_engine_reads_a_table_as_the_owner_of_the_view_that_names_it(ground: Ground) -> None:
    house, orders = ground.house, await ground.house.table(ground.namespace, "t")
    view = await ground.make_view("annes", **{OWNER: ground.anne})
    await house.give("trino-for-readers", "select", view)
    await house.give(
        "trino-for-readers", "describe", await house.table("hr", "orders")
    )  # so that it sees the warehouse
    assert refused(await ground.load()) == refused(await ground.load("annes")) == NO_TABLE
    await house.give(ground.anne, "select", orders)
    loaded = told(await ground.load("annes"))
    (credential,) = loaded.json()["storage-credentials"]
    assert credential["config"]["s3.session-token"]
    assert refused(await ground.load()) == NO_TABLE, "the engine itself was given nothing"

    link = credential["config"]["client.refresh-credentials-endpoint"]
    assert told(await ground.reader.get(link)).json()["storage-credentials"]
    assert refused(await ground.reader.get(link.partition("?")[0])) == NO_TABLE

    unchanged = await ground.load("annes", **{"if-none-match": loaded.headers["etag"]})
    assert unchanged.status_code == 304
    await house.take(ground.anne, "select", orders)
    for headers in ({}, {"if-none-match": loaded.headers["etag"]}, {"if-none-match": "*"}):
        assert refused(await ground.load("annes", **headers)) == NO_TABLE
    assert refused(await ground.reader.get(link)) == NO_TABLE
    await house.give(ground.anne, "select", orders)
    await house.take("trino-for-readers", "select", view)
    hidden, absent = await ground.load("annes"), await ground.load("none_s")
    assert refused(hidden) == refused(absent) == NO_VIEW
    messages = [reply.json()["error"]["message"] for reply in (hidden, absent)]
    assert messages[0] == messages[1].replace("none_s", "annes")
    assert f"{ground.namespace}.annes" in messages[0]


async def test_nobody_but_a_trusted_engine_reads_as_an_owner(ground: Ground) -> None:
    house, orders = ground.house, await ground.house.table(ground.namespace, "t")
    view = await ground.make_view("annes", **{OWNER: ground.anne})
    await house.give(ground.anne, "select", orders)
    await house.give(ground.bert, "select", view)
    async with house.client(ground.bert) as bert:
        assert refused(await ground.load("annes", who=bert)) == NO_TABLE
        await house.give(ground.bert, "select", orders)
        told(await ground.load("annes", who=bert))
        told(await ground.load("no such view", who=bert))
        assert refused(await ground.load(*["annes"] * 11, who=bert)) == (400, "ReferencedByDepthExceeded")


async def test_each_view_on_the_way_is_read_by_the_owner_before_it(ground: Ground) -> None:
    house, orders = ground.house, await ground.house.table(ground.namespace, "t")
    outer = await ground.make_view("annes", **{OWNER: ground.anne})
    inner = await ground.make_view("berts", **{OWNER: ground.bert})
    plain = await ground.make_view("plain")
    await house.give("trino-for-readers", "select", outer)
    await house.give(ground.bert, "select", orders)
    assert refused(await ground.load("annes", "berts")) == NO_VIEW
    await house.give(ground.anne, "select", inner)
    told(await ground.load("annes", "berts"))
    assert refused(await ground.load("berts")) == NO_VIEW
    assert refused(await ground.load("annes", "plain")) == NO_VIEW
    await house.give(ground.anne, "select", plain)
    assert refused(await ground.load("annes", "plain")) == NO_TABLE
    through = ground.chain("annes")
    assert told(await ground.reader.get(f"{ground.views}/berts", params=through)).json()["config"]
    assert refused(await ground.reader.get(f"{ground.views}/berts")) == NO_VIEW
    await house.take(ground.anne, "select", inner)
    assert refused(await ground.reader.get(f"{ground.views}/berts", params=through)) == NO_VIEW


async def test_an_administrator_of_the_instance_who_owns_a_view_lends_nobody_these_powers(ground: Ground) -> None:
    view = await ground.make_view("operators", **{OWNER: "operator"})
    await ground.house.give("trino-for-readers", "select", view)
    async with ground.house.client("operator") as operator:
        assert "storage-credentials" not in told(await ground.load(who=operator)).json()
    assert refused(await ground.load("operators")) == NO_TABLE


async def test_who_owns_a_view_is_for_its_engine_to_say(ground: Ground) -> None:
    owned = {OWNER: ground.anne}
    changes: Sequence[Mapping[str, Any]] = (
        {"action": "set-properties", "updates": {OWNER.upper(): "me"}},
        {"action": "set-properties", "updates": owned},
        {"action": "remove-properties", "removals": [OWNER]},
    )
    await ground.make_view("annes", **owned)
    async with ground.house.client("admin") as admin:
        path = f"{ground.views}/annes"
        for change in changes:
            body = {"requirements": [], "updates": [change]}
            assert refused(await admin.post(path, json=body)) == (403, "ProtectedPropertyModification")
        answer = await create(admin, ground.views, "mine", owned)
        assert refused(answer) == (403, "ProtectedPropertyModification")
        assert refused(await admin.get(f"{ground.views}/mine")) == NO_VIEW
        comment = {"requirements": [], "updates": [{"action": "set-properties", "updates": {"comment": "x"}}]}
        shown = told(await admin.post(path, json=comment)).json()["metadata"]["properties"]
        assert shown == {**owned, "comment": "x"}
    engines = {"requirements": [], "updates": [changes[2]]}
    assert told(await ground.maker.post(path, json=engines)).json()["metadata"]["properties"] == {"comment": "x"}
