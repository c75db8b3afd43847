"""Bodies of the management API, in its spelling."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from google.protobuf import timestamp_pb2

from lakeward_gateway.dialects.management.storage_documents import Credential, Profile
from lakeward_protocol.catalog.v1 import warehouses_pb2

# Ten years: longer than anybody waits, and far from where date arithmetic ends.
LONGEST_RETENTION_SECONDS: Final = 315_360_000


# One that is no version is refused by the catalog, which knows them.
FormatVersion = Annotated[int, msgspec.Meta(ge=1, le=255)]


class HardDelete(msgspec.Struct, frozen=True, tag_field="type", tag="hard"):
    """Drops are final."""


class SoftDelete(msgspec.Struct, frozen=True, tag_field="type", tag="soft", rename="kebab"):
    """What is dropped can be restored for a while; left out: for as long as the server's settings say."""

    expiration_seconds: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_RETENTION_SECONDS)] | None = None


class ServerInfo(msgspec.Struct, frozen=True, rename="kebab"):
    """What this server is."""

    version: str
    lakekeeper_version: str
    bootstrapped: bool
    server_id: str
    default_project_id: str | None
    authz_backend: str
    aws_system_identities_enabled: bool
    azure_system_identities_enabled: bool
    gcp_system_identities_enabled: bool
    queues: list[str]
    license_status: LicenseStatus


class LicenseStatus(msgspec.Struct, frozen=True, rename="kebab"):
    """Under which licence this server runs."""

    license_type: str = "Apache-2.0"
    valid: bool = True
    audience: str | None = "lakeward"
    customer: str | None = None
    error: str | None = None
    expiration: str | None = None
    issuer: str | None = None
    license_id: str | None = None


class BootstrapRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Opens the server for use. The caller's name, e-mail and type are its token's; what is said of them here is not heeded."""

    accept_terms_of_use: bool
    is_operator: bool = False
    user_name: str | None = None
    user_email: str | None = None
    user_type: Literal["human", "application"] | None = None


class GetProjectResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """A project."""

    project_id: str
    project_name: str


class ListProjectsResponse(msgspec.Struct, frozen=True):
    """Projects."""

    projects: list[GetProjectResponse]


class CreateProjectRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """A new project; an id that is left out is made."""

    project_name: str
    project_id: str | None = None


class CreateProjectResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Which project was made."""

    project_id: str


class RenameProjectRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Another name."""

    new_name: str


class CreateWarehouseRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """A new warehouse."""

    warehouse_name: str
    storage_profile: Profile
    storage_credential: Credential = msgspec.field(default_factory=msgspec.Raw)
    project_id: str | None = None
    delete_profile: HardDelete | SoftDelete | None = None
    allowed_format_versions: list[Annotated[int, msgspec.Meta(ge=0, le=255)]] | None = None
    default_format_version: Annotated[int, msgspec.Meta(ge=1, le=255)] | None = None
    managed_by: Literal["self-managed", "instance-admin"] | None = None


class RenameWarehouseRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Another name."""

    new_name: str


class UpdateWarehouseDeleteProfileRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """What becomes of what is dropped from now on."""

    delete_profile: HardDelete | SoftDelete


class UpdateWarehouseFormatVersionPolicyRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Which format versions tables may be made with and upgraded to."""

    allowed_format_versions: list[FormatVersion]
    default_format_version: FormatVersion | None = None


class SetWarehouseManagedByRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Who may change what a warehouse is."""

    managed_by: Literal["self-managed", "instance-admin"]


class UpdateWarehouseStorageRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Another storage profile. To go on without a credential, say `null`: one that is left out is not read as that."""

    storage_profile: Profile
    storage_credential: Credential = msgspec.field(default_factory=msgspec.Raw)


class UpdateWarehouseCredentialRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Another credential; none removes it."""

    new_storage_credential: Credential = msgspec.field(default_factory=msgspec.Raw)


class SetProtectionRequest(msgspec.Struct, frozen=True):
    """Whether something is to be protected."""

    protected: bool


class ProtectionResponse(msgspec.Struct, frozen=True):
    """Whether something is protected, and when it last changed; null: never, or nobody keeps it."""

    protected: bool
    updated_at: str | None


class CredentialKind(msgspec.Struct, frozen=True, rename="kebab"):
    """Of which kind a warehouse's credential is."""

    type: str
    credential_type: str


class GetWarehouseResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """A warehouse."""

    id: str
    warehouse_id: str
    name: str
    project_id: str
    storage_profile: Profile
    storage_credential_type: CredentialKind | None
    delete_profile: HardDelete | SoftDelete
    status: Literal["active", "inactive"]
    protected: bool
    allowed_format_versions: list[int]
    default_format_version: int | None
    managed_by: Literal["self-managed", "instance-admin"]
    updated_at: str | None


class ListWarehousesResponse(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """A project's warehouses; all of them, unless a page was asked for."""

    warehouses: list[GetWarehouseResponse]
    next_page_token: str | None = None


TabularType: TypeAlias = Literal["table", "view", "generic-table"]


class DeletedTabularResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """A table or view that was dropped and can be restored."""

    id: str
    name: str
    namespace: list[str]
    typ: TabularType
    warehouse_id: str
    created_at: str
    deleted_at: str
    expiration_date: str


class ListDeletedTabularsResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """A page of what was dropped."""

    tabulars: list[DeletedTabularResponse]
    next_page_token: str | None = None


class TabularIdent(msgspec.Struct, frozen=True):
    """A table or view by its id."""

    type: TabularType
    id: str


class SearchTabularRequest(msgspec.Struct, frozen=True):
    """What is looked for; the first 64 characters count."""

    search: str


class SearchTabular(msgspec.Struct, frozen=True, rename="kebab"):
    """A table or view that matches; the nearer, the smaller its distance, which is null where an id was looked for."""

    namespace_name: list[str]
    tabular_name: str
    tabular_id: TabularIdent
    distance: float | None


class SearchTabularResponse(msgspec.Struct, frozen=True):
    """The best matches, at most ten, the nearest first."""

    tabulars: list[SearchTabular]


class WarehouseStatistics(msgspec.Struct, frozen=True, rename="kebab"):
    """How much a warehouse had in an hour; `timestamp` is when that ends, or ended."""

    timestamp: str
    number_of_tables: int
    number_of_views: int
    number_of_generic_tables: int
    updated_at: str


class WarehouseStatisticsResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """How much a warehouse has now, and behind that had at the end of each earlier hour that changed it."""

    warehouse_ident: str
    stats: list[WarehouseStatistics]
    next_page_token: str | None = None


class UndropTabularsRequest(msgspec.Struct, frozen=True):
    """What to restore, all or nothing."""

    targets: list[TabularIdent]


class ErrorModel(msgspec.Struct, frozen=True, omit_defaults=True):
    """What went wrong in a check, as it would have been refused; a stack is left out where there is none."""

    message: str
    type: str
    code: int
    stack: list[str] = []


class ValidationCheck(msgspec.Struct, frozen=True, rename="kebab"):
    """One check; `reason` is of skipped ones, `error` of failed ones."""

    name: str
    status: Literal["passed", "failed", "skipped"]
    duration_ms: int | None = None
    error: ErrorModel | None = None
    reason: str | None = None


class ValidateWarehouseResponse(msgspec.Struct, frozen=True):
    """What came of checks, in the order in which they ran; valid where none failed."""

    valid: bool
    checks: list[ValidationCheck]


def warehouse_document(warehouse: warehouses_pb2.Warehouse) -> GetWarehouseResponse:
    """A warehouse as the public API shows it."""
    kind, _, credential_type = warehouse.credential_kind.partition(":")
    profile = warehouse.delete_profile
    active = warehouse.status == warehouses_pb2.WAREHOUSE_STATUS_ACTIVE
    return GetWarehouseResponse(
        id=warehouse.warehouse_id,
        warehouse_id=warehouse.warehouse_id,
        name=warehouse.name,
        project_id=warehouse.project_id,
        storage_profile=msgspec.Raw(warehouse.storage_profile or b"{}"),
        storage_credential_type=CredentialKind(kind, credential_type) if kind else None,
        delete_profile=SoftDelete(profile.restorable_for.seconds)
        if profile.HasField("restorable_for")
        else HardDelete(),
        status="active" if active else "inactive",
        protected=warehouse.protected,
        allowed_format_versions=list(warehouse.allowed_format_versions),
        default_format_version=warehouse.default_format_version or None,
        managed_by="instance-admin"
        if warehouse.managed_by == warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN
        else "self-managed",
        updated_at=time_text(warehouse.updated_at) if warehouse.HasField("updated_at") else None,
    )


def warehouse_protection(warehouse: warehouses_pb2.Warehouse) -> ProtectionResponse:
    """Whether a warehouse is protected."""
    changed = time_text(warehouse.updated_at) if warehouse.HasField("updated_at") else None
    return ProtectionResponse(warehouse.protected, changed)


def time_text(timestamp: timestamp_pb2.Timestamp) -> str:
    """A time as the public API writes it: in UTC, to the microsecond."""
    moment = datetime.fromtimestamp(timestamp.seconds, UTC).replace(microsecond=timestamp.nanos // 1000)
    return moment.isoformat().replace("+00:00", "Z")
