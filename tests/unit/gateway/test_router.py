from __future__ import annotations

import contextlib
import urllib.parse

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lakeward_gateway.router import Router
from lakeward_servicekit.errors import Reason, Refusal

SEGMENTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


def router_of(*templates: str) -> Router[str]:
    router: Router[str] = Router()
    for template in templates:
        router.add("GET", template, template)
    return router


@given(SEGMENTS, SEGMENTS)
def test_every_segment_comes_back_as_it_was_before_it_was_encoded(namespace: str, table: str) -> None:
    router = router_of("/v1/{prefix}/namespaces/{namespace}/tables/{table}")
    encoded = "/".join(urllib.parse.quote(part, safe="") for part in (namespace, "tables", table))
    targets, arguments = router.find(f"/v1/p/namespaces/{encoded}".encode())
    assert targets
    assert list(arguments) == ["p", namespace, table]


@given(SEGMENTS)
def test_a_literal_wins_over_a_parameter(segment: str) -> None:
    assume(segment != "rename")
    router = router_of("/project/rename", "/project/{id}")
    assert router.find(b"/project/rename") == ({"GET": "/project/rename"}, [])
    quoted = urllib.parse.quote(segment, safe="")
    assert router.find(f"/project/{quoted}".encode()) == ({"GET": "/project/{id}"}, [segment])


def test_an_encoded_slash_separates_nothing() -> None:
    router = router_of("/v1/{namespace}", "/v1/{namespace}/tables")
    assert router.find(b"/v1/x%2Ftables") == ({"GET": "/v1/{namespace}"}, ["x/tables"])


@pytest.mark.parametrize(
    "path", [b"", b"/", b"/v1", b"/v1/", b"/v1/a/", b"//v1/a", b"/v1//tables", b"/v1/a/b", b"/%761/a"]
)
def test_a_path_that_no_template_matches_is_served_nowhere(path: bytes) -> None:
    targets, _ = router_of("/v1/{namespace}", "/v1/{namespace}/tables").find(path)
    assert not targets


@pytest.mark.parametrize("segment", [b"%", b"%2", b"%zz", b"a%2", b"%ff", b"%c3%28", b"%ed%a0%80"])
def test_a_segment_that_cannot_be_decoded_is_refused(segment: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        router_of("/v1/{namespace}").find(b"/v1/" + segment)
    assert refused.value.reason == Reason.REASON_INVALID_FIELD


@given(st.binary(max_size=60))
def test_no_bytes_of_a_path_raise_anything_but_a_refusal(tail: bytes) -> None:
    with contextlib.suppress(Refusal):
        router_of("/v1/{a}/{b}").find(b"/v1/" + tail)


def test_two_targets_at_one_place_are_refused_when_they_are_added() -> None:
    router = router_of("/v1/{prefix}/tables")
    with pytest.raises(ValueError, match="served already"):
        router.add("GET", "/v1/{other}/tables", "again")
