"""Updates of tables, as callers send them: which table each is of, by its path and by its own document."""

from __future__ import annotations

from typing import Final

from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.tabulars.kinds import TabularUpdate
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


def table_of_branch(path: TabularIdent) -> TabularIdent | None:
    """The table that a path would be a branch of: Spark sends commits to a branch as to a table below the table's own name."""
    parent = path.namespace.parent
    return None if parent is None else TabularIdent(parent, path.namespace.name)


async def read_update(update: TabularUpdate) -> tuple[TabularIdent, CommitRequest]:
    """An update that came by a path, read, and the table that it is of.

    The identifier in the document, where there is one, is the path's, or that of the table whose branch the path names.

    Raises:
        Refusal: MALFORMED_DOCUMENT, UNKNOWN_UPDATE, UNKNOWN_REQUIREMENT, IDENTIFIER_MISMATCH.
    """
    path = update.ident
    if update.request is not None:
        return path, update.request
    request = await update.document.read(parse_commit)
    if request.identifier is None:
        return path, request
    named = ident_of(request.identifier)
    branch_of = path.namespace.parts == (*named.namespace.parts, named.name)
    if named.key != path.key and not branch_of:
        raise Refusal(
            Reason.REASON_IDENTIFIER_MISMATCH,
            f"the path names table {path} and the body {named}; they must be the same",
            path=str(path),
            body=str(named),
        )
    return named if branch_of else path, request


async def updates_of(document: Payload) -> list[TabularUpdate]:
    """The updates of a transaction.

    Raises:
        Refusal: MALFORMED_DOCUMENT, UNKNOWN_UPDATE, UNKNOWN_REQUIREMENT; TOO_MANY_TABLES, IDENTIFIER_REQUIRED,
            IDENTIFIERS_NOT_UNIQUE.
    """
    return await document.read(_updates_in)


def _updates_in(body: bytes) -> list[TabularUpdate]:
    requests = parse_transaction(body)
    if len(requests) > MAX_TABLES:
        raise Refusal(
            Reason.REASON_TOO_MANY_TABLES,
            f"the transaction changes {len(requests)} tables; at most {MAX_TABLES} are allowed",
            count=str(len(requests)),
            limit=str(MAX_TABLES),
        )
    seen: set[tuple[str, str]] = set()
    updates = []
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
        updates.append(TabularUpdate(ident, Payload(document), request))
    return updates


def ident_of(identifier: Identifier) -> TabularIdent:
    """The path that an identifier names.

    Raises:
        Refusal: NAMESPACE_PART_EMPTY and the other reasons of `NamespaceIdent.of`.
    """
    return TabularIdent(NamespaceIdent.of(tuple(identifier.namespace)), identifier.name)
