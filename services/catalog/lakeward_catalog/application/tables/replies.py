"""What a change of a table replies: the table as it is now, for who made the change."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.access import open_tabular
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import LIVE_OR_STAGED
from lakeward_catalog.application.ports import Clock, TabularStore
from lakeward_catalog.application.ports_access import ClientAccess
from lakeward_catalog.application.tables import etags
from lakeward_catalog.application.tables.loaded import Given, Loaded, give_access, level_of
from lakeward_catalog.application.tables.loading import metadata_of
from lakeward_catalog.application.tables.signer_scopes import SignerScopes
from lakeward_catalog.domain.model import Kind, State, Tabular, Warehouse, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.wording import no_such_tabular
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer


@dataclasses.dataclass(frozen=True, slots=True)
class Created:
    """A tabular that was made, the warehouse that it is in, and the access to its files that its maker is given."""

    warehouse: Warehouse
    tabular: Tabular
    given: Given


async def created_reply(
    created: Created,
    *,
    caller: Caller,
    documents: Documents,
    clock: Clock,
    deflated: bool,
) -> Loaded:
    """A table that was made, with access to its files; a staged one has neither file nor tag yet."""
    tabular, given = created.tabular, created.given
    metadata = await metadata_of(tabular, documents, references=False, deflated=deflated)
    if tabular.state is State.STAGED:
        return Loaded("", None, metadata, given.config, given.credentials)
    shape = etags.with_access(
        tabular,
        created.warehouse,
        given.level,
        delegation=caller.delegation,
        base_uri=caller.base_uri,
        references=False,
    )
    etag = etags.tag(shape, expires_at=given.expires_at, now=clock.now())
    return Loaded(etag, tabular.metadata_location, metadata, given.config, given.credentials)


async def current_reply(
    warehouse_id: WarehouseId,
    ident: TabularIdent,
    *,
    caller: Caller,
    authorizer: Authorizer,
    tabulars: TabularStore,
    documents: Documents,
    access: ClientAccess,
    scopes: SignerScopes,
    clock: Clock,
    deflated: bool,
    made: str,
) -> Loaded:
    """What a repetition of a create or register is answered with: the table as it is now, decided and vended anew.

    `made` is the incarnation that was made; another table that has taken the name since is not the answer.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE, FORBIDDEN; what `ClientAccess.vend` raises.
    """
    opened = await open_tabular(
        warehouse_id,
        ident,
        Kind.TABLE,
        Action.TABLE_GET_METADATA,
        caller=caller,
        authorizer=authorizer,
        tabulars=tabulars,
        asked=(Action.TABLE_READ_DATA, Action.TABLE_WRITE_DATA),
        states=LIVE_OR_STAGED,
    )
    check_same(opened.tabular, ident, made=made)
    level = level_of(opened.allowed)
    if level is None:
        return await committed_reply(opened.tabular, documents=documents, clock=clock, deflated=deflated)
    given = await give_access(opened.warehouse, opened.tabular, level, caller=caller, access=access, scopes=scopes)
    return await created_reply(
        Created(opened.warehouse, opened.tabular, given),
        caller=caller,
        documents=documents,
        clock=clock,
        deflated=deflated,
    )


def check_same(tabular: Tabular, ident: TabularIdent, *, made: str) -> None:
    """Whether a tabular is the one that a key's request made or changed.

    Raises:
        Refusal: NO_SUCH_TABLE, where another has taken its name since.
    """
    if str(tabular.incarnation) != made:
        raise no_such_tabular(Kind.TABLE, ident)


async def committed_reply(tabular: Tabular, *, documents: Documents, clock: Clock, deflated: bool) -> Loaded:
    """A table after a commit, without access to its files: the committer has that."""
    metadata = await metadata_of(tabular, documents, references=False, deflated=deflated)
    shape = etags.without_access(tabular, references=False)
    return Loaded(etags.tag(shape, expires_at=None, now=clock.now()), tabular.metadata_location, metadata)
