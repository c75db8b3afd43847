"""The OpenAPI documents that a gateway serves, made without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward_gateway.bootstrap import openapi_documents


def document(name: str) -> Mapping[str, Any]:
    """The document of an API, as "catalog" or "management"."""
    return openapi_documents()[name]()
