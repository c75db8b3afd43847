"""Requests that schemathesis makes up from our own documents, against a running Lakeward: whatever they hold, no reply is a fault,
and each is what the document says.

`LAKEWARD_EXAMPLES` sets how many examples an operation gets (30, or 200 where `CI` is set).
"""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
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
from tests.support.lakeward import Lakeward

pytestmark = [pytest.mark.conformance, pytest.mark.integration]

EXAMPLES = int(os.environ.get("LAKEWARD_EXAMPLES", "200" if os.environ.get("CI") else "30"))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
NAMESPACE = "made_up"
TABLE = "t"
VIEW = "v"
_SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "type": "long", "required": False}]}
_SECONDS = 60

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


@pytest.fixture(scope="module")
def furnished(lakeward: Lakeward) -> Iterator[Lakeward]:
    """A Lakeward with a namespace, a table and a view to hit; what the examples leave of them is dropped."""
    with httpx.Client(base_url=lakeward.namespaces, timeout=_SECONDS) as client:
        furnish(client)
        yield lakeward
        client.delete(f"/{NAMESPACE}", params={"recursive": True, "force": True}).raise_for_status()


def furnish(client: httpx.Client) -> None:
    """Make what an example may have dropped."""
    view_version = {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
        "default-namespace": [NAMESPACE],
    }
    view = {"name": VIEW, "schema": _SCHEMA, "view-version": view_version, "properties": {}}
    for path, body in (
        ("", {"namespace": [NAMESPACE]}),
        (f"/{NAMESPACE}/tables", {"name": TABLE, "schema": _SCHEMA}),
        (f"/{NAMESPACE}/views", view),
    ):
        status = client.post(path, json=body).status_code
        assert status in {200, 409}, f"{path} answered {status}"


def aim(case: schemathesis.Case, target: Lakeward) -> None:
    """Let most made-up requests hit something that exists: a made-up warehouse is absent, whatever else the request holds."""
    chosen = random.Random(zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode()))
    names = {"prefix": target.warehouse_id, "namespace": NAMESPACE, "table": TABLE, "view": VIEW}
    for name, existing in names.items():
        if name in case.path_parameters and chosen.random() < 0.8:
            case.path_parameters[name] = existing


@catalog.parametrize()
@seeded
def test_no_made_up_iceberg_request_is_answered_with_a_fault(case: schemathesis.Case, furnished: Lakeward) -> None:
    aim(case, furnished)
    case.call_and_validate(base_url=furnished.url, checks=CHECKS, timeout=_SECONDS)


@management.parametrize()
@seeded
def test_no_made_up_management_request_is_answered_with_a_fault(case: schemathesis.Case, lakeward: Lakeward) -> None:
    case.call_and_validate(base_url=lakeward.url, checks=CHECKS, timeout=_SECONDS)


def test_no_made_up_sequence_of_requests_ends_in_a_fault(furnished: Lakeward) -> None:
    class Workflow(catalog.as_state_machine()):  # type: ignore[misc]  # a class made at run time
        def before_call(self, case: schemathesis.Case) -> None:
            if "prefix" in case.path_parameters:
                case.path_parameters["prefix"] = furnished.warehouse_id

        def get_call_kwargs(self, case: schemathesis.Case) -> dict[str, Any]:
            del case
            return {"base_url": furnished.url, "timeout": _SECONDS}

        def validate_response(self, response: Any, case: schemathesis.Case, **kwargs: Any) -> None:
            del kwargs
            case.validate_response(response, checks=CHECKS)

    run_state_machine_as_test(Workflow, settings=settings(seeded, stateful_step_count=12))
