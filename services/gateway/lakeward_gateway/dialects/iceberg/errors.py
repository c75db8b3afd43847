"""How Iceberg clients see each reason: the statuses and words that Spark, PyIceberg, Trino and DuckDB act on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lakeward_gateway.errors import Challenge, Renderer, Rendering, Renderings, Varying
from lakeward_servicekit.errors import Reason, ReasonValue

_SHOWN_KEY_MAX: Final = 64
_NAME_BYTES_MAX: Final = 128
_COMMIT_UNKNOWN: Final = "CommitStateUnknownException"

# The store, STS or the warehouse's own credential is the trouble. Not 412: clients read that as a precondition of their own.
_STORE_FAILED: Final = 424

# What the signer says where our own credential, not the request, is the trouble.
_SIGNER_OUT_OF_ORDER: Final = frozenset({"SignWithoutCredentials", "SigningIdentityError"})


def _forbidden(metadata: Mapping[str, str]) -> Rendering:
    kind = "".join(word.capitalize() for word in metadata["kind"].replace("_", "-").split("-"))
    return Rendering(403, f"{kind}ActionForbidden")


def _too_many(metadata: Mapping[str, str]) -> Rendering:
    return Rendering(400, "TooMany" + "".join(word.capitalize() for word in metadata["what"].split(" ")))


def _not_lowercase(metadata: Mapping[str, str]) -> Rendering:
    key = metadata["key"][:_SHOWN_KEY_MAX]
    return Rendering(400, f"{key[:1].upper()}{key[1:]}NotLowercase")


def _fixed_location(metadata: Mapping[str, str]) -> Rendering:
    removed = metadata["change"].startswith("remov")
    return Rendering(400, "LocationCannotBeRemoved" if removed else "LocationCannotBeUpdated")


def _immutable(metadata: Mapping[str, str]) -> Rendering:
    removed = metadata["change"] == "remove"
    return Rendering(400, "ImmutablePropertyRemoval" if removed else "ImmutablePropertyModification")


def _signing(metadata: Mapping[str, str]) -> Rendering:
    cause = metadata["cause"]
    return Rendering(_STORE_FAILED if cause in _SIGNER_OUT_OF_ORDER else 400, cause)


def _duplicate(metadata: Mapping[str, str]) -> Rendering:
    match metadata["header"]:
        case "idempotency-key":
            return Rendering(400, "DuplicateIdempotencyKey")
        case "authorization":
            # 400 as RFC 6750 has it: which of the two would be believed is not for the server to guess.
            return Rendering(400, "DuplicateHeader", challenge=Challenge.INVALID_REQUEST)
    return Rendering(400, "DuplicateHeader")


def _warehouse_name(metadata: Mapping[str, str]) -> Rendering:
    name = metadata["name"]
    if not name.strip():
        return Rendering(400, "EmptyWarehouseName")
    # a name that is too long comes cut to the limit
    fits = "/" in name or not name.isprintable() or len(name.encode()) < _NAME_BYTES_MAX
    return Rendering(400, "InvalidWarehouseName" if fits else "WarehouseNameTooLong")


def _project_name(metadata: Mapping[str, str]) -> Rendering:
    name = metadata["name"]
    if not name.strip():
        return Rendering(400, "EmptyProjectName")
    # a name that is too long comes cut to the limit
    fits = not name.isprintable() or len(name.encode()) < _NAME_BYTES_MAX
    return Rendering(400, "InvalidProjectName" if fits else "ProjectNameTooLong")


def _user(metadata: Mapping[str, str]) -> Rendering:
    field, problem = metadata["field"].capitalize(), metadata["problem"]
    if (field, problem) == ("Name", "empty"):
        return Rendering(400, "EmptyName")
    return Rendering(400, f"MissingUser{field}" if problem == "missing" else f"InvalidUser{field}")


def _role_name(metadata: Mapping[str, str]) -> Rendering:
    return Rendering(400, "InvalidRoleName" if metadata["name"].strip() else "EmptyRoleName")


def _format_policy(metadata: Mapping[str, str]) -> Rendering:
    return Rendering(400, "DefaultFormatVersionNotAllowed" if metadata["versions"] else "EmptyAllowedFormatVersions")


def _view_update(metadata: Mapping[str, str]) -> Rendering:
    words = {
        "add-schema": "AddSchemaError",
        "add-view-version": "AppendViewVersionError",
        "set-current-view-version": "SetCurrentViewVersionError",
    }
    return Rendering(400, words.get(metadata["action"], "InvalidViewUpdate"))


def _permissions(metadata: Mapping[str, str]) -> Rendering:
    return Rendering(400, metadata["cause"])


def _commit_unavailable(metadata: Mapping[str, str]) -> Rendering:
    # The catalog itself broke the call, perhaps after it had committed. Trouble further inside, it reports before it writes.
    if metadata["service"] == "catalog":
        return Rendering(502, _COMMIT_UNKNOWN)
    return Rendering(503, "ServiceUnavailableException")


_TABLE: Final[dict[ReasonValue, Rendering | Renderer]] = {
    # general
    Reason.REASON_INTERNAL: Rendering(500, "InternalServerError"),
    Reason.REASON_INVALID_FIELD: Rendering(400, "BadRequestException"),
    Reason.REASON_MALFORMED_DOCUMENT: Rendering(400, "BadRequestException"),
    Reason.REASON_TOO_LARGE: Rendering(413, "PayloadTooLarge"),
    Reason.REASON_DATABASE_UNAVAILABLE: Rendering(503, "CatalogBackendError", retry_after=1),
    Reason.REASON_SERVICE_UNAVAILABLE: Rendering(503, "ServiceUnavailableException"),
    Reason.REASON_OVERLOADED: Rendering(429, "TooManyRequestsException", retry_after=1),
    Reason.REASON_DEADLINE_EXCEEDED: Rendering(504, "RequestTimeout"),
    Reason.REASON_UNSUPPORTED: Rendering(406, "UnsupportedOperationException"),
    Reason.REASON_MAINTENANCE: Rendering(503, "MaintenanceModeError", retry_after=60),
    Reason.REASON_INVALID_PAGE_TOKEN: Rendering(400, "InvalidPaginationToken"),
    Reason.REASON_IDEMPOTENCY_KEY_INVALID: Rendering(400, "InvalidIdempotencyKey"),
    Reason.REASON_IDEMPOTENCY_KEY_REUSED: Rendering(400, "IdempotencyKeyReused"),
    Reason.REASON_REQUEST_IN_PROGRESS: Rendering(409, "RequestInProgress", retry_after=1),
    Reason.REASON_CONCURRENT_CHANGE: Rendering(409, "CommitFailedException"),
    # containers
    Reason.REASON_NO_SUCH_PROJECT: Rendering(404, "ProjectNotFound"),
    Reason.REASON_PROJECT_MISSING: Rendering(400, "ProjectIdMissing"),
    Reason.REASON_MALFORMED_PROJECT_ID: Rendering(400, "MalformedProjectID"),
    Reason.REASON_PROJECT_EXISTS: Rendering(409, "ProjectIdAlreadyExists"),
    Reason.REASON_PROJECT_NOT_EMPTY: Rendering(409, "ProjectNotEmpty"),
    Reason.REASON_INVALID_PROJECT_NAME: _project_name,
    Reason.REASON_NO_SUCH_WAREHOUSE: Rendering(404, "NoSuchWarehouseException"),
    Reason.REASON_WAREHOUSE_EXISTS: Rendering(409, "WarehouseAlreadyExists"),
    Reason.REASON_WAREHOUSE_NOT_EMPTY: Rendering(409, "WarehouseNotEmpty"),
    Reason.REASON_WAREHOUSE_PROTECTED: Rendering(409, "WarehouseProtected"),
    Reason.REASON_WAREHOUSE_MANAGED: Rendering(403, "WarehouseManaged"),
    Reason.REASON_INSTANCE_ADMIN_REQUIRED: Rendering(403, "InstanceAdminRequired"),
    Reason.REASON_INVALID_WAREHOUSE_NAME: _warehouse_name,
    Reason.REASON_WAREHOUSE_MISSING: Rendering(400, "GetConfigNoWarehouseProvided"),
    Reason.REASON_INVALID_FORMAT_VERSION_POLICY: _format_policy,
    Reason.REASON_ALREADY_BOOTSTRAPPED: Rendering(400, "CatalogAlreadyBootstrapped"),
    Reason.REASON_TERMS_NOT_ACCEPTED: Rendering(400, "TermsOfUseNotAccepted"),
    Reason.REASON_NO_SUCH_NAMESPACE: Rendering(404, "NoSuchNamespaceException"),
    Reason.REASON_NAMESPACE_EXISTS: Rendering(409, "AlreadyExistsException"),
    Reason.REASON_NAMESPACE_NOT_EMPTY: Rendering(409, "NamespaceNotEmptyException"),
    Reason.REASON_NAMESPACE_PROTECTED: Rendering(409, "NamespaceProtected"),
    Reason.REASON_CHILD_NAMESPACE_PROTECTED: Rendering(409, "ChildNamespaceProtected"),
    Reason.REASON_CHILD_TABULAR_PROTECTED: Rendering(409, "ChildTabularProtected"),
    Reason.REASON_NAMESPACE_DROP_NOT_ALLOWED: Rendering(400, "NamespaceDeleteNotAllowed"),
    Reason.REASON_RESERVED_NAMESPACE: Rendering(400, "ReservedNamespace"),
    Reason.REASON_NAMESPACE_TOO_DEEP: Rendering(400, "NamespaceDepthExceeded"),
    Reason.REASON_NAMESPACE_PART_EMPTY: Rendering(400, "NamespacePartEmpty"),
    Reason.REASON_NAMESPACE_PART_CONTAINS_DOT: Rendering(400, "NamespacePartContainsDot"),
    Reason.REASON_INVALID_NAMESPACE: Rendering(400, "InvalidNamespace"),
    Reason.REASON_PROPERTY_NOT_LOWERCASE: _not_lowercase,
    Reason.REASON_PROPERTY_SET_AND_REMOVED: Rendering(422, "UnprocessableEntityException"),
    Reason.REASON_NAMESPACE_LOCATION_FIXED: _fixed_location,
    # tabulars
    Reason.REASON_NO_SUCH_TABLE: Rendering(404, "NoSuchTableException"),
    Reason.REASON_NO_SUCH_VIEW: Rendering(404, "NoSuchViewException"),
    Reason.REASON_TABULAR_EXISTS: Rendering(409, "AlreadyExistsException"),
    Reason.REASON_TABULAR_PROTECTED: Rendering(409, "ProtectedTabularDeletionWithoutForce"),
    Reason.REASON_INVALID_TABULAR_NAME: Rendering(400, "InvalidTableName"),
    Reason.REASON_MALFORMED_LOCATION: Rendering(400, "InvalidTableLocation"),
    Reason.REASON_LOCATION_NOT_ALLOWED: Rendering(400, "InvalidLocation"),
    Reason.REASON_LOCATION_TAKEN: Rendering(409, "LocationAlreadyTaken"),
    Reason.REASON_LOCATION_NOT_EMPTY: Rendering(400, "InvalidLocation"),
    Reason.REASON_LOCATION_BEING_PURGED: Rendering(409, "LocationBeingPurged"),
    Reason.REASON_PROPERTY_FORBIDDEN: Rendering(400, "FailedToSetProperties"),
    Reason.REASON_INVALID_FORMAT_VERSION: Rendering(400, "InvalidFormatVersion"),
    Reason.REASON_FORMAT_VERSION_NOT_ALLOWED: Rendering(400, "FormatVersionNotAllowed"),
    Reason.REASON_UNSUPPORTED_COMPRESSION: Rendering(400, "UnsupportedCompressionCodec"),
    Reason.REASON_COMMIT_CONFLICT: Rendering(409, "CommitFailedException"),
    Reason.REASON_COMMIT_STATE_UNKNOWN: Rendering(500, _COMMIT_UNKNOWN),
    Reason.REASON_INVALID_UPDATE: Rendering(400, "InvalidTableUpdate"),
    Reason.REASON_UNKNOWN_UPDATE: Rendering(400, "BadRequestException"),
    Reason.REASON_UNKNOWN_REQUIREMENT: Rendering(400, "BadRequestException"),
    Reason.REASON_ASSIGN_UUID_NOT_ALLOWED: Rendering(400, "AssignUuidNotAllowed"),
    Reason.REASON_SET_LOCATION_NOT_ALLOWED: Rendering(400, "SetLocationNotAllowed"),
    Reason.REASON_IMMUTABLE_PROPERTY: _immutable,
    Reason.REASON_IDENTIFIER_MISMATCH: Rendering(400, "TableIdentifierMismatch"),
    Reason.REASON_IDENTIFIER_REQUIRED: Rendering(400, "TableIdentifierRequiredForCommitTransaction"),
    Reason.REASON_IDENTIFIERS_NOT_UNIQUE: Rendering(400, "TableIdentifiersNotUnique"),
    Reason.REASON_TOO_MANY_TABLES: Rendering(400, "TooManyUpdatesInCommit"),
    Reason.REASON_INVALID_METADATA_FILE: Rendering(400, "Deserialization"),
    Reason.REASON_INVALID_METADATA: Rendering(400, "CreateTableMetadataError"),
    Reason.REASON_EMPTY_VIEW: Rendering(400, "EmptyView"),
    Reason.REASON_VIEW_DIALECT_DROPPED: Rendering(400, "BuildMetadataError"),
    # the one word of a 400 that Iceberg's Java client makes its own exception of
    Reason.REASON_VIEW_DIALECT_TWICE: Rendering(400, "IllegalArgumentException"),
    Reason.REASON_INVALID_SNAPSHOTS: Rendering(400, "BadRequestException"),
    Reason.REASON_REFERENCED_BY_TOO_DEEP: Rendering(400, "ReferencedByDepthExceeded"),
    # 400, since clients take a 409 of a drop for a name that is taken
    Reason.REASON_GC_DISABLED: Rendering(400, "ValidationException"),
    # 400, since clients take any 409 of a commit for one that a retry can win
    Reason.REASON_CHANGE_REFUSED: Rendering(400, "ChangeRefused"),
    Reason.REASON_CONTRACT_VIOLATED: Rendering(400, "ContractViolation"),
    Reason.REASON_CONTRACT_CHECK_FAILED: Rendering(503, "ContractCheckFailed"),
    Reason.REASON_INVALID_CONTRACT: Rendering(400, "InvalidContract"),
    Reason.REASON_PROPERTY_PROTECTED: Rendering(403, "ProtectedPropertyModification"),
    Reason.REASON_VIEW_OWNER_UNCLEAR: Rendering(403, "AuthzBadRequest"),
    Reason.REASON_EVENTS_FORGOTTEN: Rendering(410, "EventsForgotten"),
    Reason.REASON_EVENTS_BEHIND: Rendering(503, "EventsBehind"),
    Reason.REASON_NO_SUCH_TASK: Rendering(404, "TaskNotFound"),
    Reason.REASON_TOO_MANY_NAMED: _too_many,
    Reason.REASON_DUPLICATE_TASK: Rendering(400, "DuplicateTaskIds"),
    Reason.REASON_NO_SUCH_QUEUE: Rendering(400, "QueueNotFound"),
    # tags, and where namespaces hang
    Reason.REASON_NO_SUCH_TAG_NAME: Rendering(404, "TagNameNotFound"),
    Reason.REASON_NO_SUCH_TAG_TARGET: Rendering(404, "TagTargetNotFound"),
    Reason.REASON_NO_SUCH_COLUMN: Rendering(404, "ColumnNotFound"),
    Reason.REASON_TAG_EXISTS: Rendering(409, "TagNameAlreadyExists"),
    Reason.REASON_TAG_IN_USE: Rendering(409, "TagDefinitionInUse"),
    Reason.REASON_INVALID_TAG_NAME: Rendering(400, "InvalidTagName"),
    Reason.REASON_RESERVED_TAG_NAME: Rendering(400, "ReservedTagNamespace"),
    Reason.REASON_INVALID_TAG_DEFINITION: Rendering(400, "InvalidTagDefinition"),
    Reason.REASON_INVALID_TAG_VALUE: Rendering(400, "InvalidTagValue"),
    Reason.REASON_TAG_SCOPE_NOT_ALLOWED: Rendering(400, "TagScopeNotAllowed"),
    Reason.REASON_TAG_SCOPE_NARROWED: Rendering(400, "TagScopeNarrowed"),
    Reason.REASON_NAMESPACE_INTO_ITSELF: Rendering(400, "NamespaceCannotMoveIntoSelf"),
    Reason.REASON_LAYOUT_FORBIDS_MOVE: Rendering(400, "StorageLayoutForbidsNamespaceMove"),
    Reason.REASON_TASK_ACTIVE: Rendering(409, "TaskAlreadyActive"),
    Reason.REASON_QUEUE_NOT_SCHEDULABLE: Rendering(400, "QueueNotUserSchedulable"),
    Reason.REASON_SCHEDULED_TOO_FAR: Rendering(400, "ScheduledForTooFarInFuture"),
    Reason.REASON_INVALID_TABLE_FORMAT: Rendering(400, "InvalidFormat"),
    Reason.REASON_LOCATION_EMPTY: Rendering(400, "InvalidLocation"),
    Reason.REASON_TABLE_VERSION_TAKEN: Rendering(409, "TableVersionConflict"),
    Reason.REASON_NO_SUCH_TABLE_VERSION: Rendering(404, "NoSuchTableVersionException"),
    # storage
    Reason.REASON_INVALID_STORAGE_PROFILE: Rendering(400, "InvalidStorageProfile"),
    Reason.REASON_STORAGE_PROFILE_IMMUTABLE: Rendering(400, "UpdateError"),
    Reason.REASON_STORAGE_OVERLAP: Rendering(400, "CreateWarehouseStorageProfileOverlap"),
    Reason.REASON_STORAGE_VALIDATION_FAILED: Rendering(400, "StorageValidationFailed"),
    Reason.REASON_CREDENTIAL_MISSING: Rendering(400, "MissingCredentialError"),
    Reason.REASON_CREDENTIAL_MISMATCH: Rendering(400, "UnexpectedStorageProfileType"),
    Reason.REASON_STORAGE_MISCONFIGURED: Rendering(400, "Misconfiguration"),
    Reason.REASON_STORE_UNAVAILABLE: Rendering(503, "ServiceUnavailableException", retry_after=1),
    Reason.REASON_STORE_DENIED: Rendering(_STORE_FAILED, "PermissionDenied"),
    # 400, since a 404 here would read as an absent table or namespace
    Reason.REASON_FILE_NOT_FOUND: Rendering(400, "NotFound"),
    Reason.REASON_FILE_UNREADABLE: Rendering(400, "FileDecompression"),
    Reason.REASON_CREDENTIAL_NOT_ISSUED: Rendering(_STORE_FAILED, "ShortTermCredentialError"),
    Reason.REASON_PERMIT_REFUSED: Rendering(403, "PermitRefused"),
    Reason.REASON_NO_SUCH_SECRET: Rendering(404, "SecretNotFound"),
    Reason.REASON_SECRET_UNREADABLE: Rendering(500, "SecretUnreadable"),
    Reason.REASON_SECRET_STORE_UNAVAILABLE: Rendering(503, "ServiceUnavailableException", retry_after=1),
    Reason.REASON_ADDRESS_DENIED: Rendering(400, "AddressDenied"),
    Reason.REASON_FILE_EXISTS: Rendering(409, "FileAlreadyExists"),
    Reason.REASON_STORAGE_KIND_UNSUPPORTED: Rendering(400, "UnsupportedStorageType"),
    Reason.REASON_SIGNING_INVALID: Varying(_signing, frozenset({400, _STORE_FAILED})),
    Reason.REASON_SIGNING_DISABLED: Rendering(403, "RemoteSigningDisabled"),
    Reason.REASON_SIGNING_METHOD: Rendering(405, "MethodNotAllowed"),
    Reason.REASON_SIGNING_OUTSIDE: Rendering(400, "RequestUriMismatch"),
    # who calls, and who may
    Reason.REASON_TOKEN_MISSING: Rendering(401, "MissingAuthorizationHeader", challenge=Challenge.NONE_CAME),
    Reason.REASON_TOKEN_REFUSED: Rendering(401, "AuthenticationFailed", challenge=Challenge.INVALID_TOKEN),
    Reason.REASON_FORBIDDEN: _forbidden,
    Reason.REASON_AUTHORIZATION_UNAVAILABLE: Rendering(503, "AuthorizationBackendError", retry_after=1),
    Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE: Rendering(503, "AuthenticationBackendError", retry_after=1),
    Reason.REASON_INVALID_USER_ID: Rendering(400, "InvalidUserIdError"),
    Reason.REASON_INVALID_ROLE_ID: Rendering(400, "InvalidRoleIdError"),
    Reason.REASON_ASSUMED_ROLE_UNKNOWN: Rendering(400, "InvalidAssumeRoleId"),
    Reason.REASON_ROLE_NOT_ASSUMABLE: Rendering(403, "AssumeRoleForbidden"),
    # users and roles
    Reason.REASON_NO_SUCH_USER: Rendering(404, "UserNotFound"),
    Reason.REASON_USER_EXISTS: Rendering(409, "UserAlreadyExists"),
    Reason.REASON_USER_INCOMPLETE: _user,
    Reason.REASON_NOBODY: Rendering(401, "GetMyUserWithoutToken", challenge=Challenge.NONE_CAME),
    Reason.REASON_ROLE_EXISTS: Rendering(409, "RoleNameAlreadyExists"),
    Reason.REASON_ROLE_IDENT_TAKEN: Rendering(409, "RoleSourceIdConflict"),
    Reason.REASON_INVALID_ROLE_NAME: _role_name,
    Reason.REASON_INVALID_ROLE_IDENT: Rendering(400, "InvalidRoleIdentifier"),
    Reason.REASON_RESERVED_ROLE_PROVIDER: Rendering(400, "RoleProviderIdReserved"),
    Reason.REASON_ROLE_MEMBER_UNKNOWN: Rendering(404, "RoleAssignmentUserNotFound"),
    Reason.REASON_ROLE_MEMBERSHIP_CYCLE: Rendering(409, "RoleMembershipCycle"),
    Reason.REASON_ROLE_NESTED_TOO_DEEP: Rendering(409, "RoleMembershipDepthExceeded"),
    Reason.REASON_ROLE_MANAGED: Rendering(400, "ManagedRoleImmutable"),
    Reason.REASON_NOT_PROVISIONED: Rendering(404, "UserNotFound"),
    Reason.REASON_PROVISIONED_ALREADY: Rendering(409, "UserAlreadyExists"),
    Reason.REASON_PROVISIONED_CONCURRENTLY: Rendering(409, "ConcurrentUpdateError"),
    Reason.REASON_PROVISIONED_ID_FIXED: Rendering(400, "BadRequestException"),
    Reason.REASON_PROVISIONED_MEMBER_UNKNOWN: Rendering(400, "BadRequestException"),
    Reason.REASON_PERMISSIONS_INVALID: _permissions,
    Reason.REASON_GRANT_EXISTS: Rendering(409, "TupleAlreadyExistsError"),
    Reason.REASON_NO_SUCH_GRANT: Rendering(404, "TupleNotFoundError"),
    Reason.REASON_NO_SUCH_ROLE: Rendering(404, "RoleIdNotFound"),
    Reason.REASON_NO_SUCH_TAG: Rendering(404, "TagDefinitionIdNotFound"),
    Reason.REASON_NO_SUCH_GENERIC_TABLE: Rendering(404, "NoSuchGenericTableException"),
    # the gateway itself was not believed: no caller can do anything about it
    Reason.REASON_WORKLOAD_REFUSED: Rendering(500, "InternalServerError"),
    # dialects
    Reason.REASON_PREFIX_MISSING: Rendering(400, "NoPrefixProvided"),
    Reason.REASON_NO_SUCH_ROUTE: Rendering(404, "NotFoundException"),
    Reason.REASON_METHOD_NOT_ALLOWED: Rendering(405, "MethodNotAllowed"),
    Reason.REASON_NO_HOST: Rendering(400, "NoHostHeader"),
    Reason.REASON_DUPLICATE_HEADER: _duplicate,
    Reason.REASON_UNSUPPORTED_MEDIA_TYPE: Rendering(415, "UnsupportedMediaType"),
}

RENDERED: Final[Renderings] = MappingProxyType(_TABLE)

# Loads and probes for existence: Spark asks for "ns.table" and "branch_x" as if they were a namespace and a table, and goes on
# at 404 alone.
PROBED: Final[Renderings] = MappingProxyType(
    {**_TABLE, Reason.REASON_NAMESPACE_TOO_DEEP: Rendering(404, "NamespaceDepthExceeded")}
)

# A commit that broke may have happened. Clients keep the files they wrote for one where they are told so.
COMMITTED: Final[Renderings] = MappingProxyType(
    {
        **_TABLE,
        Reason.REASON_INTERNAL: Rendering(500, _COMMIT_UNKNOWN),
        Reason.REASON_DEADLINE_EXCEEDED: Rendering(504, _COMMIT_UNKNOWN),
        Reason.REASON_SERVICE_UNAVAILABLE: Varying(_commit_unavailable, frozenset({502, 503})),
    }
)

VIEW_COMMITTED: Final[Renderings] = MappingProxyType(
    {
        **COMMITTED,
        Reason.REASON_INVALID_UPDATE: _view_update,
        Reason.REASON_ASSIGN_UUID_NOT_ALLOWED: Rendering(400, "AssignUuidNotSupported"),
    }
)

VIEW_CREATED: Final[Renderings] = MappingProxyType(
    {**_TABLE, Reason.REASON_INVALID_METADATA: Rendering(400, "CreateViewMetadataError")}
)

NAMESPACE_CREATED: Final[Renderings] = MappingProxyType(
    {**_TABLE, Reason.REASON_MALFORMED_LOCATION: Rendering(400, "ConfigLocationParseError")}
)

# The signer's older paths name no table, so an absent one is a bad request there.
SIGNED: Final[Renderings] = MappingProxyType(
    {**_TABLE, Reason.REASON_NO_SUCH_TABLE: Rendering(400, "NoSuchTableLocationException")}
)
