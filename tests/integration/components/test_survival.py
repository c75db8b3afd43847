"""What is left after the parent of the components was killed, and what the next one finds."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import boto3
import nats
import psutil
import pytest
from botocore.config import Config

from tests.support import component_parent

pytestmark = pytest.mark.integration

_SECONDS = 60.0


@contextmanager
def parent_of(home: Path) -> Iterator[subprocess.Popen[str]]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LAKEWARD_")}
    environment["LAKEWARD_UP_COMPONENT_SOURCES"] = "binary"
    parent = subprocess.Popen(
        [sys.executable, "-P", component_parent.__file__, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    family: list[psutil.Process] = []
    with parent:
        try:
            yield parent
        finally:
            if parent.poll() is None:
                family = descendants(parent.pid)
            parent.kill()
    for process in living(family):
        with suppress(psutil.NoSuchProcess):
            process.wait(_SECONDS)


def report_of(parent: subprocess.Popen[str]) -> dict[str, Any]:
    assert parent.stdout is not None
    if line := parent.stdout.readline():
        report: dict[str, Any] = json.loads(line)
        return report
    assert parent.stderr is not None
    raise AssertionError(parent.stderr.read())


def end(parent: subprocess.Popen[str]) -> None:
    parent.communicate("end\n", timeout=_SECONDS)
    assert parent.returncode == 0


def descendants(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    # A zombie has ended; whoever adopted it has yet to ask for its status.
    def lives(process: psutil.Process) -> bool:
        try:
            return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    return [process for process in processes if lives(process)]


async def until(fact: Callable[[], bool]) -> None:
    async with asyncio.timeout(_SECONDS):
        while not fact():
            await asyncio.sleep(0.01)


async def write_everywhere(report: dict[str, Any], name: str) -> None:
    connection = await asyncpg.connect(report["postgres"])
    try:
        await connection.execute("create table if not exists kept (name text)")
        await connection.execute("insert into kept values ($1)", name)
    finally:
        await connection.close()
    broker = await nats.connect(report["nats"])
    try:
        await broker.jetstream().add_stream(name="KEPT", subjects=["kept"])
        await broker.jetstream().publish("kept", name.encode())
    finally:
        await broker.close()
    await asyncio.to_thread(lambda: store(report).put_object(Bucket="warehouse", Key=f"kept/{name}", Body=b"x"))


async def read_everywhere(report: dict[str, Any]) -> tuple[list[str], int, list[str]]:
    connection = await asyncpg.connect(report["postgres"])
    try:
        rows = [row["name"] for row in await connection.fetch("select name from kept")]
    finally:
        await connection.close()
    broker = await nats.connect(report["nats"])
    try:
        messages = (await broker.jetstream().stream_info("KEPT")).state.messages
    finally:
        await broker.close()
    listed = await asyncio.to_thread(lambda: store(report).list_objects_v2(Bucket="warehouse", Prefix="kept/"))
    return rows, messages, [entry["Key"] for entry in listed["Contents"]]


def store(report: dict[str, Any]) -> Any:
    endpoint, access_key, secret_key = report["s3"]
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(s3={"addressing_style": "path"}),
    )


async def test_after_a_kill_no_child_lives_and_the_next_start_finds_everything_at_the_same_address(
    tmp_path: Path,
) -> None:
    with parent_of(tmp_path) as parent:
        first = report_of(parent)
        await write_everywhere(first, "one")
        family = descendants(parent.pid)
        assert set(first["pids"]) <= {process.pid for process in family}
        assert len(family) > len(first["pids"])  # the postmaster's own children are watched too
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        try:
            await until(lambda: not living(family))
        finally:
            for survivor in living(family):
                survivor.kill()

    with parent_of(tmp_path) as parent:
        second = report_of(parent)
        assert {name: second[name] for name in ("postgres", "nats", "s3")} == {
            name: first[name] for name in ("postgres", "nats", "s3")
        }
        assert await read_everywhere(second) == (["one"], 1, ["kept/one"])
        family = descendants(parent.pid)
        end(parent)
        assert not living(family)


async def test_the_next_parent_may_start_at_once_while_the_children_of_the_killed_one_are_dying(
    tmp_path: Path,
) -> None:
    for _ in range(3):
        with parent_of(tmp_path) as parent:
            report_of(parent)
            parent.send_signal(signal.SIGKILL)
            parent.wait()
    with parent_of(tmp_path) as parent:
        report_of(parent)
        end(parent)


@pytest.mark.parametrize(
    "made",
    ["postgres/lock", "postgres/data.new", "postgres/data.new/PG_VERSION", "postgres/data", "postgres/run", "s3/data"],
)
async def test_a_first_start_that_is_killed_on_its_way_does_not_spoil_the_next(tmp_path: Path, made: str) -> None:
    with parent_of(tmp_path) as parent:
        await until(lambda: (tmp_path / made).exists() or parent.poll() is not None)
        family = descendants(parent.pid)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        await until(lambda: not living(family))
    with parent_of(tmp_path) as parent:
        await write_everywhere(report_of(parent), "one")
        end(parent)


@pytest.mark.parametrize("made", ["postgres/data.new", "postgres/data", "s3/data"])
async def test_a_start_that_is_interrupted_stops_what_it_had_started(tmp_path: Path, made: str) -> None:
    with parent_of(tmp_path) as parent:
        await until(lambda: (tmp_path / made).exists() or parent.poll() is not None)
        family = descendants(parent.pid)
        parent.send_signal(signal.SIGINT)
        assert parent.stdin is not None
        parent.stdin.close()  # by now it may have started all of it, and wait for a word
        await until(lambda: parent.poll() is not None)
        assert not living(family)
        assert parent.stderr is not None
        assert "KeyboardInterrupt" in parent.stderr.read()


async def test_a_second_parent_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    with parent_of(tmp_path) as parent, parent_of(tmp_path) as other:
        # Whichever came first holds the folder; the other one says whose it is.
        await until(lambda: parent.poll() is not None or other.poll() is not None)
        refused, holder = (other, parent) if parent.poll() is None else (parent, other)
        assert refused.stderr is not None
        assert f"is in use by process {holder.pid}" in refused.stderr.read()
        report_of(holder)
        end(holder)


async def test_a_port_that_was_taken_meanwhile_is_replaced_and_the_data_stay(tmp_path: Path) -> None:
    with parent_of(tmp_path) as parent:
        first = report_of(parent)
        await write_everywhere(first, "one")
        end(parent)
    async with AsyncExitStack() as squatters:
        for url in (first["postgres"], first["nats"], first["s3"][0]):
            await squatters.enter_async_context(await asyncio.start_server(hang_up, "127.0.0.1", port_of(url)))
        with parent_of(tmp_path) as parent:
            second = report_of(parent)
            assert await read_everywhere(second) == (["one"], 1, ["kept/one"])
            assert all(first[name] != second[name] for name in ("postgres", "nats", "s3"))
            end(parent)


async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def test_a_failed_start_names_the_cause_and_leaves_no_child(tmp_path: Path) -> None:
    (tmp_path / "postgres" / "data").mkdir(parents=True)
    with parent_of(tmp_path) as parent:
        await until(lambda: parent.poll() is not None)
        assert parent.stderr is not None
        complaint = parent.stderr.read()
        assert "ComponentFailed: postgres ended with status" in complaint
        assert "postgresql.conf" in complaint
    held_open = [process.cmdline() for process in psutil.process_iter() if str(tmp_path) in " ".join(cmdline(process))]
    assert held_open == []


def cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


def port_of(url: str) -> int:
    return int(url.partition("//")[2].rpartition("@")[2].partition("/")[0].rpartition(":")[2])
