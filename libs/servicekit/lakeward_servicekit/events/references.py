"""What goes in place of an event that there is no room for: CloudEvents' claim check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from lakeward_servicekit.events.relay import LoggedEvent

# What is larger goes as a reference, even where the broker would take it.
WHOLE_MAX: Final = 512 * 1024
# Of CloudEvents' attributes, those that a reader needs to fetch the rest.
_NEEDED: Final = ("specversion", "id", "source", "type", "time")


def reference_of(logged: LoggedEvent) -> str:
    """By which a reader fetches an event: by stream and sequence."""
    return f"lakeward:events/{logged.event.stream}/{logged.sequence}"


def forms(logged: LoggedEvent, body: bytes) -> Iterator[bytes]:
    """The event whole, then as a reference with all of its attributes but data, then with hardly any.

    Args:
        logged: the event.
        body: the CloudEvent as it is published, as JSON.
    """
    yield body
    document = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    document.pop("data", None)
    document["dataref"] = msgspec.Raw(msgspec.json.encode(reference_of(logged)))
    yield msgspec.json.encode(document)
    yield msgspec.json.encode({name: document[name] for name in (*_NEEDED, "dataref") if name in document})
