"""Tags: what a project calls things, and what is called so. What tags are set on differs by path alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from google.protobuf.timestamp_pb2 import Timestamp

from lakeward_gateway.dialects.management import tag_documents as documents
from lakeward_gateway.dialects.management.documents import time_text
from lakeward_gateway.dialects.management.paging import page_of
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.query import Flag, Query, Text
from lakeward_protocol.catalog.v1 import tags_pb2, tags_pb2_grpc
from lakeward_servicekit.errors import invalid_field

NAME: Final = Text("name", "Only the tag of this name, without regard to case; then there is one page.")
VALUE: Final = Text("value", "Only where the tag has exactly this value.")
TARGET_TYPE: Final = Text("targetType", "Only on this kind of things.")
CREATED_AFTER: Final = Text("createdAfter", "Only what was set at this time or later, as in RFC 3339.")
CREATED_BEFORE: Final = Text("createdBefore", "Only what was set at this time or earlier, as in RFC 3339.")
WAREHOUSE_ID: Final = Text("warehouseId", "Only in this warehouse.")
EFFECTIVE: Final = Flag("effective", "With the tags of what it is in; of one tag the nearest. Columns inherit nothing.")

SCOPES: Final[dict[documents.Scope, tags_pb2.TagScope.ValueType]] = {
    "warehouse": tags_pb2.TAG_SCOPE_WAREHOUSE,
    "namespace": tags_pb2.TAG_SCOPE_NAMESPACE,
    "table": tags_pb2.TAG_SCOPE_TABLE,
    "view": tags_pb2.TAG_SCOPE_VIEW,
    "generic-table": tags_pb2.TAG_SCOPE_GENERIC_TABLE,
    "column": tags_pb2.TAG_SCOPE_COLUMN,
}
_SCOPE_WORDS: Final[dict[int, documents.Scope]] = {number: word for word, number in SCOPES.items()}
_VALUE_KINDS: Final[dict[documents.ValueKind, tags_pb2.TagValueKind.ValueType]] = {
    "marker": tags_pb2.TAG_VALUE_KIND_MARKER,
    "free-text": tags_pb2.TAG_VALUE_KIND_FREE_TEXT,
    "enumerated": tags_pb2.TAG_VALUE_KIND_ENUMERATED,
}
_VALUE_KIND_WORDS: Final[dict[int, documents.ValueKind]] = {number: word for word, number in _VALUE_KINDS.items()}
_create_decoder: Final = msgspec.json.Decoder(documents.CreateTagDefinitionRequest)
_update_decoder: Final = msgspec.json.Decoder(documents.UpdateTagDefinitionRequest)
_set_decoder: Final = msgspec.json.Decoder(documents.SetTagRequest)


@dataclasses.dataclass(frozen=True, slots=True)
class Tags:
    """Operations on tags."""

    stub: tags_pb2_grpc.TagServiceAsyncStub

    async def create(self, request: Request) -> Response:
        """Define a tag."""
        document = await parsed(_create_decoder, request.body)
        response = await self.stub.CreateTagDefinition(
            tags_pb2.CreateTagDefinitionRequest(
                context=request.context,
                name=document.name,
                description=document.description,
                scopes=[SCOPES[word] for word in document.scope],
                value_kind=_VALUE_KINDS[document.value_kind],
                allowed_values=document.allowed_values,
            )
        )
        return json_response(_definition(response.definition), status=201)

    async def list(self, request: Request) -> Response:
        """A page of a project's tags."""
        query = request.query
        response = await self.stub.ListTagDefinitions(
            tags_pb2.ListTagDefinitionsRequest(context=request.context, page=page_of(query), name=NAME.read(query))
        )
        shown = [_definition(each, listed=True) for each in response.definitions]
        return json_response(documents.ListTagDefinitionsResponse(shown, response.next_page_token or None))

    async def get(self, request: Request) -> Response:
        """One tag."""
        (tag_id,) = request.arguments
        found = await self.stub.GetTagDefinition(
            tags_pb2.GetTagDefinitionRequest(context=request.context, tag_id=tag_id)
        )
        return json_response(_definition(found.definition))

    async def update(self, request: Request) -> Response:
        """Change a tag."""
        (tag_id,) = request.arguments
        document = await parsed(_update_decoder, request.body)
        response = await self.stub.UpdateTagDefinition(
            tags_pb2.UpdateTagDefinitionRequest(
                context=request.context,
                tag_id=tag_id,
                name=document.name,
                description=document.description,
                scopes=[SCOPES[word] for word in document.scope],
                add_allowed_values=document.add_allowed_values,
            )
        )
        return json_response(_definition(response.definition))

    async def delete(self, request: Request) -> Response:
        """Delete a tag that is set on nothing."""
        (tag_id,) = request.arguments
        await self.stub.DeleteTagDefinition(tags_pb2.DeleteTagDefinitionRequest(context=request.context, tag_id=tag_id))
        return NO_CONTENT

    async def attachments(self, request: Request) -> Response:
        """A page of what a tag is set on."""
        (tag_id,), query = request.arguments, request.query
        kind = TARGET_TYPE.read(query)
        scope = next((number for word, number in SCOPES.items() if word == kind), tags_pb2.TAG_SCOPE_UNSPECIFIED)
        if kind is not None and not scope:
            raise invalid_field(TARGET_TYPE.name, kind, f"one of {', '.join(SCOPES)}")
        response = await self.stub.ListTagAttachments(
            tags_pb2.ListTagAttachmentsRequest(
                context=request.context,
                tag_id=tag_id,
                page=page_of(query),
                value=VALUE.read(query),
                scope=scope,
                created_after=_moment(CREATED_AFTER, query),
                created_before=_moment(CREATED_BEFORE, query),
                warehouse_id=WAREHOUSE_ID.read(query) or "",
            )
        )
        shown = [_attachment(each) for each in response.attachments]
        return json_response(documents.ListTagAttachmentsResponse(shown, response.next_page_token or None))

    async def set(self, request: Request, *, scope: tags_pb2.TagScope.ValueType) -> Response:
        """Set a tag on something."""
        *target, tag = request.arguments
        document = await parsed(_set_decoder, request.body)
        response = await self.stub.SetTag(
            tags_pb2.SetTagRequest(
                context=request.context, target=_target(scope, target), tag=tag, value=document.value
            )
        )
        applied = response.tag
        at = applied.updated_at if applied.HasField("updated_at") else applied.created_at
        return json_response(documents.AppliedTag(applied.tag_id, applied.name, time_text(at), _value(applied)))

    async def remove(self, request: Request, *, scope: tags_pb2.TagScope.ValueType) -> Response:
        """Remove a tag from something."""
        *target, tag = request.arguments
        await self.stub.RemoveTag(
            tags_pb2.RemoveTagRequest(context=request.context, target=_target(scope, target), tag=tag)
        )
        return NO_CONTENT

    async def of(self, request: Request, *, scope: tags_pb2.TagScope.ValueType) -> Response:
        """The tags of something."""
        effective = EFFECTIVE.read(request.query) or False
        response = await self.stub.ListTags(
            tags_pb2.ListTagsRequest(
                context=request.context, target=_target(scope, request.arguments), effective=effective
            )
        )
        return json_response(documents.ListTagsResponse([_shown(each) for each in response.tags]))

    async def of_columns(self, request: Request) -> Response:
        """The tags of a table's columns."""
        warehouse_id, table_id = request.arguments
        response = await self.stub.ListColumnTags(
            tags_pb2.ListColumnTagsRequest(context=request.context, warehouse_id=warehouse_id, table_id=table_id)
        )
        return json_response(
            documents.ListColumnTagsResponse(
                [
                    documents.ColumnTags(column.field_id, [_shown(each) for each in column.tags])
                    for column in response.columns
                ]
            )
        )


def _target(scope: tags_pb2.TagScope.ValueType, arguments: Sequence[str]) -> tags_pb2.TagTarget:
    """What a path names: a warehouse, what is in it, and a column of that."""
    warehouse_id, own, column, *_ = (*arguments, "", "")
    return tags_pb2.TagTarget(scope=scope, warehouse_id=warehouse_id, id=own, column=column)


def _moment(parameter: Text, query: Query) -> Timestamp | None:
    text = parameter.read(query)
    if text is None:
        return None
    try:
        moment = msgspec.convert(text, datetime)
    except msgspec.ValidationError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise invalid_field(parameter.name, text, "a time as in RFC 3339, such as 2026-08-01T12:00:00Z")
    message = Timestamp()
    message.FromDatetime(moment.astimezone(UTC))
    return message


def _definition(definition: tags_pb2.TagDefinition, *, listed: bool = False) -> documents.TagDefinition:
    return documents.TagDefinition(
        id=definition.tag_id,
        name=definition.name,
        scope=[_SCOPE_WORDS[number] for number in definition.scopes],
        value_kind=_VALUE_KIND_WORDS[definition.value_kind],
        created_at=time_text(definition.created_at),
        updated_at=_updated(definition),
        description=definition.description if definition.HasField("description") else None,
        allowed_values=None if listed else list(definition.allowed_values) or None,
    )


def _shown(tag: tags_pb2.AppliedTag) -> documents.TargetTag:
    above = tag.inherited_from if tag.HasField("inherited_from") else None
    return documents.TargetTag(
        tag_definition_id=tag.tag_id,
        name=tag.name,
        source="manual",
        created_at=time_text(tag.created_at),
        updated_at=_updated(tag),
        value=_value(tag),
        inherited_from=None
        if above is None
        else documents.TagInheritanceSource(
            "namespace" if above.id else "warehouse", above.warehouse_id, above.id or None
        ),
    )


def _attachment(attachment: tags_pb2.TagAttachment) -> documents.TagAttachment:
    target = attachment.target
    kind = _SCOPE_WORDS[target.scope]
    # a column's own id is its field's; beside it stands its table's
    owner = {"warehouse": None, "column": "table_id"}.get(kind, f"{kind.replace('-', '_')}_id")
    ids: dict[str, Any] = {} if owner is None else {owner: target.id}
    return documents.TagAttachment(
        target=documents.TagAttachmentTarget(
            kind, target.warehouse_id, field_id=target.field_id if target.HasField("field_id") else None, **ids
        ),
        source="manual",
        created_at=time_text(attachment.created_at),
        updated_at=_updated(attachment),
        value=_value(attachment),
    )


def _value(tag: tags_pb2.AppliedTag | tags_pb2.TagAttachment) -> str | None:
    return tag.value if tag.HasField("value") else None


def _updated(message: tags_pb2.TagDefinition | tags_pb2.AppliedTag | tags_pb2.TagAttachment) -> str | None:
    return time_text(message.updated_at) if message.HasField("updated_at") else None
