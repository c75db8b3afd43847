"""The dashboard and the alerts ask for what the code declares, by labels that it has."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import lakeward_authz.adapters.openfga.engine
import lakeward_cli.composing
import lakeward_servicekit.observing
from lakeward_servicekit.telemetry.metrics import families
from tests.support import promql

# Loaded, these have declared every metric.
_DECLARING = (lakeward_authz.adapters.openfga.engine, lakeward_cli.composing, lakeward_servicekit.observing)
_ROOT = Path(__file__).parents[3]
# Of Prometheus's own library, on every process.
_OF_PROCESSES = {"process_cpu_seconds_total": frozenset[str](), "process_resident_memory_bytes": frozenset[str]()}


@pytest.fixture(scope="module")
def samples() -> Mapping[str, frozenset[str]]:
    """Labels by the names under which samples are scraped."""
    return {**dict(_samples()), **_OF_PROCESSES}


def _samples() -> Iterator[tuple[str, frozenset[str]]]:
    for family in families():
        labels = frozenset(family.labels)
        if family.kind == "histogram":
            yield f"{family.name}_bucket", labels | {"le"}
            yield f"{family.name}_sum", labels
            yield f"{family.name}_count", labels
        else:
            yield family.name, labels


def test_each_metric_that_is_asked_for_is_declared_with_the_labels_it_is_asked_by(
    samples: Mapping[str, frozenset[str]],
) -> None:
    asked = promql.selected()
    assert len(asked) > 40
    unknown = [each for each in asked if each.metric not in samples]
    assert unknown == []
    assert [each for each in asked if not each.labels <= samples[each.metric] | promql.ADDED] == []


def test_each_metric_that_is_declared_is_on_the_dashboard(samples: Mapping[str, frozenset[str]]) -> None:
    asked = {each.metric for each in promql.selected()}
    assert [
        family.name for family in families() if not asked & _names(family.name) and not _is_tests(family.name)
    ] == []


def test_a_counters_name_ends_in_total_and_a_histograms_in_its_unit() -> None:
    for family in families():
        assert _is_tests(family.name) or family.name.endswith("_total") == (family.kind == "counter"), family.name
        assert _is_tests(family.name) or family.kind != "histogram" or family.name.endswith("_seconds"), family.name


def test_each_alert_says_how_grave_it_is_and_what_to_do() -> None:
    for rule in promql.alerts():
        assert rule["labels"]["severity"] in {"warning", "critical"}, rule["alert"]
        assert {"summary", "description"} <= rule["annotations"].keys(), rule["alert"]


@pytest.mark.parametrize(
    "metric",
    [
        "lakeward_outbox_oldest_seconds",
        "lakeward_event_sink_lag_seconds",
        "lakeward_event_sink_dead_letters",
        "lakeward_event_log_bytes",
    ],
)
def test_events_that_go_astray_or_take_too_much_wake_somebody(metric: str) -> None:
    alerts = {rule["alert"] for rule in promql.alerts()}
    assert [each.where for each in promql.selected() if each.metric == metric and each.where in alerts]


def test_no_alert_names_a_time_that_a_setting_says() -> None:
    """How long events are kept is asked of the metric that tells it."""
    asking = [each for each in promql.selected() if each.metric == "lakeward_event_kept_seconds"]
    assert "LakewardSinkLosesEvents" in {each.where for each in asking}
    said = " ".join(text for rule in promql.alerts() for text in (rule["expr"], *rule["annotations"].values()))
    assert not [each for each in ("week", "seven", "86400") if each in said]


def test_no_two_panels_share_a_number_or_a_place() -> None:
    panels = promql.dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(taken)) == len(taken)


def test_the_dashboard_is_what_its_tool_makes() -> None:
    done = subprocess.run([sys.executable, "tools/generate_dashboard.py", "--check"], cwd=_ROOT, check=False)
    assert done.returncode == 0


def _names(family: str) -> set[str]:
    return {family, *(f"{family}_{part}" for part in ("bucket", "sum", "count"))}


def _is_tests(family: str) -> bool:
    return family.startswith("test_")
