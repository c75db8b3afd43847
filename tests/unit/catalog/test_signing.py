"""Signing, as far as the catalog decides it: whose files a request is about, and what is said of what is hidden."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.application.ports.access import Access
from lakeward_catalog.domain.model import State
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of
from tests.support.catalog.signing import READING, WRITING, Looks, file_of, said, sign, signs
from tests.support.catalog.tables import STAGED, create, drop
from tests.support.deciding import Rule


@pytest.fixture
async def house(monkeypatch: pytest.MonkeyPatch) -> House:
    """Signs what stays inside the tabular that it is given, as vending does; `signed` remembers."""
    house = await a_house()
    house.signed = signs(house, monkeypatch)  # type: ignore[attr-defined]  # what the fixture says
    return house


def signed(house: House) -> list[tuple[str, Access]]:
    """Names of tables, and how far the access went."""
    names = {tabular.location: tabular.ident.name for tabular in house.catalog.rows.tabulars.values()}
    remembered: list[tuple[str, Access]] = house.signed  # type: ignore[attr-defined]  # as above
    return [(names[location], level) for location, level in remembered]


@pytest.mark.parametrize("of", ["orders", ""], ids=["by id", "by place"])
@pytest.mark.parametrize("method", [*READING, *WRITING])
async def test_a_request_is_signed_as_far_as_its_method_needs(house: House, method: str, of: str) -> None:
    reply = await sign(house, file_of(house, "orders"), of=of, method=method)
    assert dict(reply.headers)["authorization"].values[0].startswith("signed")
    assert signed(house) == [("orders", Access.READ if method in READING else Access.READ_WRITE_DELETE)]


@pytest.mark.parametrize("method", [*READING, *WRITING])
async def test_the_right_to_write_is_needed_for_what_does_not_only_read(house: House, method: str) -> None:
    house.authorizer.replace(Rule(allows=False, action=Action.TABLE_WRITE_DATA), ANYTHING)
    if method in READING:
        await sign(house, file_of(house, "orders"), of="orders", method=method)
    else:
        for of in ("orders", ""):
            refusal = await refusal_of(sign(house, file_of(house, "orders"), of=of, method=method))
            assert refusal.reason == Reason.REASON_FORBIDDEN
        assert not signed(house)


async def test_a_client_that_signs_through_an_earlier_tables_address_is_served_by_the_place(house: House) -> None:
    await create(house)
    await sign(house, file_of(house, "new"), of="orders")
    assert signed(house) == [("new", Access.READ)]


async def test_by_the_place_the_right_to_what_lies_there_counts(house: House) -> None:
    await create(house)
    theirs = house.tabular("new").incarnation
    house.authorizer.replace(Rule(allows=False, id=theirs, action=Action.TABLE_READ_DATA), ANYTHING)
    assert (await refusal_of(sign(house, file_of(house, "new"), of="orders"))).reason == Reason.REASON_FORBIDDEN
    assert not signed(house)


@pytest.mark.parametrize("of", ["new", ""])
async def test_files_of_a_table_that_was_just_dropped_are_still_asked_after(house: House, of: str) -> None:
    await create(house)
    uri = file_of(house, "new")
    house.change_warehouse(restorable_for=timedelta(days=1))
    await drop(house, "new")
    assert house.tabular("new").state is State.DROPPED
    await sign(house, uri, of=of, method="HEAD")


async def test_files_of_a_staged_table_are_signed(house: House) -> None:
    await create(house, **STAGED)
    await sign(house, file_of(house, "new"), of="new", method="PUT")


async def test_a_view_has_no_files_to_sign_for(house: House) -> None:
    absent = await refusal_of(sign(house, file_of(house, "recent"), of=uuid4()))
    for of in ("recent", ""):
        refusal = await refusal_of(sign(house, file_of(house, "recent"), of=of))
        assert refusal.reason == absent.reason == Reason.REASON_NO_SUCH_TABLE
    outside = await refusal_of(sign(house, file_of(house, "recent"), of="orders"))
    assert outside.reason == Reason.REASON_SIGNING_OUTSIDE


@pytest.mark.parametrize("of", ["its id", "", "orders"])
async def test_a_hidden_table_is_refused_like_one_that_is_absent(house: House, of: str) -> None:
    await create(house, location="s3://lake/demo/hidden")
    uri, hidden = file_of(house, "new"), house.tabular("new")
    named: Any = hidden.tabular_id if of == "its id" else of
    house.authorizer.replace(Rule(allows=False, id=hidden.incarnation), ANYTHING)
    while_hidden = await refusal_of(sign(house, uri, of=named))
    house.authorizer.replace(ANYTHING)
    await drop(house, "new")
    assert said(await refusal_of(sign(house, uri, of=named))) == said(while_hidden)
    assert not signed(house)


async def test_a_place_of_no_table_is_outside_of_the_one_that_was_named(house: House) -> None:
    nowhere = "https://s3/lake/demo/nowhere/x"
    assert (await refusal_of(sign(house, nowhere, of="orders"))).reason == Reason.REASON_SIGNING_OUTSIDE
    assert (await refusal_of(sign(house, nowhere))).reason == Reason.REASON_NO_SUCH_TABLE


@pytest.mark.parametrize(
    "why",
    [
        Refusal(Reason.REASON_SIGNING_INVALID, "no object", cause="UriNotS3"),
        Refusal(Reason.REASON_SIGNING_METHOD, "not this", method="GET"),
        Refusal(Reason.REASON_SIGNING_DISABLED, "not here"),
    ],
    ids=str,
)
async def test_what_vending_would_not_sign_is_not_looked_for_elsewhere(
    house: House, why: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: Any, **__: Any) -> None:
        raise why

    async def looked_for(*_: Any) -> None:
        raise AssertionError("nobody asked where it lies")

    monkeypatch.setattr(house.access, "sign", refused)
    monkeypatch.setattr(house.catalog.tabulars, "by_location", looked_for)
    assert (await refusal_of(sign(house, file_of(house, "orders"), of="orders"))).reason == why.reason


async def test_who_may_not_use_the_warehouse_has_nothing_signed(house: House) -> None:
    house.authorizer.replace(Rule(allows=False, action=Action.WAREHOUSE_USE), ANYTHING)
    refusal = await refusal_of(sign(house, file_of(house, "orders"), of="orders"))
    assert refusal.reason == Reason.REASON_NO_SUCH_WAREHOUSE


@pytest.mark.parametrize("of", ["orders", ""], ids=["by id", "by place"])
async def test_warehouse_and_table_are_decided_in_one_question_as_soon_as_both_are_known(
    house: House, of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(house, monkeypatch)
    await sign(house, file_of(house, "orders"), of=of)
    assert looks.authz == ([2] if of else [1, 1])
    assert sorted(looks.stores) == (["by_id", "find"] if of else ["by_location", "find"])


async def test_warehouse_and_table_are_read_at_the_same_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    both = asyncio.Barrier(2)

    def meeting(asked: Any) -> Any:
        async def meet(*args: Any) -> Any:
            async with asyncio.timeout(5):
                await both.wait()
            return await asked(*args)

        return meet

    for store, name in ((house.catalog.warehouses, "find"), (house.catalog.tabulars, "by_id")):
        monkeypatch.setattr(store, name, meeting(getattr(store, name)))
    await sign(house, file_of(house, "orders"), of="orders")
    assert signed(house) == [("orders", Access.READ)]


@pytest.mark.parametrize("why", ["absent", "inactive", "hidden"])
async def test_a_warehouse_that_is_not_there_is_refused_alike_whatever_table_is_named(house: House, why: str) -> None:
    uri, orders, nothing = file_of(house, "orders"), house.tabular("orders").tabular_id, uuid4()
    at = str(uuid4()) if why == "absent" else house.warehouse_id
    if why == "inactive":
        house.change_warehouse(active=False)
    if why == "hidden":
        house.authorizer.replace(Rule(allows=False))
    refusals = [await refusal_of(sign(house, uri, of=of, at=at)) for of in (orders, nothing, "")]
    assert {refusal.reason for refusal in refusals} == {Reason.REASON_NO_SUCH_WAREHOUSE}
    assert len({refusal.message for refusal in refusals}) == 1
