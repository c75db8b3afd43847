"""The generic tables of a warehouse, as they were called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID, uuid4

from lakeward._calls import Call, document
from lakeward._sync.client import Client as Lake
from lakeward._sync.connection import Connection
from lakeward.compat.errors import translated
from lakeward.compat.formats import GenericTableFormat, normalize_format
from lakeward.compat.models import GenericTableIdentifier, ListGenericTablesResponse, LoadGenericTableResponse
from lakeward.compat.url import NamespaceLike, join_namespace

_TABLES = "/lakekeeper/v1/{prefix}/namespaces/{namespace}/generic-tables"
_TABLE = _TABLES + "/{table}"


class GenericTables:
    """Those of one warehouse."""

    def __init__(self, lake: Lake, warehouse: str, overrides: Mapping[str, str] | None) -> None:
        self._connection: Connection = lake.connection
        self._warehouses = lake.management.warehouses
        self._warehouse = warehouse
        self._overrides = dict(overrides or {})

    def create(
        self,
        namespace: NamespaceLike,
        name: str,
        *,
        format: str | GenericTableFormat,  # noqa: A002 - as it was there
        base_location: str | None = None,
        doc: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> LoadGenericTableResponse:
        """Make a table.

        Raises:
            ConflictError: the name or the place is taken.
        """
        told = {"name": name, "format": normalize_format(format), "base-location": base_location, "doc": doc}
        body = {key: value for key, value in told.items() if value is not None}
        if properties:
            body["properties"] = dict(properties)  # type: ignore[assignment] # the one member that is no text
        return self._loaded("POST", _TABLES, namespace, body=body, key=uuid4())

    def load(self, namespace: NamespaceLike, name: str, *, vended: bool = False) -> LoadGenericTableResponse:
        """A table.

        Args:
            namespace: where.
            name: in it.
            vended: ask for credentials; without it the server chooses.

        Raises:
            NotFoundError: there is none, or none that the caller may see.
        """
        headers = {"x-iceberg-access-delegation": "vended-credentials"} if vended else {}
        return self._loaded("GET", _TABLE, namespace, headers=headers, table=name)

    def list(self, namespace: NamespaceLike, *, page_size: int = 100) -> Iterator[GenericTableIdentifier]:
        """Those of a namespace, page by page as they are read."""
        token: str | None = None
        while True:
            query = {"pageSize": page_size, "pageToken": token}
            page = ListGenericTablesResponse.model_validate(self._call("GET", _TABLES, namespace, query=query))
            yield from page.identifiers
            token = page.next_page_token
            if not token:
                return

    def drop(self, namespace: NamespaceLike, name: str) -> None:
        """Drop a table, and delete its files later."""
        self._call("DELETE", _TABLE, namespace, key=uuid4(), table=name)

    def _loaded(
        self,
        method: str,
        path: str,
        namespace: NamespaceLike,
        **told: Any,  # noqa: ANN401 - parts of one call, by name
    ) -> LoadGenericTableResponse:
        found = LoadGenericTableResponse.model_validate(self._call(method, path, namespace, **told))
        if self._overrides:
            found.config = {**(found.config or {}), **self._overrides}
        return found

    def _call(
        self,
        method: str,
        path: str,
        namespace: NamespaceLike,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        key: UUID | None = None,
        **places: str,
    ) -> Any:  # noqa: ANN401 - whatever a JSON document may be
        with translated():
            prefix = self._warehouses.id_of(self._warehouse)
            within = {"prefix": prefix, "namespace": join_namespace(namespace)}
            call = Call(
                method,
                path,
                places={**within, **places},
                query=query or {},
                body=body,
                headers=headers or {},
                key=key,
            )
            answer = self._connection.call(call)
            return document(answer) if answer.content else None
