"""What can be asked after a create: whoever made a namespace, table or view has all that its paths need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lakeward_gateway.operation import Link

_PREFIX: Final = "$request.path.prefix"
_MADE: Final[Mapping[str, str]] = {"prefix": _PREFIX, "namespace": "$response.body#/namespace/0"}
_BESIDE: Final[Mapping[str, str]] = {"prefix": _PREFIX, "namespace": "$request.path.namespace"}


def of_namespace() -> Sequence[Link]:
    """After a namespace at the top level was made."""
    following = (
        "loadNamespaceMetadata",
        "namespaceExists",
        "updateProperties",
        "dropNamespace",
        "listTables",
        "listViews",
        "createTable",
        "createView",
        "registerTable",
    )
    return tuple(Link(operation, _MADE) for operation in following)


def of_table() -> Sequence[Link]:
    """After a table was made."""
    place = {**_BESIDE, "table": "$request.body#/name"}
    following = ("loadTable", "tableExists", "updateTable", "loadCredentials", "reportMetrics", "dropTable")
    return tuple(Link(operation, place) for operation in following)


def of_view() -> Sequence[Link]:
    """After a view was made."""
    place = {**_BESIDE, "view": "$request.body#/name"}
    return tuple(Link(operation, place) for operation in ("loadView", "viewExists", "replaceView", "dropView"))
