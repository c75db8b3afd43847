"""The events of a warehouse in a table of its own: each once, however often and wherever its job is killed."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from lakeward import Client
from lakeward_components import blocking
from lakeward_pipelines.audit import MARK, AuditTable, Bounds, Landing, Log, TableUnfit, WrittenMeanwhile
from lakeward_pipelines.audit.__main__ import main
from tests.support import audit_run, ivy
from tests.support.engines import Reach, spark_settings
from tests.support.http import NOBODY
from tests.support.installations import ROOT, Composition
from tests.support.lakeward import Lakeward
from tests.support.up import wait
from tests.support.warehouses import Warehouse, make_warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The log that is read is the same in every composition.
pytestmark = pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")

_SECONDS = 120
# The host goes on as it is: by it the server tells engines where it is reached.
_HOP = frozenset({"connection", "content-length", "content-encoding", "transfer-encoding", "accept-encoding"})
NAMESPACE = "ops"


@dataclass
class Between:
    """What stands before a Lakeward, and does something with the next commit to an audit table.

    Attributes:
        url: in place of Lakeward's own.
        meet: called with what passes the commit on; whether there is an answer. None: commits pass.
    """

    url: str
    meet: Callable[[Callable[[], object]], bool] | None = None


@dataclass(frozen=True)
class World:
    """A warehouse of our own, which Spark has by way of what stands between.

    Attributes:
        catalog: the name that it has in Spark.
    """

    spark: SparkSession
    client: Client
    warehouse: Warehouse
    catalog: str
    between: Between

    def new(self) -> str:
        """The name of a table that is there, made by the job, and empty."""
        name = f"trail_{secrets.token_hex(4)}"
        with self._logged({name}):
            self.table(name).prepare()
        return name

    def table(self, name: str) -> AuditTable:
        return AuditTable(self.spark, (self.catalog, NAMESPACE, name))

    def landing(self, name: str, *, events: int = 10_000) -> Landing:
        return Landing(self.table(name), [Log.of(self.client, self.warehouse.name)], Bounds(events=events))

    def happens(self, count: int) -> None:
        """So many events, which the log has: they get there behind the answers."""
        with self._logged({f"n_{secrets.token_hex(4)}" for _ in range(count)}) as names:
            for name in names:
                self.client.warehouse(self.warehouse.name).create_namespace(name)

    @contextmanager
    def _logged(self, names: set[str]) -> Iterator[set[str]]:
        """Ends when the log tells of all that were made inside."""
        events = self.client.warehouse(self.warehouse.name).events
        position = events.page("now").position
        yield names
        waits = set(names)
        for _ in range(_SECONDS):
            page = events.page(position, limit=1000, wait_ms=1000)
            position = page.position
            waits -= {name for name in waits for event in page.events if name in json.dumps(event.cloud_event)}
            if not waits:
                return
        raise AssertionError(f"the log does not tell of {sorted(waits)}")

    def rows(self, name: str, columns: str) -> list[tuple[Any, ...]]:
        where = self.table(name).name
        self.spark.sql(f"refresh table {where}")
        return [tuple(row) for row in self.spark.sql(f"select {columns} from {where} order by sequence").collect()]

    def run(self, name: str, *further: str) -> subprocess.Popen[bytes]:
        """The job in a process of its own."""
        command = [sys.executable, "-m", "tests.support.audit_run", self.client.connection.url, self.warehouse.name]
        return subprocess.Popen(
            [*command, self.catalog, NAMESPACE, name, "4", *further],
            env={**os.environ, **audit_run.variables(self.spark), "PYTHONPATH": str(ROOT)},
        )

    def agree(self, name: str) -> None:
        """The table has the log's events, each once, up to where it says that it does."""
        standing = self.table(name).standing([self.warehouse.id])
        up_to = standing.sequences[self.warehouse.id]
        log = self.client.warehouse(self.warehouse.name).events.subscribe("0", batch=1000, follow=False)
        told = [(event.sequence, event.id, event.kind, event.verb) for event in log if event.sequence <= up_to]
        assert [number for number, *_ in told] == list(range(1, up_to + 1))
        assert self.rows(name, "sequence, id, kind, verb") == told


@pytest.fixture(scope="module")
def world(lakeward: Lakeward, spark_session: SparkSession) -> Iterator[World]:
    warehouse = blocking.run(_warehouse(lakeward))
    catalog = f"audit_{secrets.token_hex(4)}"
    with Client(lakeward.url) as client, standing_between(lakeward.url) as between:
        for key, value in spark_settings(Reach(f"{between.url}/catalog", warehouse.name), name=catalog).items():
            spark_session.conf.set(key, value)
        yield World(spark_session, client, warehouse, catalog, between)


async def _warehouse(lakeward: Lakeward) -> Warehouse:
    async with httpx.AsyncClient(base_url=lakeward.url, timeout=60, verify=NOBODY) as http:
        return await make_warehouse(http, lakeward.store)


@contextmanager
def standing_between(url: str) -> Iterator[Between]:
    """Pass everything on, but for commits that somebody wants to meet."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    between = Between(f"http://127.0.0.1:{server.server_address[1]}")
    with httpx.Client(base_url=url, timeout=60, verify=NOBODY) as onward:
        server.RequestHandlerClass = _handler(onward, between)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield between
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(onward: httpx.Client, between: Between) -> type[BaseHTTPRequestHandler]:
    def pass_on(self: BaseHTTPRequestHandler) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        answers: list[httpx.Response] = []

        def send() -> None:
            answers.append(onward.request(self.command, self.path, headers=headers, content=body))

        commit = self.command == "POST" and "/tables/trail_" in self.path
        if commit and between.meet is not None:
            meet, between.meet = between.meet, None
            if not meet(send):
                self.close_connection = True
                return
        if not answers:
            send()
        self.send_response(answers[0].status_code)
        for name, value in answers[0].headers.items():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        self.send_header("content-length", str(len(answers[0].content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answers[0].content)

    def log_message(self: BaseHTTPRequestHandler, *told: object) -> None:
        """Nothing: what fails is in the answers."""

    answering = {f"do_{method}": pass_on for method in ("GET", "HEAD", "POST", "PUT", "DELETE")}
    return type("Handler", (BaseHTTPRequestHandler,), {**answering, "log_message": log_message})


def test_an_event_is_a_row_and_the_snapshot_says_how_far_the_table_holds(world: World) -> None:
    name = world.new()
    world.happens(2)
    assert world.landing(name).once() > 2
    world.agree(name)
    made = f"{NAMESPACE}.{name}"
    columns = "names, type, payload, warehouse, namespace, project_id, trace_id, time, attributes, id"
    (row,) = (each for each in world.rows(name, columns) if each[:2] == ([made], "createTable"))
    log = world.client.warehouse(world.warehouse.name).events.subscribe("0", batch=1000, follow=False)
    (event,) = (each for each in log if each.id == row[-1])
    assert json.loads(row[2]) == event.data
    assert row[3:7] == (
        world.warehouse.name,
        [NAMESPACE],
        event.cloud_event["projectid"],
        event.cloud_event["trace-id"],
    )
    assert row[7].replace(tzinfo=UTC) == event.time  # Spark's session is in UTC
    assert row[8]["tabulartype"] == "table"
    where = world.table(name).name
    ((summary,),) = world.spark.sql(f"select summary from {where}.snapshots").collect()
    assert summary[f"{MARK}{world.warehouse.id}"] == str(world.rows(name, "sequence")[-1][0])
    partitions = world.spark.sql(f"select distinct partition from {where}.files").collect()
    days = {time.date() for (time,) in world.rows(name, "time")}
    assert {tuple(partition) for (partition,) in partitions} == {(world.warehouse.id, day) for day in days}


def test_its_own_commits_have_rows_and_keep_nobody_busy(world: World) -> None:
    name = world.new()
    landing = world.landing(name)
    assert landing.once() > 0
    assert landing.once() == 0, "there is its own commit alone"
    world.happens(1)
    assert landing.once() == 2
    assert world.rows(name, "kind, verb")[-2:] == [("table", "committed"), ("namespace", "created")]
    world.agree(name)


def test_a_run_that_is_killed_is_as_if_it_had_ended_where_the_table_says(world: World) -> None:
    name = world.new()
    world.happens(5)
    process = world.run(name, "--dies")
    assert process.wait(_SECONDS) == -signal.SIGKILL
    assert len(world.rows(name, "id")) == 4
    world.landing(name, events=4).once()
    world.agree(name)


# The JVM goes on with what it was handed.
@pytest.mark.parametrize("arrives", [False, True])
def test_a_run_that_is_killed_while_its_commit_is_on_its_way_loses_and_doubles_nothing(
    world: World, arrives: bool
) -> None:
    name = world.new()
    world.happens(5)
    killed = threading.Event()

    def meet(send: Callable[[], object]) -> bool:
        if arrives:
            send()
        process.kill()
        process.wait()
        killed.set()
        return False

    world.between.meet = meet
    process = world.run(name)
    wait(lambda: killed.is_set() or process.poll() not in {None, -signal.SIGKILL})
    assert killed.is_set()
    world.landing(name, events=4).once()
    world.agree(name)


def test_a_commit_that_comes_after_the_next_runs_is_refused(world: World) -> None:
    """Of two that add the same events the second one changes nothing, however late it comes."""
    name = world.new()
    world.happens(3)
    landing, log = world.landing(name), Log.of(world.client, world.warehouse.name)
    begun = landing.table.standing([log.warehouse_id])
    late = log.read(0, limit=3)
    assert landing.once() > 3
    with pytest.raises(WrittenMeanwhile):
        landing.table.add({log.warehouse_id: late}, since=begun)
    world.agree(name)
    assert landing.once() == 0


def test_a_whole_process_that_is_killed_is_made_up_for_by_the_next(world: World) -> None:
    """The command, with a Spark of its own."""
    name = world.new()
    world.happens(3)
    killed = threading.Event()

    def meet(send: Callable[[], object]) -> bool:
        send()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        killed.set()
        return False

    arguments = [world.warehouse.name, "--table", f"{NAMESPACE}.{name}", "--url", world.between.url, "--once"]
    world.between.meet = meet
    with ivy.alone():
        process = subprocess.Popen(
            [sys.executable, "-m", "lakeward_pipelines.audit", *arguments, "--batch", "2"], start_new_session=True
        )
        wait(lambda: killed.is_set() or process.poll() not in {None, -signal.SIGKILL})
    assert killed.is_set()
    assert [row[0] for row in world.rows(name, "sequence")] == [1, 2]

    assert main(arguments, opened=audit_run.sharing(world.spark)) == 0
    world.agree(name)


def test_a_table_of_an_older_job_gets_the_columns_that_it_lacks(world: World) -> None:
    name = world.new()
    world.landing(name).once()
    table = world.table(name)
    world.spark.sql(f"alter table {table.name} drop column attributes")
    table.prepare()
    world.happens(1)
    world.landing(name).once()
    world.agree(name)
    attributes = [row[0] for row in world.rows(name, "attributes")]
    assert attributes[0] is None
    assert attributes[-1]
    world.spark.sql(f"create table {world.catalog}.{NAMESPACE}.other (id int) using iceberg")
    with pytest.raises(TableUnfit, match="id is int and not string"):
        world.table("other").prepare()


def test_where_the_snapshots_have_expired_the_rows_say_how_far_it_holds(world: World) -> None:
    name = world.new()
    landing = world.landing(name)
    landing.once()
    table = world.table(name)
    said = table.standing([world.warehouse.id])
    world.spark.sql(f"delete from {table.name} where sequence = 1")
    world.spark.sql(
        f"call {world.catalog}.system.expire_snapshots(table => '{NAMESPACE}.{name}', "
        "older_than => timestamp '2999-01-01 00:00:00', retain_last => 1)"
    )
    assert table.standing([world.warehouse.id]).sequences == said.sequences
    world.happens(1)
    landing.once()
    numbers = [row[0] for row in world.rows(name, "sequence")]
    assert numbers == list(range(2, numbers[-1] + 1))
