"""Values of the catalog with as little said as a test cares about, and a clock and ids that tests hold in their hands."""

from __future__ import annotations

import dataclasses
import itertools
import secrets
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import msgspec

from lakeward_catalog.application.changes import TabularCommit
from lakeward_catalog.application.ports.stores import Visibility
from lakeward_catalog.domain.bodies import Body, BodyPart
from lakeward_catalog.domain.model import (
    Incarnation,
    Kind,
    MetadataId,
    Namespace,
    NamespaceId,
    Project,
    ProjectId,
    State,
    Storage,
    Tabular,
    TabularId,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_catalog.domain.tasks import NewTask, Queue
from lakeward_servicekit.deflated import deflate
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.idempotency import KeyPlace, Remembered

NOON = datetime(2026, 8, 1, 12, tzinfo=UTC)
EVERYTHING = Visibility(everything=True)
_ticks = itertools.count()


class HeldClock:
    """A clock that stands until it is told to move."""

    def __init__(self, at: datetime = NOON) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def advance(self, by: timedelta) -> None:
        self.at += by


class FreshIds:
    """Real ids."""

    def uuid7(self) -> UUID:
        return uuid7()

    def uuid4(self) -> UUID:
        return uuid4()


def uuid7() -> UUID:
    """A version 7 UUID: milliseconds, then chance."""
    value = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 7 << 76
    return UUID(int=value & ~(3 << 62) | 2 << 62)


def a_time() -> datetime:
    """Later than every time that was made before, by a microsecond."""
    return NOON + timedelta(microseconds=next(_ticks))


def a_project(project_id: str | None = None) -> Project:
    return Project(ProjectId(project_id or f"project-{secrets.token_hex(4)}"), "a project")


def a_storage(*, base: str = "s3://lake/base", **changes: object) -> Storage:
    storage = Storage(
        profile=b'{"type":"s3","bucket":"lake"}',
        secret_id=uuid4(),
        credential_kind="s3:access-key",
        base_location=base,
        place="s3://lake@eu",
        layout=b'{"type":"default"}',
        schemes=("s3", "s3a"),
        client_defaults={"s3.region": "eu"},
        push_delete_disabled=True,
        signs_remotely=True,
    )
    return dataclasses.replace(storage, **changes)  # type: ignore[arg-type]  # the test's own business


def a_warehouse(project: Project, name: str | None = None, **changes: object) -> Warehouse:
    warehouse = Warehouse(
        warehouse_id=WarehouseId(uuid7()),
        project_id=project.project_id,
        name=name or f"warehouse-{secrets.token_hex(4)}",
        active=True,
        storage=a_storage(),
        restorable_for=timedelta(days=7),
        allowed_format_versions=(1, 2, 3),
        default_format_version=2,
        protected=False,
        row_version=1,
        created_at=a_time(),
        updated_at=None,
    )
    return dataclasses.replace(warehouse, **changes)  # type: ignore[arg-type]  # the test's own business


def a_namespace(
    warehouse: Warehouse,
    *path: str,
    parent: Namespace | None = None,
    properties: Mapping[str, str] | None = None,
    **changes: object,
) -> Namespace:
    parts = (*(parent.ident.parts if parent else ()), *(path or (f"ns_{secrets.token_hex(4)}",)))
    namespace_id = NamespaceId(uuid7())
    namespace = Namespace(
        warehouse_id=warehouse.warehouse_id,
        namespace_id=namespace_id,
        parent_id=parent.namespace_id if parent else None,
        ident=NamespaceIdent(parts),
        properties=dict(properties or {}),
        location=f"{warehouse.storage.base_location}/{namespace_id}/",
        protected=False,
        row_version=1,
        created_at=a_time(),
    )
    return dataclasses.replace(namespace, **changes)  # type: ignore[arg-type]  # the test's own business


def a_tabular(
    namespace: Namespace,
    name: str | None = None,
    *,
    kind: Kind = Kind.TABLE,
    state: State = State.LIVE,
    **changes: object,
) -> Tabular:
    tabular_id, metadata_id = TabularId(uuid7()), MetadataId(uuid7())
    location = f"{namespace.location}{tabular_id}"
    staged = state is State.STAGED
    tabular = Tabular(
        warehouse_id=namespace.warehouse_id,
        incarnation=Incarnation(uuid7()),
        tabular_id=tabular_id,
        kind=kind,
        state=state,
        namespace_id=namespace.namespace_id,
        ident=TabularIdent(namespace.ident, name or f"t_{secrets.token_hex(4)}"),
        location=location,
        metadata_id=metadata_id,
        metadata_location=None if staged else f"{location}/metadata/{metadata_id}.json",
        protected=False,
        row_version=1,
        created_at=a_time(),
        expires_at=NOON + timedelta(days=1) if staged else None,
    )
    return dataclasses.replace(tabular, **changes)  # type: ignore[arg-type]  # the test's own business


def a_body(*parts: str | tuple[UUID, str], references: tuple[str | tuple[UUID, str], ...] | None = None) -> Body:
    """A body of these parts: a text is the body's own, an id and a text are shared."""
    everything = tuple(_part(part) for part in parts or ('{"format-version":2}',))
    return Body(everything, everything if references is None else tuple(_part(part) for part in references))


def _part(part: str | tuple[UUID, str]) -> BodyPart:
    chunk_id, text = (None, part) if isinstance(part, str) else part
    return BodyPart(chunk_id, deflate(text.encode()))


def a_commit(tabular: Tabular, *, body: Body | None = None, **changes: object) -> TabularCommit:
    """A commit on what `tabular` shows."""
    metadata_id = MetadataId(uuid7())
    commit = TabularCommit(
        warehouse_id=tabular.warehouse_id,
        incarnation=tabular.incarnation,
        expected=tabular.metadata_id,
        metadata_id=metadata_id,
        metadata_location=f"{tabular.location}/metadata/{metadata_id}.json",
        body=body or a_body(f'{{"of":"{metadata_id}"}}'),
    )
    return msgspec.structs.replace(commit, **changes)


def an_event(stream: object = "server", kind: str = "table", verb: str = "committed", body: bytes = b"{}") -> Event:
    return Event(event_id=uuid7(), stream=str(stream), kind=kind, verb=verb, body=body)


def a_key_place(owner: object = "warehouse/w", principal: str = "oidc~anna") -> KeyPlace:
    return KeyPlace(str(owner), principal, uuid4())


def a_record(outcome: bytes = b'{"done":{}}') -> Remembered:
    return Remembered(fingerprint=secrets.token_bytes(32), outcome=outcome)


def a_purge(tabular: Tabular, *, queue: Queue = Queue.TABULAR_PURGE, at: datetime = NOON) -> NewTask:
    return NewTask.of(tabular, queue, created_at=NOON, scheduled_for=at)


def one_by_one(first: int = 0) -> Callable[[], int]:
    """Counts."""
    return itertools.count(first).__next__
