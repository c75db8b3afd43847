"""The contract of events: which message is the payload of which, and whether an event keeps to it."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Any, Final

from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass

from lakeward_protocol.events import v1
from lakeward_protocol.events.v1 import options_pb2
from lakeward_servicekit.events.cloud_events import Event

_STREAMS: Final[Mapping[int, str]] = {
    options_pb2.STREAM_SERVER: "server",
    options_pb2.STREAM_AUTHZ: "authz",
    options_pb2.STREAM_VENDING: "vending",
}
_BY_PROJECT: Final = frozenset({options_pb2.STREAM_AUTHZ, options_pb2.STREAM_VENDING})


def rule_of(message: Descriptor) -> options_pb2.EventRule:
    """Which event a message is the payload of."""
    return message.GetOptions().Extensions[options_pb2.event]


def payloads() -> Iterator[Descriptor]:
    """Every message that is the payload of an event."""
    for module in pkgutil.iter_modules(v1.__path__):
        if module.name.endswith("_pb2"):
            file = importlib.import_module(f"{v1.__name__}.{module.name}").DESCRIPTOR
            yield from (each for each in file.message_types_by_name.values() if rule_of(each).type)


PAYLOADS: Final[Mapping[tuple[str, str], Descriptor]] = {
    (rule_of(each).kind, rule_of(each).verb): each for each in payloads()
}


def checked(event: Event) -> dict[str, Any]:
    """The CloudEvent, once it was seen that it keeps to its contract.

    Its type and stream are those of its kind and verb, and its data has no member that its message has not, nor one of another
    type; every message of a member that is there always, is there.
    """
    document: dict[str, Any] = json.loads(event.body)
    payload = PAYLOADS[event.kind, event.verb]
    rule = rule_of(payload)
    assert document["type"] == rule.type
    named = _STREAMS.get(rule.stream)
    if rule.stream in _BY_PROJECT and "projectid" in document:
        assert event.stream == f"{named}-{document['projectid']}"
    elif named is not None:
        assert event.stream == named
    elif rule.stream == options_pb2.STREAM_WAREHOUSE:
        assert event.stream == document["warehouseid"]
    else:
        assert event.stream == f"project-{document['projectid']}"
    ParseDict(document["data"], GetMessageClass(payload)())
    assert document["data"].keys() <= {field.json_name for field in payload.fields}
    return document
