"""Methods on tags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lakeward_protocol.catalog.v1 import (
    tags_pb2,
)
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason
from tests.support.catalog.expectations.case import PROJECT, Case
from tests.support.catalog.house import (
    House,
)

_TAG: Final = {ObjectKind.TAG: Reason.REASON_NO_SUCH_TAG}

_TARGETS: Final[Mapping[str, Callable[[House], tags_pb2.TagTarget]]] = {
    "WAREHOUSE": lambda house: house.tag_target("warehouse"),
    "NAMESPACE": lambda house: house.tag_target("namespace", house.namespace("sales").namespace_id),
    "TABLE": lambda house: house.tag_target("table", house.tabular("orders").tabular_id),
    "VIEW": lambda house: house.tag_target("view", house.tabular("recent").tabular_id),
    "GENERIC_TABLE": lambda house: house.tag_target("generic_table", house.tabular("vectors").tabular_id),
}


async def _tagged(house: House) -> None:
    """A tag that everything may have, on the table."""
    await house.make_generic("sales", "vectors")
    await house.make_tag("pii", "warehouse", "namespace", "table", "view", "generic_table", "column")
    target = _TARGETS["TABLE"](house)
    await house.tags.SetTag(tags_pb2.SetTagRequest(target=target, tag="pii", value="yes"))


async def _defined(house: House) -> None:
    await house.make_tag("pii", "table")


def _tag_id(house: House) -> str:
    (definition,) = house.catalog.rows.tags.values()
    return str(definition.tag_id)


def _about(
    target: Callable[[House], tags_pb2.TagTarget], request: Callable[[tags_pb2.TagTarget], Any]
) -> Callable[[House], Any]:
    return lambda house: request(target(house))


def _on_each(request: Callable[[tags_pb2.TagTarget], Any], action: str, *, applies: bool) -> tuple[Case, ...]:
    """A case for each kind that tags are set on."""
    tag = {ObjectKind.TAG: Reason.REASON_NO_SUCH_TAG_NAME} if applies else {}
    return tuple(
        Case(
            _about(target, request),
            {ObjectKind[kind]: Reason.REASON_NO_SUCH_TAG_TARGET, **tag},
            needs=frozenset({Action[f"{kind}_{action}"], *((Action.TAG_APPLY,) if applies else ())}),
            prepare=_tagged,
        )
        for kind, target in _TARGETS.items()
    )


TAG_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "CreateTagDefinition": (
        Case(
            lambda house: tags_pb2.CreateTagDefinitionRequest(
                name="pii", scopes=[tags_pb2.TAG_SCOPE_TABLE], value_kind=tags_pb2.TAG_VALUE_KIND_MARKER
            ),
            PROJECT,
        ),
    ),
    "ListTagDefinitions": (Case(lambda house: tags_pb2.ListTagDefinitionsRequest(), PROJECT),),
    "GetTagDefinition": (
        Case(lambda house: tags_pb2.GetTagDefinitionRequest(tag_id=_tag_id(house)), _TAG, prepare=_defined),
    ),
    "UpdateTagDefinition": (
        Case(
            lambda house: tags_pb2.UpdateTagDefinitionRequest(
                tag_id=_tag_id(house), name="private", scopes=[tags_pb2.TAG_SCOPE_TABLE]
            ),
            _TAG,
            prepare=_defined,
        ),
    ),
    "DeleteTagDefinition": (
        Case(lambda house: tags_pb2.DeleteTagDefinitionRequest(tag_id=_tag_id(house)), _TAG, prepare=_defined),
    ),
    "ListTagAttachments": (
        Case(lambda house: tags_pb2.ListTagAttachmentsRequest(tag_id=_tag_id(house)), _TAG, prepare=_tagged),
    ),
    "SetTag": _on_each(
        lambda target: tags_pb2.SetTagRequest(target=target, tag="pii", value="no"), "MANAGE_TAGS", applies=True
    ),
    "RemoveTag": _on_each(
        lambda target: tags_pb2.RemoveTagRequest(target=target, tag="pii"), "MANAGE_TAGS", applies=True
    ),
    "ListTags": _on_each(
        lambda target: tags_pb2.ListTagsRequest(target=target, effective=True), "GET_METADATA", applies=False
    ),
    "ListColumnTags": (
        Case(
            lambda house: tags_pb2.ListColumnTagsRequest(
                warehouse_id=house.warehouse_id, table_id=str(house.tabular("orders").tabular_id)
            ),
            {ObjectKind.TABLE: Reason.REASON_NO_SUCH_TAG_TARGET},
        ),
    ),
}
