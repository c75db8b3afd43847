"""What an event looks like on NATS: subjects, headers and payload."""

from __future__ import annotations

import functools
import re
from typing import Final

import msgspec

from lakeward_servicekit.events.references import WHOLE_MAX, forms
from lakeward_servicekit.events.relay import LoggedEvent
from lakeward_servicekit.events.upstream import upstreams

SEQUENCE: Final = "Lakeward-Sequence"
MESSAGE_ID: Final = "Nats-Msg-Id"
EXPECTED_SEQUENCE: Final = "Nats-Expected-Last-Subject-Sequence"
EXPECTED_SUBJECT: Final = "Nats-Expected-Last-Subject-Sequence-Subject"

_HEAD: Final = f"NATS/1.0\r\nContent-Type: application/cloudevents+json\r\n{SEQUENCE}: "
_END: Final = len(b"\r\n")
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]")


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message; a struct that the collector does not look at, since two are made of each event.

    Attributes:
        head: its headers as they are sent, but for the empty line that ends them.
    """

    subject: str
    head: bytes
    payload: bytes

    @property
    def size(self) -> int:
        """Bytes that the broker counts: of the headers as they are sent, and of the payload."""
        return len(self.head) + _END + len(self.payload)

    @property
    def headers(self) -> dict[str, str]:
        """By name."""
        lines = self.head.decode().split("\r\n")[1:-1]
        return {name: value for name, _, value in (line.partition(": ") for line in lines)}


def messages_of(logged: LoggedEvent, *, topic: str, room: int, expecting: str = "") -> tuple[Message, ...]:
    """An event's messages, in the order in which they are published.

    The last one is in the stream's own subject, and tells where the broker stands; so it goes last. Upstream's events also
    go to exactly the topic, as upstream sends them (`upstream`); that copy has an id of its own for the broker, which takes an id
    once, whatever the subject.

    Args:
        logged: the event.
        topic: the head of all subjects.
        room: bytes that one message may have, headers included. What does not fit goes as a reference; where not even the
            shortest one fits, the messages are larger than this.
        expecting: lines of headers that each message carries beside its own, each with its end.
    """
    event = logged.event
    begins = f"{_HEAD}{logged.sequence}\r\n{MESSAGE_ID}: {event.event_id}"
    subject = _subject(topic, event.stream, event.kind, event.verb)
    own = _fitting(logged, event.body, subject, f"{begins}\r\n{expecting}".encode(), room=room)
    if (copied := upstreams(event.body)) is None:
        return (own,)
    return _fitting(logged, copied, topic, f"{begins}/topic\r\n{expecting}".encode(), room=room), own


def stream_subjects(stream: str, *, topic: str) -> str:
    """All subjects of a stream: "<topic>.<stream>.>"."""
    return f"{topic}.{_token(stream)}.>"


@functools.lru_cache(maxsize=4096)
def _subject(topic: str, stream: str, kind: str, verb: str) -> str:
    return f"{topic}.{_token(stream)}.{_token(kind)}.{_token(verb)}"


def _fitting(logged: LoggedEvent, body: bytes, subject: str, head: bytes, *, room: int) -> Message:
    """The event in the most whole form that there is room for beside the headers, else in the shortest."""
    left, payload = min(room - len(head) - _END, WHOLE_MAX), body
    if len(body) > left:
        for payload in forms(logged, body):
            if len(payload) <= left:
                break
    return Message(subject, head, payload)


def _token(text: str) -> str:
    """A text as one token of a subject, no two texts alike."""
    return _UNFIT.sub(lambda match: "".join(f"={byte:02X}" for byte in match[0].encode()), text) or "="
