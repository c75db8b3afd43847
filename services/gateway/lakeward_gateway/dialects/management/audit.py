"""The audit: what each service recorded, as one listing, the newest first."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final, Literal

import msgspec

from lakeward_gateway.dialects.management.documents import time_text
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Operation
from lakeward_gateway.query import Flag, PageSize, Query, Text, parse_query
from lakeward_protocol.audit.v1 import audit_pb2
from lakeward_protocol.authz.v1 import audit_pb2 as authz_audit_pb2
from lakeward_protocol.authz.v1 import audit_pb2_grpc as authz_audit_pb2_grpc
from lakeward_protocol.catalog.v1 import audit_pb2 as catalog_audit_pb2
from lakeward_protocol.catalog.v1 import audit_pb2_grpc
from lakeward_protocol.vending.v1 import audit_pb2 as vending_audit_pb2
from lakeward_protocol.vending.v1 import audit_pb2_grpc as vending_audit_pb2_grpc
from lakeward_servicekit.errors import invalid_field

_SERVER: Final = Flag("wholeServer", "Records of all projects and of none; else of one project.")
_WAREHOUSE: Final = Text("warehouseId", "Of this warehouse alone.")
_PRINCIPAL: Final = Text("principal", "Of this user alone, as oidc~4711.")
_ACTION: Final = Text("action", "Of this action alone: an event's type, as dropTable, or a method, as LoadTable.")
_OUTCOME: Final = Text("outcome", "allowed, refused or failed alone.")
_OBJECT: Final = Text("objectId", "About the object of this id alone.")
_START: Final = Text("start", "At or after this time, in the form of RFC 3339.")
_END: Final = Text("end", "Before this time.")
_TOKEN: Final = Text("pageToken", "From the page before; left out for the first.")
_SIZE: Final = PageSize("pageSize", "How many records a page may have: at most 1000, and 100 where nothing is said.")
_DEFAULT: Final = 100
_MOST: Final = 1000


class AuditRecord(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A request, or a change that one made; what is not known is left out. `audit-id` of a change is its event's id."""

    audit_id: str
    at: str
    outcome: Literal["allowed", "refused", "failed"]
    action: str
    object_type: str | None = None
    object_id: str | None = None
    object: str | None = None
    project_id: str | None = None
    warehouse_id: str | None = None
    principal: str | None = None
    assumed_role: str | None = None
    reason: str | None = None
    request_id: str | None = None
    client: str | None = None
    user_agent: str | None = None


class ListAuditRecordsResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Records, the newest first; without a token they are the last."""

    records: list[AuditRecord]
    next_page_token: str | None


async def list_records(
    request: Request,
    *,
    catalog: audit_pb2_grpc.AuditServiceAsyncStub,
    authz: authz_audit_pb2_grpc.AuditServiceAsyncStub,
    vending: vending_audit_pb2_grpc.AuditServiceAsyncStub,
) -> Response:
    """A page of what all services have, in the order of their ids, which is that of time."""
    wanted = _wanted(request)
    context = request.context
    answers = await asyncio.gather(
        catalog.ListAuditRecords(catalog_audit_pb2.ListAuditRecordsRequest(context=context, filter=wanted)),
        authz.ListAuditRecords(authz_audit_pb2.ListAuditRecordsRequest(context=context, filter=wanted)),
        vending.ListAuditRecords(vending_audit_pb2.ListAuditRecordsRequest(context=context, filter=wanted)),
    )
    found = sorted(
        (each for answer in answers for each in answer.records), key=lambda each: each.audit_id, reverse=True
    )
    shown = found[: wanted.page_size]
    more = len(found) > len(shown) or any(answer.next_page_token for answer in answers)
    return json_response(
        ListAuditRecordsResponse(
            records=[_shown(each) for each in shown], next_page_token=shown[-1].audit_id if more and shown else None
        )
    )


def _wanted(request: Request) -> audit_pb2.AuditFilter:
    query = parse_query(request.query_string)
    message = audit_pb2.AuditFilter(
        whole_server=_SERVER.read(query) or False,
        warehouse_id=_WAREHOUSE.read(query) or "",
        principal=_PRINCIPAL.read(query) or "",
        action=_ACTION.read(query) or "",
        outcome=_OUTCOME.read(query) or "",
        object_id=_OBJECT.read(query) or "",
        page_size=min(_SIZE.read(query) or _DEFAULT, _MOST),
        page_token=_TOKEN.read(query) or "",
    )
    start, end = _time(_START, query), _time(_END, query)
    if start is not None:
        message.start.FromDatetime(start)
    if end is not None:
        message.end.FromDatetime(end)
    return message


def _time(parameter: Text, query: Query) -> datetime | None:
    text = parameter.read(query)
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise invalid_field(parameter.name, text[:100], "a time with its zone, as 2026-01-31T12:00:00Z")
    return at


def _shown(each: audit_pb2.AuditRecord) -> AuditRecord:
    return AuditRecord(
        audit_id=each.audit_id,
        at=time_text(each.at),
        outcome="allowed" if each.outcome == "allowed" else "refused" if each.outcome == "refused" else "failed",
        action=each.action,
        object_type=each.kind or None,
        object_id=each.object_id or None,
        object=each.object or None,
        project_id=each.project_id or None,
        warehouse_id=each.warehouse_id or None,
        principal=each.principal or None,
        assumed_role=each.role or None,
        reason=each.reason or None,
        request_id=each.request_id or None,
        client=each.client or None,
        user_agent=each.user_agent or None,
    )


def operations(
    catalog: audit_pb2_grpc.AuditServiceAsyncStub,
    authz: authz_audit_pb2_grpc.AuditServiceAsyncStub,
    vending: vending_audit_pb2_grpc.AuditServiceAsyncStub,
) -> Sequence[Operation]:
    """The operation."""
    return (
        Operation(
            id="list_audit_records",
            method="GET",
            path="/management/v1/audit",
            summary="Who did or tried what, the newest first.",
            handler=partial(list_records, catalog=catalog, authz=authz, vending=vending),
            query=(
                _SERVER,
                _WAREHOUSE,
                _PRINCIPAL,
                _ACTION,
                _OUTCOME,
                _OBJECT,
                _START,
                _END,
                _TOKEN,
                _SIZE,
            ),
            answers={200: Answer("Records.", "ListAuditRecordsResponse", ListAuditRecordsResponse)},
            renderings=RENDERED,
            tag="server",
        ),
    )
