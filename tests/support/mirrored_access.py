"""Users, roles and grants as Postgres has them, and as a consumer of authz's events has them, in one form to compare."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias
from uuid import UUID

from lakeward.events import Event
from lakeward_servicekit.postgres.pools import Pool
from tests.support.replaying import Following

Place: TypeAlias = tuple[str, str | None, str | None, str]
"""What something is given on: its type, project, warehouse and id."""

_USERS = """
select u.user_id, u.name, u.email, u.kind,
       exists (select from provisioned_users p where p.user_id = u.user_id and not p.active)
  from users u where u.deleted_at is null and $1 = ''
"""
_ROLES = "select role_id, name, description, provider_id, source_id from roles where project_id = $1"
_GRANTS = """
select o.kind, o.project_id, o.warehouse_id, o.object_id, o.public_id, g.subject, g.relation
  from (select * from grants union all select * from suspended_grants) g
  join objects o using (project_id, warehouse_id, kind, object_id)
 where g.project_id = $1
"""
_MANAGED = """
select kind, project_id, warehouse_id, object_id, public_id from objects where project_id = $1 and managed_access
"""


@dataclasses.dataclass
class AccessMirror(Following):
    """What a stream of authz tells of.

    Attributes:
        users: by id: name, address, kind, and whether they are suspended.
        roles: by id: name, description, provider and source.
        grants: what is given on what, to whom.
        managed: where owners may not give rights.
    """

    users: dict[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    roles: dict[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    grants: set[tuple[Place, str, str]] = dataclasses.field(default_factory=set)
    managed: set[Place] = dataclasses.field(default_factory=set)

    @property
    def state(self) -> dict[str, Any]:
        """To compare with `stored_access`."""
        return {"users": self.users, "roles": self.roles, "grants": self.grants, "managed": self.managed}

    def apply(self, event: Event) -> None:
        """Take one in: what is given was not given before, and what is taken was."""
        if self.follow(event, opens={"authz"}):
            for known in (self.users, self.roles, self.grants, self.managed):
                known.clear()
        match event.kind:
            case "user":
                self._of_user(event)
            case "role" if "role" in event.data:
                self._of_role(event)
            case "role" | "grant" if "managed" not in event.data:
                place = _place(event.data["object"])
                given = {(place, *_given(each)) for each in event.data["given"]}
                taken = {(place, *_given(each)) for each in event.data.get("taken", ())}
                assert not given & self.grants
                assert taken <= self.grants
                self.grants = self.grants - taken | given
            case "grant":
                self.managed -= {_place(event.data["object"])}
                if event.data["managed"]:
                    self.managed.add(_place(event.data["object"]))

    def _of_user(self, event: Event) -> None:
        user: Mapping[str, Any] = event.data["user"]
        user_id = user["id"]
        if event.verb == "deleted":
            self.users.pop(user_id, None)
            self.grants = {each for each in self.grants if each[1] != f"user:{user_id}"}
        elif event.verb in {"suspended", "restored"}:
            self.users[user_id] = (*self.users[user_id][:3], event.verb == "suspended")
        else:
            assert event.verb != "created" or user_id not in self.users
            suspended = event.data.get("suspended", user_id in self.users and self.users[user_id][3])
            self.users[user_id] = (user["name"], user["email"], user["kind"], suspended)

    def _of_role(self, event: Event) -> None:
        role: Mapping[str, Any] = event.data["role"]
        role_id = role["id"]
        place: Place = ("role", role["project-id"], None, role_id)
        if event.verb == "deleted":
            del self.roles[role_id]
            self.grants = {each for each in self.grants if each[0] != place and each[1] != f"role:{role_id}"}
            return
        assert (event.verb == "updated") is (role_id in self.roles)
        self.roles[role_id] = (role["name"], role["description"], role["provider"], role["source"])
        if event.data.get("owner") is not None:
            self.grants.add((place, *_given(event.data["owner"])))


def _given(said: Mapping[str, str]) -> tuple[str, str]:
    return f"{said['type']}:{said['subject']}", said["relation"]


def _place(said: Mapping[str, Any]) -> Place:
    return said["type"], said["project-id"], said["warehouse-id"], said["id"]


async def stored_access(pool: Pool, project_id: str) -> dict[str, Any]:
    """What Postgres has of a project; "" is the server."""
    return {
        "users": {row[0]: tuple(row[1:]) for row in await pool.fetch(_USERS, project_id)},
        "roles": {str(row[0]): tuple(row[1:]) for row in await pool.fetch(_ROLES, project_id)},
        "grants": {(_place_of(*row[:5]), row[5], row[6]) for row in await pool.fetch(_GRANTS, project_id)},
        "managed": {_place_of(*row) for row in await pool.fetch(_MANAGED, project_id)},
    }


def _place_of(kind: str, project_id: str, warehouse_id: UUID, object_id: UUID, public_id: UUID | None) -> Place:
    named = {"server": "server", "project": project_id, "warehouse": str(warehouse_id)}
    warehouse = str(warehouse_id) if warehouse_id.int else None
    return kind.replace("_", "-"), project_id or None, warehouse, named.get(kind, str(public_id or object_id))
