"""A generic table as a driver and its executors reach it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from lakeward import Client
from lakeward.auth import Auth
from lakeward_pipelines.generic import store

if TYPE_CHECKING:
    from pyarrow import fs


@dataclass(frozen=True)
class Lake:
    """A warehouse, and who asks for it. It is sent to executors, so what it needs there has to be there, as a token's file.

    Attributes:
        url: of the server, as executors reach it.
        warehouse: its name or id.
        auth: where tokens come from; an application's credentials and files last for jobs of any length, a token as it is
            lasts as long as the token. None: the server does not ask who calls.
        project: id of the project; None for the server's default.
    """

    url: str
    warehouse: str
    auth: Auth | None = field(default=None, repr=False)
    project: str | None = None


@dataclass(frozen=True)
class Place:
    """Where one table is. It is sent to executors, without credentials for the store: each asks for its own.

    Attributes:
        lake: the warehouse.
        namespace: its levels.
        name: of the table.
    """

    lake: Lake
    namespace: tuple[str, ...]
    name: str

    def reached(self) -> Reached:
        """The table, loaded once a process."""
        return _reached(self)


class Reached:
    """A table in this process, with access to its files that stays fresh for as long as the process lives."""

    def __init__(self, place: Place) -> None:
        lake = place.lake
        self._client = Client(lake.url, auth=lake.auth, project=lake.project)
        self._table = self._client.warehouse(lake.warehouse).generic.load(place.namespace, place.name)
        self.format = self._table.format.lower()
        self.name = ".".join((*place.namespace, place.name))
        self.access = self._table.access()

    @property
    def uri(self) -> str:
        """The table's place, under the scheme that libraries outside of Hadoop know."""
        return self.access.get().uri

    @cached_property
    def files(self) -> fs.FileSystem:
        """Rooted at the table's place."""
        return store.filesystem(self.access.obstore())

    def options(self) -> dict[str, str]:
        """What Rust's libraries take, with credentials of now."""
        return self.access.storage_options()

    def lance(self) -> dict[str, Any]:
        """What Lance takes, to come back for fresh credentials by itself."""
        return dict(self.access.lance())

    def lance_fragments(self) -> dict[str, Any]:
        """What Lance takes for what is below its datasets, where it asks for nothing before it has to renew."""
        from lance_namespace import DescribeTableRequest  # noqa: PLC0415 - it comes with Lance

        told = self.lance()
        described = told["namespace_client"].describe_table(DescribeTableRequest(id=told["table_id"]))
        return {**told, "storage_options": described.storage_options}


@cache
def _reached(place: Place) -> Reached:
    return Reached(place)
