"""SQL over a namespace with DuckDB: its Iceberg tables as they are, its other tables as views.

    with Client("https://lake.example.com", auth="...") as lake, Duck(lake.warehouse("sales"), "eu") as duck:
        print(duck.run("select count(*) from orders join scores using (id)"))

Needs `lakeward[duckdb]`, and for tables of Delta and Lance their libraries.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from typing_extensions import Self

from lakeward._sync.access import Access
from lakeward._sync.iceberg import Iceberg
from lakeward.errors import ConfigurationError, LakewardError
from lakeward.iceberg import Endpoint
from lakeward.names import levels

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

LAKE: Final = "lake"
"""The warehouse's name in statements, for tables of other namespaces: lake."other"."table"."""

_EXTENSIONS: Final = ("httpfs", "avro", "aws", "iceberg")
_READERS: Final[Mapping[str, str]] = {
    "parquet": "read_parquet('{place}/**/*.parquet', hive_partitioning = true, union_by_name = true)",
    "csv": "read_csv('{place}/**/*.csv*', hive_partitioning = true, union_by_name = true)",
    "json": "read_json('{place}/**/*.json*', hive_partitioning = true, union_by_name = true)",
}


class Duck:
    """A DuckDB in memory on one namespace.

    A statement finds tables of any kind by their names alone: names are unique over kinds. A table that is no Iceberg table is
    opened when a statement first names it, with credentials that are fresh at each statement.

    Args:
        warehouse: where the namespace is.
        namespace: "sales.eu", or its levels.

    Raises:
        NotFoundError: there is no such namespace, or none that the caller may see.
    """

    def __init__(self, warehouse: Iceberg, namespace: str | Sequence[str]) -> None:
        self._warehouse = warehouse
        self._namespace = levels(namespace)
        self._formats = {each.name: each.format.lower() for each in warehouse.generic.list(namespace)}
        self._opened: dict[str, Access] = {}
        self._attached: Endpoint | None = None
        self._connection = _connection()
        try:
            self._attach()
        except BaseException:
            self._connection.close()
            raise

    def run(self, statements: str) -> DuckDBPyRelation | None:
        """Run statements, one after the other.

        Args:
            statements: parted by semicolons.

        Returns:
            What the last one answers; None where that is nothing.

        Raises:
            duckdb.Error: one of them can't be, or failed.
            LakewardError: a table that it names can't be opened.
        """
        answer = None
        for statement in self._connection.extract_statements(statements):
            answer = self._run(statement.query)
        return answer

    def formats(self) -> Mapping[str, str]:
        """The namespace's tables that are no Iceberg tables, and what they are."""
        return self._formats

    def close(self) -> None:
        """Forget everything."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, statement: str) -> DuckDBPyRelation | None:
        import duckdb  # noqa: PLC0415 - an engine that not everybody has

        self._attach()
        failures = list(self._open(statement))
        try:
            return self._connection.sql(statement)
        except duckdb.CatalogException as error:
            if not failures:
                raise
            # A word of the statement is a table that can't be opened, and it was meant after all.
            raise failures[0] from error

    def _open(self, statement: str) -> Iterator[LakewardError]:
        """Make views of the tables that the statement may mean; answers why one can't be."""
        # DuckDB tells which tables a statement names only where it knows them. A column of the same name opens one for nothing.
        for name, kind in self._formats.items():
            if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", statement, re.IGNORECASE):
                continue
            try:
                self._fresh(name, kind)
            except LakewardError as error:
                yield error

    def _fresh(self, name: str, kind: str) -> None:
        """A view of a table as it is now, with credentials of now."""
        if kind not in {*_READERS, *_DATASETS}:
            readable = ", ".join(sorted({*_READERS, *_DATASETS}))
            raise ConfigurationError(f"{name} is {kind}, which DuckDB does not read; it reads {readable} and Iceberg")
        access = self._opened.get(name)
        if access is None:
            access = self._opened[name] = self._warehouse.generic.load(self._namespace, name).access()
        if kind in _DATASETS:
            # What its log says now; DuckDB hands projections and filters on to Arrow.
            self._connection.register(name, _DATASETS[kind](access))
            return
        access.duckdb(self._connection)
        # Each statement looks again for files, and at what columns they have.
        place = access.get().uri.rstrip("/").replace("'", "''")
        self._connection.execute(f"create or replace view {quoted(name)} as from {_READERS[kind].format(place=place)}")

    def _attach(self) -> None:
        """The warehouse, with a token of now."""
        endpoint = self._warehouse.endpoint()
        if endpoint == self._attached:
            return
        if self._attached is not None:
            self._connection.execute(f"use memory; detach {LAKE}")
        self._connection.execute(endpoint.duckdb(LAKE))
        # Views before tables: no name is both.
        path = f"memory.main,{LAKE}.{quoted('.'.join(self._namespace))}"
        self._connection.execute(f"set search_path = {_text(path)}")
        self._attached = endpoint


def quoted(name: str) -> str:
    """A name as it stands in a statement."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _delta(access: Access) -> object:
    from deltalake import DeltaTable  # noqa: PLC0415 - an engine that not everybody has

    return DeltaTable(**access.deltalake()).to_pyarrow_dataset(filesystem=access.pyarrow())


def _lance(access: Access) -> object:
    import lance  # noqa: PLC0415 - an engine that not everybody has

    return lance.dataset(**access.lance())


_DATASETS: Final[Mapping[str, Callable[[Access], object]]] = {"delta": _delta, "lance": _lance}


def _connection() -> DuckDBPyConnection:
    import duckdb  # noqa: PLC0415 - an engine that not everybody has

    connection = duckdb.connect()
    for name in _EXTENSIONS:
        shipped = importlib.util.find_spec(f"duckdb_extension_{name}")
        file = None
        if shipped is not None and shipped.submodule_search_locations:
            folder = Path(shipped.submodule_search_locations[0], "extensions", f"v{duckdb.__version__}")
            file = folder / f"{name}.duckdb_extension"
        if file is not None and file.is_file():
            connection.load_extension(str(file))
        else:
            connection.install_extension(name)  # once a machine: it is kept
            connection.load_extension(name)
    return connection
