# made by tools/generate_client.py from what stands in _async; do not edit
"""A warehouse's namespaces, tables and views over the Iceberg REST API: what listing and housekeeping need of it.

Reading and writing data is an engine's; `pyiceberg` and `endpoint` say how each is connected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lakeward._calls import Answer, Call, document, key_of
from lakeward._sync.access import Access
from lakeward._sync.connection import Connection
from lakeward._sync.events import Events
from lakeward._sync.generic import GenericTables
from lakeward._sync.management import Warehouses
from lakeward.credentials import Credentials
from lakeward.errors import NoCredentialsError
from lakeward.events.streams import of_warehouse
from lakeward.generic import config_of
from lakeward.iceberg import Endpoint
from lakeward.names import SEPARATOR, levels

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

_ROOT = "/catalog/v1/{prefix}"
_NAMESPACE = _ROOT + "/namespaces/{namespace}"
_PAGE = 1000
_VENDED = {"x-iceberg-access-delegation": "vended-credentials"}


class Iceberg:
    """One warehouse.

    Args:
        connection: what sends.
        warehouses: who knows its id.
        warehouse: its name or id.
    """

    def __init__(self, connection: Connection, warehouses: Warehouses, warehouse: str | UUID) -> None:
        self._connection = connection
        self._warehouses = warehouses
        self._warehouse = warehouse

    @property
    def generic(self) -> GenericTables:
        """The warehouse's tables of other formats."""
        return GenericTables(self._connection, self._warehouses, self._warehouse)

    @property
    def events(self) -> Events:
        """What is in the warehouse, and what changes in it."""
        return Events(self._connection, self._warehouses, of_warehouse(self._warehouse))

    def namespaces(self, parent: str | Sequence[str] | None = None) -> Iterator[Sequence[str]]:
        """Namespaces that the caller may see.

        Args:
            parent: those right below it; None: the first level.
        """
        joined = None if parent is None else SEPARATOR.join(levels(parent))
        for found in self._listed(_ROOT + "/namespaces", {}, {"parent": joined}, "namespaces"):
            yield found

    def create_namespace(self, namespace: str | Sequence[str], properties: Mapping[str, str] | None = None) -> None:
        """Make a namespace.

        Raises:
            ConflictError: there is one.
            NotFoundError: the one that it would be in is not there.
        """
        body = {"namespace": list(levels(namespace)), "properties": dict(properties or {})}
        self._call("POST", _ROOT + "/namespaces", body=body)

    def drop_namespace(self, namespace: str | Sequence[str], *, recursive: bool = False, force: bool = False) -> None:
        """Drop a namespace.

        Args:
            namespace: which.
            recursive: with all that is in it.
            force: even what is protected, and at once what could be restored.

        Raises:
            ConflictError: something is in it, or it is protected.
        """
        query = {"recursive": recursive or None, "force": force or None}
        self._call("DELETE", _NAMESPACE, namespace, query=query)

    def tables(self, namespace: str | Sequence[str]) -> Iterator[str]:
        """Names of a namespace's tables that the caller may see."""
        for found in self._listed(_NAMESPACE + "/tables", _in(namespace), {}, "identifiers"):
            yield str(found["name"])

    def views(self, namespace: str | Sequence[str]) -> Iterator[str]:
        """Names of a namespace's views that the caller may see."""
        for found in self._listed(_NAMESPACE + "/views", _in(namespace), {}, "identifiers"):
            yield str(found["name"])

    def load(self, namespace: str | Sequence[str], table: str) -> Mapping[str, Any]:
        """A table as the API answers it: `metadata`, `metadata-location`, `config`."""
        return self._load(namespace, table, {})

    def access(self, namespace: str | Sequence[str], table: str) -> Access:
        """Credentials for an Iceberg table's files that stay fresh, for what reads files beside an engine.

        Raises:
            NotFoundError: there is no such table, or none that the caller may see.
        """
        loaded = self._load(namespace, table, _VENDED)
        location = str(loaded["metadata"]["location"])
        try:
            known = Credentials.of(location, config_of(loaded))
        except NoCredentialsError:
            known = None

        def fetch() -> Credentials:
            path = _NAMESPACE + "/tables/{table}/credentials"
            answer = self._call("GET", path, namespace, headers=_VENDED, table=table)
            return Credentials.of(location, config_of(document(answer)))

        return Access(fetch, known=known)

    def drop(self, namespace: str | Sequence[str], table: str, *, purge: bool = False) -> None:
        """Drop a table.

        Args:
            namespace: where it is.
            table: its name.
            purge: delete its files, too, once it can't be restored any more.
        """
        query = {"purgeRequested": purge}
        self._call("DELETE", _NAMESPACE + "/tables/{table}", namespace, query=query, table=table)

    def rename(
        self, namespace: str | Sequence[str], table: str, to: str, *, into: str | Sequence[str] | None = None
    ) -> None:
        """Call a table otherwise, or move it to another namespace of the warehouse."""
        body = {
            "source": {"namespace": list(levels(namespace)), "name": table},
            "destination": {"namespace": list(levels(into or namespace)), "name": to},
        }
        self._call("POST", _ROOT + "/tables/rename", body=body)

    def pyiceberg(self, name: str = "lakeward", **properties: object) -> Catalog:
        """The warehouse as a catalog of PyIceberg, which has to be installed.

        Args:
            name: of the catalog, in PyIceberg's words.
            properties: of PyIceberg, over those that are made here.
        """
        from pyiceberg.catalog import load_catalog  # noqa: PLC0415 - an engine that not everybody has

        return load_catalog(name, **{**self.settings(), **properties})

    def endpoint(self) -> Endpoint:
        """How Spark, Trino, DuckDB and PyIceberg reach the warehouse."""
        found = self._warehouses.get(self._warehouse)
        return Endpoint(
            f"{self._connection.url}/catalog",
            f"{found.project_id}/{found.name}",
            self._connection.auth,
            self._connection.token(),
        )

    def settings(self) -> dict[str, Any]:
        """What PyIceberg's `load_catalog` takes beside a name."""
        return (self.endpoint()).pyiceberg()

    def _load(self, namespace: str | Sequence[str], table: str, headers: Mapping[str, str]) -> Mapping[str, Any]:
        answer = self._call("GET", _NAMESPACE + "/tables/{table}", namespace, headers=headers, table=table)
        found: Mapping[str, Any] = document(answer)
        return found

    def _listed(
        self, path: str, places: Mapping[str, object], query: Mapping[str, object], entries: str
    ) -> Iterator[Any]:
        token: str | None = ""
        while token is not None:
            asked = {**query, "pageToken": token, "pageSize": _PAGE}
            prefix = self._warehouses.id_of(self._warehouse)
            page = document(self._connection.call(Call("GET", path, places={"prefix": prefix, **places}, query=asked)))
            for each in page[entries]:
                yield each
            token = page.get("next-page-token") or None

    def _call(
        self,
        method: str,
        path: str,
        namespace: str | Sequence[str] | None = None,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        **places: str,
    ) -> Answer:
        prefix = self._warehouses.id_of(self._warehouse)
        return self._connection.call(
            Call(
                method,
                path,
                places={"prefix": prefix, **({} if namespace is None else _in(namespace)), **places},
                query=query or {},
                body=body,
                headers=headers or {},
                key=None if method == "GET" else key_of(None),
            )
        )


def _in(namespace: str | Sequence[str]) -> Mapping[str, str]:
    return {"namespace": SEPARATOR.join(levels(namespace))}
