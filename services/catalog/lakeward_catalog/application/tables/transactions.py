"""Commits to one table and to several, once per idempotency key, and what they reply."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward_catalog.application.access import open_tabular
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.ports import Clock, TabularStore, WarehouseStore
from lakeward_catalog.application.replaying import may_still_use
from lakeward_catalog.application.tables.changes import TableChange, changes_of, read_change
from lakeward_catalog.application.tables.committing import TableCommits
from lakeward_catalog.application.tables.loaded import Loaded
from lakeward_catalog.application.tables.replies import check_same, committed_reply
from lakeward_catalog.application.tables.unstaged import UnstagedCreation, creates
from lakeward_catalog.domain.model import Kind, Tabular, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.errors import Reason, Refusal


async def commit_table(
    warehouse_id: WarehouseId,
    path: TabularIdent,
    document: Payload,
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

    `path` is what the change came by: the table, or a branch of it.

    Raises:
        Refusal: as `TableCommits`, and as `UnstagedCreation`; IDEMPOTENCY_KEY_REUSED, REQUEST_IN_PROGRESS.
    """
    change = TableChange(path, document)

    async def committed(keeper: Keeper) -> Tabular:
        try:
            (tabular,) = await commits(warehouse_id, [change], caller=caller, keeper=keeper)
        except Refusal as refusal:
            if refusal.reason != Reason.REASON_NO_SUCH_TABLE:
                raise
            # Who gets here may use the warehouse. Whether they mean to create the table, only the document says.
            wanted = await read_change(change)
            if not creates(wanted):
                raise
            return await unstaged(warehouse_id, wanted, caller=caller, keeper=keeper)
        return tabular

    async def do(keeper: Keeper) -> Loaded:
        tabular = await committed(keeper)
        try:
            return await committed_reply(tabular, documents=documents, clock=clock, deflated=deflated)
        except (Refusal, LookupError) as failure:
            # It did happen, so nothing that keeps its reply from being made may read as if it had not.
            shown = str(tabular.ident)
            raise Refusal(
                Reason.REASON_COMMIT_STATE_UNKNOWN,
                f"the commit to {shown} was made, but what it led to can't be shown now; load the table",
                object=shown,
            ) from failure

    async def again(done: Mapping[str, str]) -> Loaded:
        ident = (await read_change(change)).ident
        opened = await open_tabular(
            warehouse_id,
            ident,
            Kind.TABLE,
            Action.TABLE_COMMIT,
            caller=caller,
            authorizer=authorizer,
            tabulars=tabulars,
        )
        check_same(opened.tabular, ident, made=done["incarnation"])
        return await committed_reply(opened.tabular, documents=documents, clock=clock, deflated=deflated)

    parameters: dict[str, object] = {"namespace": path.namespace.parts, "name": path.name}
    keyed = Keyed(of_warehouse(warehouse_id), "commit-table", parameters, document)
    return await once(keyed, caller=caller, do=do, again=again)


async def commit_transaction(
    warehouse_id: WarehouseId,
    document: Payload,
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
        if changes := await changes_of(document):
            await commits(warehouse_id, changes, caller=caller, keeper=keeper)

    async def again(_: Mapping[str, str]) -> None:
        await may_still_use(warehouse_id, caller=caller, authorizer=authorizer, warehouses=warehouses)

    keyed = Keyed(of_warehouse(warehouse_id), "commit-transaction", {}, document)
    await once(keyed, caller=caller, do=do, again=again)
