"""Checks types with mypy and pyright; both see every distribution, tests and tools included where they are typed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("libs/*/lakeward_*") if path.name != "lakeward_protocol"),
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("services/*/lakeward_*")),
    "clients/python/lakeward",
    "cli/lakeward_cli",
    "pipelines/lakeward_pipelines",
    "tests/support",
    "tools",
]


def main() -> int:
    """0 where both are content. They run side by side; each says what it has to say in one piece."""
    existing = [source for source in SOURCES if (ROOT / source).exists()]
    commands = ([sys.executable, "-m", "mypy", *existing], [sys.executable, "-m", "pyright"])
    running = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for command in commands
    ]
    for process in running:
        said, _ = process.communicate()
        print(said, end="", flush=True)
    return next((process.returncode for process in running if process.returncode), 0)


if __name__ == "__main__":
    raise SystemExit(main())
