"""What authz is to be told of the catalog in memory, and a tree that is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from uuid import UUID

from lakeward_catalog.application.tree import (
    PROJECTS,
    Answer,
    Batch,
    Gone,
    Made,
    Moved,
    Nothing,
    Numbered,
    StreamId,
    Switched,
    TreeChange,
)
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.errors import Reason, Refusal, invalid_field
from tests.support.catalog.memory import MemoryCatalog


@dataclasses.dataclass
class _Stream:
    applied: int = 0
    in_flight: list[TreeChange] = dataclasses.field(default_factory=list)


class MemoryTreeStreams:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog
        self._streams: dict[StreamId, _Stream] = {}

    async def pending(self) -> Sequence[StreamId]:
        written = {stream for stream, _ in self._catalog.rows.growth}
        sent = {stream for stream, each in self._streams.items() if each.in_flight}
        return sorted(written | sent)

    async def take(self, stream: StreamId, answer: Answer | None, *, limit: int) -> Batch:
        async with self._catalog.changes.turn:
            return self._taken(stream, answer, limit)

    def _taken(self, stream: StreamId, answer: Answer | None, limit: int) -> Batch:
        rows, kept = self._catalog.rows, self._streams.setdefault(stream, _Stream())
        if answer is not None:
            lost, ahead = answer.applied < answer.base == kept.applied, kept.applied + len(kept.in_flight)
            if not lost and answer.applied <= ahead:
                del kept.in_flight[: max(answer.applied - kept.applied, 0)]
                kept.applied = max(answer.applied, kept.applied)
            elif lost or answer.applied > ahead:
                kept.applied = answer.applied
        own = [entry for entry in rows.growth if entry[0] == stream]
        fresh = own[: max(limit - len(kept.in_flight), 0)]
        more = len(kept.in_flight) + len(fresh) >= limit
        kept.in_flight += [change for _, change in fresh]
        rows.growth[:] = [entry for entry in rows.growth if not any(entry is each for each in fresh)]
        closed = stream != PROJECTS and stream not in rows.warehouses
        changes = [Gone(each.object) if closed and not isinstance(each, Nothing) else each for each in kept.in_flight]
        return Batch(kept.applied, [Numbered(kept.applied + n, each) for n, each in enumerate(changes, 1)], more=more)

    async def pass_over(self, stream: StreamId, sequence: int) -> None:
        kept = self._streams.setdefault(stream, _Stream())
        if 0 < sequence - kept.applied <= len(kept.in_flight):
            kept.in_flight[sequence - kept.applied - 1] = Nothing()


class MemoryTree:
    """An authz that keeps where each object hangs.

    Attributes:
        objects: (kind, id) of each, with what it hangs from; a warehouse's id is in its `warehouse_id`.
        heard: what was applied, in order.
        away: raises instead of answering, or answers nothing of what it did; asked before each call.
    """

    def __init__(self) -> None:
        self.objects: dict[tuple[ObjectKind, str, str, bytes], bytes] = {}
        self.owners: dict[tuple[ObjectKind, str, str, bytes], str] = {}
        self.applied: dict[StreamId, int] = {}
        self.heard: list[tuple[StreamId, Numbered]] = []
        self.calls = 0
        self.before: Callable[[StreamId, Sequence[Numbered]], None] = lambda _stream, _changes: None
        self.after: Callable[[], None] = lambda: None

    async def apply(self, stream: StreamId, changes: Sequence[Numbered]) -> int:
        self.calls += 1
        self.before(stream, changes)
        objects, owners, applied = dict(self.objects), dict(self.owners), self.applied.get(stream, 0)
        heard: list[tuple[StreamId, Numbered]] = []
        for numbered in changes:
            if numbered.sequence > applied + 1:
                break
            if numbered.sequence == applied + 1:
                _apply(objects, owners, numbered.change)
                heard.append((stream, numbered))
                applied += 1
        self.objects, self.owners, self.applied[stream] = objects, owners, applied
        self.heard += heard
        self.after()
        return applied


def _key(ref: ObjectRef) -> tuple[ObjectKind, str, str, bytes]:
    return ref.kind, ref.project_id, ref.warehouse_id, ref.id


def _apply(
    objects: dict[tuple[ObjectKind, str, str, bytes], bytes],
    owners: dict[tuple[ObjectKind, str, str, bytes], str],
    change: TreeChange,
) -> None:
    match change:
        case Made(object=ref, owner=owner):
            if not _has_parent(objects, ref) or _key(ref) in objects:
                raise invalid_field("object", str(ref), "a new object in one that is there")
            objects[_key(ref)] = ref.parent_id
            if owner is not None:
                owners[_key(ref)] = owner.user_id or owner.role_id
        case Moved(object=ref):
            if not _has_parent(objects, ref) or _key(ref) not in objects:
                raise invalid_field("object", str(ref), "an object that is there")
            objects[_key(ref)] = ref.parent_id
        case Switched(object=ref):
            if _key(ref) not in objects:
                raise invalid_field("object", str(ref), "a warehouse that is there")
        case Gone(object=ref):
            _remove(objects, ref)
        case Nothing():
            pass


def _has_parent(objects: dict[tuple[ObjectKind, str, str, bytes], bytes], ref: ObjectRef) -> bool:
    if ref.kind is ObjectKind.PROJECT:
        return True
    if ref.kind is ObjectKind.WAREHOUSE:
        return (ObjectKind.PROJECT, ref.project_id, "", b"") in objects
    if ref.parent_id:
        return (ObjectKind.NAMESPACE, ref.project_id, ref.warehouse_id, ref.parent_id) in objects
    return (ObjectKind.WAREHOUSE, ref.project_id, ref.warehouse_id, b"") in objects


def _remove(objects: dict[tuple[ObjectKind, str, str, bytes], bytes], ref: ObjectRef) -> None:
    if ref.kind is ObjectKind.PROJECT:
        inside = [key for key in objects if key[1] == ref.project_id]
    elif ref.kind is ObjectKind.WAREHOUSE:
        inside = [key for key in objects if key[2] == ref.warehouse_id]
    else:
        inside = [_key(ref)] if _key(ref) in objects else []
        if ref.kind is ObjectKind.NAMESPACE:
            for key in [key for key, parent in objects.items() if key[2] == ref.warehouse_id and parent == ref.id]:
                _remove(objects, ObjectRef(key[0], key[1], key[2], key[3]))
    for key in inside:
        objects.pop(key, None)


def away() -> Refusal:
    """What is raised where authz does not answer."""
    return Refusal(Reason.REASON_SERVICE_UNAVAILABLE, "authz is away", service="authz")


def text_of(key: tuple[ObjectKind, str, str, bytes]) -> str:
    """An object, for people."""
    kind, project_id, warehouse_id, object_id = key
    return f"{kind.word} {UUID(bytes=object_id) if object_id else warehouse_id or project_id}"
