"""What an event looks like on NATS: subjects, headers and payload."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lakeward_servicekit.events.references import WHOLE_MAX, forms
from lakeward_servicekit.events.relay import LoggedEvent
from lakeward_servicekit.events.upstream import as_upstream, form_of

SEQUENCE: Final = "Lakeward-Sequence"
MESSAGE_ID: Final = "Nats-Msg-Id"
EXPECTED_SEQUENCE: Final = "Nats-Expected-Last-Subject-Sequence"
EXPECTED_SUBJECT: Final = "Nats-Expected-Last-Subject-Sequence-Subject"

_CONTENT_TYPE: Final = {"Content-Type": "application/cloudevents+json"}
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_HEADERS_BEGIN: Final = len(b"NATS/1.0\r\n")
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """One message."""

    subject: str
    payload: bytes
    headers: Mapping[str, str]

    @property
    def size(self) -> int:
        """Bytes that the broker counts: of the headers as they are sent, and of the payload."""
        return _headers_size(self.headers) + len(self.payload)


def messages_of(
    logged: LoggedEvent, *, topic: str, room: int, expecting: Mapping[str, str] = _NOTHING
) -> tuple[Message, ...]:
    """An event's messages, in the order in which they are published.

    The last one is in the stream's own subject, and tells where the broker stands; so it goes last. Upstream's events also
    go to exactly the topic, as upstream sends them (`upstream`); that copy has an id of its own for the broker, which takes an id
    once, whatever the subject.

    Args:
        logged: the event.
        topic: the head of all subjects.
        room: bytes that one message may have, headers included. What does not fit goes as a reference; where not even the
            shortest one fits, the messages are larger than this.
        expecting: headers that the last message carries beside its own.
    """
    event = logged.event
    headers = {**_CONTENT_TYPE, SEQUENCE: str(logged.sequence)}
    own = f"{stream_subjects(event.stream, topic=topic)[:-1]}{_token(event.kind)}.{_token(event.verb)}"
    of_own = {**headers, MESSAGE_ID: str(event.event_id), **expecting}
    of_copy = {**headers, MESSAGE_ID: f"{event.event_id}/topic"}
    mine = Message(own, _fitting(logged, event.body, room=room, headers=of_own), of_own)
    form = form_of(event.body)
    if form is None:
        return (mine,)
    copied = _fitting(logged, as_upstream(event.body, form), room=room, headers=of_copy)
    return Message(topic, copied, of_copy), mine


def stream_subjects(stream: str, *, topic: str) -> str:
    """All subjects of a stream: "<topic>.<stream>.>"."""
    return f"{topic}.{_token(stream)}.>"


def _fitting(logged: LoggedEvent, body: bytes, *, room: int, headers: Mapping[str, str]) -> bytes:
    """The event in the most whole form that there is room for beside the headers, else in the shortest."""
    left, payload = min(room - _headers_size(headers), WHOLE_MAX), b""
    for payload in forms(logged, body):
        if len(payload) <= left:
            break
    return payload


def _headers_size(headers: Mapping[str, str]) -> int:
    """Bytes of headers as NATS sends them: a line each, and an empty one."""
    return _HEADERS_BEGIN + sum(len(name) + len(value) + 4 for name, value in headers.items()) + 2


def _token(text: str) -> str:
    """A text as one token of a subject, no two texts alike."""
    return _UNFIT.sub(lambda match: "".join(f"={byte:02X}" for byte in match[0].encode()), text) or "="
