"""What becomes of what is dropped, which format versions tables have, and who may change what a warehouse is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from lakeward_catalog.domain.model import ManagedBy
from lakeward_protocol.catalog.v1 import tables_pb2, warehouses_pb2
from lakeward_protocol.common.v1 import options_pb2
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.rpc import Caller
from tests.support.catalog.expectations.case import Case
from tests.support.catalog.expectations.containers import WAREHOUSE_SERVICE
from tests.support.catalog.house import (
    ADMINISTRATOR,
    RULES,
    SCHEMA,
    House,
    a_house,
    commit_body,
    context,
    refusal_of,
    tabular,
)

DAY = timedelta(days=1)


def keep_dropped(house: House, span: timedelta | None = None, **profile: bool) -> Any:
    message = warehouses_pb2.DeleteProfile(**profile)
    if span is not None:
        message.restorable_for.FromTimedelta(span)
    return house.warehouses.SetDeleteProfile(
        warehouses_pb2.SetDeleteProfileRequest(warehouse_id=house.warehouse_id, delete_profile=message)
    )


def allow(house: House, *versions: int, default: int = 0) -> Any:
    return house.warehouses.SetFormatVersionPolicy(
        warehouses_pb2.SetFormatVersionPolicyRequest(
            warehouse_id=house.warehouse_id, allowed_format_versions=versions, default_format_version=default
        )
    )


def manage(
    house: House, value: warehouses_pb2.ManagedBy.ValueType, *, caller: str = ADMINISTRATOR, role: str = ""
) -> Any:
    return house.warehouses.SetManagedBy(
        warehouses_pb2.SetManagedByRequest(
            context=context(authorization=caller, assumed_role=role),
            warehouse_id=house.warehouse_id,
            managed_by=value,
        )
    )


def drop(house: House) -> Any:
    return house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))
    )


async def test_what_is_dropped_after_the_change_has_the_new_time_and_what_was_dropped_before_keeps_its() -> None:
    house = await a_house()
    await keep_dropped(house, DAY)
    await drop(house)
    before = house.tabular("orders").expires_at
    assert before == house.clock.now() + DAY
    await keep_dropped(house, 2 * DAY)
    assert house.tabular("orders").expires_at == before
    await house.make_table("sales", "later")
    await house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "later"))
    )
    assert house.tabular("later").expires_at == house.clock.now() + 2 * DAY


async def test_drops_that_could_be_undone_are_final_again() -> None:
    house = await a_house()
    assert (await keep_dropped(house, DAY)).warehouse.delete_profile.restorable_for.ToTimedelta() == DAY
    response = await keep_dropped(house)
    assert not response.warehouse.delete_profile.HasField("restorable_for")
    await drop(house)
    assert [each.ident.name for each in house.catalog.rows.tabulars.values()] == ["recent"]


async def test_a_soft_profile_without_a_span_has_the_settings_one_in_creation_and_in_change() -> None:
    house = await a_house()
    response = await keep_dropped(house, restorable=True)
    assert response.warehouse.delete_profile.restorable_for.ToTimedelta() == RULES.restorable_by_default
    made = await house.warehouses.CreateWarehouse(
        warehouses_pb2.CreateWarehouseRequest(
            name="soft",
            storage_profile=b'{"base": "s3://lake/soft"}',
            delete_profile=warehouses_pb2.DeleteProfile(restorable=True),
        )
    )
    assert made.warehouse.delete_profile.restorable_for.ToTimedelta() == RULES.restorable_by_default


@pytest.mark.parametrize("span", [timedelta(seconds=-1), timedelta(days=3651)])
async def test_a_span_that_cannot_be_is_refused_and_changes_nothing(span: timedelta) -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    assert (await refusal_of(keep_dropped(house, span))).reason == Reason.REASON_INVALID_FIELD
    unset = warehouses_pb2.SetDeleteProfileRequest(warehouse_id=house.warehouse_id)
    assert (await refusal_of(house.warehouses.SetDeleteProfile(unset))).reason == Reason.REASON_INVALID_FIELD
    assert house.catalog.rows == before


async def test_a_version_that_is_not_allowed_is_neither_made_nor_upgraded_to() -> None:
    house = await a_house()
    response = await allow(house, 2, 1, 2)
    assert (list(response.warehouse.allowed_format_versions), response.warehouse.default_format_version) == ([1, 2], 2)
    refused = house.make_table("sales", "new", properties={"format-version": "3"})
    assert (await refusal_of(refused)).reason == Reason.REASON_FORMAT_VERSION_NOT_ALLOWED
    upgrade = commit_body({"action": "upgrade-format-version", "format-version": 3})
    commit = house.tables.CommitTable(
        tables_pb2.CommitTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"), body=upgrade)
    )
    assert (await refusal_of(commit)).reason == Reason.REASON_FORMAT_VERSION_NOT_ALLOWED


async def test_a_table_of_a_version_that_is_no_longer_allowed_stays_and_takes_commits() -> None:
    house = await a_house()
    await allow(house, 3)
    body = commit_body({"action": "set-properties", "updates": {"a": "b"}})
    await house.tables.CommitTable(
        tables_pb2.CommitTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"), body=body)
    )


@pytest.mark.parametrize(("versions", "default", "made"), [((1,), 0, 1), ((1, 3), 0, 3), ((1, 2, 3), 1, 1)])
async def test_tables_that_name_no_version_have_the_policy_s_default(
    versions: tuple[int, ...], default: int, made: int
) -> None:
    house = await a_house()
    await allow(house, *versions, default=default)
    loaded = await house.make_table("sales", "new", schema=SCHEMA)
    assert f'"format-version":{made}'.encode() in loaded.metadata.plain


@pytest.mark.parametrize(("versions", "default"), [((), 0), ((4,), 0), ((1, 2), 3), ((0, 1), 0)])
async def test_a_policy_that_cannot_be_is_refused_and_changes_nothing(versions: tuple[int, ...], default: int) -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    refusal = await refusal_of(allow(house, *versions, default=default))
    assert refusal.reason == Reason.REASON_INVALID_FORMAT_VERSION_POLICY
    assert house.catalog.rows == before


SETTINGS: dict[str, Callable[[House], Awaitable[Any]]] = {
    "updateWarehouseDeleteProfile": lambda house: keep_dropped(house, DAY),
    "updateWarehouseFormatVersionPolicy": lambda house: allow(house, 1, 2),
    "updateWarehouseManagedBy": lambda house: manage(house, warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN),
}


@pytest.mark.parametrize("event", SETTINGS)
async def test_a_change_is_told_once_and_what_is_so_already_is_no_change(event: str) -> None:
    house = await a_house()
    told = len(house.events())
    await SETTINGS[event](house)
    row = next(iter(house.catalog.rows.warehouses.values()))
    if event != "updateWarehouseManagedBy":
        await SETTINGS[event](house)
    else:
        await manage(house, warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN)
    assert house.events()[told:] == [event]
    assert next(iter(house.catalog.rows.warehouses.values())) == row


async def test_inactive_warehouses_have_policies_and_managers_but_no_new_delete_profile() -> None:
    house = await a_house()
    house.change_warehouse(active=False)
    await allow(house, 2)
    await manage(house, warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN)
    await manage(house, warehouses_pb2.MANAGED_BY_SELF)
    assert (await refusal_of(keep_dropped(house, DAY))).reason == Reason.REASON_NO_SUCH_WAREHOUSE


@pytest.mark.parametrize(("caller", "role"), [("oidc~anna", ""), ("", ""), (ADMINISTRATOR, "a-role")])
async def test_who_may_do_everything_and_administrates_nothing_may_not_say_who_manages(caller: str, role: str) -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    refusal = await refusal_of(manage(house, warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN, caller=caller, role=role))
    assert refusal.reason == Reason.REASON_INSTANCE_ADMIN_REQUIRED
    assert house.catalog.rows == before


# What is not the warehouse's specification: making another one, and saying who manages this one.
_OPEN = {"CreateWarehouse", "SetManagedBy"}


def _specifying() -> list[Any]:
    methods = warehouses_pb2.DESCRIPTOR.services_by_name["WarehouseService"].methods_by_name
    changing = {name for name, method in methods.items() if method.GetOptions().Extensions[options_pb2.rule].mutation}
    return [pytest.param(name, case, id=name) for name in sorted(changing - _OPEN) for case in WAREHOUSE_SERVICE[name]]


@pytest.mark.parametrize(("method", "case"), _specifying())
async def test_every_change_of_a_managed_warehouse_is_for_administrators_of_the_instance(
    method: str, case: Case
) -> None:
    house = await a_house()
    if case.prepare is not None:
        await case.prepare(house)
    house.change_warehouse(managed_by=ManagedBy.INSTANCE_ADMIN)
    request, before = case.request(house), house.catalog.rows.copy()
    call = house.host.channel(caller=Caller.CALLER_GATEWAY).unary_unary(
        f"/lakeward.catalog.v1.WarehouseService/{method}"
    )
    assert (await refusal_of(call(request))).reason == Reason.REASON_WAREHOUSE_MANAGED
    assert house.catalog.rows == before
    request.context.authorization = ADMINISTRATOR
    await call(request)


async def test_a_warehouse_that_came_to_be_managed_after_the_decision_is_not_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()
    found = type(house.parts.doors).specified

    async def managed_meanwhile(*args: Any, **named: Any) -> Any:
        warehouse = await found(*args, **named)
        house.change_warehouse(managed_by=ManagedBy.INSTANCE_ADMIN)
        return warehouse

    monkeypatch.setattr(type(house.parts.doors), "specified", managed_meanwhile)
    assert (await refusal_of(allow(house, 1))).reason == Reason.REASON_WAREHOUSE_MANAGED


async def test_only_administrators_make_warehouses_that_they_manage() -> None:
    house = await a_house()

    def make(caller: str) -> Any:
        return house.warehouses.CreateWarehouse(
            warehouses_pb2.CreateWarehouseRequest(
                context=context(authorization=caller),
                name="managed",
                storage_profile=b'{"base": "s3://lake/managed"}',
                managed_by=warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN,
            )
        )

    steps = list(house.judge.steps)
    assert (await refusal_of(make("oidc~anna"))).reason == Reason.REASON_WAREHOUSE_MANAGED
    assert house.judge.steps == steps, "nothing was asked of vending"
    assert (await make(ADMINISTRATOR)).warehouse.managed_by == warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN
