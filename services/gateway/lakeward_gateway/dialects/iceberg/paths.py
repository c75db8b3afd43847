"""Where the Iceberg API is mounted."""

from __future__ import annotations

from typing import Final

MOUNT: Final = "/catalog"
CONFIG: Final = "/catalog/v1/config"
NAMESPACES: Final = "/catalog/v1/{prefix}/namespaces"
NAMESPACE: Final = NAMESPACES + "/{namespace}"
TABLES: Final = NAMESPACE + "/tables"
TABLE: Final = TABLES + "/{table}"
VIEWS: Final = NAMESPACE + "/views"
VIEW: Final = VIEWS + "/{view}"


def advertised(method: str, path: str) -> str:
    """A route as the configuration's `endpoints` names it: "GET /v1/{prefix}/namespaces"."""
    return f"{method} {path.removeprefix(MOUNT)}"


def without_prefix(path: str) -> str:
    """The template that a client asks which left the prefix out."""
    return path.replace("/{prefix}", "", 1)
