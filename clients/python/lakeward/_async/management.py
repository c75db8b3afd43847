"""Management as people speak of it: warehouses by name, listings that go on to their end, changes that say what they change."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from lakeward._async.connection import AsyncConnection
from lakeward._async.marks import AsyncGrants, AsyncTags
from lakeward._async.operations import AsyncOperations
from lakeward._async.paging import pages
from lakeward.errors import ConfigurationError, NotFoundError
from lakeward.management import models
from lakeward.management.places import Place
from lakeward.names import is_id, same

_PAGE = 500  # entries that are asked for at once


class AsyncManagement:
    """What operators do.

    Attributes:
        operations: every operation of the API, as it is.
        projects: tenants.
        warehouses: where tables live.
        users: whom the server knows.
        roles: groups of them.
        tags: what is said of things in so many words.
    """

    def __init__(self, connection: AsyncConnection) -> None:
        self.operations = AsyncOperations(connection)
        self.projects = AsyncProjects(self.operations)
        self.warehouses = AsyncWarehouses(self.operations)
        self.users = AsyncUsers(self.operations)
        self.roles = AsyncRoles(self.operations)
        self.tags = AsyncTags(self.operations, self.warehouses.id_of)

    async def info(self) -> models.ServerInfo:
        """What the server is."""
        return await self.operations.get_server_info()

    async def whoami(self) -> models.WhoamiResponse:
        """Whom the server takes the caller for."""
        return await self.operations.whoami()

    async def bootstrap(self) -> None:
        """Open a new server for use; the caller becomes its first administrator.

        Raises:
            BadRequestError: it is open already.
        """
        await self.operations.bootstrap(models.BootstrapRequest(accept_terms_of_use=True))

    def grants(self, place: Place) -> AsyncGrants:
        """Who was given what on a place."""
        return AsyncGrants(self.operations, self.warehouses.id_of, place)

    def tasks(self, warehouse: str | UUID) -> AsyncTasks:
        """What is done in the background in a warehouse, that is given by name or id."""
        return AsyncTasks(self.operations, self.warehouses, warehouse)

    def dropped(self, warehouse: str | UUID) -> AsyncDropped:
        """What was dropped from a warehouse and can be restored; it is given by name or id."""
        return AsyncDropped(self.operations, self.warehouses, warehouse)


class AsyncProjects:
    """Tenants."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(self) -> Sequence[models.GetProjectResponse]:
        """Those that the caller may see, by name."""
        return (await self._operations.list_projects()).projects

    async def get(self, project: str | None = None) -> models.GetProjectResponse:
        """One, by its id; None: the client's, else the server's default."""
        return await self._operations.get_project(project=project)

    async def create(self, name: str, *, project_id: str | None = None) -> str:
        """Make one, and say its id.

        Raises:
            ConflictError: the id is taken.
        """
        made = models.CreateProjectRequest.model_validate(_given(project_name=name, project_id=project_id))
        return (await self._operations.create_project(made)).project_id

    async def rename(self, project: str, name: str) -> None:
        """Call one otherwise."""
        await self._operations.rename_project(models.RenameProjectRequest(new_name=name), project=project)

    async def delete(self, project: str) -> None:
        """Delete one.

        Raises:
            ConflictError: it has warehouses.
        """
        await self._operations.delete_project(project=project)


class AsyncWarehouses:
    """Where tables live. Each method takes a warehouse's name or its id."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(self, *, inactive: bool = True) -> Sequence[models.GetWarehouseResponse]:
        """Those of the project that the caller may see, by name."""
        status = "active,inactive" if inactive else "active"
        statuses = status.split(",")
        return (await self._operations.list_warehouses(warehouse_status=statuses)).warehouses

    async def get(self, warehouse: str | UUID) -> models.GetWarehouseResponse:
        """One.

        Raises:
            NotFoundError: there is none of that name in the project, or none that the caller may see.
        """
        if is_id(warehouse):
            return await self._operations.get_warehouse(warehouse)
        for each in await self.list():
            if same(each.name, str(warehouse)):
                return each
        raise NotFoundError(
            404, "NoSuchWarehouseException", f"there is no warehouse {str(warehouse)!r} that you may see"
        )

    async def id_of(self, warehouse: str | UUID) -> str:
        """The id of one."""
        return str(warehouse) if is_id(warehouse) else (await self.get(warehouse)).id

    async def create(
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
        return await self._operations.create_warehouse(models.CreateWarehouseRequest.model_validate(asked))

    async def rename(self, warehouse: str | UUID, name: str) -> None:
        """Call one otherwise."""
        asked = models.RenameWarehouseRequest(new_name=name)
        await self._operations.rename_warehouse(await self.id_of(warehouse), asked)

    async def activate(self, warehouse: str | UUID) -> None:
        """Let it be used again."""
        await self._operations.activate_warehouse(await self.id_of(warehouse))

    async def deactivate(self, warehouse: str | UUID) -> None:
        """Let nobody use it; nothing in it is lost."""
        await self._operations.deactivate_warehouse(await self.id_of(warehouse))

    async def protect(self, warehouse: str | UUID, *, protected: bool = True) -> None:
        """Keep it from being deleted, or no longer."""
        asked = models.SetProtectionRequest(protected=protected)
        await self._operations.set_warehouse_protection(await self.id_of(warehouse), asked)

    async def set_credential(self, warehouse: str | UUID, credential: Mapping[str, Any]) -> None:
        """Use another credential for the store, from the next request on."""
        asked = models.UpdateWarehouseCredentialRequest.model_validate({"new-storage-credential": dict(credential)})
        await self._operations.update_storage_credential(await self.id_of(warehouse), asked)

    async def set_storage(
        self, warehouse: str | UUID, profile: Mapping[str, Any], credential: Mapping[str, Any] | None = None
    ) -> None:
        """Change how the store is used; where the files are can't be changed."""
        asked = _given(storage_profile=dict(profile), storage_credential=credential)
        request = models.UpdateWarehouseStorageRequest.model_validate(asked)
        await self._operations.update_storage_profile(await self.id_of(warehouse), request)

    async def set_delete_profile(self, warehouse: str | UUID, profile: Mapping[str, Any]) -> None:
        """Say whether, and for how long, what is dropped can be restored."""
        asked = models.UpdateWarehouseDeleteProfileRequest.model_validate({"delete-profile": dict(profile)})
        await self._operations.update_warehouse_delete_profile(await self.id_of(warehouse), asked)

    async def delete(self, warehouse: str | UUID, *, force: bool = False) -> None:
        """Delete one.

        Args:
            warehouse: which.
            force: even a protected one.

        Raises:
            ConflictError: it is not empty, or protected.
        """
        await self._operations.delete_warehouse(await self.id_of(warehouse), force=force or None)

    async def statistics(self, warehouse: str | UUID) -> AsyncIterator[models.WarehouseStatistics]:
        """How much it had, hour by hour, the newest first."""
        found = await self.id_of(warehouse)

        async def fetch(token: str | None) -> models.WarehouseStatisticsResponse:
            return await self._operations.get_warehouse_statistics(found, page_token=token)

        async for page in pages(fetch):
            for each in page.stats:
                yield each

    async def search(self, warehouse: str | UUID, text: str) -> Sequence[models.SearchTabular]:
        """Tables and views whose names are like a text, the likest first."""
        asked = models.SearchTabularRequest(search=text)
        return (await self._operations.search_tabular(await self.id_of(warehouse), asked)).tabulars


class AsyncUsers:
    """Whom the server knows. Ids are like "oidc~ada"."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(self, *, name: str | None = None) -> AsyncIterator[models.User]:
        """All that the caller may see; with a name, those whose name begins like it."""

        async def fetch(token: str | None) -> models.ListUsersResponse:
            return await self._operations.list_user(name=name, page_token=token, page_size=_PAGE)

        async for page in pages(fetch):
            for user in page.users:
                yield user

    async def search(self, text: str) -> Sequence[models.SearchUser]:
        """Those whose names are like a text, the likest first."""
        return (await self._operations.search_user(models.SearchUserRequest(search=text))).users

    async def get(self, user_id: str) -> models.User:
        """One."""
        return await self._operations.get_user(user_id)

    async def create(
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
        return await self._operations.create_user(models.CreateUserRequest.model_validate(asked))

    async def delete(self, user_id: str) -> None:
        """Forget one, with all that was granted to it."""
        await self._operations.delete_user(user_id)


class AsyncRoles:
    """Groups of users and of other roles. Each method takes a role's id, or its name where it is the only one of that name."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(self) -> AsyncIterator[models.Role]:
        """Those of the project that the caller may see."""

        async def fetch(token: str | None) -> models.ListRolesResponse:
            return await self._operations.list_roles(page_token=token, page_size=_PAGE)

        async for page in pages(fetch):
            for role in page.roles:
                yield role

    async def search(self, text: str) -> Sequence[models.Role]:
        """Those whose names are like a text, the likest first."""
        return (await self._operations.search_role(models.SearchRoleRequest(search=text))).roles

    async def get(self, role: str | UUID) -> models.Role:
        """One.

        Raises:
            NotFoundError: there is none, or none that the caller may see.
            ConfigurationError: several have that name.
        """
        if is_id(role):
            return await self._operations.get_role(role)
        found = [each async for each in self.list() if same(each.name, str(role))]
        if not found:
            raise NotFoundError(404, "RoleNotFound", f"there is no role {str(role)!r} that you may see")
        if len(found) > 1:
            raise ConfigurationError(f"{len(found)} roles are called {str(role)!r}: say which by its id")
        return found[0]

    async def create(self, name: str, *, description: str | None = None) -> models.Role:
        """Make one.

        Raises:
            ConflictError: there is one of that name.
        """
        asked = _given(name=name, description=description)
        return await self._operations.create_role(models.CreateRoleRequest.model_validate(asked))

    async def delete(self, role: str | UUID) -> None:
        """Delete one, with all that was granted to it."""
        await self._operations.delete_role(await self._id(role))

    async def members(self, role: str | UUID) -> AsyncIterator[models.RoleMemberUser | models.RoleMemberRole]:
        """Users and roles that are in it directly."""
        found = await self._id(role)

        async def fetch(token: str | None) -> models.ListRoleMembersResponse:
            return await self._operations.list_role_members(found, page_token=token, page_size=_PAGE)

        async for page in pages(fetch):
            for member in page.members:
                yield member

    async def add(self, role: str | UUID, *, users: Sequence[str] = (), roles: Sequence[str | UUID] = ()) -> None:
        """Put users and roles into it. Who is in it already stays."""
        members = [
            *({"type": "user", "id": user} for user in users),
            *[{"type": "role", "id": await self._id(each)} for each in roles],
        ]
        asked = models.AddRoleMembersRequest.model_validate({"members": members})
        await self._operations.add_role_members(await self._id(role), asked)

    async def remove(self, role: str | UUID, *, user: str | None = None, member: str | UUID | None = None) -> None:
        """Take a user, or a role that is a member, out of it."""
        found = await self._id(role)
        if user is not None:
            await self._operations.remove_role_member(found, "user", user)
        if member is not None:
            await self._operations.remove_role_member(found, "role", await self._id(member))

    async def _id(self, role: str | UUID) -> str:
        return str(role) if is_id(role) else (await self.get(role)).id


class AsyncTasks:
    """What is done in the background in a warehouse."""

    def __init__(self, operations: AsyncOperations, warehouses: AsyncWarehouses, warehouse: str | UUID) -> None:
        self._operations = operations
        self._warehouses = warehouses
        self._warehouse = warehouse

    async def list(
        self, *, status: Sequence[str] | None = None, queue: Sequence[str] | None = None
    ) -> AsyncIterator[models.TaskInfo]:
        """All that the caller may see, the newest first.

        Args:
            status: only these: SCHEDULED, RUNNING, STOPPING, SUCCESS, FAILED, CANCELLED.
            queue: only of these queues.
        """
        found = await self._warehouses.id_of(self._warehouse)

        async def fetch(token: str | None) -> models.ListTasksResponse:
            asked = _given(status=status, queue_name=queue, page_token=token, page_size=_PAGE)
            return await self._operations.list_tasks(found, models.ListTasksRequest.model_validate(asked))

        async for page in pages(fetch):
            for task in page.tasks:
                yield task

    async def get(self, task_id: str | UUID) -> models.GetTaskDetailsResponse:
        """One, with its attempts."""
        return await self._operations.get_task_details(await self._warehouses.id_of(self._warehouse), task_id)

    async def cancel(self, *task_ids: str | UUID) -> None:
        """Let what has not begun never begin."""
        await self._control("cancel", task_ids)

    async def stop(self, *task_ids: str | UUID) -> None:
        """Ask what is running to stop."""
        await self._control("stop", task_ids)

    async def run(self, *task_ids: str | UUID) -> None:
        """Begin now what waits for its time."""
        await self._control("run-now", task_ids)

    async def _control(self, action: str, task_ids: Sequence[str | UUID]) -> None:
        asked = {"action": {"action-type": action}, "task-ids": [str(each) for each in task_ids]}
        request = models.ControlTasksRequest.model_validate(asked)
        await self._operations.control_tasks(await self._warehouses.id_of(self._warehouse), request)


class AsyncDropped:
    """What was dropped from a warehouse and can be restored."""

    def __init__(self, operations: AsyncOperations, warehouses: AsyncWarehouses, warehouse: str | UUID) -> None:
        self._operations = operations
        self._warehouses = warehouses
        self._warehouse = warehouse

    async def list(self) -> AsyncIterator[models.DeletedTabularResponse]:
        """All that the caller may see, in the order of dropping."""
        found = await self._warehouses.id_of(self._warehouse)

        async def fetch(token: str | None) -> models.ListDeletedTabularsResponse:
            return await self._operations.list_deleted_tabulars(found, page_token=token, page_size=_PAGE)

        async for page in pages(fetch):
            for each in page.tabulars:
                yield each

    async def restore(self, *dropped: models.DeletedTabularResponse) -> None:
        """Restore all of these, or, where one of them can't be, none."""
        targets = [{"type": each.typ, "id": str(each.id)} for each in dropped]
        asked = models.UndropTabularsRequest.model_validate({"targets": targets})
        await self._operations.undrop_tabulars(await self._warehouses.id_of(self._warehouse), asked)


def _given(**values: object) -> Mapping[str, object]:
    # What is left out is not the same as null.
    return {name: value for name, value in values.items() if value is not None}
