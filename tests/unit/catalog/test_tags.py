"""Tags: what may be defined, where one may be set, who is told, and what is there to see of it."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.domain.model import NIL_PROJECT, State
from lakeward_catalog.domain.tags import MAX_DESCRIPTION, MAX_VALUES
from lakeward_protocol.catalog.v1 import tables_pb2, tags_pb2, warehouses_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.authorization.principals import user
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, House, a_house, commit_body, context, refusal_of, tabular
from tests.support.deciding import Rule

ENUMERATED = tags_pb2.TAG_VALUE_KIND_ENUMERATED
FREE_TEXT = tags_pb2.TAG_VALUE_KIND_FREE_TEXT
MARKER = tags_pb2.TAG_VALUE_KIND_MARKER
TABLE = tags_pb2.TAG_SCOPE_TABLE
EVERY = ("warehouse", "namespace", "table", "view", "generic_table", "column")


def define(house: House, name: str = "pii", **members: Any) -> Any:
    wanted = {"scopes": [TABLE], "value_kind": FREE_TEXT, **members}
    return house.tags.CreateTagDefinition(tags_pb2.CreateTagDefinitionRequest(name=name, **wanted))


def update(house: House, tag_id: str, **members: Any) -> Any:
    wanted = {"name": "pii", "scopes": [TABLE], **members}
    return house.tags.UpdateTagDefinition(tags_pb2.UpdateTagDefinitionRequest(tag_id=tag_id, **wanted))


def put(house: House, target: tags_pb2.TagTarget, value: str | None = "x", tag: str = "pii", **members: Any) -> Any:
    return house.tags.SetTag(tags_pb2.SetTagRequest(target=target, tag=tag, value=value, **members))


def remove(house: House, target: tags_pb2.TagTarget, tag: str = "pii", **members: Any) -> Any:
    return house.tags.RemoveTag(tags_pb2.RemoveTagRequest(target=target, tag=tag, **members))


async def values(house: House, target: tags_pb2.TagTarget, *, effective: bool = False) -> dict[str, str]:
    response = await house.tags.ListTags(tags_pb2.ListTagsRequest(target=target, effective=effective))
    return {tag.name: tag.value for tag in response.tags}


def the_table(house: House) -> tags_pb2.TagTarget:
    return house.tag_target("table", house.tabular("orders").tabular_id)


def a_column(house: House, name: str = "id") -> tags_pb2.TagTarget:
    return house.tag_target("column", house.tabular("orders").tabular_id, column=name)


async def commit(house: House, *updates: Any) -> None:
    await house.tables.CommitTable(
        tables_pb2.CommitTableRequest(
            warehouse_id=house.warehouse_id, table=tabular("sales", "orders"), body=commit_body(*updates)
        )
    )


async def evolve(house: House, *fields: tuple[int, str]) -> None:
    """Make a schema of these fields current."""
    schema = {
        "type": "struct",
        "schema-id": 1,
        "fields": [{"id": number, "name": name, "required": False, "type": "long"} for number, name in fields],
    }
    await commit(
        house,
        {"action": "add-schema", "schema": schema, "last-column-id": 10},
        {"action": "set-current-schema", "schema-id": -1},
    )


async def reason_of(call: Any) -> str:
    return Reason.Name((await refusal_of(call)).reason).removeprefix("REASON_")


@pytest.mark.parametrize("name", ["a", "pii.classification", "Größe", "a b", "x" * 256, "systems", "a/b", "a+b"])
async def test_a_name_of_any_other_form_may_be_given_to_a_tag(name: str) -> None:
    house = await a_house()
    assert (await define(house, name)).definition.name == name


@pytest.mark.parametrize("name", ["", "x" * 257, " a", "a ", ".a", "a.", "a..b", "a\nb", "a\0b", "a\u0378b"])
async def test_a_name_that_no_tag_can_have_is_refused_and_nothing_is_stored(name: str) -> None:
    house = await a_house()
    assert await reason_of(define(house, name)) == "INVALID_TAG_NAME"
    assert not house.catalog.rows.tags


@pytest.mark.parametrize("name", ["system", "System.x", "lakekeeper", "LAKEKEEPER.pii"])
async def test_names_of_the_server_s_own_are_reserved(name: str) -> None:
    house = await a_house()
    assert await reason_of(define(house, name)) == "RESERVED_TAG_NAME"
    tag_id = (await define(house)).definition.tag_id
    assert await reason_of(update(house, tag_id, name=name)) == "RESERVED_TAG_NAME"


@pytest.mark.parametrize(
    ("members", "member"),
    [
        ({"scopes": []}, "scope"),
        ({"value_kind": ENUMERATED}, "allowed-values"),
        ({"value_kind": ENUMERATED, "allowed_values": ["a", ""]}, "allowed-values"),
        ({"value_kind": ENUMERATED, "allowed_values": ["a", "b", "a"]}, "allowed-values"),
        ({"value_kind": ENUMERATED, "allowed_values": [*map(str, range(MAX_VALUES + 1))]}, "allowed-values"),
        ({"value_kind": MARKER, "allowed_values": ["a"]}, "allowed-values"),
        ({"value_kind": FREE_TEXT, "allowed_values": ["a"]}, "allowed-values"),
        ({"description": "x" * (MAX_DESCRIPTION + 1)}, "description"),
        ({"description": "a\0b"}, "description"),
    ],
)
async def test_a_definition_that_can_not_be_is_refused_by_its_member(members: dict[str, Any], member: str) -> None:
    house = await a_house()
    refusal = await refusal_of(define(house, **members))
    assert refusal.reason == Reason.REASON_INVALID_TAG_DEFINITION
    assert refusal.metadata == {"member": member}
    assert member in refusal.message


@pytest.mark.parametrize("value", ["x" * 257, "a\tb", "a\0b", "\ud7fe\u0378"])
async def test_a_text_that_can_be_no_value_is_refused_wherever_it_is_given(value: str) -> None:
    house = await a_house()
    enumerated = {"value_kind": ENUMERATED, "allowed_values": [value]}
    assert await reason_of(define(house, **enumerated)) == "INVALID_TAG_VALUE"
    await define(house)
    assert await reason_of(put(house, the_table(house), value)) == "INVALID_TAG_VALUE"


async def test_a_name_is_taken_without_case() -> None:
    house = await a_house()
    await define(house, "PII")
    assert await reason_of(define(house, "pii")) == "TAG_EXISTS"
    other = (await define(house, "other")).definition.tag_id
    assert await reason_of(update(house, other, name="Pii")) == "TAG_EXISTS"
    assert (await update(house, other, name="OTHER")).definition.name == "OTHER"


async def test_scopes_and_values_are_only_ever_added() -> None:
    house = await a_house()
    made = await define(house, value_kind=ENUMERATED, allowed_values=["low"], scopes=[tags_pb2.TAG_SCOPE_VIEW, TABLE])
    tag_id = made.definition.tag_id
    assert list(made.definition.scopes) == [TABLE, tags_pb2.TAG_SCOPE_VIEW]
    refusal = await refusal_of(update(house, tag_id, scopes=[TABLE]))
    assert (refusal.reason, refusal.metadata["kinds"]) == (Reason.REASON_TAG_SCOPE_NARROWED, "view")
    assert await reason_of(update(house, tag_id, scopes=[])) == "INVALID_TAG_DEFINITION"
    wide = [TABLE, tags_pb2.TAG_SCOPE_VIEW, tags_pb2.TAG_SCOPE_COLUMN]
    changed = (await update(house, tag_id, scopes=wide, add_allowed_values=["high", "low"], description="d")).definition
    assert (list(changed.scopes), list(changed.allowed_values), changed.description) == (wide, ["low", "high"], "d")
    assert changed.HasField("updated_at")
    cleared = (await update(house, tag_id, scopes=wide)).definition
    assert (list(cleared.allowed_values), cleared.HasField("description")) == (["low", "high"], False)


async def test_values_are_added_to_none_but_an_enumerated_tag() -> None:
    house = await a_house()
    tag_id = (await define(house)).definition.tag_id
    assert await reason_of(update(house, tag_id, add_allowed_values=["a"])) == "INVALID_TAG_DEFINITION"


async def test_of_two_who_widen_a_tag_at_once_both_have_their_way() -> None:
    house = await a_house()
    tag_id = (await define(house, value_kind=ENUMERATED, allowed_values=["a"])).definition.tag_id
    await asyncio.gather(*(update(house, tag_id, add_allowed_values=[value]) for value in ("b", "c")))
    (definition,) = house.catalog.rows.tags.values()
    assert sorted(definition.allowed_values) == ["a", "b", "c"]


async def test_an_update_that_changes_nothing_tells_nobody() -> None:
    house = await a_house()
    tag_id = (await define(house)).definition.tag_id
    told = len(house.events())
    assert not (await update(house, tag_id)).definition.HasField("updated_at")
    assert len(house.events()) == told


async def test_each_change_of_a_definition_is_told_in_its_project_s_stream() -> None:
    house = await a_house()
    tag_id = (await define(house, allowed_values=["low"], value_kind=ENUMERATED)).definition.tag_id
    await update(house, tag_id, name="private")
    await house.tags.DeleteTagDefinition(tags_pb2.DeleteTagDefinitionRequest(tag_id=tag_id))
    assert house.events()[-3:] == ["createTagDefinition", "updateTagDefinition", "deleteTagDefinition"]
    assert {event.stream for event in house.catalog.rows.events[-3:]} == {f"project-{NIL_PROJECT}"}
    made, renamed = house.event(-3), house.event(-2)
    assert (made["tagdefinitionid"], made["data"]["definition"]["allowed-values"]) == (tag_id, ["low"])
    assert (renamed["subject"], renamed["data"]["before"]["name"]) == ("private", "pii")


async def test_a_listing_of_tags_has_pages_and_a_name_finds_the_one() -> None:
    house = await a_house()
    for name in ("a", "b", "c"):
        await define(house, name)

    async def listed(**members: Any) -> tuple[list[str], str]:
        request = tags_pb2.ListTagDefinitionsRequest(**members)
        response = await house.tags.ListTagDefinitions(request)
        return [each.name for each in response.definitions], response.next_page_token

    assert await listed() == (["a", "b", "c"], "")
    first, token = await listed(page={"size": 2, "token": ""})
    assert first == ["a", "b"]
    assert await listed(page={"size": 2, "token": token}) == (["c"], "")
    assert await listed(name="B") == (["b"], "")
    assert await listed(name="absent") == ([], "")


async def test_a_tag_of_another_project_is_not_there_by_its_id() -> None:
    house = await a_house()
    house.make_project("another")
    tag_id = (await define(house)).definition.tag_id
    elsewhere = context(project_id="another")
    for call in (
        house.tags.GetTagDefinition(tags_pb2.GetTagDefinitionRequest(tag_id=tag_id, context=elsewhere)),
        house.tags.DeleteTagDefinition(tags_pb2.DeleteTagDefinitionRequest(tag_id=tag_id, context=elsewhere)),
        house.tags.ListTagAttachments(tags_pb2.ListTagAttachmentsRequest(tag_id=tag_id, context=elsewhere)),
        update(house, tag_id, context=elsewhere),
    ):
        assert await reason_of(call) == "NO_SUCH_TAG"


async def test_a_tag_is_set_on_everything_that_it_is_for() -> None:
    house = await a_house()
    await house.make_tag("pii", *EVERY)
    await house.make_generic("sales", "vectors")
    targets = [
        house.tag_target("warehouse"),
        house.tag_target("namespace", house.namespace("sales").namespace_id),
        the_table(house),
        house.tag_target("view", house.tabular("recent").tabular_id),
        house.tag_target("generic_table", house.tabular("vectors").tabular_id),
        a_column(house),
    ]
    for number, target in enumerate(targets):
        assert (await put(house, target, str(number))).tag.value == str(number)
        assert await values(house, target) == {"pii": str(number)}
    assert house.events()[-6:] == ["applyTag"] * 6
    kinds = [house.event(index - 6)["data"]["target"]["type"] for index in range(6)]
    assert kinds == [each.replace("_", "-") for each in EVERY]
    assert house.event(-1)["data"]["target"]["field-id"] == 1
    for target in targets:
        await remove(house, target)
        assert await values(house, target) == {}
    assert house.events()[-6:] == ["removeTag"] * 6


async def test_a_tag_that_is_set_so_already_or_not_at_all_is_told_of_to_nobody() -> None:
    house = await a_house()
    await house.make_tag("pii", "table")
    first = (await put(house, the_table(house))).tag
    told = len(house.events())
    assert (await put(house, the_table(house))).tag == first
    assert len(house.events()) == told
    await put(house, the_table(house), "other")
    assert len(house.events()) == told + 1
    await remove(house, the_table(house))
    await remove(house, the_table(house))
    assert len(house.events()) == told + 2


async def test_a_tag_is_refused_where_it_is_not_for() -> None:
    house = await a_house()
    await house.make_tag("pii", "view")
    refusal = await refusal_of(put(house, the_table(house)))
    assert (refusal.reason, refusal.metadata) == (
        Reason.REASON_TAG_SCOPE_NOT_ALLOWED,
        {"tag": "pii", "kind": "table"},
    )
    assert await reason_of(put(house, a_column(house))) == "TAG_SCOPE_NOT_ALLOWED"


@pytest.mark.parametrize(
    ("kind", "allowed", "value", "taken"),
    [
        ("marker", (), None, True),
        ("marker", (), "", False),
        ("free_text", (), "anything", True),
        ("free_text", (), "", True),
        ("free_text", (), None, False),
        ("enumerated", ("low",), "low", True),
        ("enumerated", ("low",), "LOW", False),
        ("enumerated", ("low",), None, False),
    ],
)
async def test_a_value_is_one_of_its_tag_s_kind(
    kind: str, allowed: tuple[str, ...], value: str | None, taken: bool
) -> None:
    house = await a_house()
    await house.make_tag("pii", "table", kind=kind, values=allowed)
    if taken:
        applied = (await put(house, the_table(house), value)).tag
        assert (applied.value if applied.HasField("value") else None) == value
    else:
        assert await reason_of(put(house, the_table(house), value)) == "INVALID_TAG_VALUE"
        assert not house.catalog.rows.tagged


async def test_a_name_of_no_tag_is_not_there_to_be_set_or_removed() -> None:
    house = await a_house()
    for call in (put(house, the_table(house), tag="absent"), remove(house, the_table(house), tag="absent")):
        assert await reason_of(call) == "NO_SUCH_TAG_NAME"


def _answer(refusal: Refusal) -> tuple[object, ...]:
    return refusal.reason, refusal.message, dict(refusal.metadata)


async def test_what_is_absent_elsewhere_or_in_an_inactive_warehouse_is_refused_in_one_text() -> None:
    house = await a_house()
    house.make_project("another")
    await house.make_tag("pii", *EVERY)
    for target in (the_table(house), house.tag_target("namespace", house.namespace("sales").namespace_id)):
        elsewhere = await refusal_of(put(house, target, context=context(project_id="another")))
        house.change_warehouse(active=False)
        inactive = await refusal_of(put(house, target))
        house.change_warehouse(active=True)
        nowhere = tags_pb2.TagTarget()
        nowhere.CopyFrom(target)
        nowhere.warehouse_id = str(uuid4())
        absent = await refusal_of(put(house, nowhere))
        assert elsewhere.reason == Reason.REASON_NO_SUCH_TAG_TARGET
        assert _answer(elsewhere) == _answer(inactive) == _answer(absent)


async def test_an_inactive_warehouse_s_own_tags_are_served() -> None:
    house = await a_house()
    await house.make_tag("pii", *EVERY)
    house.change_warehouse(active=False)
    await put(house, house.tag_target("warehouse"))
    assert await values(house, house.tag_target("warehouse")) == {"pii": "x"}


async def test_who_only_manages_tags_sets_and_removes_them_and_is_shown_nothing_else() -> None:
    house = await a_house()
    await house.make_tag("pii", "table")
    house.authorizer.replace(
        Rule(allows=True, action=Action.TABLE_MANAGE_TAGS),
        Rule(allows=True, kind=ObjectKind.TAG),
        Rule(allows=False),
    )
    await put(house, the_table(house))
    await remove(house, the_table(house))
    assert await reason_of(values(house, the_table(house))) == "NO_SUCH_TAG_TARGET"


async def test_a_table_s_id_asked_for_as_a_view_is_not_there() -> None:
    house = await a_house()
    await house.make_tag("pii", *EVERY)
    as_view = house.tag_target("view", house.tabular("orders").tabular_id)
    assert await reason_of(put(house, as_view)) == "NO_SUCH_TAG_TARGET"
    as_generic = house.tag_target("generic_table", house.tabular("orders").tabular_id)
    assert await reason_of(put(house, as_generic)) == "NO_SUCH_TAG_TARGET"


async def test_a_staged_table_has_no_tags_and_a_dropped_one_keeps_its() -> None:
    house = await a_house()
    await house.make_tag("pii", "table")
    await house.make_table("sales", "staged", **{"stage-create": True})
    staged = house.tag_target("table", house.tabular("staged").tabular_id)
    assert await reason_of(put(house, staged)) == "NO_SUCH_TAG_TARGET"
    await put(house, the_table(house))
    house.change_tabular("orders", state=State.DROPPED)
    assert await values(house, the_table(house)) == {"pii": "x"}
    await remove(house, the_table(house))
    assert not house.catalog.rows.tagged


async def test_effective_tags_are_those_of_what_a_thing_is_in_and_of_one_tag_the_nearest() -> None:
    house = await a_house()
    await house.make_tag("pii", *EVERY)
    await house.make_tag("zone", *EVERY)
    namespace = house.tag_target("namespace", house.namespace("sales").namespace_id)
    await put(house, house.tag_target("warehouse"), "far")
    await put(house, house.tag_target("warehouse"), "eu", tag="zone")
    await put(house, namespace, "near")
    assert await values(house, the_table(house)) == {}
    assert await values(house, the_table(house), effective=True) == {"pii": "near", "zone": "eu"}
    response = await house.tags.ListTags(tags_pb2.ListTagsRequest(target=the_table(house), effective=True))
    inherited = [(tag.inherited_from.scope, tag.inherited_from.id) for tag in response.tags]
    assert inherited == [(tags_pb2.TAG_SCOPE_NAMESPACE, namespace.id), (tags_pb2.TAG_SCOPE_WAREHOUSE, "")]
    assert await values(house, a_column(house), effective=True) == {}


async def test_a_column_is_named_as_the_current_schema_has_it_nested_ones_by_dots() -> None:
    house = await a_house()
    await house.make_tag("pii", "column")
    schema = {
        "type": "struct",
        "schema-id": 0,
        "fields": [
            {
                "id": 1,
                "name": "address",
                "required": False,
                "type": {
                    "type": "struct",
                    "fields": [{"id": 2, "name": "zip", "required": False, "type": "string"}],
                },
            }
        ],
    }
    await house.make_table("sales", "people", schema=schema)
    people = house.tabular("people").tabular_id
    await put(house, house.tag_target("column", people, column="address.zip"))
    ((place, _),) = house.catalog.rows.tagged
    assert place.field_id == 2
    for absent in ("zip", "Address.zip", "address.street"):
        target = house.tag_target("column", people, column=absent)
        for call in (put(house, target), remove(house, target), values(house, target)):
            assert await reason_of(call) == "NO_SUCH_COLUMN"


async def test_a_column_s_tag_follows_its_field_through_a_rename() -> None:
    house = await a_house()
    await house.make_tag("pii", "column")
    await put(house, a_column(house))
    await evolve(house, (1, "renamed"), (2, "id"))
    assert await values(house, a_column(house, "renamed")) == {"pii": "x"}
    assert await values(house, a_column(house, "id")) == {}


async def test_a_column_s_tag_vanishes_with_its_field_and_comes_back_with_none() -> None:
    house = await a_house()
    tag_id = await house.make_tag("pii", "column", "table")
    await put(house, a_column(house))
    await put(house, the_table(house))
    await evolve(house, (2, "other"))
    assert [place.field_id for place, _ in house.catalog.rows.tagged] == [None]
    await commit(house, {"action": "set-current-schema", "schema-id": 0})
    assert await values(house, a_column(house)) == {}
    await remove(house, the_table(house))
    await house.tags.DeleteTagDefinition(tags_pb2.DeleteTagDefinitionRequest(tag_id=tag_id))


async def test_a_commit_that_keeps_every_field_keeps_every_tag() -> None:
    house = await a_house()
    await house.make_tag("pii", "column")
    await put(house, a_column(house))
    await commit(house, {"action": "set-properties", "updates": {"a": "b"}})
    await evolve(house, (1, "id"), (2, "other"))
    assert await values(house, a_column(house)) == {"pii": "x"}


async def test_a_column_that_leaves_while_its_tag_is_set_is_not_tagged(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house()
    await house.make_tag("pii", "column")
    change, raced = house.parts.changes.change, list[int]()

    def after_a_commit() -> Any:
        @dataclasses.dataclass
        class Behind:
            inner: Any = None

            async def __aenter__(self) -> Any:
                if not raced:
                    raced.append(1)
                    await evolve(house, (2, "other"))
                self.inner = change()
                return await self.inner.__aenter__()

            async def __aexit__(self, *error: object) -> Any:
                return await self.inner.__aexit__(*error)

        return Behind()

    monkeypatch.setattr(house.parts.changes, "change", after_a_commit)
    assert await reason_of(put(house, a_column(house))) == "NO_SUCH_COLUMN"
    assert not house.catalog.rows.tagged


async def test_tags_of_all_columns_are_listed_by_field_and_untagged_ones_left_out() -> None:
    house = await a_house()
    await house.make_tag("pii", "column", "table")
    await house.make_tag("zone", "column")
    await evolve(house, (1, "id"), (2, "a"), (3, "b"))
    await put(house, a_column(house, "b"))
    await put(house, a_column(house, "b"), "eu", tag="zone")
    await put(house, a_column(house, "id"), "y")
    await put(house, the_table(house))
    response = await house.tags.ListColumnTags(
        tags_pb2.ListColumnTagsRequest(
            warehouse_id=house.warehouse_id, table_id=str(house.tabular("orders").tabular_id)
        )
    )
    found = {column.field_id: {tag.name: tag.value for tag in column.tags} for column in response.columns}
    assert found == {1: {"pii": "y"}, 3: {"pii": "x", "zone": "eu"}}
    assert [column.field_id for column in response.columns] == [1, 3]


async def test_what_a_tag_is_set_on_is_listed_whatever_its_owner_sees_and_filtered() -> None:
    house = await a_house()
    tag_id = await house.make_tag("pii", *EVERY)
    await put(house, the_table(house), "a")
    await put(house, a_column(house), "b")
    house.authorizer.replace(Rule(allows=True, kind=ObjectKind.TAG), Rule(allows=False))

    async def listed(**members: Any) -> list[tuple[int, str, str]]:
        request = tags_pb2.ListTagAttachmentsRequest(tag_id=tag_id, **members)
        response = await house.tags.ListTagAttachments(request)
        return [(each.target.scope, each.target.id, each.value) for each in response.attachments]

    table_id = str(house.tabular("orders").tabular_id)
    both = [(TABLE, table_id, "a"), (tags_pb2.TAG_SCOPE_COLUMN, table_id, "b")]
    assert sorted(await listed()) == both
    assert await listed(value="b") == both[1:]
    assert await listed(scope=TABLE) == both[:1]
    assert await listed(warehouse_id=str(uuid4())) == []
    first = await house.tags.ListTagAttachments(
        tags_pb2.ListTagAttachmentsRequest(tag_id=tag_id, page={"size": 1, "token": ""})
    )
    assert len(first.attachments) == 1
    rest = await listed(page={"size": 1, "token": first.next_page_token})
    assert sorted([(first.attachments[0].target.scope, table_id, first.attachments[0].value), *rest]) == both
    refusal = await reason_of(listed(value="b", page={"size": 1, "token": first.next_page_token}))
    assert refusal == "INVALID_PAGE_TOKEN"


async def test_a_tag_on_a_dropped_table_keeps_its_definition() -> None:
    house = await a_house()
    tag_id = await house.make_tag("pii", "table")
    await put(house, the_table(house))
    house.change_tabular("orders", state=State.DROPPED)
    deletion = house.tags.DeleteTagDefinition(tags_pb2.DeleteTagDefinitionRequest(tag_id=tag_id))
    assert await reason_of(deletion) == "TAG_IN_USE"


async def test_a_warehouse_that_goes_takes_its_tags_along() -> None:
    house = await a_house()
    tag_id = await house.make_tag("pii", "warehouse")
    other = await house.make_warehouse("other", base="s3://lake/other")
    target = tags_pb2.TagTarget(scope=tags_pb2.TAG_SCOPE_WAREHOUSE, warehouse_id=other)
    await put(house, target)
    await house.warehouses.DeleteWarehouse(warehouses_pb2.DeleteWarehouseRequest(warehouse_id=other))
    await house.tags.DeleteTagDefinition(tags_pb2.DeleteTagDefinitionRequest(tag_id=tag_id))


@pytest.mark.parametrize(
    "target",
    [
        {"scope": 0},
        {"scope": tags_pb2.TAG_SCOPE_TABLE, "id": "no-uuid"},
        {"scope": tags_pb2.TAG_SCOPE_WAREHOUSE, "id": str(uuid4())},
        {"scope": tags_pb2.TAG_SCOPE_COLUMN, "id": str(uuid4())},
        {"scope": tags_pb2.TAG_SCOPE_TABLE, "id": str(uuid4()), "column": "a"},
    ],
)
async def test_a_target_that_can_not_be_is_refused_by_its_field(target: dict[str, Any]) -> None:
    house = await a_house()
    message = tags_pb2.TagTarget(warehouse_id=house.warehouse_id, **target)
    assert await reason_of(put(house, message)) == "INVALID_FIELD"


async def test_an_owner_of_a_tag_is_told_to_authz_once_it_is_stored() -> None:
    house = await a_house()
    house.authorizer.replace(ANYTHING)
    await define(house, context=context(authorization="oidc~anna"))
    ((_, made),) = [each for each in house.catalog.rows.growth if each[1].object.kind is ObjectKind.TAG]
    assert made.owner == user("oidc~anna")
