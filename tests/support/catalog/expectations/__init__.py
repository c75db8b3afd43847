"""What every method of the catalog's services answers to who may not see, may see and not do, and may do.

A method has one case or more; each is a request that succeeds in `a_house()` for who may do everything. The walk is in
tests/unit/catalog/test_denials.py. A new method is a new entry here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.catalog.expectations.audit import AUDIT_SERVICE
from tests.support.catalog.expectations.case import Case
from tests.support.catalog.expectations.containers import NAMESPACE_SERVICE, SERVER_SERVICE, WAREHOUSE_SERVICE
from tests.support.catalog.expectations.contracts import CONTRACT_SERVICE
from tests.support.catalog.expectations.events import EVENT_SERVICE
from tests.support.catalog.expectations.generic_tables import GENERIC_TABLE_SERVICE, GENERIC_TABLE_VERSION_SERVICE
from tests.support.catalog.expectations.tables import SIGNING_SERVICE, TABLE_SERVICE
from tests.support.catalog.expectations.tabulars import NAME_SERVICE, TABULAR_SERVICE
from tests.support.catalog.expectations.tags import TAG_SERVICE
from tests.support.catalog.expectations.tasks import (
    CASCADE_SERVICE,
    PROJECT_TASK_SERVICE,
    STATISTICS_SERVICE,
    TASK_SERVICE,
)
from tests.support.catalog.expectations.views import VIEW_SERVICE

EXPECTED: Final[Mapping[str, tuple[Case, ...]]] = {
    f"/lakeward.catalog.v1.{service}/{method}": cases
    for service, methods in {
        "ServerService": SERVER_SERVICE,
        "WarehouseService": WAREHOUSE_SERVICE,
        "NamespaceService": NAMESPACE_SERVICE,
        "TagService": TAG_SERVICE,
        "TableService": TABLE_SERVICE,
        "SigningService": SIGNING_SERVICE,
        "ViewService": VIEW_SERVICE,
        "GenericTableService": GENERIC_TABLE_SERVICE,
        "GenericTableVersionService": GENERIC_TABLE_VERSION_SERVICE,
        "TabularService": TABULAR_SERVICE,
        "TaskService": TASK_SERVICE,
        "ProjectTaskService": PROJECT_TASK_SERVICE,
        "StatisticsService": STATISTICS_SERVICE,
        "CascadeService": CASCADE_SERVICE,
        "ContractService": CONTRACT_SERVICE,
        "NameService": NAME_SERVICE,
        "EventService": EVENT_SERVICE,
        "AuditService": AUDIT_SERVICE,
    }.items()
    for method, cases in methods.items()
}
