"""The operations on tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from lakeward_gateway.dialects.management import paging, tags
from lakeward_gateway.dialects.management import tag_documents as documents
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.dialects.management.tags import Tags
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_protocol.catalog.v1 import tags_pb2, tags_pb2_grpc

_TAG: Final = "tag"
_DEFINITIONS: Final = "/management/v1/tag-definition"
_DEFINITION: Final = f"{_DEFINITIONS}/{{tag_definition_id}}"
_WAREHOUSE: Final = "/management/v1/warehouse/{warehouse_id}"
# What tags are set on, by the name that operations have for it.
_PLACES: Final[Mapping[str, tuple[str, tags_pb2.TagScope.ValueType]]] = {
    "warehouse": (_WAREHOUSE, tags_pb2.TAG_SCOPE_WAREHOUSE),
    "namespace": (f"{_WAREHOUSE}/namespace/{{namespace_id}}", tags_pb2.TAG_SCOPE_NAMESPACE),
    "table": (f"{_WAREHOUSE}/table/{{table_id}}", tags_pb2.TAG_SCOPE_TABLE),
    "view": (f"{_WAREHOUSE}/view/{{view_id}}", tags_pb2.TAG_SCOPE_VIEW),
    "generic_table": (f"{_WAREHOUSE}/generic-table/{{generic_table_id}}", tags_pb2.TAG_SCOPE_GENERIC_TABLE),
    "table_column": (f"{_WAREHOUSE}/table/{{table_id}}/column/{{column_name}}", tags_pb2.TAG_SCOPE_COLUMN),
}


def operations(stub: tags_pb2_grpc.TagServiceAsyncStub) -> Sequence[Operation]:
    """Every operation on tags."""
    served = Tags(stub)
    placed = [each for noun, (path, scope) in _PLACES.items() for each in _on(served, noun, path, scope)]
    return (*_definitions(served), *_of_a_definition(served), *placed)


def _definitions(served: Tags) -> Sequence[Operation]:
    return (
        Operation(
            id="list_tag_definitions",
            method="GET",
            path=_DEFINITIONS,
            summary="The tags of a project, in the order in which they were defined.",
            handler=served.list,
            query=(*paging.PARAMETERS, tags.NAME),
            answers={200: Answer("A page.", "ListTagDefinitionsResponse", documents.ListTagDefinitionsResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="create_tag_definition",
            method="POST",
            path=_DEFINITIONS,
            summary="Define a tag in a project.",
            handler=served.create,
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CreateTagDefinitionRequest", documents.CreateTagDefinitionRequest),
            answers={201: Answer("It is defined.", "TagDefinition", documents.TagDefinition)},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


def _of_a_definition(served: Tags) -> Sequence[Operation]:
    shown = Answer("The tag.", "TagDefinition", documents.TagDefinition)
    return (
        Operation(
            id="get_tag_definition",
            method="GET",
            path=_DEFINITION,
            summary="A tag, with its allowed values.",
            handler=served.get,
            answers={200: shown},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="update_tag_definition",
            method="POST",
            path=_DEFINITION,
            summary="Replace name, description and scopes of a tag, and allow more values.",
            handler=served.update,
            body=Body("UpdateTagDefinitionRequest", documents.UpdateTagDefinitionRequest),
            answers={200: shown},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="delete_tag_definition",
            method="DELETE",
            path=_DEFINITION,
            summary="Delete a tag that is set on nothing.",
            handler=served.delete,
            headers=(IDEMPOTENCY_KEY,),
            answers={204: Answer("It is gone.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="list_tag_attachments",
            method="GET",
            path=f"{_DEFINITION}/attachments",
            summary="What a tag is set on, in the order in which it was set; nothing inherited.",
            handler=served.attachments,
            query=(
                *paging.PARAMETERS,
                tags.VALUE,
                tags.TARGET_TYPE,
                tags.CREATED_AFTER,
                tags.CREATED_BEFORE,
                tags.WAREHOUSE_ID,
            ),
            answers={200: Answer("A page.", "ListTagAttachmentsResponse", documents.ListTagAttachmentsResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="list_column_tags",
            method="GET",
            path=f"{_WAREHOUSE}/table/{{table_id}}/column-tags",
            summary="The tags of every column of a table that has some.",
            handler=served.of_columns,
            answers={200: Answer("By field id.", "ListColumnTagsResponse", documents.ListColumnTagsResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


def _on(served: Tags, noun: str, path: str, scope: tags_pb2.TagScope.ValueType) -> Sequence[Operation]:
    shown = noun.replace("_", " ").replace("table column", "table's column")
    return (
        Operation(
            id=f"list_{noun}_tags",
            method="GET",
            path=f"{path}/tags",
            summary=f"The tags of a {shown}, by name.",
            handler=partial(served.of, scope=scope),
            query=(tags.EFFECTIVE,),
            answers={200: Answer("Its tags.", "ListTagsResponse", documents.ListTagsResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id=f"set_{noun}_tag",
            method="PUT",
            path=f"{path}/tags/{{tag_name}}",
            summary=f"Set a tag on a {shown}, or another value of it.",
            handler=partial(served.set, scope=scope),
            body=Body("SetTagRequest", documents.SetTagRequest),
            answers={200: Answer("It is set.", "AppliedTag", documents.AppliedTag)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id=f"delete_{noun}_tag",
            method="DELETE",
            path=f"{path}/tags/{{tag_name}}",
            summary=f"Remove a tag from a {shown}; where it is not set nothing changes.",
            handler=partial(served.remove, scope=scope),
            answers={204: Answer("It is not set.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )
