"""Small worlds of objects, grants and nested roles, for tests of the permission model: the same world can be decided in memory,
filled into authz's database, and written to OpenFGA."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from uuid import UUID, uuid5

from hypothesis import strategies as st

from lakeward_authz.application.permissions import Grant, GrantStore, Made, TreeStore
from lakeward_authz.domain.permissions.compiled import NOTHING
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, GLIMPSE, MANAGED_ACCESS, MODEL, OWNERSHIP, shows_above
from lakeward_authz.domain.permissions.objects import NIL, SERVER, ObjectKey, Subject, role_subject, user_subject
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind, RoleId, UserId, user

_NAMES = UUID("6a8f2c52-0d6b-4f0a-9f5e-2f6f6b1f6a10")
KINDS = {kind.word: kind for kind in ObjectKind}
_IN_WAREHOUSE = {"namespace", "table", "view", "generic_table"}


def id_of(name: str) -> UUID:
    """The id of whatever has this name."""
    return uuid5(_NAMES, name)


@dataclasses.dataclass(frozen=True)
class Node:
    """An object of a world."""

    key: ObjectKey
    above: str | None
    managed: bool = False


@dataclasses.dataclass
class World:
    """Objects by name, and who was given what: (subject, relation, object's name)."""

    nodes: dict[str, Node] = dataclasses.field(default_factory=lambda: {"server": Node(SERVER, None)})
    grants: set[tuple[Subject, str, str]] = dataclasses.field(default_factory=set)

    def add(self, type_name: str, name: str, above: str, *, managed: bool = False) -> None:
        """Put an object below another."""
        parent = self.nodes[above].key
        match type_name:
            case "project":
                key = ObjectKey(type_name, name)
            case "warehouse":
                key = ObjectKey(type_name, parent.project_id, id_of(name))
            case _:
                inside = parent.warehouse_id if type_name in _IN_WAREHOUSE else NIL
                key = ObjectKey(type_name, parent.project_id, inside, id_of(name))
        self.nodes[name] = Node(key, above, managed)

    def give(self, subject: str, relation: str, name: str) -> None:
        """Give a right to a subject such as "user:anne" or "role:R"."""
        self.grants.add((subject_of(subject), relation, name))

    def subjects(self, principal: str) -> set[Subject]:
        """The principal and every role that it holds, directly or through roles; a principal "role:R" assumed the role."""
        found, fresh = set[Subject](), {subject_of(principal)}
        while fresh:
            found |= fresh
            fresh = {
                role_subject(self.nodes[name].key.id)
                for subject, relation, name in self.grants
                if subject in found and self.nodes[name].key.type == "role" and relation in {ASSIGNEE, OWNERSHIP}
            } - found
        return found

    def parent_id(self, node: Node) -> UUID | None:
        """The namespace that holds an object; None for another place."""
        above = None if node.above is None else self.nodes[node.above].key
        return above.id if above is not None and above.type == "namespace" else None

    def chain(self, name: str | None) -> Iterator[str]:
        """The object and all above it, from the inside."""
        while name is not None:
            yield name
            name = self.nodes[name].above

    def may(self, principal: str, name: str) -> frozenset[str]:
        """Every relation that the principal holds on an object."""
        subjects = self.subjects(principal)
        shown = {
            above
            for subject, relation, below in self.grants
            if subject in subjects and relation in shows_above(self.nodes[below].key.type)
            for above in list(self.chain(below))[1:]
        }
        above_index, held = NOTHING, 0
        for link in reversed(list(self.chain(name))):
            node, found = self.nodes[link], MODEL.types[self.nodes[link].key.type]
            own = found.mask(*{relation for who, relation, on in self.grants if who in subjects and on == link})
            own |= found.bits[MANAGED_ACCESS] if node.managed else 0
            own |= found.bits[GLIMPSE] if link in shown and GLIMPSE in found.bits else 0
            own |= found.bits[ASSIGNEE] if found.name == "role" and role_subject(node.key.id) in subjects else 0
            above_index, held = found.index, MODEL.held(found.index, own, above_index, held)
        return MODEL.types[self.nodes[name].key.type].names(held)


async def fill(world: World, tree: TreeStore, grants: GrantStore) -> None:
    """Tell authz of a world, which it does not know yet."""
    made = [(name, node) for name, node in world.nodes.items() if node.key != SERVER]
    changes = [(number, Made(node.key, world.parent_id(node))) for number, (_, node) in enumerate(made, 1)]
    assert await tree.apply("a world", changes) == len(changes)
    for name, node in world.nodes.items():
        if node.managed:
            assert await tree.manage(node.key, managed=True)
        given = [Grant(subject, relation) for subject, relation, on in world.grants if on == name]
        if given:
            assert await grants.change(node.key, writes=given, deletes=[])


USERS = ("user:anne", "user:ben")
ROLES = ("outer", "middle", "inner")


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Random trees, grants and nested roles."""
    world = World()
    for project in ("p", "q"):
        world.add("project", project, "server")
        world.add("warehouse", f"{project}.w", project, managed=draw(st.booleans()))
    world.add("warehouse", "p.v", "p")
    for role in ROLES:
        world.add("role", role, "p")
    world.add("role", "elsewhere", "q")
    containers = ["p.w", "p.v", "q.w"]
    for number in range(draw(st.integers(1, 6))):
        world.add("namespace", f"n{number}", draw(st.sampled_from(containers)), managed=draw(st.booleans()))
        containers.append(f"n{number}")
    for number in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["table", "view", "generic_table"]))
        world.add(kind, f"{kind}{number}", draw(st.sampled_from(containers[3:])))
    for _ in range(draw(st.integers(1, 8))):
        name = draw(st.sampled_from([*world.nodes]))
        node = world.nodes[name]
        subjects = [*USERS, *(f"role:{role}" for role in _may_hold(world, node, name))]
        relation = draw(st.sampled_from(MODEL.types[node.key.type].given))
        world.give(draw(st.sampled_from(subjects)), relation, name)
    return world


def _may_hold(world: World, node: Node, name: str) -> Iterator[str]:
    """Roles that may be given something: of the same project, and only inward ones hold others."""
    for role in (*ROLES, "elsewhere"):
        if node.key.type == "role" and (name not in ROLES or role not in ROLES[ROLES.index(name) + 1 :]):
            continue
        if node.key.type == "server" or world.nodes[role].key.project_id == node.key.project_id:
            yield role


def subject_of(text: str) -> Subject:
    """ "user:anne" and "role:R" as authz names them: a user of the primary provider, and a role by its id."""
    kind, _, name = text.partition(":")
    return user_subject(f"oidc~{name}") if kind == "user" else role_subject(id_of(name))


def ref_of(world: World, node: Node) -> ObjectRef:
    """The object as services ask about it."""
    key, parent_id = node.key, world.parent_id(node)
    warehouse = "" if key.warehouse_id == NIL else str(key.warehouse_id)
    own = b"" if key.id == NIL else key.id.bytes
    return ObjectRef(KINDS[key.type], key.project_id, warehouse, own, b"" if parent_id is None else parent_id.bytes)


def principal_of(caller: str) -> Principal:
    """ "user:anne" and "role:R" as who calls."""
    kind, _, name = caller.partition(":")
    if kind == "user":
        return user(f"oidc~{name}")
    return Principal(PrincipalKind.ROLE, UserId("oidc~someone"), RoleId(str(id_of(name))))


def small() -> World:
    """A project p with a role R; a warehouse w with n, n.deep, t in it, and other."""
    world = World()
    world.add("project", "p", "server")
    world.add("warehouse", "w", "p")
    world.add("namespace", "n", "w")
    world.add("namespace", "n.deep", "n")
    world.add("table", "t", "n.deep")
    world.add("namespace", "other", "w")
    world.add("role", "R", "p")
    return world
