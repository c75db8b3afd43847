from __future__ import annotations

import io
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lakeward_pipelines.report import Report
from lakeward_pipelines.trips import batches


@given(st.integers(1, 50), st.integers(0, 10_000_000))
def test_batches_follow_on_each_other_and_are_nearly_the_same_size(count: int, more: int) -> None:
    rows = count + more
    cut = batches(rows, count=count)
    assert (cut[0].first, cut[-1].end, len(cut)) == (0, rows, count)
    assert all(one.end == next_one.first for one, next_one in pairwise(cut))
    assert {batch.rows for batch in cut} <= {rows // count, rows // count + 1}


def test_progress_is_as_long_as_what_is_done() -> None:
    told = io.StringIO()
    Report(told).progress(1, 2, "so far")
    assert told.getvalue() == "[###############...............]  50 %  1 of 2  so far\n"


def test_a_table_stands_under_its_columns_names() -> None:
    told = io.StringIO()
    Report(told).table("Rides", ["month", "rides"], [("2025-01", 1000), (None, 7)])
    assert told.getvalue() == "Rides:\n    month  rides\n  2025-01  1,000\n        -      7\n"
