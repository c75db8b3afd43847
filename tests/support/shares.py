"""How workers share a run (`make test` starts two): whole files, and whole folders where tests live on what a folder started.

A worker has components of its own, so what two of them run never meets. What they can meet on is the user's home:

    Spark's cache of jars, which tests.support.ivy locks; Maven's, which tests.support.maven locks; OpenFGA's program, whose
    build locks itself; ports, which are leased

All suites of engines are one share, with one Spark.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

_SPARK: Final = "spark"
_SPARKS: Final = ("tests/e2e",)
# What takes longest begins first, so that no worker is left with it alone at the end; the others follow in their order.
_FIRST: Final = (
    _SPARK,
    "tests/conformance/test_schemathesis.py",
    "tests/integration/faults",
    "tests/integration/permissions",
    "tests/integration/cli",
    "tests/integration/security",
    "tests/conformance/kit",
)
_LAST: Final = "tests/unit/"


def share_of(test: str) -> str:
    """The share that a test belongs to: its worker runs all of it.

    Args:
        test: its id, `tests/integration/faults/test_races.py::test_…`.
    """
    file = PurePosixPath(test.partition("::")[0])
    if any(file.is_relative_to(folder) for folder in _SPARKS):
        return _SPARK
    # Components and installations of a folder's fixtures are started by whoever runs the first of its tests.
    for folder in file.parents:
        if str(folder.parent) == "tests/integration" or str(folder) == "tests/conformance/kit":
            return str(folder)
    return str(file)


def place_of(share: str) -> int:
    """Where a share stands in the order in which workers take them."""
    if share in _FIRST:
        return _FIRST.index(share)
    return len(_FIRST) + share.startswith(_LAST)
