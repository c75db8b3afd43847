"""Paths without the prefix that they need: refused, with the path that would be right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from lakeward_gateway.dialects.iceberg import paths
from lakeward_gateway.dialects.iceberg.errors import RENDERED
from lakeward_gateway.http import Request, Response
from lakeward_gateway.operation import Method, Operation
from lakeward_servicekit.errors import Reason, Refusal


async def refuse(request: Request, *, right: str) -> Response:
    """Say which path would be right."""
    path = request.raw_path.decode("latin-1")
    raise Refusal(
        Reason.REASON_PREFIX_MISSING,
        f"{path} lacks the prefix, which is the warehouse's id as GET {paths.CONFIG} answers it; use {right}",
        path=path,
        right=right,
    )


def operations(prefixed: Iterable[Operation]) -> Sequence[Operation]:
    """One refusal for each operation whose path has a prefix, and for the signer's shortest path."""
    signer = "/catalog/v1/{prefix}/v1/aws/s3/sign"
    shortest = [
        _refusal("signS3Request", "POST", path, signer) for path in ("/catalog/v1/aws/s3/sign", "/v1/aws/s3/sign")
    ]
    return [*refusals(prefixed), *shortest]


def refusals(prefixed: Iterable[Operation]) -> Sequence[Operation]:
    """One refusal for each operation whose path has a prefix."""
    wanted: dict[tuple[Method, str], Operation] = {
        (operation.method, paths.without_prefix(operation.path)): operation for operation in prefixed
    }
    return [_refusal(operation.id, method, path, operation.path) for (method, path), operation in wanted.items()]


def _refusal(operation_id: str, method: Method, path: str, right: str) -> Operation:
    return Operation(
        id=f"{operation_id}WithoutPrefix",
        method=method,
        path=path,
        summary="Refused: the prefix is missing.",
        handler=partial(refuse, right=right),
        answers={},
        renderings=RENDERED,
        tag="Refused",
        documented=False,
    )
