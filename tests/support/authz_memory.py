"""A world of tests.support.authz_worlds as the roles that authz's use cases need."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Collection, Sequence
from uuid import UUID

import msgspec

from lakeward_authz.application.explaining import Trail
from lakeward_authz.application.permissions import ALL, Given, Grant, Named, Rights, Shown, TreeChange, Wanted
from lakeward_authz.domain.permissions.explaining import Link, Right, Way
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, GLIMPSE, MODEL, OWNERSHIP, shows_above
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey, Subject, role_subject
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
        return msgspec.structs.replace(found, project_id=key.project_id if key.type == "project" else project_id)

    async def find(self, named: Sequence[Named]) -> Sequence[ObjectKey | None]:
        return [next((node.key for node in self.world.nodes.values() if _is(node.key, each)), None) for each in named]

    async def bound(self, token_roles: Sequence[str], project_ids: Collection[str]) -> Sequence[Subject]:
        raise AssertionError((token_roles, project_ids))

    async def of(self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()) -> Rights:
        assert not also
        self.asked += 1
        held = [
            None if name is None else MODEL.types[key.type].mask(*self.world.may(self._caller(subject), name))
            for key in objects
            for name in [self._name(key)]
        ]
        return Rights(held, [False] * len(held), 1)

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str, *, also: Sequence[Subject] = ()) -> Shown:
        assert not also
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


class TrailsInMemory:
    """The `Trails` of a world."""

    def __init__(self, rows: InMemory) -> None:
        self._rows = rows

    async def of(self, key: ObjectKey, subject: Subject, *, also: Sequence[Subject] = ()) -> Trail | None:
        assert not also
        world = self._rows.world
        name = next((name for name, node in world.nodes.items() if node.key == key), None)
        if name is None:
            return None
        chain = list(world.chain(name))[::-1]
        roles: dict[Subject, Subject] = {}
        fresh = {subject}
        while fresh:
            found = {
                role_subject(world.nodes[on].key.id): held_by
                for held_by, relation, on in sorted(world.grants)
                if held_by in fresh and relation in {ASSIGNEE, OWNERSHIP} and world.nodes[on].key.type == "role"
            }
            fresh = set(found) - set(roles)
            roles |= {role: via for role, via in found.items() if role in fresh}
        subjects = {subject, *roles}
        others = sorted(
            Right(chain.index(on), held_by, relation) for held_by, relation, on in world.grants if on in chain
        )
        inside = {
            place: [
                Given(Grant(held_by, relation), as_named(world.nodes[on].key), WHEN, ())
                for held_by, relation, on in sorted(world.grants)
                if held_by in subjects
                and relation in shows_above(world.nodes[on].key.type)
                and link in list(world.chain(on))[1:]
            ]
            for place, link in enumerate(chain)
            if GLIMPSE in MODEL.types[world.nodes[link].key.type].bits
        }
        return Trail(
            way=Way(
                [Link(world.nodes[link].key, managed=world.nodes[link].managed) for link in chain],
                shown=[place for place, found_inside in inside.items() if found_inside],
                assumed=key.type == "role" and subject == role_subject(key.id),
            ),
            named=[as_named(world.nodes[link].key) for link in chain],
            rights=[right for right in others if right.subject in subjects],
            roles=roles,
            inside=inside.get(len(chain) - 1, []),
            others=others,
        )


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
