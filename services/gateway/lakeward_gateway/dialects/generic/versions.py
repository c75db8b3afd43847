"""Versions of generic tables: claimed by one writer each, for formats on stores that can't say who came first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final

import msgspec

from lakeward_gateway.dialects.generic.errors import RENDERED
from lakeward_gateway.dialects.iceberg.idents import tabular_of
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_gateway.query import PageSize, Text
from lakeward_protocol.catalog.v1 import generic_table_versions_pb2 as pb
from lakeward_protocol.catalog.v1 import generic_table_versions_pb2_grpc
from lakeward_servicekit.errors import invalid_field

Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 2)]
_BEFORE: Final = Text("before", "Only versions before this one.")
_PAGE_SIZE: Final = PageSize("pageSize", "How many; at most 1000, unset: 100.")
_LATEST: Final = "latest"
_LARGEST: Final = 2**63 - 2


class ClaimTableVersionRequest(msgspec.Struct, frozen=True):
    """A file for which a version is claimed; its path is below the table's location."""

    path: str
    size: Number | None = None
    properties: dict[str, str] | None = None


class TableVersion(msgspec.Struct, frozen=True, rename="kebab"):
    """A version and its file."""

    version: int
    path: str
    size: int | None
    properties: dict[str, str]
    claimed_at_ms: int


class ListTableVersionsResponse(msgspec.Struct, frozen=True):
    """Versions, the latest first."""

    versions: list[TableVersion]


_claim_decoder: Final = msgspec.json.Decoder(ClaimTableVersionRequest)


async def claim(
    request: Request, *, versions: generic_table_versions_pb2_grpc.GenericTableVersionServiceAsyncStub
) -> Response:
    """Claim a version."""
    warehouse, namespace, name, version = request.arguments
    document = await parsed(_claim_decoder, request.body)
    response = await versions.ClaimVersion(
        pb.ClaimVersionRequest(
            context=request.context,
            warehouse_id=warehouse,
            table=tabular_of(namespace, name),
            version=_number("version", version),
            path=document.path,
            size=document.size,
            properties=document.properties or {},
        )
    )
    return json_response(_shown(response.version))


async def get(
    request: Request, *, versions: generic_table_versions_pb2_grpc.GenericTableVersionServiceAsyncStub
) -> Response:
    """One version, or the latest."""
    warehouse, namespace, name, version = request.arguments
    response = await versions.GetVersion(
        pb.GetVersionRequest(
            context=request.context,
            warehouse_id=warehouse,
            table=tabular_of(namespace, name),
            version=None if version == _LATEST else _number("version", version),
        )
    )
    return json_response(_shown(response.version))


async def list_versions(
    request: Request, *, versions: generic_table_versions_pb2_grpc.GenericTableVersionServiceAsyncStub
) -> Response:
    """The versions."""
    warehouse, namespace, name = request.arguments
    query = request.query
    before = _BEFORE.read(query)
    response = await versions.ListVersions(
        pb.ListVersionsRequest(
            context=request.context,
            warehouse_id=warehouse,
            table=tabular_of(namespace, name),
            before=None if before is None else _number("before", before),
            limit=_PAGE_SIZE.read(query),
        )
    )
    return json_response(ListTableVersionsResponse([_shown(each) for each in response.versions]))


async def forget(
    request: Request, *, versions: generic_table_versions_pb2_grpc.GenericTableVersionServiceAsyncStub
) -> Response:
    """Forget versions."""
    warehouse, namespace, name = request.arguments
    await versions.ForgetVersions(
        pb.ForgetVersionsRequest(
            context=request.context,
            warehouse_id=warehouse,
            table=tabular_of(namespace, name),
            before=_number("before", _BEFORE.read(request.query) or ""),
        )
    )
    return NO_CONTENT


def _number(name: str, text: str) -> int:
    digits = text.lstrip("0") or text[:1]
    if digits.isascii() and digits.isdigit() and len(digits) <= len(str(_LARGEST)) and int(digits) <= _LARGEST:
        return int(digits)
    raise invalid_field(name, text, f"a whole number from 0 to {_LARGEST}")


def _shown(version: pb.TableVersion) -> TableVersion:
    return TableVersion(
        version.version,
        version.path,
        version.size if version.HasField("size") else None,
        dict(version.properties),
        version.claimed_at.ToMilliseconds(),
    )


def operations(
    table: str, stub: generic_table_versions_pb2_grpc.GenericTableVersionServiceAsyncStub, *, tag: str
) -> Sequence[Operation]:
    """Every operation on versions.

    Args:
        table: the path of a generic table.
        stub: answers them.
        tag: of generic tables.
    """
    shown = Answer("The version.", "TableVersion", TableVersion)
    return (
        Operation(
            id="claim_generic_table_version",
            method="PUT",
            path=f"{table}/versions/{{version}}",
            summary="Claim the next version for a file; of two writers the first gets it.",
            handler=partial(claim, versions=stub),
            body=Body("ClaimTableVersionRequest", ClaimTableVersionRequest),
            answers={200: shown},
            renderings=RENDERED,
            tag=tag,
        ),
        Operation(
            id="get_generic_table_version",
            method="GET",
            path=f"{table}/versions/{{version}}",
            summary="Which file a version is, or the latest one.",
            handler=partial(get, versions=stub),
            answers={200: shown},
            renderings=RENDERED,
            tag=tag,
        ),
        Operation(
            id="list_generic_table_versions",
            method="GET",
            path=f"{table}/versions",
            summary="The versions, the latest first.",
            handler=partial(list_versions, versions=stub),
            query=(_BEFORE, _PAGE_SIZE),
            answers={200: Answer("Versions.", "ListTableVersionsResponse", ListTableVersionsResponse)},
            renderings=RENDERED,
            tag=tag,
        ),
        Operation(
            id="forget_generic_table_versions",
            method="DELETE",
            path=f"{table}/versions",
            summary="Forget versions that the format itself records by now; the latest stays.",
            handler=partial(forget, versions=stub),
            query=(_BEFORE,),
            answers={204: Answer("They are forgotten.")},
            renderings=RENDERED,
            tag=tag,
        ),
    )
