"""Loading a view."""

from __future__ import annotations

from typing import Final

from lakeward_catalog.application.access import open_tabular
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.ports import TabularStore
from lakeward_catalog.application.ports_access import ClientAccess
from lakeward_catalog.application.tables.loaded import Loaded
from lakeward_catalog.application.views.shown import show_stored
from lakeward_catalog.domain.model import Incarnation, Kind, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.wording import no_such_tabular
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.errors import Reason, Refusal

_ATTEMPTS: Final = 5


async def load_view(
    warehouse_id: WarehouseId,
    ident: TabularIdent,
    *,
    caller: Caller,
    authorizer: Authorizer,
    tabulars: TabularStore,
    documents: Documents,
    access: ClientAccess,
    incarnation: Incarnation | None = None,
) -> Loaded:
    """The view as the last acknowledged commit left it; with `incarnation`, another of the same name is absent.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_VIEW, FORBIDDEN; what `ClientAccess.vend` raises.
    """
    for _ in range(_ATTEMPTS):
        opened = await open_tabular(
            warehouse_id,
            ident,
            Kind.VIEW,
            Action.VIEW_GET_METADATA,
            caller=caller,
            authorizer=authorizer,
            tabulars=tabulars,
            asked=(Action.VIEW_SELECT,),
        )
        if incarnation is not None and opened.tabular.incarnation != incarnation:
            raise no_such_tabular(Kind.VIEW, ident)
        try:
            return await show_stored(opened, caller=caller, documents=documents, access=access)
        except LookupError:
            continue  # a commit has replaced the document since the row was read
    raise Refusal(
        Reason.REASON_CONCURRENT_CHANGE,
        f"view {ident} was committed to each time it was read; retry after a pause",
        object=str(ident),
    )
