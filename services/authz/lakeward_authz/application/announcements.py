"""The events of authz's changes: users, roles and who is in them, and what is given to whom.

Stores tell of what really changed, in the transaction of the change: giving what somebody has already is no change, and no event.
What is of a project is in the project's stream, and users and what is given on the server in the server's. Payloads are messages
of `lakeward.events.v1`.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

from lakeward_authz.domain.permissions.lakeward import ASSIGNEE
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey, Subject
from lakeward_authz.domain.profiles import Profile
from lakeward_authz.domain.roles import Role
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.events.acting import actor
from lakeward_servicekit.events.cloud_events import Event, cloud_event
from lakeward_servicekit.events.streams import of_service
from lakeward_servicekit.system import Clock, Ids
from lakeward_servicekit.telemetry.correlation import current

STREAM: Final = "authz"
"""The server's; how those of projects begin."""
SOURCE: Final = "urn:lakeward:authz"


class UserChange(enum.Enum):
    """What happens to a user: (verb, type)."""

    CREATED = ("created", "createUser")
    UPDATED = ("updated", "updateUser")
    DELETED = ("deleted", "deleteUser")
    SUSPENDED = ("suspended", "suspendUser")
    RESTORED = ("restored", "restoreUser")


class RoleChange(enum.Enum):
    """What happens to a role: (verb, type)."""

    CREATED = ("created", "createRole")
    UPDATED = ("updated", "updateRole")
    DELETED = ("deleted", "deleteRole")


@dataclasses.dataclass(frozen=True, slots=True)
class Given:
    """A grant without what it is on."""

    subject: Subject
    relation: str

    @property
    def document(self) -> dict[str, str]:
        """As events say it."""
        kind, _, subject_id = self.subject.partition(":")
        return {"type": kind, "subject": subject_id, "relation": self.relation}


@dataclasses.dataclass(frozen=True, slots=True)
class Announcer:
    """Makes events. They say who made a change from what the task acts for."""

    clock: Clock
    ids: Ids

    def user(self, change: UserChange, user_id: UserId, profile: Profile, *, updated_with: str = "") -> Event:
        """A user changed; the profile is what is kept of it now."""
        verb, type_ = change.value
        data = {"user": said_of_user(user_id, profile, updated_with)}
        return self._event("user", verb, type_, subject=user_id, attributes={"userid": user_id}, data=data)

    def user_by_id(self, change: UserChange, user_id: UserId, *, project_id: str | None = None) -> Event:
        """A user changed of whom nothing is kept any more, or nothing of what is kept did; to the server, or to a project."""
        verb, type_ = change.value
        attributes = {"userid": user_id, **({} if project_id is None else {"projectid": project_id})}
        return self._event("user", verb, type_, subject=user_id, attributes=attributes, data={"user": {"id": user_id}})

    def role(self, change: RoleChange, role: Role, *, before: Role | None = None, owner: Given | None = None) -> Event:
        """A role changed; `before` is what it was, and `owner` what its maker has on it."""
        verb, type_ = change.value
        data = {
            "role": said_of_role(role),
            **({} if before is None else {"before": said_of_role(before)}),
            **({} if owner is None else {"owner": owner.document}),
        }
        return self._event("role", verb, type_, subject=role.name, attributes=attributes_of_role(role), data=data)

    def grants(
        self, key: ObjectKey, *, given: Collection[Given], taken: Collection[Given], public_id: UUID | None = None
    ) -> list[Event]:
        """Grants on an object changed: who is in a role, and what else was given.

        Args:
            key: the object.
            given: what was not given before.
            taken: what was given before.
            public_id: what people call the object by, where that is not its key's.
        """
        events: list[Event] = []
        for members in (True, False):
            said = {
                name: [each.document for each in some if is_membership(key, each) is members]
                for name, some in (("given", given), ("taken", taken))
            }
            if any(said.values()):
                data = {"object": said_of_object(key, public_id), **said}
                kind, verb, type_ = _MEMBERS if members else _GRANTS
                events.append(
                    self._event(kind, verb, type_, subject=name_of(key), attributes=attributes_of(key), data=data)
                )
        return events

    def managed_access(self, key: ObjectKey, *, managed: bool, public_id: UUID | None = None) -> Event:
        """Who owns what is in an object may give rights on it, or may not any more."""
        data = {"object": said_of_object(key, public_id), "managed": managed}
        verb, type_ = "managed-access-updated", "updateManagedAccess"
        return self._event("grant", verb, type_, subject=name_of(key), attributes=attributes_of(key), data=data)

    def _event(
        self,
        kind: str,
        verb: str,
        type_: str,
        *,
        subject: str,
        attributes: Mapping[str, str],
        data: Mapping[str, object],
    ) -> Event:
        correlation, project_id = current(), attributes.get("projectid")
        return cloud_event(
            event_id=self.ids.uuid7(),
            at=self.clock.now(),
            source=SOURCE,
            stream=of_service(project_id, kind=STREAM),
            kind=kind,
            verb=verb,
            upstream_type=type_,
            subject=subject,
            actor=actor(),
            trace_id="background" if correlation is None else correlation.request_id,
            traceparent="" if correlation is None else correlation.traceparent,
            attributes=attributes,
            data=data,
        )


_MEMBERS: Final = ("role", "members-changed", "updateRoleMembers")
_GRANTS: Final = ("grant", "changed", "updateGrants")


def is_membership(key: ObjectKey, given: Given) -> bool:
    """Whether who is given something on an object is in a role by it."""
    return key.type == "role" and given.relation == ASSIGNEE


def said_of_user(user_id: UserId, profile: Profile, updated_with: str) -> dict[str, object]:
    """A user, as events say it."""
    return {
        "id": user_id,
        "name": profile.name,
        "email": profile.email,
        "kind": profile.kind.value,
        "updated-with": updated_with,
    }


def said_of_role(role: Role) -> dict[str, object]:
    """A role, as events say it."""
    return {
        "id": str(role.role_id),
        "project-id": role.project_id,
        "name": role.name,
        "description": role.description,
        "provider": role.ident.provider_id,
        "source": role.ident.source_id,
    }


def attributes_of_role(role: Role) -> dict[str, str]:
    """What events of a role are told by."""
    return {"projectid": role.project_id, "roleid": str(role.role_id)}


def said_of_object(key: ObjectKey, public_id: UUID | None) -> dict[str, object]:
    """What rights are on, as events say it; `public_id` is what people call it by, where that is not its key's."""
    return {
        "type": key.type.replace("_", "-"),
        "project-id": key.project_id or None,
        "warehouse-id": None if key.warehouse_id == NIL else str(key.warehouse_id),
        "id": name_of(key) if public_id is None else str(public_id),
        "incarnation": None if public_id is None else str(key.id),
    }


def name_of(key: ObjectKey) -> str:
    """The id of an object, as text."""
    match key.type:
        case "server":
            return "server"
        case "project":
            return key.project_id
        case "warehouse":
            return str(key.warehouse_id)
        case _:
            return str(key.id)


def attributes_of(key: ObjectKey) -> dict[str, str]:
    """Where an object is, as events are told by."""
    said = {} if not key.project_id else {"projectid": key.project_id}
    return said if key.warehouse_id == NIL else {**said, "warehouseid": str(key.warehouse_id)}
