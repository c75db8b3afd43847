"""What the methods of AuditService answer to whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lakeward_protocol.audit.v1 import audit_pb2
from lakeward_protocol.catalog.v1 import audit_pb2 as catalog_pb2
from lakeward_servicekit.authorization.actions import Action
from tests.support.catalog.expectations.case import PROJECT, SERVER, Case

AUDIT_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListAuditRecords": (
        Case(
            lambda _: catalog_pb2.ListAuditRecordsRequest(),
            PROJECT,
            needs=frozenset({Action.PROJECT_READ_ASSIGNMENTS}),
        ),
        Case(
            lambda _: catalog_pb2.ListAuditRecordsRequest(filter=audit_pb2.AuditFilter(whole_server=True)),
            SERVER,
            needs=frozenset({Action.SERVER_READ_ASSIGNMENTS}),
            only_hidden=frozenset(SERVER),
        ),
    ),
}
