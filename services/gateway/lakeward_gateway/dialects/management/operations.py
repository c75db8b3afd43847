"""Everything that the management API serves, and what it refuses by name."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward_gateway.dialects.management import (
    actions,
    checks,
    explaining,
    grants,
    permissions,
    projects,
    protection,
    role_operations,
    server,
    tabulars,
    tasks,
    unsupported,
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
        *tabulars.operations(stubs.tabulars),
        *tasks.operations(stubs.tasks),
        *permissions.operations(stubs.grants),
        *grants.operations(stubs.grants),
        *users.operations(stubs.users),
        *role_operations.operations(stubs.roles),
        *actions.operations(stubs.grants),
        *checks.operations(stubs),
        *explaining.operations(stubs),
        *unsupported.operations(),
    )
