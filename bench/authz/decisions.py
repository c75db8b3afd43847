"""Decisions of the builtin engine: batches of a thousand for who has few rights, for an owner of every table, and for nobody.

The engine and its statement alone, over a database of 50,000 tables in 1,000 namespaces, 500 roles and 71,000 grants; no other
service is asked. The CPU is ours and Postgres' together.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Final
from uuid import UUID

from bench.figures import Better, Figure, median
from bench.meter import metered
from bench.plan import Plan
from bench.stack import Stack
from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.domain.permissions.objects import NIL
from lakeward_components import databases
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import user
from tests.support.authz_stores import opened

BENCH: Final = "authz"
CPU_GOAL: Final = 60.0
"""Microseconds of CPU, ours and Postgres', that a decision may cost in a batch."""
BATCH_GOAL: Final = 50.0
"""Milliseconds that a batch of a thousand may take."""
_BATCH: Final = 1_000
_TABLES: Final = 50_000
_NAMESPACES: Final = 1_000
_WARM: Final = 8
_WAREHOUSE: Final = UUID(int=0xAA)
_CALLERS: Final = {"few rights": "u7", "an owner of all": "etl", "no right": "nobody"}
_ROLE, _NAMESPACE, _TABLE = (f"00000000-0000-0000-000{number}-" for number in (1, 2, 3))


def _id(prefix: str, number: str) -> str:
    return f"('{prefix}' || lpad(to_hex({number}), 12, '0'))::uuid"


# The upper tenth of the namespaces stands at the top, the others below them; each table in one of them all.
_PARENT: Final = _id(_NAMESPACE, "i % 100 + 1")
_FILL: Final = f"""
insert into objects (project_id, warehouse_id, kind, object_id, path)
values ('p', '{NIL}', 'project', '{NIL}', '{{}}'), ('p', '{_WAREHOUSE}', 'warehouse', '{NIL}', '{{}}');
insert into objects (project_id, warehouse_id, kind, object_id, path)
select 'p', '{NIL}', 'role', {_id(_ROLE, "i")}, '{{}}' from generate_series(1, 500) i;
insert into objects (project_id, warehouse_id, kind, object_id, path, parent_id)
select 'p', '{_WAREHOUSE}', 'namespace', {_id(_NAMESPACE, "i")},
       case when i > 100 then array[{_PARENT}] else '{{}}' end, case when i > 100 then {_PARENT} end
  from generate_series(1, {_NAMESPACES}) i;
insert into objects (project_id, warehouse_id, kind, object_id, path, parent_id)
select 'p', '{_WAREHOUSE}', 'table', {_id(_TABLE, "i")}, n.path || n.object_id, n.object_id
  from generate_series(1, {_TABLES}) i
  join objects n on n.kind = 'namespace' and n.object_id = {_id(_NAMESPACE, f"i % {_NAMESPACES} + 1")};
insert into grants (project_id, warehouse_id, kind, object_id, subject, relation)
select project_id, warehouse_id, kind, object_id, 'user:oidc~etl', 'ownership' from objects where kind = 'table';
insert into grants (project_id, warehouse_id, kind, object_id, subject, relation)
select 'p', '{NIL}', 'role', {_id(_ROLE, "i % 500 + 1")}, 'user:oidc~u' || i / 20, 'assignee' from generate_series(1, 20000) i;
insert into grants (project_id, warehouse_id, kind, object_id, subject, relation)
select 'p', '{_WAREHOUSE}', 'namespace', {_id(_NAMESPACE, "i")}, 'role:' || {_id(_ROLE, "i % 500 + 1")}, 'select'
  from generate_series(101, {_NAMESPACES}) i;
analyze objects; analyze grants
"""


def run(parts: Stack, plan: Plan) -> Sequence[Figure]:
    """CPU and time of batches, for each caller."""
    return asyncio.run(_run(parts, plan))


async def _run(parts: Stack, plan: Plan) -> Sequence[Figure]:
    url = await databases.create(parts.postgres, "bench_authz")
    try:
        # Sessions plan the statement once, as those of a service do that asks little else.
        async with opened(f"{url}?plan_cache_mode=force_generic_plan") as stores:
            async with stores.pool.transaction() as connection:
                await connection.execute(_FILL)
            engine = Builtin(stores.rights)
            figures: list[Figure] = []
            for who, name in _CALLERS.items():
                figures += [figure async for figure in _measured(engine, who, name, parts, plan)]
            return figures
    finally:
        await databases.drop(parts.postgres, "bench_authz")


async def _measured(engine: Builtin, who: str, name: str, parts: Stack, plan: Plan) -> AsyncIterator[Figure]:
    caller = user(f"oidc~{name}")
    demands = [Demand(_table(number * 37 % _TABLES + 1), Action.TABLE_READ_DATA) for number in range(_BATCH)]
    for _ in range(_WARM):
        await engine.decide(caller, demands)
    cpu: list[float] = []
    wall: list[float] = []
    for _ in range(plan.rounds):
        repeats = max(5, int(plan.seconds * 4))
        took: list[float] = []
        with metered({"Postgres": [pid for pid in [parts.postgres.pid] if pid is not None]}) as usage:
            for _ in range(repeats):
                began = time.perf_counter()
                await engine.decide(caller, demands)
                took.append(time.perf_counter() - began)
        cpu.append((usage.harness + usage.cpu.get("Postgres", 0.0)) * 1e6 / repeats / _BATCH)
        wall.append(median(took) * 1e3)
    yield Figure(
        BENCH,
        f"CPU of a decision in a batch of {_BATCH:,}, {who}",
        median(cpu),
        "us",
        Better.LOWER,
        goal=CPU_GOAL,
        detail="ours and Postgres'",
    )
    yield Figure(
        BENCH, f"a batch of {_BATCH:,}, {who}", median(wall), "ms", Better.LOWER, goal=BATCH_GOAL, detail="p50"
    )


def _table(number: int) -> ObjectRef:
    namespace = UUID(f"{_NAMESPACE}{number % _NAMESPACES + 1:012x}")
    return ObjectRef.table("p", _WAREHOUSE, UUID(f"{_TABLE}{number:012x}"), namespace_id=namespace)
