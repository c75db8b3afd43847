"""Which part of a stream is wanted, and what it is, as messages: the same for every service that has one."""

from __future__ import annotations

from datetime import timedelta

from lakeward_protocol.events.v1 import reading_pb2 as pb
from lakeward_servicekit.events.history import HistoryPage, Part
from lakeward_servicekit.events.positions import position_of


def part_of(reading: pb.Reading) -> Part:
    """Which part is wanted.

    Raises:
        Refusal: INVALID_FIELD.
    """
    return Part(position_of(reading.after), reading.limit, timedelta(milliseconds=reading.wait_ms))


def page_message(page: HistoryPage) -> pb.EventPage:
    """A part of a stream."""
    message = pb.EventPage(position=str(page.position), newest=page.newest)
    for each in page.events:
        event = message.events.add(
            position=str(each.position),
            sequence=each.sequence,
            snapshot=each.snapshot,
            kind=each.kind,
            verb=each.verb,
            cloud_event=each.cloud_event,
        )
        event.written_at.FromDatetime(each.written_at)
    return message
