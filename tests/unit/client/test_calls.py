"""Calls before they are sent."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward._calls import Call, key_of
from lakeward.errors import ConfigurationError

PATH = "/management/v1/user/{user_id}/roles"


@given(st.text(min_size=1).filter(lambda text: text not in {".", ".."}))
def test_a_place_is_one_segment_whatever_stands_in_it(user: str) -> None:
    target = Call("GET", PATH, places={"user_id": user}).target
    assert target.count("/") == PATH.count("/")
    assert not set(target) & set("?#\x1f ")


@pytest.mark.parametrize("place", ["", ".", ".."])
def test_a_place_that_would_make_another_path_is_refused(place: str) -> None:
    with pytest.raises(ConfigurationError, match="user_id"):
        _ = Call("GET", PATH, places={"user_id": place}).target


def test_parameters_leave_out_what_is_not_said_and_repeat_lists() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    call = Call("GET", "/x", query={"a": None, "b": True, "c": ["1", "2"], "d": at, "e": 0})
    assert call.parameters == [("b", "true"), ("c", "1"), ("c", "2"), ("d", at.isoformat()), ("e", "0")]


def test_what_is_repeatable() -> None:
    assert Call("GET", "/x").repeatable
    assert Call("DELETE", "/x").repeatable
    assert not Call("POST", "/x").repeatable
    assert Call("POST", "/x", key=uuid4()).repeatable
    assert Call("POST", "/x", reads=True).repeatable


def test_headers_say_who_and_which_project() -> None:
    call = Call("POST", "/x", body={}, key=UUID(int=1))
    assert call.headed("t", "p") == {
        "authorization": "Bearer t",
        "x-project-id": "p",
        "idempotency-key": str(UUID(int=1)),
        "content-type": "application/json",
    }
    assert Call("GET", "/x", project="q").headed(None, "p") == {"x-project-id": "q"}


def test_each_change_has_a_key_of_its_own_unless_one_is_given() -> None:
    assert key_of(None) != key_of(None)
    assert key_of(UUID(int=7)) == UUID(int=7)
