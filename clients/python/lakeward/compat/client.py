"""The client under its old name."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

from lakeward._sync.client import Client as Lake
from lakeward.auth import TokenCallback
from lakeward.compat.auth import Auth
from lakeward.compat.errors import ConfigError, translated
from lakeward.compat.generic_tables import GenericTables
from lakeward.compat.iceberg import iceberg_catalog

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog


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
        return iceberg_catalog(self, name=name, warehouse=warehouse, **properties)

    def close(self) -> None:
        """Close what is open to the server."""
        self.lake.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
