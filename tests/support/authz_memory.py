"""A world of tests.support.authz_worlds as the roles that authz's use cases need."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Collection, Sequence
from uuid import UUID

from lakeward_authz.application.permissions import ALL, Given, Grant, Named, Rights, Shown, TreeChange, Wanted
from lakeward_authz.domain.permissions.lakeward import MODEL
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey, Subject
from tests.support.authz_worlds import World, id_of

WHEN = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)


@dataclasses.dataclass
class InMemory:
    """A world: `ObjectNames`, `RightsReader`, `GrantStore` and `TreeStore`. Changes are noted, and not made.

    Attributes:
        changed: object, writes, deletes, and whether exact.
        managed: what access was set to.
        asked: how often rights were read.
    """

    world: World
    changed: list[tuple[ObjectKey, set[Grant], set[Grant], bool]] = dataclasses.field(default_factory=list)
    managed: list[bool] = dataclasses.field(default_factory=list)
    asked: int = 0

    def named(self, name: str, *, project_id: str = "") -> Named:
        """An object of the world, as people name it."""
        key = self.world.nodes[name].key
        found = as_named(key)
        return dataclasses.replace(found, project_id=key.project_id if key.type == "project" else project_id)

    async def find(self, named: Sequence[Named]) -> Sequence[ObjectKey | None]:
        return [next((node.key for node in self.world.nodes.values() if _is(node.key, each)), None) for each in named]

    async def of(self, subject: Subject, objects: Sequence[ObjectKey]) -> Rights:
        self.asked += 1
        held = [
            None if name is None else MODEL.types[key.type].mask(*self.world.may(self._caller(subject), name))
            for key in objects
            for name in [self._name(key)]
        ]
        return Rights(held, [False] * len(held), 1)

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str) -> Shown:
        raise AssertionError((subject, scope, type_name))

    async def apply(self, stream: str, changes: Sequence[tuple[int, TreeChange]]) -> int:
        raise AssertionError((stream, changes))

    async def on(self, key: ObjectKey, wanted: Wanted = ALL) -> Sequence[Given]:
        found = sorted(
            Grant(subject, relation)
            for subject, relation, on in self.world.grants
            if on == self._name(key)
            and wanted.subject in {None, subject}
            and (wanted.relations is None or relation in wanted.relations)
        )
        every = [Given(grant, as_named(key), WHEN, (grant.subject, grant.relation)) for grant in found]
        return _page(every, wanted)

    async def granted_to(self, subject: Subject, project_id: str, wanted: Wanted) -> Sequence[Given]:
        every = [
            Given(
                Grant(subject, relation),
                as_named(key),
                WHEN,
                (str(key.warehouse_id), key.type, str(key.id), relation),
            )
            for held_by, relation, on in self.world.grants
            for key in [self.world.nodes[on].key]
            if held_by == subject and key.project_id == project_id and key.type != "role"
        ]
        return _page(sorted(every, key=lambda given: given.place), wanted)

    async def change(
        self, key: ObjectKey, *, writes: Collection[Grant], deletes: Collection[Grant], exact: bool = False
    ) -> bool:
        self.changed.append((key, set(writes), set(deletes), exact))
        return self._name(key) is not None

    async def manage(self, key: ObjectKey, *, managed: bool) -> bool:
        self.managed.append(managed)
        return self._name(key) is not None

    def _name(self, key: ObjectKey) -> str | None:
        return next((name for name, node in self.world.nodes.items() if node.key == key), None)

    def _caller(self, subject: Subject) -> str:
        kind, _, own = subject.partition(":")
        if kind == "role":
            return next(f"role:{name}" for name in self.world.nodes if id_of(name) == UUID(own))
        return f"user:{own.removeprefix('oidc~')}"


def as_named(key: ObjectKey) -> Named:
    """An object as people name it."""
    warehouse_id = None if key.warehouse_id == NIL else key.warehouse_id
    return Named(key.type, key.project_id, warehouse_id, None if key.id == NIL else key.id)


def _is(key: ObjectKey, named: Named) -> bool:
    return (
        key.type == named.type
        and named.project_id in {"", key.project_id}
        and named.warehouse_id in {None, key.warehouse_id}
        and (named.id == key.id or (named.id is None and key.id == NIL))
    )


def _page(every: Sequence[Given], wanted: Wanted) -> Sequence[Given]:
    behind = [given for given in every if wanted.after is None or given.place > tuple(wanted.after)]
    return behind[: wanted.size]
