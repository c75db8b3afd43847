"""Checks types with mypy and pyright; both see every distribution, tests and tools included where they are typed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("libs/*/lakeward_*") if path.name != "lakeward_protocol"),
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("services/*/lakeward_*")),
    "cli/lakeward_cli",
    "pipelines/lakeward_pipelines",
    "tests/support",
    "tools",
]


def main() -> int:
    """0 where both are content."""
    existing = [source for source in SOURCES if (ROOT / source).exists()]
    mypy = subprocess.run([sys.executable, "-m", "mypy", *existing], cwd=ROOT, check=False)
    pyright = subprocess.run([sys.executable, "-m", "pyright"], cwd=ROOT, check=False)
    return mypy.returncode or pyright.returncode


if __name__ == "__main__":
    raise SystemExit(main())
