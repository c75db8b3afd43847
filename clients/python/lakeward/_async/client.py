"""The client."""

from __future__ import annotations

from types import TracebackType
from uuid import UUID

import httpx
from typing_extensions import Self

from lakeward._async.connection import AsyncConnection
from lakeward._async.events import AsyncEvents
from lakeward._async.iceberg import AsyncIceberg
from lakeward._async.management import AsyncManagement
from lakeward.auth import Auth, StaticToken
from lakeward.events.streams import Service, of_project, of_server
from lakeward.profiles import Profile
from lakeward.retrying import Retries


class AsyncClient:
    """A Lakeward server, to whom it lets in.

    A client keeps its connections to the server until it is closed, so it is best used as a context manager and for long.

    Args:
        url: of the server, as "https://lake.example.com".
        auth: where tokens come from, or a token; None: the server does not ask who calls.
        project: id of the project that is meant; None for the server's default.
        timeout: seconds that each step of an attempt may take.
        retries: when calls are repeated; None for the usual.
        transport: of httpx, for tests and for special networks; None for an ordinary one.

    Attributes:
        management: what operators do.
        connection: what sends.
    """

    def __init__(
        self,
        url: str,
        *,
        auth: Auth | str | None = None,
        project: str | None = None,
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.connection = AsyncConnection(
            url,
            auth=StaticToken(auth) if isinstance(auth, str) else auth,
            project=project,
            timeout=timeout,
            retries=retries or Retries(),
            transport=transport,
        )
        self.management = AsyncManagement(self.connection)

    @classmethod
    def of(cls, profile: Profile) -> AsyncClient:
        """A client for the server of a profile."""
        return cls(profile.url, auth=profile.auth, project=profile.project)

    def warehouse(self, warehouse: str | UUID) -> AsyncIceberg:
        """What is in a warehouse, that is given by name or id."""
        return AsyncIceberg(self.connection, self.management.warehouses, warehouse)

    def project_events(self, project: str | None = None, *, service: Service = "catalog") -> AsyncEvents:
        """What changes of a project, beside what changes in its warehouses.

        Args:
            project: its id; None for the client's project.
            service: whose events: each service has those of its own changes.
        """
        return AsyncEvents(self.connection, self.management.warehouses, of_project(service, project))

    def server_events(self, *, service: Service = "catalog") -> AsyncEvents:
        """What changes of the server, beside what changes in its projects; `service` as for a project."""
        return AsyncEvents(self.connection, self.management.warehouses, of_server(service))

    async def aclose(self) -> None:
        """Close what is open to the server."""
        await self.connection.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
