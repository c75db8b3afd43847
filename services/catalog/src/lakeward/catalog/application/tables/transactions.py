"""What callers send as commits: parsed once, held against the path that it came by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lakeward.catalog.application.access import open_tabular
from lakeward.catalog.application.caller import Caller
from lakeward.catalog.application.documents import Documents
from lakeward.catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward.catalog.application.ports import Clock, TabularStore, WarehouseStore
from lakeward.catalog.application.replaying import may_still_use
from lakeward.catalog.application.tables.committing import TableChange, TableCommits
from lakeward.catalog.application.tables.loaded import Loaded
from lakeward.catalog.application.tables.replies import check_same, committed_reply
from lakeward.catalog.application.tables.unstaged import UnstagedCreation, creates
from lakeward.catalog.domain.iceberg.requests import CommitRequest, Identifier
from lakeward.catalog.domain.model import Kind, Tabular, WarehouseId
from lakeward.catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward.servicekit.authorization.actions import Action
from lakeward.servicekit.authorization.authorizer import Authorizer
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


async def commit_table(
    warehouse_id: WarehouseId,
    change: TableChange,
    *,
    deflated: bool,
    caller: Caller,
    once: Once,
    commits: TableCommits,
    unstaged: UnstagedCreation,
    authorizer: Authorizer,
    tabulars: TabularStore,
    documents: Documents,
    clock: Clock,
) -> Loaded:
    """Change one table; where there is none and the commit says so, the commit makes it.

    Raises:
        Refusal: as `TableCommits`, and as `UnstagedCreation`; IDEMPOTENCY_KEY_REUSED, REQUEST_IN_PROGRESS.
    """

    async def committed(keeper: Keeper) -> Tabular:
        try:
            (tabular,) = await commits(warehouse_id, [change], caller=caller, keeper=keeper)
        except Refusal as refusal:
            if refusal.reason != Reason.REASON_NO_SUCH_TABLE or not creates(change.request):
                raise
            return await unstaged(warehouse_id, change, caller=caller, keeper=keeper)
        return tabular

    async def do(keeper: Keeper) -> Loaded:
        tabular = await committed(keeper)
        try:
            return await committed_reply(tabular, documents=documents, clock=clock, deflated=deflated)
        except (Refusal, LookupError) as failure:
            # It did happen, so nothing that keeps its reply from being made may read as if it had not.
            shown = str(change.ident)
            raise Refusal(
                Reason.REASON_COMMIT_STATE_UNKNOWN,
                f"the commit to {shown} was made, but what it led to can't be shown now; load the table",
                object=shown,
            ) from failure

    async def again(done: Mapping[str, str]) -> Loaded:
        opened = await open_tabular(
            warehouse_id,
            change.ident,
            Kind.TABLE,
            Action.TABLE_COMMIT,
            caller=caller,
            authorizer=authorizer,
            tabulars=tabulars,
        )
        check_same(opened.tabular, change.ident, made=done["incarnation"])
        return await committed_reply(opened.tabular, documents=documents, clock=clock, deflated=deflated)

    parameters: dict[str, object] = {"namespace": change.ident.namespace.parts, "name": change.ident.name}
    keyed = Keyed(of_warehouse(warehouse_id), "commit-table", parameters, change.document)
    return await once(keyed, caller=caller, do=do, again=again)


async def commit_transaction(
    warehouse_id: WarehouseId,
    changes: Sequence[TableChange],
    document: bytes,
    *,
    caller: Caller,
    once: Once,
    commits: TableCommits,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
) -> None:
    """Change several tables, all or none; no table at all succeeds.

    Raises:
        Refusal: as `commit_table`.
    """

    async def do(keeper: Keeper) -> None:
        await may_still_use(warehouse_id, caller=caller, authorizer=authorizer, warehouses=warehouses)
        if changes:
            await commits(warehouse_id, changes, caller=caller, keeper=keeper)

    async def again(_: Mapping[str, str]) -> None:
        await may_still_use(warehouse_id, caller=caller, authorizer=authorizer, warehouses=warehouses)

    keyed = Keyed(of_warehouse(warehouse_id), "commit-transaction", {}, document)
    await once(keyed, caller=caller, do=do, again=again)
