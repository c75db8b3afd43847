"""Registering: what is decided before a file is read, what is overwritten, and what a refusal leaves."""

from __future__ import annotations

import dataclasses
import gzip
from typing import Any
from uuid import UUID, uuid4

import pytest

from lakeward_catalog.application.ports.access import Access
from lakeward_catalog.domain.model import State
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of
from tests.support.catalog.memory_rows import Fate
from tests.support.catalog.tables import (
    STAGED,
    Json,
    a_file,
    commit,
    create,
    document,
    drop,
    load,
    prop,
    properties,
    register,
)
from tests.support.deciding import Rule

PLACE = "s3://lake/demo/found"
FILE = f"{PLACE}/metadata/00003-x.metadata.json"
OTHER = str(uuid4())


class CountedReads:
    def __init__(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        self.house = house
        self.read: list[tuple[str, str]] = []
        read = house.files.read

        async def counted(warehouse: Any, location: str, *, within: Any, principal: str) -> bytes:
            self.read.append((location, str(within)))
            return await read(warehouse, location, within=within, principal=principal)

        monkeypatch.setattr(house.files, "read", counted)


@pytest.fixture
async def house() -> House:
    """One with a file to register."""
    house = await a_house()
    house.files.stored[FILE] = a_file(PLACE)
    return house


@pytest.fixture
def reads(house: House, monkeypatch: pytest.MonkeyPatch) -> CountedReads:
    return CountedReads(house, monkeypatch)


def denies(action: Action) -> Rule:
    return Rule(allows=False, action=action)


async def test_a_file_becomes_the_table_that_it_says_it_is(house: House, reads: CountedReads) -> None:
    reply = await register(house, FILE)
    table = house.tabular("found")
    assert (table.tabular_id, table.location, table.metadata_location, table.state) == (
        UUID("9c12d441-03fe-4693-9a96-a0705ddf69c1"),
        PLACE,
        FILE,
        State.LIVE,
    )
    assert reply.table.metadata_location == FILE
    assert document(reply) == document(await load(house, "sales", "found"))
    assert house.access.vended[-2][:2] == (PLACE, Access.READ_WRITE_DELETE)
    assert reads.read == [(FILE, f"{PLACE}/metadata")]
    assert (house.events()[-1], house.event()["num-events"]) == ("registerTable", 1)


async def test_what_is_registered_is_committed_to_from_where_its_file_stood(house: House) -> None:
    house.files.stored[FILE] = a_file(PLACE, **{"a-member-of-tomorrow": [1]})
    named = FILE.replace("00003-x", f"00003-{OTHER}")
    house.files.stored[named] = house.files.stored.pop(FILE)
    await register(house, named)
    reply = await commit(house, prop("a"), path=("sales", "found"))
    assert reply.table.metadata_location.startswith(f"{PLACE}/metadata/00004-")
    assert document(reply)["a-member-of-tomorrow"] == [1]
    assert document(reply)["metadata-log"] == [{"metadata-file": named, "timestamp-ms": 1}]


async def test_a_compressed_file_is_registered_too(house: House) -> None:
    place = FILE.replace(".metadata.json", ".gz.metadata.json")
    house.files.stored[place] = gzip.compress(a_file(PLACE))
    assert properties(await register(house, place)) == []


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("nonsense", Reason.REASON_MALFORMED_LOCATION),
        ("s3://lake/other/metadata/x.metadata.json", Reason.REASON_LOCATION_NOT_ALLOWED),
        ("s3://lake/demo2/metadata/x.metadata.json", Reason.REASON_LOCATION_NOT_ALLOWED),
        ("s3://lake/demo/found/../x.metadata.json", Reason.REASON_MALFORMED_LOCATION),
        ("file:///etc/passwd", Reason.REASON_MALFORMED_LOCATION),
        ("gs://lake/demo/x.metadata.json", Reason.REASON_LOCATION_NOT_ALLOWED),
    ],
)
async def test_a_file_outside_of_the_warehouse_is_not_read(
    house: House, reads: CountedReads, where: str, reason: Reason.ValueType
) -> None:
    assert (await refusal_of(register(house, where))).reason == reason
    assert not reads.read


async def test_a_table_whose_location_no_policy_can_name_is_not_registered(house: House) -> None:
    house.files.stored[FILE] = a_file(f"{PLACE}/*")
    assert (await refusal_of(register(house, FILE))).reason == Reason.REASON_LOCATION_NOT_ALLOWED


@pytest.mark.parametrize("state", list(State))
async def test_a_file_inside_another_table_of_any_state_is_not_read(
    house: House, reads: CountedReads, state: State
) -> None:
    await create(house, "theirs", location=PLACE + "/deep", **(STAGED if state is State.STAGED else {}))
    house.change_tabular("theirs", state=state)
    refusal = await refusal_of(register(house, PLACE + "/deep/metadata/x.metadata.json"))
    assert refusal.reason == Reason.REASON_LOCATION_TAKEN
    assert not reads.read


@pytest.mark.parametrize(
    ("document_", "reason"),
    [
        (a_file("s3://lake/other/t"), Reason.REASON_LOCATION_NOT_ALLOWED),
        (a_file("s3://lake/demo"), Reason.REASON_LOCATION_NOT_ALLOWED),
        (a_file(PLACE, **{"format-version": 9}), Reason.REASON_INVALID_FORMAT_VERSION),
        (a_file(PLACE, **{"table-uuid": "no uuid"}), Reason.REASON_INVALID_METADATA_FILE),
        (a_file(PLACE, properties={"write.data.path": "s3://lake/demo/x"}), Reason.REASON_PROPERTY_FORBIDDEN),
        (a_file(PLACE + "/.."), Reason.REASON_MALFORMED_LOCATION),
        (b"\x1f\x8b", Reason.REASON_INVALID_METADATA_FILE),
        (b"", Reason.REASON_INVALID_METADATA_FILE),
    ],
)
async def test_a_file_that_can_be_no_table_here_leaves_nothing(
    house: House, document_: bytes, reason: Reason.ValueType
) -> None:
    house.files.stored[FILE] = document_
    rows = house.catalog.rows.copy()
    assert (await refusal_of(register(house, FILE))).reason == reason
    assert house.catalog.rows == rows


async def test_a_format_version_that_the_warehouse_does_not_allow_is_refused(house: House) -> None:
    house.change_warehouse(allowed_format_versions=(3,))
    assert (await refusal_of(register(house, FILE))).reason == Reason.REASON_FORMAT_VERSION_NOT_ALLOWED


@pytest.mark.parametrize("where", [PLACE, f"{PLACE}/inner", "s3://lake/demo/found"])
async def test_a_file_whose_table_would_overlap_another_is_refused(house: House, where: str) -> None:
    await create(house, "theirs", location="s3://lake/demo/found/inner", **STAGED)
    house.files.stored["s3://lake/demo/apart/x.metadata.json"] = a_file(where)
    refusal = await refusal_of(register(house, "s3://lake/demo/apart/x.metadata.json"))
    assert refusal.reason == Reason.REASON_LOCATION_TAKEN


@pytest.mark.parametrize("state", [State.LIVE, State.DROPPED])
async def test_an_id_that_is_in_use_in_the_warehouse_is_refused_even_by_a_dropped_table(
    house: House, state: State
) -> None:
    await register(house, FILE)
    house.change_tabular("found", state=state)
    apart = "s3://lake/demo/apart/metadata/x.metadata.json"
    house.files.stored[apart] = a_file("s3://lake/demo/apart")
    assert (await refusal_of(register(house, apart, name="again"))).reason == Reason.REASON_TABULAR_EXISTS


@pytest.mark.parametrize("name", ["ORDERS", "recent"])
async def test_a_name_that_is_taken_is_refused_before_the_file_is_read(
    house: House, reads: CountedReads, name: str
) -> None:
    assert (await refusal_of(register(house, FILE, name=name))).reason == Reason.REASON_TABULAR_EXISTS
    assert not reads.read


@pytest.mark.parametrize("name", ["", "a+b"])
async def test_a_name_that_cannot_be_is_refused_before_the_file_is_read(
    house: House, reads: CountedReads, name: str
) -> None:
    assert (await refusal_of(register(house, FILE, name=name))).reason == Reason.REASON_INVALID_TABULAR_NAME
    assert not reads.read


# -- overwriting


async def test_what_is_overwritten_leaves_the_catalog_and_its_files_stay(house: House) -> None:
    gone, files = house.tabular("orders"), dict(house.files.stored)
    told = len(house.events())
    await register(house, FILE, name="orders", overwrite=True)
    assert house.tabular("orders").incarnation != gone.incarnation
    assert (house.files.stored, house.catalog.rows.tasks) == (files, {})
    assert house.events()[told:] == ["dropTable", "registerTable"]
    events = [house.event(index) for index in (-2, -1)]
    assert [(event["sequence-number"], event["num-events"]) for event in events] == [(0, 2), (1, 2)]
    assert (events[0]["tabular-id"], events[0]["data"]["overwritten"]) == (str(gone.tabular_id), True)


async def test_a_table_is_put_back_to_an_earlier_file_of_its_own(house: House) -> None:
    await register(house, FILE)
    await commit(house, prop("a"), path=("sales", "found"))
    first = house.tabular("found")
    reply = await register(house, FILE, overwrite=True)
    assert (properties(reply), properties(await load(house, "sales", "found"))) == ([], [])
    again = house.tabular("found")
    assert (again.tabular_id, again.location) == (first.tabular_id, first.location)
    assert again.incarnation != first.incarnation


async def test_a_staged_table_gives_way_and_is_not_told_as_dropped(house: House) -> None:
    await create(house, **STAGED)
    told = len(house.events())
    await register(house, FILE, name="new", overwrite=True)
    assert house.events()[told:] == ["registerTable"]
    await create(house, "other", **STAGED)
    house.files.stored["s3://lake/demo/apart/x.metadata.json"] = a_file("s3://lake/demo/apart", **{"table-uuid": OTHER})
    await register(house, "s3://lake/demo/apart/x.metadata.json", name="other")
    assert house.tabular("other").state is State.LIVE


@pytest.mark.parametrize(
    ("rules", "members", "name", "reason"),
    [
        ((), {}, "recent", Reason.REASON_TABULAR_EXISTS),
        ((), {"protected": True}, "orders", Reason.REASON_TABULAR_PROTECTED),
        ((denies(Action.TABLE_DROP),), {}, "orders", Reason.REASON_FORBIDDEN),
        ((denies(Action.NAMESPACE_CREATE_TABLE),), {}, "orders", Reason.REASON_FORBIDDEN),
    ],
    ids=["a view", "a protected table", "without the right to drop", "without the right to create"],
)
async def test_what_may_not_be_overwritten_is_refused_before_the_file_is_read(
    reads: CountedReads, rules: tuple[Rule, ...], members: Json, name: str, reason: Reason.ValueType
) -> None:
    house = reads.house
    house.change_tabular(name, **members)
    house.authorizer.replace(*rules, ANYTHING)
    rows = house.catalog.rows.copy()
    assert (await refusal_of(register(house, FILE, name=name, overwrite=True))).reason == reason
    assert (reads.read, house.catalog.rows) == ([], rows)


async def test_a_table_that_took_the_name_after_the_decision_is_not_overwritten(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = house.files.read

    async def replaced_meanwhile(*args: Any, **kwargs: Any) -> bytes:
        await drop(house, "orders")
        await create(house, "orders", properties={"theirs": "x"})
        return await read(*args, **kwargs)

    monkeypatch.setattr(house.files, "read", replaced_meanwhile)
    refusal = await refusal_of(register(house, FILE, name="orders", overwrite=True))
    assert refusal.reason == Reason.REASON_TABULAR_EXISTS
    assert properties(await load(house)) == ["theirs"]


async def test_a_table_that_left_the_name_after_the_decision_need_not_be_removed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = house.files.read

    async def dropped_meanwhile(*args: Any, **kwargs: Any) -> bytes:
        await drop(house, "orders")
        return await read(*args, **kwargs)

    monkeypatch.setattr(house.files, "read", dropped_meanwhile)
    await register(house, FILE, name="orders", overwrite=True)
    assert (house.tabular("orders").location, house.event()["num-events"]) == (PLACE, 1)


async def test_a_table_that_became_protected_after_the_decision_is_not_overwritten(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = house.files.read

    async def protected_meanwhile(*args: Any, **kwargs: Any) -> bytes:
        house.change_tabular("orders", protected=True)
        return await read(*args, **kwargs)

    monkeypatch.setattr(house.files, "read", protected_meanwhile)
    refusal = await refusal_of(register(house, FILE, name="orders", overwrite=True))
    assert refusal.reason == Reason.REASON_TABULAR_PROTECTED


# -- what fails on the way


@pytest.mark.parametrize(
    ("role", "method", "refusal"),
    [
        ("gate", "check", Refusal(Reason.REASON_CHANGE_REFUSED, "no", gate="g", object="sales.found")),
        ("access", "vend", Refusal(Reason.REASON_CREDENTIAL_NOT_ISSUED, "no", store="s3")),
        ("files", "read", Refusal(Reason.REASON_STORE_UNAVAILABLE, "away", store="s3")),
        ("files", "read", Refusal(Reason.REASON_STORE_DENIED, "no", store="s3")),
    ],
)
async def test_what_fails_on_the_way_to_a_table_leaves_nothing(
    house: House, role: str, method: str, refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: Any, **__: Any) -> None:
        raise refusal

    monkeypatch.setattr(getattr(house.parts, role), method, refused)
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    assert (await refusal_of(register(house, FILE, name="orders", overwrite=True))).reason == refusal.reason
    assert (house.catalog.rows, house.files.stored) == (rows, files)


@pytest.mark.parametrize(
    ("fate", "reason"),
    [
        (Fate.AWAY, Reason.REASON_DATABASE_UNAVAILABLE),
        (Fate.LOST_BEFORE, Reason.REASON_COMMIT_STATE_UNKNOWN),
        (Fate.LOST_AFTER, None),
    ],
)
async def test_a_registered_file_stays_whatever_becomes_of_the_row(
    house: House, fate: Fate, reason: Reason.ValueType | None
) -> None:
    house.catalog.next_commit = fate
    if reason is None:
        await register(house, FILE)
    else:
        assert (await refusal_of(register(house, FILE))).reason == reason
    assert FILE in house.files.stored


async def test_a_repeated_registration_is_one_and_is_not_answered_with_another_table(house: House) -> None:
    key = uuid4()
    first = await register(house, FILE, key=key)
    assert (await register(house, FILE, key=key)).table.metadata_location == first.table.metadata_location
    assert house.events().count("registerTable") == 1
    await drop(house, "found")
    await create(house, "found")
    assert (await refusal_of(register(house, FILE, key=key))).reason == Reason.REASON_NO_SUCH_TABLE


async def test_one_file_may_be_a_table_in_two_warehouses(house: House) -> None:
    """Their storage may not overlap; that an id is in use elsewhere says nothing."""
    await register(house, FILE)
    other = House(shares=house)
    other.warehouse_id = await other.make_warehouse("second", base="s3://pond/demo")
    await other.make_namespace("sales")
    place = "s3://pond/demo/found"
    other.files.stored[f"{place}/metadata/x.metadata.json"] = a_file(place)
    await register(other, f"{place}/metadata/x.metadata.json")
    rows = [row for row in house.catalog.rows.tabulars.values() if row.ident.name == "found"]
    assert len({row.tabular_id for row in rows}) == 1
    assert len({(row.warehouse_id, row.incarnation) for row in rows}) == 2
    assert dataclasses.replace(rows[0], warehouse_id=rows[1].warehouse_id) != rows[1]
