"""Commits with `assert-create` for a name that nobody staged: their updates make the table."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of
from tests.support.catalog.tables import Json, commit, document, load, prop, ref
from tests.support.deciding import Rule

UUID = "0198c0de-0000-7000-8000-000000000001"
PLACE = "s3://lake/demo/chosen"
CREATE: Json = {"type": "assert-create"}
NEW = ("sales", "new")
FIELDS = [
    {"id": 7, "name": "id", "required": True, "type": "long"},
    {"id": 9, "name": "day", "required": False, "type": "date"},
]
SCHEMA: Json = {"action": "add-schema", "schema": {"type": "struct", "schema-id": 0, "fields": FIELDS}}
CURRENT: Json = {"action": "set-current-schema", "schema-id": -1}
COMPLETE: list[Json] = [
    {"action": "assign-uuid", "uuid": UUID},
    {"action": "upgrade-format-version", "format-version": 2},
    SCHEMA,
    CURRENT,
    {
        "action": "add-spec",
        "spec": {
            "spec-id": 0,
            "fields": [{"source-id": 9, "field-id": 1000, "name": "day_part", "transform": "month"}],
        },
    },
    {"action": "set-default-spec", "spec-id": -1},
    {
        "action": "add-sort-order",
        "sort-order": {
            "order-id": 1,
            "fields": [{"source-id": 7, "transform": "identity", "direction": "asc", "null-order": "nulls-last"}],
        },
    },
    {"action": "set-default-sort-order", "sort-order-id": -1},
    {"action": "set-location", "location": PLACE},
    prop("owner"),
]
APPENDED: list[Json] = [
    {
        "action": "add-snapshot",
        "snapshot": {
            "snapshot-id": 5,
            "sequence-number": 1,
            "timestamp-ms": 1_700_000_000_000,
            "manifest-list": f"{PLACE}/metadata/snap-5.avro",
            "summary": {"operation": "append"},
            "schema-id": 0,
        },
    },
    ref("main", 5),
]


@pytest.fixture
async def house() -> House:
    return await a_house()


def make(house: House, *updates: Json, path: tuple[str, ...] = NEW, **members: Any) -> Any:
    return commit(house, *updates, path=path, requirements=[CREATE], **members)


async def test_complete_updates_make_the_table_as_they_say_it(house: House) -> None:
    made = document(await make(house, *COMPLETE, *APPENDED))
    assert document(await load(house, *NEW)) == made
    assert (made["table-uuid"], made["location"], made["format-version"]) == (UUID, PLACE, 2)
    assert [field["id"] for field in made["schemas"][0]["fields"]] == [7, 9]
    assert (made["last-column-id"], made["current-schema-id"], len(made["schemas"])) == (9, 0, 1)
    assert [(spec["spec-id"], len(spec["fields"])) for spec in made["partition-specs"]] == [(0, 1)]
    assert [(order["order-id"], len(order["fields"])) for order in made["sort-orders"]] == [(1, 1)]
    assert (made["default-spec-id"], made["last-partition-id"], made["default-sort-order-id"]) == (0, 1000, 1)
    assert (made["current-snapshot-id"], made["properties"]) == (5, {"owner": "x"})
    assert house.events()[-1] == "createTable"
    stored = house.tabular("new")
    assert stored.metadata_location in house.files.stored
    assert str(stored.tabular_id) == UUID


async def test_what_the_updates_leave_out_is_the_catalogs_to_choose(house: House) -> None:
    made = document(await make(house, SCHEMA, CURRENT))
    assert made["location"].startswith("s3://lake/demo/")
    assert [spec["fields"] for spec in made["partition-specs"]] == [[]]
    assert [order["fields"] for order in made["sort-orders"]] == [[]]
    assert (made["format-version"], made["default-spec-id"], made["default-sort-order-id"]) == (2, 0, 0)


@pytest.mark.parametrize(
    ("updates", "reason"),
    [
        ([], Reason.REASON_INVALID_METADATA),
        ([SCHEMA], Reason.REASON_INVALID_METADATA),
        ([SCHEMA, *COMPLETE[4:]], Reason.REASON_INVALID_UPDATE),
        ([*COMPLETE[2:5]], Reason.REASON_INVALID_METADATA),
        ([{"action": "assign-uuid", "uuid": "mine"}, *COMPLETE[1:]], Reason.REASON_INVALID_METADATA),
        ([*COMPLETE, {"action": "set-location", "location": "s3://other/t"}], Reason.REASON_LOCATION_NOT_ALLOWED),
        ([{"action": "upgrade-format-version", "format-version": 9}, SCHEMA], Reason.REASON_INVALID_FORMAT_VERSION),
    ],
    ids=["none", "no current schema", "spec first", "spec unset", "no UUID", "outside", "unknown version"],
)
async def test_updates_that_make_no_table_are_refused_and_leave_nothing(
    house: House, updates: list[Json], reason: Reason.ValueType
) -> None:
    before, files = house.catalog.rows.copy(), dict(house.files.stored)
    assert (await refusal_of(make(house, *updates))).reason == reason
    assert (house.catalog.rows, house.files.stored) == (before, files)


async def test_the_name_of_a_view_is_taken(house: House) -> None:
    refusal = await refusal_of(make(house, *COMPLETE, path=("sales", "recent")))
    assert refusal.reason == Reason.REASON_TABULAR_EXISTS
    assert refusal.message.startswith("View with same name already exists: sales.recent")


async def test_in_a_namespace_that_is_not_there_it_is_the_namespace_that_is_missing(house: House) -> None:
    assert (await refusal_of(make(house, *COMPLETE, path=("absent", "t")))).reason == Reason.REASON_NO_SUCH_NAMESPACE


async def test_the_name_of_a_table_that_the_caller_may_not_see_is_taken_as_a_create_finds_it(house: House) -> None:
    house.authorizer.replace(Rule(allows=False, action=Action.TABLE_GET_METADATA), ANYTHING)
    refusal = await refusal_of(make(house, *COMPLETE, path=("sales", "orders")))
    create = await refusal_of(house.make_table("sales", "orders"))
    assert (refusal.reason, refusal.message) == (create.reason, create.message)


async def test_a_commit_that_does_not_say_so_makes_nothing(house: House) -> None:
    refusal = await refusal_of(commit(house, *COMPLETE, path=NEW))
    assert refusal.reason == Reason.REASON_NO_SUCH_TABLE


async def test_no_other_requirement_can_hold_of_what_is_not_there(house: House) -> None:
    uuid = {"type": "assert-table-uuid", "uuid": UUID}
    refusal = await refusal_of(commit(house, *COMPLETE, path=NEW, requirements=[CREATE, uuid]))
    assert refusal.reason == Reason.REASON_COMMIT_CONFLICT
    assert refusal.metadata["requirement"] == "assert-table-uuid"


async def test_only_a_table_that_brings_a_snapshot_may_lie_where_files_are(house: House) -> None:
    house.files.stored[f"{PLACE}/metadata/snap-5.avro"] = b"-"
    assert (await refusal_of(make(house, *COMPLETE))).reason == Reason.REASON_LOCATION_NOT_EMPTY
    await make(house, *COMPLETE, *APPENDED)


async def test_a_place_in_use_is_refused(house: House) -> None:
    taken = {"action": "set-location", "location": house.tabular("orders").location}
    assert (await refusal_of(make(house, *COMPLETE, taken, *APPENDED))).reason == Reason.REASON_LOCATION_TAKEN


async def test_a_uuid_in_use_is_refused_and_leaves_no_file(house: House) -> None:
    files = dict(house.files.stored)
    taken = {"action": "assign-uuid", "uuid": str(house.tabular("orders").tabular_id)}
    assert (await refusal_of(make(house, *COMPLETE, taken))).reason == Reason.REASON_TABULAR_EXISTS
    assert house.files.stored == files


async def test_a_repeated_commit_under_a_key_makes_one_table(house: House) -> None:
    key = uuid4()
    first = document(await make(house, *COMPLETE, key=key))
    assert document(await make(house, *COMPLETE, key=key)) == first
    assert house.events().count("createTable") == 2  # this one, and the house's own


async def test_a_table_that_is_there_fails_the_requirement(house: House) -> None:
    refusal = await refusal_of(make(house, *COMPLETE, path=("sales", "orders")))
    assert refusal.reason == Reason.REASON_COMMIT_CONFLICT
    assert refusal.message.startswith("Requirement failed: table already exists")
