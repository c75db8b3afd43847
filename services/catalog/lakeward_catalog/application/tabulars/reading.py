"""Reading a tabular as it is now: what a load of a view shows, and what a repeated create is answered with."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final, Generic

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.opened import LIVE, LIVE_OR_STAGED
from lakeward_catalog.application.tabulars.chains import ViewChains
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.application.tabulars.kinds import M, TabularKind
from lakeward_catalog.application.tabulars.loaded import Loaded
from lakeward_catalog.domain.model import Kind, Tabular, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.wording import no_such_tabular
from lakeward_servicekit.errors import Reason, Refusal

ATTEMPTS: Final = 5


@dataclasses.dataclass(frozen=True, slots=True)
class ReadTabular:
    """Read a table or view.

    Attributes:
        deflated: the caller takes compressed metadata.
        made: the incarnation that a request with the caller's key made or changed; another that has taken its name is absent.
        through: the views through which it is read, outermost first.
    """

    warehouse_id: WarehouseId
    ident: TabularIdent
    deflated: bool = False
    made: str | None = None
    through: Sequence[TabularIdent] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class TabularReads(Generic[M]):
    """Reads tabulars of one kind."""

    chains: ViewChains
    kind: TabularKind[M]

    async def __call__(self, command: ReadTabular, *, caller: Caller) -> Loaded:
        """It, as the last acknowledged commit left it; decided, and access to its files given, anew.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN; what `ClientAccess.vend` raises; read
                through views, what `ViewChains` raises.
        """
        kind = self.kind.kind
        demands = DEMANDS[kind]
        door = self.chains.door(command.through, caller)
        for _ in range(ATTEMPTS):
            opened = await door(
                command.warehouse_id,
                command.ident,
                kind,
                demands.see,
                caller=caller,
                asked=demands.data,
                states=LIVE if command.made is None else LIVE_OR_STAGED,
            )
            if command.made is not None:
                check_same(opened.tabular, command.ident, made=command.made)
            given = await self.kind.give(opened, caller=caller)
            try:
                return await self.kind.shown(opened, given, caller=caller, deflated=command.deflated)
            except LookupError:
                continue  # a commit has replaced the document since the row was read
        raise never_settled(kind, command.ident)


def check_same(tabular: Tabular, ident: TabularIdent, *, made: str) -> None:
    """Whether a tabular is the one that a key's request made or changed.

    Raises:
        Refusal: NO_SUCH_TABLE or NO_SUCH_VIEW, where another has taken its name since.
    """
    if str(tabular.incarnation) != made:
        raise no_such_tabular(tabular.kind, ident)


def never_settled(kind: Kind, ident: TabularIdent) -> Refusal:
    """The refusal to read what was committed to between its row and its document, each time."""
    return Refusal(
        Reason.REASON_CONCURRENT_CHANGE,
        f"{kind.noun} {ident} was committed to each time it was read; retry after a pause",
        object=str(ident),
    )
