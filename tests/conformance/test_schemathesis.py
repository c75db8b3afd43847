"""Requests that schemathesis makes up from our own documents, against a running Lakeward.

Whatever they hold, no reply is a fault, and each is what the document says.

`LAKEWARD_EXAMPLES` sets how many examples an operation gets (30, or 40 where `CI` is set).
"""

from __future__ import annotations

import dataclasses
import os
import random
import urllib.parse
import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.conformance.documents import document
from tests.support.http import NOBODY
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward

if TYPE_CHECKING:
    Case = schemathesis.Case[Any]
else:
    Case = schemathesis.Case

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.integration,
    # The gateway is the same in every composition, and made-up requests take minutes.
    pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session"),
]

EXAMPLES = int(os.environ.get("LAKEWARD_EXAMPLES", "40" if os.environ.get("CI") else "30"))
CHECKS = (status_code_conformance, content_type_conformance, response_schema_conformance)
NAMESPACE = "made_up"
TABLE = "t"
VIEW = "v"
GENERIC = "g"
_SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "type": "long", "required": False}]}
_VIEW = {
    "name": VIEW,
    "schema": _SCHEMA,
    "view-version": {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
        "default-namespace": [NAMESPACE],
    },
    "properties": {},
}
_TAKING = ("/rename", "/move")  # beside what is deleted: a POST under these may take something from its place
_SECONDS = 60
_AIMED = 0.8
_STEPS = 12

seeded = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)

schemathesis.openapi.format("duration", st.just("PT30M"))
catalog = schemathesis.openapi.from_dict(dict(document("catalog")))
management = schemathesis.openapi.from_dict(dict(document("management")))
generic = schemathesis.openapi.from_dict(dict(document("generic-table")))


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """A Lakeward with a namespace, a table and a view to hit.

    Attributes:
        lakeward: where it is.
        client: for what the tests do beside the examples.
        session: for the examples; one connection for all of them.
    """

    lakeward: Lakeward
    client: httpx.Client
    session: requests.Session

    def send(self, case: Case, checks: Sequence[Any]) -> None:
        """Send an example, look at the reply, and make again what it dropped."""
        response = case.call(base_url=self.lakeward.url, session=self.session, timeout=_SECONDS)
        if response.status_code < 300 and (case.method == "DELETE" or case.path.endswith(_TAKING)):
            self.furnish()
        case.validate_response(response, checks=[*checks])

    def furnish(self) -> None:
        """Make what an example may have dropped or renamed."""
        for path, body in (
            ("", {"namespace": [NAMESPACE]}),
            (f"/{NAMESPACE}/tables", {"name": TABLE, "schema": _SCHEMA}),
            (f"/{NAMESPACE}/views", _VIEW),
        ):
            status = self.client.post(self.lakeward.namespaces + path, json=body).status_code
            assert status in {200, 409}, f"{path} answered {status}"
        tables = f"{self.lakeward.url}/lakekeeper/v1/{self.lakeward.warehouse_id}/namespaces/{NAMESPACE}/generic-tables"
        status = self.client.post(tables, json={"name": GENERIC, "format": "lance"}).status_code
        assert status in {200, 409}, f"{tables} answered {status}"

    def namespaces(self) -> set[str]:
        """The namespaces at the top level."""
        listed = self.client.get(self.lakeward.namespaces).raise_for_status().json()["namespaces"]
        return {parts[0] for parts in listed}

    def drop(self, namespace: str) -> None:
        """Drop a namespace with all that is in it."""
        url = f"{self.lakeward.namespaces}/{urllib.parse.quote(namespace, safe='')}"
        self.client.delete(url, params={"recursive": True, "force": True})


@pytest.fixture(scope="module")
def target(lakeward: Lakeward) -> Iterator[Target]:
    with httpx.Client(verify=NOBODY, timeout=_SECONDS) as client, requests.Session() as session:
        session.trust_env = False  # it would look for proxies before each request
        made = Target(lakeward, client, session)
        made.furnish()
        yield made
        made.drop(NAMESPACE)


def aim(case: Case, target: Target) -> None:
    """Let most made-up requests hit something that exists: a made-up project or warehouse is absent, whatever else there is."""
    chosen = random.Random(zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode()))
    if chosen.random() < _AIMED:
        case.headers.pop("x-project-id", None)
    names = {"prefix": target.lakeward.warehouse_id, "namespace": NAMESPACE, "table": TABLE, "view": VIEW}
    for name, existing in names.items():
        if name in case.path_parameters and chosen.random() < _AIMED:
            case.path_parameters[name] = existing


@catalog.parametrize()
@seeded
def test_no_made_up_iceberg_request_is_answered_with_a_fault(case: Case, target: Target) -> None:
    aim(case, target)
    target.send(case, (not_a_server_error, *CHECKS))


@generic.parametrize()
@seeded
def test_no_made_up_request_about_generic_tables_is_answered_with_a_fault(case: Case, target: Target) -> None:
    aim(case, target)
    if "table" in case.path_parameters and case.path_parameters["table"] == TABLE:
        case.path_parameters["table"] = GENERIC  # of the three kinds' names, this API's
    target.send(case, (not_a_server_error, *CHECKS))


@management.parametrize()
@seeded
def test_no_made_up_management_request_is_answered_with_a_fault(case: Case, target: Target) -> None:
    aim(case, target)
    target.send(case, (not_a_server_error, *CHECKS))


def test_no_made_up_sequence_of_requests_ends_in_a_fault(target: Target) -> None:
    before = target.namespaces()

    class Workflow(catalog.as_state_machine()):  # type: ignore[misc]  # a class made at run time
        def teardown(self) -> None:
            # what one sequence leaves behind would change what the next one meets
            for namespace in target.namespaces() - before:
                target.drop(namespace)

        def before_call(self, case: Case) -> None:
            if "prefix" in case.path_parameters:
                case.path_parameters["prefix"] = target.lakeward.warehouse_id

        def get_call_kwargs(self, case: Case) -> dict[str, Any]:
            del case
            return {"base_url": target.lakeward.url, "session": target.session, "timeout": _SECONDS}

        def validate_response(self, response: Any, case: Case, **kwargs: Any) -> None:
            del kwargs
            case.validate_response(response, checks=[not_a_server_error, *CHECKS])

    sequences = max(1, EXAMPLES // _STEPS)
    run_state_machine_as_test(Workflow, settings=settings(seeded, max_examples=sequences, stateful_step_count=_STEPS))
