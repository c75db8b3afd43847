"""The client under its old name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from typing_extensions import Self

from lakeward._calls import Call, document
from lakeward._sync.client import Client as Lake
from lakeward._sync.connection import Connection
from lakeward.auth import TokenCallback
from lakeward.compat.auth import Auth
from lakeward.compat.errors import ConfigError, translated
from lakeward.compat.models import (
    GenericTableFormat,
    GenericTableIdentifier,
    ListGenericTablesResponse,
    LoadGenericTableResponse,
    format_of,
)
from lakeward.compat.namespaces import join_namespace

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog

_TABLES = "/lakekeeper/v1/{prefix}/namespaces/{namespace}/generic-tables"
_TABLE = _TABLES + "/{table}"


class Client:
    """A server, and one of its warehouses.

    Args:
        base_url: of the server.
        warehouse: its id, or its name.
        auth: where tokens come from.
        project_id: whose project is meant; None for the server's default.
        timeout: seconds that each step of an attempt may take.
        storage_overrides: properties that hold over those that a load answers, as an endpoint that is another one from here.

    Attributes:
        generic_tables: those of the warehouse.
        lake: the client beneath.
    """

    def __init__(
        self,
        base_url: str,
        warehouse: str,
        auth: Auth,
        *,
        project_id: str | None = None,
        timeout: float = 30.0,
        storage_overrides: Mapping[str, str] | None = None,
    ) -> None:
        for name, value in (("base_url", base_url), ("warehouse", warehouse)):
            if not value:
                raise ConfigError(f"{name} is required")
        self.base_url = base_url
        self.warehouse = warehouse
        self.auth = auth
        self.project_id = project_id
        tokens = TokenCallback(lambda: auth.auth_header().removeprefix("Bearer "), forget=auth.invalidate)
        with translated():
            self.lake = Lake(base_url, auth=tokens, project=project_id, timeout=timeout)
        self.generic_tables = GenericTables(self.lake, warehouse, storage_overrides)

    def whoami(self) -> dict[str, Any]:
        """Whom the server takes the caller for, as the API answers it."""
        with translated():
            return dict(self.lake.management.whoami().wire())

    def iceberg_catalog(
        self, *, name: str | None = None, warehouse: str | None = None, **properties: object
    ) -> RestCatalog:
        """The warehouse as a catalog of PyIceberg, with this client's tokens.

        Args:
            name: of the catalog; None: the warehouse's.
            warehouse: its name or id; None: the client's.
            properties: of PyIceberg, over those that are made here.
        """
        from pyiceberg.catalog.rest import RestCatalog  # noqa: PLC0415 - an engine that not everybody has

        named = warehouse or self.warehouse
        with translated():
            settings = self.lake.warehouse(named).settings()
        return RestCatalog(name or named, **{**settings, **properties})

    def close(self) -> None:
        """Close what is open to the server."""
        self.lake.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class GenericTables:
    """Those of one warehouse."""

    def __init__(self, lake: Lake, warehouse: str, overrides: Mapping[str, str] | None) -> None:
        self._connection: Connection = lake.connection
        self._warehouses = lake.management.warehouses
        self._warehouse = warehouse
        self._overrides = dict(overrides or {})

    def create(
        self,
        namespace: str | Sequence[str],
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
        told = {"name": name, "format": format_of(format), "base-location": base_location, "doc": doc}
        body = {key: value for key, value in told.items() if value is not None}
        if properties:
            body["properties"] = dict(properties)  # type: ignore[assignment] # the one member that is no text
        return self._loaded("POST", _TABLES, namespace, body=body, key=uuid4())

    def load(self, namespace: str | Sequence[str], name: str, *, vended: bool = False) -> LoadGenericTableResponse:
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

    def list(self, namespace: str | Sequence[str], *, page_size: int = 100) -> Iterator[GenericTableIdentifier]:
        """Those of a namespace, page by page as they are read."""
        token: str | None = None
        while True:
            query = {"pageSize": page_size, "pageToken": token}
            page = ListGenericTablesResponse.model_validate(self._call("GET", _TABLES, namespace, query=query))
            yield from page.identifiers
            token = page.next_page_token
            if not token:
                return

    def drop(self, namespace: str | Sequence[str], name: str) -> None:
        """Drop a table, and delete its files later."""
        self._call("DELETE", _TABLE, namespace, key=uuid4(), table=name)

    def _loaded(
        self,
        method: str,
        path: str,
        namespace: str | Sequence[str],
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
        namespace: str | Sequence[str],
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
