from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from google.protobuf.duration_pb2 import Duration

from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.domain.model import ProjectId, Warehouse, WarehouseId
from lakeward_protocol.catalog.v1 import warehouses_pb2
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, House, a_house, context, refusal_of
from tests.support.catalog.memory_rows import Fate
from tests.support.deciding import Rule

FAILED = Refusal(Reason.REASON_STORAGE_VALIDATION_FAILED, "a write failed", check="vended-credentials-issued")


def create(house: House, name: str = "second", *, base: str = "s3://lake/second", **members: Any) -> Any:
    about = members.pop("context", None)
    profile = json.dumps({"base": base, **members.pop("profile", {})}).encode()
    return house.warehouses.CreateWarehouse(
        warehouses_pb2.CreateWarehouseRequest(name=name, storage_profile=profile, context=about, **members)
    )


def update(house: House, *, base: str = "s3://lake/demo", **members: Any) -> Any:
    profile = json.dumps({"base": base, **members.pop("profile", {})}).encode()
    return house.warehouses.UpdateStorage(
        warehouses_pb2.UpdateStorageRequest(warehouse_id=house.warehouse_id, storage_profile=profile, **members)
    )


def credential(house: House, secret_id: object = "") -> Any:
    return house.warehouses.UpdateStorageCredential(
        warehouses_pb2.UpdateStorageCredentialRequest(warehouse_id=house.warehouse_id, secret_id=str(secret_id))
    )


def stored(house: House, warehouse_id: str | None = None) -> Warehouse:
    return house.catalog.rows.warehouses[WarehouseId(UUID(warehouse_id or house.warehouse_id))]


async def test_a_warehouse_is_made_after_its_storage_was_judged_proved_and_its_secret_kept() -> None:
    house, secret = House(), uuid4()
    house.make_project()
    made = (await create(house, "demo", secret_id=str(secret))).warehouse
    assert house.judge.steps == ["normalise", "validate", "claim", "keep"]
    assert house.judge.kept == {secret: UUID(made.warehouse_id)}
    assert (made.status, made.default_format_version, list(made.allowed_format_versions)) == (
        warehouses_pb2.WAREHOUSE_STATUS_ACTIVE,
        2,
        [1, 2, 3],
    )
    assert not made.delete_profile.HasField("restorable_for")
    assert house.events() == ["createWarehouse"]


async def test_nothing_that_leaves_tells_a_secrets_id() -> None:
    house, secret = House(), uuid4()
    house.make_project()
    made = (await create(house, "demo", secret_id=str(secret))).warehouse
    assert str(secret) not in str(made)
    assert str(secret) not in json.dumps(house.event())


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"name": ""}, Reason.REASON_INVALID_WAREHOUSE_NAME),
        ({"name": "a/b"}, Reason.REASON_INVALID_WAREHOUSE_NAME),
        ({"name": "x" * 129}, Reason.REASON_INVALID_WAREHOUSE_NAME),
        ({"name": "a\nb"}, Reason.REASON_INVALID_WAREHOUSE_NAME),
        ({"name": "DEMO"}, Reason.REASON_WAREHOUSE_EXISTS),
        ({"allowed_format_versions": [4]}, Reason.REASON_INVALID_FORMAT_VERSION_POLICY),
        ({"allowed_format_versions": [1], "default_format_version": 2}, Reason.REASON_INVALID_FORMAT_VERSION_POLICY),
        ({"secret_id": "x"}, Reason.REASON_INVALID_FIELD),
        (
            {"delete_profile": warehouses_pb2.DeleteProfile(restorable_for=Duration(seconds=-1))},
            Reason.REASON_INVALID_FIELD,
        ),
        (
            {"delete_profile": warehouses_pb2.DeleteProfile(restorable_for=Duration(seconds=10**11))},
            Reason.REASON_INVALID_FIELD,
        ),
    ],
)
async def test_a_warehouse_that_cannot_be_is_refused_before_vending_is_asked(
    members: dict[str, Any], reason: Reason.ValueType
) -> None:
    house = await a_house()
    house.judge.steps.clear()
    assert (await refusal_of(create(house, **members))).reason == reason
    assert house.judge.steps == []


@pytest.mark.parametrize(("allowed", "default"), [((), 2), ((1,), 1), ((1, 3), 3), ((3, 2), 2)])
async def test_the_default_format_version_is_2_or_the_highest_allowed(allowed: tuple[int, ...], default: int) -> None:
    made = (await create(await a_house(), allowed_format_versions=allowed)).warehouse
    assert made.default_format_version == default
    assert list(made.allowed_format_versions) == sorted(allowed or (1, 2, 3))


@pytest.mark.parametrize("base", ["s3://lake/demo", "s3://lake", "s3://lake/demo/inside", "s3a://lake/demo"])
async def test_storage_that_overlaps_another_warehouses_is_refused(base: str) -> None:
    house = await a_house()
    house.judge.steps.clear()
    refusal = await refusal_of(create(house, base=base, secret_id=str(uuid4())))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_STORAGE_OVERLAP, {"other": "demo"})
    assert house.judge.steps == ["normalise"]


@pytest.mark.parametrize("base", ["s3://lake/demonstration", "s3://lake/other"])
async def test_storage_beside_another_warehouses_is_allowed(base: str) -> None:
    await create(await a_house(), base=base)


@pytest.mark.parametrize("tells_case", [True, False, None])
@pytest.mark.parametrize("base", ["s3://lake/DEMO", "s3://lake/Demo/inside"])
async def test_storage_that_differs_from_anothers_by_case_alone_is_refused_unless_the_store_tells_them_apart(
    tells_case: bool | None, base: str
) -> None:
    house = await a_house()
    house.judge.tells_case, kept = tells_case, dict(house.judge.kept)
    making = create(house, base=base, secret_id=str(uuid4()))
    if tells_case:
        await making
        return
    assert (await refusal_of(making)).reason == Reason.REASON_STORAGE_OVERLAP
    assert house.judge.kept == kept


async def test_what_a_new_proof_learns_of_case_takes_the_place_of_what_was_known() -> None:
    house = await a_house()
    for tells_case in (False, True, None):
        house.judge.tells_case = tells_case
        await update(house, keep_credential=True)
        assert stored(house).storage.tells_case is tells_case


async def test_an_overlap_with_an_inactive_warehouse_counts() -> None:
    house = await a_house()
    house.change_warehouse(active=False)
    assert (await refusal_of(create(house, base="s3://lake/demo/x"))).reason == Reason.REASON_STORAGE_OVERLAP


async def test_an_overlap_does_not_tell_the_name_of_a_warehouse_of_another_project_or_a_hidden_one() -> None:
    house = await a_house()
    house.make_project("other")
    elsewhere = await refusal_of(create(house, base="s3://lake/demo", context=context(project_id="other")))
    house.authorizer.replace(Rule(allows=False, kind=ObjectKind.WAREHOUSE), ANYTHING)
    hidden = await refusal_of(create(house, base="s3://lake/demo"))
    assert elsewhere.reason == hidden.reason == Reason.REASON_STORAGE_OVERLAP
    assert "demo" not in elsewhere.metadata["other"] + hidden.metadata["other"]
    assert elsewhere.message == hidden.message


async def test_of_two_creations_at_one_place_one_wins_and_the_others_secret_is_forgotten() -> None:
    house, secrets = await a_house(), [uuid4(), uuid4()]
    calls = [
        create(house, f"w{n}", base=f"s3://lake/same{'/in' * n}", secret_id=str(secret))
        for n, secret in enumerate(secrets)
    ]
    results = await asyncio.gather(*calls, return_exceptions=True)
    refused = [each for each in results if isinstance(each, Refusal)]
    assert [each.reason for each in refused] == [Reason.REASON_STORAGE_OVERLAP]
    kept = {row.storage.secret_id for row in house.catalog.rows.warehouses.values()}
    assert kept == set(house.judge.kept)


async def test_a_failed_proof_makes_no_warehouse_and_keeps_no_secret() -> None:
    house = await a_house()
    house.judge.refuses["validate"] = FAILED
    before = dict(house.judge.kept)
    assert await refusal_of(create(house, secret_id=str(uuid4()))) is FAILED
    assert len(house.catalog.rows.warehouses) == 1
    assert house.judge.kept == before


@pytest.mark.parametrize(("fate", "rows"), [(Fate.AWAY, 1), (Fate.LOST_BEFORE, 1), (Fate.LOST_AFTER, 2)])
async def test_no_row_refers_to_a_secret_that_is_not_kept_whatever_becomes_of_the_commit(fate: Fate, rows: int) -> None:
    house = await a_house()
    keep = house.judge.keep_secret

    async def then_lost(secret_id: UUID, warehouse_id: WarehouseId) -> None:
        await keep(secret_id, warehouse_id)
        house.catalog.next_commit = fate

    house.judge.keep_secret = then_lost  # type: ignore[method-assign]
    await refusal_of(create(house, secret_id=str(uuid4())))
    stored_secrets = {row.storage.secret_id for row in house.catalog.rows.warehouses.values()}
    assert len(house.catalog.rows.warehouses) == rows
    assert stored_secrets <= set(house.judge.kept)


async def test_a_repeated_creation_under_a_key_answers_with_the_same_warehouse_though_its_secret_is_staged_anew() -> (
    None
):
    house, key = await a_house(), context(idempotency_key=str(uuid4()))
    first = await create(house, secret_id=str(uuid4()), context=key)
    house.judge.steps.clear()
    assert await create(house, secret_id=str(uuid4()), context=key) == first
    assert house.judge.steps == []


async def test_a_secret_that_is_another_warehouses_is_refused() -> None:
    house = await a_house()
    stolen = stored(house).storage.secret_id
    assert (await refusal_of(create(house, secret_id=str(stolen)))).reason == Reason.REASON_NO_SUCH_SECRET
    assert stolen in house.judge.kept


async def test_a_profile_that_may_not_replace_the_old_is_refused_before_it_is_proved() -> None:
    house = await a_house()
    house.judge.steps.clear()
    refusal = await refusal_of(update(house, base="s3://other", keep_credential=True))
    assert refusal.reason == Reason.REASON_STORAGE_PROFILE_IMMUTABLE
    assert house.judge.steps == ["normalise"]


async def test_a_replaced_credential_is_forgotten_after_the_row_names_the_new_one() -> None:
    house, fresh = await a_house(), uuid4()
    old = stored(house).storage.secret_id
    house.judge.steps.clear()
    await update(house, secret_id=str(fresh))
    assert house.judge.steps == ["normalise", "validate", "claim", "keep", "forget"]
    assert (stored(house).storage.secret_id, house.judge.forgotten) == (fresh, [old])
    assert house.events()[-1] == "updateWarehouseStorage"


async def test_an_update_that_keeps_the_credential_forgets_nothing() -> None:
    house = await a_house()
    old = stored(house).storage.secret_id
    await update(house, keep_credential=True)
    assert (stored(house).storage.secret_id, house.judge.forgotten) == (old, [])


async def test_an_update_without_a_word_on_the_credential_is_refused() -> None:
    house = await a_house()
    assert (await refusal_of(update(house))).reason == Reason.REASON_INVALID_FIELD
    assert stored(house).storage.secret_id is not None


async def test_a_credential_is_replaced_and_its_profile_judged_again() -> None:
    house, fresh = await a_house(), uuid4()
    house.judge.steps.clear()
    reply = await credential(house, fresh)
    assert house.judge.steps == ["normalise", "validate", "claim", "keep", "forget"]
    assert reply.warehouse.credential_kind == "s3:access-key"
    assert house.events()[-1] == "updateWarehouseStorageCredential"


async def test_a_warehouse_can_go_on_without_a_credential() -> None:
    house = await a_house()
    assert (await credential(house)).warehouse.credential_kind == ""
    assert stored(house).storage.secret_id is None


async def test_of_two_updates_at_once_one_wins_and_the_losers_secret_is_forgotten() -> None:
    house = await a_house()
    results = await asyncio.gather(*(credential(house, uuid4()) for _ in range(2)), return_exceptions=True)
    refused = [each for each in results if isinstance(each, Refusal)]
    assert [each.reason for each in refused] == [Reason.REASON_CONCURRENT_CHANGE]
    assert set(house.judge.kept) == {stored(house).storage.secret_id}


async def test_one_update_sent_twice_at_once_keeps_its_secret() -> None:
    house, fresh = await a_house(), uuid4()
    await asyncio.gather(*(credential(house, fresh) for _ in range(2)), return_exceptions=True)
    assert stored(house).storage.secret_id == fresh
    assert fresh in house.judge.kept


async def test_an_update_that_moves_the_storage_onto_anothers_place_is_refused() -> None:
    house = await a_house()
    house.warehouse_id = await house.make_warehouse("far", base="s3://lake/demo", place="elsewhere")
    refusal = await refusal_of(update(house, keep_credential=True, profile={"place": "store"}))
    assert refusal.reason == Reason.REASON_STORAGE_OVERLAP


async def test_a_name_is_changed_with_an_event_and_to_itself_without_one() -> None:
    house = await a_house()

    async def rename(name: str) -> Any:
        return await house.warehouses.RenameWarehouse(
            warehouses_pb2.RenameWarehouseRequest(warehouse_id=house.warehouse_id, name=name)
        )

    assert (await rename("Demo")).warehouse.name == "Demo"
    before = house.events()
    assert before[-1] == "renameWarehouse"
    await rename("Demo")
    assert house.events() == before
    await house.make_warehouse("taken", base="s3://lake/taken")
    assert (await refusal_of(rename("TAKEN"))).reason == Reason.REASON_WAREHOUSE_EXISTS
    assert (await refusal_of(rename("a/b"))).reason == Reason.REASON_INVALID_WAREHOUSE_NAME


async def test_an_inactive_warehouse_is_got_activated_and_deleted_but_not_renamed_or_used() -> None:
    house = await a_house()
    which: dict[str, Any] = {"warehouse_id": house.warehouse_id}
    await house.warehouses.DeactivateWarehouse(warehouses_pb2.DeactivateWarehouseRequest(**which))
    await house.warehouses.DeactivateWarehouse(warehouses_pb2.DeactivateWarehouseRequest(**which))
    assert house.events().count("deactivateWarehouse") == 1
    got = (await house.warehouses.GetWarehouse(warehouses_pb2.GetWarehouseRequest(**which))).warehouse
    assert got.status == warehouses_pb2.WAREHOUSE_STATUS_INACTIVE
    for call in (
        house.warehouses.RenameWarehouse(warehouses_pb2.RenameWarehouseRequest(name="x", **which)),
        house.warehouses.GetConfig(warehouses_pb2.GetConfigRequest(warehouse="demo")),
        update(house, keep_credential=True),
        credential(house),
    ):
        assert (await refusal_of(call)).reason == Reason.REASON_NO_SUCH_WAREHOUSE
    await house.warehouses.ActivateWarehouse(warehouses_pb2.ActivateWarehouseRequest(**which))
    assert stored(house).active
    assert house.events()[-1] == "activateWarehouse"


async def test_a_warehouse_is_deleted_when_it_is_empty_and_its_secret_with_it() -> None:
    house = await a_house()
    request = warehouses_pb2.DeleteWarehouseRequest(warehouse_id=house.warehouse_id)
    assert (await refusal_of(house.warehouses.DeleteWarehouse(request))).reason == Reason.REASON_WAREHOUSE_NOT_EMPTY
    house.catalog.rows.namespaces.clear()
    house.catalog.rows.tabulars.clear()
    house.change_warehouse(protected=True)
    assert (await refusal_of(house.warehouses.DeleteWarehouse(request))).reason == Reason.REASON_WAREHOUSE_PROTECTED
    secret = stored(house).storage.secret_id
    await house.warehouses.DeleteWarehouse(
        warehouses_pb2.DeleteWarehouseRequest(warehouse_id=house.warehouse_id, force=True)
    )
    assert house.judge.forgotten == [secret]
    assert house.events()[-1] == "deleteWarehouse"


@pytest.mark.parametrize("active", [True, False])
async def test_a_warehouse_that_was_protected_is_deleted_once_its_protection_is_gone(active: bool) -> None:
    house = await a_house()
    house.catalog.rows.namespaces.clear()
    house.catalog.rows.tabulars.clear()
    house.change_warehouse(active=active)
    which: dict[str, Any] = {"warehouse_id": house.warehouse_id}

    async def protect(*, protected: bool) -> warehouses_pb2.Warehouse:
        request = warehouses_pb2.SetWarehouseProtectionRequest(protected=protected, **which)
        answered: warehouses_pb2.Warehouse = (await house.warehouses.SetWarehouseProtection(request)).warehouse
        got = (await house.warehouses.GetWarehouse(warehouses_pb2.GetWarehouseRequest(**which))).warehouse
        assert got == answered
        return answered

    assert (await protect(protected=True)).protected
    deletion = warehouses_pb2.DeleteWarehouseRequest(**which)
    assert (await refusal_of(house.warehouses.DeleteWarehouse(deletion))).reason == Reason.REASON_WAREHOUSE_PROTECTED
    assert not (await protect(protected=False)).protected
    await house.warehouses.DeleteWarehouse(deletion)
    assert house.catalog.rows.warehouses == {}
    assert house.events()[-3:] == ["updateWarehouseProtection", "updateWarehouseProtection", "deleteWarehouse"]


async def test_protection_that_a_warehouse_has_already_is_no_change_and_no_event() -> None:
    house = await a_house()
    before, told = stored(house), house.events()
    request = warehouses_pb2.SetWarehouseProtectionRequest(warehouse_id=house.warehouse_id, protected=False)
    assert not (await house.warehouses.SetWarehouseProtection(request)).warehouse.protected
    assert (stored(house), house.events()) == (before, told)


async def test_a_repeated_deletion_under_a_key_succeeds() -> None:
    house = await a_house()
    house.warehouse_id = await house.make_warehouse("empty", base="s3://lake/empty")
    request = warehouses_pb2.DeleteWarehouseRequest(
        warehouse_id=house.warehouse_id, context=context(idempotency_key=str(uuid4()))
    )
    await house.warehouses.DeleteWarehouse(request)
    await house.warehouses.DeleteWarehouse(request)
    assert house.events().count("deleteWarehouse") == 1


async def test_a_list_is_by_name_of_active_ones_unless_others_are_asked_for() -> None:
    house = await a_house()
    await house.make_warehouse("Alpha", base="s3://lake/alpha")
    house.change_warehouse(active=False)

    async def listed(*statuses: Any) -> list[str]:
        reply = await house.warehouses.ListWarehouses(warehouses_pb2.ListWarehousesRequest(statuses=statuses))
        return [each.name for each in reply.warehouses]

    active, inactive = warehouses_pb2.WAREHOUSE_STATUS_ACTIVE, warehouses_pb2.WAREHOUSE_STATUS_INACTIVE
    assert await listed() == ["Alpha"]
    assert await listed(inactive) == ["demo"]
    assert await listed(active, inactive) == ["Alpha", "demo"]
    assert (await refusal_of(listed(0))).reason == Reason.REASON_INVALID_FIELD


async def test_a_list_of_warehouses_goes_on_behind_the_name_where_a_page_ended() -> None:
    house = await a_house()
    for name in ("Ähre", "Beta", "alpha"):
        await house.make_warehouse(name, base=f"s3://lake/{name}")

    async def page(token: str, *statuses: Any) -> Any:
        wanted = context_pb2.Page(size=2, token=token)
        return await house.warehouses.ListWarehouses(
            warehouses_pb2.ListWarehousesRequest(page=wanted, statuses=statuses)
        )

    first = await page("")
    second = await page(first.next_page_token)
    assert [each.name for each in (*first.warehouses, *second.warehouses)] == ["alpha", "Beta", "demo", "Ähre"]
    assert second.next_page_token == ""
    inactive = warehouses_pb2.WAREHOUSE_STATUS_INACTIVE
    for token, statuses in ((first.next_page_token[:-1], ()), ("nonsense", ()), (first.next_page_token, (inactive,))):
        assert (await refusal_of(page(token, *statuses))).reason == Reason.REASON_INVALID_PAGE_TOKEN


async def test_a_list_holds_only_what_the_caller_may_see() -> None:
    house = await a_house()
    shown = UUID(await house.make_warehouse("shown", base="s3://lake/shown"))
    house.authorizer.replace(
        Rule(allows=True, kind=ObjectKind.WAREHOUSE, id=shown),
        Rule(allows=False, kind=ObjectKind.WAREHOUSE),
        ANYTHING,
    )
    reply = await house.warehouses.ListWarehouses(warehouses_pb2.ListWarehousesRequest())
    assert [each.name for each in reply.warehouses] == ["shown"]


# -- the configuration of clients


async def configured(house: House, warehouse: str, **about: Any) -> Any:
    return await house.warehouses.GetConfig(
        warehouses_pb2.GetConfigRequest(warehouse=warehouse, context=context(**about))
    )


async def test_a_client_is_told_its_prefix_page_size_and_address() -> None:
    house = await a_house()
    config = await configured(house, "DEMO", base_uri="https://lake.example.org")
    assert config.warehouse_id == house.warehouse_id
    assert config.overrides == {"prefix": house.warehouse_id, "uri": "https://lake.example.org/catalog"}
    assert config.defaults == {"prefix": house.warehouse_id, "rest-page-size": "100", "s3.region": "eu"}
    assert config.idempotency_key_lifetime == Duration(seconds=1800)


async def test_clients_are_asked_not_to_delete_files_where_drops_can_be_restored() -> None:
    house = await a_house()
    house.change_warehouse(restorable_for=timedelta(days=7))
    assert (await configured(house, "demo")).defaults["s3.delete-enabled"] == "false"


async def test_a_warehouse_is_named_with_or_without_its_project() -> None:
    house = await a_house()
    house.make_project("other")
    nil = "00000000-0000-0000-0000-000000000000"
    for named, project in ((f"{nil}/demo", ""), ("demo", ""), (f"{nil}/demo", "other")):
        assert (await configured(house, named, project_id=project)).warehouse_id == house.warehouse_id
    for named, project in (("other/demo", ""), ("demo", "other"), ("a b/demo", ""), ("absent/demo", "")):
        refusal = await refusal_of(configured(house, named, project_id=project))
        assert (refusal.reason, refusal.metadata) == (Reason.REASON_NO_SUCH_WAREHOUSE, {"warehouse": named})


async def test_a_warehouse_is_named_by_its_id_as_well_whatever_the_project() -> None:
    house = await a_house()
    house.make_project("other")
    for project in ("", "other"):
        config = await configured(house, house.warehouse_id, project_id=project)
        assert config.warehouse_id == house.warehouse_id
    absent = "0198e000-0000-7000-8000-00000000ffff"
    refusal = await refusal_of(configured(house, absent))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_NO_SUCH_WAREHOUSE, {"warehouse": absent})


async def test_of_a_name_that_is_another_warehouses_id_the_named_one_is_meant() -> None:
    house = await a_house()
    named = await create(house, name=house.warehouse_id)
    assert (await configured(house, house.warehouse_id)).warehouse_id == named.warehouse.warehouse_id


async def test_who_may_not_see_a_warehouse_is_told_by_its_id_that_there_is_none() -> None:
    house = await a_house()
    house.authorizer.replace(Rule(allows=False, kind=ObjectKind.WAREHOUSE), ANYTHING)
    refusal = await refusal_of(configured(house, house.warehouse_id))
    assert refusal.reason == Reason.REASON_NO_SUCH_WAREHOUSE


async def test_a_warehouse_must_be_named() -> None:
    assert (await refusal_of(configured(await a_house(), ""))).reason == Reason.REASON_WAREHOUSE_MISSING


async def test_a_caller_is_recorded_as_a_user_though_the_answer_is_a_refusal() -> None:
    house = await a_house()
    await refusal_of(configured(house, "absent", authorization="oidc~anna"))
    assert house.identity.provisioned == ["oidc~anna"]


async def test_a_client_is_configured_during_maintenance_though_nobody_can_be_recorded() -> None:
    house = await a_house()
    house.identity.refuses_provisioning = Refusal(Reason.REASON_MAINTENANCE, "read-only")
    assert (await configured(house, "demo")).warehouse_id == house.warehouse_id
    house.identity.refuses_provisioning = Refusal(Reason.REASON_TOKEN_REFUSED, "no name", cause="no name")
    assert (await refusal_of(configured(house, "demo"))).reason == Reason.REASON_TOKEN_REFUSED


async def test_a_caller_who_may_use_a_warehouse_but_not_be_configured_is_told_so() -> None:
    house = await a_house()
    house.authorizer.replace(Rule(allows=False, action=Action.WAREHOUSE_GET_CONFIG), ANYTHING)
    assert (await refusal_of(configured(house, "demo"))).reason == Reason.REASON_FORBIDDEN


async def test_callers_alike_are_configured_by_one_look_and_one_decision_and_others_by_their_own() -> None:
    house = await a_house()
    decided: list[str] = []
    decide = house.authorizer.decide

    async def told(principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        decided.append(principal.user_id)
        return await decide(principal, demands)

    house.authorizer.decide = told  # type: ignore[method-assign]  # of this house's own
    asked = ["oidc~anna"] * 20 + ["oidc~peter"] * 20
    configs = await asyncio.gather(*(configured(house, "demo", authorization=who) for who in asked))
    assert {config.warehouse_id for config in configs} == {house.warehouse_id}
    assert sorted(decided) == ["oidc~anna", "oidc~peter"]


async def test_who_asks_when_a_decision_has_begun_is_told_by_the_next_one() -> None:
    house = await a_house()
    begun, goes_on = asyncio.Event(), asyncio.Event()
    decide = house.authorizer.decide

    async def slowly(principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        outcomes = await decide(principal, demands)
        begun.set()
        await goes_on.wait()
        return outcomes

    house.authorizer.decide = slowly  # type: ignore[method-assign]  # of this house's own
    early = asyncio.create_task(configured(house, "demo"))
    await begun.wait()
    house.authorizer.replace(
        Rule(allows=False, action=Action.WAREHOUSE_GET_CONFIG), ANYTHING
    )  # the right was taken away
    late = asyncio.create_task(refusal_of(configured(house, "demo")))
    await asyncio.sleep(0)
    goes_on.set()
    assert (await early).warehouse_id == house.warehouse_id
    assert (await late).reason == Reason.REASON_FORBIDDEN


async def test_a_project_id_with_forbidden_characters_is_refused_everywhere() -> None:
    refusal = await refusal_of(configured(await a_house(), "demo", project_id="a b"))
    assert refusal.reason == Reason.REASON_MALFORMED_PROJECT_ID


async def test_a_warehouse_of_a_project_that_is_absent_cannot_be_made() -> None:
    house = await a_house()
    refusal = await refusal_of(create(house, context=context(project_id=ProjectId("absent"))))
    assert refusal.reason == Reason.REASON_NO_SUCH_PROJECT


async def test_a_secret_that_a_crash_left_behind_is_forgotten_later() -> None:
    house = await a_house()
    secrets = Secrets(house.judge, house.parts.doors.warehouses, house.parts.unnamed_secrets)
    old = stored(house).storage.secret_id
    house.judge.refuses["forget"] = Refusal(Reason.REASON_SERVICE_UNAVAILABLE, "gone", service="vending")
    await update(house, secret_id=str(uuid4()))
    assert house.judge.forgotten == []
    sweep = partial(secrets.forget_left, before=house.clock.now() + timedelta(minutes=2), limit=10)
    with pytest.raises(Refusal):
        await sweep()
    house.judge.refuses.clear()
    assert await sweep() == 1
    assert house.judge.forgotten == [old]
    assert await sweep() == 0
