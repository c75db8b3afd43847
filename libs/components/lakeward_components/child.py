"""A server as our child: it dies with us, is watched while it starts, and is stopped by its own pid.

The kernel sends a child its death signal when the *thread* that started it ends (PR_SET_PDEATHSIG), `kill -9` included.
A thread that comes and goes would take the servers with it, so `spawn` insists on the main thread. On systems other
than Linux nothing is sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Protocol

from lakeward_components import launch
from lakeward_components.errors import ComponentFailed
from lakeward_components.folder import HeldFolder

_POLL_SECONDS: Final = 0.01
_WATCH_SECONDS: Final = 0.5
_LOG_TAIL_LINES: Final = 15
_LOG_KEPT_BYTES: Final = 1 << 20
SELF: Final = "self"


class Running(Protocol):
    """A server that is ours to stop: a child, or a container."""

    @property
    def pid(self) -> int | None:
        """None when it isn't our child."""
        ...

    async def watch(self) -> None:
        """Return never while it lives.

        Raises:
            ComponentFailed: it ended without being told to; the message carries the end of its log.
        """
        ...

    async def stop(self, *signals: signal.Signals, seconds: float) -> None:
        """Send each signal in turn until one has worked, each within `seconds`, at last SIGKILL."""


@dataclass(frozen=True, slots=True)
class Started:
    """A server that answers, which is ours to end where we started it; somebody else's goes on."""

    GENTLY: ClassVar[tuple[signal.Signals, ...]] = (signal.SIGTERM,)
    AT_ONCE: ClassVar[tuple[signal.Signals, ...]] = ()
    STOP_SECONDS: ClassVar[float] = 10.0

    _server: Running | None = field(default=None, repr=False, compare=False, kw_only=True)

    @property
    def pid(self) -> int | None:
        """Of the server; None when it isn't our child."""
        return None if self._server is None else self._server.pid

    async def watch(self) -> None:
        """Return never while our child lives, nor when it isn't ours.

        Raises:
            ComponentFailed: it ended without being told to.
        """
        await (asyncio.Event().wait() if self._server is None else self._server.watch())

    async def stop(self, *, gracefully: bool = True) -> None:
        """End our child; nothing when it isn't ours.

        Args:
            gracefully: let it end in order, which may take some seconds. False leaves the rest to the next start.
        """
        if self._server is not None:
            await self._server.stop(*(self.GENTLY if gracefully else self.AT_ONCE), seconds=self.STOP_SECONDS)


@dataclass(frozen=True, slots=True)
class Child:
    """A server that runs in a folder.

    Attributes:
        name: for messages.
        pid: of the server itself, not of a wrapper.
        folder: held until the child is stopped.
    """

    name: str
    pid: int
    folder: HeldFolder
    _process: subprocess.Popen[bytes] = field(repr=False)

    @property
    def exit_status(self) -> int | None:
        """None while it lives; negative is the signal that ended it."""
        return self._process.poll()

    async def until(self, ready: Callable[[], Awaitable[bool]], *, seconds: float, poll: float = _POLL_SECONDS) -> None:
        """Ask again and again, each time after `poll` seconds, until the server is ready.

        Raises:
            ComponentFailed: it ended, or time did; the message carries the end of its log. It may still run.
        """
        deadline = time.monotonic() + seconds
        while not await ready():
            if (status := self.exit_status) is not None:
                raise ComponentFailed(f"{self.name} ended with status {status} while starting{self._log_tail()}")
            if time.monotonic() > deadline:
                raise ComponentFailed(f"{self.name} was not ready within {seconds:g} s{self._log_tail()}")
            await asyncio.sleep(poll)

    async def finish(self, *, seconds: float) -> None:
        """Wait for a program that ends by itself; where nobody waits for it any more, it is killed with all that it started.

        Raises:
            ComponentFailed: it ended with an error, or not in time and was killed; the message carries its log.
        """
        try:
            ended = await self._ended(seconds)
        except BaseException:
            self._kill_all()
            raise
        if not ended:
            self._kill_all()
            raise ComponentFailed(f"{self.name} took more than {seconds:g} s{self._log_tail()}")
        if self.exit_status != 0:
            raise ComponentFailed(f"{self.name} ended with status {self.exit_status}{self._log_tail()}")

    async def watch(self) -> None:
        """See `Running`."""
        while not await self._ended(_WATCH_SECONDS, poll=_WATCH_SECONDS):
            pass
        raise ComponentFailed(f"{self.name} ended with status {self.exit_status}{self._log_tail()}")

    async def stop(self, *signals: signal.Signals, seconds: float) -> None:
        """Send each signal in turn until one has worked, at last SIGKILL; then let go of the folder.

        Args:
            signals: from gentle to rough; none kills at once. SIGKILL needs no mention.
            seconds: how long each may take.
        """
        for number in signals:
            self._send(number)
            if await self._ended(seconds):
                break
        else:
            self._send(signal.SIGKILL)
            self._process.wait()
        self.folder.release()

    async def _ended(self, seconds: float, *, poll: float = _POLL_SECONDS) -> bool:
        deadline = time.monotonic() + seconds
        while self.exit_status is None:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(poll)
        return True

    def _send(self, number: signal.Signals) -> None:
        # Popen asks first whether the child was reaped, so a pid that was handed to someone else gets nothing.
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def _kill_all(self) -> None:
        # It leads a group of its own. Nobody else's can have the number while we haven't asked for its exit status.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()

    def _log_tail(self) -> str:
        lines = _tail(self.folder.log)
        return f"; see {self.folder.log}" + "".join(f"\n  | {line}" for line in lines)


def spawn(
    name: str,
    command: Sequence[str | Path],
    *,
    folder: HeldFolder,
    death_signal: signal.Signals = signal.SIGKILL,
    identity: str = SELF,
    environment: Mapping[str, str] | None = None,
) -> Child:
    """Start a server, its output appended to the folder's log.

    It leads a session of its own: Ctrl-C in a terminal reaches us alone, and we stop it in order.

    Args:
        name: for messages.
        command: an absolute program and its arguments.
        folder: its working folder; the child shares its lock.
        death_signal: what the child gets when we die.
        identity: as whom it runs; see `launch`.
        environment: the whole of it; ours when None.

    Raises:
        ComponentFailed: called from a thread that is not the main one, or the system can't start a process.
    """
    if threading.current_thread() is not threading.main_thread():
        raise ComponentFailed(
            f"{name} must be started from the main thread: servers die with the thread that starts them"
        )
    _keep_log_small(folder.log)
    try:
        with os.fdopen(os.open(folder.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as log:
            process = subprocess.Popen(  # noqa: S603 - the command is ours
                launched(command, death_signal=death_signal, identity=identity),
                cwd=folder.path,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(folder.lock,),
                start_new_session=True,
                env=environment,
            )
    except OSError as error:
        raise ComponentFailed(f"{name} could not be started: {error}") from error
    return Child(name, process.pid, folder, process)


def launched(command: Sequence[str | Path], *, death_signal: signal.Signals, identity: str) -> list[str]:
    """The command behind our launcher, which keeps its pid."""
    launcher = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), str(int(death_signal)), identity]
    return [*launcher, *(str(part) for part in command)]


def _keep_log_small(log: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > _LOG_KEPT_BYTES:
            log.replace(log.with_suffix(".log.old"))


def _tail(log: Path) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_TAIL_LINES:]
    return []
