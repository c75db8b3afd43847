"""What an Iceberg client is told first: its prefix, defaults and overrides."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from lakeward_catalog.application.caller import Caller, is_project_id
from lakeward_catalog.application.doors import Doors, warehouse_needs
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.domain.model import ProjectId, Warehouse, WarehouseId
from lakeward_catalog.domain.wording import no_such_warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.registrar import Presented, Registrar
from lakeward_servicekit.errors import MaintenanceMode, Reason, Refusal

PREFIX: Final = "prefix"
PAGE_SIZE: Final = "rest-page-size"
DELETE_ENABLED: Final = "s3.delete-enabled"
URI: Final = "uri"


@dataclasses.dataclass(frozen=True, slots=True)
class ClientConfig:
    """An Iceberg client's configuration; equal for equal keys.

    Attributes:
        base_uri: the outside base of links; "" where it is not known.
    """

    warehouse: Warehouse
    base_uri: str
    rules: Rules

    @property
    def key(self) -> tuple[WarehouseId, int, str]:
        """What it is made from, beside the rules, which stay while a process runs: a warehouse's row has a version."""
        return self.warehouse.warehouse_id, self.warehouse.row_version, self.base_uri

    @property
    def defaults(self) -> Mapping[str, str]:
        """Properties that the client may override."""
        # The prefix is an override, because a stale one in a client's settings would reach another warehouse; it is a default
        # as well for clients that look for it there.
        warehouse = self.warehouse
        defaults = {
            PREFIX: str(warehouse.warehouse_id),
            PAGE_SIZE: str(self.rules.page_size_default),
            **warehouse.storage.client_defaults,
        }
        if warehouse.storage.push_delete_disabled and warehouse.restorable_for is not None:
            defaults[DELETE_ENABLED] = "false"
        return defaults

    @property
    def overrides(self) -> Mapping[str, str]:
        """Properties that it may not."""
        overrides = {PREFIX: str(self.warehouse.warehouse_id)}
        if self.base_uri:
            overrides[URI] = f"{self.base_uri}/catalog"
        return overrides

    @property
    def idempotency_key_lifetime(self) -> timedelta | None:
        """How long a key is remembered; None: keys are ignored."""
        return self.rules.idempotency_lifetime


@dataclasses.dataclass(frozen=True, slots=True)
class ClientConfigs:
    """Tells clients what they need to know of a warehouse. Records the caller as a user first, whatever the answer is."""

    doors: Doors
    registrar: Registrar
    rules: Rules

    async def __call__(self, named: str, *, caller: Caller, presented: Presented) -> ClientConfig:
        """The configuration for one warehouse.

        Args:
            named: "name" or "project/name".
            caller: who asks.
            presented: what the request presents, for the claims of its token.

        Raises:
            Refusal: WAREHOUSE_MISSING, PROJECT_MISSING, NO_SUCH_WAREHOUSE, FORBIDDEN; what `Registrar.provision_user` raises.
        """
        if not named:
            raise Refusal(
                Reason.REASON_WAREHOUSE_MISSING, "no warehouse was named; send warehouse=<name> or <project>/<name>"
            )
        # in maintenance reads go on, and the user is recorded another time
        with contextlib.suppress(MaintenanceMode):
            await self.registrar.provision_user(presented)
        warehouse = await self.doors.warehouses.find_by_name(*self._split(named, caller))
        if warehouse is None or not warehouse.active:
            raise no_such_warehouse(named)
        needs = warehouse_needs(warehouse, Action.WAREHOUSE_GET_CONFIG, absent=lambda: no_such_warehouse(named))
        await self.doors.decide(caller, needs)
        return ClientConfig(warehouse, caller.base_uri, self.rules)

    def _split(self, named: str, caller: Caller) -> tuple[ProjectId, str]:
        project, slash, name = named.partition("/")
        if slash and is_project_id(project):
            return ProjectId(project), name
        return self.doors.chosen_project(caller), named
