"""Checks of warehouses that are not made and storages that are not changed: what fails is answered, and nothing is written."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from lakeward_catalog.application.ports.storage import Checked, CheckStatus
from lakeward_catalog.domain.model import ManagedBy
from lakeward_protocol.catalog.v1 import warehouses_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ADMINISTRATOR, House, a_house, context, refusal_of

PASSED, FAILED, SKIPPED = (
    warehouses_pb2.CHECK_STATUS_PASSED,
    warehouses_pb2.CHECK_STATUS_FAILED,
    warehouses_pb2.CHECK_STATUS_SKIPPED,
)


async def of_creation(house: House, base: str = "s3://lake/second", **wanted: Any) -> dict[str, Any]:
    asked = {"name": "second", "storage_profile": f'{{"base": "{base}"}}'.encode(), **wanted}
    response = await house.warehouses.ValidateWarehouse(
        warehouses_pb2.ValidateWarehouseRequest(warehouse=warehouses_pb2.CreateWarehouseRequest(**asked))
    )
    return {check.name: check for check in response.checks}


async def of_storage(house: House, base: str | None = None, **more: Any) -> dict[str, Any]:
    message = warehouses_pb2.ValidateWarehouseStorageRequest(warehouse_id=house.warehouse_id, **more)
    if base is not None:
        message.storage.storage_profile = f'{{"base": "{base}"}}'.encode()
        message.storage.keep_credential = True
    response = await house.warehouses.ValidateWarehouseStorage(message)
    return {check.name: check for check in response.checks}


async def test_a_warehouse_that_could_be_made_passes_every_check_and_is_not_made() -> None:
    house = await a_house()
    before, told = house.catalog.rows.copy(), len(house.judge.marks)
    checks = await of_creation(house)
    assert {check.status for check in checks.values()} == {PASSED}
    assert list(checks) == [
        "format-version-policy-consistent",
        "managed-by-allowed",
        "warehouse-name-valid",
        "profile-well-formed",
        "location-exclusive",
        "lakekeeper-read-write",
    ]
    assert checks["lakekeeper-read-write"].duration.ToTimedelta() == timedelta(seconds=1)
    assert (house.catalog.rows, len(house.judge.marks)) == (before, told)


@pytest.mark.parametrize(
    ("wanted", "check", "reason"),
    [
        ({"name": "a/b"}, "warehouse-name-valid", Reason.REASON_INVALID_WAREHOUSE_NAME),
        ({"name": "DEMO"}, "warehouse-name-valid", Reason.REASON_WAREHOUSE_EXISTS),
        (
            {"allowed_format_versions": [4]},
            "format-version-policy-consistent",
            Reason.REASON_INVALID_FORMAT_VERSION_POLICY,
        ),
        ({"managed_by": 2}, "managed-by-allowed", Reason.REASON_WAREHOUSE_MANAGED),
        ({"base": "s3://lake/demo/inside"}, "location-exclusive", Reason.REASON_STORAGE_OVERLAP),
    ],
)
async def test_what_making_it_would_be_refused_for_is_the_failure_of_a_check(
    wanted: dict[str, Any], check: str, reason: Reason.ValueType
) -> None:
    house = await a_house()
    checks = await of_creation(house, **wanted)
    assert (checks[check].status, checks[check].failure.reason) == (FAILED, reason)
    assert [name for name, each in checks.items() if each.status == FAILED] == [check]
    base = wanted.pop("base", "s3://lake/second")
    make = house.warehouses.CreateWarehouse(
        warehouses_pb2.CreateWarehouseRequest(
            **{"name": "second", "storage_profile": f'{{"base": "{base}"}}'.encode(), **wanted}
        )
    )
    refusal = await refusal_of(make)
    assert (refusal.reason, refusal.message) == (reason, checks[check].failure.message)


async def test_nothing_is_tried_in_a_place_that_is_another_s() -> None:
    house = await a_house()
    checks = await of_creation(house, base="s3://lake/demo")
    assert checks["lakekeeper-read-write"].status == SKIPPED
    assert "examine" not in house.judge.steps


async def test_a_profile_that_is_none_skips_what_depends_on_it() -> None:
    house = await a_house()
    house.judge.refuses["normalise"] = Refusal(
        Reason.REASON_INVALID_STORAGE_PROFILE, "no bucket", field="bucket", value=""
    )
    for checks in (await of_creation(house), await of_storage(house, "s3://lake/demo")):
        assert checks["profile-well-formed"].failure.reason == Reason.REASON_INVALID_STORAGE_PROFILE
        assert {checks[name].status for name in ("location-exclusive", "lakekeeper-read-write", "cleanup")} == {SKIPPED}
        assert all(each.reason for each in checks.values() if each.status == SKIPPED)


@pytest.mark.parametrize(
    ("own", "public"),
    [
        ("remote-signing-scope-enforced", "vended-credentials-scope-enforced"),
        ("case-sensitivity-determined", "lakekeeper-read-write"),
    ],
)
async def test_a_check_of_our_own_that_fails_counts_under_a_public_name(own: str, public: str) -> None:
    house = await a_house()
    why = Refusal(Reason.REASON_STORAGE_VALIDATION_FAILED, "it reaches too far", check=own)
    house.judge.examined = [
        Checked("lakekeeper-read-write", CheckStatus.PASSED, timedelta()),
        Checked("vended-credentials-scope-enforced", CheckStatus.SKIPPED, reason="nothing is vended"),
        Checked(own, CheckStatus.FAILED, timedelta(), why),
    ]
    checks = await of_storage(house)
    assert own not in checks
    assert (checks[public].status, checks[public].failure.message) == (FAILED, "it reaches too far")


async def test_a_warehouse_s_storage_is_checked_as_it_is_also_while_it_does_not_serve() -> None:
    house = await a_house()
    house.change_warehouse(active=False)
    assert list(await of_storage(house)) == ["lakekeeper-read-write"]
    refused = of_storage(house, "s3://lake/demo")
    assert (await refusal_of(refused)).reason == Reason.REASON_NO_SUCH_WAREHOUSE


async def test_another_profile_is_judged_against_the_one_that_is_there() -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    kept = await of_storage(house, "s3://lake/demo")
    assert kept["location-exclusive"].status == SKIPPED, "a warehouse is in its own place"
    assert {name for name, each in kept.items() if each.status == PASSED} == {
        "spec-mutable",
        "profile-well-formed",
        "profile-compatible",
        "lakekeeper-read-write",
    }
    moved = await of_storage(house, "s3://lake/elsewhere")
    assert moved["profile-compatible"].failure.reason == Reason.REASON_STORAGE_PROFILE_IMMUTABLE
    assert moved["profile-well-formed"].status == PASSED
    assert house.catalog.rows == before


async def test_who_may_not_change_a_managed_warehouse_learns_so_by_a_check() -> None:
    house = await a_house()
    house.change_warehouse(managed_by=ManagedBy.INSTANCE_ADMIN)
    credential = warehouses_pb2.UpdateStorageCredentialRequest(secret_id=str(house.ids.uuid4()))
    checks = await of_storage(house, credential=credential)
    assert checks["spec-mutable"].failure.reason == Reason.REASON_WAREHOUSE_MANAGED
    assert checks["lakekeeper-read-write"].status == PASSED
    checks = await of_storage(house, credential=credential, context=context(authorization=ADMINISTRATOR))
    assert checks["spec-mutable"].status == PASSED


async def test_an_outage_is_no_result() -> None:
    house = await a_house()
    house.judge.refuses["normalise"] = Refusal(Reason.REASON_SERVICE_UNAVAILABLE, "away", service="vending")
    assert (await refusal_of(of_creation(house))).reason == Reason.REASON_SERVICE_UNAVAILABLE
