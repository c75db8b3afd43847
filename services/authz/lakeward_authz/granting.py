"""How rights are given and shown, of its parts."""

from __future__ import annotations

from lakeward_authz.adapters.allow_all import EveryRight
from lakeward_authz.adapters.postgres.names import PostgresNames
from lakeward_authz.adapters.postgres.rights import PostgresRights
from lakeward_authz.adapters.postgres.trails import PostgresTrails
from lakeward_authz.application.doors import Doors
from lakeward_authz.application.explaining import ExplainAccess
from lakeward_authz.application.grants import ChangeGrants, GrantablePrivileges, ListGrants, ListGrantsOfPrincipal
from lakeward_authz.application.inspecting import AllowedActions, CheckActions, GetManagedAccess, SetManagedAccess
from lakeward_authz.application.permissions import GrantStore, TreeStore
from lakeward_authz.transport.grants import GrantServicer
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.settings.authorization import AuthorizationSettings, AuthzBackend


def grant_servicer(pool: Pool, tree: TreeStore, grants: GrantStore, settings: AuthorizationSettings) -> GrantServicer:
    """The servicer over authz's rows; where everything is allowed, everybody gives and sees everything."""
    rows = PostgresRights(pool)
    rights = EveryRight(rows) if settings.backend is AuthzBackend.ALLOW_ALL else rows
    doors = Doors(PostgresNames(pool), rights, frozenset(settings.instance_admins))
    return GrantServicer(
        list_grants=ListGrants(doors, grants),
        list_of_principal=ListGrantsOfPrincipal(doors, grants),
        change=ChangeGrants(doors, grants),
        grantable=GrantablePrivileges(doors),
        allowed=AllowedActions(doors),
        check=CheckActions(doors),
        explain=ExplainAccess(doors, PostgresTrails(pool), open_to_all=rights is not rows),
        managed=GetManagedAccess(doors),
        manage=SetManagedAccess(doors, tree),
    )
