"""How rights are given and shown, of its parts."""

from __future__ import annotations

from collections.abc import Collection

from lakeward_authz.adapters.allow_all import EveryRight
from lakeward_authz.adapters.joined_rights import JoinedRights
from lakeward_authz.adapters.postgres.holders import Holders
from lakeward_authz.adapters.postgres.names import PostgresNames
from lakeward_authz.adapters.postgres.rights import PostgresRights
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.adapters.postgres.trails import PostgresTrails
from lakeward_authz.adapters.postgres.tree import PostgresTree
from lakeward_authz.application.directory_doors import ManagedRoles
from lakeward_authz.application.doors import Doors
from lakeward_authz.application.explaining import ExplainAccess
from lakeward_authz.application.grants import ChangeGrants, GrantablePrivileges, ListGrants, ListGrantsOfPrincipal
from lakeward_authz.application.inspecting import AllowedActions, CheckActions, GetManagedAccess, SetManagedAccess
from lakeward_authz.application.permissions import GrantStore
from lakeward_authz.domain.bindings import NONE, Bindings
from lakeward_authz.transport.grants import GrantServicer
from lakeward_servicekit.paging import PageSizes
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.settings.authorization import AuthorizationSettings, AuthzBackend


def grant_servicer(  # noqa: PLR0913 - stores, and what the settings say, each by its name
    pool: Pool,
    tree: PostgresTree,
    grants: GrantStore,
    settings: AuthorizationSettings,
    *,
    reading: Pool,
    sizes: PageSizes,
    managed: Collection[str] = frozenset(),
    bindings: Bindings = NONE,
) -> GrantServicer:
    """The servicer over authz's rows; where everything is allowed, everybody gives and sees everything.

    Args:
        pool: of authz's schema, on the primary.
        tree: has the objects.
        grants: has what was given on them.
        settings: say whether there is anything to decide.
        sizes: of pages.
        reading: as `pool`; best one whose sessions plan once, since what the caller may is asked as decisions are.
        managed: providers whose roles' members are theirs alone to say.
        bindings: which identity providers are a project's own.
    """
    known = JoinedRights(PostgresRights(reading, holders=Holders(reading)))
    open_to_all = settings.backend is AuthzBackend.ALLOW_ALL
    rights = EveryRight(known) if open_to_all else known
    names = PostgresNames(reading)
    doors = Doors(names, rights, frozenset(settings.instance_admins), bindings)
    return GrantServicer(
        list_grants=ListGrants(doors, grants),
        list_of_principal=ListGrantsOfPrincipal(doors, grants),
        change=ChangeGrants(doors, grants, ManagedRoles(PostgresRoles(pool, tree), managed)),
        grantable=GrantablePrivileges(doors),
        allowed=AllowedActions(doors),
        check=CheckActions(doors),
        explain=ExplainAccess(doors, PostgresTrails(pool), open_to_all=open_to_all),
        managed=GetManagedAccess(doors),
        manage=SetManagedAccess(doors, tree),
        sizes=sizes,
    )
