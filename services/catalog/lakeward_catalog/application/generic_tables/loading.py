"""Access to a generic table's files alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports.access import ClientAccess
from lakeward_catalog.application.tables.giving import credentials_of, is_client_managed, level_of
from lakeward_catalog.application.tables.loading import LoadCredentials
from lakeward_catalog.application.tabulars.chains import ViewChains
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.application.tabulars.loaded import Credential
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.wording import no_such_tabular

_DEMANDS: Final = DEMANDS[Kind.GENERIC_TABLE]


@dataclasses.dataclass(frozen=True, slots=True)
class GivenAlone:
    """Credentials; none where the warehouse vends none.

    Attributes:
        expires_at: when they end; None where there are none.
    """

    credentials: Sequence[Credential]
    expires_at: datetime | None


@dataclasses.dataclass(frozen=True, slots=True)
class GenericCredentialLoads:
    """Gives access to generic tables' files alone, as far as a load would."""

    chains: ViewChains
    access: ClientAccess

    async def __call__(self, command: LoadCredentials, *, caller: Caller) -> GivenAlone:
        """The credentials.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_GENERIC_TABLE, also for who sees it and may neither read nor write its files;
                what `ClientAccess.vend` raises; read through views, what `ViewChains` raises.
        """
        if is_client_managed(caller.delegation):
            caller = msgspec.structs.replace(caller, delegation=frozenset())  # who asks for credentials wants some
        opened = await self.chains.door(command.through, caller)(
            command.warehouse_id,
            command.ident,
            Kind.GENERIC_TABLE,
            _DEMANDS.see,
            caller=caller,
            asked=_DEMANDS.data,
        )
        level = level_of(opened.allowed)
        if level is None:
            raise no_such_tabular(Kind.GENERIC_TABLE, command.ident)
        vended = await self.access.vend(
            opened.warehouse,
            opened.tabular,
            level,
            delegation=caller.delegation,
            principal=opened.reader(caller).key,
            min_validity=command.min_validity,
        )
        credentials = credentials_of(vended, opened, base_uri=caller.base_uri)
        return GivenAlone(credentials, vended.expires_at if credentials else None)
