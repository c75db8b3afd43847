"""Replacing a view: a commit, once per idempotency key, and a reply about the view after it."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.ports import TabularStore
from lakeward_catalog.application.ports_access import ClientAccess
from lakeward_catalog.application.tables.loaded import Loaded
from lakeward_catalog.application.views.committing import ViewChange, ViewCommits
from lakeward_catalog.application.views.loading import load_view
from lakeward_catalog.application.views.shown import show
from lakeward_catalog.domain.model import Incarnation
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer


async def replace_view(
    change: ViewChange,
    *,
    caller: Caller,
    authorizer: Authorizer,
    tabulars: TabularStore,
    commits: ViewCommits,
    documents: Documents,
    access: ClientAccess,
    once: Once,
) -> Loaded:
    """Change a view if its requirements hold. VIEW_COMMIT is demanded by `commits`, anew for each attempt.

    Raises:
        Refusal: what `ViewCommits` and `ClientAccess.vend` raise.
    """

    async def replace(keeper: Keeper) -> Loaded:
        committed = await commits(change, caller=caller, keeper=keeper)
        opened = committed.opened
        return await show(
            opened.warehouse,
            opened.tabular,
            committed.text,
            may_read=Action.VIEW_SELECT in opened.allowed,
            caller=caller,
            access=access,
        )

    async def again(kept: Mapping[str, str]) -> Loaded:
        return await load_view(
            change.warehouse_id,
            change.ident,
            caller=caller,
            authorizer=authorizer,
            tabulars=tabulars,
            documents=documents,
            access=access,
            incarnation=Incarnation(UUID(kept["incarnation"])),
        )

    keyed = Keyed(
        of_warehouse(change.warehouse_id),
        "commit-view",
        {"namespace": change.ident.namespace.parts, "name": change.ident.name},
        change.document,
    )
    return await once(keyed, caller=caller, do=replace, again=again)
