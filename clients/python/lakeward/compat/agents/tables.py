"""A table that is used again and again: its credentials are asked for anew before they end."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from threading import Lock

from lakeward.compat.client import Client
from lakeward.compat.errors import ConflictError, NotFoundError
from lakeward.compat.formats import GenericTableFormat
from lakeward.compat.models import LoadGenericTableResponse
from lakeward.compat.objects import ObjectStore, is_missing
from lakeward.compat.url import NamespaceLike, parse_namespace

_MARGIN = 120.0  # seconds: a write that begins just before is finished with what it began with


class VendedTable:
    """A table and its files; several threads may share it.

    Attributes:
        name: of the table.
    """

    def __init__(self, client: Client, namespace: NamespaceLike, name: str) -> None:
        self.name = name
        self._client = client
        self._namespace = namespace
        self._lock = Lock()
        self._kept: LoadGenericTableResponse | None = None
        self._objects: ObjectStore | None = None

    def __str__(self) -> str:
        return ".".join((*parse_namespace(self._namespace), self.name))

    def loaded(self) -> LoadGenericTableResponse:
        """The table, with credentials that last.

        Raises:
            NotFoundError: there is none, or none that the caller may see.
        """
        with self._lock:
            return self._loaded()

    def objects(self) -> ObjectStore:
        """Its files.

        Raises:
            NotFoundError: see `loaded`.
            ConfigError: the caller may see the table and not read it.
        """
        with self._lock:
            known = self._loaded()
            if self._objects is None:
                self._objects = known.objects()
            return self._objects

    def read(self, path: str) -> str:
        """A file, as text.

        Raises:
            NotFoundError: there is no such file, or no such table that the caller may see.
        """
        files = self.objects()
        try:
            return files.get(path).decode()
        except Exception as error:
            if is_missing(error):
                raise NotFoundError(404, f"there is no {path} in {self}") from error
            raise

    def ensure(self, *, format: GenericTableFormat, doc: str, properties: Mapping[str, str] | None = None) -> None:  # noqa: A002 - as it was there
        """Make the table where there is none."""
        tables = self._client.generic_tables
        with suppress(ConflictError):
            tables.create(self._namespace, self.name, format=format, doc=doc, properties=properties)
        with self._lock:
            self._kept = None

    def _loaded(self) -> LoadGenericTableResponse:
        if self._kept is None or self._kept.expires_within(_MARGIN):
            self._kept = self._client.generic_tables.load(self._namespace, self.name, vended=True)
            self._objects = None
        return self._kept
