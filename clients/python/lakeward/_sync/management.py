# made by tools/generate_client.py from what stands in _async; do not edit
"""Management as people speak of it: warehouses by name, listings that go on to their end, changes that say what they change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from lakeward._sync.connection import Connection
from lakeward._sync.marks import Grants, Tags
from lakeward._sync.operations import Operations
from lakeward._sync.paging import pages
from lakeward.errors import ConfigurationError, NotFoundError
from lakeward.management import models
from lakeward.management.places import Place
from lakeward.names import is_id, same

_PAGE = 500  # entries that are asked for at once


class Management:
    """What operators do.

    Attributes:
        operations: every operation of the API, as it is.
        projects: tenants.
        warehouses: where tables live.
        users: whom the server knows.
        roles: groups of them.
        tags: what is said of things in so many words.
    """

    def __init__(self, connection: Connection) -> None:
        self.operations = Operations(connection)
        self.projects = Projects(self.operations)
        self.warehouses = Warehouses(self.operations)
        self.users = Users(self.operations)
        self.roles = Roles(self.operations)
        self.tags = Tags(self.operations, self.warehouses.id_of)

    def info(self) -> models.ServerInfo:
        """What the server is."""
        return self.operations.get_server_info()

    def whoami(self) -> models.WhoamiResponse:
        """Whom the server takes the caller for."""
        return self.operations.whoami()

    def bootstrap(self) -> None:
        """Open a new server for use; the caller becomes its first administrator.

        Raises:
            BadRequestError: it is open already.
        """
        self.operations.bootstrap(models.BootstrapRequest(accept_terms_of_use=True))

    def grants(self, place: Place) -> Grants:
        """Who was given what on a place."""
        return Grants(self.operations, self.warehouses.id_of, place)

    def tasks(self, warehouse: str | UUID) -> Tasks:
        """What is done in the background in a warehouse, that is given by name or id."""
        return Tasks(self.operations, self.warehouses, warehouse)

    def dropped(self, warehouse: str | UUID) -> Dropped:
        """What was dropped from a warehouse and can be restored; it is given by name or id."""
        return Dropped(self.operations, self.warehouses, warehouse)


class Projects:
    """Tenants."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def list(self) -> Sequence[models.GetProjectResponse]:
        """Those that the caller may see, by name."""
        return (self._operations.list_projects()).projects

    def get(self, project: str | None = None) -> models.GetProjectResponse:
        """One, by its id; None: the client's, else the server's default."""
        return self._operations.get_project(project=project)

    def create(self, name: str, *, project_id: str | None = None) -> str:
        """Make one, and say its id.

        Raises:
            ConflictError: the id is taken.
        """
        made = models.CreateProjectRequest.model_validate(_given(project_name=name, project_id=project_id))
        return (self._operations.create_project(made)).project_id

    def rename(self, project: str, name: str) -> None:
        """Call one otherwise."""
        self._operations.rename_project(models.RenameProjectRequest(new_name=name), project=project)

    def delete(self, project: str) -> None:
        """Delete one.

        Raises:
            ConflictError: it has warehouses.
        """
        self._operations.delete_project(project=project)


class Warehouses:
    """Where tables live. Each method takes a warehouse's name or its id."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def list(self, *, inactive: bool = True) -> Sequence[models.GetWarehouseResponse]:
        """Those of the project that the caller may see, by name."""
        status = "active,inactive" if inactive else "active"
        statuses = status.split(",")
        return (self._operations.list_warehouses(warehouse_status=statuses)).warehouses

    def get(self, warehouse: str | UUID) -> models.GetWarehouseResponse:
        """One.

        Raises:
            NotFoundError: there is none of that name in the project, or none that the caller may see.
        """
        if is_id(warehouse):
            return self._operations.get_warehouse(warehouse)
        for each in self.list():
            if same(each.name, str(warehouse)):
                return each
        raise NotFoundError(
            404, "NoSuchWarehouseException", f"there is no warehouse {str(warehouse)!r} that you may see"
        )

    def id_of(self, warehouse: str | UUID) -> str:
        """The id of one."""
        return str(warehouse) if is_id(warehouse) else (self.get(warehouse)).id

    def create(
        self,
        name: str,
        storage_profile: Mapping[str, Any],
        storage_credential: Mapping[str, Any] | None = None,
        *,
        delete_profile: Mapping[str, Any] | None = None,
    ) -> models.GetWarehouseResponse:
        """Make one.

        Args:
            name: of it, in its project.
            storage_profile: where its files go, as the storage guide has it for each kind of store.
            storage_credential: with what the server uses the store.
            delete_profile: `{"type": "hard"}`, or `{"type": "soft", "expiration-seconds": 604800}`.
        """
        asked = _given(
            warehouse_name=name,
            storage_profile=dict(storage_profile),
            storage_credential=storage_credential,
            delete_profile=delete_profile,
        )
        return self._operations.create_warehouse(models.CreateWarehouseRequest.model_validate(asked))

    def rename(self, warehouse: str | UUID, name: str) -> None:
        """Call one otherwise."""
        asked = models.RenameWarehouseRequest(new_name=name)
        self._operations.rename_warehouse(self.id_of(warehouse), asked)

    def activate(self, warehouse: str | UUID) -> None:
        """Let it be used again."""
        self._operations.activate_warehouse(self.id_of(warehouse))

    def deactivate(self, warehouse: str | UUID) -> None:
        """Let nobody use it; nothing in it is lost."""
        self._operations.deactivate_warehouse(self.id_of(warehouse))

    def protect(self, warehouse: str | UUID, *, protected: bool = True) -> None:
        """Keep it from being deleted, or no longer."""
        asked = models.SetProtectionRequest(protected=protected)
        self._operations.set_warehouse_protection(self.id_of(warehouse), asked)

    def set_credential(self, warehouse: str | UUID, credential: Mapping[str, Any]) -> None:
        """Use another credential for the store, from the next request on."""
        asked = models.UpdateWarehouseCredentialRequest.model_validate({"new-storage-credential": dict(credential)})
        self._operations.update_storage_credential(self.id_of(warehouse), asked)

    def set_storage(
        self, warehouse: str | UUID, profile: Mapping[str, Any], credential: Mapping[str, Any] | None = None
    ) -> None:
        """Change how the store is used; where the files are can't be changed."""
        asked = _given(storage_profile=dict(profile), storage_credential=credential)
        request = models.UpdateWarehouseStorageRequest.model_validate(asked)
        self._operations.update_storage_profile(self.id_of(warehouse), request)

    def set_delete_profile(self, warehouse: str | UUID, profile: Mapping[str, Any]) -> None:
        """Say whether, and for how long, what is dropped can be restored."""
        asked = models.UpdateWarehouseDeleteProfileRequest.model_validate({"delete-profile": dict(profile)})
        self._operations.update_warehouse_delete_profile(self.id_of(warehouse), asked)

    def delete(self, warehouse: str | UUID, *, force: bool = False) -> None:
        """Delete one.

        Args:
            warehouse: which.
            force: even a protected one.

        Raises:
            ConflictError: it is not empty, or protected.
        """
        self._operations.delete_warehouse(self.id_of(warehouse), force=force or None)

    def statistics(self, warehouse: str | UUID) -> Iterator[models.WarehouseStatistics]:
        """How much it had, hour by hour, the newest first."""
        found = self.id_of(warehouse)

        def fetch(token: str | None) -> models.WarehouseStatisticsResponse:
            return self._operations.get_warehouse_statistics(found, page_token=token)

        for page in pages(fetch):
            for each in page.stats:
                yield each

    def search(self, warehouse: str | UUID, text: str) -> Sequence[models.SearchTabular]:
        """Tables and views whose names are like a text, the likest first."""
        asked = models.SearchTabularRequest(search=text)
        return (self._operations.search_tabular(self.id_of(warehouse), asked)).tabulars


class Users:
    """Whom the server knows. Ids are like "oidc~ada"."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def list(self, *, name: str | None = None) -> Iterator[models.User]:
        """All that the caller may see; with a name, those whose name begins like it."""

        def fetch(token: str | None) -> models.ListUsersResponse:
            return self._operations.list_user(name=name, page_token=token, page_size=_PAGE)

        for page in pages(fetch):
            for user in page.users:
                yield user

    def search(self, text: str) -> Sequence[models.SearchUser]:
        """Those whose names are like a text, the likest first."""
        return (self._operations.search_user(models.SearchUserRequest(search=text))).users

    def get(self, user_id: str) -> models.User:
        """One."""
        return self._operations.get_user(user_id)

    def create(
        self, user_id: str, name: str, *, email: str | None = None, application: bool = False, update: bool = False
    ) -> models.User:
        """Make somebody known before they first call.

        Args:
            user_id: as tokens will have it, like "oidc~ada".
            name: for people.
            email: for people.
            application: whether it is no person.
            update: change who is there already, instead of refusing.

        Raises:
            ConflictError: there is somebody with that id, and `update` was not asked for.
        """
        kind = "application" if application else "human"
        asked = _given(id=user_id, name=name, email=email, user_type=kind, update_if_exists=update or None)
        return self._operations.create_user(models.CreateUserRequest.model_validate(asked))

    def delete(self, user_id: str) -> None:
        """Forget one, with all that was granted to it."""
        self._operations.delete_user(user_id)


class Roles:
    """Groups of users and of other roles. Each method takes a role's id, or its name where it is the only one of that name."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def list(self) -> Iterator[models.Role]:
        """Those of the project that the caller may see."""

        def fetch(token: str | None) -> models.ListRolesResponse:
            return self._operations.list_roles(page_token=token, page_size=_PAGE)

        for page in pages(fetch):
            for role in page.roles:
                yield role

    def search(self, text: str) -> Sequence[models.Role]:
        """Those whose names are like a text, the likest first."""
        return (self._operations.search_role(models.SearchRoleRequest(search=text))).roles

    def get(self, role: str | UUID) -> models.Role:
        """One.

        Raises:
            NotFoundError: there is none, or none that the caller may see.
            ConfigurationError: several have that name.
        """
        if is_id(role):
            return self._operations.get_role(role)
        found = [each for each in self.list() if same(each.name, str(role))]
        if not found:
            raise NotFoundError(404, "RoleNotFound", f"there is no role {str(role)!r} that you may see")
        if len(found) > 1:
            raise ConfigurationError(f"{len(found)} roles are called {str(role)!r}: say which by its id")
        return found[0]

    def create(self, name: str, *, description: str | None = None) -> models.Role:
        """Make one.

        Raises:
            ConflictError: there is one of that name.
        """
        asked = _given(name=name, description=description)
        return self._operations.create_role(models.CreateRoleRequest.model_validate(asked))

    def delete(self, role: str | UUID) -> None:
        """Delete one, with all that was granted to it."""
        self._operations.delete_role(self._id(role))

    def members(self, role: str | UUID) -> Iterator[models.RoleMemberUser | models.RoleMemberRole]:
        """Users and roles that are in it directly."""
        found = self._id(role)

        def fetch(token: str | None) -> models.ListRoleMembersResponse:
            return self._operations.list_role_members(found, page_token=token, page_size=_PAGE)

        for page in pages(fetch):
            for member in page.members:
                yield member

    def add(self, role: str | UUID, *, users: Sequence[str] = (), roles: Sequence[str | UUID] = ()) -> None:
        """Put users and roles into it. Who is in it already stays."""
        members = [
            *({"type": "user", "id": user} for user in users),
            *[{"type": "role", "id": self._id(each)} for each in roles],
        ]
        asked = models.AddRoleMembersRequest.model_validate({"members": members})
        self._operations.add_role_members(self._id(role), asked)

    def remove(self, role: str | UUID, *, user: str | None = None, member: str | UUID | None = None) -> None:
        """Take a user, or a role that is a member, out of it."""
        found = self._id(role)
        if user is not None:
            self._operations.remove_role_member(found, "user", user)
        if member is not None:
            self._operations.remove_role_member(found, "role", self._id(member))

    def _id(self, role: str | UUID) -> str:
        return str(role) if is_id(role) else (self.get(role)).id


class Tasks:
    """What is done in the background in a warehouse."""

    def __init__(self, operations: Operations, warehouses: Warehouses, warehouse: str | UUID) -> None:
        self._operations = operations
        self._warehouses = warehouses
        self._warehouse = warehouse

    def list(
        self, *, status: Sequence[str] | None = None, queue: Sequence[str] | None = None
    ) -> Iterator[models.TaskInfo]:
        """All that the caller may see, the newest first.

        Args:
            status: only these: SCHEDULED, RUNNING, STOPPING, SUCCESS, FAILED, CANCELLED.
            queue: only of these queues.
        """
        found = self._warehouses.id_of(self._warehouse)

        def fetch(token: str | None) -> models.ListTasksResponse:
            asked = _given(status=status, queue_name=queue, page_token=token, page_size=_PAGE)
            return self._operations.list_tasks(found, models.ListTasksRequest.model_validate(asked))

        for page in pages(fetch):
            for task in page.tasks:
                yield task

    def get(self, task_id: str | UUID) -> models.GetTaskDetailsResponse:
        """One, with its attempts."""
        return self._operations.get_task_details(self._warehouses.id_of(self._warehouse), task_id)

    def cancel(self, *task_ids: str | UUID) -> None:
        """Let what has not begun never begin."""
        self._control("cancel", task_ids)

    def stop(self, *task_ids: str | UUID) -> None:
        """Ask what is running to stop."""
        self._control("stop", task_ids)

    def run(self, *task_ids: str | UUID) -> None:
        """Begin now what waits for its time."""
        self._control("run-now", task_ids)

    def _control(self, action: str, task_ids: Sequence[str | UUID]) -> None:
        asked = {"action": {"action-type": action}, "task-ids": [str(each) for each in task_ids]}
        request = models.ControlTasksRequest.model_validate(asked)
        self._operations.control_tasks(self._warehouses.id_of(self._warehouse), request)


class Dropped:
    """What was dropped from a warehouse and can be restored."""

    def __init__(self, operations: Operations, warehouses: Warehouses, warehouse: str | UUID) -> None:
        self._operations = operations
        self._warehouses = warehouses
        self._warehouse = warehouse

    def list(self) -> Iterator[models.DeletedTabularResponse]:
        """All that the caller may see, in the order of dropping."""
        found = self._warehouses.id_of(self._warehouse)

        def fetch(token: str | None) -> models.ListDeletedTabularsResponse:
            return self._operations.list_deleted_tabulars(found, page_token=token, page_size=_PAGE)

        for page in pages(fetch):
            for each in page.tabulars:
                yield each

    def restore(self, *dropped: models.DeletedTabularResponse) -> None:
        """Restore all of these, or, where one of them can't be, none."""
        targets = [{"type": each.typ, "id": str(each.id)} for each in dropped]
        asked = models.UndropTabularsRequest.model_validate({"targets": targets})
        self._operations.undrop_tabulars(self._warehouses.id_of(self._warehouse), asked)


def _given(**values: object) -> Mapping[str, object]:
    # What is left out is not the same as null.
    return {name: value for name, value in values.items() if value is not None}
