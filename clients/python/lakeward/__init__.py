"""The client of Lakeward, a lakehouse catalog.

    from lakeward import Client

    with Client("https://lake.example.com", auth="...") as lake:
        for warehouse in lake.management.warehouses.list():
            print(warehouse.name)

`AsyncClient` is the same with `await`. Whatever goes wrong is a `LakewardError`; `lakeward.errors` has the tree.
"""

from __future__ import annotations

from lakeward._async.access import AsyncAccess
from lakeward._async.client import AsyncClient
from lakeward._async.events import AsyncEvents
from lakeward._async.generic import AsyncGenericTable, AsyncGenericTables
from lakeward._async.iceberg import AsyncIceberg
from lakeward._sync.access import Access
from lakeward._sync.client import Client
from lakeward._sync.events import Events
from lakeward._sync.generic import GenericTable, GenericTables
from lakeward._sync.iceberg import Iceberg
from lakeward.auth import ClientCredentials, EnvironmentToken, StaticToken, TokenCallback, TokenFile
from lakeward.credentials import Credentials
from lakeward.errors import LakewardError
from lakeward.profiles import Profile
from lakeward.retrying import Retries

__all__ = [
    "Access",
    "AsyncAccess",
    "AsyncClient",
    "AsyncEvents",
    "AsyncGenericTable",
    "AsyncGenericTables",
    "AsyncIceberg",
    "Client",
    "ClientCredentials",
    "Credentials",
    "EnvironmentToken",
    "Events",
    "GenericTable",
    "GenericTables",
    "Iceberg",
    "LakewardError",
    "Profile",
    "Retries",
    "StaticToken",
    "TokenCallback",
    "TokenFile",
]
