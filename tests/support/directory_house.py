"""Authz's services of users and roles over stores in memory, and what each of their methods answers to who may not.

A new method is a new entry of EXPECTED. The walk is in tests/unit/authz/test_directory_denials.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from lakeward_authz.application.directory_doors import DirectoryDoors
from lakeward_authz.application.identifying import Authenticate, Identification
from lakeward_authz.directory import role_servicer, user_servicer
from lakeward_authz.domain.permissions.objects import role_subject, user_subject
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.domain.provisioning import MatchedBy, Matching
from lakeward_authz.provisioning import provisioning_servicer
from lakeward_authz.transport.callers import caller_of
from lakeward_protocol.authz.v1 import provisioning_pb2 as pb
from lakeward_protocol.authz.v1 import (
    provisioning_pb2_grpc,
    roles_pb2,
    roles_pb2_grpc,
    users_pb2,
    users_pb2_grpc,
)
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.authorization.principals import ANONYMOUS, user
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.idempotency import Once
from lakeward_servicekit.paging import PageSizes
from lakeward_servicekit.rpc import Caller, Host
from tests.support.deciding import Rule, TableAuthorizer
from tests.support.directory import NOW, AsMembers, AsUsers, Directory, a_role, a_user, role_id
from tests.support.provisioning import Groups, People, a_group, a_person
from tests.support.users import FakeRoles

ANYTHING: Final = Rule(allows=True)
ROLE: Final = role_id(1)
INNER: Final = role_id(2)
OTHER_PROJECTS: Final = role_id(3)
GROUP: Final = role_id(4)
PERSON: Final = role_id(5)
ADMINISTRATOR: Final = "oidc~root"


class Tokens:
    """Takes an authorization for the name of a user; "" is nobody in particular."""

    def __init__(self) -> None:
        self.profiles: dict[str, Profile] = {}

    async def identify(self, authorization: str) -> Identification:
        if not authorization:
            return Identification(ANONYMOUS, None, None, "open")
        profile = self.profiles.get(authorization, Profile(authorization.title(), None, UserKind.HUMAN))
        return Identification(user(f"oidc~{authorization}"), profile, None, "names-1")


class HeldClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at


class CountedIds:
    """Ids one after another, larger than those of `role_id`."""

    def __init__(self) -> None:
        self.last = 1000

    def uuid7(self) -> UUID:
        self.last += 1
        return role_id(self.last)

    uuid4 = uuid7


class DirectoryHouse:
    """The services, what is below them, and who decides.

    Attributes:
        directory: has ann and bob, the roles ROLE, of which INNER is a member, and OTHER_PROJECTS in the project q.
        people: has PERSON, who is dora; a provider sent GROUP, too.
        held: roles that users hold, for who assumes one.
    """

    def __init__(self, *, default_project: str | None = "p") -> None:
        self.directory = Directory(projects=("p", "q"))
        self.authorizer = TableAuthorizer(ANYTHING)
        self.tokens, self.clock = Tokens(), HeldClock()
        self.held = FakeRoles({ROLE: [user_subject("oidc~ann")]})
        doors = DirectoryDoors(self.authorizer, self.directory)
        users, members = AsUsers(self.directory), AsMembers(self.directory)
        self.people = People(self.directory)
        once = Once(
            store=self.directory.keys, clock=self.clock, lifetime=timedelta(minutes=30), grace=timedelta(minutes=5)
        )
        settle = partial(caller_of, authenticate=Authenticate(self.tokens, self.held), default_project=default_project)
        self.host = Host("authz", settle=settle)
        sizes, administrators = PageSizes(2, 3), frozenset({ADMINISTRATOR})
        self.host.add(
            users_pb2_grpc.add_UserServiceServicer_to_server,
            user_servicer(doors, users, once=once, clock=self.clock, sizes=sizes, administrators=administrators),
        )
        self.host.add(
            roles_pb2_grpc.add_RoleServiceServicer_to_server,
            role_servicer(doors, users, members, once=once, clock=self.clock, ids=CountedIds(), sizes=sizes),
        )
        self.host.add(
            provisioning_pb2_grpc.add_ProvisioningServiceServicer_to_server,
            provisioning_servicer(
                doors,
                self.people,
                Groups(self.people),
                matching=Matching("oidc", MatchedBy.EXTERNAL_ID),
                clock=self.clock,
                ids=CountedIds(),
            ),
        )

    async def call(self, request: Any, *, as_user: str = "ann", **context: str) -> Any:
        """Call the method that a request is of."""
        request.context.authorization = as_user
        for field, value in context.items():
            setattr(request.context, field, value)
        name = type(request).__name__.removesuffix("Request")
        service = "UserService" if "Role" not in name else "RoleService"
        service = "ProvisioningService" if "Provisioned" in name else service
        path = f"/lakeward.authz.v1.{service}/{name}"
        return await self.host.channel(caller=Caller.CALLER_GATEWAY).unary_unary(path)(request)


async def a_house(*, default_project: str | None = "p", sent: bool = False) -> DirectoryHouse:
    """As the class says; with what a provider sent only where `sent`."""
    house = DirectoryHouse(default_project=default_project)
    for name in ("ann", "bob"):
        await house.directory.save(a_user(name), update=False, record=None)
    for made in (a_role(1, "engineers"), a_role(2, "inner"), a_role(3, "theirs", project="q")):
        await house.directory.add(made, owner=None, record=None)
    members = [role_subject(INNER), user_subject("oidc~bob")]
    await house.directory.add_members(house.directory.roles[ROLE], members)
    if sent:
        await house.people.add(a_person(PERSON.int & 0xFF, "dora"))
        await house.directory.add(a_group(GROUP.int & 0xFF, "a group"), owner=None, record=None)
    return house


@dataclasses.dataclass(frozen=True)
class Case:
    """One request of a method, which succeeds in `a_house()` for ann who may do everything.

    Attributes:
        request: makes it.
        gone: by the kind of what is hidden, the reason that it is refused with.
        needs: actions that it is refused without; None: every permission of the method's rule.
        shapes: actions without which it succeeds with less.
        only_hidden: kinds whose absence is no refusal.
    """

    request: Callable[[], Any]
    gone: Mapping[ObjectKind, Reason.ValueType] = dataclasses.field(default_factory=dict)
    needs: frozenset[Action] | None = None
    shapes: frozenset[Action] = frozenset()
    only_hidden: frozenset[ObjectKind] = frozenset()


_SERVER: Final = {ObjectKind.SERVER: Reason.REASON_FORBIDDEN}  # it is never absent
_PROJECT: Final = {ObjectKind.PROJECT: Reason.REASON_NO_SUCH_PROJECT}
_ROLE: Final = {ObjectKind.ROLE: Reason.REASON_NO_SUCH_ROLE}
_THERE: Final = frozenset({ObjectKind.SERVER})
_OF_USERS: Final = frozenset({Action.SERVER_LIST_USERS, Action.SERVER_UPDATE_USERS, Action.SERVER_DELETE_USERS})
_NOTHING: Final = frozenset[Action]()
_MEMBER: Final = roles_pb2.RoleMemberRef(kind=roles_pb2.ROLE_MEMBER_KIND_USER, id="oidc~ann")


def _others(request: Callable[[], Any]) -> Case:
    return Case(request, _SERVER, only_hidden=_THERE)


def _with_groups(request: Callable[[], Any], action: Action) -> Case:
    shapes = frozenset({Action.PROJECT_LIST_ROLES})
    return Case(request, _SERVER, needs=frozenset({action}), shapes=shapes, only_hidden=_THERE)


def _own(request: Callable[[], Any]) -> Case:
    return Case(request, needs=_NOTHING)


def _role(request: Callable[[], Any]) -> Case:
    return Case(request, _ROLE)


def _update(user_id: str) -> users_pb2.UpdateUserRequest:
    return users_pb2.UpdateUserRequest(user_id=user_id, name="New", type=users_pb2.USER_TYPE_HUMAN)


USER_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "CreateUser": (
        _others(lambda: users_pb2.CreateUserRequest(user_id="oidc~new", name="New", type=users_pb2.USER_TYPE_HUMAN)),
        _own(lambda: users_pb2.CreateUserRequest(update_if_exists=True)),
        _own(lambda: users_pb2.CreateUserRequest(user_id="oidc~ann", update_if_exists=True)),
    ),
    "GetUser": (_own(lambda: users_pb2.GetUserRequest(user_id="oidc~bob")),),
    "WhoAmI": (_own(users_pb2.WhoAmIRequest),),
    "ListUsers": (_others(users_pb2.ListUsersRequest),),
    "SearchUsers": (_own(lambda: users_pb2.SearchUsersRequest(search="b")),),
    "UpdateUser": (_others(lambda: _update("oidc~bob")), _own(lambda: _update("oidc~ann"))),
    "DeleteUser": (
        _others(lambda: users_pb2.DeleteUserRequest(user_id="oidc~bob")),
        _own(lambda: users_pb2.DeleteUserRequest(user_id="oidc~ann")),
    ),
    "GetUserActions": (
        Case(
            lambda: users_pb2.GetUserActionsRequest(user_id="oidc~bob", principal_user="oidc~carl"),
            _SERVER,
            needs=frozenset({Action.SERVER_READ_ASSIGNMENTS}),
            shapes=_OF_USERS,
            only_hidden=_THERE,
        ),
        Case(lambda: users_pb2.GetUserActionsRequest(user_id="oidc~bob"), needs=_NOTHING, shapes=_OF_USERS),
        _own(lambda: users_pb2.GetUserActionsRequest(user_id="oidc~ann")),
    ),
}
ROLE_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "CreateRole": (Case(lambda: roles_pb2.CreateRoleRequest(name="new"), _PROJECT),),
    "GetRole": (_role(lambda: roles_pb2.GetRoleRequest(role_id=str(ROLE))),),
    "GetRoleMetadata": (_own(lambda: roles_pb2.GetRoleMetadataRequest(role_id=str(OTHER_PROJECTS))),),
    "ListRoles": (Case(roles_pb2.ListRolesRequest, _PROJECT, only_hidden=frozenset(_PROJECT)),),
    "SearchRoles": (Case(roles_pb2.SearchRolesRequest, _PROJECT, only_hidden=frozenset(_PROJECT)),),
    "UpdateRole": (_role(lambda: roles_pb2.UpdateRoleRequest(role_id=str(ROLE), name="renamed")),),
    "UpdateRoleSource": (
        _role(lambda: roles_pb2.UpdateRoleSourceRequest(role_id=str(ROLE), provider_id="oidc", source_id="group")),
    ),
    "DeleteRole": (_role(lambda: roles_pb2.DeleteRoleRequest(role_id=str(ROLE))),),
    "AddRoleMembers": (_role(lambda: roles_pb2.AddRoleMembersRequest(role_id=str(ROLE), members=[_MEMBER])),),
    "RemoveRoleMember": (_role(lambda: roles_pb2.RemoveRoleMemberRequest(role_id=str(ROLE), member=_MEMBER)),),
    "ListRoleMembers": (_role(lambda: roles_pb2.ListRoleMembersRequest(role_id=str(ROLE))),),
    "ListRolesOfRole": (_role(lambda: roles_pb2.ListRolesOfRoleRequest(role_id=str(ROLE))),),
    "ListRolesOfUser": (
        _others(lambda: roles_pb2.ListRolesOfUserRequest(user_id="oidc~bob")),
        _own(lambda: roles_pb2.ListRolesOfUserRequest(user_id="oidc~ann")),
    ),
}
_SENT: Final = pb.ProvisionedProfile(user_name="eve@example.org", external_id="eve", active=True)
_CHANGED: Final = pb.ProvisionedProfile(user_name="dora@example.org", external_id="dora", active=False)
_PERSON: Final = str(PERSON)
_GROUP: Final = str(GROUP)
_MOVED: Final = pb.ProvisionedMembersChange(add=[_PERSON])
PROVISIONING_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "CreateProvisionedUser": (_others(lambda: pb.CreateProvisionedUserRequest(profile=_SENT)),),
    "GetProvisionedUser": (_with_groups(lambda: pb.GetProvisionedUserRequest(id=_PERSON), Action.SERVER_LIST_USERS),),
    "ListProvisionedUsers": (_with_groups(pb.ListProvisionedUsersRequest, Action.SERVER_LIST_USERS),),
    "ReplaceProvisionedUser": (
        _with_groups(
            lambda: pb.ReplaceProvisionedUserRequest(id=_PERSON, profile=_CHANGED), Action.SERVER_UPDATE_USERS
        ),
    ),
    "DeleteProvisionedUser": (_others(lambda: pb.DeleteProvisionedUserRequest(id=_PERSON)),),
    "CreateProvisionedGroup": (Case(lambda: pb.CreateProvisionedGroupRequest(display_name="new"), _PROJECT),),
    "GetProvisionedGroup": (_role(lambda: pb.GetProvisionedGroupRequest(id=_GROUP)),),
    "ListProvisionedGroups": (Case(pb.ListProvisionedGroupsRequest, _PROJECT, only_hidden=frozenset(_PROJECT)),),
    "ChangeProvisionedGroup": (
        _role(lambda: pb.ChangeProvisionedGroupRequest(id=_GROUP, display_name="new", members=[_MOVED])),
        Case(
            lambda: pb.ChangeProvisionedGroupRequest(id=_GROUP, display_name="new"),
            _ROLE,
            needs=frozenset({Action.ROLE_UPDATE}),
        ),
        Case(
            lambda: pb.ChangeProvisionedGroupRequest(id=_GROUP, members=[_MOVED]),
            _ROLE,
            needs=frozenset({Action.ROLE_GRANT_ASSIGNEE}),
        ),
    ),
    "DeleteProvisionedGroup": (_role(lambda: pb.DeleteProvisionedGroupRequest(id=_GROUP)),),
}
EXPECTED: Final[Mapping[str, tuple[Case, ...]]] = {
    f"/lakeward.authz.v1.{service}/{method}": cases
    for service, methods in {
        "UserService": USER_SERVICE,
        "RoleService": ROLE_SERVICE,
        "ProvisioningService": PROVISIONING_SERVICE,
    }.items()
    for method, cases in methods.items()
}
