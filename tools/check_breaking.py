"""Checks with buf that the contracts stay compatible with those of the branch that this one leaves from.

On a clone without that branch, or before its first contracts, there is nothing to break.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASE = os.environ.get("LAKEWARD_BREAKING_BASE", "")


def main() -> int:
    """0 where nothing breaks."""
    base = BASE or _merge_base()
    if base is None:
        print("no base to compare contracts with")
        return 0
    buf = Path(sys.executable).with_name("buf")
    return subprocess.run([str(buf), "breaking", "--against", f".git#ref={base}"], cwd=ROOT, check=False).returncode


def _merge_base() -> str | None:
    for branch in ("origin/main", "main~1"):
        found = subprocess.run(
            ["git", "merge-base", "HEAD", branch], cwd=ROOT, capture_output=True, text=True, check=False
        )
        base = found.stdout.strip()
        if found.returncode == 0 and _has_contracts(base):
            return base
    return None


def _has_contracts(commit: str) -> bool:
    listing = subprocess.run(
        ["git", "ls-tree", commit, "buf.yaml"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return bool(listing.stdout.strip())


if __name__ == "__main__":
    raise SystemExit(main())
