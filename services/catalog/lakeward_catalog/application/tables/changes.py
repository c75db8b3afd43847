"""Changes of tables, as callers send them: which table each is of, by its path and by its own document."""

from __future__ import annotations

import dataclasses
from typing import Final

from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.domain.iceberg.requests import (
    CommitRequest,
    Identifier,
    parse_commit,
    parse_transaction,
    split_transaction,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_servicekit.errors import Reason, Refusal

MAX_TABLES: Final = 3750


@dataclasses.dataclass(frozen=True, slots=True)
class TableChange:
    """A change of one table.

    Attributes:
        ident: the table; while nothing is read, the path that the change came by.
        document: requirements and updates as they came, for reading them and for the event.
        request: the same, read; None until the caller may commit to the table. A transaction is read once its warehouse may be
            used, because its tables' names stand in it.
    """

    ident: TabularIdent
    document: Payload
    request: CommitRequest | None = None


def table_of_branch(path: TabularIdent) -> TabularIdent | None:
    """The table that a path would be a branch of: Spark sends commits to a branch as to a table below the table's own name."""
    parent = path.namespace.parent
    return None if parent is None else TabularIdent(parent, path.namespace.name)


async def read_change(change: TableChange) -> TableChange:
    """A change that came by a path, read.

    The identifier in the document, where there is one, is the path's, or that of the table whose branch the path names.

    Raises:
        Refusal: MALFORMED_DOCUMENT, UNKNOWN_UPDATE, UNKNOWN_REQUIREMENT, IDENTIFIER_MISMATCH.
    """
    if change.request is not None:
        return change
    path, request = change.ident, await change.document.read(parse_commit)
    if request.identifier is None:
        return dataclasses.replace(change, request=request)
    named = ident_of(request.identifier)
    branch_of = path.namespace.parts == (*named.namespace.parts, named.name)
    if named.key != path.key and not branch_of:
        raise Refusal(
            Reason.REASON_IDENTIFIER_MISMATCH,
            f"the path names table {path} and the body {named}; they must be the same",
            path=str(path),
            body=str(named),
        )
    return dataclasses.replace(change, ident=named if branch_of else path, request=request)


async def changes_of(document: Payload) -> list[TableChange]:
    """The changes of a transaction.

    Raises:
        Refusal: MALFORMED_DOCUMENT, UNKNOWN_UPDATE, UNKNOWN_REQUIREMENT; TOO_MANY_TABLES, IDENTIFIER_REQUIRED,
            IDENTIFIERS_NOT_UNIQUE.
    """
    return await document.read(_changes_in)


def _changes_in(body: bytes) -> list[TableChange]:
    requests = parse_transaction(body)
    if len(requests) > MAX_TABLES:
        raise Refusal(
            Reason.REASON_TOO_MANY_TABLES,
            f"the transaction changes {len(requests)} tables; at most {MAX_TABLES} are allowed",
            count=str(len(requests)),
            limit=str(MAX_TABLES),
        )
    seen: set[tuple[str, str]] = set()
    changes = []
    for request, document in zip(requests, split_transaction(body), strict=True):
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
        changes.append(TableChange(ident, Payload(document), request))
    return changes


def ident_of(identifier: Identifier) -> TabularIdent:
    """The path that an identifier names.

    Raises:
        Refusal: NAMESPACE_PART_EMPTY and the other reasons of `NamespaceIdent.of`.
    """
    return TabularIdent(NamespaceIdent.of(tuple(identifier.namespace)), identifier.name)
