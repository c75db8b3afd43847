"""Statements of authz find what was given by the index that is meant for them, where many subjects were given much."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from lakeward_authz.adapters.postgres import grants, rights, shown, suspending, trails, user_directory, visible_states
from lakeward_servicekit.postgres.pools import Connection
from tests.support.authz_stores import opened

pytestmark = pytest.mark.integration

WAREHOUSE, USER = UUID(int=7), "user:oidc~u1"
# Three hundred users in twenty roles each, and a table for each of ten thousand grants of roles.
_FILL = f"""
insert into objects (project_id, warehouse_id, kind, object_id, path)
values ('p', '{UUID(int=0)}', 'project', '{UUID(int=0)}', '{{}}'), ('p', '{WAREHOUSE}', 'warehouse', '{UUID(int=0)}', '{{}}');
insert into objects (project_id, warehouse_id, kind, object_id, path)
select 'p', '{UUID(int=0)}', 'role', md5('role' || i)::uuid, '{{}}' from generate_series(1, 100) i;
insert into objects (project_id, warehouse_id, kind, object_id, path)
select 'p', '{WAREHOUSE}', 'table', md5('table' || i)::uuid, '{{}}' from generate_series(1, 10000) i;
insert into grants (project_id, warehouse_id, kind, object_id, subject, relation)
select 'p', '{UUID(int=0)}', 'role', md5('role' || 1 + i % 100)::uuid, 'user:oidc~u' || i / 20, 'assignee'
  from generate_series(0, 5999) i;
insert into grants (project_id, warehouse_id, kind, object_id, subject, relation)
select 'p', '{WAREHOUSE}', 'table', md5('table' || i)::uuid, 'role:' || md5('role' || 1 + i % 100)::uuid, 'select'
  from generate_series(1, 10000) i;
analyze objects; analyze grants
"""


@pytest_asyncio.fixture(loop_scope="session")
async def connection(postgres_url: str) -> AsyncIterator[Connection]:
    """In a transaction that is rolled back, as a session that makes generic plans."""
    async with opened(postgres_url) as stores, stores.pool.reading() as lent:
        await lent.execute("begin")
        await lent.execute(_FILL)
        await lent.execute("set local plan_cache_mode = force_generic_plan")
        yield lent
        await lent.execute("rollback")


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


async def _searched(connection: Connection, statement: str, *arguments: object) -> list[dict[str, Any]]:
    """The nodes of the plan that read grants, after it was run."""
    types = [re.search(rf"\${number}::(\w+(?:\[\])?)", statement) for number in range(1, len(arguments) + 1)]
    text = ", ".join("unknown" if found is None else found[1] for found in types)
    await connection.execute(f"prepare asked ({text}) as {statement}")
    given = ", ".join([await connection.fetchval("select quote_nullable($1::text)", each) for each in arguments])
    explained = await connection.fetchval(f"explain (analyze, format json) execute asked ({given})")
    await connection.execute("deallocate asked")
    return [node for node in _nodes(json.loads(explained)[0]["Plan"]) if node.get("Relation Name") == "grants"]


async def test_what_many_subjects_were_given_on_an_object_is_one_search_of_it(connection: Connection) -> None:
    rows = await connection.fetch("select object_id from objects where kind = 'table' order by 1 limit 500")
    count = len(rows)
    ids = "{" + ",".join(str(row["object_id"]) for row in rows) + "}"
    warehouses = "{" + ",".join([str(WAREHOUSE)] * count) + "}"
    asked = (USER, "{" + ",".join(["p"] * count) + "}", warehouses, "{" + ",".join(["table"] * count) + "}", ids)
    nodes = await _searched(connection, rights.RIGHTS, *asked)
    by_object = [node for node in nodes if node.get("Index Name") == "grants_pkey"]
    # the tables, and the warehouse, project and server above them
    assert [node["Actual Loops"] for node in by_object] == [count + 3]
    by_subject = [node for node in nodes if node.get("Index Name") != "grants_pkey"]
    assert not [node for node in by_subject if node["Node Type"] == "Seq Scan"]
    assert all(node["Actual Loops"] <= 21 for node in by_subject), "once for the user and for each of its roles"


NIL = str(UUID(int=0))


@pytest.mark.parametrize(
    ("statement", "arguments"),
    [
        (shown.SHOWN_PROJECTS, (USER,)),
        (shown.SHOWN_WAREHOUSES, (USER, "p")),
        (shown.SHOWN_NAMESPACES, (USER, "p", str(WAREHOUSE), None)),
        (shown.SHOWN_TABULARS, (USER, "p", str(WAREHOUSE), None, "table")),
        (shown.HOLDERS, (USER, "p", str(WAREHOUSE), None, "table", "250")),
        (visible_states.STATES, ("{0}", "{" + USER + "}", "{p}", "{" + str(WAREHOUSE) + "}")),
        (suspending.SUSPEND, (USER,)),
        (user_directory.REVOKE, (USER,)),
        (grants.OF, (USER, "p", None, None, None, None, None, "100")),
        (trails.INSIDE, ("{" + USER + "}", "p", str(WAREHOUSE), NIL)),
    ],
    ids=[
        "projects",
        "warehouses",
        "namespaces",
        "tabulars",
        "holders",
        "states",
        "suspend",
        "revoke",
        "of principal",
        "inside",
    ],
)
async def test_what_a_subject_was_given_is_found_by_the_subject(
    connection: Connection, statement: str, arguments: tuple[str | None, ...]
) -> None:
    nodes = await _searched(connection, statement, *arguments)
    by_subject = [node for node in nodes if node["Node Type"] != "ModifyTable"]
    assert by_subject
    assert {node["Node Type"] for node in by_subject} <= {"Index Scan", "Index Only Scan", "Bitmap Heap Scan"}
    assert "grants_pkey" not in {node.get("Index Name") for node in by_subject}
