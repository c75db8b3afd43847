"""What the catalog keeps: warehouses, namespaces and tabulars, as frozen values read from rows.

A tabular has two ids. `tabular_id` is public, and may occur in two warehouses, because register takes it from a file.
`incarnation` is ours, made once and never reused: grants, tasks, permits and caches name it, so that dropping a table and
registering its files again revives nothing.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple, NewType
from uuid import UUID

from lakeward_catalog.domain.contracts.contract import Contract
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent

ProjectId = NewType("ProjectId", str)
WarehouseId = NewType("WarehouseId", UUID)
NamespaceId = NewType("NamespaceId", UUID)
TabularId = NewType("TabularId", UUID)
Incarnation = NewType("Incarnation", UUID)
MetadataId = NewType("MetadataId", UUID)

NIL_PROJECT: Final = ProjectId("00000000-0000-0000-0000-000000000000")


class Kind(enum.StrEnum):
    """What a tabular is."""

    TABLE = "table"
    VIEW = "view"
    GENERIC_TABLE = "generic_table"

    @property
    def noun(self) -> str:
        """As people say it: "generic table"."""
        return self.value.replace("_", " ")

    @property
    def slug(self) -> str:
        """As public documents have it: "generic-table"."""
        return self.value.replace("_", "-")


class TabularKey(NamedTuple):
    """A tabular by its kind and its public id."""

    kind: Kind
    tabular_id: TabularId


class ManagedBy(enum.StrEnum):
    """Who may change what a warehouse is: its name, storage, status, protection, what becomes of what is dropped, and its end.

    SELF: whoever has the right to. INSTANCE_ADMIN: administrators of the instance alone.
    """

    SELF = "self-managed"
    INSTANCE_ADMIN = "instance-admin"


class State(enum.StrEnum):
    """Where a tabular is in its life.

    STAGED: promised by a staged create; only its first commit, signing and credentials see it. LIVE: there.
    DROPPED: soft-deleted;
    its name is free, its location is not.
    """

    STAGED = "staged"
    LIVE = "live"
    DROPPED = "dropped"


@dataclasses.dataclass(frozen=True, slots=True)
class Project:
    """A project."""

    project_id: ProjectId
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """The installation.

    Attributes:
        server_id: what it is called; whoever installs may choose it, so another may have the same.
        installation_id: made with its database, and of no other: what places in stores are marked with.
        bootstrapped: whether it is open for use.
    """

    server_id: UUID
    installation_id: UUID
    bootstrapped: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Storage:
    """What a warehouse knows of its storage; no secret among it.

    Attributes:
        profile: JSON of the profile in its normal form.
        secret_id: vending's id of the credential; None without one.
        credential_kind: as "s3:access-key"; None without one.
        base_location: without a trailing slash.
        place: profiles with an equal place and nested bases overlap.
        layout: JSON of the storage layout.
        schemes: schemes in which locations may be written; the first is ours.
        client_defaults: for an Iceberg client's configuration.
        push_delete_disabled: clients are asked not to delete files where the warehouse soft-deletes.
        signs_remotely: requests can be signed.
        tells_case: the store was seen to tell places apart that differ by case alone; None: nobody tried.
    """

    profile: bytes
    secret_id: UUID | None
    credential_kind: str | None
    base_location: str
    place: str
    layout: bytes
    schemes: tuple[str, ...]
    client_defaults: Mapping[str, str]
    push_delete_disabled: bool
    signs_remotely: bool
    tells_case: bool | None = None

    @property
    def folds(self) -> bool:
        """Whether places that differ by case alone count as one: unless the store was seen to tell them apart."""
        return self.tells_case is not True


@dataclasses.dataclass(frozen=True, slots=True)
class Warehouse:
    """A warehouse, as one row version of it.

    Attributes:
        restorable_for: how long a dropped tabular can be restored; None: drops are final.
        row_version: grows with every change of the row; caches are keyed by it.
        contracts: asked before changes of what is in it.
    """

    warehouse_id: WarehouseId
    project_id: ProjectId
    name: str
    active: bool
    storage: Storage
    restorable_for: timedelta | None
    allowed_format_versions: tuple[int, ...]
    default_format_version: int
    protected: bool
    row_version: int
    created_at: datetime
    updated_at: datetime | None
    managed_by: ManagedBy = ManagedBy.SELF
    contracts: tuple[Contract, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace.

    Attributes:
        ident: with the stored casing of every part.
        properties: as set, without `location` and `namespace_id`.
        location: with a trailing slash; where tabulars go by default.
    """

    warehouse_id: WarehouseId
    namespace_id: NamespaceId
    parent_id: NamespaceId | None
    ident: NamespaceIdent
    properties: Mapping[str, str]
    location: str
    protected: bool
    row_version: int
    created_at: datetime


@dataclasses.dataclass(frozen=True, slots=True)
class Tabular:
    """A table, view or generic table; its metadata is in its body, by `metadata_id`.

    Attributes:
        ident: with the stored casing of every part.
        location: without a trailing slash.
        metadata_id: names one body, which never changes; each commit makes a new one.
        metadata_location: None while staged; always for a generic table, whose metadata is in no file.
        row_version: serves every optimistic change but commits, which compare `metadata_id`.
        expires_at: when a staged row is swept or a dropped one is finally deleted; None for live ones.
    """

    warehouse_id: WarehouseId
    incarnation: Incarnation
    tabular_id: TabularId
    kind: Kind
    state: State
    namespace_id: NamespaceId
    ident: TabularIdent
    location: str
    metadata_id: MetadataId
    metadata_location: str | None
    protected: bool
    row_version: int
    created_at: datetime
    expires_at: datetime | None
