"""The events of this service's changes.

Upstream's consumers find its event types, and its extension attributes under their own names; the same values stand beside them
under names that the CloudEvents standard allows. `prefix` is always the warehouse, and `namespace` always joined by dots.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.domain.model import Namespace, Project, State, Tabular, Warehouse
from lakeward_catalog.domain.tags import TagDefinition, TaggedObject
from lakeward_servicekit.events.cloud_events import Actor, Event, cloud_event
from lakeward_servicekit.events.streams import of_project
from lakeward_servicekit.system import Ids
from lakeward_servicekit.telemetry.correlation import current

SERVER_STREAM: Final = "server"
_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


@dataclasses.dataclass(frozen=True, slots=True)
class Occasion:
    """When, by whom and in which request a change is made.

    Attributes:
        traceparent: where the request is in a trace, as W3C has it; "" outside of any.
    """

    at: datetime
    actor: Actor
    trace_id: str
    traceparent: str = ""


def occasion(caller: Caller, at: datetime) -> Occasion:
    """A caller's change."""
    correlation = current()
    return Occasion(at, caller.actor, caller.request_id, "" if correlation is None else correlation.traceparent)


class FormerName(msgspec.Struct, frozen=True, rename="kebab"):
    """Where a tabular was before it was renamed, and what it was called; a payload's `before`."""

    namespace: tuple[str, ...]
    namespace_id: str
    name: str

    @classmethod
    def of(cls, tabular: Tabular) -> FormerName:
        """Where one is that is to be renamed."""
        return cls(tabular.ident.namespace.parts, str(tabular.namespace_id), tabular.ident.name)


class TabularChange(enum.Enum):
    """What happens to a table or view: (verb, type of the event around the kind; upstream's, where it has the event)."""

    CREATED = ("created", "create{}")
    REGISTERED = ("registered", "register{}")
    COMMITTED = ("committed", "update{}")
    RENAMED = ("renamed", "rename{}")
    PROTECTION_UPDATED = ("protection-updated", "update{}Protection")
    DROPPED = ("dropped", "drop{}")
    UNDROPPED = ("undropped", "undropTabulars")
    VERSIONS_FORGOTTEN = ("versions-forgotten", "forget{}Versions")
    SNAPSHOT = ("snapshot", "snapshot{}")


class NamespaceChange(enum.StrEnum):
    """What happens to a namespace, by its verb."""

    CREATED = "created"
    PROPERTIES_UPDATED = "properties-updated"
    PROTECTION_UPDATED = "protection-updated"
    MOVED = "moved"
    DROPPED = "dropped"
    SNAPSHOT = "snapshot"


class ProjectChange(enum.StrEnum):
    """What happens to a project, by its verb."""

    CREATED = "created"
    RENAMED = "renamed"
    QUEUE_UPDATED = "task-queue-updated"
    DELETED = "deleted"
    SNAPSHOT = "snapshot"
    QUEUE_SNAPSHOT = "snapshot-task-queue"
    SNAPSHOT_COMPLETED = "snapshot-completed"


class ServerChange(enum.StrEnum):
    """What happens to the installation, by its verb."""

    BOOTSTRAPPED = "bootstrapped"
    SNAPSHOT = "snapshot"
    SNAPSHOT_COMPLETED = "snapshot-completed"


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
    CONTRACTS_UPDATED = "contracts-updated"
    QUEUE_UPDATED = "task-queue-updated"
    DELETED = "deleted"
    SNAPSHOT = "snapshot"
    QUEUE_SNAPSHOT = "snapshot-task-queue"
    SNAPSHOT_COMPLETED = "snapshot-completed"


class TagDefinitionChange(enum.StrEnum):
    """What happens to the definition of a tag, by its verb."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    SNAPSHOT = "snapshot"


class TagChange(enum.StrEnum):
    """What happens to a tag on something, by its verb."""

    APPLIED = "applied"
    REMOVED = "removed"
    SNAPSHOT = "snapshot"


class Announcer:
    """Makes events, whose payloads are messages of `lakeward.events.v1`. They say what changed, and never a credential."""

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
        warehouse: Warehouse,
        data: Mapping[str, object] = _NOTHING,
        request: bytes | None = None,
        place: tuple[int, int] = (0, 1),
    ) -> Event:
        """A table or view changed.

        Args:
            change: what happened.
            tabular: as it is now; where it is gone, as it was.
            when: the occasion.
            warehouse: where it is.
            data: what this change has to say beside; of a rename, `before`.
            request: JSON of what was asked for.
            place: which of the events of one request, from 0, and how many events the request makes.
        """
        verb, type_of = change.value
        slug, warehouse_id, ident = tabular.kind.slug, str(tabular.warehouse_id), tabular.ident
        tabular_id, parts = str(tabular.tabular_id), ident.namespace.parts
        # Upstream's attributes of a rename, and the subject, are of what was renamed.
        before = data.get("before")
        named = before if isinstance(before, FormerName) else FormerName(parts, str(tabular.namespace_id), ident.name)
        path = ".".join(named.namespace)
        attributes = {
            "tabular-type": slug,
            "tabular-id": tabular_id,
            "warehouse-id": warehouse_id,
            "name": named.name,
            "namespace": path,
            "prefix": warehouse_id,
            "tabulartype": slug,
            "tabularid": tabular_id,
            "warehouseid": warehouse_id,
            "projectid": warehouse.project_id,
        }
        what: dict[str, object] = {
            "where": _where(warehouse, parts, str(tabular.namespace_id)),
            "tabular": {
                "type": slug,
                "id": tabular_id,
                "incarnation": str(tabular.incarnation),
                "name": ident.name,
                "location": tabular.location,
                "metadata-location": tabular.metadata_location,
                "staged": tabular.state is State.STAGED,
                "protected": tabular.protected,
            },
            **data,
        }
        return cloud_event(
            event_id=self._ids.uuid7(),
            at=when.at,
            source=self._source,
            stream=warehouse_id,
            kind=slug,
            verb=verb,
            upstream_type=type_of.format(tabular.kind.noun.title().replace(" ", "")),
            subject=f"{path}.{named.name}",
            actor=when.actor,
            trace_id=when.trace_id,
            data=what,
            request=request,
            attributes=attributes,
            traceparent=when.traceparent,
            place=place,
        )

    def namespace(
        self,
        change: NamespaceChange,
        namespace: Namespace,
        when: Occasion,
        *,
        warehouse: Warehouse,
        before: Namespace | None = None,
        data: Mapping[str, object] = _NOTHING,
    ) -> Event:
        """A namespace changed; `before` is what it was, and its path the subject."""
        warehouse_id, namespace_id = str(namespace.warehouse_id), str(namespace.namespace_id)
        return self._own(
            "namespace",
            change,
            when,
            stream=warehouse_id,
            subject=str((before or namespace).ident),
            attributes={
                "warehouseid": warehouse_id,
                "namespaceid": namespace_id,
                "projectid": warehouse.project_id,
            },
            data={
                "where": _where(warehouse, namespace.ident.parts, namespace_id),
                "namespace": _namespace(namespace),
                **({} if before is None else {"before": _namespace(before)}),
                **data,
            },
        )

    def warehouse(
        self,
        change: WarehouseChange,
        warehouse: Warehouse,
        when: Occasion,
        *,
        before: Warehouse | None = None,
        data: Mapping[str, object] = _NOTHING,
    ) -> Event:
        """A warehouse changed; `before` is what it was."""
        return self._own(
            "warehouse",
            change,
            when,
            stream=str(warehouse.warehouse_id),
            subject=warehouse.name,
            attributes={"warehouseid": str(warehouse.warehouse_id), "projectid": warehouse.project_id},
            data={
                "where": _where(warehouse),
                "warehouse": _warehouse(warehouse),
                **({} if before is None else {"before": _warehouse(before)}),
                **data,
            },
        )

    def project(
        self,
        change: ProjectChange,
        project: Project,
        when: Occasion,
        *,
        before: Project | None = None,
        data: Mapping[str, object] = _NOTHING,
    ) -> Event:
        """A project changed; `before` is what it was."""
        return self._own(
            "project",
            change,
            when,
            stream=of_project(project.project_id),
            subject=project.name,
            attributes={"projectid": project.project_id},
            data={
                "project": _project(project),
                **({} if before is None else {"before": _project(before)}),
                **data,
            },
        )

    def tag_definition(
        self,
        change: TagDefinitionChange,
        definition: TagDefinition,
        when: Occasion,
        *,
        before: TagDefinition | None = None,
    ) -> Event:
        """A tag was defined, changed or deleted; `before` is what it was."""
        return self._own(
            "tag-definition",
            change,
            when,
            stream=of_project(definition.project_id),
            subject=definition.name,
            attributes={"projectid": definition.project_id, "tagdefinitionid": str(definition.tag_id)},
            data={
                "project-id": definition.project_id,
                "definition": _definition(definition),
                **({} if before is None else {"before": _definition(before)}),
            },
        )

    def tag(
        self,
        change: TagChange,
        definition: TagDefinition,
        target: TaggedObject,
        when: Occasion,
        *,
        warehouse: Warehouse,
        data: Mapping[str, object] = _NOTHING,
    ) -> Event:
        """A tag was set on something, or removed."""
        warehouse_id = str(target.warehouse_id)
        on: dict[str, object] = {"type": target.scope, "id": str(target.id or target.warehouse_id)}
        if target.field_id is not None:
            on["field-id"] = target.field_id
        return self._own(
            "tag",
            change,
            when,
            stream=warehouse_id,
            subject=definition.name,
            attributes={
                "warehouseid": warehouse_id,
                "tagdefinitionid": str(definition.tag_id),
                "projectid": warehouse.project_id,
            },
            data={"where": _where(warehouse), "target": on, "definition": _definition(definition), **data},
        )

    def server(self, change: ServerChange, when: Occasion, *, data: Mapping[str, object]) -> Event:
        """The installation changed."""
        return self._own("server", change, when, stream=SERVER_STREAM, subject=SERVER_STREAM, attributes={}, data=data)

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
            traceparent=when.traceparent,
        )


def _where(
    warehouse: Warehouse, parts: Sequence[str] | None = None, namespace_id: str | None = None
) -> dict[str, object]:
    said: dict[str, object] = {
        "project-id": warehouse.project_id,
        "warehouse-id": str(warehouse.warehouse_id),
        "warehouse": warehouse.name,
    }
    return said if parts is None else {**said, "namespace": parts, "namespace-id": namespace_id}


def _namespace(namespace: Namespace) -> dict[str, object]:
    return {
        "id": str(namespace.namespace_id),
        "path": namespace.ident.parts,
        "parent-id": None if namespace.parent_id is None else str(namespace.parent_id),
        "location": namespace.location,
        "properties": namespace.properties,
        "protected": namespace.protected,
    }


def _warehouse(warehouse: Warehouse) -> dict[str, object]:
    storage, kept = warehouse.storage, warehouse.restorable_for
    return {
        "id": str(warehouse.warehouse_id),
        "name": warehouse.name,
        "active": warehouse.active,
        "protected": warehouse.protected,
        "base-location": storage.base_location,
        "storage-profile": msgspec.Raw(storage.profile),
        "credential-kind": storage.credential_kind,
        "expiration-seconds": None if kept is None else int(kept.total_seconds()),
        "allowed-format-versions": warehouse.allowed_format_versions,
        "default-format-version": warehouse.default_format_version,
        "managed-by": warehouse.managed_by.value,
    }


def _project(project: Project) -> dict[str, object]:
    return {"id": project.project_id, "name": project.name}


def _definition(definition: TagDefinition) -> dict[str, object]:
    return {
        "id": str(definition.tag_id),
        "name": definition.name,
        "description": definition.description,
        "scope": list(definition.scopes),
        "value-kind": definition.value_kind,
        "allowed-values": list(definition.allowed_values),
    }


_OWN_TYPES: Final[Mapping[tuple[str, str], str]] = {
    ("namespace", NamespaceChange.CREATED): "createNamespace",
    ("namespace", NamespaceChange.PROPERTIES_UPDATED): "updateNamespaceProperties",
    ("namespace", NamespaceChange.PROTECTION_UPDATED): "updateNamespaceProtection",
    ("namespace", NamespaceChange.MOVED): "moveNamespace",
    ("namespace", NamespaceChange.DROPPED): "dropNamespace",
    ("namespace", NamespaceChange.SNAPSHOT): "snapshotNamespace",
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
    ("warehouse", WarehouseChange.CONTRACTS_UPDATED): "updateWarehouseContracts",
    ("warehouse", WarehouseChange.QUEUE_UPDATED): "updateTaskQueueConfig",
    ("warehouse", WarehouseChange.DELETED): "deleteWarehouse",
    ("warehouse", WarehouseChange.SNAPSHOT): "snapshotWarehouse",
    ("warehouse", WarehouseChange.QUEUE_SNAPSHOT): "snapshotTaskQueue",
    ("warehouse", WarehouseChange.SNAPSHOT_COMPLETED): "completeSnapshot",
    ("project", ProjectChange.CREATED): "createProject",
    ("project", ProjectChange.RENAMED): "renameProject",
    ("project", ProjectChange.QUEUE_UPDATED): "updateProjectTaskQueueConfig",
    ("project", ProjectChange.DELETED): "deleteProject",
    ("project", ProjectChange.SNAPSHOT): "snapshotProject",
    ("project", ProjectChange.QUEUE_SNAPSHOT): "snapshotProjectTaskQueue",
    ("project", ProjectChange.SNAPSHOT_COMPLETED): "completeProjectSnapshot",
    ("tag-definition", TagDefinitionChange.CREATED): "createTagDefinition",
    ("tag-definition", TagDefinitionChange.UPDATED): "updateTagDefinition",
    ("tag-definition", TagDefinitionChange.DELETED): "deleteTagDefinition",
    ("tag-definition", TagDefinitionChange.SNAPSHOT): "snapshotTagDefinition",
    ("tag", TagChange.APPLIED): "applyTag",
    ("tag", TagChange.REMOVED): "removeTag",
    ("tag", TagChange.SNAPSHOT): "snapshotTag",
    ("server", ServerChange.BOOTSTRAPPED): "bootstrapServer",
    ("server", ServerChange.SNAPSHOT): "snapshotServer",
    ("server", ServerChange.SNAPSHOT_COMPLETED): "completeServerSnapshot",
}
