"""The Lakeward to work on: one that runs already, or an embedded one that is started for as long as it is needed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

URL: Final = "LAKEWARD_URL"
"""Names a variable: address of a Lakeward that runs, such as `http://127.0.0.1:8181`."""

_READY_SECONDS: Final = 120.0
_STOP_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.1
_PATIENCE: Final = 2.0
_OK: Final = 200
_LOG_LINES: Final = 20


class ServerUnavailable(Exception):  # noqa: N818 - what is the case, not that it is an error
    """No Lakeward answers, and none could be started; the message says why."""


@contextmanager
def server(url: str | None, *, log: Path, environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Find one that serves, or start one.

    Args:
        url: of one that runs. None: where `lakeward up` would listen; what serves there is used, else one is started.
        log: where one that is started says what it does.
        environment: what one that is started is told.

    Yields:
        Its address, without a closing slash.

    Raises:
        ServerUnavailable: none answers there, or it could not be started.
    """
    if url is not None:
        if not serves(url.rstrip("/")):
            raise ServerUnavailable(f"no Lakeward serves at {url}; start one with `lakeward up`, or leave the URL out")
        yield url.rstrip("/")
        return
    default = _default(environment)
    if serves(default):
        yield default
        return
    with _embedded(default, log=log, environment=environment):
        yield default


def serves(url: str) -> bool:
    """Whether it says that it can serve."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=_PATIENCE) as reply:  # noqa: S310 - the caller's own URL
            return bool(reply.status == _OK)
    except (OSError, urllib.error.URLError, ValueError):
        return False


def _default(environment: Mapping[str, str]) -> str:
    host = environment.get("LAKEKEEPER__BIND_IP", "127.0.0.1")
    reached = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://{reached}:{environment.get('LAKEKEEPER__LISTEN_PORT', '8181')}"


@contextmanager
def _embedded(url: str, *, log: Path, environment: Mapping[str, str]) -> Iterator[None]:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = _spawn(output, environment)
        try:
            _wait(process, url, log)
            yield
        finally:
            _stop(process)


def _spawn(output: IO[bytes], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C reaches us, and we stop it in order, after Spark.
    return subprocess.Popen(
        [sys.executable, "-m", "lakeward_cli", "up"],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env=dict(environment),
    )


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not serves(url):
        if process.poll() is not None:
            raise ServerUnavailable(f"`lakeward up` ended with status {process.returncode}{_end_of(log)}")
        if time.monotonic() > deadline:
            raise ServerUnavailable(f"`lakeward up` did not serve within {_READY_SECONDS:g} s{_end_of(log)}")
        time.sleep(_POLL_SECONDS)


def _end_of(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
    return f"; see {log}" + "".join(f"\n  | {line}" for line in lines)


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
