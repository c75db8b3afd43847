"""Identifiers as paths, queries and documents write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote_plus

from lakeward_gateway.dialects.iceberg.documents import TableIdentifier
from lakeward_protocol.catalog.v1 import types_pb2

SEPARATOR: Final = "\x1f"


def namespace_of(argument: str) -> types_pb2.NamespaceIdent:
    """A namespace from its segment of a path, or from a query's value; see `parts_of`."""
    return types_pb2.NamespaceIdent(parts=parts_of(argument))


def parts_of(argument: str) -> list[str]:
    """A namespace's parts from its segment of a path.

    Args:
        argument: percent-decoded. What is still a "+" stands for a space, which some JVM clients form-encode even here; a name
            with "+" can't be made, so nothing is lost.
    """
    return spaced(argument).split(SEPARATOR)


def tabular_of(namespace: str, name: str) -> types_pb2.TabularIdent:
    """A table or view from its two segments of a path."""
    return types_pb2.TabularIdent(namespace=namespace_of(namespace), name=spaced(name))


def spaced(argument: str) -> str:
    """The text with its "+" read as spaces."""
    return argument.replace("+", " ") if "+" in argument else argument


def tabular_from(identifier: TableIdentifier) -> types_pb2.TabularIdent:
    """A table or view from a document, where "+" is itself."""
    return types_pb2.TabularIdent(namespace=types_pb2.NamespaceIdent(parts=identifier.namespace), name=identifier.name)


def references_of(value: str | None) -> Sequence[types_pb2.TabularIdent]:
    """The chain of views in a `referenced-by` value, outermost first.

    Args:
        value: comma-separated, percent-decoded once, as queries are; in each entry the last separator stands before the view's
            name. Clients that encode each entry, and then the query, leave it encoded: there no separator is to be seen yet, and
            a comma in a name is "%2C". An entry without a separator is no view, and the catalog refuses its empty namespace
            where the chain counts.
    """
    if not value:
        return ()
    chain: list[types_pb2.TabularIdent] = []
    for entry in value.split(","):
        decoded = spaced(entry) if SEPARATOR in entry else unquote_plus(entry, errors="replace")
        namespace, _, name = decoded.rpartition(SEPARATOR)
        parts = namespace.split(SEPARATOR) if namespace else ()
        chain.append(types_pb2.TabularIdent(namespace=types_pb2.NamespaceIdent(parts=parts), name=name))
    return chain
