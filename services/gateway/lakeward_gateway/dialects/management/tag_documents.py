"""Bodies of the operations on tags, in the management API's spelling."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Scope: TypeAlias = Literal["warehouse", "namespace", "table", "view", "generic-table", "column"]
ValueKind: TypeAlias = Literal["marker", "free-text", "enumerated"]


class TagDefinition(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A tag, as its project defines it; allowed values are left out in listings."""

    id: str
    name: str
    scope: list[Scope]
    value_kind: ValueKind
    created_at: str
    updated_at: str | None = None
    description: str | None = None
    allowed_values: list[str] | None = None


class CreateTagDefinitionRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """A tag to define; one with a fixed set of values names them."""

    name: str
    scope: list[Scope]
    value_kind: ValueKind
    description: str | None = None
    allowed_values: list[str] | None = None


class UpdateTagDefinitionRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """What a tag is to be. Scopes and values can only be added; a description that is left out is removed."""

    name: str
    scope: list[Scope]
    description: str | None = None
    add_allowed_values: list[str] | None = None


class ListTagDefinitionsResponse(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A page of tags."""

    tag_definitions: list[TagDefinition]
    next_page_token: str | None = None


class SetTagRequest(msgspec.Struct, frozen=True):
    """The value that a tag gets; a marker has none."""

    value: str | None = None


class AppliedTag(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A tag that was set."""

    tag_definition_id: str
    name: str
    applied_at: str
    value: str | None = None


class TagInheritanceSource(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """The namespace or warehouse that a tag is inherited from."""

    type: Literal["warehouse", "namespace"]
    warehouse_id: str
    namespace_id: str | None = None


class TargetTag(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A tag on a thing, or on something that it is in."""

    tag_definition_id: str
    name: str
    source: Literal["manual"]
    created_at: str
    updated_at: str | None = None
    value: str | None = None
    inherited_from: TagInheritanceSource | None = None


class ListTagsResponse(msgspec.Struct, frozen=True):
    """Tags of a thing."""

    tags: list[TargetTag]


class ColumnTags(msgspec.Struct, frozen=True, rename="kebab"):
    """Tags of a column, which is named by its field id."""

    field_id: int
    tags: list[TargetTag]


class ListColumnTagsResponse(msgspec.Struct, frozen=True):
    """The columns of a table that have tags."""

    columns: list[ColumnTags]


class TagAttachmentTarget(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """What a tag is set on."""

    type: Scope
    warehouse_id: str
    namespace_id: str | None = None
    table_id: str | None = None
    view_id: str | None = None
    generic_table_id: str | None = None
    field_id: int | None = None


class TagAttachment(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A tag on one of the things that it is set on."""

    target: TagAttachmentTarget
    source: Literal["manual"]
    created_at: str
    updated_at: str | None = None
    value: str | None = None


class ListTagAttachmentsResponse(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A page of what a tag is set on."""

    attachments: list[TagAttachment]
    next_page_token: str | None = None
