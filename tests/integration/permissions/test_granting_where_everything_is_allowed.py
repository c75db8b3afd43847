"""Where nobody is asked who they are and everything is allowed: rights are given all the same, and kept for later."""

from __future__ import annotations

import time
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from lakeward_gateway.dialects.management import levels
from tests.support.http import NOBODY
from tests.support.lakeward import Lakeward

pytestmark = pytest.mark.integration
_SECONDS = 30


@pytest.fixture
def http(lakeward: Lakeward) -> Iterator[httpx.Client]:
    """For requests about warehouses that authz was told of: where everything is allowed, no maker waits for that."""
    with httpx.Client(verify=NOBODY, base_url=f"{lakeward.url}/management/v1", timeout=60) as client:
        ends = time.monotonic() + _SECONDS
        for warehouse_id in (lakeward.warehouse_id, lakeward.signing_warehouse_id):
            while client.get(f"/permissions/warehouse/{warehouse_id}").status_code != httpx.codes.OK:
                assert time.monotonic() < ends, f"authz was not told of warehouse {warehouse_id}"
                time.sleep(0.05)
        yield client


def test_everybody_gives_and_what_is_given_is_shown_until_it_is_taken(lakeward: Lakeward, http: httpx.Client) -> None:
    who = f"oidc~{uuid4()}"
    path = f"/permissions/warehouse/{lakeward.warehouse_id}/assignments"
    entry = {"type": "select", "user": who}
    assert http.post(path, json={"writes": [entry]}).status_code == 204
    assert http.post(path, json={"writes": [entry]}).status_code == 409
    assert entry in http.get(path, params={"relations": "select"}).json()["assignments"]
    listed = http.get("/grants", params={"principalUser": who}).json()["grants"]
    assert [each["resource"] for each in listed] == [{"type": "warehouse", "warehouse-id": lakeward.warehouse_id}]
    assert http.post(path, json={"deletes": [entry]}).status_code == 204
    assert http.get("/grants", params={"principalUser": who}).json()["grants"] == []


def test_everything_may_be_done_by_everybody_to_what_is_there_and_nothing_to_what_is_not(
    lakeward: Lakeward, http: httpx.Client
) -> None:
    everything = [{"action": word} for word in levels.WAREHOUSE.catalog]
    for about in ({}, {"principalUser": "oidc~anybody"}):
        response = http.get(f"/warehouse/{lakeward.warehouse_id}/actions", params=about)
        assert response.json() == {"allowed-actions": everything}
        assert http.get(f"/warehouse/{uuid4()}/actions", params=about).status_code == 404
    assert http.get("/project/actions").json() == {"allowed-actions": [{"action": w} for w in levels.PROJECT.catalog]}
    assert http.get("/server/actions").json() == {"allowed-actions": [{"action": w} for w in levels.SERVER.catalog]}


def test_managed_access_is_as_it_was_set_although_it_binds_nobody(lakeward: Lakeward, http: httpx.Client) -> None:
    path = f"/permissions/warehouse/{lakeward.signing_warehouse_id}"
    for managed in (True, False):
        assert http.post(f"{path}/managed-access", json={"managed-access": managed}).status_code == 200
        assert http.get(path).json() == {"managed-access": managed}
        assert http.get(f"{path}/access").json() == {"allowed-actions": [*levels.WAREHOUSE.access]}
