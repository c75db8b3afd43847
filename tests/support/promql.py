"""What the dashboard and the alert rules ask for, read by a parser of PromQL."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import promql_parser
import yaml  # type: ignore[import-untyped]

_FOLDER: Final = Path(__file__).parents[2] / "deploy" / "observability"
_CHOSEN: Final = {"$__rate_interval": "5m", "$job": "lakeward", "$instance": "a:9000"}
# What Prometheus adds to each series, and what histograms have beside their own.
ADDED: Final = frozenset({"job", "instance"})


@dataclasses.dataclass(frozen=True, slots=True)
class Selected:
    """A metric that a query selects.

    Attributes:
        metric: its name.
        labels: that it is selected by, or grouped by somewhere around it.
        where: which panel or alert asks.
    """

    metric: str
    labels: frozenset[str]
    where: str


def dashboard() -> Mapping[str, Any]:
    document: dict[str, Any] = json.loads((_FOLDER / "dashboard.json").read_text())
    return document


def alerts() -> Sequence[Mapping[str, Any]]:
    groups = yaml.safe_load((_FOLDER / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def queries() -> Iterator[tuple[str, str]]:
    """Who asks, and what."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], _filled(target["expr"])
    for rule in alerts():
        yield rule["alert"], rule["expr"]


def selected() -> Sequence[Selected]:
    return [each for where, query in queries() for each in _selected(promql_parser.parse(query), frozenset(), where)]


def _filled(query: str) -> str:
    for name, value in _CHOSEN.items():
        query = query.replace(name, value)
    return query


def _selected(node: Any, around: frozenset[str], where: str) -> Iterator[Selected]:
    match node:
        case promql_parser.VectorSelector():
            labels = {matcher.name for matcher in node.matchers.matchers}
            yield Selected(str(node.name), around | labels, where)
        case promql_parser.MatrixSelector():
            yield from _selected(node.vector_selector, around, where)
        case promql_parser.AggregateExpr():
            grouped = frozenset(node.modifier.labels) if node.modifier is not None else frozenset()
            yield from _selected(node.expr, around | grouped, where)
        case promql_parser.Call():
            # a histogram's buckets alone have `le`, so what is grouped by it is selected inside
            for argument in node.args:
                yield from _selected(argument, around, where)
        case promql_parser.BinaryExpr():
            yield from _selected(node.lhs, around, where)
            yield from _selected(node.rhs, around, where)
        case promql_parser.ParenExpr() | promql_parser.UnaryExpr() | promql_parser.SubqueryExpr():
            yield from _selected(node.expr, around, where)
        case promql_parser.NumberLiteral() | promql_parser.StringLiteral():
            return
        case _:
            raise AssertionError(f"{where}: {type(node).__name__} is not known here")
