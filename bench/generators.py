"""The load generators: wrk for Lakeward, pgbench for the Postgres below it."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.stack import Stack

CONNECTIONS: Final = 32
_SCRIPTS: Final = Path(__file__).parent / "wrk"
_TPS: Final = re.compile(r"^tps = ([0-9.]+) \(without initial connection time\)", re.MULTILINE)


class MissingToolError(Exception):
    """A program that a benchmark needs is not here; the message names the cure."""


class Wrk(msgspec.Struct, frozen=True):
    """What wrk and its script counted.

    Attributes:
        p50: of latency, microseconds.
        p99: the same.
        checked: replies that were looked at.
        stale: replies that lack a commit which was acknowledged before their request was sent.
        unreadable: replies in which no number was found.
        wrong: replies of another status than was asked for.
        broken: connections that failed or timed out.
    """

    requests: int
    microseconds: int
    p50: float
    p99: float
    checked: int
    stale: int
    unreadable: int
    wrong: int
    broken: int

    @property
    def per_second(self) -> float:
        return self.requests / (self.microseconds / 1e6)

    @property
    def faults(self) -> str:
        """What must not be; empty where all is well."""
        names = ("stale", "unreadable", "wrong", "broken")
        return ", ".join(f"{getattr(self, name)} {name}" for name in names if getattr(self, name))


def wrk_program() -> Path:
    """wrk, from Debian's package; installed where we are root.

    Raises:
        MissingToolError: it is not here and can't be installed.
    """
    if (found := shutil.which("wrk")) is None and os.geteuid() == 0 and (apt := shutil.which("apt-get")):
        subprocess.run([apt, "install", "-y", "--no-install-recommends", "wrk"], check=False)
        found = shutil.which("wrk")
    if found is None:
        raise MissingToolError("wrk is not installed; `apt-get install wrk`")
    return Path(found)


def pgbench_program(parts: Stack) -> Path:
    """pgbench, which comes with the embedded Postgres.

    Raises:
        MissingToolError: it is not here.
    """
    folder = parts.postgres.programs
    found = shutil.which("pgbench", path=None if folder is None else str(folder)) or shutil.which("pgbench")
    if found is None:
        raise MissingToolError("pgbench is not installed; `pip install 'lakeward-components[embedded]'`")
    return Path(found)


async def run_wrk(
    url: str,
    *,
    script: str,
    arguments: Sequence[str],
    seconds: float,
    connections: int = CONNECTIONS,
    headers: Mapping[str, str] | None = None,
) -> Wrk:
    """Run wrk with one of the scripts of this folder; one thread generates far more than Lakeward answers."""
    given = [part for name, value in (headers or {}).items() for part in ("-H", f"{name}: {value}")]
    said = await _run(
        [
            str(wrk_program()),
            *("-t", "1", "-c", str(connections), "-d", f"{max(round(seconds), 1)}s", "--timeout", "10s"),
            *("-s", str(_SCRIPTS / script), *given, url, "--", *arguments),
        ]
    )
    return msgspec.json.decode(said.strip().splitlines()[-1], type=Wrk)


async def run_pgbench(parts: Stack, *, script: Path, seconds: float) -> float:
    """Transactions a second of a script, over TCP as Lakeward's own pool."""
    server = parts.postgres
    said = await _run(
        [
            str(pgbench_program(parts)),
            *("-n", "-M", "prepared", "-c", str(CONNECTIONS), "-j", "2", "-T", str(max(round(seconds), 1))),
            *("-h", server.host, "-p", str(server.port), "-U", server.user, "-f", str(script)),
            parts.database.rsplit("/", 1)[1],
        ],
        {**os.environ, "PGPASSWORD": server.password},
    )
    found = _TPS.search(said)
    if found is None:
        raise RuntimeError(f"pgbench said no figure:\n{said}")
    return float(found[1])


async def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment
    )
    said, complained = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {complained.decode()[-2000:]}")
    return said.decode()
