"""The part of the composition that has roles follow directories."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import uuid4

from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.adapters.postgres.sourced_roles import PostgresSourcedRoles
from lakeward_authz.application.synchronising import SynchroniseRoles, keep_synchronised
from lakeward_authz.settings import AuthzSettings, LdapSettings
from lakeward_servicekit.leases import keep_holding
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.system import SystemClock, SystemIds

_LOG: Final = logging.getLogger(__name__)


@asynccontextmanager
async def synchronised(
    settings: AuthzSettings, pool: Pool, *, roles: PostgresRoles, grants: PostgresGrants
) -> AsyncIterator[None]:
    """Have roles follow the directories that are configured, until the block ends; of several replicas one reads each."""
    leases, holder = PostgresLeases(pool), str(uuid4())
    async with AsyncExitStack() as stack:
        if settings.server.maintenance_mode == "off":
            for provider, source in settings.directories.items():
                synchronise = synchronising(
                    settings, provider, source, PostgresSourcedRoles(pool, roles, grants, SystemIds())
                )
                work = partial(keep_synchronised, synchronise=synchronise, every=source.interval, pause=_pause)
                loop = asyncio.create_task(keep_holding(leases, f"directory-{provider}", work, holder=holder))
                stack.push_async_callback(_ended, loop)
        yield


def synchronising(
    settings: AuthzSettings, provider: str, source: LdapSettings, roles: PostgresSourcedRoles
) -> SynchroniseRoles:
    """What has the roles of a project follow one directory."""
    # Imported here: who reads no directory needs no client of one.
    from lakeward_authz.adapters.ldap.reading import LdapDirectory, LdapReader  # noqa: PLC0415

    if source.allow_insecure and not source.start_tls:
        _LOG.warning("a directory may be read without TLS", extra={"provider": provider})
    assert source.urls is not None, "settings demand it"
    assert source.user_base_dn is not None, "settings demand it"
    directory = LdapDirectory(
        urls=source.urls,
        bind_dn=source.bind_dn,
        bind_password=source.bind_password,
        start_tls=source.start_tls,
        ca_file=source.ca_file,
        user_base_dn=source.user_base_dn,
        user_filter=source.user_filter,
        user_id=source.user_id_attribute,
        group_base_dn=source.group_base_dn or source.user_base_dn,
        group_filter=source.group_filter,
        group_id=source.group_id_attribute,
        group_name=source.group_name_attribute,
        member=source.member_attribute if source.members == "groups" else None,
        member_of=source.member_of_attribute,
        page_size=source.page_size,
        seconds=max(1, round(source.timeout.total_seconds())),
    )
    return SynchroniseRoles(
        LdapReader(directory),
        roles,
        SystemClock(),
        provider=provider,
        project_id=source.project or settings.server.default_project_id,
        idp_id=source.idp_id,
        nested=source.nested,
        may_empty=source.may_empty,
    )


async def _pause(span: timedelta) -> None:
    await asyncio.sleep(span.total_seconds())


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
