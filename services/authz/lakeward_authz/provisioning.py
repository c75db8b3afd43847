"""The part of the composition that keeps people and groups of identity providers."""

from __future__ import annotations

from typing import Protocol

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.provisioned_groups import PostgresProvisionedGroups
from lakeward_authz.adapters.postgres.provisioned_users import PostgresProvisionedUsers
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.application.directory_doors import DirectoryDoors
from lakeward_authz.application.provisioned_groups import (
    GroupChanges,
    GroupCreations,
    GroupDeletions,
    GroupListings,
    GroupLookups,
    ProvisionedGroupStore,
)
from lakeward_authz.application.provisioned_memberships import Memberships, MembershipStore
from lakeward_authz.application.provisioned_users import (
    ProvisionedUserDeletions,
    ProvisionedUserListings,
    ProvisionedUserLookups,
    ProvisionedUserReplacements,
    ProvisionedUserStore,
    UserProvisionings,
)
from lakeward_authz.domain.provisioning import MatchedBy, Matching
from lakeward_authz.transport.provisioning import ProvisioningServicer
from lakeward_protocol.authz.v1 import provisioning_pb2_grpc
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.rpc import Host
from lakeward_servicekit.settings.provisioning import ScimSettings
from lakeward_servicekit.system import Clock, Ids, SystemClock, SystemIds


class GroupsAndMemberships(ProvisionedGroupStore, MembershipStore, Protocol):
    """What keeps groups says who is in them."""


def add_provisioning(
    host: Host,
    settings: ScimSettings,
    pool: Pool,
    *,
    roles: PostgresRoles,
    grants: PostgresGrants,
    doors: DirectoryDoors,
) -> None:
    """Host the service.

    Args:
        host: gets it.
        settings: which user a person is.
        pool: of authz's schema, on the primary.
        roles: keeps the roles that groups are.
        grants: keeps who is in them.
        doors: opens the server, projects and roles.
    """
    servicer = provisioning_servicer(
        doors,
        PostgresProvisionedUsers(pool, Outbox()),
        PostgresProvisionedGroups(pool, roles, grants),
        matching=Matching(settings.idp_id, MatchedBy(settings.user_id)),
        clock=SystemClock(),
        ids=SystemIds(),
    )
    host.add(provisioning_pb2_grpc.add_ProvisioningServiceServicer_to_server, servicer)


def provisioning_servicer(
    doors: DirectoryDoors,
    people: ProvisionedUserStore,
    groups: GroupsAndMemberships,
    *,
    matching: Matching,
    clock: Clock,
    ids: Ids,
) -> ProvisioningServicer:
    """What keeps people and groups."""
    memberships = Memberships(doors, groups)
    return ProvisioningServicer(
        create_user=UserProvisionings(doors, people, matching, clock, ids),
        get_user=ProvisionedUserLookups(doors, people, memberships),
        list_users=ProvisionedUserListings(doors, people, memberships),
        replace_user=ProvisionedUserReplacements(doors, people, memberships, matching, clock),
        delete_user=ProvisionedUserDeletions(doors, people, clock),
        create_group=GroupCreations(doors, groups, clock, ids),
        get_group=GroupLookups(doors, groups),
        list_groups=GroupListings(doors, groups),
        change_group=GroupChanges(doors, groups, clock),
        delete_group=GroupDeletions(doors),
    )
