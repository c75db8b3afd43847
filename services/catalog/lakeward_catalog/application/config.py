"""What an Iceberg client is told first: its prefix, defaults and overrides."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from lakeward_catalog.application.caller import Caller, is_project_id
from lakeward_catalog.application.doors import Doors, absent_warehouse, warehouse_needs
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.domain.model import ProjectId, Warehouse, WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.authorization.registrar import Presented, Registrar
from lakeward_servicekit.errors import MaintenanceMode, Reason, Refusal
from lakeward_servicekit.shared_reads import SharedReads

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


class _Asked(NamedTuple):
    """Which configuration, for whom: whoever asks for an equal one at one moment is told the same."""

    named: str
    principal: Principal
    project: ProjectId | None
    base_uri: str


class ClientConfigs:
    """Tells clients what they need to know of a warehouse. Records the caller as a user first, whatever the answer is.

    The workers of a job start at one moment and ask for one configuration, with one principal: they share a look and a decision,
    which nobody joins once it has begun.

    Args:
        doors: see there.
        registrar: records callers.
        rules: that stay while a process runs.
    """

    def __init__(self, doors: Doors, registrar: Registrar, rules: Rules) -> None:
        """See the class."""
        self._doors: Final = doors
        self._registrar: Final = registrar
        self._rules: Final = rules
        self._shared: Final = SharedReads[_Asked, ClientConfig](self._read)

    async def __call__(self, named: str, *, caller: Caller, presented: Presented) -> ClientConfig:
        """The configuration for one warehouse.

        Args:
            named: "name", "project/name" or an id; of a name that is an id too, the warehouse of that name is meant.
            caller: who asks.
            presented: what the request presents, for the claims of its token.

        Raises:
            Refusal: WAREHOUSE_MISSING, PROJECT_MISSING, NO_SUCH_WAREHOUSE, FORBIDDEN; what `Registrar.provision_user` raises.
        """
        if not named:
            raise Refusal(
                Reason.REASON_WAREHOUSE_MISSING, "no warehouse was named; send warehouse=<name> or <project>/<name>"
            )
        try:  # noqa: SIM105 - `suppress` costs as much as the look that finds almost everybody
            await self._registrar.provision_user(presented)
        except MaintenanceMode:
            pass  # reads go on, and the user is recorded another time
        return await self._shared(_Asked(named, caller.principal, caller.project, caller.base_uri))

    async def _read(self, asked: _Asked) -> ClientConfig:
        caller = Caller(principal=asked.principal, request_id="", project=asked.project, base_uri=asked.base_uri)
        found = await self._find(asked.named, caller)
        absent = absent_warehouse(asked.named)
        warehouse = await self._doors.present(found, absent=absent, caller=caller)
        needs = warehouse_needs(warehouse, Action.WAREHOUSE_GET_CONFIG, absent=absent)
        await self._doors.decide(caller, needs)
        return ClientConfig(warehouse, asked.base_uri, self._rules)

    async def _find(self, named: str, caller: Caller) -> Warehouse | None:
        doors, warehouse_id = self._doors, _id_in(named)
        if warehouse_id is None:
            return await doors.warehouses.find_by_name(*self._split(named, caller))
        if caller.project or doors.default_project:  # an id is one in all projects, so it needs none
            found = await doors.warehouses.find_by_name(doors.chosen_project(caller), named)
            if found is not None:
                return found
        return await doors.warehouses.find(warehouse_id)

    def _split(self, named: str, caller: Caller) -> tuple[ProjectId, str]:
        project, slash, name = named.partition("/")
        if slash and is_project_id(project):
            return ProjectId(project), name
        return self._doors.chosen_project(caller), named


def _id_in(named: str) -> WarehouseId | None:
    try:
        return WarehouseId(UUID(named))
    except ValueError:
        return None
