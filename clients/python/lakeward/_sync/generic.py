# made by tools/generate_client.py from what stands in _async; do not edit
"""A warehouse's generic tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from lakeward._calls import Answer, Call, document, key_of
from lakeward._sync.access import Access
from lakeward._sync.connection import Connection
from lakeward._sync.management import Warehouses
from lakeward.credentials import Credentials
from lakeward.errors import ConflictError, NoCredentialsError, NotFoundError
from lakeward.generic import (
    KEPT,
    Described,
    Kept,
    Listed,
    TableVersion,
    config_of,
    described,
    if_match,
    version_of,
)
from lakeward.names import SEPARATOR, levels

_ROOT = "/lakekeeper/v1/{prefix}"
_NAMESPACE = _ROOT + "/namespaces/{namespace}"
_TABLES = _NAMESPACE + "/generic-tables"
_TABLE = _TABLES + "/{table}"
_VENDED = {"x-iceberg-access-delegation": "vended-credentials"}
_BARE = {"x-iceberg-access-delegation": "client-managed"}
_PAGE = 1000


class GenericTables:
    """The generic tables of one warehouse.

    A namespace is "ai.images", or its levels; a table is a name in it. Each change has an idempotency key of its own, so it is
    made once, however often it was sent.

    Args:
        connection: what sends.
        warehouses: who knows the warehouse's id.
        warehouse: its name or id.
    """

    def __init__(self, connection: Connection, warehouses: Warehouses, warehouse: str | UUID) -> None:
        self._connection = connection
        self._warehouses = warehouses
        self._warehouse = warehouse

    def create(  # noqa: PLR0913 - what the catalog keeps of a table, by name
        self,
        namespace: str | Sequence[str],
        name: str,
        *,
        format: str,  # noqa: A002 - the API's word
        location: str | None = None,
        doc: str | None = None,
        properties: Mapping[str, str] | None = None,
        schema: object = None,
        statistics: object = None,
        exist_ok: bool = False,
    ) -> GenericTable:
        """Make a table.

        Args:
            namespace: where.
            name: in it.
            format: as "lance"; opaque to the catalog.
            location: below the warehouse's; None: where the warehouse lays tables out. Files may lie there already.
            doc: for people.
            properties: the writer's own.
            schema: any JSON.
            statistics: any JSON.
            exist_ok: answer the table that has the name by now, if it is a generic one, whatever it is like.

        Raises:
            ConflictError: the name or the place is taken.
            NotFoundError: there is no such namespace.
            BadRequestError: the location is outside of the warehouse, or the format is none.
        """
        body = _body(
            name,
            table_format=format,
            location=location,
            doc=doc,
            properties=properties,
            schema=schema,
            statistics=statistics,
        )
        try:
            answer = self._call("POST", _TABLES, namespace, body=body, headers=_VENDED)
        except ConflictError as error:
            if not exist_ok or error.type != "GenericTableAlreadyExists":
                raise
            try:
                return self.load(namespace, name)
            except NotFoundError:  # it is no generic table, or none that the caller may see
                raise error from None
        return self._table(namespace, answer)

    def register(  # noqa: PLR0913 - as above
        self,
        namespace: str | Sequence[str],
        name: str,
        *,
        format: str,  # noqa: A002 - the API's word
        location: str,
        doc: str | None = None,
        properties: Mapping[str, str] | None = None,
        schema: object = None,
        statistics: object = None,
    ) -> GenericTable:
        """Take files that are there as a table. No drop removes them unless that is asked for.

        Args:
            namespace: where.
            name: in it.
            format: of the files.
            location: of the files.
            doc: for people.
            properties: the writer's own.
            schema: any JSON.
            statistics: any JSON.

        Raises:
            BadRequestError: there are no files, or they are outside of the warehouse.
            ConflictError: the name or the place is taken.
        """
        body = _body(
            name,
            table_format=format,
            location=location,
            doc=doc,
            properties=properties,
            schema=schema,
            statistics=statistics,
        )
        path = _NAMESPACE + "/register-generic-table"
        return self._table(namespace, self._call("POST", path, namespace, body=body, headers=_VENDED))

    def list(self, namespace: str | Sequence[str], *, page_size: int = _PAGE) -> Iterator[Listed]:
        """Those of a namespace that the caller may see, page by page as they are read.

        Args:
            namespace: where.
            page_size: how many are asked for at once; at most 1000.
        """
        token: str | None = ""
        while token is not None:
            answer = self._call("GET", _TABLES, namespace, query={"pageToken": token, "pageSize": page_size})
            page = document(answer)
            for each in page["identifiers"]:
                yield Listed(UUID(each["id"]), tuple(each["namespace"]), each["name"], each["format"])
            token = page.get("next-page-token") or None

    def load(self, namespace: str | Sequence[str], name: str, *, credentials: bool = True) -> GenericTable:
        """A table, with credentials as far as the caller's rights go.

        Args:
            namespace: where.
            name: in it; case makes no difference.
            credentials: bring the first ones along.

        Raises:
            NotFoundError: there is none, or none that the caller may see.
        """
        headers = _VENDED if credentials else _BARE
        return self._table(namespace, self._call("GET", _TABLE, namespace, headers=headers, table=name))

    def exists(self, namespace: str | Sequence[str], name: str) -> bool:
        """Whether there is such a table that the caller may see."""
        try:
            self._call("HEAD", _TABLE, namespace, table=name)
        except NotFoundError:
            return False
        return True

    def credentials(
        self, namespace: str | Sequence[str], name: str, location: str, *, min_validity: float | None = None
    ) -> Credentials:
        """Credentials of a table whose location is known. A table's `access` keeps them fresh.

        Args:
            namespace: where.
            name: in it.
            location: of the table.
            min_validity: seconds that they should last at least; the server gives fresh ones where those it has would not, and
                none last longer than fresh ones do.

        Raises:
            NoCredentialsError: the warehouse hands none out.
            NotFoundError: there is no such table, or the caller may neither read nor write it.
        """
        query = {"min-validity-ms": None if min_validity is None else int(min_validity * 1000)}
        answer = self._call("GET", _TABLE + "/credentials", namespace, query=query, headers=_VENDED, table=name)
        return Credentials.of(location, config_of(document(answer)))

    def update(  # noqa: PLR0913 - what may be changed, by name
        self,
        namespace: str | Sequence[str],
        name: str,
        *,
        set_properties: Mapping[str, str] | None = None,
        remove_properties: Sequence[str] = (),
        doc: str | Kept | None = KEPT,
        schema: object = KEPT,
        statistics: object = KEPT,
        etag: str | None = None,
    ) -> GenericTable:
        """Change what the catalog keeps of a table; what is not named stays.

        Args:
            namespace: where.
            name: in it.
            set_properties: with their new values.
            remove_properties: by name.
            doc: None takes it away.
            schema: None takes it away.
            statistics: None takes it away.
            etag: of the state that is meant; None: whichever it is in.

        Raises:
            ConflictError: it is in another state than `etag` says; its status is 412, and nothing was changed.
        """
        body: dict[str, object] = {
            key: value
            for key, value in (("doc", doc), ("schema", schema), ("statistics", statistics))
            if value is not KEPT
        }
        if set_properties:
            body["set-properties"] = dict(set_properties)
        if remove_properties:
            body["remove-properties"] = list(remove_properties)
        answer = self._call("POST", _TABLE, namespace, body=body, headers=if_match(etag), table=name)
        return self._table(namespace, answer)

    def rename(
        self, namespace: str | Sequence[str], name: str, to: str, *, into: str | Sequence[str] | None = None
    ) -> None:
        """Call a table otherwise, or move it to another namespace of the warehouse. Its files stay where they are."""
        body = {
            "source": {"namespace": list(levels(namespace)), "name": name},
            "destination": {"namespace": list(levels(namespace if into is None else into)), "name": to},
        }
        self._call("POST", _ROOT + "/generic-tables/rename", body=body)

    def drop(self, namespace: str | Sequence[str], name: str, *, purge: bool = False, force: bool = False) -> None:
        """Drop a table.

        Args:
            namespace: where.
            name: in it.
            purge: delete its files, too, once it can't be restored any more.
            force: even if it is protected, and at once what could be restored.

        Raises:
            ConflictError: it is protected.
        """
        query = {"purgeRequested": purge, "force": force or None}
        self._call("DELETE", _TABLE, namespace, query=query, table=name)

    def access(
        self,
        namespace: str | Sequence[str],
        name: str,
        location: str,
        *,
        known: Credentials | None = None,
    ) -> Access:
        """Credentials of a table that stay fresh.

        Args:
            namespace: where.
            name: in it.
            location: of the table.
            known: credentials that are there already.
        """
        return Access(partial(self.credentials, namespace, name, location), known=known)

    def versions(self, namespace: str | Sequence[str], name: str) -> Versions:
        """The versions of a table, for writers on stores that can't say who came first."""
        return Versions(self, namespace, name)

    def _table(self, namespace: str | Sequence[str], answer: Answer) -> GenericTable:
        told = document(answer)
        info = described(levels(namespace), told, answer.headers.get("etag"))
        try:
            known = Credentials.of(info.location, config_of(told))
        except NoCredentialsError:
            known = None
        return GenericTable(self, info, known)

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
        within = {} if namespace is None else {"namespace": SEPARATOR.join(levels(namespace))}
        return self._connection.call(
            Call(
                method,
                path,
                places={"prefix": prefix, **within, **places},
                query=query or {},
                body=body,
                headers=headers or {},
                key=key_of(None) if method in {"POST", "DELETE"} else None,
            )
        )


class GenericTable:
    """A generic table as it was when it was loaded, and what can be done with it.

    Attributes:
        info: what the catalog keeps of it.
    """

    def __init__(self, tables: GenericTables, info: Described, known: Credentials | None) -> None:
        self._tables = tables
        self._known = known
        self.info = info

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.info!r})"

    @property
    def name(self) -> str:
        """As it is stored."""
        return self.info.name

    @property
    def format(self) -> str:
        """As "lance"."""
        return self.info.format

    @property
    def location(self) -> str:
        """Where its files are."""
        return self.info.location

    def access(self) -> Access:
        """Credentials for its files that stay fresh, for every library (`lakeward.credentials.shapes`)."""
        return self._tables.access(self.info.namespace, self.info.name, self.info.location, known=self._known)

    def versions(self) -> Versions:
        """Its versions, for writers on stores that can't say who came first."""
        return self._tables.versions(self.info.namespace, self.info.name)

    def reload(self) -> GenericTable:
        """It as it is now."""
        return self._tables.load(self.info.namespace, self.info.name)

    def update(
        self,
        *,
        set_properties: Mapping[str, str] | None = None,
        remove_properties: Sequence[str] = (),
        doc: str | Kept | None = KEPT,
        schema: object = KEPT,
        statistics: object = KEPT,
    ) -> GenericTable:
        """Change what the catalog keeps of it, if nobody did since it was loaded. It as it is then.

        Args:
            set_properties: with their new values.
            remove_properties: by name.
            doc: None takes it away, as for the next two.
            schema: any JSON.
            statistics: any JSON.

        Raises:
            ConflictError: somebody did; its status is 412.
        """
        return self._tables.update(
            self.info.namespace,
            self.info.name,
            set_properties=set_properties,
            remove_properties=remove_properties,
            doc=doc,
            schema=schema,
            statistics=statistics,
            etag=self.info.etag,
        )

    def drop(self, *, purge: bool = False, force: bool = False) -> None:
        """Drop it; see `AsyncGenericTables.drop`."""
        self._tables.drop(self.info.namespace, self.info.name, purge=purge, force=force)


class Versions:
    """The versions of one table: each is claimed by one writer, who puts its file under a name of its own first.

    Args:
        tables: of the warehouse.
        namespace: where the table is.
        name: in it.
    """

    def __init__(self, tables: GenericTables, namespace: str | Sequence[str], name: str) -> None:
        self._tables = tables
        self._namespace = namespace
        self._name = name

    def claim(
        self, version: int, path: str, *, size: int | None = None, properties: Mapping[str, str] | None = None
    ) -> TableVersion:
        """Claim the next version. The same claim again is answered as before.

        Args:
            version: the one behind the latest; any for a table's first.
            path: of the file, below the table's location.
            size: of the file, in bytes.
            properties: the writer's own.

        Raises:
            ConflictError: another writer has it, or it is not the next one; the message says which.
        """
        body = {"path": path, "size": size, "properties": dict(properties or {})}
        answer = self._tables._call(  # noqa: SLF001 - one noun of the same API
            "PUT", _TABLE + "/versions/{version}", self._namespace, body=body, table=self._name, version=str(version)
        )
        return version_of(document(answer))

    def get(self, version: int | None = None) -> TableVersion:
        """One version.

        Args:
            version: None for the latest.

        Raises:
            NotFoundError: it was not claimed, or is forgotten.
        """
        which = "latest" if version is None else str(version)
        answer = self._tables._call(  # noqa: SLF001 - as above
            "GET", _TABLE + "/versions/{version}", self._namespace, table=self._name, version=which
        )
        return version_of(document(answer))

    def list(self, *, before: int | None = None, page_size: int = _PAGE) -> Iterator[TableVersion]:
        """Versions, the latest first, page by page as they are read.

        Args:
            before: only those before this one.
            page_size: how many are asked for at once; at most 1000.
        """
        while True:
            query = {"before": before, "pageSize": page_size}
            answer = self._tables._call(  # noqa: SLF001 - as above
                "GET", _TABLE + "/versions", self._namespace, query=query, table=self._name
            )
            page = [version_of(each) for each in document(answer)["versions"]]
            for each in page:
                yield each
            if len(page) < page_size:
                return
            before = page[-1].version

    def forget(self, *, before: int) -> None:
        """Forget versions that the format itself records by now; the latest stays.

        Args:
            before: those before this one.
        """
        self._tables._call(  # noqa: SLF001 - as above
            "DELETE", _TABLE + "/versions", self._namespace, query={"before": before}, table=self._name
        )


def _body(
    name: str,
    *,
    table_format: str,
    location: str | None,
    doc: str | None,
    properties: Mapping[str, str] | None,
    schema: object,
    statistics: object,
) -> Mapping[str, Any]:
    told: dict[str, Any] = {
        "name": name,
        "format": table_format,
        "base-location": location,
        "doc": doc,
        "properties": dict(properties) if properties else None,
        "schema": schema,
        "statistics": statistics,
    }
    return {key: value for key, value in told.items() if value is not None}
