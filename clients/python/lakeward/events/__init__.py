"""Events: what is there in a warehouse, a project or the server, then what changes, in order.

from lakeward import Client
from lakeward.events import FilePosition

with Client("https://lake.example.com", auth="...") as lake:
    for event in lake.warehouse("sales").events.subscribe(FilePosition("sales.position")):
        print(event.sequence, event.kind, event.verb, event.subject)
    for event in lake.project_events(service="authz").subscribe(follow=False):
        print(event.kind, event.verb, event.principal)
"""

from __future__ import annotations

from lakeward.events.mirror import Mirror
from lakeward.events.positions import BEGINNING, NOW, FilePosition, HeldPosition, Position
from lakeward.events.shapes import Event, EventPage
from lakeward.events.streams import Service

__all__ = [
    "BEGINNING",
    "NOW",
    "Event",
    "EventPage",
    "FilePosition",
    "HeldPosition",
    "Mirror",
    "Position",
    "Service",
]
