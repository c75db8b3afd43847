"""Signer scopes: what a load found out about a table, signed, so that signing for its files need not find it out again.

A scope is knowledge and no right: who presents it is asked for each signature, and authz decides. Whatever is wrong with one,
the table is looked up, as for a client that has none.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Protocol

from lakeward_catalog.application.ports.access import Access
from lakeward_catalog.application.refs import warehouse_ref
from lakeward_catalog.domain.model import Incarnation, Kind, NamespaceId, Tabular, TabularId, Warehouse, WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import UserId


@dataclasses.dataclass(frozen=True, slots=True)
class SignerScope:
    """A table's files, as a load of it found them. A `Folder`.

    Attributes:
        warehouse_version: the row version of the warehouse, whose storage the client was told of.
        tabular_id: by which the signer's address names the table.
        namespace_id: of the table, when it was loaded. A table that is moved keeps its scopes: authz knows its parents itself.
        location: without a trailing slash.
        level: how far the principal's access went.
        principal: the key of who loaded it; nobody else can use the scope.
        owner: as whom it was read through views; None: its reader is the principal.
        kind: a table, or a generic table.
    """

    warehouse_id: WarehouseId
    warehouse_version: int
    tabular_id: TabularId
    incarnation: Incarnation
    namespace_id: NamespaceId
    location: str
    level: Access
    principal: str
    owner: UserId | None = None
    kind: Kind = Kind.TABLE

    @classmethod
    def of(
        cls, warehouse: Warehouse, tabular: Tabular, level: Access, *, principal: str, owner: UserId | None = None
    ) -> SignerScope:
        """The scope of a table that was just read."""
        return cls(
            warehouse_id=warehouse.warehouse_id,
            warehouse_version=warehouse.row_version,
            tabular_id=tabular.tabular_id,
            incarnation=tabular.incarnation,
            namespace_id=tabular.namespace_id,
            location=tabular.location,
            level=level,
            principal=principal,
            owner=owner,
            kind=tabular.kind,
        )

    def covers(self, level: Access) -> bool:
        """Whether the principal's access went as far."""
        return level in {Access.READ, self.level}

    def demands(self, warehouse: Warehouse, action: Action) -> tuple[Demand, Demand]:
        """What has to be allowed now for an action on the table: the same as of one that was looked up."""
        make = ObjectRef.table if self.kind is Kind.TABLE else ObjectRef.generic_table
        table = make(warehouse.project_id, warehouse.warehouse_id, self.incarnation, namespace_id=self.namespace_id)
        return Demand(warehouse_ref(warehouse), Action.WAREHOUSE_USE), Demand(table, action)


@dataclasses.dataclass(frozen=True, slots=True)
class Minted:
    """A scope in a form that clients carry.

    Attributes:
        text: of letters, digits, "-" and "_"; a secret in so far as it saves its holder a look, and so never logged.
        expires_at: when it stops being read.
    """

    text: str = dataclasses.field(repr=False)
    expires_at: datetime


class SignerScopes(Protocol):
    """Scopes, in texts that only this deployment's catalog can write."""

    def mint(self, scope: SignerScope) -> Minted:
        """A text that is read for half an hour at least and an hour at most."""
        ...

    def read(
        self, text: str, *, warehouse_id: WarehouseId, tabular_id: TabularId, principal: str
    ) -> SignerScope | None:
        """The scope that was minted for this table and principal; None where the text is not one, or is no longer.

        Forged, malformed, expired, another table's, another's, signed with a key that is not known: all of it is None.
        """
        ...
