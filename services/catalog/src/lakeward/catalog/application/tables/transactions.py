"""What callers send as commits: parsed once, held against the path that it came by."""

from __future__ import annotations

from typing import Final

from lakeward.catalog.application.tables.committing import TableChange
from lakeward.catalog.domain.iceberg.requests import CommitRequest, Identifier
from lakeward.catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward.servicekit.errors import Reason, Refusal

MAX_TABLES: Final = 3750


def change_at(path: TabularIdent, request: CommitRequest, document: bytes) -> TableChange:
    """A change that came by a table's own path.

    The identifier in the body, where there is one, is the path's; or, as Spark sends commits to a branch, the path is the
    identifier's table with the branch as its name.

    Raises:
        Refusal: IDENTIFIER_MISMATCH.
    """
    if request.identifier is None:
        return TableChange(path, request, document)
    named = ident_of(request.identifier)
    branch_of = path.namespace.parts == (*named.namespace.parts, named.name)
    if named.key != path.key and not branch_of:
        raise Refusal(
            Reason.REASON_IDENTIFIER_MISMATCH,
            f"the path names table {path} and the body {named}; they must be the same",
            path=str(path),
            body=str(named),
        )
    return TableChange(named if branch_of else path, request, document)


def changes_of(requests: tuple[CommitRequest, ...], documents: tuple[bytes, ...]) -> list[TableChange]:
    """The changes of a transaction.

    Raises:
        Refusal: TOO_MANY_TABLES, IDENTIFIER_REQUIRED, IDENTIFIERS_NOT_UNIQUE.
    """
    if len(requests) > MAX_TABLES:
        raise Refusal(
            Reason.REASON_TOO_MANY_TABLES,
            f"the transaction changes {len(requests)} tables; at most {MAX_TABLES} are allowed",
            count=str(len(requests)),
            limit=str(MAX_TABLES),
        )
    seen: set[tuple[str, str]] = set()
    changes = []
    for request, document in zip(requests, documents, strict=True):
        if request.identifier is None:
            raise Refusal(
                Reason.REASON_IDENTIFIER_REQUIRED,
                "a change of the transaction names no table; give each its identifier",
            )
        ident = ident_of(request.identifier)
        if ident.key in seen:
            raise Refusal(
                Reason.REASON_IDENTIFIERS_NOT_UNIQUE,
                f"table {ident} is changed twice in the transaction (case does not count); put its updates together",
                table=str(ident),
            )
        seen.add(ident.key)
        changes.append(TableChange(ident, request, document))
    return changes


def ident_of(identifier: Identifier) -> TabularIdent:
    """The path that an identifier names.

    Raises:
        Refusal: NAMESPACE_PART_EMPTY and the other reasons of `NamespaceIdent.of`.
    """
    return TabularIdent(NamespaceIdent.of(tuple(identifier.namespace)), identifier.name)
