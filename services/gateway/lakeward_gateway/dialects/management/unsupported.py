"""Operations of the management API that this build knows and does not serve."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, cast

from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.http import Request, Response
from lakeward_gateway.operation import Method, Operation
from lakeward_servicekit.errors import Reason, Refusal

# Methods, then the path below /management/v1. Where several kinds have the same operations, they stand as a choice: "(a|b)".
_UNSUPPORTED: Final[Sequence[str]] = (
    "POST /endpoint-statistics",
    # tasks
    "GET POST /project/task-queue/task_log_cleanup/config",
    "GET /project/task/by-id/{task_id}",
    "POST /project/task/control",
    "POST /project/task/list",
    # tags
    "GET POST /tag-definition",
    "GET POST DELETE /tag-definition/{tag_definition_id}",
    "GET /tag-definition/{tag_definition_id}/attachments",
    "GET /warehouse/{warehouse_id}/tags",
    "PUT DELETE /warehouse/{warehouse_id}/tags/{tag_name}",
    "GET /warehouse/{warehouse_id}/(namespace|table|view|generic-table)/{object_id}/tags",
    "PUT DELETE /warehouse/{warehouse_id}/(namespace|table|view|generic-table)/{object_id}/tags/{tag_name}",
    "GET /warehouse/{warehouse_id}/table/{table_id}/column-tags",
    "GET /warehouse/{warehouse_id}/table/{table_id}/column/{column_name}/tags",
    "PUT DELETE /warehouse/{warehouse_id}/table/{table_id}/column/{column_name}/tags/{tag_name}",
    # warehouses and what is in them
    "POST /warehouse/{warehouse_id}/namespace/{namespace_id}/move",
    "GET POST /warehouse/{warehouse_id}/generic-table/{object_id}/protection",
)


async def refuse(_request: Request, *, operation: str) -> Response:
    """Say that it is not served."""
    raise Refusal(
        Reason.REASON_UNSUPPORTED,
        f"{operation} is part of the management API and is not served by this version",
        operation=operation,
    )


def routes() -> Sequence[tuple[Method, str]]:
    """Method and path of each of them, choices written out."""
    found: list[tuple[Method, str]] = []
    for line in _UNSUPPORTED:
        *methods, path = line.split(" ")
        for method in cast("list[Method]", methods):
            found.extend((method, f"/management/v1{written}") for written in _written_out(path))
    return found


def _written_out(path: str) -> Sequence[str]:
    before, opening, rest = path.partition("(")
    if not opening:
        return (path,)
    choices, _, after = rest.partition(")")
    return [before + choice + tail for choice in choices.split("|") for tail in _written_out(after)]


def operations() -> Sequence[Operation]:
    """A refusal for each."""
    return tuple(
        Operation(
            id=f"unsupported {method} {path}",
            method=method,
            path=path,
            summary="Not served.",
            handler=partial(refuse, operation=f"{method} {path}"),
            answers={},
            renderings=RENDERED,
            tag="unsupported",
            documented=False,
        )
        for method, path in routes()
    )
