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
    """An Iceberg client's configuration.

    Attributes:
        defaults: properties that the client may override.
        overrides: properties that it may not.
        idempotency_key_lifetime: how long a key is remembered; None: keys are ignored.
    """

    warehouse_id: WarehouseId
    defaults: Mapping[str, str]
    overrides: Mapping[str, str]
    idempotency_key_lifetime: timedelta | None


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
        return self._config_of(warehouse, caller)

    def _split(self, named: str, caller: Caller) -> tuple[ProjectId, str]:
        project, slash, name = named.partition("/")
        if slash and is_project_id(project):
            return ProjectId(project), name
        return self.doors.chosen_project(caller), named

    def _config_of(self, warehouse: Warehouse, caller: Caller) -> ClientConfig:
        storage, prefix = warehouse.storage, str(warehouse.warehouse_id)
        # The prefix is an override, because a stale one in a client's settings would reach another warehouse; it is a default
        # as well for clients that look for it there.
        defaults = {PREFIX: prefix, PAGE_SIZE: str(self.rules.page_size_default), **storage.client_defaults}
        if storage.push_delete_disabled and warehouse.restorable_for is not None:
            defaults[DELETE_ENABLED] = "false"
        overrides = {PREFIX: prefix}
        if caller.base_uri:
            overrides[URI] = f"{caller.base_uri}/catalog"
        return ClientConfig(warehouse.warehouse_id, defaults, overrides, self.rules.idempotency_lifetime)
