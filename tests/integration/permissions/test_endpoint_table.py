"""The reference's table of what operations demand, line by line over the real gateway, and what those are told who see nothing.

All services run in this process, so that what a request did to the database can be counted: who sees nothing must not learn from
the work that was done whether something is there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, cast
from uuid import UUID

import httpx
import pytest

from lakeward_cli.composing import one_process
from lakeward_cli.settings import EverySetting
from lakeward_components.oidc import OidcProvider
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from lakeward_gateway.dialects.iceberg.operations import iceberg_operations
from lakeward_gateway.dialects.management.operations import management_operations
from lakeward_gateway.peers import Stubs
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.process import loaded
from tests.support.components import fresh_database
from tests.support.endpoint_table import FORBIDDEN, LEVELS, LINES, NOT_FOUND, Line, Place, view
from tests.support.installations import environment, migrate
from tests.support.tokens import signed_by
from tests.support.warehouses import bootstrap, make_namespace, make_table, make_warehouse, told

pytestmark = pytest.mark.integration

ABSENT = Place(
    *(str(UUID(int=1)), "w", "salas", str(UUID(int=2)), "ordels", str(UUID(int=3)), "recemt", str(UUID(int=4)))
)
NEIGHBOUR = "neighbour"
_TRIES = 4
BY_LINE: Mapping[str, Any] = {"argvalues": LINES, "ids": lambda line: line.name}


@dataclasses.dataclass(frozen=True)
class Table:
    """A Lakeward in this process that decides by the built-in engine, with people of each level of right on its warehouse."""

    application: Any
    oidc: OidcProvider
    place: Place

    def client(self, who: str) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {signed_by(self.oidc, sub=who)}"}
        transport = httpx.ASGITransport(app=self.application)
        return httpx.AsyncClient(transport=transport, base_url="http://lake.example.org", headers=headers, timeout=60)

    async def ask(self, who: str, line: Line, place: Place) -> httpx.Response:
        async with self.client(who) as http:
            body = None if line.body is None else line.body(place)
            return await http.request(line.method, line.url(place), json=body)


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
async def table(database: str, s3_server: S3Store, oidc: OidcProvider) -> AsyncIterator[Table]:
    settings = environment(
        database,
        LAKEKEEPER__OPENID_PROVIDER_URI=oidc.issuer,
        LAKEKEEPER__OPENID_AUDIENCE=oidc.audience,
        LAKEKEEPER__AUTHZ_BACKEND="builtin",
        LAKEWARD__AUDIT__RECORDS="off",  # its rows are written behind the answers, and would count as others' work
    )
    await migrate(settings)
    async with one_process(loaded(EverySetting, settings)) as composition:
        yield await _furnished(Table(composition.application, oidc, ABSENT), s3_server)


async def _furnished(table: Table, store: S3Store) -> Table:
    async with table.client("admin") as http:
        await bootstrap(http)
        warehouse = await make_warehouse(http, store)
        management = f"/management/v1/warehouse/{warehouse.id}"
        for namespace in ("sales", "other"):
            await make_namespace(http, warehouse, namespace)
        made: dict[str, str] = {}
        for name in ("orders", "taken"):
            loaded_table: Any = await make_table(http, warehouse, "sales", name)
            made.setdefault("table", loaded_table["metadata"]["table-uuid"])
        views = f"{warehouse.path}/namespaces/sales/views"
        made["view"] = told(await http.post(views, json=view("recent", "sales"))).json()["metadata"]["view-uuid"]
        found = told(await http.get(f"{warehouse.path}/namespaces", params={"returnUuids": "true"})).json()
        ids = {namespace: own for (namespace,), own in zip(found["namespaces"], found["namespace-uuids"], strict=True)}
        for path in ("", f"/namespace/{ids['sales']}", f"/table/{made['table']}", f"/view/{made['view']}"):
            told(await http.post(f"{management}{path}/protection", json={"protected": True}))
        for level in LEVELS[1:]:
            await _give(http, f"warehouse/{warehouse.id}", f"has-{level}", level)
        await _give(http, f"namespace/{ids['other']}", NEIGHBOUR, "select")
    place = Place(warehouse.id, warehouse.name, "sales", ids["sales"], "orders", made["table"], "recent", made["view"])
    return dataclasses.replace(table, place=place)


async def _give(http: httpx.AsyncClient, on: str, who: str, relation: str) -> None:
    change = {"writes": [{"type": relation, "user": f"oidc~{who}"}]}
    told(await http.post(f"/management/v1/permissions/{on}/assignments", json=change))


@pytest.mark.parametrize("line", **BY_LINE)
async def test_who_may_and_who_may_not_is_as_the_table_says(table: Table, line: Line) -> None:
    levels = [level for level in LEVELS if not (line.harmful and level in line.suffice)]
    found = {level: (await table.ask(f"has-{level}", line, table.place)).status_code for level in levels}
    assert found == {level: line.expected(level) for level in levels}


@pytest.mark.parametrize("line", **BY_LINE)
@pytest.mark.parametrize("who", ["stranger", NEIGHBOUR])
async def test_what_is_hidden_is_told_from_what_is_not_there_by_nothing(table: Table, line: Line, who: str) -> None:
    """By no status, header, text or statement; a neighbour sees the warehouse and another namespace in it."""
    own = table.place if who == NEIGHBOUR else ABSENT
    absent = dataclasses.replace(ABSENT, warehouse_id=own.warehouse_id, warehouse=own.warehouse)
    if absent.parameters == table.place.parameters or (line.url(absent) == line.url(table.place) and line.body is None):
        return  # it names nothing that is hidden from a neighbour
    # A loop of the background, or what was remembered for long enough, adds a statement to one try, and not to each.
    for _ in range(_TRIES):
        hidden, gone = [await _answered(table, who, line, place) for place in (table.place, absent)]
        if hidden.status not in {FORBIDDEN, NOT_FOUND} or hidden == gone:
            return  # the same, or something that a neighbour may do to the warehouse, which it sees
    assert hidden.statements - gone.statements == gone.statements - hidden.statements == Counter()
    assert hidden == gone


@dataclasses.dataclass(frozen=True)
class Answered:
    """All that a caller can tell of a request: how it was answered, and how much was done for it."""

    status: int
    headers: frozenset[str]
    body: Any
    statements: Counter[str]


async def _answered(table: Table, who: str, line: Line, place: Place) -> Answered:
    await table.ask(who, line, place)  # what is remembered is remembered of both
    with _counted() as statements:
        reply = await table.ask(who, line, place)
    text = reply.text
    for name, value in dataclasses.asdict(place).items():
        text = re.sub(rf"\b{re.escape(value)}\b", f"<{name}>", text)
    text = re.sub(r"Error ID: [0-9a-f-]+", "", text)
    return Answered(
        reply.status_code, frozenset(reply.headers) - {"content-length"}, json.loads(text) if text else None, statements
    )


@contextlib.contextmanager
def _counted() -> Iterator[Counter[str]]:
    """Statements that requests send meanwhile; those of background loops are left out by what they read and write."""
    seen: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("fetch", "fetchrow", "fetchval", "execute"):
            plain = getattr(Pool, name)

            async def counted(pool: Pool, statement: str, *arguments: object, _plain: Any = plain) -> Any:
                if not _BACKGROUND.search(statement):
                    seen[statement] += 1
                return await _plain(pool, statement, *arguments)

            patch.setattr(Pool, name, counted)
        yield seen


_BACKGROUND = re.compile(
    r"\b(outbox|event_log|event_stream|sink_cursor|lease|task|task_log|tree_change|tree_stream|idempotency|pg_notify|pg_class)\b"
)


def test_the_table_has_each_operation_on_what_is_in_a_warehouse_or_says_why_not() -> None:
    stubs = cast("Stubs", _Anything())
    every = {
        f"{operation.method} {operation.path}"
        for operation in (*iceberg_operations(stubs, prefix_template=""), *management_operations(stubs))
        if operation.path.startswith(("/catalog/v1/{prefix}/", "/management/v1/warehouse/{warehouse_id}"))
    }
    lines = {f"{line.method} {line.template}" for line in LINES}
    assert lines <= every
    assert {name for name in every - lines if not any(re.search(known, name) for known in ELSEWHERE)} == set()


class _Anything:
    def __getattr__(self, name: str) -> _Anything:
        return self


ELSEWHERE = {
    "/warehouse/{warehouse_id}/events": "of the whole warehouse: its case among tests/unit/catalog/test_denials.py's",
    "/tags": "needs a tag, and rights on it: tests of tags",
    "/column": "the same",
    "/generic-table": "has no public operations that make one here",
    "/storage": "a body that a store is tried with: tests/integration/security/test_places.py",
    "/aws/s3/sign": "what is signed is in a location: tests of signatures",
    "/register": "reads a file that is there: tests/integration/permissions/test_people.py",
    "/metrics": "answers everybody alike",
    "/managed-by": "for administrators of the instance",
    "/format-version-policy": "as delete-profile",
    "/task": "of one task, which names a tabular: tests/unit/catalog/test_tasks.py",
    "/undrop": "of what was dropped: tests/unit/catalog/test_restoring.py",
    "/grants/grantable-privileges": "as actions",
    "/move": "tests of moves",
}
