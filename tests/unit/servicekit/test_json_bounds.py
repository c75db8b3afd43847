"""How much a JSON document holds, told from its bytes: the json module says the same."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakeward_servicekit import json_bounds
from lakeward_servicekit.json_bounds import BeyondLimits, JsonLimits, check_json

PLENTY = 10**9


class Pairs(list[tuple[str, object]]):
    """An object with all its members, repeated ones too."""


def held(value: object, depth: int = 1) -> tuple[int, int, int]:
    """(levels, containers, values) of what the json module made of a document."""
    if isinstance(value, Pairs):
        inside: Sequence[object] = [member for _, member in value]
    elif isinstance(value, list):
        inside = value
    else:
        return 0, 0, 0
    below = [held(item) for item in inside]
    return (
        1 + max((levels for levels, _, _ in below), default=0),
        1 + sum(containers for _, containers, _ in below),
        max(1, len(inside)) + sum(values for _, _, values in below),
    )


def passes(document: bytes, limits: JsonLimits) -> bool:
    try:
        check_json(document, limits)
    except BeyondLimits:
        return False
    return True


# what could be taken for structure, or hide it
TEXT = st.text(st.sampled_from('"\\[]{},:ab/\u00e9\u2028\U0001f600\n')) | st.text(max_size=5)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=4) | st.dictionaries(TEXT, below, max_size=4), max_leaves=25
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Valid JSON in any of its spellings."""
    value = draw(VALUES)
    space = draw(st.sampled_from([None, 1, "\t"]))
    separators = draw(st.sampled_from([(",", ":"), (" , ", " : "), (",\r\n", ":\t")]))
    return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=space, separators=separators).encode()


@given(document=documents(), piece=st.integers(min_value=2, max_value=40))
@example(document=b'["\\\\","[",{"\\"]":"\\\\\\""}]', piece=2)
@example(document=b'{"a":1,"a":[2],"a":{}}', piece=3)
@example(document=b"{}", piece=2)
def test_every_limit_is_the_number_that_the_json_module_finds(document: bytes, piece: int) -> None:
    levels, containers, values = held(json.loads(document, object_pairs_hook=Pairs))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_bounds, "_PIECE", piece)
        assert passes(document, JsonLimits(levels, containers, values))
        if levels:
            assert not passes(document, JsonLimits(levels - 1, PLENTY, PLENTY))
            assert not passes(document, JsonLimits(PLENTY, containers - 1, PLENTY))
            assert not passes(document, JsonLimits(PLENTY, PLENTY, values - 1))


@given(document=documents(), end=st.integers(min_value=0), rest=st.binary(max_size=30), piece=st.integers(2, 40))
def test_what_a_parser_has_made_before_it_stops_is_within_the_limits_too(
    document: bytes, end: int, rest: bytes, piece: int
) -> None:
    """A document that turns out not to be JSON holds at least what its good part holds."""
    levels, containers, values = held(json.loads(document, object_pairs_hook=Pairs))
    limits = JsonLimits(max(0, levels - 1), max(0, containers - 1), max(0, values - 1))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_bounds, "_PIECE", piece)
        assert passes(document[:end], JsonLimits(levels, containers, values)) or end > len(document)
        if levels:
            assert not passes(document + rest, limits)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (b"[" * 101 + b"]" * 101, "it has more than 100 levels of nesting"),
        (b'{"a":' * 101 + b"1" + b"}" * 101, "it has more than 100 levels of nesting"),
        (b"[" * 10**6, "it has more than 100 levels of nesting"),
        (b"[" + b"{}," * 400_000 + b"{}]", "it has more than 400000 objects and arrays"),
        (b"[" + b"1," * 1_250_000 + b"1]", "it has more than 1250000 members and elements"),
        (b"[" + b'"",' * 1_250_000 + b"1]", "it has more than 1250000 members and elements"),
    ],
)
def test_what_a_request_holds_too_much_of_is_named_with_the_limit(document: bytes, said: str) -> None:
    with pytest.raises(BeyondLimits, match=said):
        check_json(document, json_bounds.REQUEST_LIMITS)


@pytest.mark.parametrize("text", ['"', "\\", "[", "{}", '\\"', ","])
def test_a_long_text_may_hold_whatever_it_likes(text: str) -> None:
    check_json(json.dumps([text * 10**6, {text * 10: 1}]).encode(), JsonLimits(2, 2, 3))


def test_a_table_of_many_wide_schemas_and_one_of_many_snapshots_pass() -> None:
    columns = [{"id": i, "name": f"column_{i}", "required": False, "type": "string"} for i in range(2000)]
    snapshot = {"snapshot-id": 2**62, "summary": {f"total-{i}": str(i) for i in range(24)}}
    check_json(json.dumps({"schemas": [{"fields": columns}] * 100}).encode(), json_bounds.REQUEST_LIMITS)
    check_json(json.dumps({"snapshots": [snapshot] * 9000}).encode(), json_bounds.REQUEST_LIMITS)


@pytest.mark.parametrize("unit", [b"{},", b'"",', b"1,", b'"\\"",', b"[[],[]],"])
def test_counting_takes_memory_for_a_piece_and_not_for_the_document(unit: bytes) -> None:
    document = b"[" + unit * (2**23 // len(unit)) + b"1]"
    tracemalloc.start()
    try:
        check_json(document, JsonLimits(3, 2**23, 2**23 - 2))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**22, "less than half of the document"
