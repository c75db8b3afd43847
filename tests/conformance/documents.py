"""The OpenAPI documents that a gateway serves, made without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward_gateway.bootstrap import openapi_documents
from lakeward_gateway.peers import Peers, Stubs


class _Nowhere:
    """A channel that is never called."""

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> object:
        del args, kwargs
        return method


def document(name: str) -> Mapping[str, Any]:
    """The document of an API, "catalog" or "management"."""
    nowhere: Any = _Nowhere()
    return openapi_documents(Stubs(Peers(authz=nowhere, catalog=nowhere, vending=nowhere)))[name]()
