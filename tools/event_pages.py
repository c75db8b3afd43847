"""docs/events.md: the catalogue of events, from their contract in protos/lakeward/events/v1."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc  # type: ignore[import-untyped]

from lakeward_protocol.events.v1 import options_pb2

ROOT: Final = Path(__file__).resolve().parent.parent
PROTOS: Final = ROOT / "protos"
EVENTS: Final = PROTOS / "lakeward" / "events" / "v1"
READING: Final = "reading"  # of how events are read, and of no payload
PROSE: Final = ROOT / "tools" / "events.md"

_STREAMS: Final = {
    options_pb2.STREAM_WAREHOUSE: "<warehouse id>",
    options_pb2.STREAM_PROJECT: "project-<project id>",
    options_pb2.STREAM_SERVER: "server",
    options_pb2.STREAM_AUTHZ: "authz[-<project id>]",
    options_pb2.STREAM_VENDING: "vending[-<project id>]",
}
SNAPSHOT: Final = "snapshot"  # how verbs begin that say what is there
_MESSAGE_TYPE: Final = 4  # the numbers of DescriptorProto and FileDescriptorProto, as places of comments have them
_FIELD: Final = 2
_ID: Final = "019f2c1e-7d40-7abc-9def-0123456789ab"
# What a member's example is, by its name; else one of its type.
_SAMPLES: Final[Mapping[str, object]] = {
    "project-id": "00000000-0000-0000-0000-000000000000",
    "namespace": ["sales", "eu"],
    "path": ["sales", "eu"],
    "type": "table",
    "name": "orders",
    "warehouse": "lake",
    "location": "s3://lake/demo/019f2c1e",
    "base-location": "s3://lake/demo",
    "metadata-location": "s3://lake/demo/019f2c1e/metadata/00001-a.metadata.json",
    "previous-metadata-location": "s3://lake/demo/019f2c1e/metadata/00000-b.metadata.json",
    "storage-profile": {"type": "s3", "bucket": "lake"},
    "credential-kind": "s3:access-key",
    "managed-by": "self-managed",
    "allowed-format-versions": [1, 2],
    "default-format-version": 2,
    "expiration-seconds": 604800,
    "operation": "append",
    "summary": {"operation": "append", "added-records": "100"},
    "properties": {"owner": "anna"},
    "updated": {"owner": "anna"},
    "removed": ["color"],
    "scope": ["table", "column"],
    "value-kind": "enumerated",
    "allowed-values": ["low", "high"],
    "value": "low",
    "description": "personal data",
    "queue": "task_log_cleanup",
    "cron": "0 3 * * *",
    "time-zone": "UTC",
    "timestamp-ms": 1785585600000,
    "user": "oidc~bob",
    "subject": "oidc~bob",
    "email": "bob@example.org",
    "kind": "human",
    "provider": "lakekeeper",
    "source": _ID,
    "relation": "select",
    "object-type": "table",
    "updated-with": "create-endpoint",
    "schemas": [],
}


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """A message of the contract.

    Attributes:
        about: its comment, in one line.
        fields: their comments, by their names in JSON.
    """

    descriptor: DescriptorProto
    about: str
    fields: Mapping[str, str]

    @property
    def rule(self) -> options_pb2.EventRule:
        """Which event it is the payload of; one without a type: of none."""
        return self.descriptor.options.Extensions[options_pb2.event]


def events() -> str:
    """The page."""
    messages = {message.descriptor.name: message for file in _files() for message in _messages(file)}
    payloads = [message for message in messages.values() if message.rule.type]
    kinds = list(dict.fromkeys(message.rule.kind for message in payloads))
    told = {kind: [message for message in payloads if message.rule.kind == kind] for kind in kinds}
    lines = [PROSE.read_text(), "## The catalogue", ""]
    lines += ["| kind | verbs | stream |", "|---|---|---|"]
    for kind, its in told.items():
        verbs = ", ".join(f"`{message.rule.verb}`" for message in its)
        lines.append(f"| `{kind}` | {verbs} | `{_STREAMS[its[0].rule.stream]}` |")
    for kind, its in told.items():
        lines += ["", f"### {kind}", ""]
        for message in its:
            lines += _event(message, messages)
    lines += ["", "### What payloads are made of", ""]
    for message in messages.values():
        if not message.rule.type and message.descriptor.name != "EventRule":
            lines += [f"**{message.descriptor.name}**: {message.about}", "", *_members(message), ""]
    return "\n".join(lines).rstrip() + "\n"


def _event(message: Message, messages: Mapping[str, Message]) -> Iterator[str]:
    rule = message.rule
    yield f"#### `{kind_and_verb(rule)}`"
    yield ""
    upstream = {
        options_pb2.UPSTREAM_NOTHING: " Also at exactly `<topic>`, as upstream sends it: with `data` null.",
        options_pb2.UPSTREAM_REQUEST: " Also at exactly `<topic>`, as upstream sends it: with the request for `data`.",
    }.get(rule.upstream, "")
    subject = f"subject `<topic>.{_STREAMS[rule.stream]}.{kind_and_verb(rule)}`"
    if rule.verb.startswith(SNAPSHOT):
        subject = "for who reads from the beginning, and on no broker"
    yield f"{message.about} `{message.descriptor.name}`, type `{rule.type}`, {subject}.{upstream}"
    yield ""
    yield from _members(message)
    yield ""
    yield "```json"
    yield json.dumps(_example(message, messages, rule.kind), ensure_ascii=False)
    yield "```"
    yield ""


def kind_and_verb(rule: options_pb2.EventRule) -> str:
    """The end of an event's subject."""
    return f"{rule.kind}.{rule.verb}"


def _members(message: Message) -> Sequence[str]:
    return [
        f"- `{field.json_name}` ({_type(field)}): {message.fields[field.json_name]}"
        for field in message.descriptor.field
    ]


def _type(field: FieldDescriptorProto) -> str:
    repeated = field.label == FieldDescriptorProto.LABEL_REPEATED
    if field.type == FieldDescriptorProto.TYPE_MESSAGE:
        name = field.type_name.rpartition(".")[2]
        if name.endswith("Entry"):
            return "object of strings"
        own = "object" if name == "Struct" else name
    else:
        own = {FieldDescriptorProto.TYPE_STRING: "string", FieldDescriptorProto.TYPE_BOOL: "boolean"}.get(
            field.type, "number"
        )
    return f"list of {own}" if repeated else own


def _example(message: Message, messages: Mapping[str, Message], kind: str) -> dict[str, object]:
    return {field.json_name: _sample(field, messages, kind) for field in message.descriptor.field}


def _sample(field: FieldDescriptorProto, messages: Mapping[str, Message], kind: str) -> object:
    name = field.type_name.rpartition(".")[2]
    repeated = field.label == FieldDescriptorProto.LABEL_REPEATED
    if field.type == FieldDescriptorProto.TYPE_MESSAGE and name in messages:
        inside = _example(messages[name], messages, kind)
        return [inside] if repeated else inside
    sample: object
    if field.json_name == "type":
        sample = kind if kind in {"table", "view", "generic-table"} else "table"
    elif field.json_name in _SAMPLES and isinstance(_SAMPLES[field.json_name], list) is repeated:
        sample = _SAMPLES[field.json_name]
    elif field.type == FieldDescriptorProto.TYPE_MESSAGE:
        sample = {}
    elif field.type == FieldDescriptorProto.TYPE_STRING:
        sample = _ID
    else:
        sample = False if field.type == FieldDescriptorProto.TYPE_BOOL else 1
    many = repeated and not isinstance(sample, list | dict)
    return [sample] if many else sample


def _files() -> Sequence[FileDescriptorProto]:
    """The contract's files with their comments."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "events.binpb"
        names = sorted(str(path.relative_to(PROTOS)) for path in EVENTS.glob("*.proto") if path.stem != READING)
        well_known = str(files("grpc_tools") / "_proto")
        arguments = ["protoc", f"-I{PROTOS}", f"-I{well_known}", "--include_source_info", f"--descriptor_set_out={out}"]
        if protoc.main([*arguments, *names]) != 0:
            raise SystemExit("protoc failed")
        return FileDescriptorSet.FromString(out.read_bytes()).file


def _messages(file: FileDescriptorProto) -> Iterator[Message]:
    comments = {tuple(place.path): " ".join(place.leading_comments.split()) for place in file.source_code_info.location}
    for number, message in enumerate(file.message_type):
        fields = {
            field.json_name: comments.get((_MESSAGE_TYPE, number, _FIELD, place), "")
            for place, field in enumerate(message.field)
        }
        yield Message(message, comments.get((_MESSAGE_TYPE, number), ""), fields)
