"""Everything that is served of SCIM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any, Final

from lakeward_gateway.dialects.scim import discovery, groups, users
from lakeward_gateway.dialects.scim.errors import RENDERED
from lakeward_gateway.dialects.scim.searching import LISTING, SHAPE
from lakeward_gateway.http import Handler
from lakeward_gateway.operation import Answer, Body, Method, Operation
from lakeward_gateway.query import Parameter
from lakeward_protocol.authz.v1 import provisioning_pb2_grpc

_ROOT: Final = "/scim/v2"
_TAG: Final = "scim"
_OBJECT: Final[Mapping[str, Any]] = {"type": "object"}


def scim_operations(provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub) -> Sequence[Operation]:
    """The operations. SCIM says itself what it serves, so no OpenAPI document does."""
    return (
        _told("scim_provider_config", "/ServiceProviderConfig", discovery.provider_config),
        _told("scim_resource_types", "/ResourceTypes", discovery.resource_types),
        _told("scim_resource_type", "/ResourceTypes/{name}", discovery.resource_type),
        _told("scim_schemas", "/Schemas", discovery.schemas),
        _told("scim_schema", "/Schemas/{urn}", discovery.schema),
        _operation("scim_search", "POST", "/.search", discovery.search, body=True),
        *_on("user", "/Users", users, provisioning),
        *_on("group", "/Groups", groups, provisioning),
    )


def _told(id: str, path: str, handler: Handler) -> Operation:  # noqa: A002 - the operation's
    return _operation(id, "GET", path, handler)


def _on(
    word: str,
    path: str,
    module: ModuleType,
    provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub,
) -> Sequence[Operation]:
    def bound(name: str) -> Handler:
        handler: Handler = partial(getattr(module, name), provisioning=provisioning)
        return handler

    one = f"{path}/{{id}}"
    return (
        _operation(f"scim_list_{word}s", "GET", path, bound(f"list_{word}s"), query=LISTING),
        _operation(f"scim_search_{word}s", "POST", f"{path}/.search", bound(f"search_{word}s"), body=True),
        _operation(f"scim_create_{word}", "POST", path, bound(f"create_{word}"), query=SHAPE, body=True, status=201),
        _operation(f"scim_get_{word}", "GET", one, bound(f"get_{word}"), query=SHAPE),
        _operation(f"scim_replace_{word}", "PUT", one, bound(f"replace_{word}"), query=SHAPE, body=True),
        _operation(f"scim_patch_{word}", "PATCH", one, bound(f"patch_{word}"), query=SHAPE, body=True),
        _operation(f"scim_delete_{word}", "DELETE", one, bound(f"delete_{word}"), status=204),
    )


def _operation(
    id: str,  # noqa: A002 - the operation's
    method: Method,
    path: str,
    handler: Handler,
    *,
    query: Sequence[Parameter] = (),
    body: bool = False,
    status: int = 200,
) -> Operation:
    return Operation(
        id=id,
        method=method,
        path=f"{_ROOT}{path}",
        summary=id.replace("_", " "),
        handler=handler,
        answers={status: Answer("As RFC 7644 has it.")},
        renderings=RENDERED,
        tag=_TAG,
        query=query,
        body=Body("ScimDocument", _OBJECT) if body else None,
        documented=False,
    )
