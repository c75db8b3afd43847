"""The kit's counts at the end of a run."""

from __future__ import annotations

import pytest

from tests.conformance.kit.counts import COUNTED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = (report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ()))
    counts = [str(said) for report in reports for name, said in report.user_properties if name == COUNTED]
    if counts:
        terminalreporter.section("Iceberg's compatibility kit")
    for line in sorted(counts):
        terminalreporter.line(line)
