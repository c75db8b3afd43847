"""Everything that the management API serves, and what it refuses by name."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward_gateway.dialects.management import (
    actions,
    audit,
    cascades,
    checks,
    contracts,
    events,
    explaining,
    grants,
    moving,
    permissions,
    project_tasks,
    projects,
    protection,
    role_operations,
    server,
    statistics,
    tabulars,
    tag_operations,
    tasks,
    users,
    validation,
    warehouse_operations,
)
from lakeward_gateway.operation import Operation
from lakeward_gateway.peers import Stubs


def management_operations(stubs: Stubs) -> Sequence[Operation]:
    """The operations."""
    return (
        *server.operations(stubs.server),
        *projects.operations(stubs.server),
        *warehouse_operations.operations(stubs.warehouses, stubs.storage),
        *validation.operations(stubs.warehouses, stubs.storage),
        *protection.operations(stubs),
        *moving.operations(stubs.namespaces),
        *tabulars.operations(stubs.tabulars),
        *tag_operations.operations(stubs.tags),
        *tasks.operations(stubs.tasks),
        *project_tasks.operations(stubs.project_tasks),
        *permissions.operations(stubs.grants),
        *grants.operations(stubs.grants),
        *users.operations(stubs.users),
        *role_operations.operations(stubs.roles),
        *actions.operations(stubs.grants),
        *checks.operations(stubs),
        *explaining.operations(stubs),
        *cascades.operations(stubs.cascades),
        *contracts.operations(stubs.contracts),
        *audit.operations(stubs.audit, stubs.authz_audit, stubs.vending_audit),
        *statistics.operations(stubs.statistics),
        *events.operations(stubs.events, authz=stubs.authz_events, vending=stubs.vending_events),
    )
