from __future__ import annotations

import asyncio
import dataclasses
import gzip
import json
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.application.ports.access import Access
from lakeward_protocol.catalog.v1 import views_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import (
    ANYTHING,
    RULES,
    House,
    a_house,
    commit_body,
    context,
    ident,
    refusal_of,
    tabular,
    view_body,
    view_version,
)
from tests.support.catalog.memory_rows import Fate
from tests.support.deciding import Rule


def create(house: House, name: str = "new", *, key: object = "", **members: Any) -> Any:
    return house.views.CreateView(
        views_pb2.CreateViewRequest(
            context=context(idempotency_key=str(key)),
            warehouse_id=house.warehouse_id,
            namespace=ident("sales"),
            body=view_body(name, **members),
        )
    )


def commit(house: House, *updates: dict[str, Any], key: object = "", requirements: tuple[Any, ...] = ()) -> Any:
    return house.views.CommitView(
        views_pb2.CommitViewRequest(
            context=context(idempotency_key=str(key)),
            warehouse_id=house.warehouse_id,
            view=tabular("sales", "recent"),
            body=commit_body(*updates, requirements=requirements),
        )
    )


def load(house: House, *path: str, **members: Any) -> Any:
    return house.views.LoadView(
        views_pb2.LoadViewRequest(
            warehouse_id=house.warehouse_id, view=tabular(*(path or ("sales", "recent"))), **members
        )
    )


def prop(key: str, value: str = "x") -> dict[str, Any]:
    return {"action": "set-properties", "updates": {key: value}}


def moved(location: str) -> dict[str, Any]:
    return {"action": "set-location", "location": location}


def document(reply: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(reply.view.metadata.plain)
    return found


async def test_a_view_is_made_with_its_file_and_loaded_as_it_was_made() -> None:
    house = await a_house()
    made = await create(house)
    assert json.loads(gzip.decompress(house.files.stored[made.view.metadata_location])) == document(made)
    loaded = await load(house, "SALES", "NEW")
    assert document(loaded) == document(made)
    assert loaded.view.metadata_location == made.view.metadata_location
    assert (loaded.view.etag, list(loaded.view.storage_credentials)) == ("", [])
    assert (house.events()[-1], house.event()["name"]) == ("createView", "new")


async def test_a_view_comes_with_read_access_to_its_location_for_who_may_read_through_it() -> None:
    house = await a_house()
    loaded = await load(house)
    location, level, _ = house.access.vended[-1]
    assert (location, level) == (house.tabular("recent").location, Access.READ)
    assert loaded.view.config["s3.session-token"].startswith("READ ")
    vended = len(house.access.vended)
    house.authorizer.replace(Rule(allows=False, action=Action.VIEW_SELECT), ANYTHING)
    assert not (await load(house)).view.has_config
    assert len(house.access.vended) == vended


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"name": "a+b"}, Reason.REASON_INVALID_TABULAR_NAME),
        ({"name": ""}, Reason.REASON_INVALID_TABULAR_NAME),
        ({"name": "ORDERS"}, Reason.REASON_TABULAR_EXISTS),
        ({"view-version": view_version(representations=[])}, Reason.REASON_EMPTY_VIEW),
        ({"location": "elsewhere"}, Reason.REASON_MALFORMED_LOCATION),
        ({"location": "s3://lake/demo"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        ({"location": "s3://other/x"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        ({"location": "s3://lake/demo/x*"}, Reason.REASON_LOCATION_NOT_ALLOWED),
        ({"properties": {"write.metadata.path": "s3://x"}}, Reason.REASON_PROPERTY_FORBIDDEN),
        ({"schema": 1}, Reason.REASON_MALFORMED_DOCUMENT),
    ],
)
async def test_a_view_that_cannot_be_leaves_neither_row_nor_file(
    members: dict[str, Any], reason: Reason.ValueType
) -> None:
    house = await a_house()
    rows, files = house.catalog.rows.copy(), dict(house.files.stored)
    name = members.pop("name", "new")
    assert (await refusal_of(create(house, name, **members))).reason == reason
    assert (house.catalog.rows, house.files.stored) == (rows, files)


@pytest.mark.parametrize("place", ["", "/inside", "/../.."])
async def test_a_view_may_not_lie_at_or_inside_anothers_location(place: str) -> None:
    house = await a_house()
    files = dict(house.files.stored)
    location = house.tabular("orders").location + place
    expected = Reason.REASON_MALFORMED_LOCATION if ".." in place else Reason.REASON_LOCATION_TAKEN
    assert (await refusal_of(create(house, location=location))).reason == expected
    assert house.files.stored == files


async def test_a_repeated_creation_under_a_key_is_one_view_and_fresh_credentials() -> None:
    house, key = await a_house(), uuid4()
    first, second = await create(house, key=key), await create(house, key=key)
    assert document(first) == document(second)
    assert first.view.config != second.view.config
    assert house.events().count("createView") == 2  # the house's own, and this
    other = await refusal_of(create(house, "another", key=key))
    assert other.reason == Reason.REASON_IDEMPOTENCY_KEY_REUSED


async def test_a_repeated_creation_whose_view_is_gone_is_refused_as_absent() -> None:
    house, key = await a_house(), uuid4()
    await create(house, key=key)
    await house.views.DropView(views_pb2.DropViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "new")))
    await create(house)
    assert (await refusal_of(create(house, key=key))).reason == Reason.REASON_NO_SUCH_VIEW


async def test_a_commit_writes_the_next_file_and_tells_of_it() -> None:
    house = await a_house()
    before = house.tabular("recent").metadata_location
    reply = await commit(house, prop("owner", "anna"))
    assert document(reply)["properties"] == {"owner": "anna"}
    assert "/metadata/00001-" in reply.view.metadata_location
    assert before in house.files.stored
    assert house.events()[-1] == "updateView"
    assert house.event()["data"]["previous-metadata-location"] == before
    assert document(await load(house)) == document(reply)


async def test_a_commit_is_answered_with_read_access_to_the_views_location_and_no_more() -> None:
    house = await a_house()
    committed = await commit(house, prop("a"))
    location, level, _ = house.access.vended[-1]
    assert (location, level) == (house.tabular("recent").location, Access.READ)
    assert committed.view.config["s3.session-token"].startswith("READ ")


async def test_a_commit_that_changes_nothing_writes_nothing() -> None:
    house = await a_house()
    events, files = house.events(), dict(house.files.stored)
    await commit(house)
    await commit(house, {"action": "assign-uuid", "uuid": str(house.tabular("recent").tabular_id)})
    assert (house.events(), house.files.stored) == (events, files)


async def test_a_requirement_that_does_not_hold_is_a_conflict_and_writes_nothing() -> None:
    house = await a_house()
    files = dict(house.files.stored)
    refusal = await refusal_of(
        commit(house, prop("a"), requirements=({"type": "assert-view-uuid", "uuid": str(uuid4())},))
    )
    assert refusal.reason == Reason.REASON_COMMIT_CONFLICT
    assert house.files.stored == files


async def test_concurrent_commits_lose_nothing() -> None:
    house = await a_house()
    await asyncio.gather(*(commit(house, prop(f"k{n}")) for n in range(16)))
    assert sorted(document(await load(house))["properties"]) == sorted(f"k{n}" for n in range(16))
    assert house.events().count("updateView") == 16


async def test_a_race_lost_to_another_process_is_run_again_on_what_won_it_and_its_file_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()
    elsewhere = House(shares=house)  # another process, over the same database and store
    write, raced = house.files.write, False

    async def after_another(*args: Any, **kwargs: Any) -> None:
        nonlocal raced
        await write(*args, **kwargs)
        if not raced:
            raced = True
            await commit(elsewhere, prop("theirs"))

    monkeypatch.setattr(house.files, "write", after_another)
    reply = await commit(house, prop("mine"))
    assert sorted(document(reply)["properties"]) == ["mine", "theirs"]
    assert len(house.files.stored) == 4  # of orders, of recent, theirs and mine: not the lost race's


@pytest.mark.parametrize(("fate", "happened"), [(Fate.AWAY, False), (Fate.LOST_BEFORE, False), (Fate.LOST_AFTER, True)])
async def test_no_view_points_to_a_file_that_is_not_there_whatever_becomes_of_a_commit(
    fate: Fate, happened: bool
) -> None:
    house = await a_house()
    house.catalog.next_commit = fate
    if happened:
        await commit(house, prop("a"))
    else:
        await refusal_of(commit(house, prop("a")))
    assert house.tabular("recent").metadata_location in house.files.stored
    assert ("a" in document(await load(house))["properties"]) is happened


async def test_a_commit_that_surely_did_not_happen_leaves_no_file_and_may_be_made_again() -> None:
    house = await a_house()
    files = house.files.stored.copy()
    house.catalog.next_commit = Fate.LOST_BEFORE
    assert (await refusal_of(commit(house, prop("a")))).reason == Reason.REASON_DATABASE_UNAVAILABLE
    assert house.files.stored == files
    await commit(house, prop("a"))


async def test_a_commit_whose_outcome_stays_unknown_keeps_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    files = len(house.files.stored)

    async def away(*_: object) -> None:
        raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "the database is away")

    monkeypatch.setattr(house.catalog.changes, "current_metadata", away)
    house.catalog.next_commit = Fate.LOST_BEFORE
    assert (await refusal_of(commit(house, prop("a")))).reason == Reason.REASON_COMMIT_STATE_UNKNOWN
    assert len(house.files.stored) == files + 1


async def no_access(*_: object, **__: object) -> None:
    raise Refusal(Reason.REASON_STORE_UNAVAILABLE, "away", store="s3")


async def test_a_view_whose_maker_can_not_be_given_access_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    before, files = house.catalog.rows.copy(), house.files.stored.copy()
    with monkeypatch.context() as away:
        away.setattr(house.access, "vend", no_access)
        assert (await refusal_of(create(house))).reason == Reason.REASON_STORE_UNAVAILABLE
    assert (house.catalog.rows, house.files.stored) == (before, files)
    await create(house)


async def test_a_commit_that_was_made_is_never_refused_as_if_it_had_not(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    with monkeypatch.context() as away:
        away.setattr(house.access, "vend", no_access)
        refusal = await refusal_of(commit(house, prop("a")))
    assert (refusal.reason, refusal.metadata["object"]) == (Reason.REASON_COMMIT_STATE_UNKNOWN, "sales.recent")
    assert "was made" in refusal.message
    assert "a" in document(await load(house))["properties"]


@pytest.mark.parametrize("fate", [Fate.LOST_BEFORE, Fate.LOST_AFTER])
async def test_a_commit_that_changes_nothing_has_no_outcome_to_be_unknown(fate: Fate) -> None:
    house = await a_house()
    await commit(house, prop("a"))
    house.catalog.next_commit = fate
    assert "a" in document(await commit(house, prop("a"), key=uuid4()))["properties"]


async def test_a_view_that_was_just_written_is_loaded_without_reading_its_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await a_house()
    await commit(house, prop("a"))
    monkeypatch.setattr(house.catalog.bodies, "body", no_access)
    assert "a" in document(await load(house))["properties"]


async def test_a_store_that_is_away_refuses_a_commit_and_nothing_changes() -> None:
    house = await a_house()
    before = house.catalog.rows.copy()
    house.files.refuses = Refusal(Reason.REASON_STORE_UNAVAILABLE, "away", store="s3")
    assert (await refusal_of(commit(house, prop("a")))).reason == Reason.REASON_STORE_UNAVAILABLE
    assert house.catalog.rows == before


async def test_a_new_location_takes_later_files_and_deletes_nothing() -> None:
    house = await a_house()
    old = set(house.files.stored)
    reply = await commit(house, moved("s3://lake/demo/moved/"))
    assert document(reply)["location"] == "s3://lake/demo/moved"
    assert reply.view.metadata_location.startswith("s3://lake/demo/moved/metadata/00001-")
    assert old < set(house.files.stored)
    assert house.tabular("recent").location == "s3://lake/demo/moved"


async def test_the_same_location_with_a_trailing_slash_moves_nothing() -> None:
    house = await a_house()
    location = house.tabular("recent").location
    reply = await commit(house, moved(location + "/"), prop("a"))
    assert document(reply)["location"] == house.tabular("recent").location == location


async def test_a_view_may_move_inside_its_own_location() -> None:
    house = await a_house()
    inner = house.tabular("recent").location + "/deeper"
    await commit(house, moved(inner))
    assert house.tabular("recent").location == inner


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("s3://lake/demo", Reason.REASON_LOCATION_NOT_ALLOWED),
        ("s3://lake/elsewhere/x", Reason.REASON_LOCATION_NOT_ALLOWED),
        ("nowhere", Reason.REASON_MALFORMED_LOCATION),
        ("taken", Reason.REASON_LOCATION_TAKEN),
    ],
)
async def test_a_view_moves_nowhere_it_may_not_lie_and_no_file_is_written_there(
    location: str, reason: Reason.ValueType
) -> None:
    house = await a_house()
    where = house.tabular("orders").location + "/inside" if location == "taken" else location
    files, before = dict(house.files.stored), house.catalog.rows.copy()
    assert (await refusal_of(commit(house, moved(where)))).reason == reason
    assert (house.files.stored, house.catalog.rows) == (files, before)


async def test_a_repeated_commit_under_a_key_is_one_commit() -> None:
    house, key = await a_house(), uuid4()
    first = await commit(house, prop("a"), key=key)
    await commit(house, prop("b"))
    again = await commit(house, prop("a"), key=key)
    assert sorted(document(again)["properties"]) == ["a", "b"]  # the view as it is now
    assert document(first)["properties"] == {"a": "x"}
    assert house.events().count("updateView") == 2


async def test_a_chain_of_views_that_is_too_long_is_refused_though_nobody_heeds_it() -> None:
    house = await a_house()
    chain = [tabular("sales", "recent")] * 11
    assert (await refusal_of(load(house, referenced_by=chain))).reason == Reason.REASON_REFERENCED_BY_TOO_DEEP
    await load(house, referenced_by=chain[:10])


async def test_how_long_a_chain_of_views_may_be_is_a_setting() -> None:
    house = await a_house(rules=dataclasses.replace(RULES, referenced_by_max=2))
    refusal = await refusal_of(load(house, referenced_by=[tabular("sales", "recent")] * 3))
    assert (refusal.reason, refusal.metadata["limit"]) == (Reason.REASON_REFERENCED_BY_TOO_DEEP, "2")
    await load(house, referenced_by=[tabular("sales", "recent")] * 2)


async def test_a_path_deeper_than_any_can_be_is_no_view() -> None:
    refusal = await refusal_of(load(await a_house(), "1", "2", "3", "4", "5", "6", "v"))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_NO_SUCH_VIEW, {"view": "1.2.3.4.5.6.v"})


async def test_a_table_is_no_view() -> None:
    assert (await refusal_of(load(await a_house(), "sales", "orders"))).reason == Reason.REASON_NO_SUCH_VIEW
