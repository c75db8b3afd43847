"""Remote signing for S3, at every path that clients were ever told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from lakeward_gateway.dialects.iceberg import documents
from lakeward_gateway.dialects.iceberg.errors import SIGNED
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import JSON_TYPE, Request, Response, encode
from lakeward_gateway.operation import Answer, Body, HeaderParameter, Operation
from lakeward_gateway.query import Text
from lakeward_protocol.catalog.v1 import signing_pb2, signing_pb2_grpc
from lakeward_servicekit.errors import invalid_field

SIGNER_SCOPE: Final = "x-lakeward-signer-scope"
_SCOPE_HEADER: Final = HeaderParameter(SIGNER_SCOPE, "What a load handed out for its table; saves the server a look.")
_SCOPE: Final = Text("scope", f"As the header {SIGNER_SCOPE}, for clients that take an endpoint as it is.")

# Where a scope or a tabular is named by the path: warehouse, and the tabular's id or nothing.
Target = Callable[[Sequence[str]], tuple[str, str]]

_decoder: Final = msgspec.json.Decoder(documents.RemoteSignRequest)


async def sign(request: Request, *, signing: signing_pb2_grpc.SigningServiceAsyncStub, target: Target) -> Response:
    """One storage request, signed."""
    document = await parsed(_decoder, request.body)
    if document.provider not in (None, "s3"):
        raise invalid_field("provider", document.provider, "s3, or left out")
    warehouse, tabular = target(request.arguments)
    message = signing_pb2.SignS3RequestRequest(
        context=request.context,
        warehouse_id=warehouse,
        tabular_id=tabular,
        scope=_scope(request, document.properties),
        method=document.method.upper(),
        uri=document.uri,
        region=document.region,
        body=None if document.body is None else document.body.encode(),
    )
    for name, values in document.headers.items():
        message.headers[name].values.extend(values)
    response = await signing.SignS3Request(message)
    signed = documents.RemoteSignResult(
        uri=response.uri, headers={name: list(line.values) for name, line in response.headers.items()}
    )
    # Java decides by HTTP's own header whether it may use a signature again
    return Response(200, headers=(JSON_TYPE,), body=encode(signed), cacheable=response.cacheable)


def _scope(request: Request, properties: Mapping[str, str] | None) -> str:
    header = request.headers.get(SIGNER_SCOPE.encode())
    if header is not None:
        return header.decode("latin-1").strip()
    return _SCOPE.read(request.query) or (properties or {}).get(SIGNER_SCOPE, "")


def _warehouse(arguments: Sequence[str]) -> tuple[str, str]:
    return arguments[0], ""


def _tabular(arguments: Sequence[str]) -> tuple[str, str]:
    return arguments[0], arguments[1]


# The one that loads hand out comes first; it is the one that is documented.
_PATHS: Final[Sequence[tuple[str, Target]]] = (
    ("/catalog/v1/signer/{prefix}/tabular-id/{tabular-id}/v1/aws/s3/sign", _tabular),
    ("/catalog/v1/{prefix}/v1/aws/s3/sign", _warehouse),
    ("/catalog/{prefix}/v1/aws/s3/sign", _warehouse),
    ("/{prefix}/v1/aws/s3/sign", _warehouse),
)


def operations(signing: signing_pb2_grpc.SigningServiceAsyncStub) -> Sequence[Operation]:
    """The signer, once for each of its paths."""
    ids = ("signS3TabularRequest", "signS3Request", "signS3RequestBelowCatalog", "signS3RequestAtRoot")
    return tuple(
        Operation(
            id=operation_id,
            method="POST",
            path=path,
            summary="Sign one request to an S3 store for a client that holds no credential.",
            handler=partial(sign, signing=signing, target=target),
            query=(_SCOPE,),
            headers=(_SCOPE_HEADER,),
            body=Body("RemoteSignRequest", documents.RemoteSignRequest),
            answers={
                200: Answer(
                    "The request, signed.",
                    "RemoteSignResult",
                    documents.RemoteSignResult,
                    {"Cache-Control": "`private` where the signature may be used again for an equal request."},
                )
            },
            renderings=SIGNED,
            tag="Signing",
        )
        for operation_id, (path, target) in zip(ids, _PATHS, strict=True)
    )
