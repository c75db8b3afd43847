"""Loading a table: one point read, one question, and the stored body as it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import msgspec

from lakeward_catalog.application.access import open_tabular
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import LIVE_OR_STAGED, OpenedTabular
from lakeward_catalog.application.ports import Clock, TabularStore
from lakeward_catalog.application.ports_access import ClientAccess, Level
from lakeward_catalog.application.tables import etags
from lakeward_catalog.application.tables.loaded import (
    Credential,
    Loaded,
    NotModified,
    credentials_of,
    give_access,
    is_client_managed,
    level_of,
)
from lakeward_catalog.application.tables.signer_scopes import SignerScopes
from lakeward_catalog.domain.model import Kind, Tabular, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.deflated import Deflated
from lakeward_servicekit.errors import Reason, Refusal

_ATTEMPTS: Final = 5
_DATA: Final = (Action.TABLE_READ_DATA, Action.TABLE_WRITE_DATA)


@dataclasses.dataclass(frozen=True, slots=True)
class LoadTable:
    """Load a table.

    Attributes:
        references: only snapshots that a branch or tag points to.
        if_none_match: tags that the caller has.
        deflated: the caller takes compressed metadata.
    """

    warehouse_id: WarehouseId
    ident: TabularIdent
    references: bool = False
    if_none_match: Sequence[str] = ()
    deflated: bool = False


async def load_table(
    command: LoadTable,
    *,
    caller: Caller,
    authorizer: Authorizer,
    tabulars: TabularStore,
    documents: Documents,
    access: ClientAccess,
    scopes: SignerScopes,
    clock: Clock,
) -> Loaded | NotModified:
    """The table as the last acknowledged commit left it.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE; what `ClientAccess.vend` raises.
    """
    for _ in range(_ATTEMPTS):
        opened = await open_tabular(
            command.warehouse_id,
            command.ident,
            Kind.TABLE,
            Action.TABLE_GET_METADATA,
            caller=caller,
            authorizer=authorizer,
            tabulars=tabulars,
            asked=_DATA,
        )
        level = level_of(opened.allowed)
        shape = shape_of(opened, caller, level, references=command.references)
        if command.if_none_match:
            presented = _that_count(
                command.if_none_match, expiring=level is not None and not is_client_managed(caller.delegation)
            )
            held = etags.matching(presented, shape, now=clock.now())
            if held is not None:
                return NotModified(held)
        try:
            metadata = await metadata_of(
                opened.tabular, documents, references=command.references, deflated=command.deflated
            )
        except LookupError:
            continue  # a commit has replaced the body since the row was read
        if level is None:
            return Loaded(
                etags.tag(shape, expires_at=None, now=clock.now()), opened.tabular.metadata_location, metadata
            )
        given = await give_access(opened.warehouse, opened.tabular, level, caller=caller, access=access, scopes=scopes)
        etag = etags.tag(shape, expires_at=given.expires_at, now=clock.now())
        return Loaded(etag, opened.tabular.metadata_location, metadata, given.config, given.credentials)
    raise Refusal(
        Reason.REASON_CONCURRENT_CHANGE,
        f"table {command.ident} was committed to each time it was read; retry after a pause",
        object=str(command.ident),
    )


async def load_credentials(
    warehouse_id: WarehouseId,
    ident: TabularIdent,
    *,
    caller: Caller,
    authorizer: Authorizer,
    tabulars: TabularStore,
    access: ClientAccess,
) -> tuple[Credential, ...]:
    """Access to a table's files alone; a staged table has it too.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE, FORBIDDEN; what `ClientAccess.vend` raises.
    """
    if is_client_managed(caller.delegation):
        caller = msgspec.structs.replace(caller, delegation=frozenset())  # who asks for credentials wants some
    opened = await open_tabular(
        warehouse_id,
        ident,
        Kind.TABLE,
        Action.TABLE_READ_DATA,
        caller=caller,
        authorizer=authorizer,
        tabulars=tabulars,
        asked=(Action.TABLE_WRITE_DATA,),
        states=LIVE_OR_STAGED,
    )
    warehouse, tabular = opened.warehouse, opened.tabular
    level = Level.READ_WRITE_DELETE if opened.allowed else Level.READ
    vended = await access.vend(warehouse, tabular, level, delegation=caller.delegation, principal=caller.principal.key)
    return credentials_of(vended, warehouse, tabular, base_uri=caller.base_uri)


def shape_of(opened: OpenedTabular, caller: Caller, level: Level | None, *, references: bool) -> str:
    """What a reply depends on beside the life of credentials and scopes."""
    if level is None:
        return etags.without_access(opened.tabular, references=references)
    return etags.with_access(
        opened.tabular,
        opened.warehouse,
        level,
        delegation=caller.delegation,
        base_uri=caller.base_uri,
        references=references,
    )


async def metadata_of(tabular: Tabular, documents: Documents, *, references: bool, deflated: bool) -> Deflated | bytes:
    """A tabular's metadata in the form that the caller takes.

    Raises:
        LookupError: a later commit has replaced it.
    """
    read = documents.deflated if deflated else documents.plain
    return await read(tabular.warehouse_id, tabular.metadata_id, references=references)


def _that_count(presented: Sequence[str], *, expiring: bool) -> Sequence[str]:
    """Without `*` where the reply may hold a credential or scope: it says nothing of how old the caller's is."""
    return [candidate for candidate in presented if candidate != etags.ANY] if expiring else presented
