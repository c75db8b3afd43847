"""Signing with what a load handed out: no store is asked, and nothing comes of it that the look would not have allowed."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeward_catalog.adapters.signer_scopes import SignedScopes
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports.access import Access, StorageRequest, Vended
from lakeward_catalog.application.tables.signer_scopes import Minted, SignerScope
from lakeward_catalog.application.tables.signing import SignStorageRequest, StorageSignings
from lakeward_catalog.domain.model import Incarnation, Kind, TabularId, Warehouse, WarehouseId
from lakeward_locations import LocationError
from lakeward_protocol.catalog.v1 import tables_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.principals import user
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.permits import PermitSigner
from tests.support.catalog.house import ANYTHING, House, a_house, context, refusal_of, table_body, tabular
from tests.support.catalog.signing import BASE, READING, WRITING, Looks, file_of, said, scope_of, sign, signs
from tests.support.catalog.tables import STAGED, create, drop, load
from tests.support.catalog.values import NOON, HeldClock
from tests.support.deciding import Rule

ANNA, BERT = "oidc~anna", "oidc~bert"
READS_ONLY: Final = Rule(allows=False, action=Action.TABLE_WRITE_DATA)
LOOKED_UP: Final = ["by_id", "find"]
Signed = list[tuple[str, Access]]


@pytest.fixture
async def house() -> House:
    return await a_house()


@pytest.fixture
def signed(house: House, monkeypatch: pytest.MonkeyPatch) -> Signed:
    """(location, level) of what was signed."""
    return signs(house, monkeypatch)


def forget_warehouses(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house.catalog.warehouses, "remembered", lambda *_: None)


@pytest.mark.parametrize("method", [*READING, *WRITING])
async def test_a_scope_saves_every_look_and_takes_one_question(
    house: House, signed: Signed, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    scope = await scope_of(house, "orders", who=ANNA)
    looks = Looks(house, monkeypatch)
    reply = await sign(house, file_of(house, "orders"), of="orders", method=method, scope=scope, who=ANNA)
    assert (looks.stores, looks.authz) == ([], [2])
    without = await sign(house, file_of(house, "orders"), of="orders", method=method, who=ANNA)
    assert sorted(looks.stores) == LOOKED_UP  # the twin
    assert reply == without
    level = Access.READ if method in READING else Access.READ_WRITE_DELETE
    assert signed == [(house.tabular("orders").location, level)] * 2


async def test_another_process_with_the_key_takes_the_scope_and_one_with_another_key_looks(
    house: House, signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = await scope_of(house, "orders")
    theirs = House(shares=house)
    looks = Looks(house, monkeypatch)
    await sign(theirs, file_of(house, "orders"), of="orders", scope=scope)
    assert looks.stores == []
    monkeypatch.setattr(house, "signer", PermitSigner(Ed25519PrivateKey.generate()))
    await sign(House(shares=house), file_of(house, "orders"), of="orders", scope=scope)
    assert sorted(looks.stores) == LOOKED_UP
    assert len(signed) == 2


async def test_a_scope_without_a_tabulars_id_is_left_alone(
    house: House, signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = await scope_of(house, "orders")
    looks = Looks(house, monkeypatch)
    await sign(house, file_of(house, "orders"), scope=scope)
    assert looks.stores == ["find", "by_location"]
    assert len(signed) == 1


@pytest.mark.parametrize(
    "why", ["forged", "no scope", "another principal's", "another table's", "expired", "reads only"]
)
async def test_a_scope_that_is_not_good_here_changes_nothing(
    house: House, signed: Signed, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    await create(house)
    scope, method = await scope_of(house, "orders", who=ANNA), "GET"
    match why:
        case "forged":
            scope = scope[:-1] + ("A" if scope[-1] != "A" else "B")
        case "no scope":
            scope = "a scope? no"
        case "another principal's":
            scope = await scope_of(house, "orders", who=BERT)
        case "another table's":
            scope = await scope_of(house, "new", who=ANNA)
        case "expired":
            house.clock.advance(timedelta(hours=1))
        case _:
            house.authorizer.replace(READS_ONLY, ANYTHING)
            scope, method = await scope_of(house, "orders", who=ANNA), "PUT"
            house.authorizer.replace(ANYTHING)
    looks = Looks(house, monkeypatch)
    reply = await sign(house, file_of(house, "orders"), of="orders", method=method, scope=scope, who=ANNA)
    assert (sorted(looks.stores), looks.authz) == (LOOKED_UP, [2])
    assert reply == await sign(house, file_of(house, "orders"), of="orders", method=method, who=ANNA)


async def test_a_scope_is_no_good_at_another_warehouse(
    house: House, signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope, other = await scope_of(house, "orders"), await house.make_warehouse("other", base="s3://lake/other")
    looks = Looks(house, monkeypatch)
    refusal = await refusal_of(sign(house, file_of(house, "orders"), of="orders", at=other, scope=scope))
    assert refusal.reason == Reason.REASON_NO_SUCH_TABLE
    assert looks.stores == ["find", "by_id", "by_location"]
    assert not signed


@pytest.mark.parametrize("why", ["the warehouse was changed", "the warehouse is not remembered"])
async def test_storage_that_may_have_changed_is_looked_up(
    house: House, signed: Signed, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    scope = await scope_of(house, "orders")
    if why == "the warehouse was changed":
        house.change_warehouse(row_version=7)
    else:
        forget_warehouses(house, monkeypatch)
    looks = Looks(house, monkeypatch)
    await sign(house, file_of(house, "orders"), of="orders", scope=scope)
    assert sorted(looks.stores) == LOOKED_UP
    assert len(signed) == 1


async def test_nothing_is_signed_in_a_warehouse_that_is_remembered_to_be_inactive(house: House, signed: Signed) -> None:
    scope = await scope_of(house, "orders")
    house.change_warehouse(active=False)
    refusal = await refusal_of(sign(house, file_of(house, "orders"), of="orders", scope=scope))
    assert refusal.reason == Reason.REASON_NO_SUCH_WAREHOUSE
    assert not signed


@pytest.mark.parametrize(
    ("denied", "method"),
    [
        (Rule(allows=False), "GET"),
        (Rule(allows=False, action=Action.WAREHOUSE_USE), "GET"),
        (Rule(allows=False, action=Action.TABLE_READ_DATA), "GET"),
        (READS_ONLY, "PUT"),
        (Rule(allows=False, principal=ANNA, id="orders"), "GET"),
    ],
    ids=["everything", "the warehouse", "reading", "writing", "seeing the table"],
)
async def test_a_right_that_was_taken_is_missed_at_once_and_in_the_same_words(
    house: House, signed: Signed, denied: Rule, method: str
) -> None:
    scope = await scope_of(house, "orders", who=ANNA)
    if denied.id == "orders":
        denied = dataclasses.replace(denied, id=house.tabular("orders").incarnation)
    house.authorizer.replace(denied, ANYTHING)
    asked: dict[str, Any] = {"of": "orders", "method": method, "who": ANNA}
    with_it = await refusal_of(sign(house, file_of(house, "orders"), scope=scope, **asked))
    without = await refusal_of(sign(house, file_of(house, "orders"), **asked))
    assert said(with_it) == said(without)
    assert not signed


async def test_files_of_another_table_are_signed_as_without_a_scope(house: House, signed: Signed) -> None:
    scope = await scope_of(house, "orders")
    await create(house)
    await sign(house, file_of(house, "new"), of="orders", scope=scope)
    assert [location for location, _ in signed] == [house.tabular("new").location]
    nowhere = "https://s3/lake/demo/nowhere/x"
    refusals = [await refusal_of(sign(house, nowhere, of="orders", scope=each)) for each in (scope, "")]
    assert said(refusals[0]) == said(refusals[1])


async def test_a_secret_that_is_gone_is_looked_for_with_what_is_stored(
    house: House, signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = await scope_of(house, "orders")
    remembered = house.catalog.rows.warehouses[house.tabular("orders").warehouse_id]
    # another process gave it another secret, and nothing has told this one yet
    house.change_warehouse(storage=dataclasses.replace(remembered.storage, secret_id=uuid4()), row_version=7)
    monkeypatch.setattr(house.catalog.warehouses, "remembered", lambda *_: remembered)
    signing, tried = house.access.sign, []

    async def sign_with_what_is_kept(warehouse: Warehouse, *args: Any, **kwargs: Any) -> Any:
        tried.append(warehouse.row_version)
        if warehouse is remembered:
            raise Refusal(Reason.REASON_NO_SUCH_SECRET, "gone", secret=str(remembered.storage.secret_id))
        return await signing(warehouse, *args, **kwargs)

    monkeypatch.setattr(house.access, "sign", sign_with_what_is_kept)
    await sign(house, file_of(house, "orders"), of="orders", scope=scope)
    assert tried == [remembered.row_version, 7]
    assert len(signed) == 1


async def test_what_vending_says_of_the_request_itself_is_not_asked_twice(
    house: House, signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope, tried = await scope_of(house, "orders"), []

    async def refused(*_: Any, **__: Any) -> None:
        tried.append(1)
        raise Refusal(Reason.REASON_SIGNING_INVALID, "no object", cause="UriNotS3")

    monkeypatch.setattr(house.access, "sign", refused)
    refusal = await refusal_of(sign(house, file_of(house, "orders"), of="orders", scope=scope))
    assert (refusal.metadata["cause"], len(tried)) == ("UriNotS3", 1)


async def test_a_table_that_has_another_tables_id_has_none_of_its_scopes_rights(house: House, signed: Signed) -> None:
    """A table that was dropped and registered again: the id is the same, the incarnation is not."""
    scope, before = await scope_of(house, "orders", who=ANNA), house.tabular("orders")
    rows = house.catalog.rows.tabulars
    del rows[before.warehouse_id, before.incarnation]
    again = dataclasses.replace(before, incarnation=Incarnation(uuid4()))
    rows[again.warehouse_id, again.incarnation] = again
    # what was granted on the dropped one is gone, and of the new one Anna may know nothing
    house.authorizer.replace(
        *(Rule(allows=False, principal=ANNA, id=each.incarnation) for each in (before, again)), ANYTHING
    )
    refusal = await refusal_of(sign(house, file_of(house, "orders"), of="orders", scope=scope, who=ANNA))
    assert refusal.reason == Reason.REASON_NO_SUCH_TABLE
    assert not signed


async def test_a_dropped_tables_scope_opens_what_authz_still_allows_and_no_longer_than_its_hour(
    house: House, signed: Signed
) -> None:
    house.change_warehouse(restorable_for=None)
    scope, uri, orders = await scope_of(house, "orders"), file_of(house, "orders"), house.tabular("orders")
    await drop(house, "orders")
    assert not [each for each in house.catalog.rows.tabulars.values() if each.ident.name == "orders"]
    await sign(house, uri, of=orders.tabular_id, scope=scope)  # as with a credential that was vended
    house.authorizer.replace(Rule(allows=False, id=orders.incarnation), ANYTHING)
    assert (await refusal_of(sign(house, uri, of=orders.tabular_id, scope=scope))).reason == Reason.REASON_NO_SUCH_TABLE
    house.authorizer.replace(ANYTHING)
    house.clock.advance(timedelta(hours=1))
    assert (await refusal_of(sign(house, uri, of=orders.tabular_id, scope=scope))).reason == Reason.REASON_NO_SUCH_TABLE
    assert len(signed) == 1


async def test_a_scope_is_in_no_log_line_and_no_event(
    house: House, signed: Signed, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        scope = await scope_of(house, "orders")
        await create(house)
        for uri in (file_of(house, "orders"), "https://s3/lake/demo/nowhere/x", "no uri"):
            with contextlib.suppress(Refusal, LocationError):
                await sign(house, uri, of="orders", scope=scope)
    assert signed
    assert not [record for record in caplog.records if scope in str(vars(record))]
    assert not [event for event in house.catalog.rows.events if scope.encode() in event.body]
    assert scope not in repr(
        SignStorageRequest(WarehouseId(uuid4()), None, StorageRequest("GET", "u", "eu", {}, None), scope)
    )
    assert scope not in repr(Minted(scope, NOON))


# -- what loads hand out


async def test_a_load_hands_the_scope_out_in_the_address_under_both_names(house: House, signed: Signed) -> None:
    config = dict((await load(house, context=context(base_uri=BASE))).table.config)
    orders = house.tabular("orders")
    scope = await scope_of(house, "orders")
    endpoint = f"v1/signer/{house.warehouse_id}/tabular-id/{orders.tabular_id}/v1/aws/s3/sign?scope={scope}"
    assert config == {
        "s3.region": "eu",
        "signer.uri": f"{BASE}/catalog/",
        "s3.signer.uri": f"{BASE}/catalog/",
        "signer.endpoint": endpoint,
        "s3.signer.endpoint": endpoint,
    }


async def test_no_scope_is_handed_out_where_nothing_is_signed_or_no_address_is_known(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    vending = await load(house, context=context(base_uri=BASE))
    signs(house, monkeypatch)
    nowhere = await load(house)
    assert "scope=" not in str(vending) + str(nowhere)
    assert vending.table.etag.count(".") == nowhere.table.etag.count(".") == 1


async def test_who_makes_a_table_gets_its_scope_and_who_repeats_the_call_too(
    house: House, signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = tables_pb2.CreateTableRequest(
        context=context(base_uri=BASE, idempotency_key=str(uuid4())),
        warehouse_id=house.warehouse_id,
        namespace=tabular("sales", "new").namespace,
        body=table_body("new"),
    )
    endpoints = [(await house.tables.CreateTable(request)).table.config["s3.signer.endpoint"] for _ in range(2)]
    assert endpoints[0] == endpoints[1]
    looks = Looks(house, monkeypatch)
    scope = endpoints[0].partition("?scope=")[2]
    await sign(house, file_of(house, "new"), of="new", method="PUT", scope=scope)
    assert looks.stores == []


async def test_a_staged_tables_maker_signs_with_a_scope(
    house: House, signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = tables_pb2.CreateTableRequest(
        context=context(base_uri=BASE),
        warehouse_id=house.warehouse_id,
        namespace=tabular("sales", "new").namespace,
        body=table_body("new", **STAGED),
    )
    config = (await house.tables.CreateTable(request)).table.config
    looks = Looks(house, monkeypatch)
    scope = config["s3.signer.endpoint"].partition("?scope=")[2]
    await sign(house, file_of(house, "new"), of="new", method="PUT", scope=scope)
    assert looks.stores == []


async def test_a_tag_never_holds_when_the_scope_of_its_reply_is_about_to_end(house: House, signed: Signed) -> None:
    with_links = context(base_uri=BASE)
    tag = (await load(house, context=with_links)).table.etag
    house.clock.advance(timedelta(minutes=30) - timedelta(seconds=1))
    assert (await load(house, context=with_links, if_none_match=[tag])).not_modified == tag
    house.clock.advance(timedelta(seconds=1))
    reply = await load(house, context=with_links, if_none_match=[tag])
    assert reply.HasField("table")
    house.clock.advance(timedelta(seconds=1))
    scope = await scope_of(house, "orders")  # less than half of the first one's life is left
    house.clock.advance(timedelta(minutes=59))
    await sign(house, file_of(house, "orders"), of="orders", scope=scope)


@pytest.mark.usefixtures("signed")
@pytest.mark.parametrize(
    ("life", "tag_holds"),
    [(timedelta(minutes=4), timedelta(minutes=2)), (timedelta(hours=5), timedelta(minutes=30))],
    ids=["the credential's", "the scope's"],
)
async def test_a_tag_counts_by_whichever_of_credential_and_scope_ends_first(
    house: House, monkeypatch: pytest.MonkeyPatch, life: timedelta, tag_holds: timedelta
) -> None:
    async def vend(*_: Any, **__: Any) -> Vended:
        token = {"s3.session-token": "x"}
        return Vended(token, token, house.clock.now() + life, sign_remotely=True, refresh_property="")

    monkeypatch.setattr(house.access, "vend", vend)
    with_links = context(base_uri=BASE)
    tag = (await load(house, context=with_links)).table.etag
    house.clock.advance(tag_holds - timedelta(seconds=1))
    assert (await load(house, context=with_links, if_none_match=[tag])).not_modified == tag
    house.clock.advance(timedelta(seconds=1))
    assert (await load(house, context=with_links, if_none_match=[tag])).HasField("table")


# -- whatever the scope, the outcome is that of the look


class World:
    """A house with a table, one that is soft-deleted, a staged one and a view, and scopes of all kinds for them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.house = asyncio.run(self._built())
        signs(self.house, monkeypatch)
        self.warehouse = next(iter(self.house.catalog.rows.warehouses.values()))
        self.tabulars = sorted(self.house.catalog.rows.tabulars.values(), key=lambda each: each.ident.name)
        tables = [each for each in self.tabulars if each.kind is Kind.TABLE]  # nobody loads a view's files
        other_key = SignedScopes(PermitSigner(Ed25519PrivateKey.generate()), self.house.clock)
        earlier = SignedScopes(self.house.signer, HeldClock(self.house.clock.now() - timedelta(hours=2)))
        older = dataclasses.replace(self.warehouse, row_version=self.warehouse.row_version - 1)
        self.good = {
            (each.tabular_id, level): self.house.parts.scopes.mint(
                SignerScope.of(self.warehouse, each, level, principal=ANNA)
            ).text
            for each in tables
            for level in Access
        }
        self.others = [
            minter.mint(SignerScope.of(warehouse, each, level, principal=principal)).text
            for minter in (self.house.parts.scopes, other_key, earlier)
            for warehouse in (self.warehouse, older)
            for each in tables
            for level in Access
            for principal in (ANNA, BERT)
        ]

    async def _built(self) -> House:
        house = await a_house()
        house.change_warehouse(restorable_for=timedelta(days=1), row_version=7)
        await create(house, "new")
        await drop(house, "new")
        await create(house, "draft", **STAGED)
        return house

    async def outcome(self, tabular_id: TabularId | None, method: str, uri: str, scope: str, who: str) -> Any:
        parts = self.house.parts
        command = SignStorageRequest(
            self.warehouse.warehouse_id, tabular_id, StorageRequest(method, uri, "eu", {}, None), scope
        )
        caller = Caller(principal=user(who), request_id="r")
        try:
            return await StorageSignings(parts.doors, parts.access, parts.scopes)(command, caller=caller)
        except Refusal as refusal:
            return said(refusal)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield World(monkeypatch)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_whatever_the_scope_the_outcome_is_that_of_the_look(world: World, data: st.DataObject) -> None:
    house = world.house
    named = data.draw(st.sampled_from(world.tabulars))
    asked_for = data.draw(often(named.tabular_id, None, TabularId(uuid4())))
    lies_in = data.draw(often(named, *world.tabulars))
    uri = data.draw(often(file_of(house, lies_in.ident.name), "https://s3/lake/demo/nowhere/x"))
    method = data.draw(st.sampled_from([*READING, *WRITING]))
    own = [text for (tabular_id, _), text in world.good.items() if tabular_id == named.tabular_id]
    scope = data.draw(often("", *own * 3) | st.sampled_from(world.others) | st.text(max_size=40))
    rules = [
        Rule(allows=False, principal=principal, id=thing, action=action)
        for principal in (ANNA, None)
        for thing in (None, named.incarnation, lies_in.incarnation)
        for action in (None, Action.WAREHOUSE_USE, Action.TABLE_READ_DATA, Action.TABLE_WRITE_DATA)
    ]
    house.authorizer.replace(*data.draw(st.lists(st.sampled_from(rules), max_size=2)), ANYTHING)
    house.change_warehouse(row_version=data.draw(often(7, 8)), active=data.draw(often(True, False)))
    with_it = asyncio.run(world.outcome(asked_for, method, uri, scope, ANNA))
    assert with_it == asyncio.run(world.outcome(asked_for, method, uri, "", ANNA))


def often(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([usual] * 3 + list(others))
