"""Loading a table: one point read, one question, and the stored body as it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.opened import LIVE_OR_STAGED
from lakeward_catalog.application.ports.access import Access, ClientAccess
from lakeward_catalog.application.tables import etags
from lakeward_catalog.application.tables.giving import credentials_of, is_client_managed, level_of
from lakeward_catalog.application.tables.kind import Tables
from lakeward_catalog.application.tabulars.chains import ViewChains
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.application.tabulars.loaded import Credential, Loaded
from lakeward_catalog.application.tabulars.reading import ATTEMPTS, never_settled
from lakeward_catalog.domain.model import Kind, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_servicekit.authorization.actions import Action

_DATA = DEMANDS[Kind.TABLE].data


class LoadTable(msgspec.Struct, frozen=True):
    """Load a table.

    Attributes:
        references: only snapshots that a branch or tag points to.
        if_none_match: tags that the caller has.
        through: the views through which it is read, outermost first.
        deflated: the caller takes compressed metadata.
    """

    warehouse_id: WarehouseId
    ident: TabularIdent
    references: bool = False
    if_none_match: Sequence[str] = ()
    deflated: bool = False
    through: Sequence[TabularIdent] = ()


class NotModified(msgspec.Struct, frozen=True):
    """What the caller has still holds."""

    etag: str


@dataclasses.dataclass(frozen=True, slots=True)
class TableLoads:
    """Loads tables."""

    tables: Tables
    chains: ViewChains

    async def __call__(self, command: LoadTable, *, caller: Caller) -> Loaded | NotModified:
        """The table as the last acknowledged commit left it.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE; what `ClientAccess.vend` raises; read through views, what `ViewChains`
                raises.
        """
        tables, clock = self.tables, self.tables.clock
        door = self.chains.door(command.through, caller) if command.through else tables.doors.tabular
        for _ in range(ATTEMPTS):
            opened = await door(
                command.warehouse_id,
                command.ident,
                Kind.TABLE,
                Action.TABLE_GET_METADATA,
                caller=caller,
                asked=_DATA,
            )
            tabular, level = opened.tabular, level_of(opened.allowed)
            shape = etags.shape_of(opened, level, caller, references=command.references)
            if command.if_none_match:
                presented = _that_count(
                    command.if_none_match, expiring=level is not None and not is_client_managed(caller.delegation)
                )
                held = etags.matching(presented, shape, now=clock.now())
                if held is not None:
                    return NotModified(held)
            try:
                metadata = await tables.text(tabular, references=command.references, deflated=command.deflated)
            except LookupError:
                continue  # a commit has replaced the body since the row was read
            if level is None:
                etag = etags.tag(shape, expires_at=None, now=clock.now())
                return Loaded(etag, tabular.metadata_location, metadata)
            given = await tables.give_access(opened, level, caller=caller)
            etag = etags.tag(shape, expires_at=given.expires_at, now=clock.now())
            return Loaded(etag, tabular.metadata_location, metadata, given.config, given.credentials)
        raise never_settled(Kind.TABLE, command.ident)


@dataclasses.dataclass(frozen=True, slots=True)
class LoadCredentials:
    """Fetch access to a table's files alone.

    Attributes:
        through: the views through which it is read, outermost first.
        min_validity: how long credentials should last at least, as far as the warehouse's do at all.
    """

    warehouse_id: WarehouseId
    ident: TabularIdent
    through: Sequence[TabularIdent] = ()
    min_validity: timedelta = timedelta(0)


@dataclasses.dataclass(frozen=True, slots=True)
class CredentialLoads:
    """Gives access to tables' files alone; staged tables have it too."""

    chains: ViewChains
    access: ClientAccess

    async def __call__(self, command: LoadCredentials, *, caller: Caller) -> tuple[Credential, ...]:
        """The credentials; none where the warehouse vends none.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE, FORBIDDEN; what `ClientAccess.vend` raises; read through views, what
                `ViewChains` raises.
        """
        if is_client_managed(caller.delegation):
            caller = msgspec.structs.replace(caller, delegation=frozenset())  # who asks for credentials wants some
        opened = await self.chains.door(command.through, caller)(
            command.warehouse_id,
            command.ident,
            Kind.TABLE,
            Action.TABLE_READ_DATA,
            caller=caller,
            asked=(Action.TABLE_WRITE_DATA,),
            states=LIVE_OR_STAGED,
        )
        level = Access.READ_WRITE_DELETE if opened.allowed else Access.READ
        vended = await self.access.vend(
            opened.warehouse,
            opened.tabular,
            level,
            delegation=caller.delegation,
            principal=opened.reader(caller).key,
        )
        return credentials_of(vended, opened, base_uri=caller.base_uri)


def _that_count(presented: Sequence[str], *, expiring: bool) -> Sequence[str]:
    """Without `*` where the reply may hold a credential or scope: it says nothing of how old the caller's is."""
    return [candidate for candidate in presented if candidate != etags.ANY] if expiring else presented
