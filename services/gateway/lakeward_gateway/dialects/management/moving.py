"""Giving a namespace, named by its id, another path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated, Final

import msgspec

from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.documents import parsed
from lakeward_gateway.errors import Rendering, Renderings
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_protocol.catalog.v1 import namespaces_pb2, namespaces_pb2_grpc, types_pb2
from lakeward_servicekit.errors import Reason


class MoveNamespaceRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a namespace is to be; `force` overrides its protection."""

    destination: Annotated[
        list[str],
        msgspec.Meta(description="Its whole new path; the last part is its new name, the others what it hangs from."),
    ]
    force: bool = False


class MoveNamespaceResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Where a namespace is now; without a parent it is at the top."""

    namespace: list[str]
    namespace_id: str
    parent_namespace_id: str | None


_decoder: Final = msgspec.json.Decoder(MoveNamespaceRequest)


def _part_empty(metadata: Mapping[str, str]) -> Rendering:
    return Rendering(400, "NamespacePartEmpty" if metadata["namespace"] else "NamespaceEmpty")


_RENDERED: Final[Renderings] = MappingProxyType({**RENDERED, Reason.REASON_NAMESPACE_PART_EMPTY: _part_empty})


async def move_namespace(request: Request, *, namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub) -> Response:
    """Move a namespace."""
    warehouse_id, namespace_id = request.arguments
    document = await parsed(_decoder, request.body)
    moved = await namespaces.MoveNamespace(
        namespaces_pb2.MoveNamespaceRequest(
            context=request.context,
            warehouse_id=warehouse_id,
            namespace_id=namespace_id,
            destination=types_pb2.NamespaceIdent(parts=document.destination),
            force=document.force,
        )
    )
    return json_response(MoveNamespaceResponse(list(moved.ident.parts), moved.namespace_id, moved.parent_id or None))


def operations(namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub) -> Sequence[Operation]:
    """The one."""
    return (
        Operation(
            id="move_namespace",
            method="POST",
            path="/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/move",
            summary="Give a namespace another name, another place in its warehouse, or both, with everything inside.",
            handler=partial(move_namespace, namespaces=namespaces),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("MoveNamespaceRequest", MoveNamespaceRequest),
            answers={200: Answer("Where it is now.", "MoveNamespaceResponse", MoveNamespaceResponse)},
            renderings=_RENDERED,
            tag="warehouse",
        ),
    )
