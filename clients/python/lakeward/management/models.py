"""What the management API takes and answers: Made by tools/generate_client.py from the management API's document; do not edit."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, ConfigDict, Field

from lakeward.management.base import Model


class IcebergErrorResponseError(Model):
    message: str
    type: Annotated[str, Field(description="The word that clients match on.")]
    code: int
    stack: list[str] | None = None


class IcebergErrorResponse(Model):
    error: IcebergErrorResponseError


class LicenseStatus(Model):
    """
    Under which licence this server runs.
    """

    license_type: Annotated[str | None, Field(alias="license-type")] = "Apache-2.0"
    valid: bool | None = True
    audience: str | None = "lakeward"
    customer: str | None = None
    error: str | None = None
    expiration: str | None = None
    issuer: str | None = None
    license_id: Annotated[str | None, Field(alias="license-id")] = None


class BootstrapRequest(Model):
    """
    Opens the server for use. The caller's name, e-mail and type are its token's; what is said of them here is not heeded.
    """

    accept_terms_of_use: Annotated[bool, Field(alias="accept-terms-of-use")]
    is_operator: Annotated[bool | None, Field(alias="is-operator")] = False
    user_name: Annotated[str | None, Field(alias="user-name")] = None
    user_email: Annotated[str | None, Field(alias="user-email")] = None
    user_type: Annotated[Literal["application", "human"] | str | None, Field(alias="user-type")] = None


class GetProjectResponse(Model):
    """
    A project.
    """

    project_id: Annotated[str, Field(alias="project-id")]
    project_name: Annotated[str, Field(alias="project-name")]


class CreateProjectResponse(Model):
    """
    Which project was made.
    """

    project_id: Annotated[str, Field(alias="project-id")]


class CreateProjectRequest(Model):
    """
    A new project; an id that is left out is made.
    """

    project_name: Annotated[str, Field(alias="project-name")]
    project_id: Annotated[str | None, Field(alias="project-id")] = None


class RenameProjectRequest(Model):
    """
    Another name.
    """

    new_name: Annotated[str, Field(alias="new-name")]


class GetWarehouseResponseStorageProfileEndpointMode(Model):
    """
    Of onelake. By which host it is reached.
    """

    type: Literal["default", "regional", "workspace-private-link"] | str | None = None
    region: Annotated[str | None, Field(description="Of regional.")] = None


class GetWarehouseResponseStorageProfileStorageLayout(Model):
    """
    Of all. How the directories of namespaces and tabulars are named; templates hold {uuid} and {name}.
    """

    type: Literal["default", "full-hierarchy", "tabular-only"] | str | None = None
    namespace: Annotated[str | None, Field(description="Of full-hierarchy.")] = None
    tabular: Annotated[str | None, Field(description="Of full-hierarchy, tabular-only.")] = None


class GetWarehouseResponseStorageProfile(Model):
    """
    A storage profile; `type` says of which kind.
    """

    type: Annotated[str | None, Field(description="s3, stackit, adls, onelake or gcs.")] = None
    bucket: Annotated[str | None, Field(description="Of s3, stackit, gcs.")] = None
    region: Annotated[str | None, Field(description="Of s3, stackit.")] = None
    key_prefix: Annotated[str | None, Field(alias="key-prefix", description="Of s3, stackit, adls, gcs.")] = None
    endpoint: Annotated[str | None, Field(description="Of s3, stackit.")] = None
    path_style_access: Annotated[bool | None, Field(alias="path-style-access", description="Of s3.")] = None
    assume_role_arn: Annotated[str | None, Field(alias="assume-role-arn", description="Of s3.")] = None
    sts_enabled: Annotated[bool | None, Field(alias="sts-enabled", description="Of s3, stackit, gcs.")] = None
    sts_role_arn: Annotated[str | None, Field(alias="sts-role-arn", description="Of s3.")] = None
    sts_endpoint: Annotated[str | None, Field(alias="sts-endpoint", description="Of s3.")] = None
    sts_token_validity_seconds: Annotated[
        int | None,
        Field(alias="sts-token-validity-seconds", description="Of s3, stackit."),
    ] = None
    sts_session_tags: Annotated[dict[str, Any] | None, Field(alias="sts-session-tags", description="Of s3.")] = None
    flavor: Annotated[str | None, Field(description="Of s3. aws or s3-compat.")] = None
    allow_alternative_protocols: Annotated[
        bool | None,
        Field(
            alias="allow-alternative-protocols",
            description="Of s3, adls. s3a:// and s3n://, or wasbs://, as well.",
        ),
    ] = None
    remote_signing_enabled: Annotated[
        bool | None,
        Field(alias="remote-signing-enabled", description="Of s3, stackit."),
    ] = None
    remote_signing_url_style: Annotated[
        str | None,
        Field(
            alias="remote-signing-url-style",
            description="Of s3. path, virtual_host or auto.",
        ),
    ] = None
    push_s3_delete_disabled: Annotated[
        bool | None,
        Field(alias="push-s3-delete-disabled", description="Of s3, stackit."),
    ] = None
    aws_kms_key_arn: Annotated[str | None, Field(alias="aws-kms-key-arn", description="Of s3.")] = None
    legacy_md5_behavior: Annotated[bool | None, Field(alias="legacy-md5-behavior", description="Of s3.")] = None
    credentials_group_urn: Annotated[str | None, Field(alias="credentials-group-urn", description="Of stackit.")] = None
    account_name: Annotated[str | None, Field(alias="account-name", description="Of adls.")] = None
    filesystem: Annotated[str | None, Field(description="Of adls.")] = None
    host: Annotated[str | None, Field(description="Of adls.")] = None
    authority_host: Annotated[str | None, Field(alias="authority-host", description="Of adls, onelake.")] = None
    sas_enabled: Annotated[bool | None, Field(alias="sas-enabled", description="Of adls, onelake.")] = None
    sas_token_validity_seconds: Annotated[
        int | None,
        Field(alias="sas-token-validity-seconds", description="Of adls, onelake."),
    ] = None
    workspace_id: Annotated[str | None, Field(alias="workspace-id", description="Of onelake.")] = None
    lakehouse_id: Annotated[str | None, Field(alias="lakehouse-id", description="Of onelake.")] = None
    top_level_folder: Annotated[
        str | None,
        Field(alias="top-level-folder", description="Of onelake. Files or Tables."),
    ] = None
    directory_rel_path: Annotated[str | None, Field(alias="directory-rel-path", description="Of onelake.")] = None
    endpoint_mode: Annotated[
        GetWarehouseResponseStorageProfileEndpointMode | None,
        Field(
            alias="endpoint-mode",
            description="Of onelake. By which host it is reached.",
        ),
    ] = None
    storage_layout: Annotated[
        GetWarehouseResponseStorageProfileStorageLayout | None,
        Field(
            alias="storage-layout",
            description="Of all. How the directories of namespaces and tabulars are named; templates hold {uuid} and {name}.",
        ),
    ] = None


class CredentialKind(Model):
    """
    Of which kind a warehouse's credential is.
    """

    type: str
    credential_type: Annotated[str, Field(alias="credential-type")]


class HardDelete(Model):
    """
    Drops are final.
    """

    type: Literal["hard"]


class SoftDelete(Model):
    """
    What is dropped can be restored for a while; left out: for as long as the server's settings say.
    """

    type: Literal["soft"]
    expiration_seconds: Annotated[int | None, Field(alias="expiration-seconds")] = None


class WarehouseStatistics(Model):
    """
    How much a warehouse had in an hour; `timestamp` is when that ends, or ended.
    """

    timestamp: str
    number_of_tables: Annotated[int, Field(alias="number-of-tables")]
    number_of_views: Annotated[int, Field(alias="number-of-views")]
    number_of_generic_tables: Annotated[int, Field(alias="number-of-generic-tables")]
    updated_at: Annotated[str, Field(alias="updated-at")]


class CreateWarehouseRequestStorageProfileEndpointMode(Model):
    """
    Of onelake. By which host it is reached.
    """

    type: Literal["default", "regional", "workspace-private-link"] | str | None = None
    region: Annotated[str | None, Field(description="Of regional.")] = None


class CreateWarehouseRequestStorageProfileStorageLayout(Model):
    """
    Of all. How the directories of namespaces and tabulars are named; templates hold {uuid} and {name}.
    """

    type: Literal["default", "full-hierarchy", "tabular-only"] | str | None = None
    namespace: Annotated[str | None, Field(description="Of full-hierarchy.")] = None
    tabular: Annotated[str | None, Field(description="Of full-hierarchy, tabular-only.")] = None


class CreateWarehouseRequestStorageProfile(Model):
    """
    A storage profile; `type` says of which kind.
    """

    type: Annotated[str | None, Field(description="s3, stackit, adls, onelake or gcs.")] = None
    bucket: Annotated[str | None, Field(description="Of s3, stackit, gcs.")] = None
    region: Annotated[str | None, Field(description="Of s3, stackit.")] = None
    key_prefix: Annotated[str | None, Field(alias="key-prefix", description="Of s3, stackit, adls, gcs.")] = None
    endpoint: Annotated[str | None, Field(description="Of s3, stackit.")] = None
    path_style_access: Annotated[bool | None, Field(alias="path-style-access", description="Of s3.")] = None
    assume_role_arn: Annotated[str | None, Field(alias="assume-role-arn", description="Of s3.")] = None
    sts_enabled: Annotated[bool | None, Field(alias="sts-enabled", description="Of s3, stackit, gcs.")] = None
    sts_role_arn: Annotated[str | None, Field(alias="sts-role-arn", description="Of s3.")] = None
    sts_endpoint: Annotated[str | None, Field(alias="sts-endpoint", description="Of s3.")] = None
    sts_token_validity_seconds: Annotated[
        int | None,
        Field(alias="sts-token-validity-seconds", description="Of s3, stackit."),
    ] = None
    sts_session_tags: Annotated[dict[str, Any] | None, Field(alias="sts-session-tags", description="Of s3.")] = None
    flavor: Annotated[str | None, Field(description="Of s3. aws or s3-compat.")] = None
    allow_alternative_protocols: Annotated[
        bool | None,
        Field(
            alias="allow-alternative-protocols",
            description="Of s3, adls. s3a:// and s3n://, or wasbs://, as well.",
        ),
    ] = None
    remote_signing_enabled: Annotated[
        bool | None,
        Field(alias="remote-signing-enabled", description="Of s3, stackit."),
    ] = None
    remote_signing_url_style: Annotated[
        str | None,
        Field(
            alias="remote-signing-url-style",
            description="Of s3. path, virtual_host or auto.",
        ),
    ] = None
    push_s3_delete_disabled: Annotated[
        bool | None,
        Field(alias="push-s3-delete-disabled", description="Of s3, stackit."),
    ] = None
    aws_kms_key_arn: Annotated[str | None, Field(alias="aws-kms-key-arn", description="Of s3.")] = None
    legacy_md5_behavior: Annotated[bool | None, Field(alias="legacy-md5-behavior", description="Of s3.")] = None
    credentials_group_urn: Annotated[str | None, Field(alias="credentials-group-urn", description="Of stackit.")] = None
    account_name: Annotated[str | None, Field(alias="account-name", description="Of adls.")] = None
    filesystem: Annotated[str | None, Field(description="Of adls.")] = None
    host: Annotated[str | None, Field(description="Of adls.")] = None
    authority_host: Annotated[str | None, Field(alias="authority-host", description="Of adls, onelake.")] = None
    sas_enabled: Annotated[bool | None, Field(alias="sas-enabled", description="Of adls, onelake.")] = None
    sas_token_validity_seconds: Annotated[
        int | None,
        Field(alias="sas-token-validity-seconds", description="Of adls, onelake."),
    ] = None
    workspace_id: Annotated[str | None, Field(alias="workspace-id", description="Of onelake.")] = None
    lakehouse_id: Annotated[str | None, Field(alias="lakehouse-id", description="Of onelake.")] = None
    top_level_folder: Annotated[
        str | None,
        Field(alias="top-level-folder", description="Of onelake. Files or Tables."),
    ] = None
    directory_rel_path: Annotated[str | None, Field(alias="directory-rel-path", description="Of onelake.")] = None
    endpoint_mode: Annotated[
        CreateWarehouseRequestStorageProfileEndpointMode | None,
        Field(
            alias="endpoint-mode",
            description="Of onelake. By which host it is reached.",
        ),
    ] = None
    storage_layout: Annotated[
        CreateWarehouseRequestStorageProfileStorageLayout | None,
        Field(
            alias="storage-layout",
            description="Of all. How the directories of namespaces and tabulars are named; templates hold {uuid} and {name}.",
        ),
    ] = None


class CreateWarehouseRequestStorageCredentialKey(Model):
    """
    Of shared-access-key, a text; of service-account-key, Google's document.
    """

    type: str | None = None
    project_id: str | None = None
    private_key_id: str | None = None
    private_key: str | None = None
    client_email: str | None = None
    client_id: str | None = None
    auth_uri: str | None = None
    token_uri: str | None = None
    auth_provider_x509_cert_url: str | None = None
    client_x509_cert_url: str | None = None
    universe_domain: str | None = None


class CreateWarehouseRequestStorageCredential(Model):
    """
    A storage credential; `type` and `credential-type` say of which kind. Never answered.
    """

    type: Annotated[str | None, Field(description="s3, stackit, az or gcs.")] = None
    credential_type: Annotated[
        str | None,
        Field(alias="credential-type", description="Of which kind, as access-key."),
    ] = None
    access_key_id: Annotated[
        str | None,
        Field(
            alias="access-key-id",
            description="Of s3 and stackit access-key, cloudflare-r2, aliyun-oss.",
        ),
    ] = None
    secret_access_key: Annotated[
        str | None,
        Field(
            alias="secret-access-key",
            description="Of s3 and stackit access-key, cloudflare-r2, aliyun-oss.",
        ),
    ] = None
    external_id: Annotated[
        str | None,
        Field(alias="external-id", description="Of s3 access-key, aws-system-identity."),
    ] = None
    account_id: Annotated[str | None, Field(alias="account-id", description="Of cloudflare-r2.")] = None
    token: Annotated[str | None, Field(description="Of cloudflare-r2.")] = None
    client_id: Annotated[str | None, Field(alias="client-id", description="Of client-credentials.")] = None
    client_secret: Annotated[str | None, Field(alias="client-secret", description="Of client-credentials.")] = None
    tenant_id: Annotated[str | None, Field(alias="tenant-id", description="Of client-credentials.")] = None
    key: Annotated[
        CreateWarehouseRequestStorageCredentialKey | str | None,
        Field(description="Of shared-access-key, a text; of service-account-key, Google's document."),
    ] = None


class CreateWarehouseRequest(Model):
    """
    A new warehouse.
    """

    warehouse_name: Annotated[str, Field(alias="warehouse-name")]
    storage_profile: Annotated[
        CreateWarehouseRequestStorageProfile,
        Field(
            alias="storage-profile",
            description="A storage profile; `type` says of which kind.",
        ),
    ]
    storage_credential: Annotated[
        CreateWarehouseRequestStorageCredential | None,
        Field(
            alias="storage-credential",
            description="A storage credential; `type` and `credential-type` say of which kind. Never answered.",
        ),
    ] = None
    project_id: Annotated[str | None, Field(alias="project-id")] = None
    delete_profile: Annotated[HardDelete | SoftDelete | None, Field(alias="delete-profile")] = None
    allowed_format_versions: Annotated[list[int] | None, Field(alias="allowed-format-versions")] = None
    default_format_version: Annotated[int | None, Field(alias="default-format-version")] = None
    managed_by: Annotated[
        Literal["instance-admin", "self-managed"] | str | None,
        Field(alias="managed-by"),
    ] = None


class RenameWarehouseRequest(Model):
    """
    Another name.
    """

    new_name: Annotated[str, Field(alias="new-name")]


class UpdateWarehouseStorageRequestStorageProfileEndpointMode(Model):
    """
    Of onelake. By which host it is reached.
    """

    type: Literal["default", "regional", "workspace-private-link"] | str | None = None
    region: Annotated[str | None, Field(description="Of regional.")] = None


class UpdateWarehouseStorageRequestStorageProfileStorageLayout(Model):
    """
    Of all. How the directories of namespaces and tabulars are named; templates hold {uuid} and {name}.
    """

    type: Literal["default", "full-hierarchy", "tabular-only"] | str | None = None
    namespace: Annotated[str | None, Field(description="Of full-hierarchy.")] = None
    tabular: Annotated[str | None, Field(description="Of full-hierarchy, tabular-only.")] = None


class UpdateWarehouseStorageRequestStorageProfile(Model):
    """
    A storage profile; `type` says of which kind.
    """

    type: Annotated[str | None, Field(description="s3, stackit, adls, onelake or gcs.")] = None
    bucket: Annotated[str | None, Field(description="Of s3, stackit, gcs.")] = None
    region: Annotated[str | None, Field(description="Of s3, stackit.")] = None
    key_prefix: Annotated[str | None, Field(alias="key-prefix", description="Of s3, stackit, adls, gcs.")] = None
    endpoint: Annotated[str | None, Field(description="Of s3, stackit.")] = None
    path_style_access: Annotated[bool | None, Field(alias="path-style-access", description="Of s3.")] = None
    assume_role_arn: Annotated[str | None, Field(alias="assume-role-arn", description="Of s3.")] = None
    sts_enabled: Annotated[bool | None, Field(alias="sts-enabled", description="Of s3, stackit, gcs.")] = None
    sts_role_arn: Annotated[str | None, Field(alias="sts-role-arn", description="Of s3.")] = None
    sts_endpoint: Annotated[str | None, Field(alias="sts-endpoint", description="Of s3.")] = None
    sts_token_validity_seconds: Annotated[
        int | None,
        Field(alias="sts-token-validity-seconds", description="Of s3, stackit."),
    ] = None
    sts_session_tags: Annotated[dict[str, Any] | None, Field(alias="sts-session-tags", description="Of s3.")] = None
    flavor: Annotated[str | None, Field(description="Of s3. aws or s3-compat.")] = None
    allow_alternative_protocols: Annotated[
        bool | None,
        Field(
            alias="allow-alternative-protocols",
            description="Of s3, adls. s3a:// and s3n://, or wasbs://, as well.",
        ),
    ] = None
    remote_signing_enabled: Annotated[
        bool | None,
        Field(alias="remote-signing-enabled", description="Of s3, stackit."),
    ] = None
    remote_signing_url_style: Annotated[
        str | None,
        Field(
            alias="remote-signing-url-style",
            description="Of s3. path, virtual_host or auto.",
        ),
    ] = None
    push_s3_delete_disabled: Annotated[
        bool | None,
        Field(alias="push-s3-delete-disabled", description="Of s3, stackit."),
    ] = None
    aws_kms_key_arn: Annotated[str | None, Field(alias="aws-kms-key-arn", description="Of s3.")] = None
    legacy_md5_behavior: Annotated[bool | None, Field(alias="legacy-md5-behavior", description="Of s3.")] = None
    credentials_group_urn: Annotated[str | None, Field(alias="credentials-group-urn", description="Of stackit.")] = None
    account_name: Annotated[str | None, Field(alias="account-name", description="Of adls.")] = None
    filesystem: Annotated[str | None, Field(description="Of adls.")] = None
    host: Annotated[str | None, Field(description="Of adls.")] = None
    authority_host: Annotated[str | None, Field(alias="authority-host", description="Of adls, onelake.")] = None
    sas_enabled: Annotated[bool | None, Field(alias="sas-enabled", description="Of adls, onelake.")] = None
    sas_token_validity_seconds: Annotated[
        int | None,
        Field(alias="sas-token-validity-seconds", description="Of adls, onelake."),
    ] = None
    workspace_id: Annotated[str | None, Field(alias="workspace-id", description="Of onelake.")] = None
    lakehouse_id: Annotated[str | None, Field(alias="lakehouse-id", description="Of onelake.")] = None
    top_level_folder: Annotated[
        str | None,
        Field(alias="top-level-folder", description="Of onelake. Files or Tables."),
    ] = None
    directory_rel_path: Annotated[str | None, Field(alias="directory-rel-path", description="Of onelake.")] = None
    endpoint_mode: Annotated[
        UpdateWarehouseStorageRequestStorageProfileEndpointMode | None,
        Field(
            alias="endpoint-mode",
            description="Of onelake. By which host it is reached.",
        ),
    ] = None
    storage_layout: Annotated[
        UpdateWarehouseStorageRequestStorageProfileStorageLayout | None,
        Field(
            alias="storage-layout",
            description="Of all. How the directories of namespaces and tabulars are named; templates hold {uuid} and {name}.",
        ),
    ] = None


class UpdateWarehouseStorageRequestStorageCredentialKey(Model):
    """
    Of shared-access-key, a text; of service-account-key, Google's document.
    """

    type: str | None = None
    project_id: str | None = None
    private_key_id: str | None = None
    private_key: str | None = None
    client_email: str | None = None
    client_id: str | None = None
    auth_uri: str | None = None
    token_uri: str | None = None
    auth_provider_x509_cert_url: str | None = None
    client_x509_cert_url: str | None = None
    universe_domain: str | None = None


class UpdateWarehouseStorageRequestStorageCredential(Model):
    """
    A storage credential; `type` and `credential-type` say of which kind. Never answered.
    """

    type: Annotated[str | None, Field(description="s3, stackit, az or gcs.")] = None
    credential_type: Annotated[
        str | None,
        Field(alias="credential-type", description="Of which kind, as access-key."),
    ] = None
    access_key_id: Annotated[
        str | None,
        Field(
            alias="access-key-id",
            description="Of s3 and stackit access-key, cloudflare-r2, aliyun-oss.",
        ),
    ] = None
    secret_access_key: Annotated[
        str | None,
        Field(
            alias="secret-access-key",
            description="Of s3 and stackit access-key, cloudflare-r2, aliyun-oss.",
        ),
    ] = None
    external_id: Annotated[
        str | None,
        Field(alias="external-id", description="Of s3 access-key, aws-system-identity."),
    ] = None
    account_id: Annotated[str | None, Field(alias="account-id", description="Of cloudflare-r2.")] = None
    token: Annotated[str | None, Field(description="Of cloudflare-r2.")] = None
    client_id: Annotated[str | None, Field(alias="client-id", description="Of client-credentials.")] = None
    client_secret: Annotated[str | None, Field(alias="client-secret", description="Of client-credentials.")] = None
    tenant_id: Annotated[str | None, Field(alias="tenant-id", description="Of client-credentials.")] = None
    key: Annotated[
        UpdateWarehouseStorageRequestStorageCredentialKey | str | None,
        Field(description="Of shared-access-key, a text; of service-account-key, Google's document."),
    ] = None


class UpdateWarehouseStorageRequest(Model):
    """
    Another storage profile. To go on without a credential, say `null`: one that is left out is not read as that.
    """

    storage_profile: Annotated[
        UpdateWarehouseStorageRequestStorageProfile,
        Field(
            alias="storage-profile",
            description="A storage profile; `type` says of which kind.",
        ),
    ]
    storage_credential: Annotated[
        UpdateWarehouseStorageRequestStorageCredential | None,
        Field(
            alias="storage-credential",
            description="A storage credential; `type` and `credential-type` say of which kind. Never answered.",
        ),
    ] = None


class UpdateWarehouseCredentialRequestNewStorageCredentialKey(Model):
    """
    Of shared-access-key, a text; of service-account-key, Google's document.
    """

    type: str | None = None
    project_id: str | None = None
    private_key_id: str | None = None
    private_key: str | None = None
    client_email: str | None = None
    client_id: str | None = None
    auth_uri: str | None = None
    token_uri: str | None = None
    auth_provider_x509_cert_url: str | None = None
    client_x509_cert_url: str | None = None
    universe_domain: str | None = None


class UpdateWarehouseCredentialRequestNewStorageCredential(Model):
    """
    A storage credential; `type` and `credential-type` say of which kind. Never answered.
    """

    type: Annotated[str | None, Field(description="s3, stackit, az or gcs.")] = None
    credential_type: Annotated[
        str | None,
        Field(alias="credential-type", description="Of which kind, as access-key."),
    ] = None
    access_key_id: Annotated[
        str | None,
        Field(
            alias="access-key-id",
            description="Of s3 and stackit access-key, cloudflare-r2, aliyun-oss.",
        ),
    ] = None
    secret_access_key: Annotated[
        str | None,
        Field(
            alias="secret-access-key",
            description="Of s3 and stackit access-key, cloudflare-r2, aliyun-oss.",
        ),
    ] = None
    external_id: Annotated[
        str | None,
        Field(alias="external-id", description="Of s3 access-key, aws-system-identity."),
    ] = None
    account_id: Annotated[str | None, Field(alias="account-id", description="Of cloudflare-r2.")] = None
    token: Annotated[str | None, Field(description="Of cloudflare-r2.")] = None
    client_id: Annotated[str | None, Field(alias="client-id", description="Of client-credentials.")] = None
    client_secret: Annotated[str | None, Field(alias="client-secret", description="Of client-credentials.")] = None
    tenant_id: Annotated[str | None, Field(alias="tenant-id", description="Of client-credentials.")] = None
    key: Annotated[
        UpdateWarehouseCredentialRequestNewStorageCredentialKey | str | None,
        Field(description="Of shared-access-key, a text; of service-account-key, Google's document."),
    ] = None


class UpdateWarehouseCredentialRequest(Model):
    """
    Another credential; none removes it.
    """

    new_storage_credential: Annotated[
        UpdateWarehouseCredentialRequestNewStorageCredential | None,
        Field(
            alias="new-storage-credential",
            description="A storage credential; `type` and `credential-type` say of which kind. Never answered.",
        ),
    ] = None


class ProtectionResponse(Model):
    """
    Whether something is protected, and when it last changed; null: never, or nobody keeps it.
    """

    protected: bool
    updated_at: str | None


class SetProtectionRequest(Model):
    """
    Whether something is to be protected.
    """

    protected: bool


class UpdateWarehouseDeleteProfileRequest(Model):
    """
    What becomes of what is dropped from now on.
    """

    delete_profile: Annotated[HardDelete | SoftDelete, Field(alias="delete-profile", discriminator="type")]


class UpdateWarehouseFormatVersionPolicyRequest(Model):
    """
    Which format versions tables may be made with and upgraded to.
    """

    allowed_format_versions: Annotated[list[int], Field(alias="allowed-format-versions")]
    default_format_version: Annotated[int | None, Field(alias="default-format-version")] = None


class SetWarehouseManagedByRequest(Model):
    """
    Who may change what a warehouse is.
    """

    managed_by: Annotated[Literal["instance-admin", "self-managed"] | str, Field(alias="managed-by")]


class ErrorModel(Model):
    """
    What went wrong in a check, as it would have been refused; a stack is left out where there is none.
    """

    message: str
    type: str
    code: int
    stack: list[str] | None = []


class MoveNamespaceResponse(Model):
    """
    Where a namespace is now; without a parent it is at the top.
    """

    namespace: list[str]
    namespace_id: Annotated[str, Field(alias="namespace-id")]
    parent_namespace_id: Annotated[str | None, Field(alias="parent-namespace-id")]


class MoveNamespaceRequest(Model):
    """
    Where a namespace is to be; `force` overrides its protection.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    destination: Annotated[
        list[str],
        Field(description="Its whole new path; the last part is its new name, the others what it hangs from."),
    ]
    force: bool | None = False


class DeletedTabularResponse(Model):
    """
    A table or view that was dropped and can be restored.
    """

    id: str
    name: str
    namespace: list[str]
    typ: Literal["generic-table", "table", "view"] | str
    warehouse_id: Annotated[str, Field(alias="warehouse-id")]
    created_at: Annotated[str, Field(alias="created-at")]
    deleted_at: Annotated[str, Field(alias="deleted-at")]
    expiration_date: Annotated[str, Field(alias="expiration-date")]


class TabularIdent(Model):
    """
    A table or view by its id.
    """

    type: Literal["generic-table", "table", "view"] | str
    id: str


class SearchTabularRequest(Model):
    """
    What is looked for; the first 64 characters count.
    """

    search: str


class UndropTabularsRequest(Model):
    """
    What to restore, all or nothing.
    """

    targets: list[TabularIdent]


class TagDefinition(Model):
    """
    A tag, as its project defines it; allowed values are left out in listings.
    """

    id: str
    name: str
    scope: list[Literal["column", "generic-table", "namespace", "table", "view", "warehouse"] | str]
    value_kind: Annotated[Literal["enumerated", "free-text", "marker"] | str, Field(alias="value-kind")]
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")] = None
    description: str | None = None
    allowed_values: Annotated[list[str] | None, Field(alias="allowed-values")] = None


class CreateTagDefinitionRequest(Model):
    """
    A tag to define; one with a fixed set of values names them.
    """

    name: str
    scope: list[Literal["column", "generic-table", "namespace", "table", "view", "warehouse"] | str]
    value_kind: Annotated[Literal["enumerated", "free-text", "marker"] | str, Field(alias="value-kind")]
    description: str | None = None
    allowed_values: Annotated[list[str] | None, Field(alias="allowed-values")] = None


class UpdateTagDefinitionRequest(Model):
    """
    What a tag is to be. Scopes and values can only be added; a description that is left out is removed.
    """

    name: str
    scope: list[Literal["column", "generic-table", "namespace", "table", "view", "warehouse"] | str]
    description: str | None = None
    add_allowed_values: Annotated[list[str] | None, Field(alias="add-allowed-values")] = None


class TagAttachmentTarget(Model):
    """
    What a tag is set on.
    """

    type: Literal["column", "generic-table", "namespace", "table", "view", "warehouse"] | str
    warehouse_id: Annotated[str, Field(alias="warehouse-id")]
    namespace_id: Annotated[str | None, Field(alias="namespace-id")] = None
    table_id: Annotated[str | None, Field(alias="table-id")] = None
    view_id: Annotated[str | None, Field(alias="view-id")] = None
    generic_table_id: Annotated[str | None, Field(alias="generic-table-id")] = None
    field_id: Annotated[int | None, Field(alias="field-id")] = None


class TagInheritanceSource(Model):
    """
    The namespace or warehouse that a tag is inherited from.
    """

    type: Literal["namespace", "warehouse"] | str
    warehouse_id: Annotated[str, Field(alias="warehouse-id")]
    namespace_id: Annotated[str | None, Field(alias="namespace-id")] = None


class AppliedTag(Model):
    """
    A tag that was set.
    """

    tag_definition_id: Annotated[str, Field(alias="tag-definition-id")]
    name: str
    applied_at: Annotated[str, Field(alias="applied-at")]
    value: str | None = None


class SetTagRequest(Model):
    """
    The value that a tag gets; a marker has none.
    """

    value: str | None = None


class TaskEntityId(Model):
    """
    What a task is about.
    """

    type: Literal["generic-table", "table", "view"] | str
    table_id: Annotated[str | None, Field(alias="table-id")] = ""
    view_id: Annotated[str | None, Field(alias="view-id")] = ""
    generic_table_id: Annotated[str | None, Field(alias="generic-table-id")] = ""


class TableTasks(Model):
    """
    Tasks about a table.
    """

    type: Literal["table"]
    table_id: Annotated[str, Field(alias="table-id")]


class ViewTasks(Model):
    """
    Tasks about a view.
    """

    type: Literal["view"]
    view_id: Annotated[str, Field(alias="view-id")]


class GenericTableTasks(Model):
    """
    Tasks about a generic table.
    """

    type: Literal["generic-table"]
    generic_table_id: Annotated[str, Field(alias="generic-table-id")]


class WarehouseTasks(Model):
    """
    Tasks that are about nothing in the warehouse, but about the warehouse itself.
    """

    type: Literal["warehouse"]


class TaskAttempt(Model):
    """
    An ended attempt; its duration is ISO 8601.
    """

    attempt: int
    status: Literal["CANCELLED", "FAILED", "RUNNING", "SCHEDULED", "STOPPING", "SUCCESS"] | str
    scheduled_for: Annotated[str, Field(alias="scheduled-for")]
    started_at: Annotated[str | None, Field(alias="started-at")]
    duration: str | None
    message: str | None
    progress: float
    execution_details: Annotated[dict[str, Any] | None, Field(alias="execution-details")]
    created_at: Annotated[str, Field(alias="created-at")]


class Stop(Model):
    """
    Have a running attempt stop; another follows.
    """

    action_type: Annotated[Literal["stop"], Field(alias="action-type")]


class Cancel(Model):
    """
    End it for good.
    """

    action_type: Annotated[Literal["cancel"], Field(alias="action-type")]


class RunNow(Model):
    """
    Begin an attempt now.
    """

    action_type: Annotated[Literal["run-now"], Field(alias="action-type")]


class RunAt(Model):
    """
    Begin an attempt then.
    """

    action_type: Annotated[Literal["run-at"], Field(alias="action-type")]
    scheduled_for: Annotated[AwareDatetime, Field(alias="scheduled-for")]


class QueueConfig(Model):
    """
    What the queue has of its own: nothing.
    """


class SetQueueConfigRequest(Model):
    """
    How a queue is to be set; null, or nothing, for a limit: as the server has it.
    """

    queue_config: Annotated[QueueConfig, Field(alias="queue-config")]
    max_seconds_since_last_heartbeat: Annotated[int | None, Field(alias="max-seconds-since-last-heartbeat")] = None


class ProjectTaskInfo(Model):
    """
    A task as it is now. `progress` is 1 where it is done, and before that 0 where nobody knows how much there is to do.
    """

    task_id: Annotated[str, Field(alias="task-id")]
    project_id: Annotated[str, Field(alias="project-id")]
    queue_name: Annotated[str, Field(alias="queue-name")]
    status: Literal["CANCELLED", "FAILED", "RUNNING", "SCHEDULED", "STOPPING", "SUCCESS"] | str
    parent_task_id: Annotated[str | None, Field(alias="parent-task-id")]
    scheduled_for: Annotated[str, Field(alias="scheduled-for")]
    picked_up_at: Annotated[str | None, Field(alias="picked-up-at")]
    last_heartbeat_at: Annotated[str | None, Field(alias="last-heartbeat-at")]
    attempt: int
    progress: float
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")] = None


class ListProjectTasksRequest(Model):
    """
    Which tasks; what is left out narrows nothing, an empty list leaves none.
    """

    status: list[Literal["CANCELLED", "FAILED", "RUNNING", "SCHEDULED", "STOPPING", "SUCCESS"] | str] | None = None
    queue_name: Annotated[list[str] | None, Field(alias="queue-name")] = None
    created_after: Annotated[AwareDatetime | None, Field(alias="created-after")] = None
    created_before: Annotated[AwareDatetime | None, Field(alias="created-before")] = None
    page_token: Annotated[str | None, Field(alias="page-token")] = None
    page_size: Annotated[int | None, Field(alias="page-size")] = None


class GetProjectTaskDetailsResponse(Model):
    """
    A task, what it is to do, and its newest ended attempts.
    """

    task_id: Annotated[str, Field(alias="task-id")]
    project_id: Annotated[str, Field(alias="project-id")]
    queue_name: Annotated[str, Field(alias="queue-name")]
    status: Literal["CANCELLED", "FAILED", "RUNNING", "SCHEDULED", "STOPPING", "SUCCESS"] | str
    parent_task_id: Annotated[str | None, Field(alias="parent-task-id")]
    scheduled_for: Annotated[str, Field(alias="scheduled-for")]
    picked_up_at: Annotated[str | None, Field(alias="picked-up-at")]
    last_heartbeat_at: Annotated[str | None, Field(alias="last-heartbeat-at")]
    attempt: int
    progress: float
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")] = None
    task_data: Annotated[dict[str, Any], Field(alias="task-data")]
    message: str | None
    execution_details: Annotated[dict[str, Any] | None, Field(alias="execution-details")]
    attempts: list[TaskAttempt]


class TaskLogCleanupConfig(Model):
    """
    How often the record of ended tasks is looked through, and for how long it is kept.
    """

    cleanup_period: Annotated[timedelta | None, Field(alias="cleanup-period")] = None
    retention_period: Annotated[timedelta | None, Field(alias="retention-period")] = None


class SetTaskLogCleanupConfig(Model):
    """
    How the queue is to be set; null, or nothing: as the server has it.
    """

    queue_config: Annotated[TaskLogCleanupConfig, Field(alias="queue-config")]
    max_seconds_since_last_heartbeat: Annotated[int | None, Field(alias="max-seconds-since-last-heartbeat")] = None


class QueueSchedule(Model):
    """
    When a queue makes its tasks: by a cron expression in a time zone, or else every so often.

        A time that nobody served is made up for once. What a change of the clocks leaves out runs when they have changed.
    """

    cron: str | None
    time_zone: Annotated[str | None, Field(alias="time-zone")]
    period: timedelta | None
    next_run_at: Annotated[str | None, Field(alias="next-run-at")]


class SetQueueSchedule(Model):
    """
    When a queue is to make its tasks: minute, hour, day of month, month, day of week, in a time zone of IANA.
    """

    cron: str
    time_zone: Annotated[str | None, Field(alias="time-zone")] = "UTC"


class ScheduleTaskResponse(Model):
    """
    What was queued.
    """

    task_id: Annotated[str, Field(alias="task-id")]


class ScheduleTaskRequest(Model):
    """
    When a task is to run; null, or nothing: now.
    """

    scheduled_for: Annotated[AwareDatetime | None, Field(alias="scheduled-for")] = None


class GetServerAssignmentsResponseAssignment(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["admin", "operator"] | str
    user: str | None = None
    role: UUID | None = None


class GetServerAssignmentsResponse(Model):
    assignments: list[GetServerAssignmentsResponseAssignment]


class UpdateServerAssignmentsRequestWrite(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["admin", "operator"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateServerAssignmentsRequestDelete(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["admin", "operator"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateServerAssignmentsRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    writes: list[UpdateServerAssignmentsRequestWrite] | None = None
    deletes: list[UpdateServerAssignmentsRequestDelete] | None = None


class GetOpenFGAServerActionsResponse(Model):
    allowed_actions: Annotated[
        list[Literal["read_assignments", "grant_admin"] | str],
        Field(alias="allowed-actions"),
    ]


class GetServerAccessResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "create_project",
                "update_users",
                "delete_users",
                "list_users",
                "grant_admin",
                "provision_users",
                "read_assignments",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetProjectAssignmentsResponseAssignment(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: (
        Literal[
            "project_admin",
            "security_admin",
            "data_admin",
            "role_creator",
            "tag_creator",
            "describe",
            "select",
            "create",
            "modify",
        ]
        | str
    )
    user: str | None = None
    role: UUID | None = None


class GetProjectAssignmentsResponse(Model):
    assignments: list[GetProjectAssignmentsResponseAssignment]
    project_id: Annotated[str, Field(alias="project-id")]


class UpdateProjectAssignmentsRequestWrite(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: (
        Literal[
            "project_admin",
            "security_admin",
            "data_admin",
            "role_creator",
            "tag_creator",
            "describe",
            "select",
            "create",
            "modify",
        ]
        | str
    )
    user: str | None = None
    role: UUID | None = None


class UpdateProjectAssignmentsRequestDelete(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: (
        Literal[
            "project_admin",
            "security_admin",
            "data_admin",
            "role_creator",
            "tag_creator",
            "describe",
            "select",
            "create",
            "modify",
        ]
        | str
    )
    user: str | None = None
    role: UUID | None = None


class UpdateProjectAssignmentsRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    writes: list[UpdateProjectAssignmentsRequestWrite] | None = None
    deletes: list[UpdateProjectAssignmentsRequestDelete] | None = None


class GetOpenFGAProjectActionsResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "read_assignments",
                "grant_role_creator",
                "grant_tag_creator",
                "grant_create",
                "grant_describe",
                "grant_modify",
                "grant_select",
                "grant_project_admin",
                "grant_security_admin",
                "grant_data_admin",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetProjectAccessResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "create_warehouse",
                "delete",
                "rename",
                "list_warehouses",
                "create_role",
                "list_roles",
                "search_roles",
                "get_endpoint_statistics",
                "read_assignments",
                "grant_role_creator",
                "grant_tag_creator",
                "grant_create",
                "grant_describe",
                "grant_modify",
                "grant_select",
                "grant_project_admin",
                "grant_security_admin",
                "grant_data_admin",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetWarehouseAssignmentsResponseAssignment(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: (
        Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "create", "modify", "manage_tags"]
        | str
    )
    user: str | None = None
    role: UUID | None = None


class GetWarehouseAssignmentsResponse(Model):
    assignments: list[GetWarehouseAssignmentsResponseAssignment]


class UpdateWarehouseAssignmentsRequestWrite(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: (
        Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "create", "modify", "manage_tags"]
        | str
    )
    user: str | None = None
    role: UUID | None = None


class UpdateWarehouseAssignmentsRequestDelete(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: (
        Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "create", "modify", "manage_tags"]
        | str
    )
    user: str | None = None
    role: UUID | None = None


class UpdateWarehouseAssignmentsRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    writes: list[UpdateWarehouseAssignmentsRequestWrite] | None = None
    deletes: list[UpdateWarehouseAssignmentsRequestDelete] | None = None


class GetOpenFGAWarehouseActionsResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "read_assignments",
                "grant_create",
                "grant_pass_grants",
                "grant_manage_grants",
                "grant_manage_tags",
                "grant_describe",
                "grant_select",
                "grant_modify",
                "change_ownership",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetWarehouseAccessResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "create_namespace",
                "accept_moved_namespace",
                "delete",
                "modify_storage",
                "modify_storage_credential",
                "get_config",
                "get_metadata",
                "list_namespaces",
                "include_in_list",
                "deactivate",
                "activate",
                "rename",
                "list_deleted_tabulars",
                "read_assignments",
                "grant_create",
                "grant_pass_grants",
                "grant_manage_grants",
                "grant_manage_tags",
                "grant_describe",
                "grant_select",
                "grant_modify",
                "change_ownership",
                "get_all_tasks",
                "control_all_tasks",
                "set_protection",
                "set_format_version_policy",
                "get_endpoint_statistics",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetNamespaceAssignmentsResponseAssignment(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: (
        Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "create", "modify", "manage_tags"]
        | str
    )
    user: str | None = None
    role: UUID | None = None


class GetNamespaceAssignmentsResponse(Model):
    assignments: list[GetNamespaceAssignmentsResponseAssignment]


class UpdateNamespaceAssignmentsRequestWrite(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: (
        Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "create", "modify", "manage_tags"]
        | str
    )
    user: str | None = None
    role: UUID | None = None


class UpdateNamespaceAssignmentsRequestDelete(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: (
        Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "create", "modify", "manage_tags"]
        | str
    )
    user: str | None = None
    role: UUID | None = None


class UpdateNamespaceAssignmentsRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    writes: list[UpdateNamespaceAssignmentsRequestWrite] | None = None
    deletes: list[UpdateNamespaceAssignmentsRequestDelete] | None = None


class GetOpenFGANamespaceActionsResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "read_assignments",
                "grant_create",
                "grant_pass_grants",
                "grant_manage_grants",
                "grant_manage_tags",
                "grant_describe",
                "grant_select",
                "grant_modify",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetNamespaceAccessResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "create_table",
                "create_view",
                "create_generic_table",
                "create_namespace",
                "delete",
                "move",
                "accept_moved_namespace",
                "update_properties",
                "get_metadata",
                "read_assignments",
                "grant_create",
                "grant_pass_grants",
                "grant_manage_grants",
                "grant_manage_tags",
                "grant_describe",
                "grant_select",
                "grant_modify",
                "set_protection",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetTableAssignmentsResponseAssignment(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "modify", "manage_tags"] | str
    user: str | None = None
    role: UUID | None = None


class GetTableAssignmentsResponse(Model):
    assignments: list[GetTableAssignmentsResponseAssignment]


class UpdateTableAssignmentsRequestWrite(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "modify", "manage_tags"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateTableAssignmentsRequestDelete(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "modify", "manage_tags"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateTableAssignmentsRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    writes: list[UpdateTableAssignmentsRequestWrite] | None = None
    deletes: list[UpdateTableAssignmentsRequestDelete] | None = None


class GetOpenFGATableActionsResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "read_assignments",
                "grant_pass_grants",
                "grant_manage_grants",
                "grant_manage_tags",
                "grant_describe",
                "grant_select",
                "grant_modify",
                "change_ownership",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetTableAccessResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "drop",
                "write_data",
                "read_data",
                "get_metadata",
                "commit",
                "rename",
                "read_assignments",
                "grant_pass_grants",
                "grant_manage_grants",
                "grant_manage_tags",
                "grant_describe",
                "grant_select",
                "grant_modify",
                "change_ownership",
                "get_tasks",
                "control_tasks",
                "set_protection",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetViewAssignmentsResponseAssignment(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "modify", "manage_tags"] | str
    user: str | None = None
    role: UUID | None = None


class GetViewAssignmentsResponse(Model):
    assignments: list[GetViewAssignmentsResponseAssignment]


class UpdateViewAssignmentsRequestWrite(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "modify", "manage_tags"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateViewAssignmentsRequestDelete(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "modify", "manage_tags"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateViewAssignmentsRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    writes: list[UpdateViewAssignmentsRequestWrite] | None = None
    deletes: list[UpdateViewAssignmentsRequestDelete] | None = None


class GetOpenFGAViewActionsResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "read_assignments",
                "grant_pass_grants",
                "grant_manage_grants",
                "grant_manage_tags",
                "grant_describe",
                "grant_select",
                "grant_modify",
                "change_ownership",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetViewAccessResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "drop",
                "commit",
                "get_metadata",
                "select",
                "rename",
                "read_assignments",
                "grant_pass_grants",
                "grant_manage_grants",
                "grant_manage_tags",
                "grant_describe",
                "grant_select",
                "grant_modify",
                "change_ownership",
                "get_tasks",
                "control_tasks",
                "set_protection",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetGenericTableAssignmentsResponseAssignment(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "modify", "manage_tags"] | str
    user: str | None = None
    role: UUID | None = None


class GetGenericTableAssignmentsResponse(Model):
    assignments: list[GetGenericTableAssignmentsResponseAssignment]


class UpdateGenericTableAssignmentsRequestWrite(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "modify", "manage_tags"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateGenericTableAssignmentsRequestDelete(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "pass_grants", "manage_grants", "describe", "select", "modify", "manage_tags"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateGenericTableAssignmentsRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    writes: list[UpdateGenericTableAssignmentsRequestWrite] | None = None
    deletes: list[UpdateGenericTableAssignmentsRequestDelete] | None = None


class GetOpenFGAGenericTableActionsResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "read_assignments",
                "grant_pass_grants",
                "grant_manage_grants",
                "grant_manage_tags",
                "grant_describe",
                "grant_select",
                "grant_modify",
                "change_ownership",
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetRoleAssignmentsResponseAssignment(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["assignee", "ownership"] | str
    user: str | None = None
    role: UUID | None = None


class GetRoleAssignmentsResponse(Model):
    assignments: list[GetRoleAssignmentsResponseAssignment]


class UpdateRoleAssignmentsRequestWrite(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["assignee", "ownership"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateRoleAssignmentsRequestDelete(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["assignee", "ownership"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateRoleAssignmentsRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    writes: list[UpdateRoleAssignmentsRequestWrite] | None = None
    deletes: list[UpdateRoleAssignmentsRequestDelete] | None = None


class GetOpenFGARoleActionsResponse(Model):
    allowed_actions: Annotated[
        list[Literal["assume", "can_grant_assignee", "can_change_ownership", "read_assignments"] | str],
        Field(alias="allowed-actions"),
    ]


class GetRoleAccessResponse(Model):
    allowed_actions: Annotated[
        list[
            Literal[
                "assume", "can_grant_assignee", "can_change_ownership", "delete", "update", "read", "read_assignments"
            ]
            | str
        ],
        Field(alias="allowed-actions"),
    ]


class GetTagAssignmentsResponseAssignment(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "apply"] | str
    user: str | None = None
    role: UUID | None = None


class GetTagAssignmentsResponse(Model):
    assignments: list[GetTagAssignmentsResponseAssignment]


class UpdateTagAssignmentsRequestWrite(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "apply"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateTagAssignmentsRequestDelete(Model):
    """
    A relation; exactly one of `user` and `role` is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["ownership", "apply"] | str
    user: str | None = None
    role: UUID | None = None


class UpdateTagAssignmentsRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    writes: list[UpdateTagAssignmentsRequestWrite] | None = None
    deletes: list[UpdateTagAssignmentsRequestDelete] | None = None


class GetWarehouseAuthPropertiesResponse(Model):
    """
    Whether access is managed.
    """

    managed_access: Annotated[bool, Field(alias="managed-access")]


class SetManagedAccessRequest(Model):
    """
    Whether owners of what is inside are to be kept from granting.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    managed_access: Annotated[bool, Field(alias="managed-access")]


class GetNamespaceAuthPropertiesResponse(Model):
    """
    Whether access is managed here, and whether it is here or above.
    """

    managed_access: Annotated[bool, Field(alias="managed-access")]
    managed_access_inherited: Annotated[bool, Field(alias="managed-access-inherited")]


class UserOrRole(Model):
    """
    A user or a role: exactly one of the two is given.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    user: str | None = None
    role: str | None = None


class GrantResource(Model):
    """
    What a grant is on: its kind, and the ids that name one of that kind.
    """

    type: (
        Literal["generic-table", "namespace", "project", "server", "table", "tag-definition", "view", "warehouse"] | str
    )
    project_id: Annotated[str | None, Field(alias="project-id")] = None
    warehouse_id: Annotated[str | None, Field(alias="warehouse-id")] = None
    namespace_id: Annotated[str | None, Field(alias="namespace-id")] = None
    table_id: Annotated[str | None, Field(alias="table-id")] = None
    view_id: Annotated[str | None, Field(alias="view-id")] = None
    generic_table_id: Annotated[str | None, Field(alias="generic-table-id")] = None
    tag_definition_id: Annotated[str | None, Field(alias="tag-definition-id")] = None


class PrivilegeDescriptor(Model):
    """
    Something that can be given.
    """

    name: str
    display_name: Annotated[str, Field(alias="display-name")]
    description: str | None
    category: str | None
    resource_type: Annotated[str, Field(alias="resource-type")]


class GrantEntry(Model):
    """
    A grant to give or to take.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    principal: UserOrRole
    privilege: str


class GrantablePrivilege(Model):
    """
    A privilege, and whether the principal may give and take it.
    """

    privilege: PrivilegeDescriptor
    allowed: bool


class User(Model):
    """
    A user.
    """

    id: str
    name: str
    email: str | None
    user_type: Annotated[Literal["application", "human"] | str, Field(alias="user-type")]
    last_updated_with: Annotated[str, Field(alias="last-updated-with")]
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")]


class SearchUser(Model):
    """
    A user that was found.
    """

    id: str
    name: str
    email: str | None
    user_type: Annotated[Literal["application", "human"] | str, Field(alias="user-type")]


class SearchUserRequest(Model):
    """
    What is looked for; the first 64 characters count.
    """

    search: str


class WhoamiResponse(Model):
    """
    The caller.
    """

    id: str
    name: str
    email: str | None
    user_type: Annotated[Literal["application", "human"] | str, Field(alias="user-type")]
    last_updated_with: Annotated[str, Field(alias="last-updated-with")]
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")]
    is_instance_admin: Annotated[bool, Field(alias="is-instance-admin")]


class UserAction(Model):
    """
    Something that may be done to a user.
    """

    action: Literal["delete", "read", "read_role_assignments", "update"] | str


class CreateUserRequest(Model):
    """
    A user to record; without an id the caller, and what is left out is then the token's.
    """

    id: str | None = None
    name: str | None = None
    email: str | None = None
    user_type: Annotated[Literal["application", "human"] | str | None, Field(alias="user-type")] = None
    update_if_exists: Annotated[bool | None, Field(alias="update-if-exists")] = False


class UpdateUserRequest(Model):
    """
    What is to be known of a user; an address that is left out is none.
    """

    name: str
    user_type: Annotated[Literal["application", "human"] | str, Field(alias="user-type")]
    email: str | None = None


class Role(Model):
    """
    A role.
    """

    id: str
    ident: str
    provider_id: Annotated[str, Field(alias="provider-id")]
    source_id: Annotated[str, Field(alias="source-id")]
    name: str
    description: str | None
    project_id: Annotated[str, Field(alias="project-id")]
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")]


class SearchRoleResponse(Model):
    """
    Roles that were found, the likest first.
    """

    roles: list[Role]


class SearchRoleRequest(Model):
    """
    What is looked for. `project-id` is the header x-project-id in an older place.
    """

    search: str
    project_id: Annotated[str | None, Field(alias="project-id")] = None


class RoleMetadata(Model):
    """
    What a role is called.
    """

    id: str
    ident: str
    provider_id: Annotated[str, Field(alias="provider-id")]
    source_id: Annotated[str, Field(alias="source-id")]
    name: str
    project_id: Annotated[str, Field(alias="project-id")]


class CreateRoleRequest(Model):
    """
    A role to make. `project-id` is the header x-project-id in an older place.
    """

    name: str
    description: str | None = None
    provider_id: Annotated[str | None, Field(alias="provider-id")] = None
    source_id: Annotated[str | None, Field(alias="source-id")] = None
    project_id: Annotated[str | None, Field(alias="project-id")] = None


class UpdateRoleRequest(Model):
    """
    What a role is to be called; a description that is left out is none.
    """

    name: str
    description: str | None = None


class UpdateRoleSourceSystemRequest(Model):
    """
    What a provider calls a role.
    """

    provider_id: Annotated[str, Field(alias="provider-id")]
    source_id: Annotated[str, Field(alias="source-id")]


class RoleMemberUser(Model):
    """
    A user in a role; null is what nobody knows.
    """

    type: Literal["user"]
    id: str
    name: str | None
    email: str | None
    user_type: Annotated[Literal["application", "human"] | str | None, Field(alias="user-type")]


class RoleMemberRole(Model):
    """
    A role in a role.
    """

    type: Literal["role"]
    id: str
    ident: str
    name: str


class RoleMemberRefUser(Model):
    """
    A user, by id.
    """

    type: Literal["user"]
    id: str


class RoleMemberRefRole(Model):
    """
    A role, by id.
    """

    type: Literal["role"]
    id: UUID


class AddRoleMembersRequest(Model):
    """
    Who is to be in a role.
    """

    members: list[Annotated[RoleMemberRefUser | RoleMemberRefRole, Field(discriminator="type")]]


class RoleMembership(Model):
    """
    A role that somebody is in.
    """

    id: str
    ident: str
    name: str


class GetLakekeeperServerActionsResponseAllowedAction(Model):
    action: (
        Literal["create_project", "update_users", "delete_users", "list_users", "provision_users", "read_grants"] | str
    )


class GetLakekeeperServerActionsResponse(Model):
    allowed_actions: Annotated[
        list[GetLakekeeperServerActionsResponseAllowedAction],
        Field(alias="allowed-actions"),
    ]


class GetLakekeeperProjectActionsResponseAllowedAction(Model):
    action: (
        Literal[
            "create_warehouse",
            "delete",
            "rename",
            "get_metadata",
            "list_warehouses",
            "include_in_list",
            "create_role",
            "list_roles",
            "search_roles",
            "get_endpoint_statistics",
            "modify_task_queue_config",
            "get_task_queue_config",
            "get_project_tasks",
            "control_project_tasks",
            "create_tag",
            "list_tags",
            "read_grants",
        ]
        | str
    )


class GetLakekeeperProjectActionsResponse(Model):
    allowed_actions: Annotated[
        list[GetLakekeeperProjectActionsResponseAllowedAction],
        Field(alias="allowed-actions"),
    ]


class GetLakekeeperWarehouseActionsResponseAllowedAction(Model):
    action: (
        Literal[
            "create_namespace",
            "delete",
            "update_storage",
            "get_metadata",
            "get_config",
            "list_namespaces",
            "list_everything",
            "use",
            "include_in_list",
            "deactivate",
            "activate",
            "rename",
            "list_deleted_tabulars",
            "modify_soft_deletion",
            "get_task_queue_config",
            "modify_task_queue_config",
            "get_all_tasks",
            "control_all_tasks",
            "set_protection",
            "set_format_version_policy",
            "get_endpoint_statistics",
            "manage_tags",
            "accept_moved_namespace",
            "read_grants",
        ]
        | str
    )


class GetLakekeeperWarehouseActionsResponse(Model):
    allowed_actions: Annotated[
        list[GetLakekeeperWarehouseActionsResponseAllowedAction],
        Field(alias="allowed-actions"),
    ]


class GetLakekeeperNamespaceActionsResponseAllowedAction(Model):
    action: (
        Literal[
            "create_table",
            "create_view",
            "create_namespace",
            "delete",
            "update_properties",
            "get_metadata",
            "list_tables",
            "list_views",
            "list_namespaces",
            "list_everything",
            "set_protection",
            "include_in_list",
            "create_generic_table",
            "list_generic_tables",
            "manage_tags",
            "move",
            "accept_moved_namespace",
            "read_grants",
        ]
        | str
    )


class GetLakekeeperNamespaceActionsResponse(Model):
    allowed_actions: Annotated[
        list[GetLakekeeperNamespaceActionsResponseAllowedAction],
        Field(alias="allowed-actions"),
    ]


class GetLakekeeperTableActionsResponseAllowedAction(Model):
    action: (
        Literal[
            "drop",
            "write_data",
            "read_data",
            "get_metadata",
            "commit",
            "rename",
            "include_in_list",
            "undrop",
            "get_tasks",
            "control_tasks",
            "set_protection",
            "manage_tags",
            "read_grants",
        ]
        | str
    )


class GetLakekeeperTableActionsResponse(Model):
    allowed_actions: Annotated[
        list[GetLakekeeperTableActionsResponseAllowedAction],
        Field(alias="allowed-actions"),
    ]


class GetLakekeeperViewActionsResponseAllowedAction(Model):
    action: (
        Literal[
            "drop",
            "get_metadata",
            "select",
            "commit",
            "rename",
            "include_in_list",
            "undrop",
            "get_tasks",
            "control_tasks",
            "set_protection",
            "manage_tags",
            "read_grants",
        ]
        | str
    )


class GetLakekeeperViewActionsResponse(Model):
    allowed_actions: Annotated[
        list[GetLakekeeperViewActionsResponseAllowedAction],
        Field(alias="allowed-actions"),
    ]


class GetLakekeeperGenericTableActionsResponseAllowedAction(Model):
    action: (
        Literal[
            "drop",
            "read_data",
            "write_data",
            "get_metadata",
            "rename",
            "include_in_list",
            "undrop",
            "get_tasks",
            "control_tasks",
            "set_protection",
            "manage_tags",
            "read_grants",
        ]
        | str
    )


class GetLakekeeperGenericTableActionsResponse(Model):
    allowed_actions: Annotated[
        list[GetLakekeeperGenericTableActionsResponseAllowedAction],
        Field(alias="allowed-actions"),
    ]


class GetLakekeeperRoleActionsResponseAllowedAction(Model):
    action: (
        Literal[
            "read",
            "read_metadata",
            "delete",
            "update",
            "manage_role_assignments",
            "read_role_assignments",
            "update_source_system",
        ]
        | str
    )


class GetLakekeeperRoleActionsResponse(Model):
    allowed_actions: Annotated[
        list[GetLakekeeperRoleActionsResponseAllowedAction],
        Field(alias="allowed-actions"),
    ]


class GetLakekeeperTagActionsResponseAllowedAction(Model):
    action: Literal["read", "update", "delete", "apply", "remove", "read_attachments", "read_grants"] | str


class GetLakekeeperTagActionsResponse(Model):
    allowed_actions: Annotated[
        list[GetLakekeeperTagActionsResponseAllowedAction],
        Field(alias="allowed-actions"),
    ]


class CheckResponse(Model):
    """
    Whether one may.
    """

    allowed: bool


class CheckRequestOperationServer(Model):
    action: (
        Literal[
            "create_project",
            "update_users",
            "delete_users",
            "list_users",
            "grant_admin",
            "provision_users",
            "read_assignments",
        ]
        | str
    )


class CheckRequestOperation(Model):
    server: CheckRequestOperationServer


class CheckRequestOperation1Project(Model):
    action: (
        Literal[
            "create_warehouse",
            "delete",
            "rename",
            "list_warehouses",
            "create_role",
            "list_roles",
            "search_roles",
            "get_endpoint_statistics",
            "read_assignments",
            "grant_role_creator",
            "grant_tag_creator",
            "grant_create",
            "grant_describe",
            "grant_modify",
            "grant_select",
            "grant_project_admin",
            "grant_security_admin",
            "grant_data_admin",
        ]
        | str
    )
    project_id: Annotated[str | None, Field(alias="project-id")] = None


class CheckRequestOperation1(Model):
    project: CheckRequestOperation1Project


class CheckRequestOperation2Warehouse(Model):
    action: (
        Literal[
            "create_namespace",
            "accept_moved_namespace",
            "delete",
            "modify_storage",
            "modify_storage_credential",
            "get_config",
            "get_metadata",
            "list_namespaces",
            "include_in_list",
            "deactivate",
            "activate",
            "rename",
            "list_deleted_tabulars",
            "read_assignments",
            "grant_create",
            "grant_pass_grants",
            "grant_manage_grants",
            "grant_manage_tags",
            "grant_describe",
            "grant_select",
            "grant_modify",
            "change_ownership",
            "get_all_tasks",
            "control_all_tasks",
            "set_protection",
            "set_format_version_policy",
            "get_endpoint_statistics",
        ]
        | str
    )
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]


class CheckRequestOperation2(Model):
    warehouse: CheckRequestOperation2Warehouse


class CheckRequestOperation3Namespace(Model):
    action: (
        Literal[
            "create_table",
            "create_view",
            "create_generic_table",
            "create_namespace",
            "delete",
            "move",
            "accept_moved_namespace",
            "update_properties",
            "get_metadata",
            "read_assignments",
            "grant_create",
            "grant_pass_grants",
            "grant_manage_grants",
            "grant_manage_tags",
            "grant_describe",
            "grant_select",
            "grant_modify",
            "set_protection",
        ]
        | str
    )
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    namespace_id: Annotated[UUID | None, Field(alias="namespace-id")] = None
    namespace: list[str] | None = None


class CheckRequestOperation3(Model):
    namespace: CheckRequestOperation3Namespace


class CheckRequestOperation4Table(Model):
    action: (
        Literal[
            "drop",
            "write_data",
            "read_data",
            "get_metadata",
            "commit",
            "rename",
            "read_assignments",
            "grant_pass_grants",
            "grant_manage_grants",
            "grant_manage_tags",
            "grant_describe",
            "grant_select",
            "grant_modify",
            "change_ownership",
            "get_tasks",
            "control_tasks",
            "set_protection",
        ]
        | str
    )
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    table_id: Annotated[UUID | None, Field(alias="table-id")] = None
    namespace: list[str] | None = None
    table: str | None = None


class CheckRequestOperation4(Model):
    table: CheckRequestOperation4Table


class CheckRequestOperation5View(Model):
    action: (
        Literal[
            "drop",
            "commit",
            "get_metadata",
            "select",
            "rename",
            "read_assignments",
            "grant_pass_grants",
            "grant_manage_grants",
            "grant_manage_tags",
            "grant_describe",
            "grant_select",
            "grant_modify",
            "change_ownership",
            "get_tasks",
            "control_tasks",
            "set_protection",
        ]
        | str
    )
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    table_id: Annotated[UUID | None, Field(alias="table-id")] = None
    namespace: list[str] | None = None
    table: str | None = None


class CheckRequestOperation5(Model):
    view: CheckRequestOperation5View


class CheckRequestOperation6GenericTable(Model):
    action: (
        Literal[
            "drop",
            "undrop",
            "write_data",
            "read_data",
            "get_metadata",
            "rename",
            "include_in_list",
            "get_tasks",
            "control_tasks",
            "set_protection",
            "read_assignments",
            "grant_pass_grants",
            "grant_manage_grants",
            "grant_manage_tags",
            "grant_describe",
            "grant_select",
            "grant_modify",
            "change_ownership",
        ]
        | str
    )
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    table_id: Annotated[UUID | None, Field(alias="table-id")] = None
    namespace: list[str] | None = None
    table: str | None = None


class CheckRequestOperation6(Model):
    generic_table: Annotated[CheckRequestOperation6GenericTable, Field(alias="generic-table")]


class CheckRequestIdentity(Model):
    """
    Exactly one of the two; without it the caller is meant.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    user: str | None = None
    role: UUID | None = None


class CheckRequest(Model):
    operation: (
        CheckRequestOperation
        | CheckRequestOperation1
        | CheckRequestOperation2
        | CheckRequestOperation3
        | CheckRequestOperation4
        | CheckRequestOperation5
        | CheckRequestOperation6
    )
    identity: Annotated[
        CheckRequestIdentity | None,
        Field(description="Exactly one of the two; without it the caller is meant."),
    ] = None


class CatalogActionsBatchCheckResult(Model):
    """
    The answer of one.
    """

    id: str
    allowed: bool


class CatalogActionsBatchCheckRequestCheckOperationServerAction(Model):
    action: (
        Literal["create_project", "update_users", "delete_users", "list_users", "provision_users", "read_grants"] | str
    )
    name: Any | None = None
    project_id: Any | None = None


class CatalogActionsBatchCheckRequestCheckOperationServer(Model):
    action: CatalogActionsBatchCheckRequestCheckOperationServerAction


class CatalogActionsBatchCheckRequestCheckOperation(Model):
    server: CatalogActionsBatchCheckRequestCheckOperationServer


class CatalogActionsBatchCheckRequestCheckOperation1ProjectAction(Model):
    action: (
        Literal[
            "create_warehouse",
            "delete",
            "rename",
            "get_metadata",
            "list_warehouses",
            "include_in_list",
            "create_role",
            "list_roles",
            "search_roles",
            "get_endpoint_statistics",
            "modify_task_queue_config",
            "get_task_queue_config",
            "get_project_tasks",
            "control_project_tasks",
            "create_tag",
            "list_tags",
            "read_grants",
        ]
        | str
    )
    name: Any | None = None


class CatalogActionsBatchCheckRequestCheckOperation1Project(Model):
    action: CatalogActionsBatchCheckRequestCheckOperation1ProjectAction
    project_id: Annotated[str | None, Field(alias="project-id")] = None


class CatalogActionsBatchCheckRequestCheckOperation1(Model):
    project: CatalogActionsBatchCheckRequestCheckOperation1Project


class CatalogActionsBatchCheckRequestCheckOperation2WarehouseAction(Model):
    action: (
        Literal[
            "create_namespace",
            "delete",
            "update_storage",
            "get_metadata",
            "get_config",
            "list_namespaces",
            "list_everything",
            "use",
            "include_in_list",
            "deactivate",
            "activate",
            "rename",
            "list_deleted_tabulars",
            "modify_soft_deletion",
            "get_task_queue_config",
            "modify_task_queue_config",
            "get_all_tasks",
            "control_all_tasks",
            "set_protection",
            "set_format_version_policy",
            "get_endpoint_statistics",
            "manage_tags",
            "accept_moved_namespace",
            "read_grants",
        ]
        | str
    )
    name: Any | None = None
    properties: Any | None = None
    source: Any | None = None


class CatalogActionsBatchCheckRequestCheckOperation2Warehouse(Model):
    action: CatalogActionsBatchCheckRequestCheckOperation2WarehouseAction
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]


class CatalogActionsBatchCheckRequestCheckOperation2(Model):
    warehouse: CatalogActionsBatchCheckRequestCheckOperation2Warehouse


class CatalogActionsBatchCheckRequestCheckOperation3NamespaceAction(Model):
    action: (
        Literal[
            "create_table",
            "create_view",
            "create_namespace",
            "delete",
            "update_properties",
            "get_metadata",
            "list_tables",
            "list_views",
            "list_namespaces",
            "list_everything",
            "set_protection",
            "include_in_list",
            "create_generic_table",
            "list_generic_tables",
            "manage_tags",
            "move",
            "accept_moved_namespace",
            "read_grants",
        ]
        | str
    )
    base_location: Any | None = None
    destination: Any | None = None
    force: Any | None = None
    format: Any | None = None
    generic_table_id: Any | None = None
    name: Any | None = None
    properties: Any | None = None
    purge: Any | None = None
    recursive: Any | None = None
    removed_properties: Any | None = None
    source: Any | None = None
    table_id: Any | None = None
    updated_properties: Any | None = None


class CatalogActionsBatchCheckRequestCheckOperation3Namespace(Model):
    action: CatalogActionsBatchCheckRequestCheckOperation3NamespaceAction
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    namespace_id: Annotated[UUID | None, Field(alias="namespace-id")] = None
    namespace: list[str] | None = None


class CatalogActionsBatchCheckRequestCheckOperation3(Model):
    namespace: CatalogActionsBatchCheckRequestCheckOperation3Namespace


class CatalogActionsBatchCheckRequestCheckOperation4TableAction(Model):
    action: (
        Literal[
            "drop",
            "write_data",
            "read_data",
            "get_metadata",
            "commit",
            "rename",
            "include_in_list",
            "undrop",
            "get_tasks",
            "control_tasks",
            "set_protection",
            "manage_tags",
            "read_grants",
        ]
        | str
    )
    force: Any | None = None
    purge: Any | None = None
    removed_properties: Any | None = None
    target_refs: Any | None = None
    update_kinds: Any | None = None
    updated_properties: Any | None = None


class CatalogActionsBatchCheckRequestCheckOperation4Table(Model):
    action: CatalogActionsBatchCheckRequestCheckOperation4TableAction
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    table_id: Annotated[UUID | None, Field(alias="table-id")] = None
    namespace: list[str] | None = None
    table: str | None = None


class CatalogActionsBatchCheckRequestCheckOperation4(Model):
    table: CatalogActionsBatchCheckRequestCheckOperation4Table


class CatalogActionsBatchCheckRequestCheckOperation5ViewAction(Model):
    action: (
        Literal[
            "drop",
            "get_metadata",
            "select",
            "commit",
            "rename",
            "include_in_list",
            "undrop",
            "get_tasks",
            "control_tasks",
            "set_protection",
            "manage_tags",
            "read_grants",
        ]
        | str
    )
    force: Any | None = None
    purge: Any | None = None
    removed_properties: Any | None = None
    updated_properties: Any | None = None


class CatalogActionsBatchCheckRequestCheckOperation5View(Model):
    action: CatalogActionsBatchCheckRequestCheckOperation5ViewAction
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    table_id: Annotated[UUID | None, Field(alias="table-id")] = None
    namespace: list[str] | None = None
    table: str | None = None


class CatalogActionsBatchCheckRequestCheckOperation5(Model):
    view: CatalogActionsBatchCheckRequestCheckOperation5View


class CatalogActionsBatchCheckRequestCheckOperation6GenericTableAction(Model):
    action: (
        Literal[
            "drop",
            "read_data",
            "write_data",
            "get_metadata",
            "rename",
            "include_in_list",
            "undrop",
            "get_tasks",
            "control_tasks",
            "set_protection",
            "manage_tags",
            "read_grants",
        ]
        | str
    )
    force: Any | None = None
    purge: Any | None = None


class CatalogActionsBatchCheckRequestCheckOperation6GenericTable(Model):
    action: CatalogActionsBatchCheckRequestCheckOperation6GenericTableAction
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    table_id: Annotated[UUID | None, Field(alias="table-id")] = None
    namespace: list[str] | None = None
    table: str | None = None


class CatalogActionsBatchCheckRequestCheckOperation6(Model):
    generic_table: Annotated[
        CatalogActionsBatchCheckRequestCheckOperation6GenericTable,
        Field(alias="generic-table"),
    ]


class CatalogActionsBatchCheckRequestCheckIdentity(Model):
    """
    Exactly one of the two; without it the caller is meant.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    user: str | None = None
    role: UUID | None = None


class CatalogActionsBatchCheckRequestCheck(Model):
    id: str | None = None
    operation: (
        CatalogActionsBatchCheckRequestCheckOperation
        | CatalogActionsBatchCheckRequestCheckOperation1
        | CatalogActionsBatchCheckRequestCheckOperation2
        | CatalogActionsBatchCheckRequestCheckOperation3
        | CatalogActionsBatchCheckRequestCheckOperation4
        | CatalogActionsBatchCheckRequestCheckOperation5
        | CatalogActionsBatchCheckRequestCheckOperation6
    )
    identity: Annotated[
        CatalogActionsBatchCheckRequestCheckIdentity | None,
        Field(description="Exactly one of the two; without it the caller is meant."),
    ] = None


class CatalogActionsBatchCheckRequest(Model):
    checks: list[CatalogActionsBatchCheckRequestCheck]
    error_on_not_found: Annotated[bool | None, Field(alias="error-on-not-found")] = None


class GrantSource(Model):
    """
    A grant that the answer follows from; without principal and privilege where the caller may not read grants there.
    """

    resource: dict[str, str]
    principal: UserOrRole | None
    privilege: str | None
    through_roles: Annotated[list[str], Field(alias="through-roles")]


class GrantRemedy(Model):
    """
    A grant that would do, the right that giving it takes, and some of those who have that right.
    """

    resource: dict[str, str]
    privilege: str
    right_to_give: Annotated[str, Field(alias="right-to-give")]
    givers: list[UserOrRole]


class ExplainAccessRequestOperationServer(Model):
    action: (
        Literal[
            "create_project",
            "update_users",
            "delete_users",
            "list_users",
            "provision_users",
            "read_grants",
            "grant_admin",
            "read_assignments",
        ]
        | str
    )


class ExplainAccessRequestOperation(Model):
    server: ExplainAccessRequestOperationServer


class ExplainAccessRequestOperation1Project(Model):
    action: (
        Literal[
            "create_warehouse",
            "delete",
            "rename",
            "get_metadata",
            "list_warehouses",
            "include_in_list",
            "create_role",
            "list_roles",
            "search_roles",
            "get_endpoint_statistics",
            "modify_task_queue_config",
            "get_task_queue_config",
            "get_project_tasks",
            "control_project_tasks",
            "create_tag",
            "list_tags",
            "read_grants",
            "read_assignments",
            "grant_role_creator",
            "grant_tag_creator",
            "grant_create",
            "grant_describe",
            "grant_modify",
            "grant_select",
            "grant_project_admin",
            "grant_security_admin",
            "grant_data_admin",
        ]
        | str
    )
    project_id: Annotated[str | None, Field(alias="project-id")] = None


class ExplainAccessRequestOperation1(Model):
    project: ExplainAccessRequestOperation1Project


class ExplainAccessRequestOperation2Warehouse(Model):
    action: (
        Literal[
            "create_namespace",
            "delete",
            "update_storage",
            "get_metadata",
            "get_config",
            "list_namespaces",
            "list_everything",
            "use",
            "include_in_list",
            "deactivate",
            "activate",
            "rename",
            "list_deleted_tabulars",
            "modify_soft_deletion",
            "get_task_queue_config",
            "modify_task_queue_config",
            "get_all_tasks",
            "control_all_tasks",
            "set_protection",
            "set_format_version_policy",
            "get_endpoint_statistics",
            "manage_tags",
            "accept_moved_namespace",
            "read_grants",
            "modify_storage",
            "modify_storage_credential",
            "read_assignments",
            "grant_create",
            "grant_pass_grants",
            "grant_manage_grants",
            "grant_manage_tags",
            "grant_describe",
            "grant_select",
            "grant_modify",
            "change_ownership",
        ]
        | str
    )
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]


class ExplainAccessRequestOperation2(Model):
    warehouse: ExplainAccessRequestOperation2Warehouse


class ExplainAccessRequestOperation3Namespace(Model):
    action: (
        Literal[
            "create_table",
            "create_view",
            "create_namespace",
            "delete",
            "update_properties",
            "get_metadata",
            "list_tables",
            "list_views",
            "list_namespaces",
            "list_everything",
            "set_protection",
            "include_in_list",
            "create_generic_table",
            "list_generic_tables",
            "manage_tags",
            "move",
            "accept_moved_namespace",
            "read_grants",
            "read_assignments",
            "grant_create",
            "grant_pass_grants",
            "grant_manage_grants",
            "grant_manage_tags",
            "grant_describe",
            "grant_select",
            "grant_modify",
        ]
        | str
    )
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    namespace_id: Annotated[UUID | None, Field(alias="namespace-id")] = None
    namespace: list[str] | None = None


class ExplainAccessRequestOperation3(Model):
    namespace: ExplainAccessRequestOperation3Namespace


class ExplainAccessRequestOperation4Table(Model):
    action: (
        Literal[
            "drop",
            "write_data",
            "read_data",
            "get_metadata",
            "commit",
            "rename",
            "include_in_list",
            "undrop",
            "get_tasks",
            "control_tasks",
            "set_protection",
            "manage_tags",
            "read_grants",
            "read_assignments",
            "grant_pass_grants",
            "grant_manage_grants",
            "grant_manage_tags",
            "grant_describe",
            "grant_select",
            "grant_modify",
            "change_ownership",
        ]
        | str
    )
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    table_id: Annotated[UUID | None, Field(alias="table-id")] = None
    namespace: list[str] | None = None
    table: str | None = None


class ExplainAccessRequestOperation4(Model):
    table: ExplainAccessRequestOperation4Table


class ExplainAccessRequestOperation5View(Model):
    action: (
        Literal[
            "drop",
            "get_metadata",
            "select",
            "commit",
            "rename",
            "include_in_list",
            "undrop",
            "get_tasks",
            "control_tasks",
            "set_protection",
            "manage_tags",
            "read_grants",
            "read_assignments",
            "grant_pass_grants",
            "grant_manage_grants",
            "grant_manage_tags",
            "grant_describe",
            "grant_select",
            "grant_modify",
            "change_ownership",
        ]
        | str
    )
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    table_id: Annotated[UUID | None, Field(alias="table-id")] = None
    namespace: list[str] | None = None
    table: str | None = None


class ExplainAccessRequestOperation5(Model):
    view: ExplainAccessRequestOperation5View


class ExplainAccessRequestOperation6GenericTable(Model):
    action: (
        Literal[
            "drop",
            "read_data",
            "write_data",
            "get_metadata",
            "rename",
            "include_in_list",
            "undrop",
            "get_tasks",
            "control_tasks",
            "set_protection",
            "manage_tags",
            "read_grants",
            "read_assignments",
            "grant_pass_grants",
            "grant_manage_grants",
            "grant_manage_tags",
            "grant_describe",
            "grant_select",
            "grant_modify",
            "change_ownership",
        ]
        | str
    )
    warehouse_id: Annotated[UUID, Field(alias="warehouse-id")]
    table_id: Annotated[UUID | None, Field(alias="table-id")] = None
    namespace: list[str] | None = None
    table: str | None = None


class ExplainAccessRequestOperation6(Model):
    generic_table: Annotated[ExplainAccessRequestOperation6GenericTable, Field(alias="generic-table")]


class ExplainAccessRequestIdentity(Model):
    """
    Exactly one of the two; without it the caller is meant.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    user: str | None = None
    role: UUID | None = None


class ExplainAccessRequest(Model):
    operation: (
        ExplainAccessRequestOperation
        | ExplainAccessRequestOperation1
        | ExplainAccessRequestOperation2
        | ExplainAccessRequestOperation3
        | ExplainAccessRequestOperation4
        | ExplainAccessRequestOperation5
        | ExplainAccessRequestOperation6
    )
    identity: Annotated[
        ExplainAccessRequestIdentity | None,
        Field(description="Exactly one of the two; without it the caller is meant."),
    ] = None


class CascadeDropResponse(Model):
    """
    What goes, and the task that does it: of the warehouse for a namespace, of the project for a warehouse.
    """

    task_id: Annotated[str | None, Field(alias="task-id")]
    number_of_namespaces: Annotated[int, Field(alias="number-of-namespaces")]
    number_of_tables: Annotated[int, Field(alias="number-of-tables")]
    number_of_views: Annotated[int, Field(alias="number-of-views")]
    number_of_generic_tables: Annotated[int, Field(alias="number-of-generic-tables")]
    number_of_deleted_tabulars: Annotated[int, Field(alias="number-of-deleted-tabulars")]
    protected: list[str]


class CascadeDropRequest(Model):
    """
    How to drop; `force` overrides protection and soft deletion, `purge` takes files too, `dry-run` only says what would go.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    force: bool | None = False
    purge: bool | None = False
    dry_run: Annotated[bool | None, Field(alias="dry-run")] = False


class RequiredColumn(Model):
    """
    A column that every table has: of this type, as Iceberg writes it, where one is given, and without nulls if `required`.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str
    type: str | None = None
    required: bool | None = False


class AuditRecord(Model):
    """
    A request, or a change that one made; what is not known is left out. `audit-id` of a change is its event's id.
    """

    audit_id: Annotated[str, Field(alias="audit-id")]
    at: str
    outcome: Literal["allowed", "failed", "refused"] | str
    action: str
    object_type: Annotated[str | None, Field(alias="object-type")] = None
    object_id: Annotated[str | None, Field(alias="object-id")] = None
    object: str | None = None
    project_id: Annotated[str | None, Field(alias="project-id")] = None
    warehouse_id: Annotated[str | None, Field(alias="warehouse-id")] = None
    principal: str | None = None
    assumed_role: Annotated[str | None, Field(alias="assumed-role")] = None
    reason: str | None = None
    request_id: Annotated[str | None, Field(alias="request-id")] = None
    client: str | None = None
    user_agent: Annotated[str | None, Field(alias="user-agent")] = None


class EndpointStatistic(Model):
    """
    Requests that were answered alike in an hour.
    """

    count: int
    http_route: Annotated[str, Field(alias="http-route")]
    status_code: Annotated[int, Field(alias="status-code")]
    warehouse_id: Annotated[str | None, Field(alias="warehouse-id")]
    warehouse_name: Annotated[str | None, Field(alias="warehouse-name")]
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")]


class OfWarehouse(Model):
    """
    Of one warehouse.
    """

    type: Literal["warehouse-id"]
    id: str


class Unmapped(Model):
    """
    Of requests that name no warehouse.
    """

    type: Literal["unmapped"]


class OfAll(Model):
    """
    Of the whole project.
    """

    type: Literal["all"]


class Window(Model):
    """
    From `end` less `interval` until `end`; the interval is ISO 8601 without years and months.
    """

    type: Literal["window"]
    end: AwareDatetime
    interval: timedelta


class Token(Model):
    """
    A window beside one that was answered.
    """

    type: Literal["page-token"]
    token: str


class LoggedEvent(Model):
    """
    An event in its place.

        Attributes:
            position: where a consumer is that has it and all before.
            sequence: its number in the stream, from 1; of a snapshot that of the last event whose change is in it.
            snapshot: it says what is there, and not what changed.
            event: the CloudEvent.
    """

    position: str
    sequence: int
    snapshot: bool
    kind: str
    verb: str
    written_at: Annotated[str, Field(alias="written-at")]
    event: dict[str, Any] | Any


class ServerInfo(Model):
    """
    What this server is.
    """

    version: str
    lakekeeper_version: Annotated[str, Field(alias="lakekeeper-version")]
    bootstrapped: bool
    server_id: Annotated[str, Field(alias="server-id")]
    default_project_id: Annotated[str | None, Field(alias="default-project-id")]
    authz_backend: Annotated[str, Field(alias="authz-backend")]
    aws_system_identities_enabled: Annotated[bool, Field(alias="aws-system-identities-enabled")]
    azure_system_identities_enabled: Annotated[bool, Field(alias="azure-system-identities-enabled")]
    gcp_system_identities_enabled: Annotated[bool, Field(alias="gcp-system-identities-enabled")]
    queues: list[str]
    license_status: Annotated[LicenseStatus, Field(alias="license-status")]


class ListProjectsResponse(Model):
    """
    Projects.
    """

    projects: list[GetProjectResponse]


class GetWarehouseResponse(Model):
    """
    A warehouse.
    """

    id: str
    warehouse_id: Annotated[str, Field(alias="warehouse-id")]
    name: str
    project_id: Annotated[str, Field(alias="project-id")]
    storage_profile: Annotated[
        GetWarehouseResponseStorageProfile,
        Field(
            alias="storage-profile",
            description="A storage profile; `type` says of which kind.",
        ),
    ]
    storage_credential_type: Annotated[CredentialKind | None, Field(alias="storage-credential-type")]
    delete_profile: Annotated[HardDelete | SoftDelete, Field(alias="delete-profile", discriminator="type")]
    status: Literal["active", "inactive"] | str
    protected: bool
    allowed_format_versions: Annotated[list[int], Field(alias="allowed-format-versions")]
    default_format_version: Annotated[int | None, Field(alias="default-format-version")]
    managed_by: Annotated[Literal["instance-admin", "self-managed"] | str, Field(alias="managed-by")]
    updated_at: Annotated[str | None, Field(alias="updated-at")]


class WarehouseStatisticsResponse(Model):
    """
    How much a warehouse has now, and behind that had at the end of each earlier hour that changed it.
    """

    warehouse_ident: Annotated[str, Field(alias="warehouse-ident")]
    stats: list[WarehouseStatistics]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")] = None


class ValidationCheck(Model):
    """
    One check; `reason` is of skipped ones, `error` of failed ones.
    """

    name: str
    status: Literal["failed", "passed", "skipped"] | str
    duration_ms: Annotated[int | None, Field(alias="duration-ms")] = None
    error: ErrorModel | None = None
    reason: str | None = None


class ListDeletedTabularsResponse(Model):
    """
    A page of what was dropped.
    """

    tabulars: list[DeletedTabularResponse]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")] = None


class SearchTabular(Model):
    """
    A table or view that matches; the nearer, the smaller its distance, which is null where an id was looked for.
    """

    namespace_name: Annotated[list[str], Field(alias="namespace-name")]
    tabular_name: Annotated[str, Field(alias="tabular-name")]
    tabular_id: Annotated[TabularIdent, Field(alias="tabular-id")]
    distance: float | None


class ListTagDefinitionsResponse(Model):
    """
    A page of tags.
    """

    tag_definitions: Annotated[list[TagDefinition], Field(alias="tag-definitions")]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")] = None


class TagAttachment(Model):
    """
    A tag on one of the things that it is set on.
    """

    target: TagAttachmentTarget
    source: Literal["manual"]
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")] = None
    value: str | None = None


class TargetTag(Model):
    """
    A tag on a thing, or on something that it is in.
    """

    tag_definition_id: Annotated[str, Field(alias="tag-definition-id")]
    name: str
    source: Literal["manual"]
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")] = None
    value: str | None = None
    inherited_from: Annotated[TagInheritanceSource | None, Field(alias="inherited-from")] = None


class ListTagsResponse(Model):
    """
    Tags of a thing.
    """

    tags: list[TargetTag]


class TaskInfo(Model):
    """
    A task of a warehouse, about one of its tables and views or about none.
    """

    task_id: Annotated[str, Field(alias="task-id")]
    project_id: Annotated[str, Field(alias="project-id")]
    queue_name: Annotated[str, Field(alias="queue-name")]
    status: Literal["CANCELLED", "FAILED", "RUNNING", "SCHEDULED", "STOPPING", "SUCCESS"] | str
    parent_task_id: Annotated[str | None, Field(alias="parent-task-id")]
    scheduled_for: Annotated[str, Field(alias="scheduled-for")]
    picked_up_at: Annotated[str | None, Field(alias="picked-up-at")]
    last_heartbeat_at: Annotated[str | None, Field(alias="last-heartbeat-at")]
    attempt: int
    progress: float
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")] = None
    warehouse_id: Annotated[str, Field(alias="warehouse-id")]
    entity: TaskEntityId | None
    entity_name: Annotated[list[str] | None, Field(alias="entity-name")]


class ListTasksRequest(Model):
    """
    Which tasks; what is left out narrows nothing, an empty list leaves none.
    """

    status: list[Literal["CANCELLED", "FAILED", "RUNNING", "SCHEDULED", "STOPPING", "SUCCESS"] | str] | None = None
    queue_name: Annotated[list[str] | None, Field(alias="queue-name")] = None
    entities: (
        list[Annotated[TableTasks | ViewTasks | GenericTableTasks | WarehouseTasks, Field(discriminator="type")]] | None
    ) = None
    created_after: Annotated[AwareDatetime | None, Field(alias="created-after")] = None
    created_before: Annotated[AwareDatetime | None, Field(alias="created-before")] = None
    page_token: Annotated[str | None, Field(alias="page-token")] = None
    page_size: Annotated[int | None, Field(alias="page-size")] = None


class GetTaskDetailsResponse(Model):
    """
    A task, what it is to do, and its newest ended attempts.
    """

    task_id: Annotated[str, Field(alias="task-id")]
    project_id: Annotated[str, Field(alias="project-id")]
    queue_name: Annotated[str, Field(alias="queue-name")]
    status: Literal["CANCELLED", "FAILED", "RUNNING", "SCHEDULED", "STOPPING", "SUCCESS"] | str
    parent_task_id: Annotated[str | None, Field(alias="parent-task-id")]
    scheduled_for: Annotated[str, Field(alias="scheduled-for")]
    picked_up_at: Annotated[str | None, Field(alias="picked-up-at")]
    last_heartbeat_at: Annotated[str | None, Field(alias="last-heartbeat-at")]
    attempt: int
    progress: float
    created_at: Annotated[str, Field(alias="created-at")]
    updated_at: Annotated[str | None, Field(alias="updated-at")] = None
    warehouse_id: Annotated[str, Field(alias="warehouse-id")]
    entity: TaskEntityId | None
    entity_name: Annotated[list[str] | None, Field(alias="entity-name")]
    task_data: Annotated[dict[str, Any], Field(alias="task-data")]
    message: str | None
    execution_details: Annotated[dict[str, Any] | None, Field(alias="execution-details")]
    attempts: list[TaskAttempt]


class ControlTasksRequest(Model):
    """
    What to do with which tasks, all or nothing.
    """

    action: Annotated[Stop | Cancel | RunNow | RunAt, Field(discriminator="action_type")]
    task_ids: Annotated[list[str], Field(alias="task-ids")]


class GetQueueConfigResponse(Model):
    """
    How a queue is set.
    """

    queue_config: Annotated[QueueConfig, Field(alias="queue-config")]
    max_seconds_since_last_heartbeat: Annotated[int | None, Field(alias="max-seconds-since-last-heartbeat")]


class ListProjectTasksResponse(Model):
    """
    A page of tasks, newest first.
    """

    tasks: list[ProjectTaskInfo]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")]


class GetTaskLogCleanupConfig(Model):
    """
    How the queue is set.
    """

    queue_config: Annotated[TaskLogCleanupConfig, Field(alias="queue-config")]
    max_seconds_since_last_heartbeat: Annotated[int | None, Field(alias="max-seconds-since-last-heartbeat")]


class GrantResponse(Model):
    """
    A grant.
    """

    principal: UserOrRole
    resource: GrantResource
    privilege: str
    recognized: bool
    created_at: Annotated[str | None, Field(alias="created-at")]


class GrantablePrivilegesResponse(Model):
    """
    Every privilege there is, by kind of object.
    """

    privileges: dict[str, list[PrivilegeDescriptor]]


class ApplyGrantsRequest(Model):
    """
    Grants to give and to take, all or none; 1 to 100 together.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    writes: Annotated[list[GrantEntry] | None, Field(validate_default=True)] = []
    deletes: Annotated[list[GrantEntry] | None, Field(validate_default=True)] = []


class ResourceGrantablePrivilegesResponse(Model):
    """
    Every privilege of an object's kind.
    """

    privileges: list[GrantablePrivilege]


class ListUsersResponse(Model):
    """
    Users.
    """

    users: list[User]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")]


class SearchUserResponse(Model):
    """
    Users that were found, the likest first.
    """

    users: list[SearchUser]


class GetUserActionsResponse(Model):
    """
    What may be done to a user.
    """

    allowed_actions: Annotated[list[UserAction], Field(alias="allowed-actions")]


class ListRolesResponse(Model):
    """
    Roles.
    """

    roles: list[Role]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")]


class ListRoleMembersResponse(Model):
    """
    Who is in a role.
    """

    members: list[Annotated[RoleMemberUser | RoleMemberRole, Field(discriminator="type")]]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")]


class AddRoleMembersResponse(Model):
    """
    Who was asked for, and is in it now.
    """

    members: list[Annotated[RoleMemberRefUser | RoleMemberRefRole, Field(discriminator="type")]]


class ListRoleMembershipsResponse(Model):
    """
    Roles that somebody is in.
    """

    roles: list[RoleMembership]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")]


class CatalogActionsBatchCheckResponse(Model):
    """
    In the order of the checks.
    """

    results: list[CatalogActionsBatchCheckResult]


class ExplainAccessResponse(Model):
    """
    Why: each group of grants is enough by itself; or what keeps them from it, and what would do.
    """

    allowed: bool
    ground: Literal["everything-is-allowed", "grants", "instance-admin"] | str
    because: list[list[GrantSource]]
    shown_by: Annotated[list[GrantSource], Field(alias="shown-by")]
    managed_by: Annotated[list[dict[str, str]], Field(alias="managed-by")]
    remedies: list[GrantRemedy]


class ContractRules(Model):
    """
    What is promised; what is left out is not. Partitionings are lists of transforms, as ["day(ts)", "bucket[16](id)"].
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    columns_stay: Annotated[bool | None, Field(alias="columns-stay")] = False
    names_stay: Annotated[bool | None, Field(alias="names-stay")] = False
    types_only_widen: Annotated[bool | None, Field(alias="types-only-widen")] = False
    optional_stays: Annotated[bool | None, Field(alias="optional-stays")] = False
    required_columns: Annotated[
        list[RequiredColumn] | None,
        Field(alias="required-columns", validate_default=True),
    ] = []
    allowed_partitionings: Annotated[list[list[str]] | None, Field(alias="allowed-partitionings")] = None
    properties_stay: Annotated[list[str] | None, Field(alias="properties-stay")] = []
    refused_operations: Annotated[
        list[
            Literal[
                "commit",
                "create",
                "create-namespace",
                "drop",
                "drop-namespace",
                "move-namespace",
                "rename",
                "undrop",
                "update-namespace",
            ]
            | str
        ]
        | None,
        Field(alias="refused-operations"),
    ] = []


class ListAuditRecordsResponse(Model):
    """
    Records, the newest first; without a token they are the last.
    """

    records: list[AuditRecord]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")]


class EndpointStatisticsResponse(Model):
    """
    By the ends of hours, the earliest first, what was asked in each.
    """

    timestamps: list[str]
    called_endpoints: Annotated[list[list[EndpointStatistic]], Field(alias="called-endpoints")]
    previous_page_token: Annotated[str, Field(alias="previous-page-token")]
    next_page_token: Annotated[str, Field(alias="next-page-token")]


class GetEndpointStatisticsRequest(Model):
    """
    Of what, in which window (of the last day, unless one is named), with which statuses.
    """

    warehouse: Annotated[OfWarehouse | Unmapped | OfAll, Field(discriminator="type")]
    range_specifier: Annotated[Window | Token | None, Field(alias="range-specifier")] = None
    status_codes: Annotated[list[int] | None, Field(alias="status-codes")] = None


class EventsResponse(Model):
    """
    Events in order.

        Attributes:
            position: where the next page begins.
            newest: number of the newest event there is; 0 for none.
    """

    events: list[LoggedEvent]
    position: str
    newest: int


class ListWarehousesResponse(Model):
    """
    A project's warehouses; all of them, unless a page was asked for.
    """

    warehouses: list[GetWarehouseResponse]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")] = None


class ValidateWarehouseResponse(Model):
    """
    What came of checks, in the order in which they ran; valid where none failed.
    """

    valid: bool
    checks: list[ValidationCheck]


class SearchTabularResponse(Model):
    """
    The best matches, at most ten, the nearest first.
    """

    tabulars: list[SearchTabular]


class ListTagAttachmentsResponse(Model):
    """
    A page of what a tag is set on.
    """

    attachments: list[TagAttachment]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")] = None


class ColumnTags(Model):
    """
    Tags of a column, which is named by its field id.
    """

    field_id: Annotated[int, Field(alias="field-id")]
    tags: list[TargetTag]


class ListTasksResponse(Model):
    """
    A page of tasks, newest first.
    """

    tasks: list[TaskInfo]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")]


class ListGrantsResponse(Model):
    """
    Grants; a page without a token is the last one.
    """

    grants: list[GrantResponse]
    next_page_token: Annotated[str | None, Field(alias="next-page-token")]


class Contract(Model):
    """
    A promise about what is in a namespace and below it, or in the whole warehouse; `checkers` are asked too.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str
    namespace: list[str] | None = []
    names: list[str] | None = []
    rules: ContractRules | None = None
    checkers: list[str] | None = []


class ListColumnTagsResponse(Model):
    """
    The columns of a table that have tags.
    """

    columns: list[ColumnTags]


class Contracts(Model):
    """
    All contracts of a warehouse.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    contracts: list[Contract]
