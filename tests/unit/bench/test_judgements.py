"""What the benchmarks conclude from what they saw."""

from __future__ import annotations

import msgspec
import pytest

from bench.figures import Better, Figure, Verdict, percentile, table
from bench.layers import by_layer
from bench.strangers import Seen, figures_of
from bench.warehouse import Table, check_log


def a_table(*, snapshots: list[int], log: list[int]) -> Table:
    document = {
        "metadata-location": "s3://lake/t/metadata/00012-x.gz.metadata.json",
        "metadata": {
            "table-uuid": "u",
            "snapshots": [{"snapshot-id": each} for each in snapshots],
            "snapshot-log": [{"snapshot-id": each} for each in log],
        },
    }
    return msgspec.json.decode(msgspec.json.encode(document), type=Table)


@pytest.mark.parametrize(
    ("value", "better", "goal", "floor", "verdict"),
    [
        (0.2, Better.HIGHER, 0.2, 0.1, Verdict.GOAL),
        (0.19, Better.HIGHER, 0.2, 0.1, Verdict.FLOOR),
        (0.09, Better.HIGHER, 0.2, 0.1, Verdict.MISSED),
        (201.0, Better.LOWER, 200.0, 260.0, Verdict.FLOOR),
        (261.0, Better.LOWER, 200.0, 260.0, Verdict.MISSED),
        (21.0, Better.LOWER, 20.0, None, Verdict.GOAL_MISSED),
        (1.0, Better.LOWER, 0, 0, Verdict.MISSED),
        (1.0, Better.HIGHER, None, None, Verdict.TOLD),
    ],
)
def test_a_figure_is_judged_by_its_floor_first_and_then_by_its_goal(
    value: float, better: Better, goal: float | None, floor: float | None, verdict: Verdict
) -> None:
    assert Figure("bench", "name", value, "x", better, goal=goal, floor=floor).verdict is verdict


def test_a_missed_floor_stands_in_the_table_in_capitals() -> None:
    assert "FLOOR MISSED" in table([Figure("load_table", "no delegation", 0.01, "of pgbench", goal=0.2, floor=0.1)])


@pytest.mark.parametrize(("share", "value"), [(0.5, 2), (0.99, 4), (0.25, 1), (0.26, 2)])
def test_a_percentile_is_one_of_the_values(share: float, value: float) -> None:
    assert percentile([4, 1, 3, 2], share) == value


@pytest.mark.parametrize(
    ("snapshots", "log", "found"),
    [
        ([1, 2, 3], [1, 2, 3], (0, 0)),
        ([1, 3], [1, 3], (2, 0)),
        ([1, 2, 3], [1, 3], (1, 0)),
        ([1, 2, 2, 3], [1, 2, 3], (0, 1)),
        ([1, 2, 3], [1, 2, 3, 2], (0, 1)),
    ],
)
def test_commits_that_are_lost_or_doubled_are_counted(
    snapshots: list[int], log: list[int], found: tuple[int, int]
) -> None:
    assert check_log(a_table(snapshots=snapshots, log=log), [1, 2, 3]) == found


def test_a_tables_version_is_read_from_the_name_of_its_file() -> None:
    assert a_table(snapshots=[], log=[]).version == 12


def test_a_sample_counts_for_the_innermost_frame_that_is_of_a_layer_and_waiting_threads_for_none() -> None:
    samples = [
        "run (uvloop/__init__.py:1);LoadTable (lakeward/catalog/transport/tables.py:1);json (json/encoder.py:2) 3",
        "run (uvloop/__init__.py:1);send (uvicorn/protocols/http/httptools_impl.py:4) 2",
        "run (uvloop/__init__.py:1) 1",
        "run (threading.py:1);_worker (concurrent/futures/thread.py:81) 99",
    ]
    assert by_layer("\n".join(samples)) == {
        "catalog: answer as a message": 3,
        "HTTP: read, parse, write": 2,
        "event loop, sockets, the rest": 1,
    }


def test_a_client_that_means_well_and_is_refused_fails_the_run() -> None:
    well = Seen(peak=500_000_000, slowest=0.5, requests=10)
    assert [figure.verdict for figure in figures_of("bombs", well)] == [Verdict.GOAL] * 3
    refused = Seen(peak=700_000_000, slowest=4.0, requests=10, refused=["429 overloaded"])
    assert [figure.verdict for figure in figures_of("bombs", refused)] == [
        Verdict.FLOOR,
        Verdict.MISSED,
        Verdict.MISSED,
    ]
