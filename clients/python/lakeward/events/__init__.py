"""Events of a warehouse: what is there, then what changes, in order.

from lakeward import Client
from lakeward.events import FilePosition

with Client("https://lake.example.com", auth="...") as lake:
    for event in lake.warehouse("sales").events.subscribe(FilePosition("sales.position")):
        print(event.sequence, event.kind, event.verb, event.subject)
"""

from __future__ import annotations

from lakeward.events.mirror import Mirror
from lakeward.events.positions import BEGINNING, NOW, FilePosition, HeldPosition, Position
from lakeward.events.shapes import Event, EventPage

__all__ = [
    "BEGINNING",
    "NOW",
    "Event",
    "EventPage",
    "FilePosition",
    "HeldPosition",
    "Mirror",
    "Position",
]
