"""What a snapshot of authz is made of: an event for each thing that is there, in a project or on the server."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import ClassVar
from uuid import UUID

from lakeward_authz.application.announcements import (
    STREAM,
    Given,
    attributes_of,
    attributes_of_role,
    is_membership,
    name_of,
    said_of_object,
    said_of_role,
    said_of_user,
)
from lakeward_authz.domain.permissions.objects import ObjectKey
from lakeward_authz.domain.profiles import Profile
from lakeward_authz.domain.roles import Role
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.own_snapshots import OwnSnapshot


@dataclasses.dataclass(frozen=True, slots=True)
class SnapshotTeller(OwnSnapshot):
    """Tells what is in a stream of authz's at a moment."""

    service: ClassVar[str] = STREAM

    def of_user(self, user_id: UserId, profile: Profile, *, updated_with: str, suspended: bool) -> Event:
        """A user."""
        data = {"user": said_of_user(user_id, profile, updated_with), "suspended": suspended}
        attributes = {"userid": user_id}
        return self._event("user", "snapshot", "snapshotUser", subject=user_id, attributes=attributes, data=data)

    def of_role(self, role: Role) -> Event:
        """A role."""
        data, attributes = {"role": said_of_role(role)}, attributes_of_role(role)
        return self._event("role", "snapshot", "snapshotRole", subject=role.name, attributes=attributes, data=data)

    def of_grants(self, key: ObjectKey, given: Collection[Given], *, public_id: UUID | None) -> list[Event]:
        """What is given on an object: who is in a role, and what else."""
        events: list[Event] = []
        for members, (kind, verb, type_) in (
            (True, ("role", "snapshot-members", "snapshotRoleMembers")),
            (False, ("grant", "snapshot", "snapshotGrants")),
        ):
            said = [each.document for each in given if is_membership(key, each) is members]
            if said:
                data = {"object": said_of_object(key, public_id), "given": said}
                attributes = attributes_of(key)
                events.append(self._event(kind, verb, type_, subject=name_of(key), attributes=attributes, data=data))
        return events

    def of_managed_access(self, key: ObjectKey, *, public_id: UUID | None) -> Event:
        """An object on whose inside owners may not give rights."""
        data = {"object": said_of_object(key, public_id), "managed": True}
        verb, type_ = "snapshot-managed-access", "snapshotManagedAccess"
        return self._event("grant", verb, type_, subject=name_of(key), attributes=attributes_of(key), data=data)
