"""What a snapshot of authz is made of: an event for each thing that is there, in a project or on the server."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

from lakeward_authz.application.announcements import (
    SOURCE,
    STREAM,
    Given,
    Ids,
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
from lakeward_servicekit.events.acting import NOBODY
from lakeward_servicekit.events.cloud_events import Event, cloud_event
from lakeward_servicekit.events.streams import of_project


@dataclasses.dataclass(frozen=True, slots=True)
class SnapshotTeller:
    """Tells what is in a stream at a moment.

    Attributes:
        project_id: whose it is; None: the server's.
        at: the moment.
    """

    ids: Ids
    project_id: str | None
    at: datetime

    def begun(self) -> Event:
        """Whose it is."""
        return self._of_stream("snapshot", "snapshotAuthz", {"project-id": self.project_id})

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

    def completed(self, *, sequence: int, entities: int) -> Event:
        """The end: `entities` events came before, and the last event of the log whose change is in it is `sequence`."""
        data = {"sequence": sequence, "entities": entities}
        return self._of_stream("snapshot-completed", "completeAuthzSnapshot", data)

    def _of_stream(self, verb: str, type_: str, data: Mapping[str, object]) -> Event:
        attributes = {} if self.project_id is None else {"projectid": self.project_id}
        return self._event(STREAM, verb, type_, subject=self.project_id or "server", attributes=attributes, data=data)

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
        return cloud_event(
            event_id=self.ids.uuid7(),
            at=self.at,
            source=SOURCE,
            stream=STREAM if self.project_id is None else of_project(self.project_id, kind=STREAM),
            kind=kind,
            verb=verb,
            upstream_type=type_,
            subject=subject,
            actor=NOBODY,
            trace_id="",
            attributes=attributes,
            data=data,
        )
