"""Dropping a namespace, or a warehouse, with everything inside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_protocol.catalog.v1 import cascades_pb2, cascades_pb2_grpc

_WAREHOUSE: Final = "/management/v1/warehouse/{warehouse_id}"


class CascadeDropRequest(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """How to drop; `force` overrides protection and soft deletion, `purge` takes files too, `dry-run` only says what would go."""

    force: bool = False
    purge: bool = False
    dry_run: bool = False


class CascadeDropResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """What goes, and the task that does it: of the warehouse for a namespace, of the project for a warehouse."""

    task_id: str | None
    number_of_namespaces: int
    number_of_tables: int
    number_of_views: int
    number_of_generic_tables: int
    number_of_deleted_tabulars: int
    protected: list[str]


_decoder: Final = msgspec.json.Decoder(CascadeDropRequest)


async def drop(request: Request, *, cascades: cascades_pb2_grpc.CascadeServiceAsyncStub) -> Response:
    """Queue the drop, or say what it would take."""
    document = await parsed(_decoder, request.body or b"{}")
    warehouse_id, *inside = request.arguments
    found = await cascades.DropTree(
        cascades_pb2.DropTreeRequest(
            context=request.context,
            warehouse_id=warehouse_id,
            namespace_id=inside[0] if inside else None,
            force=document.force,
            purge=document.purge,
            dry_run=document.dry_run,
        )
    )
    shown = CascadeDropResponse(
        task_id=found.task_id or None,
        number_of_namespaces=found.namespaces,
        number_of_tables=found.tables,
        number_of_views=found.views,
        number_of_generic_tables=found.generic_tables,
        number_of_deleted_tabulars=found.restorable,
        protected=list(found.protected),
    )
    return json_response(shown, status=202 if found.task_id else 200)


def operations(cascades: cascades_pb2_grpc.CascadeServiceAsyncStub) -> Sequence[Operation]:
    """Both operations."""
    return tuple(
        Operation(
            id=f"cascade_drop_{noun}",
            method="POST",
            path=path,
            summary=f"Drop a {noun} with everything inside, by a task, or say what that would take.",
            handler=partial(drop, cascades=cascades),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CascadeDropRequest", CascadeDropRequest, required=False),
            answers={
                200: Answer("What it would take.", "CascadeDropResponse", CascadeDropResponse),
                202: Answer("It is queued.", "CascadeDropResponse", CascadeDropResponse),
            },
            renderings=RENDERED,
            tag="warehouse",
        )
        for noun, path in (
            ("warehouse", f"{_WAREHOUSE}/cascade-drop"),
            ("namespace", f"{_WAREHOUSE}/namespace/{{namespace_id}}/cascade-drop"),
        )
    )
