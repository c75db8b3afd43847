from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import timestamp_pb2

from lakeward_protocol.catalog.v1 import tags_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import WAREHOUSE, World, error_of

DEFINITIONS = "/management/v1/tag-definition"
TAG_ID = "0198e000-0000-7000-8000-000000000011"
OBJECT_ID = "0198e000-0000-7000-8000-000000000012"
ONE = f"{DEFINITIONS}/{TAG_ID}"
MADE, CHANGED = timestamp_pb2.Timestamp(seconds=1), timestamp_pb2.Timestamp(seconds=2)
STORED = tags_pb2.TagDefinition(
    tag_id=TAG_ID,
    name="pii",
    description="what is private",
    scopes=[tags_pb2.TAG_SCOPE_TABLE, tags_pb2.TAG_SCOPE_GENERIC_TABLE],
    value_kind=tags_pb2.TAG_VALUE_KIND_ENUMERATED,
    allowed_values=["low", "high"],
    created_at=MADE,
    updated_at=CHANGED,
)
SHOWN: dict[str, Any] = {
    "id": TAG_ID,
    "name": "pii",
    "description": "what is private",
    "scope": ["table", "generic-table"],
    "value-kind": "enumerated",
    "allowed-values": ["low", "high"],
    "created-at": "1970-01-01T00:00:01Z",
    "updated-at": "1970-01-01T00:00:02Z",
}
BARE = tags_pb2.TagDefinition(
    tag_id=TAG_ID,
    name="seen",
    scopes=[tags_pb2.TAG_SCOPE_COLUMN],
    value_kind=tags_pb2.TAG_VALUE_KIND_MARKER,
    created_at=MADE,
)
BARE_SHOWN: dict[str, Any] = {
    "id": TAG_ID,
    "name": "seen",
    "scope": ["column"],
    "value-kind": "marker",
    "created-at": "1970-01-01T00:00:01Z",
}
_WAREHOUSE = f"/management/v1/warehouse/{WAREHOUSE}"
PLACES = {
    _WAREHOUSE: tags_pb2.TagTarget(scope=tags_pb2.TAG_SCOPE_WAREHOUSE, warehouse_id=WAREHOUSE),
    f"{_WAREHOUSE}/namespace/{OBJECT_ID}": tags_pb2.TagTarget(
        scope=tags_pb2.TAG_SCOPE_NAMESPACE, warehouse_id=WAREHOUSE, id=OBJECT_ID
    ),
    f"{_WAREHOUSE}/table/{OBJECT_ID}": tags_pb2.TagTarget(
        scope=tags_pb2.TAG_SCOPE_TABLE, warehouse_id=WAREHOUSE, id=OBJECT_ID
    ),
    f"{_WAREHOUSE}/view/{OBJECT_ID}": tags_pb2.TagTarget(
        scope=tags_pb2.TAG_SCOPE_VIEW, warehouse_id=WAREHOUSE, id=OBJECT_ID
    ),
    f"{_WAREHOUSE}/generic-table/{OBJECT_ID}": tags_pb2.TagTarget(
        scope=tags_pb2.TAG_SCOPE_GENERIC_TABLE, warehouse_id=WAREHOUSE, id=OBJECT_ID
    ),
    f"{_WAREHOUSE}/table/{OBJECT_ID}/column/address.zip%2Fcode": tags_pb2.TagTarget(
        scope=tags_pb2.TAG_SCOPE_COLUMN, warehouse_id=WAREHOUSE, id=OBJECT_ID, column="address.zip/code"
    ),
}
EACH = pytest.mark.parametrize(
    ("path", "target"), PLACES.items(), ids=["warehouse", "namespace", "table", "view", "generic-table", "column"]
)


async def test_a_tag_is_defined_as_it_is_asked_for(served: World) -> None:
    served.catalog.answers["CreateTagDefinition"] = tags_pb2.CreateTagDefinitionResponse(definition=STORED)
    wanted = {key: SHOWN[key] for key in ("name", "description", "scope", "value-kind", "allowed-values")}
    response = await served.client.post(DEFINITIONS, json=wanted)
    assert (response.status_code, response.json()) == (201, SHOWN)
    asked = served.asked
    assert (asked.name, asked.description, list(asked.allowed_values)) == ("pii", "what is private", ["low", "high"])
    assert list(asked.scopes) == list(STORED.scopes)
    assert asked.value_kind == STORED.value_kind


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"scope": ["tables"]}, "scope"),
        ({"value-kind": "text"}, "value-kind"),
        ({"name": 1}, "name"),
        ({"allowed-values": "low"}, "allowed-values"),
    ],
)
async def test_a_member_that_is_wrong_is_named(served: World, wrong: dict[str, Any], named: str) -> None:
    document = {"name": "pii", "scope": ["table"], "value-kind": "marker", **wrong}
    error = error_of(await served.client.post(DEFINITIONS, json=document))
    assert (error["code"], named in error["message"]) == (400, True)
    assert not served.catalog.asked


async def test_a_listing_has_pages_and_no_allowed_values(served: World) -> None:
    served.catalog.answers["ListTagDefinitions"] = tags_pb2.ListTagDefinitionsResponse(
        definitions=[STORED, BARE], next_page_token="more"
    )
    response = await served.client.get(DEFINITIONS, params={"name": "pii", "pageSize": "2", "pageToken": "here"})
    listed = {key: value for key, value in SHOWN.items() if key != "allowed-values"}
    assert response.json() == {"tag-definitions": [listed, BARE_SHOWN], "next-page-token": "more"}
    assert (served.asked.name, served.asked.page.size, served.asked.page.token) == ("pii", 2, "here")


async def test_a_tag_is_shown_changed_and_deleted_by_its_id(served: World) -> None:
    served.catalog.answers["GetTagDefinition"] = tags_pb2.GetTagDefinitionResponse(definition=BARE)
    assert (await served.client.get(ONE)).json() == BARE_SHOWN
    served.catalog.answers["UpdateTagDefinition"] = tags_pb2.UpdateTagDefinitionResponse(definition=STORED)
    wanted = {"name": "pii", "scope": ["table"], "add-allowed-values": ["higher"]}
    assert (await served.client.post(ONE, json=wanted)).json() == SHOWN
    served.catalog.answers["DeleteTagDefinition"] = tags_pb2.DeleteTagDefinitionResponse()
    assert (await served.client.delete(ONE)).status_code == 204
    shown, changed, _ = served.catalog.asked
    assert {each.tag_id for each in served.catalog.asked} == {TAG_ID}
    assert shown.context.project_id == ""
    assert (list(changed.add_allowed_values), changed.HasField("description")) == (["higher"], False)


async def test_every_filter_of_attachments_is_handed_on(served: World) -> None:
    served.catalog.answers["ListTagAttachments"] = tags_pb2.ListTagAttachmentsResponse()
    query = {
        "value": "low",
        "targetType": "generic-table",
        "createdAfter": "1970-01-01T01:00:01+01:00",
        "createdBefore": "1970-01-01T00:00:02Z",
        "warehouseId": WAREHOUSE,
    }
    response = await served.client.get(f"{ONE}/attachments", params=query)
    assert response.json() == {"attachments": []}
    asked = served.asked
    assert (asked.value, asked.scope, asked.warehouse_id) == ("low", tags_pb2.TAG_SCOPE_GENERIC_TABLE, WAREHOUSE)
    assert (asked.created_after.seconds, asked.created_before.seconds) == (1, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [("targetType", "tables"), ("createdAfter", "yesterday"), ("createdBefore", "1970-01-01T00:00:02")],
)
async def test_a_filter_that_is_wrong_is_named(served: World, name: str, value: str) -> None:
    error = error_of(await served.client.get(f"{ONE}/attachments", params={name: value}))
    assert (error["code"], name in error["message"]) == (400, True)


async def test_what_a_tag_is_set_on_is_named_by_its_kind_and_its_ids(served: World) -> None:
    def attached(scope: str, own: str = OBJECT_ID, **members: Any) -> tags_pb2.TagAttachment:
        number = tags_pb2.TagScope.Value(f"TAG_SCOPE_{scope}")
        target = tags_pb2.TaggedObject(scope=number, warehouse_id=WAREHOUSE, id=own, **members)
        return tags_pb2.TagAttachment(target=target, value="low", created_at=MADE, updated_at=CHANGED)

    served.catalog.answers["ListTagAttachments"] = tags_pb2.ListTagAttachmentsResponse(
        attachments=[
            attached("WAREHOUSE", ""),
            attached("NAMESPACE"),
            attached("TABLE"),
            attached("VIEW"),
            attached("GENERIC_TABLE"),
            attached("COLUMN", field_id=0),
        ],
        next_page_token="more",
    )
    document = (await served.client.get(f"{ONE}/attachments")).json()
    assert document["next-page-token"] == "more"
    assert [each["target"] for each in document["attachments"]] == [
        {"type": "warehouse", "warehouse-id": WAREHOUSE},
        {"type": "namespace", "warehouse-id": WAREHOUSE, "namespace-id": OBJECT_ID},
        {"type": "table", "warehouse-id": WAREHOUSE, "table-id": OBJECT_ID},
        {"type": "view", "warehouse-id": WAREHOUSE, "view-id": OBJECT_ID},
        {"type": "generic-table", "warehouse-id": WAREHOUSE, "generic-table-id": OBJECT_ID},
        {"type": "column", "warehouse-id": WAREHOUSE, "table-id": OBJECT_ID, "field-id": 0},
    ]
    assert document["attachments"][0] | {"target": None} == {
        "target": None,
        "source": "manual",
        "value": "low",
        "created-at": "1970-01-01T00:00:01Z",
        "updated-at": "1970-01-01T00:00:02Z",
    }


@EACH
async def test_a_tag_is_set_by_its_name(served: World, path: str, target: tags_pb2.TagTarget) -> None:
    served.catalog.answers["SetTag"] = tags_pb2.SetTagResponse(
        tag=tags_pb2.AppliedTag(tag_id=TAG_ID, name="a/b", value="low", created_at=MADE, updated_at=CHANGED)
    )
    response = await served.client.put(f"{path}/tags/a%2Fb", json={"value": "low"})
    assert response.json() == {
        "tag-definition-id": TAG_ID,
        "name": "a/b",
        "value": "low",
        "applied-at": "1970-01-01T00:00:02Z",
    }
    assert (served.asked.target, served.asked.tag, served.asked.value) == (target, "a/b", "low")


async def test_a_marker_is_set_without_a_value_and_dates_from_when_it_was_set(served: World) -> None:
    served.catalog.answers["SetTag"] = tags_pb2.SetTagResponse(
        tag=tags_pb2.AppliedTag(tag_id=TAG_ID, name="seen", created_at=MADE)
    )
    for body in ({}, {"value": None}):
        served.catalog.asked.clear()
        response = await served.client.put(f"{_WAREHOUSE}/tags/seen", json=body)
        assert response.json() == {
            "tag-definition-id": TAG_ID,
            "name": "seen",
            "applied-at": "1970-01-01T00:00:01Z",
        }
        assert not served.asked.HasField("value")


@EACH
async def test_a_tag_is_removed_by_its_name(served: World, path: str, target: tags_pb2.TagTarget) -> None:
    served.catalog.answers["RemoveTag"] = tags_pb2.RemoveTagResponse()
    assert (await served.client.delete(f"{path}/tags/pii")).status_code == 204
    assert (served.asked.target, served.asked.tag) == (target, "pii")


@EACH
async def test_tags_are_listed_with_where_they_come_from(served: World, path: str, target: tags_pb2.TagTarget) -> None:
    def applied(**members: Any) -> tags_pb2.AppliedTag:
        return tags_pb2.AppliedTag(tag_id=TAG_ID, name="pii", created_at=MADE, **members)

    above_all = tags_pb2.TaggedObject(scope=tags_pb2.TAG_SCOPE_WAREHOUSE, warehouse_id=WAREHOUSE)
    above = tags_pb2.TaggedObject(scope=tags_pb2.TAG_SCOPE_NAMESPACE, warehouse_id=WAREHOUSE, id=OBJECT_ID)
    served.catalog.answers["ListTags"] = tags_pb2.ListTagsResponse(
        tags=[
            applied(value="low", updated_at=CHANGED),
            applied(inherited_from=above),
            applied(inherited_from=above_all),
        ]
    )
    common = {"tag-definition-id": TAG_ID, "name": "pii", "source": "manual", "created-at": "1970-01-01T00:00:01Z"}
    for query, effective in (("", False), ("?effective=false", False), ("?effective=true", True)):
        served.catalog.asked.clear()
        response = await served.client.get(f"{path}/tags{query}")
        assert response.json() == {
            "tags": [
                {**common, "value": "low", "updated-at": "1970-01-01T00:00:02Z"},
                {
                    **common,
                    "inherited-from": {"type": "namespace", "warehouse-id": WAREHOUSE, "namespace-id": OBJECT_ID},
                },
                {**common, "inherited-from": {"type": "warehouse", "warehouse-id": WAREHOUSE}},
            ]
        }
        assert (served.asked.target, served.asked.effective) == (target, effective)


async def test_tags_of_columns_are_listed_by_field(served: World) -> None:
    served.catalog.answers["ListColumnTags"] = tags_pb2.ListColumnTagsResponse(
        columns=[
            tags_pb2.ColumnTags(
                field_id=3, tags=[tags_pb2.AppliedTag(tag_id=TAG_ID, name="pii", value="low", created_at=MADE)]
            )
        ]
    )
    response = await served.client.get(f"{_WAREHOUSE}/table/{OBJECT_ID}/column-tags")
    shown = {
        "tag-definition-id": TAG_ID,
        "name": "pii",
        "source": "manual",
        "value": "low",
        "created-at": "1970-01-01T00:00:01Z",
    }
    assert response.json() == {"columns": [{"field-id": 3, "tags": [shown]}]}
    assert (served.asked.warehouse_id, served.asked.table_id) == (WAREHOUSE, OBJECT_ID)


@pytest.mark.parametrize(
    ("reason", "metadata", "code", "kind"),
    [
        (Reason.REASON_NO_SUCH_TAG_NAME, {"tag": "pii"}, 404, "TagNameNotFound"),
        (Reason.REASON_NO_SUCH_TAG_TARGET, {"kind": "table", "target": "t"}, 404, "TagTargetNotFound"),
        (Reason.REASON_NO_SUCH_COLUMN, {"column": "c", "table": "t"}, 404, "ColumnNotFound"),
        (Reason.REASON_TAG_SCOPE_NOT_ALLOWED, {"tag": "pii", "kind": "view"}, 400, "TagScopeNotAllowed"),
        (Reason.REASON_INVALID_TAG_VALUE, {"value": "x"}, 400, "InvalidTagValue"),
    ],
)
async def test_a_refusal_has_upstreams_words(
    served: World, reason: Reason.ValueType, metadata: dict[str, str], code: int, kind: str
) -> None:
    served.catalog.answers["SetTag"] = Refusal(reason, "so it is", **metadata)
    error = error_of(await served.client.put(f"{_WAREHOUSE}/tags/pii", json={}))
    assert (error["code"], error["type"]) == (code, kind)
