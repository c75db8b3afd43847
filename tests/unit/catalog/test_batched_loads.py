"""Loads that arrive together: each with its own outcome, and a large one is asked for alone."""

from __future__ import annotations

import pytest

from lakeward.catalog.transport import tables
from lakeward.catalog.transport.tables import MAX_BATCHED_BYTES, _check_size
from lakeward.protocol.catalog.v1 import tables_pb2, types_pb2
from lakeward.servicekit.errors import Reason, Refusal


def a_response(size: int) -> tables_pb2.LoadTableResponse:
    loaded = types_pb2.LoadedTabular(metadata=types_pb2.JsonBody(plain=b"x" * size))
    return tables_pb2.LoadTableResponse(table=loaded)


def test_a_reply_that_is_too_large_for_a_batch_is_refused_there_by_that_reason() -> None:
    with pytest.raises(Refusal) as refused:
        _check_size(a_response(MAX_BATCHED_BYTES + 1))
    assert refused.value.reason == Reason.REASON_TOO_LARGE


def test_a_full_batch_of_the_largest_replies_fits_a_frame() -> None:
    _check_size(a_response(MAX_BATCHED_BYTES - 64))
    assert tables.MAX_BATCH * MAX_BATCHED_BYTES < 40 * 1024 * 1024


def test_an_ordinary_reply_travels_in_a_batch() -> None:
    _check_size(a_response(3 * 1024))
