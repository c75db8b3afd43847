"""The kit's counts at the end of a run."""

from __future__ import annotations

import pytest

from tests.conformance.kit.counts import Counts

COUNTED: pytest.StashKey[dict[str, Counts]] = pytest.StashKey()


@pytest.fixture(scope="session")
def counted(pytestconfig: pytest.Config) -> dict[str, Counts]:
    """Counts by run, which are printed when all tests have ended."""
    return pytestconfig.stash.setdefault(COUNTED, {})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    runs = config.stash.get(COUNTED, {})
    if not runs:
        return
    terminalreporter.section("Iceberg's compatibility kit")
    for run, counts in sorted(runs.items()):
        terminalreporter.line(f"{run}: {counts.passed} passed, {counts.failed} differ, {counts.skipped} not asked")
