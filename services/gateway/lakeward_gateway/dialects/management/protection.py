"""Protection of namespaces, tables, views and generic tables, each named by its id: protected, it is dropped by force alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, Protocol, TypeAlias

import msgspec

from lakeward_gateway.dialects.management import documents
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_gateway.peers import Stubs
from lakeward_protocol.catalog.v1 import generic_tables_pb2, namespaces_pb2, tables_pb2, views_pb2
from lakeward_protocol.common.v1 import context_pb2

_TAG: Final = "warehouse"
_ANSWERS: Final = {200: Answer("As it is now.", "ProtectionResponse", documents.ProtectionResponse)}
_decoder: Final = msgspec.json.Decoder(documents.SetProtectionRequest)


class Protected(Protocol):
    """What the catalog answers of each kind."""

    @property
    def protected(self) -> bool:
        """As it is now."""
        ...


# The warehouse's id, the object's, and whether it is to be protected.
Get: TypeAlias = Callable[[context_pb2.RequestContext, str, str], Awaitable[Protected]]
Set: TypeAlias = Callable[[context_pb2.RequestContext, str, str, bool], Awaitable[Protected]]


def operations(stubs: Stubs) -> Sequence[Operation]:
    """To read and to set the protection of each kind."""
    namespaces, tables, views = stubs.namespaces, stubs.tables, stubs.views
    generic_tables = stubs.generic_tables
    return (
        *_of(
            "namespace",
            lambda context, within, which: namespaces.GetNamespaceProtection(
                namespaces_pb2.GetNamespaceProtectionRequest(context=context, warehouse_id=within, namespace_id=which)
            ),
            lambda context, within, which, protected: namespaces.SetNamespaceProtection(
                namespaces_pb2.SetNamespaceProtectionRequest(
                    context=context, warehouse_id=within, namespace_id=which, protected=protected
                )
            ),
        ),
        *_of(
            "table",
            lambda context, within, which: tables.GetTableProtection(
                tables_pb2.GetTableProtectionRequest(context=context, warehouse_id=within, tabular_id=which)
            ),
            lambda context, within, which, protected: tables.SetTableProtection(
                tables_pb2.SetTableProtectionRequest(
                    context=context, warehouse_id=within, tabular_id=which, protected=protected
                )
            ),
        ),
        *_of(
            "view",
            lambda context, within, which: views.GetViewProtection(
                views_pb2.GetViewProtectionRequest(context=context, warehouse_id=within, tabular_id=which)
            ),
            lambda context, within, which, protected: views.SetViewProtection(
                views_pb2.SetViewProtectionRequest(
                    context=context, warehouse_id=within, tabular_id=which, protected=protected
                )
            ),
        ),
        *_of(
            "generic-table",
            lambda context, within, which: generic_tables.GetGenericTableProtection(
                generic_tables_pb2.GetGenericTableProtectionRequest(
                    context=context, warehouse_id=within, tabular_id=which
                )
            ),
            lambda context, within, which, protected: generic_tables.SetGenericTableProtection(
                generic_tables_pb2.SetGenericTableProtectionRequest(
                    context=context, warehouse_id=within, tabular_id=which, protected=protected
                )
            ),
        ),
    )


def _of(noun: str, get: Get, put: Set) -> Sequence[Operation]:
    word, called = noun.replace("-", "_"), noun.replace("-", " ")
    path = f"/management/v1/warehouse/{{warehouse_id}}/{noun}/{{{word}_id}}/protection"
    return (
        Operation(
            id=f"get_{word}_protection",
            method="GET",
            path=path,
            summary=f"Whether a {called} is protected from being dropped without force.",
            handler=partial(get_protection, get=get),
            answers=_ANSWERS,
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id=f"set_{word}_protection",
            method="POST",
            path=path,
            summary=f"Protect a {called} from being dropped without force, or no longer.",
            handler=partial(set_protection, put=put),
            body=Body("SetProtectionRequest", documents.SetProtectionRequest),
            answers=_ANSWERS,
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


async def get_protection(request: Request, *, get: Get) -> Response:
    """Whether something is protected."""
    warehouse_id, object_id = request.arguments
    return _shown(await get(request.context, warehouse_id, object_id))


async def set_protection(request: Request, *, put: Set) -> Response:
    """Protect something, or take its protection away."""
    warehouse_id, object_id = request.arguments
    document = await parsed(_decoder, request.body)
    return _shown(await put(request.context, warehouse_id, object_id, document.protected))


def _shown(answer: Protected) -> Response:
    return json_response(documents.ProtectionResponse(answer.protected, updated_at=None))
