"""Audit records in Postgres: what is found of them by which wish, in which order, and what is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
import pytest_asyncio

from lakeward_catalog.adapters.postgres.changes import PostgresChanges
from lakeward_catalog.application.changes import TabularInsert
from lakeward_servicekit.audit.postgres import ADD_BY_WAREHOUSE, PostgresAudit, Wanted, floor_of
from lakeward_servicekit.audit.records import AuditRecord, Outcome
from lakeward_servicekit.audit.serving import forget_old
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.events.acting import NOBODY
from lakeward_servicekit.events.cloud_events import About, Event
from lakeward_servicekit.rpc.origin import Origin, bind_origin
from tests.support.catalog.stores import PostgresStores, catalog_pool
from tests.support.catalog.values import FreshIds, HeldClock, a_body, a_commit, a_tabular, an_event

pytestmark = pytest.mark.integration

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EVER = {"start": datetime(1970, 1, 1, tzinfo=UTC), "end": datetime(9999, 1, 1, tzinfo=UTC)}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pool(postgres_url: str) -> AsyncIterator[Any]:
    async with catalog_pool(postgres_url) as pool:
        yield pool


@pytest.fixture
def audit(pool: Any) -> PostgresAudit:
    return PostgresAudit(pool, adding=ADD_BY_WAREHOUSE)


def a_record(project: str, minutes: int = 0, **members: Any) -> AuditRecord:
    at = NOON + timedelta(minutes=minutes)
    own = UUID(int=floor_of(at).int | (uuid4().int & ((1 << 64) - 1)))
    told = {"outcome": Outcome.REFUSED, "action": "DropTable", "principal": "oidc~ada", **members}
    return AuditRecord(audit_id=own, at=at, project_id=project, **told)


async def kept(audit: PostgresAudit, project: str, **wanted: Any) -> Sequence[AuditRecord]:
    limit = wanted.pop("limit", 100)
    return await audit.read(Wanted(project_id=project, **{**EVER, **wanted}), limit=limit)


async def test_records_are_read_as_they_were_written_the_newest_first_and_once(audit: PostgresAudit) -> None:
    project = uuid4().hex
    records = [a_record(project, minute, object="a\0b" if minute == 1 else "x") for minute in range(3)]
    await audit.add([records[1], records[0]])
    await audit.add([records[2], records[0]])
    found = await kept(audit, project)
    assert [each.audit_id for each in found] == [each.audit_id for each in reversed(records)]
    assert found[0] == records[2]
    assert found[1].object == "ab"
    assert await kept(audit, project, before=records[1].audit_id) == [records[0]]
    assert await kept(audit, project, limit=1) == [records[2]]


@pytest.mark.parametrize(
    ("wish", "minutes"),
    [
        ({"principal": "oidc~bob"}, [1]),
        ({"action": "LoadTable"}, [2]),
        ({"outcome": Outcome.ALLOWED}, [1]),
        ({"object_id": "t-2"}, [2]),
        ({"start": NOON + timedelta(minutes=1)}, [2, 1]),
        ({"end": NOON + timedelta(minutes=1)}, [0]),
        ({"principal": "oidc~bob", "action": "LoadTable"}, []),
    ],
)
async def test_each_wish_narrows_what_is_found(audit: PostgresAudit, wish: Any, minutes: list[int]) -> None:
    project = uuid4().hex
    await audit.add(
        [
            a_record(project),
            a_record(project, 1, principal="oidc~bob", outcome=Outcome.ALLOWED),
            a_record(project, 2, action="LoadTable", object_id="t-2"),
        ]
    )
    found = await kept(audit, project, **wish)
    assert [int((each.at - NOON).total_seconds() // 60) for each in found] == minutes


async def test_what_names_a_warehouse_is_its_projects_whatever_project_the_request_named(
    audit: PostgresAudit, pool: Any
) -> None:
    warehouse = await PostgresStores(pool).with_warehouse()
    elsewhere = uuid4().hex
    await audit.add(
        [a_record(elsewhere, warehouse_id=warehouse.warehouse_id), a_record(elsewhere, warehouse_id=uuid4())]
    )
    (record,) = await kept(audit, str(warehouse.project_id))
    assert record.warehouse_id == warehouse.warehouse_id
    assert len(await kept(audit, elsewhere)) == 1


async def test_old_records_are_forgotten_some_at_a_time_and_newer_ones_stay(audit: PostgresAudit) -> None:
    project = uuid4().hex
    old = [moved_on(a_record(project), number) for number in range(5)]
    fresh = a_record(project, minutes=60)
    await audit.add([*old, fresh])
    await forget_old(audit, before=NOON + timedelta(minutes=30), at_once=2)
    assert await kept(audit, project) == [fresh]


def moved_on(record: AuditRecord, number: int) -> AuditRecord:
    at = NOON + timedelta(seconds=number)
    own = UUID(int=floor_of(at).int | (uuid4().int & ((1 << 64) - 1)))
    members = {name: getattr(record, name) for name in record.__struct_fields__}
    return AuditRecord(**{**members, "audit_id": own, "at": at})


async def test_of_changes_that_share_a_transaction_each_names_where_it_came_from(
    audit: PostgresAudit, pool: Any
) -> None:
    stores, project = PostgresStores(pool), uuid4().hex
    changes = PostgresChanges(pool, clock=HeldClock(), ids=FreshIds(), audits=True)
    namespace = await stores.with_namespace()
    tables = [await stores.with_tabular(namespace) for _ in range(6)]
    origins = [Origin(f"192.0.2.{number}", f"client/{number}") for number in range(12)]

    def told(number: int) -> Event:
        about = About("updateTable", f"n.{number}", NOON, NOBODY, f"request-{number}", {"projectid": project})
        return msgspec.structs.replace(an_event(namespace.warehouse_id), about=about)

    async def change(number: int) -> None:
        bind_origin(origins[number])  # of this task alone
        if number < len(tables):
            assert await changes.commit(a_commit(tables[number]), lambda _: told(number))
        else:
            await changes.insert(TabularInsert(a_tabular(namespace), a_body(), ANONYMOUS), told(number))

    await asyncio.gather(*map(change, range(len(origins))))
    found = {each.request_id: each for each in await kept(audit, project)}
    assert found.keys() == {f"request-{number}" for number in range(len(origins))}
    for number, origin in enumerate(origins):
        record = found[f"request-{number}"]
        assert (record.object, record.client, record.user_agent) == (f"n.{number}", origin.client, origin.user_agent)
        assert origin.recorded
