"""What is recorded of calls: which of them, what of them, and what becomes of records that nobody takes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from lakeward_protocol.catalog.v1 import tables_pb2, tables_pb2_grpc
from lakeward_protocol.common.v1 import context_pb2
from lakeward_protocol.errors.v1 import failure_pb2
from lakeward_servicekit.audit.recording import LOGGER, Recorder, recording, write_waiting
from lakeward_servicekit.audit.records import AuditRecord, Outcome, of_changes
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind, RoleId, UserId
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Actor, cloud_event
from lakeward_servicekit.rpc import Caller, Host
from lakeward_servicekit.rpc.status import failure_of
from lakeward_servicekit.system import SystemIds

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
WAREHOUSE = str(UUID(int=7))
SECRET = "Bearer eyJ.of.somebody"


class At:
    def now(self) -> datetime:
        return NOON


class Someone:
    principal = Principal(PrincipalKind.ROLE, UserId("oidc~ada"), RoleId("a-role"))
    project = None


class Tables(tables_pb2_grpc.TableServiceServicer):
    """Answers as it is told."""

    raises: BaseException | None = None
    tells = False

    async def DropTable(self, request: Any, caller: Any) -> Any:
        if self.tells:
            of_changes([an_event()])
        if self.raises is not None:
            raise self.raises
        return tables_pb2.DropTableResponse()

    async def LoadTable(self, request: Any, caller: Any) -> Any:
        if self.raises is not None:
            raise self.raises
        return tables_pb2.LoadTableResponse()

    async def BatchLoadTables(self, request: Any, settle: Any) -> Any:
        failure = failure_pb2.Failure()
        failure.CopyFrom(failure_of(self.raises)) if isinstance(self.raises, Refusal) else None
        items = [
            tables_pb2.BatchLoadTablesItem(response=tables_pb2.LoadTableResponse()),
            tables_pb2.BatchLoadTablesItem(failure=failure),
        ]
        return tables_pb2.BatchLoadTablesResponse(items=items)


class Rows:
    def __init__(self) -> None:
        self.added: list[AuditRecord] = []
        self.refuses = False

    async def add(self, records: Sequence[AuditRecord]) -> None:
        if self.refuses:
            raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "away")
        self.added += records


def an_event() -> Any:
    return cloud_event(
        event_id=UUID(int=1),
        at=NOON,
        source="lakeward://test",
        stream=WAREHOUSE,
        kind="table",
        verb="dropped",
        upstream_type="dropTable",
        subject="sales.orders",
        actor=Actor("oidc~ada", "a-role"),
        trace_id="r-1",
        data={},
        attributes={"warehouseid": WAREHOUSE, "tabularid": "t-1", "projectid": "here"},
    )


class World:
    def __init__(self, *, reads: bool = False, most: int = 10, settles: bool = True) -> None:
        self.recorder = Recorder(
            clock=At(), ids=SystemIds(), lines=True, reads=reads, default_project="the-default", most=most
        )
        self.tables = Tables()

        async def settle(_: Any) -> object:
            if not settles:
                raise Refusal(Reason.REASON_TOKEN_MISSING, "who are you?")
            return Someone()

        host = Host("catalog", settle=settle, audit=self.recorder)
        host.add(tables_pb2_grpc.add_TableServiceServicer_to_server, self.tables)
        self.stub: Any = tables_pb2_grpc.TableServiceStub(host.channel(caller=Caller.CALLER_GATEWAY))  # type: ignore[arg-type]

    def waiting(self) -> Sequence[AuditRecord]:
        return self.recorder.take(100)


def a_drop() -> Any:
    request = tables_pb2.DropTableRequest(warehouse_id=WAREHOUSE, context=a_context())
    request.table.namespace.parts.append("sales")
    request.table.name = "orders"
    return request


def a_load() -> Any:
    request = tables_pb2.LoadTableRequest(warehouse_id=WAREHOUSE, context=a_context())
    request.table.namespace.parts.append("sales")
    request.table.name = "orders"
    return request


def a_context() -> context_pb2.RequestContext:
    return context_pb2.RequestContext(
        request_id="r-1", authorization=SECRET, client_address="192.0.2.1", user_agent="engine/1" + "x" * 1000
    )


def forbidden() -> Refusal:
    return Refusal(Reason.REASON_FORBIDDEN, "you may not", kind="table", action="drop")


def absent() -> Refusal:
    return Refusal(Reason.REASON_NO_SUCH_TABLE, "no such table", table="sales.orders")


async def test_a_change_that_its_transaction_did_not_record_gets_a_row() -> None:
    world = World()
    await world.stub.DropTable(a_drop())
    (record,) = world.waiting()
    assert record.outcome is Outcome.ALLOWED
    assert (record.action, record.object, record.project_id) == ("DropTable", "sales.orders", "the-default")
    assert (record.principal, record.role) == ("oidc~ada", "a-role")
    assert (record.request_id, record.client, len(record.user_agent)) == ("r-1", "192.0.2.1", 256)
    assert record.warehouse_id == UUID(WAREHOUSE)


async def test_a_change_that_its_transaction_recorded_gets_no_second_row(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.tables.tells = True
    with caplog.at_level(logging.INFO, LOGGER):
        await world.stub.DropTable(a_drop())
    assert world.waiting() == []
    assert [record.message for record in caplog.records if record.name == LOGGER] == ["audited"]


async def test_a_transactions_record_says_where_the_request_came_from() -> None:
    (record,) = of_changes([an_event()])
    assert (record.action, record.kind, record.object_id, record.object) == (
        "dropTable",
        "table",
        "t-1",
        "sales.orders",
    )
    assert (record.project_id, record.warehouse_id, record.audit_id) == ("here", UUID(WAREHOUSE), UUID(int=1))
    assert (record.principal, record.role, record.request_id, record.client) == ("oidc~ada", "a-role", "r-1", "")


@pytest.mark.parametrize(("refusal", "named"), [(forbidden(), "sales.orders"), (absent(), "")], ids=["seen", "hidden"])
async def test_a_refused_change_is_recorded_and_what_may_not_be_there_is_not_named(
    refusal: Refusal, named: str
) -> None:
    world = World()
    world.tables.raises = refusal
    with pytest.raises(Refusal):
        await world.stub.DropTable(a_drop())
    (record,) = world.waiting()
    assert (record.outcome, record.object) == (Outcome.REFUSED, named)


@pytest.mark.parametrize(
    ("raises", "reads", "outcomes"),
    [
        (None, False, []),
        (None, True, [Outcome.ALLOWED]),
        (absent(), False, []),
        (absent(), True, [Outcome.REFUSED]),
        (forbidden(), False, [Outcome.REFUSED]),
    ],
)
async def test_of_reads_refusals_for_want_of_a_right_are_recorded_and_all_where_they_are_asked_for(
    raises: Refusal | None, reads: bool, outcomes: list[Outcome]
) -> None:
    world = World(reads=reads)
    world.tables.raises = raises
    try:
        await world.stub.LoadTable(a_load())
    except Refusal:
        assert raises is not None
    assert [record.outcome for record in world.waiting()] == outcomes


@pytest.mark.parametrize(("reads", "count"), [(False, 1), (True, 2)])
async def test_items_of_a_batch_are_recorded_as_if_they_had_come_alone(reads: bool, count: int) -> None:
    world = World(reads=reads)
    world.tables.raises = forbidden()
    await world.stub.BatchLoadTables(tables_pb2.BatchLoadTablesRequest(items=[a_load(), a_load()]))
    records = world.waiting()
    assert (len(records), records[-1].action, records[-1].reason) == (count, "LoadTable", "FORBIDDEN")
    assert records[-1].principal == "oidc~ada"


async def test_who_is_nobody_is_recorded_as_nobody() -> None:
    world = World(settles=False)
    with pytest.raises(Refusal):
        await world.stub.LoadTable(a_load())
    (record,) = world.waiting()
    assert (record.reason, record.principal, record.object, record.client) == ("TOKEN_MISSING", "", "", "192.0.2.1")


async def test_a_change_that_broke_is_recorded_as_failed() -> None:
    world = World()
    world.tables.raises = RuntimeError("ours")
    with pytest.raises(Refusal):
        await world.stub.DropTable(a_drop())
    (record,) = world.waiting()
    assert (record.outcome, record.reason) == (Outcome.FAILED, "INTERNAL")


async def test_what_does_not_fit_is_lost_and_told(caplog: pytest.LogCaptureFixture) -> None:
    world, rows = World(most=2), Rows()
    for _ in range(3):
        await world.stub.DropTable(a_drop())
    await write_waiting(world.recorder, rows)
    assert len(rows.added) == 2
    (told,) = (record for record in caplog.records if record.levelno == logging.ERROR)
    assert vars(told)["records"] == 1
    assert world.recorder.lost == 0


async def test_what_the_database_does_not_take_is_told_and_the_next_are_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world, rows = World(), Rows()
    rows.refuses = True
    await world.stub.DropTable(a_drop())
    await write_waiting(world.recorder, rows)
    assert [vars(record)["records"] for record in caplog.records if record.levelno == logging.ERROR] == [1]
    rows.refuses = False
    await world.stub.DropTable(a_drop())
    await write_waiting(world.recorder, rows)
    assert len(rows.added) == 1


async def test_what_waits_at_the_end_is_written_before_it() -> None:
    world, rows = World(), Rows()
    async with recording(world.recorder, rows):
        await world.stub.DropTable(a_drop())
    assert len(rows.added) == 1


async def test_neither_a_row_nor_a_line_holds_a_token(caplog: pytest.LogCaptureFixture) -> None:
    world = World(reads=True)
    with caplog.at_level(logging.INFO):
        await world.stub.DropTable(a_drop())
        await world.stub.LoadTable(a_load())
    assert SECRET not in "".join(repr(vars(record)) for record in caplog.records)
    assert SECRET not in repr(world.waiting())
