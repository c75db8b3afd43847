"""The part of the composition that manages users and roles."""

from __future__ import annotations

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.idempotency import PostgresIdempotency
from lakeward_authz.adapters.postgres.members import PostgresMembers
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.user_directory import PostgresUserDirectory
from lakeward_authz.application.directory_doors import DirectoryDoors
from lakeward_authz.application.members import (
    MemberAdditions,
    MemberListings,
    MemberRemovals,
    MemberStore,
    RoleMembershipListings,
    UserMembershipListings,
)
from lakeward_authz.application.roles import (
    RoleBindings,
    RoleCreations,
    RoleDeletions,
    RoleDescriptions,
    RoleListings,
    RoleMetadataLookups,
    RoleSearches,
)
from lakeward_authz.application.user_directory import (
    SelfLookups,
    UserCreations,
    UserDeletions,
    UserDirectory,
    UserInspections,
    UserListings,
    UserLookups,
    UserSearches,
    UserUpdates,
)
from lakeward_authz.settings import AuthzSettings
from lakeward_authz.transport.roles import RoleServicer
from lakeward_authz.transport.users import UserServicer
from lakeward_protocol.authz.v1 import roles_pb2_grpc, users_pb2_grpc
from lakeward_servicekit.idempotency import Once
from lakeward_servicekit.paging import PageSizes
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.rpc import Host
from lakeward_servicekit.system import Clock, Ids, SystemClock, SystemIds


def add_directory(
    host: Host,
    settings: AuthzSettings,
    pool: Pool,
    *,
    doors: DirectoryDoors,
    grants: PostgresGrants,
) -> None:
    """Host the services of users and roles.

    Args:
        host: gets them.
        settings: of authz.
        pool: of authz's schema, on the primary.
        doors: open the server, projects, roles and users.
        grants: has who is in which role.
    """
    keys, clock = settings.idempotency, SystemClock()
    once = Once(
        store=PostgresIdempotency(pool),
        clock=clock,
        lifetime=keys.lifetime if keys.enabled else None,
        grace=keys.grace_period,
    )
    sizes = settings.pages.sizes
    users, members = PostgresUserDirectory(pool, Outbox()), PostgresMembers(pool, grants)
    administrators = frozenset(settings.authorization.instance_admins)
    host.add(
        users_pb2_grpc.add_UserServiceServicer_to_server,
        user_servicer(doors, users, once=once, clock=clock, sizes=sizes, administrators=administrators),
    )
    host.add(
        roles_pb2_grpc.add_RoleServiceServicer_to_server,
        role_servicer(doors, users, members, once=once, clock=clock, ids=SystemIds(), sizes=sizes),
    )


def user_servicer(
    doors: DirectoryDoors,
    users: UserDirectory,
    *,
    once: Once,
    clock: Clock,
    sizes: PageSizes,
    administrators: frozenset[str],
) -> UserServicer:
    """What manages users."""
    return UserServicer(
        create_user=UserCreations(doors, users, once, clock),
        get_user=UserLookups(users),
        who_am_i=SelfLookups(users, administrators),
        list_users=UserListings(doors, users, sizes),
        search_users=UserSearches(users),
        update_user=UserUpdates(doors, users, clock),
        delete_user=UserDeletions(doors, users, once, clock),
        get_user_actions=UserInspections(doors),
    )


def role_servicer(
    doors: DirectoryDoors,
    users: UserDirectory,
    members: MemberStore,
    *,
    once: Once,
    clock: Clock,
    ids: Ids,
    sizes: PageSizes,
) -> RoleServicer:
    """What manages roles."""
    return RoleServicer(
        doors=doors,
        create_role=RoleCreations(doors, once, clock, ids),
        get_role_metadata=RoleMetadataLookups(doors.roles),
        list_roles=RoleListings(doors, sizes),
        search_roles=RoleSearches(doors),
        update_role=RoleDescriptions(doors, clock),
        update_role_source=RoleBindings(doors, clock),
        delete_role=RoleDeletions(doors, once),
        add_role_members=MemberAdditions(doors, members),
        remove_role_member=MemberRemovals(doors, members),
        list_role_members=MemberListings(doors, members, sizes),
        list_roles_of_role=RoleMembershipListings(doors, members, sizes),
        list_roles_of_user=UserMembershipListings(doors, users, members, sizes),
    )
