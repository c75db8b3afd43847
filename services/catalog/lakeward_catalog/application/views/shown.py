"""What a reply about a view holds, and a view's metadata as a stored body."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import OpenedTabular
from lakeward_catalog.application.ports_access import ClientAccess, Level
from lakeward_catalog.application.tables.loaded import Loaded
from lakeward_catalog.domain.bodies import Body, BodyPart
from lakeward_catalog.domain.model import Tabular, Warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.deflated import deflate


def body_of(text: bytes) -> Body:
    """A view's document is small and has no snapshots: one part, in both forms."""
    parts = (BodyPart(None, deflate(text)),)
    return Body(parts, parts)


async def show_stored(opened: OpenedTabular, *, caller: Caller, documents: Documents, access: ClientAccess) -> Loaded:
    """A reply about the view that was opened with VIEW_SELECT asked for.

    Raises:
        Refusal: what `ClientAccess.vend` raises.
        LookupError: a later commit has replaced the document.
    """
    tabular = opened.tabular
    text = await documents.plain(tabular.warehouse_id, tabular.metadata_id, references=False)
    return await show(
        opened.warehouse, tabular, text, may_read=Action.VIEW_SELECT in opened.allowed, caller=caller, access=access
    )


async def show(
    warehouse: Warehouse, tabular: Tabular, text: bytes, *, may_read: bool, caller: Caller, access: ClientAccess
) -> Loaded:
    """A reply about a view: its document, and for who may read through it, read access to its location.

    The credential is among the client properties alone; views have no `storage-credentials`, and no tag.

    Raises:
        Refusal: what `ClientAccess.vend` raises.
    """
    config: Mapping[str, str] | None = None
    if may_read:
        vended = await access.vend(
            warehouse, tabular, Level.READ, delegation=caller.delegation, principal=caller.principal.key
        )
        config = vended.config
    return Loaded("", tabular.metadata_location, text, config)
