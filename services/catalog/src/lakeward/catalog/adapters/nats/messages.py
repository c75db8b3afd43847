"""What an event looks like on NATS: subjects, headers and payload."""

from __future__ import annotations

import dataclasses
import re
from typing import Final

import msgspec

from lakeward.catalog.application.relay import LoggedEvent

SEQUENCE: Final = "Lakeward-Sequence"
MESSAGE_ID: Final = "Nats-Msg-Id"
EXPECTED_SEQUENCE: Final = "Nats-Expected-Last-Subject-Sequence"
EXPECTED_SUBJECT: Final = "Nats-Expected-Last-Subject-Sequence-Subject"
MAX_PAYLOAD: Final = 512 * 1024

_CONTENT_TYPE: Final = {"Content-Type": "application/cloudevents+json"}
_UPSTREAMS: Final = frozenset(
    {
        "createTable",
        "registerTable",
        "updateTable",
        "renameTable",
        "dropTable",
        "createView",
        "updateView",
        "renameView",
        "dropView",
        "createGenericTable",
        "renameGenericTable",
        "dropGenericTable",
        "undropTabulars",
    }
)
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]")


class _Typed(msgspec.Struct):
    type: str


_TYPE: Final = msgspec.json.Decoder(_Typed)


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """One message."""

    subject: str
    payload: bytes
    headers: dict[str, str]


def messages_of(logged: LoggedEvent, *, topic: str) -> tuple[Message, ...]:
    """An event's messages, in the order in which they are published.

    The last one is in the stream's own subject, and tells where the broker stands; so it goes last. Upstream's events also
    go to exactly the topic, where upstream's consumers look for them; that copy has an id of its own, since a broker takes an id
    once, whatever the subject.
    """
    event = logged.event
    payload = event.body if len(event.body) <= MAX_PAYLOAD else _reference(logged)
    headers = {**_CONTENT_TYPE, SEQUENCE: str(logged.sequence)}
    own = f"{stream_subjects(event.stream, topic=topic)[:-1]}{_token(event.kind)}.{_token(event.verb)}"
    mine = Message(own, payload, {**headers, MESSAGE_ID: str(event.event_id)})
    if _TYPE.decode(event.body).type not in _UPSTREAMS:
        return (mine,)
    return Message(topic, payload, {**headers, MESSAGE_ID: f"{event.event_id}/topic"}), mine


def stream_subjects(stream: str, *, topic: str) -> str:
    """All subjects of a stream: "<topic>.<stream>.>"."""
    return f"{topic}.{_token(stream)}.>"


def _reference(logged: LoggedEvent) -> bytes:
    """The event without its data, which a reader fetches by stream and sequence: CloudEvents' claim check, `dataref`."""
    document = msgspec.json.decode(logged.event.body, type=dict[str, msgspec.Raw])
    document.pop("data", None)
    where = f"lakeward:events/{logged.event.stream}/{logged.sequence}"
    document["dataref"] = msgspec.Raw(msgspec.json.encode(where))
    return msgspec.json.encode(document)


def _token(text: str) -> str:
    """A text as one token of a subject, no two texts alike."""
    return _UNFIT.sub(lambda match: "".join(f"={byte:02X}" for byte in match[0].encode()), text) or "="
