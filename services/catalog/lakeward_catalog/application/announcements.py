"""The events of this service's changes.

Upstream's consumers find its event types, and its extension attributes under their own names; the same values stand beside them
under names that the CloudEvents standard allows. `prefix` is always the warehouse, and `namespace` always joined by dots.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports.system import Ids
from lakeward_catalog.domain.events import Actor, Event, cloud_event
from lakeward_catalog.domain.model import Kind, Namespace, Project, Tabular, Warehouse

SERVER_STREAM: Final = "server"


@dataclasses.dataclass(frozen=True, slots=True)
class Occasion:
    """When, by whom and in which request a change is made."""

    at: datetime
    actor: Actor
    trace_id: str


def occasion(caller: Caller, at: datetime) -> Occasion:
    """A caller's change."""
    return Occasion(at, caller.actor, caller.request_id)


class TabularChange(enum.Enum):
    """What happens to a table or view: (verb, type of the event around the kind; upstream's, where it has the event)."""

    CREATED = ("created", "create{}")
    REGISTERED = ("registered", "register{}")
    COMMITTED = ("committed", "update{}")
    RENAMED = ("renamed", "rename{}")
    PROTECTION_UPDATED = ("protection-updated", "update{}Protection")
    DROPPED = ("dropped", "drop{}")
    UNDROPPED = ("undropped", "undropTabulars")


class NamespaceChange(enum.StrEnum):
    """What happens to a namespace, by its verb."""

    CREATED = "created"
    PROPERTIES_UPDATED = "properties-updated"
    PROTECTION_UPDATED = "protection-updated"
    DROPPED = "dropped"


class ProjectChange(enum.StrEnum):
    """What happens to a project, by its verb."""

    CREATED = "created"
    RENAMED = "renamed"
    DELETED = "deleted"


class WarehouseChange(enum.StrEnum):
    """What happens to a warehouse, by its verb."""

    CREATED = "created"
    RENAMED = "renamed"
    ACTIVATED = "activated"
    DEACTIVATED = "deactivated"
    PROTECTION_UPDATED = "protection-updated"
    STORAGE_UPDATED = "storage-updated"
    CREDENTIAL_UPDATED = "credential-updated"
    DELETE_PROFILE_UPDATED = "delete-profile-updated"
    FORMAT_VERSION_POLICY_UPDATED = "format-version-policy-updated"
    MANAGED_BY_UPDATED = "managed-by-updated"
    QUEUE_UPDATED = "task-queue-updated"
    DELETED = "deleted"


class Announcer:
    """Makes events. They say what changed by ids and names; never a credential."""

    def __init__(self, *, source: str, ids: Ids) -> None:
        """`source` says which installation, as "lakeward://<server id>"."""
        self._source: Final = source
        self._ids: Final = ids

    def tabular(
        self,
        change: TabularChange,
        tabular: Tabular,
        when: Occasion,
        *,
        data: Mapping[str, object] | None = None,
        request: bytes | None = None,
        index: int = 0,
        count: int = 1,
    ) -> Event:
        """A table or view changed.

        Args:
            change: what happened.
            tabular: before a rename, after everything else.
            when: the occasion.
            data: what this change has to say beside ids and locations.
            request: JSON of what was asked for.
            index: which of the events of one request, from 0.
            count: how many events the request makes.
        """
        verb, type_of = change.value
        warehouse, ident = str(tabular.warehouse_id), tabular.ident
        attributes = {
            "tabular-type": str(tabular.kind),
            "tabular-id": str(tabular.tabular_id),
            "warehouse-id": warehouse,
            "name": ident.name,
            "namespace": str(ident.namespace),
            "prefix": warehouse,
            "tabulartype": str(tabular.kind),
            "tabularid": str(tabular.tabular_id),
            "warehouseid": warehouse,
        }
        said: dict[str, object] = {
            "incarnation": str(tabular.incarnation),
            "namespace-id": str(tabular.namespace_id),
            "location": tabular.location,
            "metadata-location": tabular.metadata_location,
            "staged": tabular.metadata_location is None,
        }
        return cloud_event(
            event_id=self._ids.uuid7(),
            at=when.at,
            source=self._source,
            stream=warehouse,
            kind=str(tabular.kind),
            verb=verb,
            upstream_type=type_of.format("Table" if tabular.kind is Kind.TABLE else "View"),
            subject=str(ident),
            actor=when.actor,
            trace_id=when.trace_id,
            data={**said, **(data or {})},
            request=request,
            attributes=attributes,
            index=index,
            count=count,
        )

    def namespace(
        self, change: NamespaceChange, namespace: Namespace, when: Occasion, *, data: Mapping[str, object] | None = None
    ) -> Event:
        """A namespace changed."""
        warehouse = str(namespace.warehouse_id)
        return self._own(
            "namespace",
            change,
            when,
            stream=warehouse,
            subject=str(namespace.ident),
            attributes={"warehouseid": warehouse, "namespaceid": str(namespace.namespace_id)},
            data={"location": namespace.location, **(data or {})},
        )

    def warehouse(
        self, change: WarehouseChange, warehouse: Warehouse, when: Occasion, *, data: Mapping[str, object] | None = None
    ) -> Event:
        """A warehouse changed."""
        shown = str(warehouse.warehouse_id)
        said = {"name": warehouse.name, "base-location": warehouse.storage.base_location}
        return self._own(
            "warehouse",
            change,
            when,
            stream=shown,
            subject=warehouse.name,
            attributes={"warehouseid": shown, "projectid": warehouse.project_id},
            data={**said, **(data or {})},
        )

    def project(
        self, change: ProjectChange, project: Project, when: Occasion, *, data: Mapping[str, object] | None = None
    ) -> Event:
        """A project changed."""
        return self._own(
            "project",
            change,
            when,
            stream=project.project_id,
            subject=project.name,
            attributes={"projectid": project.project_id},
            data={"name": project.name, **(data or {})},
        )

    def server_bootstrapped(self, when: Occasion, *, is_operator: bool) -> Event:
        """The server was opened for use."""
        return self._own(
            "server",
            "bootstrapped",
            when,
            stream=SERVER_STREAM,
            subject=SERVER_STREAM,
            attributes={},
            data={"is-operator": is_operator},
        )

    def _own(
        self,
        kind: str,
        verb: str,
        when: Occasion,
        *,
        stream: str,
        subject: str,
        attributes: Mapping[str, str],
        data: Mapping[str, object],
    ) -> Event:
        """An event that upstream does not have; its type is made as upstream makes its own: "createNamespace"."""
        return cloud_event(
            event_id=self._ids.uuid7(),
            at=when.at,
            source=self._source,
            stream=stream,
            kind=kind,
            verb=str(verb),
            upstream_type=_OWN_TYPES[kind, str(verb)],
            subject=subject,
            actor=when.actor,
            trace_id=when.trace_id,
            data=data,
            attributes=attributes,
        )


_OWN_TYPES: Final[Mapping[tuple[str, str], str]] = {
    ("namespace", NamespaceChange.CREATED): "createNamespace",
    ("namespace", NamespaceChange.PROPERTIES_UPDATED): "updateNamespaceProperties",
    ("namespace", NamespaceChange.PROTECTION_UPDATED): "updateNamespaceProtection",
    ("namespace", NamespaceChange.DROPPED): "dropNamespace",
    ("warehouse", WarehouseChange.CREATED): "createWarehouse",
    ("warehouse", WarehouseChange.RENAMED): "renameWarehouse",
    ("warehouse", WarehouseChange.ACTIVATED): "activateWarehouse",
    ("warehouse", WarehouseChange.DEACTIVATED): "deactivateWarehouse",
    ("warehouse", WarehouseChange.PROTECTION_UPDATED): "updateWarehouseProtection",
    ("warehouse", WarehouseChange.STORAGE_UPDATED): "updateWarehouseStorage",
    ("warehouse", WarehouseChange.CREDENTIAL_UPDATED): "updateWarehouseStorageCredential",
    ("warehouse", WarehouseChange.DELETE_PROFILE_UPDATED): "updateWarehouseDeleteProfile",
    ("warehouse", WarehouseChange.FORMAT_VERSION_POLICY_UPDATED): "updateWarehouseFormatVersionPolicy",
    ("warehouse", WarehouseChange.MANAGED_BY_UPDATED): "updateWarehouseManagedBy",
    ("warehouse", WarehouseChange.QUEUE_UPDATED): "updateTaskQueueConfig",
    ("warehouse", WarehouseChange.DELETED): "deleteWarehouse",
    ("project", ProjectChange.CREATED): "createProject",
    ("project", ProjectChange.RENAMED): "renameProject",
    ("project", ProjectChange.DELETED): "deleteProject",
    ("server", "bootstrapped"): "bootstrapServer",
}
