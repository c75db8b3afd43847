"""Writes deploy/observability/dashboard.json, the dashboard for Grafana: each panel is one line below.

python tools/generate_dashboard.py          writes it
python tools/generate_dashboard.py --check  fails when it is stale
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

PAGE: Final = Path(__file__).resolve().parent.parent / "deploy/observability/dashboard.json"
_WIDTH, _HEIGHT, _ROW = 24, 8, 3
_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
_HERE: Final = 'job=~"$job", instance=~"$instance"'


@dataclasses.dataclass(frozen=True)
class Panel:
    """One graph.

    Attributes:
        title: above it.
        unit: Grafana's word for it.
        queries: (query, legend); `HERE` in a query stands for the dashboard's choice of processes.
    """

    title: str
    unit: str
    queries: tuple[tuple[str, str], ...]


def rate(metric: str, by: str, more: str = "") -> str:
    """A query for something a second."""
    return f"sum by ({by}) (rate({metric}{{HERE{more}}}[$__rate_interval]))"


def quantile(share: float, metric: str, by: str = "", more: str = "") -> str:
    """A query for how long so many of a share take at most."""
    grouped = f"{by}, le" if by else "le"
    return f"histogram_quantile({share:g}, sum by ({grouped}) (rate({metric}_bucket{{HERE{more}}}[$__rate_interval])))"


def spread(metric: str, more: str = "") -> tuple[tuple[str, str], ...]:
    """Queries for the middle and the slow end of a histogram."""
    return tuple((quantile(share, metric, more=more), f"p{share * 100:g}") for share in (0.5, 0.95, 0.99))


_HITS: Final = rate("lakekeeper_cache_hits_total", "cache_type")
ROWS: Final[Sequence[tuple[str, Sequence[Panel]]]] = (
    (
        "Requests",
        (
            Panel("Requests by status", "reqps", ((rate("axum_http_requests_total", "status"), "{{status}}"),)),
            Panel("How long they take", "s", spread("axum_http_requests_duration_seconds")),
            Panel("Under way", "short", (("sum by (instance) (axum_http_requests_pending{HERE})", "{{instance}}"),)),
            Panel(
                "Busiest routes",
                "reqps",
                ((f"topk(10, {rate('axum_http_requests_total', 'method, endpoint')})", "{{method}} {{endpoint}}"),),
            ),
            Panel(
                "Slowest routes (p99)",
                "s",
                (
                    (
                        f"topk(10, {quantile(0.99, 'axum_http_requests_duration_seconds', 'method, endpoint')})",
                        "{{method}} {{endpoint}}",
                    ),
                ),
            ),
            Panel(
                "Failures by route",
                "reqps",
                (
                    (
                        rate("axum_http_requests_total", "endpoint, status", ', status=~"5..|429"'),
                        "{{status}} {{endpoint}}",
                    ),
                ),
            ),
        ),
    ),
    (
        "Services",
        (
            Panel("Calls", "reqps", ((rate("grpc_server_handled_total", "grpc_service"), "{{grpc_service}}"),)),
            Panel(
                "Refusals by code",
                "reqps",
                (
                    (
                        rate("grpc_server_handled_total", "grpc_method, grpc_code", ', grpc_code!="OK"'),
                        "{{grpc_code}} {{grpc_method}}",
                    ),
                ),
            ),
            Panel(
                "Slowest methods (p99)",
                "s",
                ((f"topk(10, {quantile(0.99, 'grpc_server_handling_seconds', 'grpc_method')})", "{{grpc_method}}"),),
            ),
        ),
    ),
    (
        "Postgres and what is remembered",
        (
            Panel(
                "Connections in use",
                "short",
                (
                    ('sum by (pool) (lakekeeper_catalog_pg_pool_connections{HERE, state="in_use"})', "{{pool}}"),
                    ("sum by (pool) (lakekeeper_catalog_pg_pool_max_connections{HERE})", "most of {{pool}}"),
                ),
            ),
            Panel(
                "Waited for",
                "short",
                (
                    ("sum by (pool) (lakeward_pg_pool_waiting{HERE})", "{{pool}}"),
                    (rate("lakekeeper_catalog_pg_pool_acquire_timeouts_total", "pool"), "in vain, {{pool}}"),
                ),
            ),
            Panel(
                "Found in caches",
                "percentunit",
                (
                    (
                        f"{_HITS} / ({_HITS} + {rate('lakekeeper_cache_misses_total', 'cache_type')})",
                        "{{cache_type}}",
                    ),
                ),
            ),
            Panel(
                "Entries in caches", "short", (("sum by (cache_type) (lakekeeper_cache_size{HERE})", "{{cache_type}}"),)
            ),
        ),
    ),
    (
        "Rights and stores",
        (
            Panel(
                "Decisions",
                "reqps",
                ((rate("lakeward_authz_decisions_total", "engine, outcome"), "{{engine}} {{outcome}}"),),
            ),
            Panel("How long the engine takes", "s", spread("lakeward_authz_question_seconds")),
            Panel(
                "Calls of stores",
                "reqps",
                (
                    (
                        rate("lakeward_store_call_seconds_count", "call, method, outcome"),
                        "{{call}} {{method}} {{outcome}}",
                    ),
                ),
            ),
            Panel(
                "How long stores take",
                "s",
                ((quantile(0.99, "lakeward_store_call_seconds", "call, method"), "p99 {{call}} {{method}}"),),
            ),
        ),
    ),
    (
        "Events and tasks",
        (
            Panel(
                "Events behind",
                "short",
                (
                    ("max by (service) (lakeward_outbox_events{HERE})", "not in order, {{service}}"),
                    ("max by (service, sink) (lakeward_event_sink_lag_events{HERE})", "{{sink}}, {{service}}"),
                    (
                        "max by (service, sink) (lakeward_event_sink_dead_letters{HERE})",
                        "refused by {{sink}}, {{service}}",
                    ),
                ),
            ),
            Panel(
                "Time behind",
                "s",
                (
                    ("max by (service) (lakeward_outbox_oldest_seconds{HERE})", "not in order, {{service}}"),
                    ("max by (service, sink) (lakeward_event_sink_lag_seconds{HERE})", "{{sink}}, {{service}}"),
                    ("max by (service) (lakeward_event_kept_seconds{HERE})", "kept, {{service}}"),
                ),
            ),
            Panel(
                "Events on disk",
                "bytes",
                (
                    ("max by (service) (lakeward_event_log_bytes{HERE})", "{{service}}"),
                    ("max by (service) (lakeward_event_log_max_bytes{HERE})", "at most, {{service}}"),
                ),
            ),
            Panel("Tasks", "short", (("max by (queue, state) (lakeward_tasks{HERE})", "{{queue}} {{state}}"),)),
            Panel("Due for longest", "s", (("max by (queue) (lakeward_task_oldest_due_seconds{HERE})", "{{queue}}"),)),
            Panel(
                "Attempts",
                "ops",
                ((rate("lakeward_task_attempt_seconds_count", "queue, outcome"), "{{queue}} {{outcome}}"),),
            ),
        ),
    ),
    (
        "Processes",
        (
            Panel(
                "Loop stalls (p99)", "s", ((quantile(0.99, "lakeward_loop_stall_seconds", "instance"), "{{instance}}"),)
            ),
            Panel(
                "Garbage collection",
                "percentunit",
                ((rate("lakeward_gc_pause_seconds_sum", "instance"), "{{instance}}"),),
            ),
            Panel("Processor", "percentunit", ((rate("process_cpu_seconds_total", "instance"), "{{instance}}"),)),
            Panel("Memory", "bytes", (("process_resident_memory_bytes{HERE}", "{{instance}}"),)),
            Panel(
                "Releases",
                "short",
                (("count by (service, version) (lakeward_build_info{HERE})", "{{service}} {{version}}"),),
            ),
        ),
    ),
)


def dashboard() -> dict[str, Any]:
    """Grafana's document."""
    panels: list[dict[str, Any]] = []
    y = 0
    for title, row in ROWS:
        panels.append(
            {
                "type": "row",
                "title": title,
                "id": len(panels) + 1,
                "collapsed": False,
                "gridPos": _place(0, y, _WIDTH, 1),
            }
        )
        y += 1
        for index, panel in enumerate(row):
            width = _WIDTH // _ROW
            place = _place(index % _ROW * width, y + index // _ROW * _HEIGHT, width, _HEIGHT)
            panels.append(_graph(panel, len(panels) + 1, place))
        y += -(-len(row) // _ROW) * _HEIGHT
    return {
        "title": "Lakeward",
        "uid": "lakeward",
        "tags": ["lakeward"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {
            "list": [
                {"name": "source", "label": "Source", "type": "datasource", "query": "prometheus"},
                _choice("job", "label_values(lakeward_build_info, job)"),
                _choice("instance", 'label_values(lakeward_build_info{job=~"$job"}, instance)'),
            ]
        },
        "panels": panels,
    }


def _graph(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    return {
        "type": "timeseries",
        "title": panel.title,
        "id": number,
        "gridPos": place,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0, "custom": {"fillOpacity": 8}}, "overrides": []},
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom"},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": _SOURCE,
                "expr": query.replace("HERE", _HERE),
                "legendFormat": legend,
            }
            for index, (query, legend) in enumerate(panel.queries)
        ],
    }


def _choice(name: str, query: str) -> dict[str, Any]:
    return {
        "name": name,
        "type": "query",
        "datasource": _SOURCE,
        "query": query,
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }


def _place(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}


def main() -> int:
    """0 when done or current, 1 when `--check` found a stale page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when it is stale")
    text = json.dumps(dashboard(), indent=1) + "\n"
    if PAGE.exists() and PAGE.read_text() == text:
        return 0
    if parser.parse_args().check:
        print("stale: deploy/observability/dashboard.json; run `python tools/generate_dashboard.py`", file=sys.stderr)
        return 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
