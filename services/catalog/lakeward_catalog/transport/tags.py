"""TagService over gRPC."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports.tags import AttachmentFilter
from lakeward_catalog.application.tags.attaching import RemoveTag, SetTag, TagAttachments
from lakeward_catalog.application.tags.defining import (
    CreateTagDefinition,
    ListTagDefinitions,
    TagDefinitionCreations,
    TagDefinitionDeletions,
    TagDefinitionListings,
    TagDefinitionUpdates,
    UpdateTagDefinition,
)
from lakeward_catalog.application.tags.doors import TagDoors, TagTarget
from lakeward_catalog.application.tags.listing import ListTagAttachments, TagAttachmentListings, TagListings
from lakeward_catalog.domain.model import NamespaceId, TabularId
from lakeward_catalog.domain.tags import AppliedTag, TagDefinition, TaggedObject, TagId, TagScope, ValueKind
from lakeward_catalog.transport import decode
from lakeward_protocol.catalog.v1 import tags_pb2 as pb
from lakeward_protocol.catalog.v1 import tags_pb2_grpc
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.rpc.pages import page_of

_SCOPES: Final = {
    pb.TAG_SCOPE_WAREHOUSE: TagScope.WAREHOUSE,
    pb.TAG_SCOPE_NAMESPACE: TagScope.NAMESPACE,
    pb.TAG_SCOPE_TABLE: TagScope.TABLE,
    pb.TAG_SCOPE_VIEW: TagScope.VIEW,
    pb.TAG_SCOPE_GENERIC_TABLE: TagScope.GENERIC_TABLE,
    pb.TAG_SCOPE_COLUMN: TagScope.COLUMN,
}
_SCOPE_NUMBERS: Final = {scope: number for number, scope in _SCOPES.items()}
_VALUE_KINDS: Final = {
    pb.TAG_VALUE_KIND_MARKER: ValueKind.MARKER,
    pb.TAG_VALUE_KIND_FREE_TEXT: ValueKind.FREE_TEXT,
    pb.TAG_VALUE_KIND_ENUMERATED: ValueKind.ENUMERATED,
}
_VALUE_KIND_NUMBERS: Final = {kind: number for number, kind in _VALUE_KINDS.items()}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TagServicer(tags_pb2_grpc.TagServiceServicer):
    """Tags of projects, and what is called so."""

    doors: TagDoors
    define: TagDefinitionCreations
    list_definitions: TagDefinitionListings
    update: TagDefinitionUpdates
    delete: TagDefinitionDeletions
    list_attachments: TagAttachmentListings
    attachments: TagAttachments
    list: TagListings

    async def CreateTagDefinition(
        self, request: pb.CreateTagDefinitionRequest, caller: Caller
    ) -> pb.CreateTagDefinitionResponse:
        """See the contract."""
        kind = _VALUE_KINDS.get(request.value_kind)
        if kind is None:
            raise invalid_field("value_kind", request.value_kind, "a kind of values")
        command = CreateTagDefinition(
            name=request.name,
            description=request.description if request.HasField("description") else None,
            scopes=_scopes(request.scopes),
            value_kind=kind,
            allowed_values=tuple(request.allowed_values),
        )
        return pb.CreateTagDefinitionResponse(definition=_definition(await self.define(command, caller=caller)))

    async def ListTagDefinitions(
        self, request: pb.ListTagDefinitionsRequest, caller: Caller
    ) -> pb.ListTagDefinitionsResponse:
        """See the contract."""
        command = ListTagDefinitions(request.name if request.HasField("name") else None, page_of(request))
        page = await self.list_definitions(command, caller=caller)
        shown = [_definition(each, values=False) for each in page.entries]
        return pb.ListTagDefinitionsResponse(definitions=shown, next_page_token=page.next_token)

    async def GetTagDefinition(
        self, request: pb.GetTagDefinitionRequest, caller: Caller
    ) -> pb.GetTagDefinitionResponse:
        """See the contract."""
        found = await self.doors.definition(_tag_id(request.tag_id), Action.TAG_READ, caller=caller)
        return pb.GetTagDefinitionResponse(definition=_definition(found))

    async def UpdateTagDefinition(
        self, request: pb.UpdateTagDefinitionRequest, caller: Caller
    ) -> pb.UpdateTagDefinitionResponse:
        """See the contract."""
        command = UpdateTagDefinition(
            _tag_id(request.tag_id),
            name=request.name,
            description=request.description if request.HasField("description") else None,
            scopes=_scopes(request.scopes),
            added=tuple(request.add_allowed_values),
        )
        return pb.UpdateTagDefinitionResponse(definition=_definition(await self.update(command, caller=caller)))

    async def DeleteTagDefinition(
        self, request: pb.DeleteTagDefinitionRequest, caller: Caller
    ) -> pb.DeleteTagDefinitionResponse:
        """See the contract."""
        await self.delete(_tag_id(request.tag_id), caller=caller)
        return pb.DeleteTagDefinitionResponse()

    async def ListTagAttachments(
        self, request: pb.ListTagAttachmentsRequest, caller: Caller
    ) -> pb.ListTagAttachmentsResponse:
        """See the contract."""
        which = AttachmentFilter(
            value=request.value if request.HasField("value") else None,
            scope=_scope(request.scope) if request.scope else None,
            created_after=_moment(request.created_after) if request.HasField("created_after") else None,
            created_before=_moment(request.created_before) if request.HasField("created_before") else None,
            warehouse_id=decode.warehouse_id(request.warehouse_id) if request.warehouse_id else None,
        )
        command = ListTagAttachments(_tag_id(request.tag_id), which, page_of(request))
        page = await self.list_attachments(command, caller=caller)
        shown = [
            pb.TagAttachment(
                target=_tagged(each.target),
                value=each.value,
                created_at=_stamp(each.created_at),
                updated_at=_stamp_if_any(each.updated_at),
            )
            for each in page.entries
        ]
        return pb.ListTagAttachmentsResponse(attachments=shown, next_page_token=page.next_token)

    async def SetTag(self, request: pb.SetTagRequest, caller: Caller) -> pb.SetTagResponse:
        """See the contract."""
        value = request.value if request.HasField("value") else None
        applied = await self.attachments.set(SetTag(_target(request.target), request.tag, value), caller=caller)
        return pb.SetTagResponse(tag=_applied(applied))

    async def RemoveTag(self, request: pb.RemoveTagRequest, caller: Caller) -> pb.RemoveTagResponse:
        """See the contract."""
        await self.attachments.remove(RemoveTag(_target(request.target), request.tag), caller=caller)
        return pb.RemoveTagResponse()

    async def ListTags(self, request: pb.ListTagsRequest, caller: Caller) -> pb.ListTagsResponse:
        """See the contract."""
        found = await self.list(_target(request.target), effective=request.effective, caller=caller)
        return pb.ListTagsResponse(tags=[_applied(each) for each in found])

    async def ListColumnTags(self, request: pb.ListColumnTagsRequest, caller: Caller) -> pb.ListColumnTagsResponse:
        """See the contract."""
        warehouse_id, table_id = decode.warehouse_id(request.warehouse_id), decode.tabular_id(request.table_id)
        found = await self.list.of_columns(warehouse_id, table_id, caller=caller)
        columns = [
            pb.ColumnTags(field_id=field_id, tags=[_applied(each) for each in tags])
            for field_id, tags in sorted(found.items())
        ]
        return pb.ListColumnTagsResponse(columns=columns)


def _tag_id(text: str) -> TagId:
    try:
        return TagId(UUID(text))
    except ValueError:
        raise invalid_field("tag_id", text, "the id of a tag's definition, which is a UUID") from None


def _scope(number: pb.TagScope.ValueType) -> TagScope:
    scope = _SCOPES.get(number)
    if scope is None:
        raise invalid_field("scope", number, "what a tag can be set on")
    return scope


def _scopes(numbers: Sequence[pb.TagScope.ValueType]) -> tuple[TagScope, ...]:
    return tuple(_scope(number) for number in numbers)


def _target(message: pb.TagTarget) -> TagTarget:
    scope, warehouse_id = _scope(message.scope), decode.warehouse_id(message.warehouse_id)
    object_id: NamespaceId | TabularId | None = None
    if scope is TagScope.NAMESPACE:
        object_id = decode.namespace_id(message.id)
    elif scope is not TagScope.WAREHOUSE:
        object_id = decode.tabular_id(message.id)
    elif message.id:
        raise invalid_field("id", message.id, "none, for a warehouse's tags")
    if bool(message.column) is not (scope is TagScope.COLUMN):
        raise invalid_field("column", message.column, "given where the tags of a column are meant, and only there")
    return TagTarget(scope, warehouse_id, object_id, message.column or None)


def _moment(message: Timestamp) -> datetime:
    try:
        return message.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise invalid_field("created_after or created_before", str(message), "a time of the years 1 to 9999") from None


def _stamp(moment: datetime) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def _stamp_if_any(moment: datetime | None) -> Timestamp | None:
    return None if moment is None else _stamp(moment)


def _definition(definition: TagDefinition, *, values: bool = True) -> pb.TagDefinition:
    return pb.TagDefinition(
        tag_id=str(definition.tag_id),
        name=definition.name,
        description=definition.description,
        scopes=[_SCOPE_NUMBERS[scope] for scope in definition.scopes],
        value_kind=_VALUE_KIND_NUMBERS[definition.value_kind],
        allowed_values=definition.allowed_values if values else (),
        created_at=_stamp(definition.created_at),
        updated_at=_stamp_if_any(definition.updated_at),
    )


def _tagged(target: TaggedObject) -> pb.TaggedObject:
    return pb.TaggedObject(
        scope=_SCOPE_NUMBERS[target.scope],
        warehouse_id=str(target.warehouse_id),
        id="" if target.id is None else str(target.id),
        field_id=target.field_id,
    )


def _applied(tag: AppliedTag) -> pb.AppliedTag:
    return pb.AppliedTag(
        tag_id=str(tag.tag_id),
        name=tag.name,
        value=tag.value,
        created_at=_stamp(tag.created_at),
        updated_at=_stamp_if_any(tag.updated_at),
        inherited_from=None if tag.inherited_from is None else _tagged(tag.inherited_from),
    )
