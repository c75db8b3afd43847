"""Paths that engines try to see whether something is there.

Spark tries `namespace.table.branch_x` as a table of a namespace that is nested deeper than any can be, and goes on when there is
no such table. So where something is looked for, a path that nothing can have is only not found.
"""

from __future__ import annotations

from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.names import ImpossiblePath, NamespaceIdent, TabularIdent
from lakeward_catalog.domain.wording import no_such_namespace, no_such_tabular
from lakeward_catalog.transport import decode
from lakeward_protocol.catalog.v1 import types_pb2


def namespace_looked_for(message: types_pb2.NamespaceIdent) -> NamespaceIdent:
    """The path of a namespace that is looked for.

    Raises:
        Refusal: NO_SUCH_NAMESPACE, for a path that no namespace can have.
    """
    try:
        return decode.namespace_ident(message)
    except ImpossiblePath:
        raise no_such_namespace(".".join(message.parts)) from None


def looked_for(kind: Kind, message: types_pb2.TabularIdent) -> TabularIdent:
    """The path of something that is looked for.

    Raises:
        Refusal: NO_SUCH_TABLE or NO_SUCH_VIEW, for a path that nothing can have.
    """
    try:
        return decode.tabular_ident(message)
    except ImpossiblePath:
        parts = [part[:1000] for part in (*message.namespace.parts[:10], message.name)]
        raise no_such_tabular(kind, ".".join(parts)[:1000]) from None
