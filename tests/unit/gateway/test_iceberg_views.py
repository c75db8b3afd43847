from __future__ import annotations

import pytest

from lakeward_protocol.catalog.v1 import types_pb2, views_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import PREFIXED, World, error_of

VIEW = f"{PREFIXED}/namespaces/a/views/v"
IDENT = types_pb2.TabularIdent(namespace=types_pb2.NamespaceIdent(parts=["a"]), name="v")
LOADED = types_pb2.LoadedTabular(
    metadata_location="s3://b/v/1.json",
    metadata=types_pb2.JsonBody(plain=b'{"format-version":1}'),
    has_config=True,
    config={"k": "v"},
    storage_credentials=[types_pb2.StorageCredential(prefix="s3://b/v", config={"x": "y"})],
)
SHOWN = {"metadata-location": "s3://b/v/1.json", "metadata": {"format-version": 1}, "config": {"k": "v"}}


async def test_a_view_is_loaded_without_storage_credentials_or_a_tag(served: World) -> None:
    served.catalog.answers["LoadView"] = views_pb2.LoadViewResponse(view=LOADED)
    response = await served.client.get(f"{VIEW}?referenced-by=a%1Fw")
    assert response.json() == SHOWN
    assert "etag" not in response.headers
    assert served.asked.view == IDENT
    assert served.asked.referenced_by[0].name == "w"


@pytest.mark.parametrize(
    ("query", "chain"),
    [
        ("a%1Fw", [(["a"], "w")]),
        ("a%1Fb%1Fw,c%1Fx+y", [(["a", "b"], "w"), (["c"], "x y")]),
        # encoded by itself, and then as a part of the query
        ("a%251Fb%251Fw%2Cc%251Fx%2520y", [(["a", "b"], "w"), (["c"], "x y")]),
        ("a%251Fone%252C%2520two,a%251fthree", [(["a"], "one, two"), (["a"], "three")]),
        ("a%1F50%25", [(["a"], "50%")]),
        ("nothing", [([], "nothing")]),
        ("50%25,", [([], "50%"), ([], "")]),
        ("", []),
    ],
)
async def test_a_chain_of_views_is_read_as_clients_encode_it(
    served: World, query: str, chain: list[tuple[list[str], str]]
) -> None:
    served.catalog.answers["LoadView"] = views_pb2.LoadViewResponse(view=LOADED)
    assert (await served.client.get(f"{VIEW}?referenced-by={query}")).status_code == 200
    assert [([*view.namespace.parts], view.name) for view in served.asked.referenced_by] == chain


async def test_a_view_is_made_from_its_document(served: World) -> None:
    served.catalog.answers["CreateView"] = views_pb2.CreateViewResponse(view=LOADED)
    response = await served.client.post(f"{PREFIXED}/namespaces/a/views", json={"name": "v"})
    assert (response.status_code, response.json()) == (200, SHOWN)
    assert served.asked.body == b'{"name":"v"}'


async def test_a_view_is_replaced(served: World) -> None:
    served.catalog.answers["CommitView"] = views_pb2.CommitViewResponse(view=LOADED)
    response = await served.client.post(VIEW, json={"updates": []})
    assert (response.status_code, response.json()) == (200, SHOWN)
    assert served.asked.view == IDENT


@pytest.mark.parametrize(
    ("action", "word"),
    [
        ("add-view-version", "AppendViewVersionError"),
        ("set-current-view-version", "SetCurrentViewVersionError"),
        ("set-properties", "InvalidViewUpdate"),
    ],
)
async def test_an_update_that_cannot_be_applied_is_named_by_its_action(served: World, action: str, word: str) -> None:
    served.catalog.answers["CommitView"] = Refusal(Reason.REASON_INVALID_UPDATE, "no", action=action)
    response = await served.client.post(VIEW, json={"updates": []})
    assert (response.status_code, error_of(response)["type"]) == (400, word)


async def test_a_view_exists_or_does_not(served: World) -> None:
    served.catalog.answers["ViewExists"] = views_pb2.ViewExistsResponse()
    assert (await served.client.head(VIEW)).status_code == 204
    served.catalog.answers["ViewExists"] = Refusal(Reason.REASON_NO_SUCH_VIEW, "absent", view="a.v")
    assert (await served.client.head(VIEW)).status_code == 404


async def test_views_are_listed(served: World) -> None:
    served.catalog.answers["ListViews"] = views_pb2.ListViewsResponse(
        namespace=IDENT.namespace, names=["v"], ids=["uuid"]
    )
    response = await served.client.get(f"{PREFIXED}/namespaces/a/views?returnUuids=true")
    assert response.json() == {"identifiers": [{"namespace": ["a"], "name": "v"}], "table-uuids": ["uuid"]}


async def test_a_view_is_dropped_and_renamed(served: World) -> None:
    served.catalog.answers |= {"DropView": views_pb2.DropViewResponse(), "RenameView": views_pb2.RenameViewResponse()}
    assert (await served.client.delete(f"{VIEW}?purgeRequested=false&force=true")).status_code == 204
    (dropped,) = served.catalog.asked
    assert (dropped.HasField("purge"), dropped.purge, dropped.force) == (True, False, True)
    body = {"source": {"namespace": ["a"], "name": "v"}, "destination": {"namespace": ["b"], "name": "w"}}
    assert (await served.client.post(f"{PREFIXED}/views/rename", json=body)).status_code == 204
    assert served.catalog.asked[1].source == IDENT
