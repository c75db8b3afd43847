from __future__ import annotations

import logging

import pytest

from lakeward_servicekit.events.log_sink import LogSink
from lakeward_servicekit.events.relay import LoggedEvent
from tests.support.catalog.values import NOON, an_event


async def test_an_event_is_a_line_with_upstreams_message_and_field(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        await LogSink().publish([LoggedEvent(1, an_event(body=b'{"type":"dropTable"}'), NOON)])
    [line] = caplog.records
    assert (line.getMessage(), line.__dict__["event"]) == ("CloudEvent", '{"type":"dropTable"}')
