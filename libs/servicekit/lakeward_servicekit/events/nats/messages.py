"""What an event looks like on NATS: subjects, headers and payload."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lakeward_servicekit.events.references import WHOLE_MAX, forms
from lakeward_servicekit.events.relay import LoggedEvent
from lakeward_servicekit.events.upstream import upstreams

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
    """One message.

    Attributes:
        size: bytes that the broker counts: of the headers as they are sent, and of the payload.
    """

    subject: str
    payload: bytes
    headers: Mapping[str, str]
    size: int


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
    event, sequence = logged.event, str(logged.sequence)
    name = str(event.event_id)
    of_own = {**_CONTENT_TYPE, SEQUENCE: sequence, MESSAGE_ID: name, **expecting}
    own = _fitting(logged, event.body, _subject(topic, event.stream, event.kind, event.verb), of_own, room=room)
    if (copied := upstreams(event.body)) is None:
        return (own,)
    of_copy = {**_CONTENT_TYPE, SEQUENCE: sequence, MESSAGE_ID: f"{name}/topic"}
    return _fitting(logged, copied, topic, of_copy, room=room), own


def stream_subjects(stream: str, *, topic: str) -> str:
    """All subjects of a stream: "<topic>.<stream>.>"."""
    return f"{topic}.{_token(stream)}.>"


@functools.lru_cache(maxsize=4096)
def _subject(topic: str, stream: str, kind: str, verb: str) -> str:
    return f"{topic}.{_token(stream)}.{_token(kind)}.{_token(verb)}"


def _fitting(logged: LoggedEvent, body: bytes, subject: str, headers: Mapping[str, str], *, room: int) -> Message:
    """The event in the most whole form that there is room for beside the headers, else in the shortest."""
    head = _HEADERS_BEGIN + sum([len(name) + len(value) + 4 for name, value in headers.items()]) + 2
    left, payload = min(room - head, WHOLE_MAX), body
    if len(body) > left:
        for payload in forms(logged, body):
            if len(payload) <= left:
                break
    return Message(subject, payload, headers, head + len(payload))


def _token(text: str) -> str:
    """A text as one token of a subject, no two texts alike."""
    return _UNFIT.sub(lambda match: "".join(f"={byte:02X}" for byte in match[0].encode()), text) or "="
