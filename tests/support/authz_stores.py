"""Authz's rows of permissions in a database of their own."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from openfga_sdk.credentials import CredentialConfiguration, Credentials

from lakeward_authz.adapters.openfga.connection import OpenFga, StoreAddress, connected
from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.rights import PostgresRights
from lakeward_authz.adapters.postgres.tree import PostgresTree
from lakeward_authz.adapters.postgres.tree_listing import PostgresTreeListing
from lakeward_authz.bootstrap import MIGRATIONS
from lakeward_components.openfga import OpenFgaServer
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import Pool, open_pool
from lakeward_servicekit.secrecy import SecretStr

# By their URLs. To find that nothing is to be done takes longer than most tests that ask.
_migrated: Final = set[str]()
_EMPTY = """
delete from grants; delete from objects where kind <> 'server'; delete from tree_streams; delete from openfga_outbox;
delete from roles; delete from users; delete from provisioned_users; delete from suspended_grants;
delete from idempotency; delete from openfga_feeds;
update revisions set revision = revision + 1
"""


@dataclasses.dataclass(frozen=True)
class Stores:
    """Authz's rows, by role."""

    pool: Pool
    tree: PostgresTree
    listing: PostgresTreeListing
    grants: PostgresGrants
    rights: PostgresRights

    async def forget(self) -> None:
        """Be as on the first day."""
        await self.pool.execute(_EMPTY)


@asynccontextmanager
async def opened(postgres_url: str) -> AsyncIterator[Stores]:
    """Empty ones."""
    url = SecretStr(postgres_url)
    if postgres_url not in _migrated:
        await migrate(url, package=MIGRATIONS, schema="lakeward_authz")
        _migrated.add(postgres_url)
    outbox = Outbox()
    async with open_pool(url, size=8, name="test", schema="lakeward_authz") as pool:
        made = Stores(
            pool,
            PostgresTree(pool, outbox),
            PostgresTreeListing(pool),
            PostgresGrants(pool, outbox),
            PostgresRights(pool),
        )
        await made.forget()
        yield made


@asynccontextmanager
async def openfga_store(
    server: OpenFgaServer, *, url: str = "", name: str = "", prefix: str = "test", patience: float = 20
) -> AsyncIterator[OpenFga]:
    """A store of the server; one that nobody else uses where no `name` is given. `patience` is in seconds."""
    key = CredentialConfiguration(api_token=server.api_key)
    address = StoreAddress(
        url=url or server.url,
        store=name or f"t{secrets.token_hex(6)}",
        prefix=prefix,
        credentials=Credentials(method="api_token", configuration=key),
        patience=timedelta(seconds=patience),
    )
    async with connected(address) as openfga:
        yield openfga
