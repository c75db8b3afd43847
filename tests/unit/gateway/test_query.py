from __future__ import annotations

import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_gateway.dialects.iceberg.etags import tags_of
from lakeward_gateway.query import Flag, PageSize, Text, Texts, parse_query
from lakeward_servicekit.errors import Refusal

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


@given(st.lists(st.tuples(TEXT.filter(bool), TEXT), max_size=6))
def test_a_query_comes_back_as_it_was_before_it_was_encoded(pairs: list[tuple[str, str]]) -> None:
    expected: dict[str, list[str]] = {}
    for name, value in pairs:
        expected.setdefault(name, []).append(value)
    assert parse_query(urllib.parse.urlencode(pairs).encode()) == expected


@given(st.binary(max_size=60))
def test_no_bytes_of_a_query_raise_anything_but_a_refusal(query: bytes) -> None:
    try:
        parse_query(query)
    except Refusal:
        return


@pytest.mark.parametrize("value", ["1", "t", "T", "TRUE", "true", "True"])
def test_a_flag_is_true_in_every_spelling_that_clients_write(value: str) -> None:
    assert Flag("f", "").read({"f": [value]}) is True


@pytest.mark.parametrize("value", ["0", "f", "F", "FALSE", "false", "False"])
def test_a_flag_is_false_in_every_spelling_that_clients_write(value: str) -> None:
    assert Flag("f", "").read({"f": [value]}) is False


@pytest.mark.parametrize("value", ["", "yes", "tRUE", "2", " true"])
def test_any_other_spelling_of_a_flag_is_refused(value: str) -> None:
    with pytest.raises(Refusal):
        Flag("f", "").read({"f": [value]})


def test_what_is_not_given_is_told_from_what_is_false_or_empty() -> None:
    assert Flag("f", "").read({}) is None
    assert Text("t", "").read({}) is None
    assert Text("t", "").read({"t": [""]}) == ""
    assert Texts("t", "").read({}) == ()
    assert PageSize("p", "").read({}) is None


def test_a_parameter_given_twice_is_refused_where_one_is_expected() -> None:
    with pytest.raises(Refusal):
        Text("t", "").read({"t": ["a", "b"]})
    assert Texts("t", "").read({"t": ["a", "b"]}) == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "size"), [("0", 1), ("-5", 1), ("1", 1), ("0007", 7), ("100", 100), ("9" * 5000, 2**31 - 1)]
)
def test_a_page_size_is_cut_to_its_bounds(value: str, size: int) -> None:
    assert PageSize("p", "").read({"p": [value]}) == size


@pytest.mark.parametrize("value", ["", "-", "ten", "1.5", "٣", "1e3", "--1"])
def test_a_page_size_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(Refusal):
        PageSize("p", "").read({"p": [value]})


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        (b"*", ("*",)),
        (b'"a"', ('"a"',)),
        (b'W/"a"', ('W/"a"',)),
        (b'"a", W/"b" ,"c,d"', ('"a"', 'W/"b"', '"c,d"')),
        (b"nonsense", ()),
        (b'nonsense, "a"', ('"a"',)),
        (b"", ()),
    ],
)
def test_tags_are_read_from_lists_and_nonsense_says_nothing(header: bytes, tags: tuple[str, ...]) -> None:
    assert tags_of(header) == tags
