"""Who fills each role of the catalog's use cases: the parts that `bootstrap` makes once and hands to all of them."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Once
from lakeward_catalog.application.ports import (
    BodyStore,
    ChangeGate,
    Clock,
    Files,
    Ids,
    NamespaceStore,
    Rules,
    ServerStore,
    TabularStore,
    WarehouseStore,
)
from lakeward_catalog.application.ports_access import ClientAccess
from lakeward_catalog.application.ports_storage import StorageJudge
from lakeward_catalog.application.tables.signer_scopes import SignerScopes
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.authorization.identity import Identity
from lakeward_servicekit.authorization.registrar import Registrar


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The roles, filled. Only `bootstrap` and the wiring of use cases see all of them together."""

    identity: Identity
    registrar: Registrar
    authorizer: Authorizer
    servers: ServerStore
    warehouses: WarehouseStore
    namespaces: NamespaceStore
    tabulars: TabularStore
    bodies: BodyStore
    changes: Changes
    documents: Documents
    files: Files
    access: ClientAccess
    scopes: SignerScopes
    storage: StorageJudge
    gate: ChangeGate
    once: Once
    announcer: Announcer
    clock: Clock
    ids: Ids
    rules: Rules

    @property
    def doors(self) -> Doors:
        """What opens objects for a caller."""
        return Doors(
            authorizer=self.authorizer,
            servers=self.servers,
            warehouses=self.warehouses,
            namespaces=self.namespaces,
            tabulars=self.tabulars,
            default_project=self.rules.default_project,
        )
