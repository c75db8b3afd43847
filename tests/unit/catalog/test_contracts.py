"""Contracts of a warehouse: setting them, and what they refuse of every change."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from lakeward_catalog.application.ports.gates import CheckerAway
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.tasks import Queue
from lakeward_protocol.catalog.v1 import (
    cascades_pb2,
    contracts_pb2,
    namespaces_pb2,
    tables_pb2,
    tabulars_pb2,
    tasks_pb2,
)
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import House, a_house, ident, refusal_of, tabular, tabular_ref
from tests.support.catalog.tables import (
    Json,
    a_file,
    commit,
    create,
    drop,
    load,
    prop,
    register,
    transaction,
)

NO_COLUMN: Json = {"action": "add-schema", "schema": {"type": "struct", "fields": []}}
CURRENT: Json = {"action": "set-current-schema", "schema-id": -1}


@pytest.fixture
async def house() -> House:
    return await a_house()


async def promise(house: House, *contracts: Json) -> None:
    await house.contracts.SetContracts(
        contracts_pb2.SetContractsRequest(warehouse_id=house.warehouse_id, contracts=json.dumps(contracts).encode())
    )


def refuses(operation: str, **members: Any) -> Json:
    return {"name": "kept", "rules": {"refused-operations": [operation]}, **members}


async def violated(call: Any, contract: str = "kept") -> str:
    refusal = await refusal_of(call)
    assert refusal.reason == Reason.REASON_CONTRACT_VIOLATED
    assert refusal.metadata["contract"] == contract
    assert repr(contract) in refusal.message
    return refusal.message


def rename(house: House, *to: str) -> Awaitable[Any]:
    call: Awaitable[Any] = house.tables.RenameTable(
        tables_pb2.RenameTableRequest(
            warehouse_id=house.warehouse_id, source=tabular("sales", "orders"), destination=tabular(*to)
        )
    )
    return call


async def test_contracts_are_shown_as_they_were_set_and_told_once(house: House) -> None:
    contract = {"name": "kept", "namespace": ["sales"], "rules": {"columns-stay": True}}
    told = len(house.events())
    await promise(house, contract)
    await promise(house, contract)
    found = await house.contracts.GetContracts(contracts_pb2.GetContractsRequest(warehouse_id=house.warehouse_id))
    assert json.loads(found.contracts) == [contract]
    assert house.events()[told:] == ["updateWarehouseContracts"]
    assert house.event()["data"]["contracts"] == [contract]
    await promise(house)
    assert house.event()["data"]["contracts"] == []


async def test_a_commit_that_drops_a_column_is_refused_by_name_and_reason_and_changes_nothing(house: House) -> None:
    await promise(house, {"name": "kept", "namespace": ["sales"], "rules": {"columns-stay": True}})
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    assert "column 'id' stays, and would be dropped" in await violated(commit(house, NO_COLUMN, CURRENT))
    assert (house.catalog.rows, house.files.stored) == (rows, files)
    await commit(house, prop("a"))
    await promise(house, {"name": "kept", "namespace": ["other"], "rules": {"columns-stay": True}})
    await commit(house, NO_COLUMN, CURRENT)


async def test_of_a_transaction_nothing_is_written_where_one_table_breaks_its_contract(house: House) -> None:
    await house.make_table("sales", "items")
    await promise(house, {"name": "kept", "names": ["items"], "rules": {"properties-stay": ["a"]}})
    await transaction(house, (("sales", "orders"), prop("a")), (("sales", "items"), prop("a")))
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    await violated(transaction(house, (("sales", "orders"), prop("a", "y")), (("sales", "items"), prop("a", "y"))))
    assert (house.catalog.rows, house.files.stored) == (rows, files)


async def test_a_commit_that_lost_a_race_is_asked_about_what_won_it(house: House) -> None:
    """The other adds a column; what is wanted keeps those that were there, and would drop the new one."""
    await promise(house, {"name": "kept", "checkers": ["approval"]})
    rival = House(shares=house)
    house.checker.answers = [None]
    inner = house.parts.gate.check

    async def overtaken(change: Any) -> bool:
        looked = await inner(change)
        house.parts.gate.check = inner  # type: ignore[method-assign]  # this house's own
        await commit(rival, prop("theirs"))
        return looked

    house.parts.gate.check = overtaken  # type: ignore[method-assign]
    await commit(house, prop("mine"))
    seen = [json.loads(question.old or b"")["properties"] for question in house.checker.asked]
    assert seen == [{}, {"theirs": "x"}]


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("create", create),
        ("create", lambda house: house.make_view("sales", "other")),
        ("create", lambda house: house.make_generic("sales", "other")),
        ("commit", lambda house: commit(house, prop("a"))),
        ("drop", lambda house: drop(house, "orders")),
        ("rename", lambda house: rename(house, "sales", "other")),
        (
            "create-namespace",
            lambda house: house.make_namespace("sales", "eu"),
        ),
        (
            "update-namespace",
            lambda house: house.namespaces.UpdateNamespaceProperties(
                namespaces_pb2.UpdateNamespacePropertiesRequest(
                    warehouse_id=house.warehouse_id, ident=ident("sales"), updates={"a": "b"}
                )
            ),
        ),
        ("drop-namespace", lambda house: house.drop_namespace("sales")),
        (
            "drop-namespace",
            lambda house: house.cascades.DropTree(cascades_pb2.DropTreeRequest(warehouse_id=house.warehouse_id)),
        ),
        (
            "move-namespace",
            lambda house: house.namespaces.MoveNamespace(
                namespaces_pb2.MoveNamespaceRequest(
                    warehouse_id=house.warehouse_id,
                    namespace_id=str(house.namespace("sales").namespace_id),
                    destination=ident("other"),
                )
            ),
        ),
    ],
)
async def test_every_operation_can_be_refused(
    house: House, operation: str, call: Callable[[House], Awaitable[Any]]
) -> None:
    await promise(house, refuses(operation, namespace=["sales"]))
    rows = house.catalog.rows.copy()
    assert f"it refuses every {operation}" in await violated(call(house))
    assert house.catalog.rows == rows


async def test_what_was_dropped_comes_back_neither_by_restoring_nor_by_ending_its_task(house: House) -> None:
    house.change_warehouse(restorable_for=timedelta(days=1))
    await drop(house, "orders")
    await promise(house, refuses("undrop"))
    which = tabular_ref(Kind.TABLE, house.tabular("orders").tabular_id)
    await violated(
        house.tabulars.UndropTabulars(
            tabulars_pb2.UndropTabularsRequest(warehouse_id=house.warehouse_id, tabulars=[which])
        )
    )
    await violated(
        house.tasks.ControlTasks(
            tasks_pb2.ControlTasksRequest(
                warehouse_id=house.warehouse_id,
                task_ids=[house.task_id(Queue.SOFT_DELETION)],
                action=tasks_pb2.TASK_ACTION_CANCEL,
            )
        )
    )


async def test_a_rename_into_a_contracts_namespace_has_to_keep_it(house: House) -> None:
    await house.make_namespace("gold")
    await promise(house, {"name": "kept", "namespace": ["gold"], "rules": {"required-columns": [{"name": "owner"}]}})
    assert "column 'owner' is missing" in await violated(rename(house, "gold", "orders"))
    await rename(house, "sales", "kept")


async def test_a_table_that_is_registered_over_another_is_a_change_of_that_one(house: House) -> None:
    await promise(house, {"name": "kept", "rules": {"properties-stay": ["a"]}})
    await commit(house, prop("a"))
    file = "s3://lake/demo/elsewhere/metadata/00001-a.metadata.json"
    house.files.stored[file] = a_file("s3://lake/demo/elsewhere")
    await violated(register(house, file, name="orders", overwrite=True))


@pytest.mark.parametrize("inside", [("sales",), ("sales", "eu")])
async def test_a_namespace_that_holds_what_a_contract_keeps_stays(house: House, inside: tuple[str, ...]) -> None:
    await promise(house, refuses("drop-namespace", namespace=inside, names=["orders"]))
    await violated(house.drop_namespace("sales"))


async def test_a_checker_sees_both_documents_and_says_no_in_its_own_words(house: House) -> None:
    await promise(house, {"name": "kept", "checkers": ["approval"]})
    house.checker.answers = ["ask the owners first"]
    message = await violated(commit(house, prop("a")))
    assert "checker 'approval' says: ask the owners first" in message
    (question,) = house.checker.asked
    assert question.old is not None
    assert question.new is not None
    assert json.loads(question.old)["properties"] == {}
    assert json.loads(question.new)["properties"] == {"a": "x"}


async def test_rules_are_asked_before_checkers(house: House) -> None:
    await promise(house, {"name": "kept", "checkers": ["approval"], "rules": {"columns-stay": True}})
    await violated(commit(house, NO_COLUMN, CURRENT))
    assert house.checker.asked == []


@pytest.mark.parametrize(("checker", "made"), [("approval", False), ("lenient", True)])
async def test_a_checker_that_is_away_keeps_changes_unless_it_fails_open(
    house: House, checker: str, made: bool
) -> None:
    await promise(house, {"name": "kept", "checkers": [checker]})
    house.checker.answers = [CheckerAway("no answer within 2 seconds")]
    if made:
        await commit(house, prop("a"))
        return
    refusal = await refusal_of(commit(house, prop("a")))
    assert refusal.reason == Reason.REASON_CONTRACT_CHECK_FAILED
    assert refusal.metadata == {"contract": "kept", "checker": checker}


async def test_who_may_not_change_a_table_is_refused_before_a_contract_is_asked(house: House) -> None:
    await promise(house, {"name": "kept", "checkers": ["approval"]})
    house.authorizer.replace()
    await refusal_of(commit(house, prop("a")))
    assert house.checker.asked == []


async def test_what_changed_while_a_drops_contracts_were_asked_is_not_dropped(house: House) -> None:
    await promise(house, {"name": "kept", "checkers": ["approval"]})
    inner = house.checker.objection

    async def slowly(question: Any) -> str | None:
        house.checker.objection = inner  # type: ignore[method-assign]
        await commit(house, prop("meanwhile"))
        return await inner(question)

    house.checker.objection = slowly  # type: ignore[method-assign]
    assert (await refusal_of(drop(house, "orders"))).reason == Reason.REASON_CONCURRENT_CHANGE
    await load(house)


async def test_without_a_contract_no_metadata_is_made_into_text(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("lakeward_catalog.application.contracts.gate.shape_of", never)
    await commit(house, prop("a"))
    assert house.checker.asked == []
