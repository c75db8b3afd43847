# made by tools/generate_client.py from what stands in _async; do not edit
"""One method for each operation of the management API.

Made by tools/generate_client.py from the management API's document; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lakeward._calls import Call, key_of
from lakeward._sync.connection import Connection
from lakeward.management import models
from lakeward.management.base import read


class Operations:
    """The management API as it is; `management` of a client is built on it, and says less.

    Attributes:
        connection: what sends.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def get_server_info(
        self,
        *,
        project: str | None = None,
    ) -> models.ServerInfo:
        """What this server is."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/info",
                project=project,
            )
        )
        return read(models.ServerInfo, found.content)

    def bootstrap(
        self,
        body: models.BootstrapRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Open the server for use, once; the caller becomes its first administrator."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/bootstrap",
                body=body.wire(),
                project=project,
            )
        )

    def list_projects(
        self,
        *,
        project: str | None = None,
    ) -> models.ListProjectsResponse:
        """The projects that the caller may see, by name."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project-list",
                project=project,
            )
        )
        return read(models.ListProjectsResponse, found.content)

    def get_project(
        self,
        *,
        project: str | None = None,
    ) -> models.GetProjectResponse:
        """The selected project, else the default one."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project",
                project=project,
            )
        )
        return read(models.GetProjectResponse, found.content)

    def create_project(
        self,
        body: models.CreateProjectRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.CreateProjectResponse:
        """Make a project."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/project",
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.CreateProjectResponse, found.content)

    def delete_project(
        self,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> None:
        """Delete the selected project, else the default one; it must be empty."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/project",
                project=project,
                key=key_of(idempotency_key),
            )
        )

    def rename_project(
        self,
        body: models.RenameProjectRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give the selected project, else the default one, another name."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/project/rename",
                body=body.wire(),
                project=project,
            )
        )

    def list_warehouses(
        self,
        *,
        warehouse_status: Sequence[str] | None = None,
        project_id: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListWarehousesResponse:
        """The warehouses of a project that the caller may see."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse",
                query={
                    "warehouseStatus": warehouse_status,
                    "projectId": project_id,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListWarehousesResponse, found.content)

    def create_warehouse(
        self,
        body: models.CreateWarehouseRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.GetWarehouseResponse:
        """Make a warehouse, after its storage was proved by writing, reading and deleting."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse",
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.GetWarehouseResponse, found.content)

    def get_warehouse(
        self,
        warehouse_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.GetWarehouseResponse:
        """One warehouse, active or not."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}",
                places={"warehouse_id": warehouse_id},
                project=project,
            )
        )
        return read(models.GetWarehouseResponse, found.content)

    def delete_warehouse(
        self,
        warehouse_id: UUID | str,
        *,
        force: bool | None = None,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> None:
        """Delete an empty warehouse; its files stay."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/warehouse/{warehouse_id}",
                places={"warehouse_id": warehouse_id},
                query={"force": force},
                project=project,
                key=key_of(idempotency_key),
            )
        )

    def get_warehouse_statistics(
        self,
        warehouse_id: UUID | str,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.WarehouseStatisticsResponse:
        """How many tables and views a warehouse has, active or not; what was dropped does not count."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/statistics",
                places={"warehouse_id": warehouse_id},
                query={"page_token": page_token, "page_size": page_size},
                project=project,
            )
        )
        return read(models.WarehouseStatisticsResponse, found.content)

    def rename_warehouse(
        self,
        warehouse_id: UUID | str,
        body: models.RenameWarehouseRequest,
        *,
        project: str | None = None,
    ) -> models.GetWarehouseResponse:
        """Give a warehouse another name."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/rename",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.GetWarehouseResponse, found.content)

    def update_storage_profile(
        self,
        warehouse_id: UUID | str,
        body: models.UpdateWarehouseStorageRequest,
        *,
        project: str | None = None,
    ) -> models.GetWarehouseResponse:
        """Replace a warehouse's storage profile and credential."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/storage",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.GetWarehouseResponse, found.content)

    def update_storage_credential(
        self,
        warehouse_id: UUID | str,
        body: models.UpdateWarehouseCredentialRequest,
        *,
        project: str | None = None,
    ) -> models.GetWarehouseResponse:
        """Replace a warehouse's credential."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/storage-credential",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.GetWarehouseResponse, found.content)

    def activate_warehouse(
        self,
        warehouse_id: UUID | str,
        *,
        project: str | None = None,
    ) -> None:
        """Let a warehouse serve."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/activate",
                places={"warehouse_id": warehouse_id},
                project=project,
            )
        )

    def deactivate_warehouse(
        self,
        warehouse_id: UUID | str,
        *,
        project: str | None = None,
    ) -> None:
        """Stop a warehouse from serving; its tasks go on."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/deactivate",
                places={"warehouse_id": warehouse_id},
                project=project,
            )
        )

    def set_warehouse_protection(
        self,
        warehouse_id: UUID | str,
        body: models.SetProtectionRequest,
        *,
        project: str | None = None,
    ) -> models.ProtectionResponse:
        """Protect a warehouse from being deleted without force, or no longer."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/protection",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.ProtectionResponse, found.content)

    def update_warehouse_delete_profile(
        self,
        warehouse_id: UUID | str,
        body: models.UpdateWarehouseDeleteProfileRequest,
        *,
        project: str | None = None,
    ) -> models.GetWarehouseResponse:
        """Say whether what is dropped from now on can be restored, and for how long."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/delete-profile",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.GetWarehouseResponse, found.content)

    def update_warehouse_format_version_policy(
        self,
        warehouse_id: UUID | str,
        body: models.UpdateWarehouseFormatVersionPolicyRequest,
        *,
        project: str | None = None,
    ) -> models.GetWarehouseResponse:
        """Say which Iceberg format versions tables may be made with and upgraded to."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/format-version-policy",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.GetWarehouseResponse, found.content)

    def set_warehouse_managed_by(
        self,
        warehouse_id: UUID | str,
        body: models.SetWarehouseManagedByRequest,
        *,
        project: str | None = None,
    ) -> models.GetWarehouseResponse:
        """Say who may change what a warehouse is; for administrators of the instance alone."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/managed-by",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.GetWarehouseResponse, found.content)

    def validate_warehouse(
        self,
        body: models.CreateWarehouseRequest,
        *,
        project: str | None = None,
    ) -> models.ValidateWarehouseResponse:
        """Check a warehouse that is not made: what would be refused, and whether its storage works."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse-creation-validation",
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.ValidateWarehouseResponse, found.content)

    def validate_storage_access(
        self,
        warehouse_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.ValidateWarehouseResponse:
        """Check whether a warehouse's storage works as it is."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/storage/validate-access",
                places={"warehouse_id": warehouse_id},
                project=project,
                reads=True,
            )
        )
        return read(models.ValidateWarehouseResponse, found.content)

    def validate_storage_profile(
        self,
        warehouse_id: UUID | str,
        body: models.UpdateWarehouseStorageRequest,
        *,
        project: str | None = None,
    ) -> models.ValidateWarehouseResponse:
        """Check another storage profile for a warehouse, which stays as it is."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/storage/validate-profile",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.ValidateWarehouseResponse, found.content)

    def validate_storage_credential(
        self,
        warehouse_id: UUID | str,
        body: models.UpdateWarehouseCredentialRequest,
        *,
        project: str | None = None,
    ) -> models.ValidateWarehouseResponse:
        """Check another credential for a warehouse, which keeps the one it has."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/storage/validate-credential",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.ValidateWarehouseResponse, found.content)

    def get_namespace_protection(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.ProtectionResponse:
        """Whether a namespace is protected from being dropped without force."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/protection",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id},
                project=project,
            )
        )
        return read(models.ProtectionResponse, found.content)

    def set_namespace_protection(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        body: models.SetProtectionRequest,
        *,
        project: str | None = None,
    ) -> models.ProtectionResponse:
        """Protect a namespace from being dropped without force, or no longer."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/protection",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.ProtectionResponse, found.content)

    def get_table_protection(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.ProtectionResponse:
        """Whether a table is protected from being dropped without force."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/protection",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                project=project,
            )
        )
        return read(models.ProtectionResponse, found.content)

    def set_table_protection(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        body: models.SetProtectionRequest,
        *,
        project: str | None = None,
    ) -> models.ProtectionResponse:
        """Protect a table from being dropped without force, or no longer."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/protection",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.ProtectionResponse, found.content)

    def get_view_protection(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.ProtectionResponse:
        """Whether a view is protected from being dropped without force."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/view/{view_id}/protection",
                places={"warehouse_id": warehouse_id, "view_id": view_id},
                project=project,
            )
        )
        return read(models.ProtectionResponse, found.content)

    def set_view_protection(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        body: models.SetProtectionRequest,
        *,
        project: str | None = None,
    ) -> models.ProtectionResponse:
        """Protect a view from being dropped without force, or no longer."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/view/{view_id}/protection",
                places={"warehouse_id": warehouse_id, "view_id": view_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.ProtectionResponse, found.content)

    def get_generic_table_protection(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.ProtectionResponse:
        """Whether a generic table is protected from being dropped without force."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/generic-table/{generic_table_id}/protection",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id},
                project=project,
            )
        )
        return read(models.ProtectionResponse, found.content)

    def set_generic_table_protection(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        body: models.SetProtectionRequest,
        *,
        project: str | None = None,
    ) -> models.ProtectionResponse:
        """Protect a generic table from being dropped without force, or no longer."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/generic-table/{generic_table_id}/protection",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.ProtectionResponse, found.content)

    def move_namespace(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        body: models.MoveNamespaceRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.MoveNamespaceResponse:
        """Give a namespace another name, another place in its warehouse, or both, with everything inside."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/move",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id},
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.MoveNamespaceResponse, found.content)

    def list_deleted_tabulars(
        self,
        warehouse_id: UUID | str,
        *,
        namespace_id: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListDeletedTabularsResponse:
        """What was dropped and can be restored, as far as the caller may see it, in the order of dropping."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/deleted-tabulars",
                places={"warehouse_id": warehouse_id},
                query={"namespaceId": namespace_id, "pageToken": page_token, "pageSize": page_size},
                project=project,
            )
        )
        return read(models.ListDeletedTabularsResponse, found.content)

    def search_tabular(
        self,
        warehouse_id: UUID | str,
        body: models.SearchTabularRequest,
        *,
        project: str | None = None,
    ) -> models.SearchTabularResponse:
        """The best matches for a name, in spite of typos, or for an id, among what the caller may see."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/search-tabular",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.SearchTabularResponse, found.content)

    def undrop_tabulars(
        self,
        warehouse_id: UUID | str,
        body: models.UndropTabularsRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> None:
        """Restore what was dropped, all or nothing."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/deleted-tabulars/undrop",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )

    def list_tag_definitions(
        self,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        name: str | None = None,
        project: str | None = None,
    ) -> models.ListTagDefinitionsResponse:
        """The tags of a project, in the order in which they were defined."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/tag-definition",
                query={"pageToken": page_token, "pageSize": page_size, "name": name},
                project=project,
            )
        )
        return read(models.ListTagDefinitionsResponse, found.content)

    def create_tag_definition(
        self,
        body: models.CreateTagDefinitionRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.TagDefinition:
        """Define a tag in a project."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/tag-definition",
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.TagDefinition, found.content)

    def get_tag_definition(
        self,
        tag_definition_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.TagDefinition:
        """A tag, with its allowed values."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/tag-definition/{tag_definition_id}",
                places={"tag_definition_id": tag_definition_id},
                project=project,
            )
        )
        return read(models.TagDefinition, found.content)

    def update_tag_definition(
        self,
        tag_definition_id: UUID | str,
        body: models.UpdateTagDefinitionRequest,
        *,
        project: str | None = None,
    ) -> models.TagDefinition:
        """Replace name, description and scopes of a tag, and allow more values."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/tag-definition/{tag_definition_id}",
                places={"tag_definition_id": tag_definition_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.TagDefinition, found.content)

    def delete_tag_definition(
        self,
        tag_definition_id: UUID | str,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> None:
        """Delete a tag that is set on nothing."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/tag-definition/{tag_definition_id}",
                places={"tag_definition_id": tag_definition_id},
                project=project,
                key=key_of(idempotency_key),
            )
        )

    def list_tag_attachments(
        self,
        tag_definition_id: UUID | str,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        value: str | None = None,
        target_type: str | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        warehouse_id: str | None = None,
        project: str | None = None,
    ) -> models.ListTagAttachmentsResponse:
        """What a tag is set on, in the order in which it was set; nothing inherited."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/tag-definition/{tag_definition_id}/attachments",
                places={"tag_definition_id": tag_definition_id},
                query={
                    "pageToken": page_token,
                    "pageSize": page_size,
                    "value": value,
                    "targetType": target_type,
                    "createdAfter": created_after,
                    "createdBefore": created_before,
                    "warehouseId": warehouse_id,
                },
                project=project,
            )
        )
        return read(models.ListTagAttachmentsResponse, found.content)

    def list_column_tags(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.ListColumnTagsResponse:
        """The tags of every column of a table that has some."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/column-tags",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                project=project,
            )
        )
        return read(models.ListColumnTagsResponse, found.content)

    def list_warehouse_tags(
        self,
        warehouse_id: UUID | str,
        *,
        effective: bool | None = None,
        project: str | None = None,
    ) -> models.ListTagsResponse:
        """The tags of a warehouse, by name."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/tags",
                places={"warehouse_id": warehouse_id},
                query={"effective": effective},
                project=project,
            )
        )
        return read(models.ListTagsResponse, found.content)

    def set_warehouse_tag(
        self,
        warehouse_id: UUID | str,
        tag_name: UUID | str,
        body: models.SetTagRequest,
        *,
        project: str | None = None,
    ) -> models.AppliedTag:
        """Set a tag on a warehouse, or another value of it."""
        found = self.connection.call(
            Call(
                "PUT",
                "/management/v1/warehouse/{warehouse_id}/tags/{tag_name}",
                places={"warehouse_id": warehouse_id, "tag_name": tag_name},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.AppliedTag, found.content)

    def delete_warehouse_tag(
        self,
        warehouse_id: UUID | str,
        tag_name: UUID | str,
        *,
        project: str | None = None,
    ) -> None:
        """Remove a tag from a warehouse; where it is not set nothing changes."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/warehouse/{warehouse_id}/tags/{tag_name}",
                places={"warehouse_id": warehouse_id, "tag_name": tag_name},
                project=project,
            )
        )

    def list_namespace_tags(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        *,
        effective: bool | None = None,
        project: str | None = None,
    ) -> models.ListTagsResponse:
        """The tags of a namespace, by name."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/tags",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id},
                query={"effective": effective},
                project=project,
            )
        )
        return read(models.ListTagsResponse, found.content)

    def set_namespace_tag(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        tag_name: UUID | str,
        body: models.SetTagRequest,
        *,
        project: str | None = None,
    ) -> models.AppliedTag:
        """Set a tag on a namespace, or another value of it."""
        found = self.connection.call(
            Call(
                "PUT",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/tags/{tag_name}",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id, "tag_name": tag_name},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.AppliedTag, found.content)

    def delete_namespace_tag(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        tag_name: UUID | str,
        *,
        project: str | None = None,
    ) -> None:
        """Remove a tag from a namespace; where it is not set nothing changes."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/tags/{tag_name}",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id, "tag_name": tag_name},
                project=project,
            )
        )

    def list_table_tags(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        *,
        effective: bool | None = None,
        project: str | None = None,
    ) -> models.ListTagsResponse:
        """The tags of a table, by name."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/tags",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                query={"effective": effective},
                project=project,
            )
        )
        return read(models.ListTagsResponse, found.content)

    def set_table_tag(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        tag_name: UUID | str,
        body: models.SetTagRequest,
        *,
        project: str | None = None,
    ) -> models.AppliedTag:
        """Set a tag on a table, or another value of it."""
        found = self.connection.call(
            Call(
                "PUT",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/tags/{tag_name}",
                places={"warehouse_id": warehouse_id, "table_id": table_id, "tag_name": tag_name},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.AppliedTag, found.content)

    def delete_table_tag(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        tag_name: UUID | str,
        *,
        project: str | None = None,
    ) -> None:
        """Remove a tag from a table; where it is not set nothing changes."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/tags/{tag_name}",
                places={"warehouse_id": warehouse_id, "table_id": table_id, "tag_name": tag_name},
                project=project,
            )
        )

    def list_view_tags(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        *,
        effective: bool | None = None,
        project: str | None = None,
    ) -> models.ListTagsResponse:
        """The tags of a view, by name."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/view/{view_id}/tags",
                places={"warehouse_id": warehouse_id, "view_id": view_id},
                query={"effective": effective},
                project=project,
            )
        )
        return read(models.ListTagsResponse, found.content)

    def set_view_tag(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        tag_name: UUID | str,
        body: models.SetTagRequest,
        *,
        project: str | None = None,
    ) -> models.AppliedTag:
        """Set a tag on a view, or another value of it."""
        found = self.connection.call(
            Call(
                "PUT",
                "/management/v1/warehouse/{warehouse_id}/view/{view_id}/tags/{tag_name}",
                places={"warehouse_id": warehouse_id, "view_id": view_id, "tag_name": tag_name},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.AppliedTag, found.content)

    def delete_view_tag(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        tag_name: UUID | str,
        *,
        project: str | None = None,
    ) -> None:
        """Remove a tag from a view; where it is not set nothing changes."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/warehouse/{warehouse_id}/view/{view_id}/tags/{tag_name}",
                places={"warehouse_id": warehouse_id, "view_id": view_id, "tag_name": tag_name},
                project=project,
            )
        )

    def list_generic_table_tags(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        *,
        effective: bool | None = None,
        project: str | None = None,
    ) -> models.ListTagsResponse:
        """The tags of a generic table, by name."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/generic-table/{generic_table_id}/tags",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id},
                query={"effective": effective},
                project=project,
            )
        )
        return read(models.ListTagsResponse, found.content)

    def set_generic_table_tag(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        tag_name: UUID | str,
        body: models.SetTagRequest,
        *,
        project: str | None = None,
    ) -> models.AppliedTag:
        """Set a tag on a generic table, or another value of it."""
        found = self.connection.call(
            Call(
                "PUT",
                "/management/v1/warehouse/{warehouse_id}/generic-table/{generic_table_id}/tags/{tag_name}",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id, "tag_name": tag_name},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.AppliedTag, found.content)

    def delete_generic_table_tag(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        tag_name: UUID | str,
        *,
        project: str | None = None,
    ) -> None:
        """Remove a tag from a generic table; where it is not set nothing changes."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/warehouse/{warehouse_id}/generic-table/{generic_table_id}/tags/{tag_name}",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id, "tag_name": tag_name},
                project=project,
            )
        )

    def list_table_column_tags(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        column_name: UUID | str,
        *,
        effective: bool | None = None,
        project: str | None = None,
    ) -> models.ListTagsResponse:
        """The tags of a table's column, by name."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/column/{column_name}/tags",
                places={"warehouse_id": warehouse_id, "table_id": table_id, "column_name": column_name},
                query={"effective": effective},
                project=project,
            )
        )
        return read(models.ListTagsResponse, found.content)

    def set_table_column_tag(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        column_name: UUID | str,
        tag_name: UUID | str,
        body: models.SetTagRequest,
        *,
        project: str | None = None,
    ) -> models.AppliedTag:
        """Set a tag on a table's column, or another value of it."""
        found = self.connection.call(
            Call(
                "PUT",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/column/{column_name}/tags/{tag_name}",
                places={
                    "warehouse_id": warehouse_id,
                    "table_id": table_id,
                    "column_name": column_name,
                    "tag_name": tag_name,
                },
                body=body.wire(),
                project=project,
            )
        )
        return read(models.AppliedTag, found.content)

    def delete_table_column_tag(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        column_name: UUID | str,
        tag_name: UUID | str,
        *,
        project: str | None = None,
    ) -> None:
        """Remove a tag from a table's column; where it is not set nothing changes."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/column/{column_name}/tags/{tag_name}",
                places={
                    "warehouse_id": warehouse_id,
                    "table_id": table_id,
                    "column_name": column_name,
                    "tag_name": tag_name,
                },
                project=project,
            )
        )

    def list_tasks(
        self,
        warehouse_id: UUID | str,
        body: models.ListTasksRequest,
        *,
        project: str | None = None,
    ) -> models.ListTasksResponse:
        """Tasks of a warehouse, newest first, those that have ended among them."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/task/list",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.ListTasksResponse, found.content)

    def get_task_details(
        self,
        warehouse_id: UUID | str,
        task_id: UUID | str,
        *,
        num_attempts: int | None = None,
        project: str | None = None,
    ) -> models.GetTaskDetailsResponse:
        """A task, and what came of its attempts."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/task/by-id/{task_id}",
                places={"warehouse_id": warehouse_id, "task_id": task_id},
                query={"numAttempts": num_attempts},
                project=project,
            )
        )
        return read(models.GetTaskDetailsResponse, found.content)

    def control_tasks(
        self,
        warehouse_id: UUID | str,
        body: models.ControlTasksRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> None:
        """Stop, cancel or run up to 100 tasks, all or nothing."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/task/control",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )

    def get_task_queue_config_soft_deletion(
        self,
        warehouse_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.GetQueueConfigResponse:
        """How a warehouse's queue soft_deletion is set."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/task-queue/soft_deletion/config",
                places={"warehouse_id": warehouse_id},
                project=project,
            )
        )
        return read(models.GetQueueConfigResponse, found.content)

    def set_task_queue_config_soft_deletion(
        self,
        warehouse_id: UUID | str,
        body: models.SetQueueConfigRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Set a warehouse's queue soft_deletion."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/task-queue/soft_deletion/config",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_task_queue_config_tabular_purge(
        self,
        warehouse_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.GetQueueConfigResponse:
        """How a warehouse's queue tabular_purge is set."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/task-queue/tabular_purge/config",
                places={"warehouse_id": warehouse_id},
                project=project,
            )
        )
        return read(models.GetQueueConfigResponse, found.content)

    def set_task_queue_config_tabular_purge(
        self,
        warehouse_id: UUID | str,
        body: models.SetQueueConfigRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Set a warehouse's queue tabular_purge."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/task-queue/tabular_purge/config",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_task_queue_config_namespace_drop(
        self,
        warehouse_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.GetQueueConfigResponse:
        """How a warehouse's queue namespace_drop is set."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/task-queue/namespace_drop/config",
                places={"warehouse_id": warehouse_id},
                project=project,
            )
        )
        return read(models.GetQueueConfigResponse, found.content)

    def set_task_queue_config_namespace_drop(
        self,
        warehouse_id: UUID | str,
        body: models.SetQueueConfigRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Set a warehouse's queue namespace_drop."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/task-queue/namespace_drop/config",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )

    def list_project_tasks(
        self,
        body: models.ListProjectTasksRequest,
        *,
        project: str | None = None,
    ) -> models.ListProjectTasksResponse:
        """A project's own tasks, newest first, those that have ended among them."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/project/task/list",
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.ListProjectTasksResponse, found.content)

    def get_project_task_details(
        self,
        task_id: UUID | str,
        *,
        num_attempts: int | None = None,
        project: str | None = None,
    ) -> models.GetProjectTaskDetailsResponse:
        """A project's own task, and what came of its attempts."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/task/by-id/{task_id}",
                places={"task_id": task_id},
                query={"numAttempts": num_attempts},
                project=project,
            )
        )
        return read(models.GetProjectTaskDetailsResponse, found.content)

    def control_project_tasks(
        self,
        body: models.ControlTasksRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> None:
        """Stop, cancel or run up to 100 of a project's own tasks, all or nothing."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/project/task/control",
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )

    def get_project_task_queue_config_task_log_cleanup(
        self,
        *,
        project: str | None = None,
    ) -> models.GetTaskLogCleanupConfig:
        """How a project's queue task_log_cleanup is set."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/task-queue/task_log_cleanup/config",
                project=project,
            )
        )
        return read(models.GetTaskLogCleanupConfig, found.content)

    def set_project_task_queue_config_task_log_cleanup(
        self,
        body: models.SetTaskLogCleanupConfig,
        *,
        project: str | None = None,
    ) -> None:
        """Set a project's queue task_log_cleanup."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/project/task-queue/task_log_cleanup/config",
                body=body.wire(),
                project=project,
            )
        )

    def get_project_task_queue_config_statistics(
        self,
        *,
        project: str | None = None,
    ) -> models.GetQueueConfigResponse:
        """How a project's queue statistics is set."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/task-queue/statistics/config",
                project=project,
            )
        )
        return read(models.GetQueueConfigResponse, found.content)

    def set_project_task_queue_config_statistics(
        self,
        body: models.SetQueueConfigRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Set a project's queue statistics."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/project/task-queue/statistics/config",
                body=body.wire(),
                project=project,
            )
        )

    def get_project_task_queue_config_generic_statistics(
        self,
        *,
        project: str | None = None,
    ) -> models.GetQueueConfigResponse:
        """How a project's queue generic_statistics is set."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/task-queue/generic_statistics/config",
                project=project,
            )
        )
        return read(models.GetQueueConfigResponse, found.content)

    def set_project_task_queue_config_generic_statistics(
        self,
        body: models.SetQueueConfigRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Set a project's queue generic_statistics."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/project/task-queue/generic_statistics/config",
                body=body.wire(),
                project=project,
            )
        )

    def get_project_task_queue_config_warehouse_drop(
        self,
        *,
        project: str | None = None,
    ) -> models.GetQueueConfigResponse:
        """How a project's queue warehouse_drop is set."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/task-queue/warehouse_drop/config",
                project=project,
            )
        )
        return read(models.GetQueueConfigResponse, found.content)

    def set_project_task_queue_config_warehouse_drop(
        self,
        body: models.SetQueueConfigRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Set a project's queue warehouse_drop."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/project/task-queue/warehouse_drop/config",
                body=body.wire(),
                project=project,
            )
        )

    def get_project_task_queue_schedule_task_log_cleanup(
        self,
        *,
        project: str | None = None,
    ) -> models.QueueSchedule:
        """When a project's queue task_log_cleanup makes its tasks."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/task-queue/task_log_cleanup/schedule",
                project=project,
            )
        )
        return read(models.QueueSchedule, found.content)

    def set_project_task_queue_schedule_task_log_cleanup(
        self,
        body: models.SetQueueSchedule,
        *,
        project: str | None = None,
    ) -> None:
        """Say by a cron expression when a project's queue task_log_cleanup makes its tasks."""
        self.connection.call(
            Call(
                "PUT",
                "/management/v1/project/task-queue/task_log_cleanup/schedule",
                body=body.wire(),
                project=project,
            )
        )

    def drop_project_task_queue_schedule_task_log_cleanup(
        self,
        *,
        project: str | None = None,
    ) -> None:
        """Have a project's queue task_log_cleanup make its tasks as it does by itself."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/project/task-queue/task_log_cleanup/schedule",
                project=project,
            )
        )

    def schedule_project_task_task_log_cleanup(
        self,
        body: models.ScheduleTaskRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.ScheduleTaskResponse:
        """Queue a task of a project's queue task_log_cleanup, now or for a time within a year."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/project/task-queue/task_log_cleanup/schedule",
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.ScheduleTaskResponse, found.content)

    def get_project_task_queue_schedule_statistics(
        self,
        *,
        project: str | None = None,
    ) -> models.QueueSchedule:
        """When a project's queue statistics makes its tasks."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/task-queue/statistics/schedule",
                project=project,
            )
        )
        return read(models.QueueSchedule, found.content)

    def set_project_task_queue_schedule_statistics(
        self,
        body: models.SetQueueSchedule,
        *,
        project: str | None = None,
    ) -> None:
        """Say by a cron expression when a project's queue statistics makes its tasks."""
        self.connection.call(
            Call(
                "PUT",
                "/management/v1/project/task-queue/statistics/schedule",
                body=body.wire(),
                project=project,
            )
        )

    def drop_project_task_queue_schedule_statistics(
        self,
        *,
        project: str | None = None,
    ) -> None:
        """Have a project's queue statistics make its tasks as it does by itself."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/project/task-queue/statistics/schedule",
                project=project,
            )
        )

    def schedule_project_task_statistics(
        self,
        body: models.ScheduleTaskRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.ScheduleTaskResponse:
        """Queue a task of a project's queue statistics, now or for a time within a year."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/project/task-queue/statistics/schedule",
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.ScheduleTaskResponse, found.content)

    def get_project_task_queue_schedule_generic_statistics(
        self,
        *,
        project: str | None = None,
    ) -> models.QueueSchedule:
        """When a project's queue generic_statistics makes its tasks."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/task-queue/generic_statistics/schedule",
                project=project,
            )
        )
        return read(models.QueueSchedule, found.content)

    def set_project_task_queue_schedule_generic_statistics(
        self,
        body: models.SetQueueSchedule,
        *,
        project: str | None = None,
    ) -> None:
        """Say by a cron expression when a project's queue generic_statistics makes its tasks."""
        self.connection.call(
            Call(
                "PUT",
                "/management/v1/project/task-queue/generic_statistics/schedule",
                body=body.wire(),
                project=project,
            )
        )

    def drop_project_task_queue_schedule_generic_statistics(
        self,
        *,
        project: str | None = None,
    ) -> None:
        """Have a project's queue generic_statistics make its tasks as it does by itself."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/project/task-queue/generic_statistics/schedule",
                project=project,
            )
        )

    def schedule_project_task_generic_statistics(
        self,
        body: models.ScheduleTaskRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.ScheduleTaskResponse:
        """Queue a task of a project's queue generic_statistics, now or for a time within a year."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/project/task-queue/generic_statistics/schedule",
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.ScheduleTaskResponse, found.content)

    def get_server_assignments(
        self,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetServerAssignmentsResponse:
        """Who has which relation to a server."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/server/assignments",
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetServerAssignmentsResponse, found.content)

    def update_server_assignments(
        self,
        body: models.UpdateServerAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a server, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/server/assignments",
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_server_actions(
        self,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGAServerActionsResponse:
        """What a user or a role may do about the grants of a server."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/server/authorizer-actions",
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGAServerActionsResponse, found.content)

    def get_project_assignments(
        self,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetProjectAssignmentsResponse:
        """Who has which relation to a project."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/project/assignments",
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetProjectAssignmentsResponse, found.content)

    def update_project_assignments(
        self,
        body: models.UpdateProjectAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a project, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/project/assignments",
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_project_actions(
        self,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGAProjectActionsResponse:
        """What a user or a role may do about the grants of a project."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/project/authorizer-actions",
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGAProjectActionsResponse, found.content)

    def update_project_assignments_by_id(
        self,
        project_id: UUID | str,
        body: models.UpdateProjectAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a project, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/project/{project_id}/assignments",
                places={"project_id": project_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_warehouse_assignments_by_id(
        self,
        warehouse_id: UUID | str,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetWarehouseAssignmentsResponse:
        """Who has which relation to a warehouse."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/warehouse/{warehouse_id}/assignments",
                places={"warehouse_id": warehouse_id},
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetWarehouseAssignmentsResponse, found.content)

    def update_warehouse_assignments_by_id(
        self,
        warehouse_id: UUID | str,
        body: models.UpdateWarehouseAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a warehouse, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/warehouse/{warehouse_id}/assignments",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_warehouse_actions(
        self,
        warehouse_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGAWarehouseActionsResponse:
        """What a user or a role may do about the grants of a warehouse."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/warehouse/{warehouse_id}/authorizer-actions",
                places={"warehouse_id": warehouse_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGAWarehouseActionsResponse, found.content)

    def get_namespace_assignments_by_id(
        self,
        namespace_id: UUID | str,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetNamespaceAssignmentsResponse:
        """Who has which relation to a namespace."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/namespace/{namespace_id}/assignments",
                places={"namespace_id": namespace_id},
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetNamespaceAssignmentsResponse, found.content)

    def update_namespace_assignments_by_id(
        self,
        namespace_id: UUID | str,
        body: models.UpdateNamespaceAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a namespace, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/namespace/{namespace_id}/assignments",
                places={"namespace_id": namespace_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_namespace_actions(
        self,
        namespace_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGANamespaceActionsResponse:
        """What a user or a role may do about the grants of a namespace."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/namespace/{namespace_id}/authorizer-actions",
                places={"namespace_id": namespace_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGANamespaceActionsResponse, found.content)

    def get_table_assignments_by_id(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetTableAssignmentsResponse:
        """Who has which relation to a table."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/warehouse/{warehouse_id}/table/{table_id}/assignments",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetTableAssignmentsResponse, found.content)

    def update_table_assignments_by_id(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        body: models.UpdateTableAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a table, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/warehouse/{warehouse_id}/table/{table_id}/assignments",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_table_actions(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGATableActionsResponse:
        """What a user or a role may do about the grants of a table."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/warehouse/{warehouse_id}/table/{table_id}/authorizer-actions",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGATableActionsResponse, found.content)

    def get_view_assignments_by_id(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetViewAssignmentsResponse:
        """Who has which relation to a view."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/warehouse/{warehouse_id}/view/{view_id}/assignments",
                places={"warehouse_id": warehouse_id, "view_id": view_id},
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetViewAssignmentsResponse, found.content)

    def update_view_assignments_by_id(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        body: models.UpdateViewAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a view, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/warehouse/{warehouse_id}/view/{view_id}/assignments",
                places={"warehouse_id": warehouse_id, "view_id": view_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_view_actions(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGAViewActionsResponse:
        """What a user or a role may do about the grants of a view."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/warehouse/{warehouse_id}/view/{view_id}/authorizer-actions",
                places={"warehouse_id": warehouse_id, "view_id": view_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGAViewActionsResponse, found.content)

    def get_generic_table_assignments_by_id(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetGenericTableAssignmentsResponse:
        """Who has which relation to a generic table."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/warehouse/{warehouse_id}/generic-table/{generic_table_id}/assignments",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id},
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetGenericTableAssignmentsResponse, found.content)

    def update_generic_table_assignments_by_id(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        body: models.UpdateGenericTableAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a generic table, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/warehouse/{warehouse_id}/generic-table/{generic_table_id}/assignments",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_generic_table_actions(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGAGenericTableActionsResponse:
        """What a user or a role may do about the grants of a generic table."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/warehouse/{warehouse_id}/generic-table/{generic_table_id}/authorizer-actions",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGAGenericTableActionsResponse, found.content)

    def get_table_assignments_by_id_alone(
        self,
        table_id: UUID | str,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetTableAssignmentsResponse:
        """Who has which relation to a table."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/table/{table_id}/assignments",
                places={"table_id": table_id},
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetTableAssignmentsResponse, found.content)

    def update_table_assignments_by_id_alone(
        self,
        table_id: UUID | str,
        body: models.UpdateTableAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a table, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/table/{table_id}/assignments",
                places={"table_id": table_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_table_actions_by_id_alone(
        self,
        table_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGATableActionsResponse:
        """What a user or a role may do about the grants of a table."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/table/{table_id}/authorizer-actions",
                places={"table_id": table_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGATableActionsResponse, found.content)

    def get_view_assignments_by_id_alone(
        self,
        view_id: UUID | str,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetViewAssignmentsResponse:
        """Who has which relation to a view."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/view/{view_id}/assignments",
                places={"view_id": view_id},
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetViewAssignmentsResponse, found.content)

    def update_view_assignments_by_id_alone(
        self,
        view_id: UUID | str,
        body: models.UpdateViewAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a view, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/view/{view_id}/assignments",
                places={"view_id": view_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_view_actions_by_id_alone(
        self,
        view_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGAViewActionsResponse:
        """What a user or a role may do about the grants of a view."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/view/{view_id}/authorizer-actions",
                places={"view_id": view_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGAViewActionsResponse, found.content)

    def get_generic_table_assignments_by_id_alone(
        self,
        generic_table_id: UUID | str,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetGenericTableAssignmentsResponse:
        """Who has which relation to a generic table."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/generic-table/{generic_table_id}/assignments",
                places={"generic_table_id": generic_table_id},
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetGenericTableAssignmentsResponse, found.content)

    def update_generic_table_assignments_by_id_alone(
        self,
        generic_table_id: UUID | str,
        body: models.UpdateGenericTableAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a generic table, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/generic-table/{generic_table_id}/assignments",
                places={"generic_table_id": generic_table_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_generic_table_actions_by_id_alone(
        self,
        generic_table_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGAGenericTableActionsResponse:
        """What a user or a role may do about the grants of a generic table."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/generic-table/{generic_table_id}/authorizer-actions",
                places={"generic_table_id": generic_table_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGAGenericTableActionsResponse, found.content)

    def get_role_assignments_by_id(
        self,
        role_id: UUID | str,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetRoleAssignmentsResponse:
        """Who has which relation to a role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/role/{role_id}/assignments",
                places={"role_id": role_id},
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetRoleAssignmentsResponse, found.content)

    def update_role_assignments_by_id(
        self,
        role_id: UUID | str,
        body: models.UpdateRoleAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a role, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/role/{role_id}/assignments",
                places={"role_id": role_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_authorizer_role_actions(
        self,
        role_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetOpenFGARoleActionsResponse:
        """What a user or a role may do about the grants of a role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/role/{role_id}/authorizer-actions",
                places={"role_id": role_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetOpenFGARoleActionsResponse, found.content)

    def get_tag_assignments_by_id(
        self,
        tag_definition_id: UUID | str,
        *,
        relations: Sequence[str] | None = None,
        project: str | None = None,
    ) -> models.GetTagAssignmentsResponse:
        """Who has which relation to a tag definition."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/tag/{tag_definition_id}/assignments",
                places={"tag_definition_id": tag_definition_id},
                query={"relations": relations},
                project=project,
            )
        )
        return read(models.GetTagAssignmentsResponse, found.content)

    def update_tag_assignments_by_id(
        self,
        tag_definition_id: UUID | str,
        body: models.UpdateTagAssignmentsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take relations to a tag definition, all or none."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/tag/{tag_definition_id}/assignments",
                places={"tag_definition_id": tag_definition_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_warehouse_by_id(
        self,
        warehouse_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.GetWarehouseAuthPropertiesResponse:
        """Whether owners of what is in a warehouse are kept from granting."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/warehouse/{warehouse_id}",
                places={"warehouse_id": warehouse_id},
                project=project,
            )
        )
        return read(models.GetWarehouseAuthPropertiesResponse, found.content)

    def set_warehouse_managed_access(
        self,
        warehouse_id: UUID | str,
        body: models.SetManagedAccessRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Keep owners of what is in a warehouse from granting, or no longer."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/warehouse/{warehouse_id}/managed-access",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_namespace_by_id(
        self,
        namespace_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.GetNamespaceAuthPropertiesResponse:
        """Whether owners of what is in a namespace are kept from granting."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/permissions/namespace/{namespace_id}",
                places={"namespace_id": namespace_id},
                project=project,
            )
        )
        return read(models.GetNamespaceAuthPropertiesResponse, found.content)

    def set_namespace_managed_access(
        self,
        namespace_id: UUID | str,
        body: models.SetManagedAccessRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Keep owners of what is in a namespace from granting, or no longer."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/namespace/{namespace_id}/managed-access",
                places={"namespace_id": namespace_id},
                body=body.wire(),
                project=project,
            )
        )

    def list_grants(
        self,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListGrantsResponse:
        """What was given to one user or role in the selected project and on all that is in it."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/grants",
                query={
                    "principalUser": principal_user,
                    "principalRole": principal_role,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListGrantsResponse, found.content)

    def get_grantable_privileges(
        self,
        *,
        project: str | None = None,
    ) -> models.GrantablePrivilegesResponse:
        """Everything that can be given, by kind of object."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/grants/grantable-privileges",
                project=project,
            )
        )
        return read(models.GrantablePrivilegesResponse, found.content)

    def list_server_grants(
        self,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListGrantsResponse:
        """What was given on a server: everything, or to one user or role alone."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/server/grants",
                query={
                    "principalUser": principal_user,
                    "principalRole": principal_role,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListGrantsResponse, found.content)

    def apply_server_grants(
        self,
        body: models.ApplyGrantsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take on a server, all or none; what is so already is passed over."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/server/grants",
                body=body.wire(),
                project=project,
            )
        )

    def get_server_grantable_privileges(
        self,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.ResourceGrantablePrivilegesResponse:
        """What may be given on a server, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/server/grants/grantable-privileges",
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.ResourceGrantablePrivilegesResponse, found.content)

    def list_project_grants(
        self,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListGrantsResponse:
        """What was given on a project: everything, or to one user or role alone."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/grants",
                query={
                    "principalUser": principal_user,
                    "principalRole": principal_role,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListGrantsResponse, found.content)

    def apply_project_grants(
        self,
        body: models.ApplyGrantsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take on a project, all or none; what is so already is passed over."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/project/grants",
                body=body.wire(),
                project=project,
            )
        )

    def get_project_grantable_privileges(
        self,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.ResourceGrantablePrivilegesResponse:
        """What may be given on a project, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/grants/grantable-privileges",
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.ResourceGrantablePrivilegesResponse, found.content)

    def list_warehouse_grants(
        self,
        warehouse_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListGrantsResponse:
        """What was given on a warehouse: everything, or to one user or role alone."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/grants",
                places={"warehouse_id": warehouse_id},
                query={
                    "principalUser": principal_user,
                    "principalRole": principal_role,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListGrantsResponse, found.content)

    def apply_warehouse_grants(
        self,
        warehouse_id: UUID | str,
        body: models.ApplyGrantsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take on a warehouse, all or none; what is so already is passed over."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/grants",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_warehouse_grantable_privileges(
        self,
        warehouse_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.ResourceGrantablePrivilegesResponse:
        """What may be given on a warehouse, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/grants/grantable-privileges",
                places={"warehouse_id": warehouse_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.ResourceGrantablePrivilegesResponse, found.content)

    def list_namespace_grants(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListGrantsResponse:
        """What was given on a namespace: everything, or to one user or role alone."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/grants",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id},
                query={
                    "principalUser": principal_user,
                    "principalRole": principal_role,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListGrantsResponse, found.content)

    def apply_namespace_grants(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        body: models.ApplyGrantsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take on a namespace, all or none; what is so already is passed over."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/grants",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_namespace_grantable_privileges(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.ResourceGrantablePrivilegesResponse:
        """What may be given on a namespace, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/grants/grantable-privileges",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.ResourceGrantablePrivilegesResponse, found.content)

    def list_table_grants(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListGrantsResponse:
        """What was given on a table: everything, or to one user or role alone."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/grants",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                query={
                    "principalUser": principal_user,
                    "principalRole": principal_role,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListGrantsResponse, found.content)

    def apply_table_grants(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        body: models.ApplyGrantsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take on a table, all or none; what is so already is passed over."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/grants",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_table_grantable_privileges(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.ResourceGrantablePrivilegesResponse:
        """What may be given on a table, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/grants/grantable-privileges",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.ResourceGrantablePrivilegesResponse, found.content)

    def list_view_grants(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListGrantsResponse:
        """What was given on a view: everything, or to one user or role alone."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/view/{view_id}/grants",
                places={"warehouse_id": warehouse_id, "view_id": view_id},
                query={
                    "principalUser": principal_user,
                    "principalRole": principal_role,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListGrantsResponse, found.content)

    def apply_view_grants(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        body: models.ApplyGrantsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take on a view, all or none; what is so already is passed over."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/view/{view_id}/grants",
                places={"warehouse_id": warehouse_id, "view_id": view_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_view_grantable_privileges(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.ResourceGrantablePrivilegesResponse:
        """What may be given on a view, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/view/{view_id}/grants/grantable-privileges",
                places={"warehouse_id": warehouse_id, "view_id": view_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.ResourceGrantablePrivilegesResponse, found.content)

    def list_generic_table_grants(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListGrantsResponse:
        """What was given on a generic table: everything, or to one user or role alone."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/generic-table/{generic_table_id}/grants",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id},
                query={
                    "principalUser": principal_user,
                    "principalRole": principal_role,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListGrantsResponse, found.content)

    def apply_generic_table_grants(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        body: models.ApplyGrantsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take on a generic table, all or none; what is so already is passed over."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/generic-table/{generic_table_id}/grants",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_generic_table_grantable_privileges(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.ResourceGrantablePrivilegesResponse:
        """What may be given on a generic table, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/generic-table/{generic_table_id}/grants/grantable-privileges",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.ResourceGrantablePrivilegesResponse, found.content)

    def list_tag_grants(
        self,
        tag_definition_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListGrantsResponse:
        """What was given on a tag definition: everything, or to one user or role alone."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/tag-definition/{tag_definition_id}/grants",
                places={"tag_definition_id": tag_definition_id},
                query={
                    "principalUser": principal_user,
                    "principalRole": principal_role,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListGrantsResponse, found.content)

    def apply_tag_grants(
        self,
        tag_definition_id: UUID | str,
        body: models.ApplyGrantsRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Give and take on a tag definition, all or none; what is so already is passed over."""
        self.connection.call(
            Call(
                "POST",
                "/management/v1/tag-definition/{tag_definition_id}/grants",
                places={"tag_definition_id": tag_definition_id},
                body=body.wire(),
                project=project,
            )
        )

    def get_tag_grantable_privileges(
        self,
        tag_definition_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.ResourceGrantablePrivilegesResponse:
        """What may be given on a tag definition, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/tag-definition/{tag_definition_id}/grants/grantable-privileges",
                places={"tag_definition_id": tag_definition_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.ResourceGrantablePrivilegesResponse, found.content)

    def list_user(
        self,
        *,
        name: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListUsersResponse:
        """Users, by id."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/user",
                query={"name": name, "pageToken": page_token, "pageSize": page_size},
                project=project,
            )
        )
        return read(models.ListUsersResponse, found.content)

    def create_user(
        self,
        body: models.CreateUserRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.User:
        """Record the caller, or another user."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/user",
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.User, found.content)

    def search_user(
        self,
        body: models.SearchUserRequest,
        *,
        project: str | None = None,
    ) -> models.SearchUserResponse:
        """At most ten users that are most like a text, by id, name or e-mail address."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/search/user",
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.SearchUserResponse, found.content)

    def whoami(
        self,
        *,
        project: str | None = None,
    ) -> models.WhoamiResponse:
        """The caller, whatever role it assumes."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/whoami",
                project=project,
            )
        )
        return read(models.WhoamiResponse, found.content)

    def get_user(
        self,
        user_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.User:
        """One user."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/user/{user_id}",
                places={"user_id": user_id},
                project=project,
            )
        )
        return read(models.User, found.content)

    def update_user(
        self,
        user_id: UUID | str,
        body: models.UpdateUserRequest,
        *,
        project: str | None = None,
    ) -> None:
        """Replace what is known of a user."""
        self.connection.call(
            Call(
                "PUT",
                "/management/v1/user/{user_id}",
                places={"user_id": user_id},
                body=body.wire(),
                project=project,
            )
        )

    def delete_user(
        self,
        user_id: UUID | str,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> None:
        """Delete a user, and take all its rights."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/user/{user_id}",
                places={"user_id": user_id},
                project=project,
                key=key_of(idempotency_key),
            )
        )

    def get_user_actions(
        self,
        user_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetUserActionsResponse:
        """What may be done to a user, by the caller or by another principal."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/user/{user_id}/actions",
                places={"user_id": user_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetUserActionsResponse, found.content)

    def list_roles(
        self,
        *,
        role_ids: Sequence[str] | None = None,
        source_ids: Sequence[str] | None = None,
        provider_ids: Sequence[str] | None = None,
        project_id: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListRolesResponse:
        """Roles of the selected project, in the order in which they were made."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/role",
                query={
                    "roleIds": role_ids,
                    "sourceIds": source_ids,
                    "providerIds": provider_ids,
                    "projectId": project_id,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListRolesResponse, found.content)

    def create_role(
        self,
        body: models.CreateRoleRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.Role:
        """Make a role in the selected project; the caller owns it."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/role",
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.Role, found.content)

    def search_role(
        self,
        body: models.SearchRoleRequest,
        *,
        project: str | None = None,
    ) -> models.SearchRoleResponse:
        """At most ten roles of the selected project that are most like a text, by id, source id or name."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/search/role",
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.SearchRoleResponse, found.content)

    def get_role(
        self,
        role_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.Role:
        """One role of the selected project."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/role/{role_id}",
                places={"role_id": role_id},
                project=project,
            )
        )
        return read(models.Role, found.content)

    def update_role(
        self,
        role_id: UUID | str,
        body: models.UpdateRoleRequest,
        *,
        project: str | None = None,
    ) -> models.Role:
        """Give a role another name and description."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/role/{role_id}",
                places={"role_id": role_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.Role, found.content)

    def delete_role(
        self,
        role_id: UUID | str,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> None:
        """Delete a role, with what was granted to it and on it."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/role/{role_id}",
                places={"role_id": role_id},
                project=project,
                key=key_of(idempotency_key),
            )
        )

    def get_role_metadata(
        self,
        role_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.RoleMetadata:
        """What a role of any project is called."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/role/{role_id}/metadata",
                places={"role_id": role_id},
                project=project,
            )
        )
        return read(models.RoleMetadata, found.content)

    def update_role_source_system(
        self,
        role_id: UUID | str,
        body: models.UpdateRoleSourceSystemRequest,
        *,
        project: str | None = None,
    ) -> models.Role:
        """Bind a role to what a provider calls it."""
        found = self.connection.call(
            Call(
                "PUT",
                "/management/v1/role/{role_id}/source-system",
                places={"role_id": role_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.Role, found.content)

    def list_role_members(
        self,
        role_id: UUID | str,
        *,
        type_: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListRoleMembersResponse:
        """Who is in a role: roles first, each kind by id."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/role/{role_id}/members",
                places={"role_id": role_id},
                query={"type": type_, "pageToken": page_token, "pageSize": page_size},
                project=project,
            )
        )
        return read(models.ListRoleMembersResponse, found.content)

    def add_role_members(
        self,
        role_id: UUID | str,
        body: models.AddRoleMembersRequest,
        *,
        project: str | None = None,
    ) -> models.AddRoleMembersResponse:
        """Put users and roles into a role, all or none."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/role/{role_id}/members",
                places={"role_id": role_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.AddRoleMembersResponse, found.content)

    def list_role_transitive_members(
        self,
        role_id: UUID | str,
        *,
        type_: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListRoleMembersResponse:
        """Who is in a role, or in one that is in it."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/role/{role_id}/members/transitive",
                places={"role_id": role_id},
                query={"type": type_, "pageToken": page_token, "pageSize": page_size},
                project=project,
            )
        )
        return read(models.ListRoleMembersResponse, found.content)

    def remove_role_member(
        self,
        role_id: UUID | str,
        member_type: UUID | str,
        member_id: UUID | str,
        *,
        project: str | None = None,
    ) -> None:
        """Take a user or a role out of a role."""
        self.connection.call(
            Call(
                "DELETE",
                "/management/v1/role/{role_id}/members/{member_type}/{member_id}",
                places={"role_id": role_id, "member_type": member_type, "member_id": member_id},
                project=project,
            )
        )

    def list_role_member_of(
        self,
        role_id: UUID | str,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListRoleMembershipsResponse:
        """In which roles a role is."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/role/{role_id}/member-of",
                places={"role_id": role_id},
                query={"pageToken": page_token, "pageSize": page_size},
                project=project,
            )
        )
        return read(models.ListRoleMembershipsResponse, found.content)

    def list_role_transitive_member_of(
        self,
        role_id: UUID | str,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListRoleMembershipsResponse:
        """In which roles a role is, by itself or by being in another."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/role/{role_id}/member-of/transitive",
                places={"role_id": role_id},
                query={"pageToken": page_token, "pageSize": page_size},
                project=project,
            )
        )
        return read(models.ListRoleMembershipsResponse, found.content)

    def list_user_roles(
        self,
        user_id: UUID | str,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListRoleMembershipsResponse:
        """In which roles of the selected project a user is."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/user/{user_id}/roles",
                places={"user_id": user_id},
                query={"pageToken": page_token, "pageSize": page_size},
                project=project,
            )
        )
        return read(models.ListRoleMembershipsResponse, found.content)

    def list_user_transitive_roles(
        self,
        user_id: UUID | str,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListRoleMembershipsResponse:
        """In which roles of the selected project a user is, by itself or by being in another."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/user/{user_id}/roles/transitive",
                places={"user_id": user_id},
                query={"pageToken": page_token, "pageSize": page_size},
                project=project,
            )
        )
        return read(models.ListRoleMembershipsResponse, found.content)

    def get_server_actions(
        self,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetLakekeeperServerActionsResponse:
        """What may be done to a server, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/server/actions",
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetLakekeeperServerActionsResponse, found.content)

    def get_project_actions(
        self,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetLakekeeperProjectActionsResponse:
        """What may be done to a project, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/actions",
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetLakekeeperProjectActionsResponse, found.content)

    def get_warehouse_actions(
        self,
        warehouse_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetLakekeeperWarehouseActionsResponse:
        """What may be done to a warehouse, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/actions",
                places={"warehouse_id": warehouse_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetLakekeeperWarehouseActionsResponse, found.content)

    def get_namespace_actions(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetLakekeeperNamespaceActionsResponse:
        """What may be done to a namespace, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/actions",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetLakekeeperNamespaceActionsResponse, found.content)

    def get_table_actions(
        self,
        warehouse_id: UUID | str,
        table_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetLakekeeperTableActionsResponse:
        """What may be done to a table, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/table/{table_id}/actions",
                places={"warehouse_id": warehouse_id, "table_id": table_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetLakekeeperTableActionsResponse, found.content)

    def get_view_actions(
        self,
        warehouse_id: UUID | str,
        view_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetLakekeeperViewActionsResponse:
        """What may be done to a view, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/view/{view_id}/actions",
                places={"warehouse_id": warehouse_id, "view_id": view_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetLakekeeperViewActionsResponse, found.content)

    def get_generic_table_actions(
        self,
        warehouse_id: UUID | str,
        generic_table_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetLakekeeperGenericTableActionsResponse:
        """What may be done to a generic table, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/generic-table/{generic_table_id}/actions",
                places={"warehouse_id": warehouse_id, "generic_table_id": generic_table_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetLakekeeperGenericTableActionsResponse, found.content)

    def get_role_actions(
        self,
        role_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetLakekeeperRoleActionsResponse:
        """What may be done to a role, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/role/{role_id}/actions",
                places={"role_id": role_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetLakekeeperRoleActionsResponse, found.content)

    def get_tag_actions(
        self,
        tag_definition_id: UUID | str,
        *,
        principal_user: str | None = None,
        principal_role: str | None = None,
        project: str | None = None,
    ) -> models.GetLakekeeperTagActionsResponse:
        """What may be done to a tag definition, by the caller, or by another user or role."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/tag-definition/{tag_definition_id}/actions",
                places={"tag_definition_id": tag_definition_id},
                query={"principalUser": principal_user, "principalRole": principal_role},
                project=project,
            )
        )
        return read(models.GetLakekeeperTagActionsResponse, found.content)

    def check(
        self,
        body: models.CheckRequest,
        *,
        project: str | None = None,
    ) -> models.CheckResponse:
        """Whether a user or a role may take an action on what is there."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/check",
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.CheckResponse, found.content)

    def batch_check_actions(
        self,
        body: models.CatalogActionsBatchCheckRequest,
        *,
        project: str | None = None,
    ) -> models.CatalogActionsBatchCheckResponse:
        """Whether users and roles may take each of up to 1000 actions."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/action/batch-check",
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.CatalogActionsBatchCheckResponse, found.content)

    def explain_access(
        self,
        body: models.ExplainAccessRequest,
        *,
        project: str | None = None,
    ) -> models.ExplainAccessResponse:
        """Why a user or a role may take an action, or may not and what they would have to be given."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/permissions/explain",
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.ExplainAccessResponse, found.content)

    def cascade_drop_warehouse(
        self,
        warehouse_id: UUID | str,
        body: models.CascadeDropRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.CascadeDropResponse:
        """Drop a warehouse with everything inside, by a task, or say what that would take."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/cascade-drop",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.CascadeDropResponse, found.content)

    def cascade_drop_namespace(
        self,
        warehouse_id: UUID | str,
        namespace_id: UUID | str,
        body: models.CascadeDropRequest,
        *,
        project: str | None = None,
        idempotency_key: UUID | None = None,
    ) -> models.CascadeDropResponse:
        """Drop a namespace with everything inside, by a task, or say what that would take."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/warehouse/{warehouse_id}/namespace/{namespace_id}/cascade-drop",
                places={"warehouse_id": warehouse_id, "namespace_id": namespace_id},
                body=body.wire(),
                project=project,
                key=key_of(idempotency_key),
            )
        )
        return read(models.CascadeDropResponse, found.content)

    def get_warehouse_contracts(
        self,
        warehouse_id: UUID | str,
        *,
        project: str | None = None,
    ) -> models.Contracts:
        """The contracts that are asked before tables and views of a warehouse are changed."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/contracts",
                places={"warehouse_id": warehouse_id},
                project=project,
            )
        )
        return read(models.Contracts, found.content)

    def set_warehouse_contracts(
        self,
        warehouse_id: UUID | str,
        body: models.Contracts,
        *,
        project: str | None = None,
    ) -> models.Contracts:
        """Replace the contracts of a warehouse, all at once."""
        found = self.connection.call(
            Call(
                "PUT",
                "/management/v1/warehouse/{warehouse_id}/contracts",
                places={"warehouse_id": warehouse_id},
                body=body.wire(),
                project=project,
            )
        )
        return read(models.Contracts, found.content)

    def list_audit_records(
        self,
        *,
        whole_server: bool | None = None,
        warehouse_id: str | None = None,
        principal: str | None = None,
        action: str | None = None,
        outcome: str | None = None,
        object_id: str | None = None,
        start: str | None = None,
        end: str | None = None,
        page_token: str | None = None,
        page_size: int | None = None,
        project: str | None = None,
    ) -> models.ListAuditRecordsResponse:
        """Who did or tried what, the newest first."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/audit",
                query={
                    "wholeServer": whole_server,
                    "warehouseId": warehouse_id,
                    "principal": principal,
                    "action": action,
                    "outcome": outcome,
                    "objectId": object_id,
                    "start": start,
                    "end": end,
                    "pageToken": page_token,
                    "pageSize": page_size,
                },
                project=project,
            )
        )
        return read(models.ListAuditRecordsResponse, found.content)

    def get_endpoint_statistics(
        self,
        body: models.GetEndpointStatisticsRequest,
        *,
        project: str | None = None,
    ) -> models.EndpointStatisticsResponse:
        """How often what was asked, by hour, endpoint, status and warehouse."""
        found = self.connection.call(
            Call(
                "POST",
                "/management/v1/endpoint-statistics",
                body=body.wire(),
                project=project,
                reads=True,
            )
        )
        return read(models.EndpointStatisticsResponse, found.content)

    def list_events(
        self,
        warehouse_id: UUID | str,
        *,
        after: str | None = None,
        page_size: int | None = None,
        wait_ms: int | None = None,
        project: str | None = None,
    ) -> models.EventsResponse:
        """Events of a warehouse and of what is in it, in order: what is there, then what changed."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/warehouse/{warehouse_id}/events",
                places={"warehouse_id": warehouse_id},
                query={"after": after, "pageSize": page_size, "waitMs": wait_ms},
                project=project,
            )
        )
        return read(models.EventsResponse, found.content)

    def list_project_events(
        self,
        *,
        service: str | None = None,
        after: str | None = None,
        page_size: int | None = None,
        wait_ms: int | None = None,
        project: str | None = None,
    ) -> models.EventsResponse:
        """Events of a project, in order: what is there, then what changed. Each service has some."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/project/events",
                query={"service": service, "after": after, "pageSize": page_size, "waitMs": wait_ms},
                project=project,
            )
        )
        return read(models.EventsResponse, found.content)

    def list_server_events(
        self,
        *,
        service: str | None = None,
        after: str | None = None,
        page_size: int | None = None,
        wait_ms: int | None = None,
        project: str | None = None,
    ) -> models.EventsResponse:
        """Events of the server, in order: what is there, then what changed. Each service has some."""
        found = self.connection.call(
            Call(
                "GET",
                "/management/v1/server/events",
                query={"service": service, "after": after, "pageSize": page_size, "waitMs": wait_ms},
                project=project,
            )
        )
        return read(models.EventsResponse, found.content)
