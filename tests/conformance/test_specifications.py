"""Our OpenAPI documents against the public ones, in both directions."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lakeward_protocol.catalog.v1 import warehouses_pb2
from tests.conformance.comparing import Lack, Part, by_route, lacks
from tests.conformance.differences import DECLINED, DIFFERENCES
from tests.conformance.documents import document
from tests.conformance.specifications import anonymous, operations, specification
from tests.unit.gateway.fakes import WAREHOUSE, World, world

pytestmark = pytest.mark.conformance

# What we serve beside the specification: the signer, at the paths that clients were told over the years.
ADDED = {"signS3TabularRequest", "signS3Request", "signS3RequestBelowCatalog", "signS3RequestAtRoot"}
ADDED_MANAGEMENT = {
    "get_default_project_deprecated",
    "explain_access",
    # rights on tabulars that are named without their warehouse
    *(
        f"{verb}_{kind}_assignments_by_id_alone"
        for verb in ("get", "update")
        for kind in ("table", "view", "generic_table")
    ),
    *(f"get_authorizer_{kind}_actions_by_id_alone" for kind in ("table", "view", "generic_table")),
    # drops of all that is in a namespace or a warehouse, and how their queues are configured
    # who did or tried what
    "list_audit_records",
    "list_events",
    "list_project_events",
    "list_server_events",
    # what a warehouse promises
    "get_warehouse_contracts",
    "set_warehouse_contracts",
    *(f"cascade_drop_{kind}" for kind in ("namespace", "warehouse")),
    *(f"{verb}_task_queue_config_namespace_drop" for verb in ("get", "set")),
    *(f"{verb}_project_task_queue_config_warehouse_drop" for verb in ("get", "set")),
    # the queues that count and measure, and schedules of a project's queues
    *(
        f"{verb}_project_task_queue_config_{queue}"
        for verb in ("get", "set")
        for queue in ("statistics", "generic_statistics")
    ),
    *(f"schedule_project_task_{queue}" for queue in ("statistics", "generic_statistics", "task_log_cleanup")),
    *(
        f"{verb}_project_task_queue_schedule_{queue}"
        for verb in ("get", "set", "drop")
        for queue in ("statistics", "generic_statistics", "task_log_cleanup")
    ),
}
ICEBERG = ("lakekeeper-iceberg-rest.yaml", "iceberg-rest-catalog.yaml")
# Each specification, our document of the same API, and what stands before the specification's paths here.
PAIRS = {
    "lakekeeper-iceberg-rest.yaml": ("catalog", "/catalog"),
    "iceberg-rest-catalog.yaml": ("catalog", "/catalog"),
    "lakekeeper-management.yaml": ("management", ""),
    "lakekeeper-generic-table.yaml": ("generic-table", ""),
}


def found(name: str) -> Sequence[Lack]:
    """What our document lacks of a specification."""
    ours, mount = PAIRS[name]
    return sorted(lacks(specification(name), document(ours), mount=mount))


@pytest.mark.parametrize("name", PAIRS)
def test_our_documents_lack_nothing_of_the_specifications_that_has_no_reason(name: str) -> None:
    assert [lack for lack in found(name) if not any(each.covers(lack) for each in DIFFERENCES[name])] == []


@pytest.mark.parametrize("name", PAIRS)
def test_no_reason_is_given_for_what_our_documents_do_not_lack(name: str) -> None:
    lacking = found(name)
    assert [each for each in DIFFERENCES[name] if not any(each.covers(lack) for lack in lacking)] == []
    for each in DIFFERENCES[name]:
        covered = {lack.operation for lack in lacking if each.covers(lack)}
        assert set(each.operations) <= covered, each.reason


@pytest.mark.parametrize("part", ["operation", "header", "query", "status", "request", "reply"])
def test_what_is_taken_out_of_our_document_is_seen_to_be_lacking(part: Part) -> None:
    public = specification("lakekeeper-management.yaml")
    own = copy.deepcopy(dict(document("management")))
    path = "/management/v1/warehouse/{warehouse_id}/grants"
    known = set(lacks(public, own))
    grants = own["paths"][path]["get"]
    match part:
        case "operation":
            del own["paths"][path]["get"]
        case "header" | "query":
            grants["parameters"] = [each for each in grants["parameters"] if each["in"] != part]
        case "status":
            del grants["responses"]["200"]
        case "request":
            del own["components"]["schemas"]["GrantEntry"]["properties"]["privilege"]
        case "reply":
            del own["components"]["schemas"]["GrantResponse"]["properties"]["recognized"]
    assert part in {lack.part for lack in set(lacks(public, own)) - known}


@pytest.mark.parametrize("name", ICEBERG)
def test_every_operation_that_is_served_is_in_the_iceberg_specification_or_an_addition(name: str) -> None:
    spec = by_route(specification(name), mount="/catalog")
    strangers = {
        operation["operationId"]
        for route, operation in by_route(document("catalog")).items()
        if spec.get(route, {}).get("operationId") != operation["operationId"]
    }
    assert strangers == ADDED


def successes(operation: Mapping[str, Any]) -> set[str]:
    return {str(status) for status in operation["responses"] if str(status)[0] in "23"}


@pytest.mark.parametrize("name", PAIRS)
def test_operations_have_the_specifications_names_and_no_success_of_their_own(name: str) -> None:
    ours_name, mount = PAIRS[name]
    ours = by_route(document(ours_name))
    for route, operation in by_route(specification(name), mount=mount).items():
        if route in ours:
            assert ours[route]["operationId"] == operation["operationId"]
            assert successes(ours[route]) == successes(operation), route


def test_every_operation_of_the_management_specification_is_served() -> None:
    public = {(method, anonymous(path)) for method, path, _ in operations(specification("lakekeeper-management.yaml"))}
    served = set(by_route(document("management")))
    assert public - served == set()
    strangers = {by_route(document("management"))[route]["operationId"] for route in served - public}
    assert strangers == ADDED_MANAGEMENT


async def test_the_configuration_lists_exactly_what_is_routed() -> None:
    served: World
    async with world() as served:
        served.catalog.answers["GetConfig"] = warehouses_pb2.GetConfigResponse(warehouse_id=WAREHOUSE)
        listed = (await served.client.get("/catalog/v1/config?warehouse=demo")).json()["endpoints"]
    routed = [
        f"{method} {path.removeprefix('/catalog')}"
        for method, path, operation in operations(document("catalog"))
        if operation["operationId"] not in ADDED
    ]
    generic = [f"{method} {path}" for method, path, _ in operations(document("generic-table"))]
    assert sorted(listed) == sorted([*routed, *generic])
    public = specification("lakekeeper-iceberg-rest.yaml")
    written = [
        f"{method} {path}"
        for method, path, operation in operations(public)
        if operation["operationId"] not in DECLINED["lakekeeper-iceberg-rest.yaml"]
    ]
    assert sorted({*listed} - {*generic}) == sorted(written)


# What we serve beside the specification of generic tables.
ADDED_GENERIC = {
    "register_generic_table",
    "generic_table_exists",
    "update_generic_table",
    "claim_generic_table_version",
    "get_generic_table_version",
    "list_generic_table_versions",
    "forget_generic_table_versions",
}


def test_every_operation_on_generic_tables_is_served_and_what_is_added_is_named() -> None:
    spec = by_route(specification("lakekeeper-generic-table.yaml"))
    ours = by_route(document("generic-table"))
    assert {operation["operationId"] for route, operation in spec.items() if route not in ours} == set()
    assert {operation["operationId"] for route, operation in ours.items() if route not in spec} == ADDED_GENERIC
