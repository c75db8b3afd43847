"""Who holds a component's folder, and what it remembers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from lakeward_components import child, folder
from lakeward_components.errors import ComponentFailed, FolderInUse

pytestmark = pytest.mark.integration

_SLEEPER = ["/bin/sleep", "600"]


async def test_a_held_folder_is_refused_at_once_with_the_pid_of_the_holder(tmp_path: Path) -> None:
    held = await folder.hold(tmp_path)
    try:
        with pytest.raises(FolderInUse) as refused:
            await folder.hold(tmp_path)
        assert refused.value.holder == os.getpid()
        assert str(os.getpid()) in str(refused.value)
    finally:
        held.release()


async def test_a_released_folder_can_be_held_again(tmp_path: Path) -> None:
    (await folder.hold(tmp_path)).release()
    (await folder.hold(tmp_path)).release()


async def test_a_folder_stays_held_while_a_server_of_a_dead_parent_lives(tmp_path: Path) -> None:
    held = await folder.hold(tmp_path)
    orphan = child.spawn("sleep", _SLEEPER, folder=held)
    try:
        held.release()
        (tmp_path / "lock").write_text(f"{_pid_of_somebody_dead()}\n", encoding="ascii")
        with pytest.raises(FolderInUse):
            await folder.hold(tmp_path, dying_seconds=0.1)
    finally:
        await orphan.stop(seconds=1)
    (await folder.hold(tmp_path, dying_seconds=5)).release()


async def test_what_is_remembered_is_for_our_eyes_alone(tmp_path: Path) -> None:
    held = await folder.hold(tmp_path / "new")
    try:
        held.remember({"password": "p", "port": 1})
        assert held.remembered() == {"password": "p", "port": 1}
        assert stat.S_IMODE((tmp_path / "new" / "remembered.json").stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o711
    finally:
        held.release()


async def test_a_memory_that_was_damaged_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    held = await folder.hold(tmp_path)
    try:
        held.write("remembered.json", "{")
        with pytest.raises(ComponentFailed, match=r"remembered\.json"):
            held.remembered()
    finally:
        held.release()


async def test_a_server_that_ignores_the_gentle_signal_is_killed(tmp_path: Path) -> None:
    held = await folder.hold(tmp_path)
    stubborn = child.spawn("sh", ["/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1; done"], folder=held)
    await stubborn.until(_said(held.log, "deaf"), seconds=10)
    await stubborn.stop(signal.SIGTERM, seconds=0.1)
    assert stubborn.exit_status == -signal.SIGKILL


async def test_a_server_that_ends_while_it_starts_is_told_with_its_last_words(tmp_path: Path) -> None:
    held = await folder.hold(tmp_path)
    dying = child.spawn("sh", ["/bin/sh", "-c", "echo the reason; exit 3"], folder=held)
    with pytest.raises(ComponentFailed, match=r"status 3(.|\n)*the reason"):
        await dying.until(_said(held.log, "never"), seconds=10)
    await dying.stop(seconds=1)


async def test_a_program_that_nobody_waits_for_any_more_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    held = await folder.hold(tmp_path)
    program = child.spawn("sh", ["/bin/sh", "-c", "sleep 600 & echo $!.; wait"], folder=held)
    waiting = asyncio.create_task(program.finish(seconds=60))
    await program.until(_said(held.log, "."), seconds=10)
    started = psutil.Process(int(held.log.read_text().partition(".")[0]))
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    assert program.exit_status == -signal.SIGKILL
    with contextlib.suppress(psutil.NoSuchProcess):
        async with asyncio.timeout(10):
            while started.is_running() and started.status() != psutil.STATUS_ZOMBIE:
                await asyncio.sleep(0)
    held.release()


async def test_a_program_that_cannot_run_is_told_by_the_launcher(tmp_path: Path) -> None:
    held = await folder.hold(tmp_path)
    missing = child.spawn("nothing", [tmp_path / "nothing"], folder=held)
    with pytest.raises(ComponentFailed, match="could not launch"):
        await missing.until(_said(held.log, "never"), seconds=10)
    await missing.stop(seconds=1)


async def test_a_server_is_not_started_from_a_thread_that_may_end_before_it(tmp_path: Path) -> None:
    held = await folder.hold(tmp_path)
    raised: list[BaseException] = []

    def start() -> None:
        try:
            child.spawn("sleep", _SLEEPER, folder=held)
        except ComponentFailed as error:
            raised.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    held.release()
    assert "main thread" in str(raised[0])


def _said(log: Path, words: str) -> Callable[[], Awaitable[bool]]:
    async def said() -> bool:
        return words in await asyncio.to_thread(log.read_text, encoding="utf-8")

    return said


def _pid_of_somebody_dead() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid
