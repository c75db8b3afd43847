"""What is landed, when, and as which row, without Spark and without a server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import httpx
import pytest

from lakeward import Client
from lakeward.errors import ForbiddenError
from lakeward.events import Event
from lakeward_pipelines.audit import AuditTable, Bounds, EventsMissing, Landing, Log, Standing, WrittenMeanwhile
from lakeward_pipelines.audit.rows import COLUMNS, row

W = "01a1fe21-0000-7000-8000-000000000001"
AT = datetime(2026, 8, 1, 12, tzinfo=UTC)


def cloud_event(number: int, **said: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "type": "t", "subject": "s", "time": AT.isoformat(), "data": {}, **said}


def event(number: int, kind: str = "table", data: Mapping[str, Any] | None = None, **said: Any) -> Event:
    of = cloud_event(number, data=data or {}, **said)
    return Event(str(number), number, False, kind, "committed", of["id"], "t", "s", AT, None, None, of["data"], of)


def of_an_audit(number: int) -> Event:
    return event(number, data={"snapshot": {"summary": {"lakeward.events.x": "1"}}})


@dataclass
class Told:
    """A log that is there from a number on."""

    warehouse: str
    events: list[Event]
    warehouse_id: str = W
    asked: list[int] = field(default_factory=list)

    def newest(self) -> int:
        return self.events[-1].sequence if self.events else 0

    def read(self, after: int, *, limit: int, wait_ms: int = 0) -> Sequence[Event]:
        self.asked.append(after)
        return [each for each in self.events if each.sequence > after][:limit]

    def kept_behind(self, after: int) -> int:
        return max(after, self.events[0].sequence - 1) if self.events else after


@dataclass
class Held:
    """A table that keeps batches, and is written by others as often as it is told."""

    others: int = 0
    batches: list[Mapping[str, Sequence[Event]]] = field(default_factory=list)

    def standing(self, warehouses: Sequence[str]) -> Standing:
        held = {key: few[-1].sequence for batch in self.batches for key, few in batch.items()}
        return Standing(None, held)

    def add(self, events: Mapping[str, Sequence[Event]], *, since: Standing) -> None:
        if self.others:
            self.others -= 1
            raise WrittenMeanwhile
        self.batches.append(events)


def landing(table: Held, *logs: Told, events: int = 10, over_holes: bool = False) -> Landing:
    return Landing(cast("AuditTable", table), cast("list[Log]", logs), Bounds(events=events), over_holes=over_holes)


class Trickling(Told):
    """A log that has one event more each time, and ends with a refusal."""

    def read(self, after: int, *, limit: int, wait_ms: int = 0) -> Sequence[Event]:
        if after == self.newest():
            raise ForbiddenError(403, "Forbidden", "no more")
        return super().read(after, limit=1)


def numbers(table: Held, warehouse: str = W) -> list[list[int]]:
    return [[each.sequence for each in batch.get(warehouse, ())] for batch in table.batches]


def test_batches_are_bounded_and_follow_on_each_other() -> None:
    table = Held()
    assert landing(table, Told("w", [event(n) for n in range(1, 8)]), events=3).once() == 7
    assert numbers(table) == [[1, 2, 3], [4, 5, 6], [7]]


def test_several_warehouses_share_a_commit() -> None:
    table, other = Held(), "01a1fe21-0000-7000-8000-000000000002"
    logs = Told("w", [event(1), event(2)]), Told("v", [event(1)], other)
    assert landing(table, *logs).once() == 3
    assert (numbers(table), numbers(table, other)) == ([[1, 2]], [[1]])


def test_commits_of_audits_wait_for_something_else_or_for_a_full_batch() -> None:
    table, log = Held(), Told("w", [of_an_audit(1), of_an_audit(2)])
    assert landing(table, log).once() == 0
    assert landing(table, log, events=2).once() == 2
    log.events += [of_an_audit(3), event(4)]
    assert landing(table, log).once() == 2
    assert numbers(table) == [[1, 2], [3, 4]]


def test_what_was_written_meanwhile_is_looked_at_again_and_not_for_ever() -> None:
    table = Held(others=2)
    assert landing(table, Told("w", [event(1)])).once() == 1
    with pytest.raises(WrittenMeanwhile):
        landing(Held(others=100), Told("w", [event(1)])).once()


@pytest.mark.parametrize(("seconds", "batches"), [(0.0, [[1, 2], [3]]), (60.0, [])])
def test_a_batch_waits_for_more_for_so_long_and_no_longer(seconds: float, batches: list[list[int]]) -> None:
    """However it trickles: and the first one, of an audit, waits for another."""
    table, log = Held(), Trickling("w", [of_an_audit(1), event(2), event(3)])
    with pytest.raises(ForbiddenError):
        Landing(cast("AuditTable", table), [cast("Log", log)], Bounds(seconds=seconds)).follow()
    assert numbers(table) == batches


def test_a_table_begins_with_the_oldest_event_that_is_kept() -> None:
    table = Held()
    assert landing(table, Told("w", [event(5), event(6)])).once() == 2
    assert numbers(table) == [[5, 6]]


@pytest.mark.parametrize("over_holes", [False, True])
def test_a_hole_is_gone_over_where_that_was_said(over_holes: bool) -> None:
    table, log = Held(), Told("w", [event(5), event(6)])
    table.batches.append({W: [event(1)]})
    landing(table, log, over_holes=over_holes).once()
    assert log.asked[0] == (4 if over_holes else 1)


class Page:
    """The API's pages of a log whose events up to a number were forgotten."""

    def __init__(self, forgotten: int, newest: int) -> None:
        self.forgotten, self.newest, self.asked = forgotten, newest, 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        after = request.url.params["after"]
        number = self.newest if after == "now" else int(after)
        if number < self.forgotten:
            error = {"message": "gone", "type": "EventsForgotten", "code": 410}
            return httpx.Response(410, json={"error": error})
        found = [
            {
                "position": str(each),
                "sequence": each,
                "snapshot": False,
                "kind": "table",
                "verb": "created",
                "event": cloud_event(each),
            }
            for each in range(number + 1, min(self.newest, number + int(request.url.params["pageSize"])) + 1)
        ]
        return httpx.Response(200, json={"events": found, "position": str(number + len(found)), "newest": self.newest})


@pytest.mark.parametrize(("forgotten", "newest"), [(0, 0), (0, 9), (1, 9), (700, 1000), (9, 9)])
def test_the_oldest_kept_event_is_found_by_halves(forgotten: int, newest: int) -> None:
    pages = Page(forgotten, newest)
    with Client("http://lake.test", transport=httpx.MockTransport(pages)) as client:
        log = Log(client, "w", W)
        assert log.kept_behind(0) == forgotten
        assert log.kept_behind(newest) == newest
        assert [each.sequence for each in log.read(forgotten, limit=2)] == list(range(forgotten + 1, newest + 1))[:2]
        if forgotten:
            with pytest.raises(EventsMissing, match="of w, those behind 0 are not kept any more"):
                log.read(0, limit=2)
    assert pages.asked < 20


def test_a_row_names_what_changed_as_it_is_and_as_it_was() -> None:
    def said(of: Event) -> dict[str, Any]:
        return dict(zip([column.name for column in COLUMNS], row(of, W), strict=True))

    where = {"project-id": "p", "warehouse-id": W, "warehouse": "lake", "namespace": ["a", "b"], "namespace-id": "n"}
    tabular = {"type": "table", "id": "i", "incarnation": "j", "name": "new", "location": "s3://x"}
    renamed = said(
        event(
            7,
            data={"where": where, "tabular": tabular, "before": {"namespace": ["c"], "name": "old"}},
            projectid="p",
            tabulartype="table",
            source="lakeward://x",
            **{"tabular-type": "table", "trace-id": "r", "num-events": 1},
        )
    )
    assert renamed["names"] == ["a.b.new", "c.old"]
    assert (renamed["warehouse_id"], renamed["sequence"], renamed["warehouse"], renamed["namespace"]) == (
        W,
        7,
        "lake",
        ["a", "b"],
    )
    assert (renamed["project_id"], renamed["trace_id"], renamed["traceparent"]) == ("p", "r", None)
    assert json.loads(renamed["payload"])["before"] == {"namespace": ["c"], "name": "old"}
    assert renamed["attributes"] == {"tabulartype": "table", "source": "lakeward://x", "num-events": "1"}
    namespace = {"id": "n", "path": ["a", "c"], "parent-id": None, "location": "s3://x"}
    moved = said(event(8, kind="namespace", data={"namespace": namespace, "before": {**namespace, "path": ["a", "b"]}}))
    assert (moved["names"], moved["namespace"]) == (["a.c", "a.b"], ["a", "c"])
    forgotten = said(event(9, kind="generic-table", data={"where": where, "tabular": tabular, "before": 3}))
    assert forgotten["names"] == ["a.b.new"]
