"""What a process that held large blocks keeps of them."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps them"),
]

# A freed block of 30 MB teaches glibc to keep as much.
_HOLDS_AND_FREES = """
import sys
from lakeward_servicekit.allocation import give_back_large_blocks
if sys.argv[1] == "asked":
    give_back_large_blocks()
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
before = resident()
large = b"x" * 30_000_000
del large
blocks = [b"x" * 2_000_000 for _ in range(20)]
del blocks
print(resident() - before)
"""


def kept(how: str, **environment: str) -> int:
    """Bytes that a process keeps after it held and freed 40 MB."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_TUNABLES"))}
    done = subprocess.run(
        [sys.executable, "-c", _HOLDS_AND_FREES, how],
        env={**plain, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def test_large_blocks_go_back_to_the_system() -> None:
    assert kept("asked") < 10_000_000


def test_without_being_asked_the_c_library_keeps_them() -> None:
    assert kept("not asked") > 30_000_000


def test_who_chose_otherwise_in_the_environment_has_it_so() -> None:
    chosen = {"MALLOC_MMAP_THRESHOLD_": "16777216", "MALLOC_TRIM_THRESHOLD_": "100000000"}
    assert kept("asked", **chosen) > 30_000_000
