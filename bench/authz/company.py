"""A company whose rights are what a catalog's usually are: a warehouse, tables with grants of their own, and roles within roles.

What takes the API minutes, such as ten thousand tables, is copied by SQL from one that was made over it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import itertools
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final

import asyncpg

from bench.client import Connection
from bench.loads import CLIENT_MANAGED
from bench.plan import Plan
from bench.stack import Lakeward, Stack, lakeward
from bench.warehouse import OK, Warehouse, make_namespace, make_table, make_warehouse
from lakeward_components import blocking, databases, provision
from lakeward_components.environment import TEST
from lakeward_components.oidc import OidcProvider
from lakeward_components.openfga import OpenFgaServer
from tests.support.installations import Composition, migrate
from tests.support.tokens import signed_by

LISTED: Final = "listed"
LOADED: Final = "loaded"
MADE: Final = "made"
SHARES: Final = (1, 50, 100)
"""Percent of the listed tables that people may see."""
AT_ONCE: Final = 30
"""People who ask at the same time."""
DIRECT: Final = 3
"""Of them, those who were given each table themselves; the others have the same by roles within roles."""
GROUPS: Final = 20
FEW, MANY = "few", "many"
SEEN: Final = 10
"""Warehouses that the analyst sees, of a project that has as many and of one that has thousands."""
ANALYST: Final = "analyst"
_ADMIN: Final = "admin"
_WAREHOUSES: Final = 10_000
_CREATORS: Final = 8
_HOUR: Final = 3600
_FED_SECONDS: Final = 180.0
_NIL: Final = "00000000-0000-0000-0000-000000000000"


class Decider(enum.StrEnum):
    """Who decides, as settings name it."""

    ALLOW_ALL = "allowall"
    BUILTIN = "builtin"
    OPENFGA = "openfga"


@dataclass(frozen=True, slots=True)
class Company:
    """Three Lakewards over the same rows.

    Attributes:
        served: by who decides there.
        warehouse: `listed` has the many tables, `loaded` those with groups, and `made` none.
        tables: of `loaded`: name and id.
        listed: how many tables `listed` has.
        warehouses: how many the large project has.
    """

    served: Mapping[Decider, Lakeward]
    warehouse: Warehouse
    tables: Sequence[tuple[str, str]] = field(repr=False)
    listed: int
    warehouses: int
    oidc: OidcProvider = field(repr=False)

    def token(self, who: str) -> str:
        """A person's own, of an hour."""
        return signed_by(self.oidc, sub=who, exp=int(time.time()) + _HOUR)

    def connection(self, decider: Decider, who: str, headers: Mapping[str, str] | None = None) -> Connection:
        """A person's, to one of the Lakewards."""
        own = {**CLIENT_MANAGED, "authorization": f"Bearer {self.token(who)}", **(headers or {})}
        return Connection(self.served[decider].url, headers=own)

    def admin(self, decider: Decider) -> Connection:
        """Of who may do everything."""
        return self.connection(decider, _ADMIN)


def people(share: int) -> Sequence[str]:
    """Those who may see a share of the listed tables."""
    return [f"sees-{share}-{number}" for number in range(AT_ONCE)]


def members() -> Sequence[str]:
    """Those who are in all groups."""
    return [f"member-{number}" for number in range(AT_ONCE)]


@contextmanager
def company(parts: Stack, plan: Plan) -> Iterator[Company]:
    """Found it in a database of its own, with its three Lakewards; all of it ends with the block."""
    with ExitStack() as ending:
        name = f"bench_people_{secrets.token_hex(4)}"
        database = blocking.run(databases.create(parts.postgres, name))
        ending.callback(lambda: blocking.run(databases.drop(parts.postgres, name)))
        oidc = blocking.run(provision.oidc_provider(parts.home / "people-oidc", names=TEST))
        ending.callback(lambda: blocking.run(oidc.stop(gracefully=False)))
        openfga = _openfga(parts, ending)
        environment = {
            **parts.environment,
            "LAKEKEEPER__PG_DATABASE_URL_WRITE": database,
            "LAKEKEEPER__OPENID_PROVIDER_URI": oidc.issuer,
            "LAKEKEEPER__OPENID_AUDIENCE": oidc.audience,
            "LAKEKEEPER__OPENFGA__ENDPOINT": openfga.url,
            "LAKEKEEPER__OPENFGA__API_KEY": openfga.api_key,
            "LAKEWARD__OPENFGA__TIMEOUT": "60s",
        }
        blocking.run(migrate(environment))
        served: dict[Decider, Lakeward] = {}

        def serve(decider: Decider) -> None:
            behind = dataclasses.replace(
                parts, database=database, environment={**environment, "LAKEKEEPER__AUTHZ_BACKEND": decider.value}
            )
            served[decider] = ending.enter_context(lakeward(behind, Composition.ONE_PROCESS))

        serve(Decider.BUILTIN)
        its = asyncio.run(_founded(served, oidc, database, plan))
        serve(Decider.ALLOW_ALL)
        serve(Decider.OPENFGA)  # once all is there: a store that is new is given everything at once
        asyncio.run(_fed(its))
        yield its


def _openfga(parts: Stack, ending: ExitStack) -> OpenFgaServer:
    name = f"bench_openfga_{secrets.token_hex(4)}"
    database = blocking.run(databases.create(parts.postgres, name))
    ending.callback(lambda: blocking.run(databases.drop(parts.postgres, name)))
    server = blocking.run(
        provision.openfga_server(parts.home / "openfga", names=TEST, database=f"{database}?sslmode=disable")
    )
    ending.callback(lambda: blocking.run(server.stop(gracefully=False)))
    return server


async def _founded(served: Mapping[Decider, Lakeward], oidc: OidcProvider, database: str, plan: Plan) -> Company:
    """With everything that the API makes in seconds, and then with the rest."""
    warehouse = Warehouse("", "", served[Decider.BUILTIN].stack.s3)
    large = min(_WAREHOUSES, plan.tables)
    its = Company(served, warehouse, [], plan.tables + plan.tables // 20 - 4, large, oidc)
    headers = {"authorization": f"Bearer {its.token(_ADMIN)}"}
    warehouse = await make_warehouse(served[Decider.BUILTIN], headers=headers)
    its = dataclasses.replace(its, warehouse=warehouse)
    async with its.admin(Decider.BUILTIN) as admin:
        for namespace in (LISTED, LOADED, MADE):
            await make_namespace(admin, warehouse, namespace)
        await make_table(admin, warehouse, LISTED, "template")
    names = [f"table_{number:05d}" for number in range(plan.many)]
    tables = await _made(its, names)
    await _filled(database, its)
    return dataclasses.replace(its, tables=tables)


async def _made(its: Company, names: Sequence[str]) -> Sequence[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    left = iter(names)

    async def creator() -> None:
        async with its.admin(Decider.BUILTIN) as connection:
            for name in left:
                made = await make_table(connection, its.warehouse, LOADED, name)
                found.append((name, made.metadata.table_uuid))

    await asyncio.gather(*(creator() for _ in range(_CREATORS)))
    return sorted(found)


async def _fed(its: Company) -> None:
    """Wait until OpenFGA was told everything: till then it decides nothing."""
    until = time.monotonic() + _FED_SECONDS
    path = its.warehouse.table(LOADED, its.tables[0][0])
    while True:
        async with its.connection(Decider.OPENFGA, members()[0]) as connection:
            reply = await connection.get(path)
        if reply.status == OK or time.monotonic() > until:
            reply.expect(OK)
            return
        await asyncio.sleep(0.5)


async def _filled(database: str, its: Company) -> None:
    connection = await asyncpg.connect(database)
    try:
        async with connection.transaction():
            for statement in _statements(its):
                await connection.execute(statement)
        await connection.execute("analyze")
    finally:
        await connection.close()


def _statements(its: Company) -> Iterator[str]:
    """What the API would take minutes for. Ids of roles, projects' warehouses and tables follow from their names."""
    warehouse = f"'{its.warehouse.id}'::uuid"
    yield f"""
    insert into lakeward_catalog.tabular (warehouse_id, incarnation, tabular_id, kind, state, namespace_id, name, name_key,
        location, location_key, location_digest, metadata_id, metadata_location, created_at)
    select t.warehouse_id, md5('table ' || i)::uuid, md5('public ' || i)::uuid, t.kind, t.state, t.namespace_id,
           'table_' || lpad(i::text, 5, '0'), 'table_' || lpad(i::text, 5, '0'), t.location || i, t.location_key || i,
           substring(sha256(convert_to(t.location_key || i, 'UTF8')) for 16), md5('metadata ' || i)::uuid,
           t.metadata_location || i, t.created_at + i * interval '1 ms'
      from lakeward_catalog.tabular t, generate_series(1, {its.listed - 1}) i where t.name = 'template'
    """
    yield f"""
    insert into lakeward_authz.objects (project_id, warehouse_id, kind, object_id, parent_id, path, public_id)
    select '{_NIL}', t.warehouse_id, 'table', t.incarnation, t.namespace_id, array[t.namespace_id], t.tabular_id
      from lakeward_catalog.tabular t where t.warehouse_id = {warehouse} on conflict do nothing
    """
    for share in SHARES:
        yield from _of_share(share, warehouse)
    yield from _of_groups(warehouse)
    for project, count in ((FEW, SEEN), (MANY, its.warehouses)):
        yield from _of_project(project, count, its)


def _role(name: str) -> str:
    """A role's id, from SQL text of its name."""
    return f"md5('role ' || {name})::uuid"


def _roles(names: str) -> str:
    return f"""
    insert into lakeward_authz.objects (project_id, warehouse_id, kind, object_id, path)
    select '{_NIL}', '{_NIL}', 'role', {_role("name")}, '{{}}' from {names} as r(name)
    """


def _of_share(share: int, warehouse: str) -> Iterator[str]:
    """Each table of the share was given to ten people and to one role; others hold that by roles within roles."""
    chain = [f"sees-{share}-outer", f"sees-{share}-middle", f"sees-{share}-inner"]
    yield _roles(f"unnest(array{chain})")
    yield f"""
    insert into lakeward_authz.grants (project_id, warehouse_id, kind, object_id, subject, relation)
    select '{_NIL}', {warehouse}, 'table', t.incarnation, s.subject, 'select'
      from lakeward_catalog.tabular t
      join lakeward_catalog.namespace n using (warehouse_id, namespace_id),
           (select 'user:oidc~sees-{share}-' || i from generate_series(0, {DIRECT - 1}) i
            union all select 'role:' || {_role(f"'{chain[-1]}'")}) as s(subject)
     where n.path_key = '{LISTED}' and abs(hashtextextended(t.name, 0)) % 100 < {share}
    """
    for outer, inner in itertools.pairwise(chain):
        yield f"""
        insert into lakeward_authz.grants (project_id, warehouse_id, kind, object_id, subject, relation)
        values ('{_NIL}', '{_NIL}', 'role', {_role(f"'{inner}'")}, 'role:' || {_role(f"'{outer}'")}, 'assignee')
        """
    yield f"""
    insert into lakeward_authz.grants (project_id, warehouse_id, kind, object_id, subject, relation)
    select '{_NIL}', '{_NIL}', 'role', {_role(f"'{chain[0]}'")}, 'user:oidc~sees-{share}-' || i, 'assignee'
      from generate_series({DIRECT}, {AT_ONCE - 1}) i
    """


def _of_groups(warehouse: str) -> Iterator[str]:
    """Each table of `loaded` was given to one of twenty groups, every tenth to be changed; everybody is in all of them."""
    groups = f"(select 'group-' || i from generate_series(0, {GROUPS - 1}) i)"
    yield _roles(groups)
    yield f"""
    insert into lakeward_authz.grants (project_id, warehouse_id, kind, object_id, subject, relation)
    select '{_NIL}', {warehouse}, 'table', t.incarnation,
           'role:' || {_role(f"'group-' || (row_number() over (order by t.name)) % {GROUPS}")},
           case when (row_number() over (order by t.name)) % 10 = 0 then 'modify' else 'select' end
      from lakeward_catalog.tabular t join lakeward_catalog.namespace n using (warehouse_id, namespace_id)
     where n.path_key = '{LOADED}'
    """
    yield f"""
    insert into lakeward_authz.grants (project_id, warehouse_id, kind, object_id, subject, relation)
    select '{_NIL}', '{_NIL}', 'role', {_role("g.name")}, 'user:oidc~member-' || i, 'assignee'
      from {groups} as g(name), generate_series(0, {AT_ONCE - 1}) i
    """


def _of_project(project: str, count: int, its: Company) -> Iterator[str]:
    """A project with so many warehouses, of which the analyst sees ten."""
    yield f"insert into lakeward_catalog.project (project_id, name) values ('{project}', '{project}')"
    own = f"md5('warehouse {project} ' || i)::uuid"
    columns = ", ".join(_WAREHOUSE_COLUMNS)
    yield f"""
    insert into lakeward_catalog.warehouse (warehouse_id, project_id, name, name_key, {columns})
    select {own}, '{project}', 'w' || i, 'w' || i, {columns}
      from lakeward_catalog.warehouse w, generate_series(1, {count}) i where w.warehouse_id = '{its.warehouse.id}'
    """
    yield f"""
    insert into lakeward_authz.objects (project_id, warehouse_id, kind, object_id, path)
    select '{project}', '{_NIL}'::uuid, 'project', '{_NIL}'::uuid, '{{}}'::uuid[]
    union all
    select '{project}', {own}, 'warehouse', '{_NIL}', '{{}}' from generate_series(1, {count}) i
    """
    yield f"""
    insert into lakeward_authz.grants (project_id, warehouse_id, kind, object_id, subject, relation)
    select '{project}', {own}, 'warehouse', '{_NIL}', 'user:oidc~{ANALYST}', 'describe'
      from generate_series(1, {SEEN}) i
    """


_WAREHOUSE_COLUMNS: Final = (
    "active",
    "storage_profile",
    "secret_id",
    "credential_kind",
    "base_location",
    "place",
    "layout",
    "schemes",
    "client_defaults",
    "push_delete_disabled",
    "signs_remotely",
    "tells_case",
    "restorable_for",
    "allowed_format_versions",
    "default_format_version",
    "created_at",
)
