from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lakeward_protocol.catalog.v1 import namespaces_pb2, types_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import PREFIXED, WAREHOUSE, World, error_of

AB = types_pb2.NamespaceIdent(parts=["a", "b"])
FOUND = namespaces_pb2.Namespace(
    ident=AB, namespace_id="uuid", properties={"location": "s3://b/a", "namespace_id": "uuid"}
)


async def test_a_listing_shows_children_as_they_are_stored(served: World) -> None:
    served.catalog.answers["ListNamespaces"] = namespaces_pb2.ListNamespacesResponse(
        namespaces=[AB], namespace_ids=["uuid"], protection=[False]
    )
    response = await served.client.get(
        f"{PREFIXED}/namespaces", params={"parent": "a\x1fb+c", "returnUuids": "true", "returnProtectionStatus": "t"}
    )
    assert response.json() == {"namespaces": [["a", "b"]], "namespace-uuids": ["uuid"], "protection-status": [False]}
    assert list(served.asked.parent.parts) == ["a", "b c"]
    assert served.asked.warehouse_id == WAREHOUSE


@pytest.mark.parametrize("query", ["", "?parent="])
async def test_no_parent_and_an_empty_one_mean_the_top(served: World, query: str) -> None:
    served.catalog.answers["ListNamespaces"] = namespaces_pb2.ListNamespacesResponse()
    response = await served.client.get(f"{PREFIXED}/namespaces{query}")
    assert response.json() == {"namespaces": []}
    assert not served.asked.HasField("parent")


async def test_a_namespace_is_made_from_a_document(served: World) -> None:
    served.catalog.answers["CreateNamespace"] = namespaces_pb2.CreateNamespaceResponse(namespace=FOUND)
    response = await served.client.post(
        f"{PREFIXED}/namespaces", json={"namespace": ["A", "B"], "properties": {"owner": "me"}}
    )
    assert response.status_code == 200
    assert response.json() == {
        "namespace": ["a", "b"],
        "properties": {"location": "s3://b/a", "namespace_id": "uuid"},
    }
    assert list(served.asked.ident.parts) == ["A", "B"]
    assert dict(served.asked.properties) == {"owner": "me"}


async def test_a_namespace_without_properties_is_made_too(served: World) -> None:
    served.catalog.answers["CreateNamespace"] = namespaces_pb2.CreateNamespaceResponse(namespace=FOUND)
    for document in ({"namespace": ["a"]}, {"namespace": ["a"], "properties": None}):
        assert (await served.client.post(f"{PREFIXED}/namespaces", json=document)).status_code == 200


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"namespace": "a"}, "namespace"),
        ({"namespace": ["a", 1]}, "namespace[1]"),
        ({"namespace": ["a"], "properties": {"k": 1}}, "properties[...]"),
        ({}, "the body"),
        ([], "the body"),
    ],
)
async def test_a_document_of_the_wrong_shape_is_refused_at_the_member(served: World, document: Any, path: str) -> None:
    response = await served.client.post(f"{PREFIXED}/namespaces", json=document)
    assert error_of(response)["type"] == "BadRequestException"
    assert error_of(response)["message"].startswith(f"{path}: ")
    assert not served.catalog.asked


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"namespace":["\xff"]}', b'{"namespace":["\\ud800"]}', b"[" * 100_0, b'{"a":' * 5000, b"nonsense"],
)
async def test_what_is_not_json_is_refused_in_the_envelope(served: World, body: bytes) -> None:
    response = await served.client.post(f"{PREFIXED}/namespaces", content=body)
    assert response.status_code == 400
    assert error_of(response)["type"] == "BadRequestException"


@pytest.mark.parametrize(("query", "shown"), [("", {}), ("?returnUuid=true", {"namespace-uuid": "uuid"})])
async def test_a_namespace_is_loaded_with_its_id_where_that_is_asked_for(
    served: World, query: str, shown: Mapping[str, str]
) -> None:
    served.catalog.answers["GetNamespace"] = namespaces_pb2.GetNamespaceResponse(namespace=FOUND)
    response = await served.client.get(f"{PREFIXED}/namespaces/a%1Fb{query}")
    assert response.json() == {
        "namespace": ["a", "b"],
        "properties": {"location": "s3://b/a", "namespace_id": "uuid"},
        **shown,
    }
    assert served.asked.ident == AB


async def test_existence_is_a_204_and_absence_a_404_without_a_body(served: World) -> None:
    served.catalog.answers["GetNamespace"] = namespaces_pb2.GetNamespaceResponse(namespace=FOUND)
    assert (await served.client.head(f"{PREFIXED}/namespaces/a")).status_code == 204
    served.catalog.answers["GetNamespace"] = Refusal(Reason.REASON_NO_SUCH_NAMESPACE, "absent", namespace="a")
    assert (await served.client.head(f"{PREFIXED}/namespaces/a")).status_code == 404


async def test_properties_are_changed_and_what_changed_is_said(served: World) -> None:
    served.catalog.answers["UpdateNamespaceProperties"] = namespaces_pb2.UpdateNamespacePropertiesResponse(
        updated=["a"], removed=["b"], missing=["c"]
    )
    response = await served.client.post(
        f"{PREFIXED}/namespaces/a/properties", json={"updates": {"a": "1"}, "removals": ["b", "c"]}
    )
    assert response.json() == {"updated": ["a"], "removed": ["b"], "missing": ["c"]}
    assert dict(served.asked.updates) == {"a": "1"}
    assert list(served.asked.removals) == ["b", "c"]


async def test_a_change_of_properties_may_leave_both_lists_out(served: World) -> None:
    served.catalog.answers["UpdateNamespaceProperties"] = namespaces_pb2.UpdateNamespacePropertiesResponse()
    response = await served.client.post(f"{PREFIXED}/namespaces/a/properties", json={"removals": None})
    assert response.json() == {"updated": [], "removed": []}


@pytest.mark.parametrize(
    ("query", "flags"),
    [("", (False, False, False)), ("?recursive=True&force=1&purge=t", (True, True, True))],
)
async def test_a_drop_passes_its_flags_on(served: World, query: str, flags: tuple[bool, bool, bool]) -> None:
    served.catalog.answers["DropNamespace"] = namespaces_pb2.DropNamespaceResponse()
    assert (await served.client.delete(f"{PREFIXED}/namespaces/a{query}")).status_code == 204
    assert (served.asked.recursive, served.asked.force, served.asked.purge) == flags


async def test_a_namespace_that_is_not_empty_is_a_409_by_its_name(served: World) -> None:
    served.catalog.answers["DropNamespace"] = Refusal(Reason.REASON_NAMESPACE_NOT_EMPTY, "not empty", namespace="a")
    response = await served.client.delete(f"{PREFIXED}/namespaces/a")
    assert (response.status_code, error_of(response)["type"]) == (409, "NamespaceNotEmptyException")
