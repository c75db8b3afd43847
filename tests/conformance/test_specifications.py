"""Our OpenAPI documents against the public ones, in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lakeward_gateway.dialects.management import unsupported
from lakeward_protocol.catalog.v1 import warehouses_pb2
from tests.conformance.documents import document
from tests.conformance.specifications import anonymous, members, operations, parameters, resolved, specification
from tests.unit.gateway.fakes import WAREHOUSE, World, world

pytestmark = pytest.mark.conformance

# What the specifications have and nobody is told of here: upstream does not route them either.
DECLINED = {
    "lakekeeper-iceberg-rest.yaml": {
        "getToken",
        "planTableScan",
        "fetchPlanningResult",
        "cancelPlanning",
        "fetchScanTasks",
    },
    "iceberg-rest-catalog.yaml": {
        "getToken",
        "planTableScan",
        "fetchPlanningResult",
        "cancelPlanning",
        "fetchScanTasks",
        "listFunctions",
        "loadFunction",
        "unregisterTable",
        "signRequest",
        "registerView",
    },
}
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
}
# Members that the specification describes and our document leaves to the reader of Iceberg's own.
PASSED_THROUGH = {"remote-signing-config"}

Operations = Mapping[tuple[str, str], Mapping[str, Any]]


def by_route(found: Mapping[str, Any], *, mount: str = "") -> Operations:
    return {(method, anonymous(path)): operation for method, path, operation in operations(found, mount=mount)}


@pytest.mark.parametrize("name", DECLINED)
def test_every_operation_of_the_iceberg_specification_is_served_or_declined(name: str) -> None:
    spec = by_route(specification(name), mount="/catalog")
    ours = by_route(document("catalog"))
    missing = {operation["operationId"] for route, operation in spec.items() if route not in ours}
    assert missing == DECLINED[name]


@pytest.mark.parametrize("name", DECLINED)
def test_every_operation_that_is_served_is_in_the_iceberg_specification_or_an_addition(name: str) -> None:
    spec = by_route(specification(name), mount="/catalog")
    strangers = {
        operation["operationId"]
        for route, operation in by_route(document("catalog")).items()
        if spec.get(route, {}).get("operationId") != operation["operationId"]
    }
    assert strangers == ADDED


@pytest.mark.parametrize("name", DECLINED)
@pytest.mark.parametrize("place", ["query", "header", "path"])
def test_operations_heed_the_parameters_that_the_iceberg_specification_gives_them(name: str, place: str) -> None:
    public, own = specification(name), document("catalog")
    ours = by_route(own)
    missing = {
        operation["operationId"]: lacking
        for route, operation in by_route(public, mount="/catalog").items()
        if route in ours and (lacking := parameters(public, operation, place) - parameters(own, ours[route], place))
    }
    assert missing == {}


def successes(operation: Mapping[str, Any]) -> set[str]:
    return {str(status) for status in operation["responses"] if str(status)[0] in "23"}


@pytest.mark.parametrize("name", DECLINED)
def test_successes_have_the_iceberg_specifications_statuses(name: str) -> None:
    ours = by_route(document("catalog"))
    different = {
        operation["operationId"]: (successes(operation), successes(ours[route]))
        for route, operation in by_route(specification(name), mount="/catalog").items()
        if route in ours and successes(operation) != successes(ours[route])
    }
    assert different == {}


def body_of(found: Mapping[str, Any], holder: Mapping[str, Any]) -> set[str]:
    content = resolved(found, holder).get("content", {}).get("application/json")
    return members(found, content["schema"]) if content else set()


def bodies(found: Mapping[str, Any], operation: Mapping[str, Any]) -> dict[str, set[str]]:
    request = operation.get("requestBody")
    shown = {"request": body_of(found, request) if request else set()}
    for status, reply in operation["responses"].items():
        if str(status)[0] == "2":
            shown[str(status)] = body_of(found, reply)
    return shown


@pytest.mark.parametrize(
    ("name", "ours_name", "mount"),
    [("lakekeeper-iceberg-rest.yaml", "catalog", "/catalog"), ("lakekeeper-management.yaml", "management", "")],
)
def test_documents_have_the_members_that_the_specification_gives_them(name: str, ours_name: str, mount: str) -> None:
    public, own = specification(name), document(ours_name)
    ours = by_route(own)
    lacking: dict[str, Any] = {}
    for route, operation in by_route(public, mount=mount).items():
        if route not in ours:
            continue
        mine = bodies(own, ours[route])
        for part, names in bodies(public, operation).items():
            # metrics reports are one of two documents, which pass through
            if names - mine.get(part, set()) - PASSED_THROUGH and operation["operationId"] != "reportMetrics":
                lacking[f"{operation['operationId']} {part}"] = names - mine.get(part, set())
    optional = {
        "get_server_info 200": {
            "console",
            "lakekeeper-commit-sha",
            "lakekeeper-enterprise-commit-sha",
            "lakekeeper-enterprise-version",
        }
    }
    assert lacking == optional if ours_name == "management" else lacking == {}


def test_every_operation_of_the_management_specification_is_served_or_refused_by_name() -> None:
    public = {(method, anonymous(path)) for method, path, _ in operations(specification("lakekeeper-management.yaml"))}
    served = set(by_route(document("management")))
    refused = {(method, anonymous(path)) for method, path in unsupported.routes()}
    assert public - served - refused == set()
    assert served & refused == set()
    assert refused - public == set()
    strangers = {by_route(document("management"))[route]["operationId"] for route in served - public}
    assert strangers == ADDED_MANAGEMENT


def test_management_operations_have_the_specifications_names_parameters_and_statuses() -> None:
    public, own = specification("lakekeeper-management.yaml"), document("management")
    spec = by_route(public)
    for route, operation in by_route(own).items():
        if route not in spec:
            continue
        assert operation["operationId"] == spec[route]["operationId"]
        assert parameters(public, spec[route], "query") <= parameters(own, operation, "query")
        assert successes(operation) == successes(spec[route])


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
    assert sorted(listed) == sorted(routed)
    public = specification("lakekeeper-iceberg-rest.yaml")
    written = [
        f"{method} {path}"
        for method, path, operation in operations(public)
        if operation["operationId"] not in DECLINED["lakekeeper-iceberg-rest.yaml"]
    ]
    assert sorted(listed) == sorted(written)
